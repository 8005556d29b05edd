"""A game's own random games are those of its rules: the same legal moves, each as likely, the same results."""

import functools

import numpy as np
import pytest

import games
from game import LAST, NOT_PLAYED, PLY, not_played
from games.chains import CAP, KOMI, SUICIDE
from games.go_playouts import barred_word, lead_of, put, words_of
from search.rollouts import random_games
from support.board_drawings import play
from support.game_samples import means


def expected(state):
    """The same mean when every legal move is as likely, by trying all: exact."""

    @functools.cache
    def mean(state_id, _):
        state = known[state_id]
        if state.isEndGame:
            return state.value * state.playerTurn
        after = [state.takeAction(a)[0] for a in state.allowedActions]
        known.update({s.id: s for s in after})
        return sum(mean(s.id, s.isEndGame) for s in after) / len(after)

    known = {state.id: state}
    return mean(state.id, False)


def random_line(game, rng, passing):
    """Positions of a random game with so many passes."""
    line, last = [game.start()], game.action_size - 1
    while not line[-1].isEndGame:
        legal = line[-1].allowedActions
        points = [a for a in legal if a != last]
        action = rng.choice(points) if points and rng.random() > passing else last
        line.append(line[-1].takeAction(int(action))[0])
    return line


SMALL = [f"go(size={size},suicide={suicide})" for size in range(2, 8) for suicide in ("no", "yes")] + ["littlego"]


@pytest.mark.parametrize("spec", SMALL)
def test_stones_put_on_words_lead_to_the_boards_of_the_rules(spec):
    game, rng, seen = games.make(spec), np.random.default_rng(0), set()
    size = game.grid_shape[0]
    stride, point = np.uint64(size + 1), [np.uint64(1 << r * (size + 1) + c) for r in range(size) for c in range(size)]
    for _ in range(40 if size < 6 else 10):
        line = random_line(game, rng, passing=0.05)
        for state, after in zip(line, line[1:], strict=False):
            own, other, board, barred = map(np.uint64, (*words_of(state.row), barred_word(state.row)))
            found = []
            for action, bit in enumerate(point):
                if not bit & (own | other | barred):
                    legal, mine, theirs, ko = put(own, other, bit, board, stride, bool(state.row[SUICIDE]))
                    found += [action] * legal
                    seen.add((bool(legal), mine < own, theirs != other, ko != 0))
                    if action == after.row[LAST]:
                        row = after.row
                        assert (theirs, mine, ko) == (*words_of(row)[:2], barred_word(row)), f"\n{state}\n{after}"
            assert found + [size * size] == state.allowedActions, f"\n{state}"
    assert {(False, False, False, False), (True, False, True, False)} <= seen
    assert any(ko for *_, ko in seen) == (size > 2)


@pytest.mark.parametrize("spec", ["go(size=4,komi=0)", "go(size=7,komi=3)", "littlego"])
def test_points_of_words_are_those_of_the_rules(spec):
    game, rng = games.make(spec), np.random.default_rng(1)
    size = game.grid_shape[0]
    for _ in range(20):
        end = random_line(game, rng, passing=0.1)[-1]
        own, other, board = map(np.uint64, words_of(end.row))
        lead = lead_of(own, other, board, np.uint64(size + 1), spec == "littlego") * end.playerTurn
        assert lead - game.komi == (end.score[0] - end.score[1]) * end.playerTurn, f"\n{end}"


RULES = [f"size={size},ko={ko},suicide={suicide}" for size in (2, 3) for ko in ("simple", "superko")
         for suicide in ("no", "yes")]  # fmt: skip


@pytest.mark.parametrize("inside", [*RULES, "size=8,ko=simple", "size=4,ko=superko"])
@pytest.mark.parametrize("left", [1, 2, 3])
def test_random_ends_of_go_have_the_mean_that_all_legal_moves_as_likely_give(inside, left):
    """With few plies left all lines can be tried; komi is such that results differ."""
    game, rng, count, mixed = games.make(f"go({inside},komi=0)"), np.random.default_rng(left), 4000, 0
    left = min(left, 2) if game.action_size > 10 else left
    for _ in range(8):
        line = random_line(game, rng, passing=0.05)
        state = line[int(rng.integers(len(line) // 2, len(line) - 1))]
        row = state.row.copy()
        row[KOMI] = round(2 * (state.score[0] - state.score[1]) * state.playerTurn)
        row[CAP] = row[PLY] + left
        state = game.state_of(row)
        exact = expected(state)
        mixed += abs(exact) < 0.9
        error = means(state, count, seed=left) - exact
        assert abs(error) < 4.5 * np.sqrt(max(1 - exact**2, 1e-9) / count), f"\n{state}"
    assert mixed


@pytest.mark.parametrize(
    "spec, moves, count",
    [("go", "", 20000), ("go", "c3 c2 d2", 20000), ("littlego", "", 20000), ("littlego", "c3 pass", 20000),
     ("go(size=7,komi=5.5)", "", 8000), ("go(size=5,ko=superko)", "", 8000), ("go(size=9,komi=7.5)", "", 2000),
     ("go(size=4,suicide=yes,komi=1)", "", 20000)],
)  # fmt: skip
def test_random_games_have_the_results_of_games_drawn_from_lists_of_legal_moves(spec, moves, count):
    game = games.make(spec)
    state = play(game, moves)
    own, rules = means(state, count, seed=1), means(state, count, seed=2, rules=game.rules._replace(playout=not_played))
    assert own != rules, "two ways"
    assert abs(own - rules) < 4.5 * np.sqrt(2 / count)


@pytest.mark.parametrize("moves", ["", "b2", "b2 a3", "a3 b3 a2 b2", "a3 b3 c3 b2 b1", "a3 b3 c3 b2 b1 a2 c2 a1"])
def test_random_tictactoe_has_the_mean_that_all_legal_moves_as_likely_give(moves):
    state, count = play(games.make("tictactoe"), moves), 40000
    exact = expected(state)
    assert abs(means(state, count, seed=3) - exact) < 4.5 * np.sqrt(max(1 - exact**2, 1e-9) / count), f"\n{state}"


def test_games_without_a_function_of_their_own_are_left_to_the_rules():
    game = games.make("metasquares")
    row = game.start_row.copy()
    assert game.rules.playout(row, np.uint64(1)) == NOT_PLAYED and (row == game.start_row).all()


def test_the_same_seed_gives_the_same_random_games_and_another_seed_others():
    game = games.make("go")
    found = [random_games(game, 500, seed) for seed in (1, 1, 2, 3)]
    assert found[0] == found[1] and len(set(found)) == 3
