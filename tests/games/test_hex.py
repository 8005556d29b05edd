"""Hex against OpenSpiel, against hexagons measured in the plane, and against what is known of small boards."""

import itertools
from functools import cache

import numpy as np
import pytest

import games
from compiled import call, compiled
from config import UserError
from evaluation.game_contract import check
from game import NO_WIN
from games.hex_lines import FAR, NEAR, WAYS, missing
from games.line_of_moves import starting_at
from memory import Memory
from search.alphabeta import Minimax
from search.rollouts import random_games
from storage.game_record import GameRecord
from support.board_drawings import drawn, play


def hexes(size=11, swap="no"):
    return games.make(f"hex(size={size},swap={swap})")


@cache
def neighbours(size):
    """Return the neighbours of each point: centres at a distance of 1, each row half a point further right."""
    centres = [complex(c + r / 2, r * 3**0.5 / 2) for r in range(size) for c in range(size)]
    return [[q for q, other in enumerate(centres) if 0 < abs(one - other) < 1.01] for one in centres]


def edges(size, player):
    """Return the points at a player's two edges: top and bottom of the first player, left and right of the other."""
    points = np.arange(size * size).reshape(size, size)
    lines = (points[0], points[-1]) if player == 1 else (points[:, 0], points[:, -1])
    return [set(line.tolist()) for line in lines]


def reached(size, stones, start):
    """Return the stones that hang together with those of them in `start`."""
    todo = list(stones & start)
    seen = set(todo)
    while todo:
        for q in neighbours(size)[todo.pop()]:
            if q in stones and q not in seen:
                seen.add(q)
                todo.append(q)
    return seen


def joins(size, stones, player):
    near, far = edges(size, player)
    return bool(reached(size, stones, near) & far)


def stones_of(board, player):
    return set(np.flatnonzero(np.ravel(board) == player).tolist())


def random_positions(game, count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        state = game.start()
        while not state.isEndGame:
            yield state
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        yield state


# ---- other implementations of the rules


@pytest.mark.parametrize(
    "size, swap, count",
    [(3, "no", 60), (3, "yes", 60), (4, "yes", 40), (5, "no", 30), (8, "yes", 20), (11, "no", 12), (19, "no", 2)],
)
def test_random_games_go_as_in_openspiel(size, swap, count):
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game, spiel = hexes(size, swap), pyspiel.load_game(f"hex(board_size={size},swap={swap == 'yes'})")
    rng, swaps, winners = np.random.default_rng(size), 0, set()
    for _ in range(count):
        state, twin = game.start(), spiel.new_initial_state()
        while not twin.is_terminal():
            assert (state.isEndGame, state.allowedActions) == (False, twin.legal_actions()), f"\n{state}"
            assert state.playerTurn == 1 - 2 * twin.current_player(), f"\n{state}"
            swapping = swap == "yes" and game.action_size - 1 in state.allowedActions and rng.random() < 0.5
            action = game.action_size - 1 if swapping else int(rng.choice(state.allowedActions))
            swaps += swap == "yes" and action == game.action_size - 1
            state, value, done = state.takeAction(action)
            twin.apply_action(action)
            if done or swapping:
                marks = [word.lower() for line in str(twin).splitlines() for word in line.split()]
                assert state.owners.ravel().tolist() == [{"x": 1, "o": -1}.get(mark, 0) for mark in marks]
            assert (done, value * state.playerTurn) == (twin.is_terminal(), twin.returns()[0]), f"\n{state}"
        winners.add(twin.returns()[0])
    assert winners == {1, -1} or count < 10
    assert (swaps > 3) == (swap == "yes")


@pytest.mark.parametrize("size", [3, 5, 11, 19])
def test_planes_winner_and_estimate_are_those_of_hexagons_in_the_plane(size):
    game = hexes(size)
    for state in random_positions(game, 1 + (size < 10), size):
        player, board = state.playerTurn, state.owners
        own, other = stones_of(board, player), stones_of(board, -player)
        planes = state.planes().reshape(size * size, 8).T
        found = [set(np.flatnonzero(plane).tolist()) for plane in planes]
        own_edges, other_edges = set.union(*edges(size, player)), set.union(*edges(size, -player))
        assert found[:2] == [own, other] and found[4:6] == [own_edges, other_edges]
        assert found[2:4] == [reached(size, own, own_edges), reached(size, other, other_edges)], f"\n{state}"
        assert not found[6] and len(found[7]) == size * size
        assert state.isEndGame == joins(size, other, -player) and not joins(size, own, player), f"\n{state}"
        if not state.isEndGame and len(own) % (1 + size // 2) == 0:
            for side, stones, others in ((player, own, other), (-player, other, own)):
                free = set(range(size * size)) - stones - others
                for start in (NEAR, FAR):
                    assert lacking(state, side, start) == fewest(size, stones, free, side, start), f"\n{state}"


@compiled
def _missing(row, player, start):
    return missing(row, player, start)


def lacking(state, player, start):
    row = state.row.copy()
    found = int(call(_missing, row, player, start))
    assert (row == state.row).all()
    return found


def fewest(size, stones, free, player, start):
    """Return how many free points a shortest path between a player's edges needs (Dijkstra's algorithm by levels)."""
    near, far = edges(size, player)[:: 1 if start == NEAR else -1]
    count, seen = 0, reached(size, stones, near)
    while not seen & far:
        count += 1
        touched = {q for p in seen for q in neighbours(size)[p]} | near
        seen |= touched & free
        seen |= reached(size, stones | seen, seen)
    return WAYS * count - len(seen & far)


@pytest.mark.parametrize("size", [3, 5, 8])
def test_the_named_winning_move_is_the_first_that_joins_the_edges(size):
    game, named = hexes(size), 0
    for state in random_positions(game, 20, 10 + size):
        if not state.isEndGame:
            own = stones_of(state.owners, state.playerTurn)
            wins = [a for a in state.allowedActions if joins(size, own | {a}, state.playerTurn)]
            assert call(_winning, game.rules, state.row) == (wins[0] if wins else NO_WIN), f"\n{state}"
            named += len(wins) > 1
    assert named > 1


@compiled
def _winning(rules, row):
    return rules.winning(row)


# ---- what is known


def test_each_full_board_of_three_by_three_has_one_winner_who_has_won_the_game_before():
    game = hexes(3)
    for black in itertools.combinations(range(9), 5):
        white = sorted(set(range(9)) - set(black))
        winner = 1 if joins(3, set(black), 1) else -1
        assert joins(3, set(white), -1) == (winner == -1)
        state, moves = game.start(), [*itertools.chain(*zip(black, white, strict=False)), black[-1]]
        for action in moves:
            if not state.isEndGame:
                state, value, _ = state.takeAction(action)
        assert state.isEndGame and value * state.playerTurn == winner


@pytest.mark.parametrize("size", [4, 7, 11])
def test_exactly_one_player_joins_the_edges_on_a_full_board(size):
    rng = np.random.default_rng(size)
    for _ in range(100):
        board = rng.permutation(np.where(np.arange(size * size) % 2, -1, 1))
        assert joins(size, stones_of(board, 1), 1) != joins(size, stones_of(board, -1), -1)


@cache
def mover_wins(size, own, other):
    """Return whether the player to move wins, by trying every move; Black moves when both have as many stones."""
    player = 1 if len(own) == len(other) else -1
    free = [p for p in range(size * size) if p not in own and p not in other]
    return any(
        joins(size, own | {p}, player) or not mover_wins(size, other, own | {p}) for p in free
    )  # fmt: skip


def winning_openings(game):
    solver, start = Minimax(game), game.start()
    found = {a: solver.search(start.takeAction(a)[0], depth=game.max_plies, seconds=None, rng=np.random.default_rng(0))
             for a in start.allowedActions}  # fmt: skip
    assert all(result.exact for result in found.values())
    return {game.move_name(a) for a, result in found.items() if result.value < 0}


def test_the_winning_openings_of_small_boards():
    """3x3: the short diagonal and the rest of the middle row; 4x4: the short diagonal alone."""
    game = hexes(3)
    by_hand = {game.move_name(p) for p in range(9) if not mover_wins(3, frozenset(), frozenset([p]))}
    assert winning_openings(game) == by_hand == {"c1", "a2", "b2", "c2", "a3"}
    assert winning_openings(hexes(4)) == {"d1", "c2", "b3", "a4"}


@pytest.mark.parametrize("size", [3, 4])
def test_with_a_swap_the_second_player_wins_after_every_opening(size):
    assert winning_openings(hexes(size, "yes")) == set()


# ---- swap


def test_a_swap_gives_the_stone_to_the_other_on_the_mirrored_point():
    state = play(hexes(5, "yes"), "a3 swap")
    assert drawn(str(state))[:3] == ["a b c d e", "1  - -[O]- -", "2  - - - - -"]
    assert (state.playerTurn, len(state.allowedActions)) == (1, 24) and state.owners.sum() == -1
    assert play(hexes(5, "yes"), "b1 swap-pieces").owners[1, 0] == -1
    assert play(hexes(5, "yes"), "c3 swap").owners[2, 2] == -1, "a stone on the diagonal stays where it is"


def test_only_the_second_player_may_swap_and_only_at_first():
    game = hexes(4, "yes")
    assert [game.action_size - 1 in play(game, moves).allowedActions for moves in ("", "a1", "a1 b1", "a1 swap")] == [
        False, True, False, False]  # fmt: skip
    assert [play(game, moves).planes()[..., 6].max() for moves in ("", "a1", "a1 b1", "a1 swap")] == [0, 1, 0, 0]
    with pytest.raises(UserError, match="expected a move such as 'a1', got 'swap'"):
        hexes(4).parse_move("swap")


def test_a_random_game_swaps_as_often_as_it_plays_any_other_move():
    game = hexes(3, "yes")
    state, weights = play(game, "b2"), []
    for first in state.allowedActions:
        after = state.takeAction(first)[0]
        black, free = stones_of(after.owners, 1), stones_of(after.owners, 0)
        fills = list(itertools.combinations(sorted(free), (len(free) + 1) // 2))  # Black is to move
        weights.append(np.mean([1 if joins(3, black | set(fill), 1) else -1 for fill in fills]))
    games_played = 20_000
    found = random_games(starting_at(game, state), games_played, 1)
    assert abs(weights[-1] - np.mean(weights)) > 0.2, "the swap matters"
    assert abs(found - np.mean(weights)) < 5 / games_played**0.5


# ---- symmetries


def test_the_half_turn_is_a_symmetry_and_a_mirror_is_one_only_with_the_sides_exchanged():
    game, rng = hexes(5), np.random.default_rng(0)
    points = np.arange(25).reshape(5, 5)
    assert [form.actions.tolist() for form in game.symmetries] == [points[::-1, ::-1].ravel().tolist()]
    board = rng.choice([0, 0, 0, 1, -1], (5, 5)).astype(np.int8)
    state, mirrored = game.set_up(board, 1), game.set_up(-board.T, -1)
    assert (state.planes().transpose(1, 0, 2) == mirrored.planes()).all()
    assert (state.planes().transpose(1, 0, 2) != game.set_up(board.T, 1).planes()).any()
    grids, actions = game.views()
    assert len(grids) == 4 and (grids == actions).all()
    forms = points, points[::-1, ::-1], points.T, points.T[::-1, ::-1]
    assert {tuple(grid) for grid in grids} == {tuple(form.ravel()) for form in forms}


def test_training_sees_the_mirrored_board_as_the_other_player_would():
    game, rng = hexes(4, "yes"), np.random.default_rng(1)
    memory, state, states, visits = Memory(game, 16), game.start(), [], np.zeros((9, 17), np.uint16)
    moves = [2, 16, *rng.permutation([p for p in range(16) if p not in (2, 8)])[:7].tolist()]
    for move, row in zip(moves, visits, strict=True):
        states.append(state)
        row[state.allowedActions] = rng.integers(1, 50, len(state.allowedActions))
        state = state.takeAction(move)[0]
    positions = memory.positions(GameRecord(0, np.array(moves, np.int16), visits, np.zeros(9, np.float32), 1.0))
    mirrored = np.append(np.arange(16).reshape(4, 4).T.ravel(), 16)
    batch = memory.batch(positions, np.full(9, 2))
    for i, before in enumerate(states[3:], 3):  # later than the swap, which only one side can have
        other = game.set_up(-before.owners.T, -before.playerTurn)
        assert (batch.planes[i] == other.planes()).all()
        shares = visits[i] / visits[i].sum()
        assert np.allclose(np.maximum(batch.policy[i], 0), shares[mirrored])
        assert batch.value[i] == before.playerTurn


# ---- the contract


@pytest.mark.parametrize("spec", ["size=3", "size=3,swap=yes", "size=4", "size=5,swap=yes", "size=8", "swap=yes"])
def test_hex_keeps_the_contract_of_a_game(spec):
    game = games.make(f"hex({spec})")
    assert check(game, games=max(2, 40 // game.grid_shape[0] - 4)) == []


def test_positions_reached_in_another_order_are_one():
    game = hexes()
    one, other = play(game, "a1 b1 c1 d1"), play(game, "c1 d1 a1 b1")
    assert one.id == other.id and (one.planes() == other.planes()).all()
    assert len({play(game, moves).id for moves in ("a1", "b1", "a1 b1", "b1 a1", "a1 b1 c1")}) == 5
    game = hexes(4, "yes")
    assert len({play(game, moves).id for moves in ("a1", "a1 swap", "a1 swap a2", "a2 a1", "a1 a2")}) == 5


@pytest.mark.parametrize("spec", ["hex", "hex(size=5)", "hex(size=7,swap=yes)", "hex(swap=yes)"])
def test_the_spec_of_hex_makes_it_again(spec):
    assert games.make(spec).spec == spec


def test_wrong_parameters_are_refused():
    for size in (0, 2, 20):
        with pytest.raises(UserError, match=f"hex: expected size from 3 to 19, got {size}"):
            hexes(size)
    with pytest.raises(UserError, match="hex: expected swap out of no, yes, got 'maybe'"):
        hexes(5, "maybe")


def test_a_position_set_up_is_the_one_played_and_a_won_one_is_refused():
    game = hexes(4, "yes")
    state = play(game, "b2 c3 b3")
    found = game.set_up(state.owners, -1)
    assert found.id == state.id and (found.planes() == state.planes()).all()
    assert game.action_size - 1 in game.set_up(play(game, "b2").owners, -1).allowedActions
    assert game.action_size - 1 not in game.set_up(-play(game, "b2").owners, -1).allowedActions
    board = np.zeros((4, 4), np.int8)
    board[:, 1] = 1
    with pytest.raises(UserError, match="in which nobody has won"):
        game.set_up(board, -1)


# ---- what people type and see


def test_rows_are_drawn_each_further_right_and_points_are_named_from_the_top_left():
    state = play(hexes(3), "b2 a1 c1")
    assert str(state).splitlines() == [
        "    a b c",
        " 1  O -[X]",
        "  2  - X -",
        "   3  - - -",
        "X: top to bottom, O: left to right",
    ]
    assert hexes().move_name(0) == "a1" and hexes().move_name(120) == "k11"
    assert hexes().parse_moves("1. F6 e7 2. k11") == [60, 70, 120]


def test_the_largest_board_fits_eighty_columns():
    assert max(map(len, str(play(hexes(19), "s19")).splitlines())) <= 80
