"""MetaSquares against an independent geometry: four points are a square when their six distances say so."""

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from numba import njit

import games
from config import UserError
from evaluation.game_contract import check
from game import PLAYER, WINNER
from games.metasquares import FIRST, SECOND
from support.board_drawings import drawn, play


def metasquares(size=11, rule="area"):
    return games.make(f"metasquares(size={size},rule={rule})")


def areas(points, size):
    """Return the area of each four points, [n, 4] of numbers in row order; 0 = no square.

    Of the six distances, squared and in order, a square has four equal ones and two of twice that.
    """
    r, c = np.divmod(np.asarray(points).reshape(-1, 4), size)
    pairs = np.array(list(combinations(range(4), 2)))
    distances = (r[:, pairs[:, 0]] - r[:, pairs[:, 1]]) ** 2 + (c[:, pairs[:, 0]] - c[:, pairs[:, 1]]) ** 2
    distances.sort(axis=1)
    side = distances[:, 0]
    return np.where((distances == side[:, None] * np.array([1, 1, 1, 1, 2, 2])).all(axis=1), side, 0)


@cache
def squares(size):
    """Return (corners [n, 4], areas [n], sides of the upright squares of cells around them [n]) of a whole board."""
    points = np.array(list(combinations(range(size * size), 4)), np.int16)
    area = areas(points, size)
    corners = points[area > 0].astype(int)
    around = [np.ptp(part, axis=1) + 1 for part in np.divmod(corners, size)]
    assert (around[0] == around[1]).all()
    return corners, area[area > 0], around[0]


@njit(cache=True)
def _points_of_each_four(rules, start, points, at):
    """Return what each four stones of who began score on an empty board; the other places none."""
    found, row = np.zeros(len(points), np.int32), start.copy()
    for i in range(len(points)):
        row[:] = start
        for point in points[i]:
            row[0] = 1
            rules.play(row, point)
        found[i] = row[at]
    return found


# ---- squares


def test_the_five_by_five_board_has_its_fifty_squares():
    expected = {1: 16, 2: 9, 4: 9, 5: 8, 8: 1, 9: 4, 10: 2, 16: 1}
    game = metasquares(5)
    fours = np.array(list(combinations(range(25), 4)))
    found = Counter(_points_of_each_four(game.rules, game.start_row, fours, FIRST).tolist())
    assert found.pop(0) == 12650 - 50
    assert found == expected
    assert Counter(squares(5)[1].tolist()) == expected


@pytest.mark.parametrize("size", [3, 4, 6, 7])
def test_four_stones_score_when_their_distances_are_those_of_a_square(size):
    fours = np.array(list(combinations(range(size * size), 4)))
    corners, area, side = squares(size)
    assert len(corners) == size**2 * (size**2 - 1) // 12
    game, race = metasquares(size), metasquares(size, "race")
    scored = _points_of_each_four(game.rules, game.start_row, fours, FIRST)
    assert (scored == areas(fours, size)).all()
    scored = _points_of_each_four(race.rules, race.start_row, fours, FIRST)
    assert scored[scored > 0].tolist() == (side**2).tolist()


# ---- whole games


@pytest.mark.parametrize("size, count", [(3, 40), (4, 20), (5, 20), (7, 12), (8, 12)])
def test_points_of_random_games_are_those_of_all_squares_on_the_board(size, count):
    corners, area, _ = squares(size)
    game, rng = metasquares(size), np.random.default_rng(size)
    results = Counter()
    for _ in range(count):
        state, cells = game.start(), np.zeros(size * size, int)
        for ply in range(size * size - size % 2):
            player = 1 - ply % 2 * 2
            assert (state.playerTurn, state.isEndGame) == (player, False)
            assert state.allowedActions == np.flatnonzero(cells == 0).tolist()
            action = int(rng.choice(state.allowedActions))
            state, value, done = state.takeAction(action)
            cells[action] = player
            points = [area[(cells[corners] == who).all(axis=1)].sum() for who in (-player, player)]
            assert state.score == tuple(points), f"\n{state}"
        assert (done, state.allowedActions, value) == (True, [], np.sign(points[0] - points[1]))
        results[np.sign(points[0] - points[1]) * state.playerTurn] += 1
    assert results[1] and results[-1]


@pytest.mark.parametrize("size", [11, 15])
def test_points_of_a_whole_game_on_a_large_board(size):
    """Every two stones as a side: each square is met by its four sides."""
    game, rng = metasquares(size), np.random.default_rng(size)
    state = game.start()
    while not state.isEndGame:
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
    own, other, *_ = state.planes().transpose(2, 0, 1)
    for plane, points in zip((own, other), state.score, strict=True):
        stones = [complex(r, c) for r, c in np.argwhere(plane)]
        ends = set(stones)
        assert len(ends) == (size * size - 1) // 2
        sides = [(a, b) for a in stones for b in stones if a != b]
        found = sum(abs(a - b) ** 2 for a, b in sides if {a + (b - a) * 1j, b + (b - a) * 1j} <= ends)
        assert round(found) == 4 * points


def test_a_race_ends_with_150_points_and_a_lead_of_15():
    corners, _, side = squares(8)
    game, rng = metasquares(8, "race"), np.random.default_rng(3)
    won = late = 0
    for _ in range(60):
        state, cells, ply = game.start(), np.zeros(64, int), 0
        points = (0, 0)
        while not (over := ply == 64 or points[1] >= 150 and points[1] - points[0] >= 15):
            assert not state.isEndGame, f"\n{state}"
            late += points[1] >= 150
            action = int(rng.choice(state.allowedActions))
            cells[action] = 1 - ply % 2 * 2
            state, ply = state.takeAction(action)[0], ply + 1
            player = 1 - ply % 2 * 2
            points = tuple((side[(cells[corners] == who).all(axis=1)] ** 2).sum() for who in (player, -player))
            assert (state.playerTurn, state.score) == (player, points), f"\n{state}"
        assert (state.isEndGame, state.allowedActions) == (over, []), f"\n{state}"
        assert state.value == np.sign(points[0] - points[1])
        won += ply < 64
    assert won > 0 and late > 0


def test_a_race_goes_on_after_150_points_without_the_lead():
    game = metasquares(8, "race")
    for other, over in ((140, True), (141, False)):
        row = game.start_row.copy()
        state = play(game, "a1 h8 a2 h7 b1 h6")  # b2 completes a square of 4 points
        row[:] = state.row
        row[[FIRST, SECOND]] = 151, other
        state, value, done = game.state_of(row).takeAction(game.parse_move("b2"))
        assert (state.score, done, value) == ((other, 155.0), over, -1.0 if over else 0.0)


# ---- the contract


@pytest.mark.parametrize(
    "spec", ["size=3", "size=4", "size=5", "size=7,rule=race", "size=8,rule=race", "size=11", "size=15"]
)
def test_metasquares_keeps_the_contract_of_a_game(spec):
    game = games.make(f"metasquares({spec})")
    assert len(game.symmetries) == 7
    assert check(game, games=max(2, 60 // game.grid_shape[0] - 4)) == []


def test_positions_reached_in_another_order_are_one():
    game = metasquares()
    one, other = play(game, "a1 b1 c1 d1"), play(game, "c1 d1 a1 b1")
    assert one.id == other.id and (one.planes() == other.planes()).all()
    assert one.id != play(game, "b1 a1 d1 c1").id
    assert len({play(game, moves).id for moves in ("a1", "b1", "a1 b1", "b1 a1", "a1 b1 c1")}) == 5


def test_wrong_parameters_are_refused():
    for size in (0, 2, 16):
        with pytest.raises(UserError, match=f"metasquares: expected size from 3 to 15, got {size}"):
            metasquares(size)
    with pytest.raises(UserError, match="metasquares: expected rule out of area, race, got 'box'"):
        metasquares(5, "box")


@pytest.mark.parametrize("spec", ["metasquares", "metasquares(size=5)", "metasquares(rule=race,size=8)"])
def test_the_spec_of_metasquares_makes_it_again(spec):
    assert games.make(spec).spec == spec


# ---- what people type and see


def test_points_are_named_by_letter_and_row_from_below_and_the_score_is_shown():
    state = play(metasquares(5), "b1 a5 a2 b5 c2 c5 b3")
    assert drawn(str(state)) == drawn("""
        5  O  O  O  -  -
        4  -  -  -  -  -
        3  - [X] -  -  -
        2  X  -  X  -  -
        1  -  X  -  -  -
           a  b  c  d  e
           X 2, O 0 points """)
    assert state.score == (0.0, 2.0)
    assert metasquares().move_name(8) == "i11"


def test_planes_are_own_stones_other_stones_the_lead_and_ones():
    state = play(metasquares(3), "a3 c1 b3 c2 b2")
    own, other, ahead, behind, ones = state.planes().transpose(2, 0, 1).tolist()
    assert own == [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert other == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert (np.array([ahead, behind]) == 0).all() and ones == [[1, 1, 1]] * 3
    state = play(metasquares(3), "a3 c1 b3 c2 b2 c3 a2")
    assert state.row[PLAYER] == -1 and state.row[WINNER] == 0
    assert state.planes()[:, :, 2:4].sum(axis=(0, 1)).tolist() == [0, 9]
    state = state.takeAction(8 - 2)[0]
    assert state.isEndGame and state.planes()[:, :, 2:4].sum(axis=(0, 1)).tolist() == [9, 0]
