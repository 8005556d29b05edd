"""Reviews of games: exact marks, marks by search, lines, accuracy, the turning point."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import games
from config import UserError
from evaluation.review import (
    MARKS,
    Judged,
    Thresholds,
    as_values,
    check_searcher,
    review,
    summary,
    thresholds,
)  # fmt: skip
from games.line_of_moves import follow
from interface.review_words import counted
from players.rollout import RolloutPlayer
from players.simple import RandomPlayer
from search.alphabeta import Minimax
from storage.game_files import Record
from support.corridor import Corridor

TICTACTOE = games.make("tictactoe")
CONNECT4 = [
    ("4 4 6 5 5 6 3 3 3 4 4 6 1 5 2", 1.0),
    ("4 5 5 4 6 4 4 5 1 3 5 4 1 1 6 7 3 6 3 6", -1.0),
]
"""Games that machines played, as moves and the result."""
GOMOKU = "c5 f5 a2 c6 h2 f6 c9"
OTHELLO = "b3 d2 e3 f2 d1 b2 c2 c1 e5 f6 e2 b4 c5 b6 b1 e1 a4 a1 d5 b5 f5 e6 a2 f4 e4 f3 c6 d6 f1 a3 a5 a6"


def no_search(game):
    raise AssertionError("expected the solver to know every position")


def rollouts(game):
    return RolloutPlayer(game, sims=50)


def record(text, game=TICTACTOE, result=None):
    return Record(game, game.parse_moves(text), result)


def lost(found, solve):
    """Return what each move lost in points of the game, by the values of the positions before and after it."""
    values = [float(np.sign(s.value if s.isEndGame else solve(s))) * s.playerTurn for s in follow(*found[:2])]
    movers = [state.playerTurn for state in follow(*found[:2])]
    return [mover * (a - b) / 2 for mover, (a, b) in zip(movers, itertools.pairwise(values), strict=False)]


@pytest.mark.parametrize("moves, result", CONNECT4)
def test_in_connect4_every_move_that_loses_value_is_marked_and_no_other(moves, result):
    pytest.importorskip("bitbully")
    from players.solver import BitbullyScores

    found = record(moves, games.make("connect4"), result)
    judged_moves = list(review(found, no_search))
    losses = lost(found, lambda state: max(BitbullyScores().scores(state).values()))
    assert [move.loss for move in judged_moves] == losses and any(losses)
    assert [move.mark for move in judged_moves] == [{0: "", 0.5: "mistake", 1: "blunder"}[loss] for loss in losses]
    assert all(move.exact and bool(move.line) == bool(move.mark) for move in judged_moves)


def test_in_tictactoe_alpha_beta_judges_every_move():
    found = record("a1 b2 c3 a3 c1 b1 c2", result=1.0)
    moves = list(review(found, no_search))
    assert [move.loss for move in moves] == lost(found, Minimax(TICTACTOE).solve)
    assert [(move.ply, move.mark, move.after) for move in moves if move.mark] == [(3, "mistake", -1.0)]


def test_the_better_line_wins_by_the_shortest_way_and_blocks():
    rng, missed = np.random.default_rng(4), 0
    while missed < 3:
        found = Record(TICTACTOE, [int(a) for a in rng.permutation(9)[:5]])
        state = list(follow(*found[:2]))[-2]
        wins = [a for a in state.allowedActions if state.takeAction(a)[0].isEndGame]
        if not state.isEndGame and (move := list(review(found, no_search))[-1]).mark and wins:
            missed += 1
            assert len(move.line) == 1 and move.line[0] in wins
    move = list(review(record("b2 a1 b1 c1"), no_search))[-1]
    assert move.mark == "mistake" and TICTACTOE.move_name(move.line[0]) == "b3"


def test_a_search_reviews_what_no_solver_knows_and_does_so_again_from_the_same_seed():
    found = record(GOMOKU, games.make("gomoku"))
    twice = [list(review(found, rollouts, sims=50, seed=3)) for _ in range(2)]
    assert twice[0] == twice[1] and len(twice[0]) == 7
    for move in twice[0]:
        assert -1 <= move.after <= move.before <= 1 and 0 <= move.loss <= 1
        assert move.line == [] or move.line[0] != move.action, "a better move is another one"
        assert move.mark == thresholds("gomoku").mark(move.loss, exact=move.exact)


def test_a_search_finds_a_win_that_was_missed():
    game = games.make("gomoku(size=7)")
    found = record("b4 b6 c4 c6 d4 d6 e4 a4 a7", game)
    moves = list(review(found, rollouts, sims=400, solve=False))
    assert moves[8].mark in ("mistake", "blunder") and game.move_name(moves[8].line[0]) == "f4"


def test_what_a_search_calls_exact_is_exact():
    """Two moves that were searched and lose do not show that all others lose."""
    game = games.make("gomoku(size=4,n=3)")
    solver, exact = Minimax(game), 0

    def value(state):
        """Return the exact value of a position for its player to move."""
        return float(np.sign(state.value if state.isEndGame else solver.solve(state)))

    for seed in range(8):
        state, moves = game.start(), []
        rng = np.random.default_rng(seed)
        while not state.isEndGame:
            moves.append(int(rng.choice(state.allowedActions)))
            state = state.takeAction(moves[-1])[0]
        positions = list(follow(game, moves))
        for move in review(Record(game, moves), rollouts, sims=50, solve=False):
            if move.exact:
                before, after = positions[move.ply : move.ply + 2]
                assert (move.before, move.after) == (value(before), -value(after)), (seed, move.ply)
                exact += 1
    assert exact > 20


def test_positions_near_the_end_are_exact_and_the_search_has_the_others():
    found = record(OTHELLO, games.make("othello(size=6)"), -1.0)
    asked = []

    class Counting(RolloutPlayer):
        def think(self, state, sims=None, stop=None):
            asked.append(state)
            return super().think(state, sims, stop)

    moves = list(review(found, lambda game: Counting(game, sims=8), sims=8))
    first = next(move.ply for move in moves if move.exact)
    assert 8 < first < 26 and all(move.exact for move in moves[first:])
    assert 0 < len(asked) <= 2 * first + 2


def test_a_review_can_be_stopped():
    found = record(GOMOKU, games.make("gomoku"))
    seen = []
    for move in review(found, rollouts, sims=20, stop=lambda: len(seen) == 3):
        seen.append(move)
    assert [move.ply for move in seen] == [0, 1, 2]
    assert list(review(record("a1 b2"), no_search, stop=lambda: True)) == []


def test_a_resumed_game_of_go_is_reviewed_past_its_passes():
    game = games.make("go(komi=0.5,size=3)")
    found = Record(game, game.parse_moves("b2 pass pass a1 c1"))
    assert [move.ply for move in review(found, rollouts, sims=10)] == [0, 1, 2, 3, 4]


def test_thresholds_decide_only_where_no_value_is_exact():
    limits = Thresholds(0.05, 0.1, 0.3)
    assert [limits.mark(loss, exact=False) for loss in (0, 0.049, 0.05, 0.1, 0.3, 1)] == [
        "", "", "inaccuracy", "mistake", "blunder", "blunder"
    ]  # fmt: skip
    assert [limits.mark(loss, exact=True) for loss in (0, 0.5, 1)] == ["", "mistake", "blunder"]


def test_measured_thresholds_ascend_and_other_games_have_their_mean():
    found = json.loads((Path(games.__file__).parents[1] / "evaluation" / "review_thresholds.json").read_text())["games"]
    assert {"connect4", "go", "gomoku", "othello"} <= found.keys()
    for spec in (*found, "metasquares"):
        inaccuracy, mistake, blunder = thresholds(spec)
        assert 0 < 2 * inaccuracy <= mistake + 0.002 and 2 * mistake <= blunder + 0.002 and blunder <= 0.5


def judged(ply, before, after, *, exact=True, choices=7):
    mark = Thresholds(0.05, 0.1, 0.3).mark(max(before - after, 0) / 2, exact=exact)
    return Judged(ply, 1 if ply % 2 == 0 else -1, 0, before, after, exact, mark, [], choices)


def test_accuracy_is_that_of_lichess_over_moves_with_a_choice():
    assert judged(0, 0.5, 0.5).accuracy == 100 and judged(0, 1.0, -1.0).accuracy == 0
    assert judged(0, 0.2, 0.0, exact=False).accuracy == pytest.approx(103.1668 * np.exp(-0.4354) - 3.1669, abs=0.06)
    total = summary([judged(0, 1, 1), judged(1, -1, -1, choices=1), judged(2, 1, -1)])
    assert total.accuracy == {1: 50.0, -1: None}
    assert total.counts[1] == {"inaccuracy": 0, "mistake": 0, "blunder": 1}


@pytest.mark.parametrize(
    "moves, turning",
    [([(1, -1), (1, -1), (-1, -1)], 1), ([(0, -1), (1, 0), (0, 0)], 1), ([(1, 1), (-1, -1)], None)],
)
def test_the_turning_point_is_the_last_move_that_changed_who_wins(moves, turning):
    assert summary([judged(ply, *values) for ply, values in enumerate(moves)]).turning == turning


def test_without_a_change_of_the_winner_the_turning_point_is_the_largest_loss():
    moves = [judged(0, 0.3, 0.0, exact=False), judged(1, 0.2, 0.0, exact=False)]
    assert summary(moves).turning == 0


def test_values_for_json_name_moves_and_marks():
    found = record("a1 b2 c3 a3 c1 b1 c2", result=1.0)
    values = json.loads(json.dumps(as_values(found, review(found, no_search), "")))
    assert [m["move"] for m in values["moves"]] == ["a1", "b2", "c3", "a3", "c1", "b1", "c2"]
    assert {m["mark"] for m in values["moves"]} <= set(MARKS) and values["turning_point"] == 3
    assert values["moves"][3]["better"] and values["marks"][1]["mistake"] == 1


def test_a_player_without_a_search_is_refused():
    with pytest.raises(UserError, match="expected a player that searches"):
        check_searcher(RandomPlayer(TICTACTOE))


@pytest.mark.parametrize("solve", [True, False])
def test_a_game_in_plain_python_with_passes_and_turns_in_a_row_is_reviewed(solve):
    game, rng = Corridor(), np.random.default_rng(1)
    found, state = Record(game, []), game.start()
    while not state.isEndGame:
        found.moves.append(int(rng.choice(state.allowedActions)))
        state = state.takeAction(found.moves[-1])[0]
    moves = list(review(found, rollouts, sims=30, solve=solve))
    assert [move.player for move in moves] == [s.playerTurn for s in follow(*found[:2])][:-1]
    if solve:
        assert [move.loss for move in moves if move.exact] == lost(found, Minimax(game).solve)[-sum(
            move.exact for move in moves) :]  # fmt: skip
        assert moves[-1].exact


def test_a_side_whose_every_position_is_lost_made_no_mistake_because_it_could_make_none():
    def judged(ply, before, exact):
        return Judged(ply, 1 if ply % 2 == 0 else -1, 0, before, before, exact, "", [], 2)

    exactly = [judged(0, 1.0, True), judged(1, -1.0, True), judged(2, 1.0, True), judged(3, -1.0, True)]
    assert summary(exactly).lost_throughout == {1: False, -1: True}
    assert summary([*exactly, judged(5, -1.0, False)]).lost_throughout[-1] is False
    assert summary([judged(1, 0.0, True), *exactly]).lost_throughout[-1] is False
    assert summary([]).lost_throughout == {1: False, -1: False}
    assert counted({"mistake": 0}, lost_throughout=True) == "no move could save the game" != counted({"mistake": 0})
