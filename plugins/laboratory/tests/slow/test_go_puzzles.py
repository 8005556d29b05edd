"""The puzzles of Go have one right move: of every other one it is proven that it loses."""

import numpy as np
import pytest

import games
from evaluation.puzzles import LOSES, ONLY, shipped_puzzles
from games.line_of_moves import after_moves
from plugins.laboratory.go_proofs import ProvenScores

GAME = games.make("go")
FOUND = shipped_puzzles(GAME)
SOLVER = ProvenScores(GAME, 10_000_000)


def values_of(moves):
    """Return {legal move: 1 or -1} after moves."""
    scores = SOLVER.scores(after_moves(GAME, moves))
    return {action: int(np.sign(score)) for action, score in scores.items()}


@pytest.mark.parametrize("n", range(len(FOUND)))
def test_a_puzzle_has_one_move_that_wins_and_what_is_shown_of_it_is_best_play(n):
    puzzle = FOUND[n]
    found = values_of(puzzle.moves)
    assert puzzle.kind == ONLY and puzzle.asked == 1
    assert [action for action, value in found.items() if value == 1] == [puzzle.line[0]]
    assert GAME.move_name(puzzle.line[0]) != "pass"
    for first in {puzzle.line[0], *(r.moves[0] for r in puzzle.refutations[0] if r.moves)}:
        right = first == puzzle.line[0]
        why = puzzle.refutation(0, first)
        line = puzzle.line[1:] if right else why.line
        moves, wins = [*puzzle.moves, first], not right  # whether the player to move wins
        assert right or why.outcome == LOSES
        for action in line:
            values = values_of(moves)
            assert (max(values.values()) == 1) == wins and values[action] == (1 if wins else -1)
            moves, wins = [*moves, action], not wins
