"""The puzzles of Hex have one right move: of every other one it is proven that it loses."""

import numpy as np
import pytest

import games
from evaluation.puzzles import LOSES, ONLY, SLOW, WIN, shipped_puzzles
from games.line_of_moves import after_moves
from plugins.laboratory.hex_proofs import Prover

GAME = games.make("hex(size=7)")
FOUND = shipped_puzzles(GAME)


def who_moves_wins(state):
    """Return whether the player to move wins, proven from nothing."""
    board = GAME.owners(GAME.row_of(state)).ravel()
    stones = {int(point): int(board[point]) for point in np.flatnonzero(board)}
    return Prover(GAME.grid_shape[0]).wins(stones, state.playerTurn)


@pytest.mark.parametrize("n", range(len(FOUND)))
def test_a_puzzle_has_one_move_that_wins(n):
    puzzle = FOUND[n]
    assert puzzle.kind in (WIN, ONLY)
    for step in range(0, puzzle.asked, 2):
        state = after_moves(GAME, (*puzzle.moves, *puzzle.line[:step]))
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            wins = after.isEndGame or not who_moves_wins(after)
            if action == puzzle.line[step]:
                assert wins
            elif not (step and after.isEndGame):  # at the end of a win any that ends it will do
                last = step > 0 and step == puzzle.asked - 1
                assert puzzle.refutation(step // 2, action).outcome == (SLOW if wins else LOSES) and (last or not wins)


@pytest.mark.parametrize("n", range(len(FOUND)))
def test_what_is_shown_of_a_puzzle_is_best_play(n):
    puzzle = FOUND[n]
    state = after_moves(GAME, puzzle.moves)
    side = state.playerTurn
    for action in puzzle.line:
        state = state.takeAction(action)[0]
        if state.isEndGame:
            assert state.value * state.playerTurn * side > 0
            break
        assert who_moves_wins(state) == (state.playerTurn == side)
    for refutation in puzzle.refutations[0]:
        for action in refutation.moves[:1]:
            state = after_moves(GAME, (*puzzle.moves, action))
            for reply in refutation.line:
                assert who_moves_wins(state) == (state.playerTurn != side)
                state = state.takeAction(reply)[0]
