"""Gomoku's search for wins by continuous fours and threats, against a slow solver in plain Python and drawn boards."""

import itertools
import random

import numpy as np
import pytest

import games
from config import UserError
from game import PLAYER
from search.solving.forced import AT_ROOT, NEW, ForcedSearch
from support.gomoku_boards import board
from support.slow_fours import SlowFours, crowded_board

SPECS = ["gomoku(size=9)", "gomoku(size=9,rule=exact)", "gomoku(size=9,rule=renju)", "gomoku(size=6,n=4)"]


def positions(game, slow, seed, stones):
    """Yield (state, stones, player) where no move wins at once and the other player threatens one point at most."""
    rng = random.Random(seed)
    while True:
        cells, player = crowded_board(rng, game.grid_shape[0], rng.randint(stones // 2, stones), 2), rng.choice((1, -1))
        flat = cells.ravel().tolist()
        must = slow.winning_points(flat, -player)
        if slow.winning_points(flat, player) or len(must) > 1:
            continue
        try:
            state = game.set_up(cells, player)
        except UserError:
            continue
        if not state.isEndGame and set(must) <= set(state.allowedActions):
            yield state, flat, player


def shortest(slow, stones, player, most):
    """Return the plies of the shortest win by fours, 0 if there is none within `most`."""
    return next((plies for plies in range(3, most + 1, 2) if slow.wins(stones, player, plies)), 0)


@pytest.mark.parametrize("spec", SPECS)
def test_wins_by_fours_are_found_and_are_the_shortest(spec):
    game = games.make(spec)
    slow, search, won = SlowFours(game), ForcedSearch(game), 0
    for state, stones, player in itertools.islice(positions(game, slow, 1, 4 * game.grid_shape[0]), 25):
        slow.known.clear()
        plies, found = shortest(slow, stones, player, 9), search(state, NEW)
        assert (found.move is not None) >= (plies > 0), f"missed: {plies} plies\n{state.render()}"
        if found.move is not None:
            won += 1
            assert slow.four_wins(stones, player, found.move, found.plies), state.render()
            assert found.plies == plies or (plies == 0 and found.plies > 9)
    assert won >= 3


@pytest.mark.parametrize("spec", SPECS)
def test_where_the_other_threatens_fours_what_is_left_out_loses_and_what_is_kept_does_not_lose_soon(spec):
    game = games.make(spec)
    slow, search, seen = SlowFours(game), ForcedSearch(game), 0
    for state, stones, player in itertools.islice(positions(game, slow, 2, 4 * game.grid_shape[0]), 100):
        slow.known.clear()
        if seen == 4:
            break
        found = search(state, NEW)
        threatened = shortest(slow, stones, -player, 7) and not slow.winning_points(stones, -player)
        assert found.move is not None or (found.defences is not None) >= bool(threatened), state.render()
        if found.defences is not None:
            seen += 1
            for move in state.allowedActions:
                lost = any(slow.wins_after(stones, -player, move, plies) for plies in (5, 9, 13, 17))
                assert lost or move in found.defences, f"{game.move_name(move)} does not lose\n{state.render()}"
                assert not (move in found.defences and slow.wins_after(stones, -player, move, 5)), state.render()
    assert seen == 4


@pytest.mark.parametrize("spec", ["gomoku(size=9)", "gomoku(size=9,rule=renju)"])
def test_what_is_found_does_not_depend_on_what_was_asked_before(spec):
    game = games.make(spec)
    slow, search = SlowFours(game), ForcedSearch(game)
    states = [state for state, _, _ in itertools.islice(positions(game, slow, 3, 36), 12)]
    for effort in (NEW, AT_ROOT):
        fresh = [ForcedSearch(game)(state, effort) for state in states]
        assert [search(state, effort) for state in states] == fresh
        assert [search(state, effort) for state in states[::-1]] == fresh[::-1]
    assert any(found != (None, 0, None) for found in fresh)


# ---- drawn boards: X is Black, O is White

OPEN_THREE = """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . + X X X + . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    O . . O . . . . O"""


def ask(rule, text, player, effort=NEW):
    cells, signs = board(text)
    game = games.make(f"gomoku(rule={rule})")
    return game, ForcedSearch(game)(game.set_up(cells, player), effort), signs


@pytest.mark.parametrize("rule", ["freestyle", "exact", "renju"])
def test_an_open_three_wins_for_its_player_and_leaves_the_other_its_ends(rule):
    _, found, signs = ask(rule, OPEN_THREE, 1)
    assert found.move in signs["+"] and found.plies == 3 and found.defences is None
    _, found, signs = ask(rule, OPEN_THREE, -1)
    assert found == (None, 0, signs["+"])


def test_a_double_four_wins_but_in_renju_not_for_black():
    cells = np.zeros((9, 9), int)
    cells[4, 1:4] = cells[1:4, 4] = 1
    cells[4, 0] = cells[0, 4] = -1
    cells[8, [0, 2, 4, 6]] = -1
    for rule, player in itertools.product(("freestyle", "exact", "renju"), (1, -1)):
        game = games.make(f"gomoku(rule={rule})")
        found = ForcedSearch(game)(game.set_up(cells * player, player), NEW)
        wins = (found.move, found.plies) == (game.parse_move("e5"), 3)
        assert wins != (rule == "renju" and player == 1), (rule, player)


def test_white_wins_in_renju_by_a_four_that_black_may_not_answer():
    cells = np.zeros((9, 9), int)
    cells[4, 0], cells[4, 1:4] = 1, -1  # White's e5 threatens f5,
    cells[[1, 2, 3, 5, 6], 5] = 1  # where Black would have six in a column
    renju, free = games.make("gomoku(rule=renju)"), games.make("gomoku")
    assert ForcedSearch(renju)(renju.set_up(cells, -1)) == (renju.parse_move("e5"), 3, None)
    assert ForcedSearch(free)(free.set_up(cells, -1)).move is None, "there it wins for Black"


# ---- threats


def check_proof(game, slow, state, stones, attacker, effort, depth=0):
    """Check that the attacker, to move, wins against every reply: by threats as found, by fours as `slow` says."""
    assert depth < 8 and state.row[PLAYER] == attacker
    if slow.winning_points(stones, attacker):
        return 0
    found = ForcedSearch(game)(state, effort)
    assert found.move is not None, f"no win found\n{state.render()}"
    if found.plies:
        assert slow.four_wins(stones, attacker, found.move, found.plies), state.render()
        return 0
    after, _, over = state.takeAction(found.move)
    assert not over and not slow.winning_points(stones, attacker)
    deepest = 0
    for reply in after.allowedActions:
        there, _, over = after.takeAction(reply)
        assert not over, f"{game.move_name(reply)} ends the game\n{after.render()}"
        now = list(stones)
        now[found.move], now[reply] = attacker, -attacker
        deepest = max(deepest, check_proof(game, slow, there, now, attacker, 4 * effort, depth + 1))
    return 1 + deepest


@pytest.mark.parametrize("rule", ["freestyle", "renju"])
def test_wins_by_threats_hold_against_every_reply(rule):
    game = games.make(f"gomoku(size=9,rule={rule})")
    slow, search, won = SlowFours(game), ForcedSearch(game), 0
    for state, stones, player in itertools.islice(positions(game, slow, 5, 16), 40):
        found = search(state, AT_ROOT)
        if found.move is not None and not found.plies:
            won += check_proof(game, slow, state, stones, player, AT_ROOT) > 0
        if won == 2:
            break
    assert won == 2


def test_two_open_threes_at_once_win_by_threats_and_in_renju_only_for_white():
    cells = np.zeros((9, 9), int)
    cells[4, 2:4] = cells[2:4, 4] = 1
    cells[8, [0, 3, 6, 8]] = -1
    for rule, player in itertools.product(("freestyle", "exact", "renju"), (1, -1)):
        game = games.make(f"gomoku(rule={rule})")
        state = game.set_up(cells * player, player)
        assert ForcedSearch(game)(state, NEW) == (None, 0, None)
        found = ForcedSearch(game)(state, AT_ROOT)
        assert rule == "renju" and player == 1 or (found.move is not None and found.plies == 0), (rule, player)


def test_boards_whose_lines_are_too_long_have_no_such_search():
    assert games.make("gomoku(size=8,n=6)").forced is None and games.make("gomoku(size=3,n=2)").forced is None
    assert ForcedSearch(games.make("connect4"))(games.make("connect4").start()) == (None, 0, None)
