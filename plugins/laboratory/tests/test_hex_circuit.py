"""The classical player of Hex: its circuits, its moves; and who wins after each first stone."""

import numpy as np
import pytest

import games
from compiled import call
from config import UserError
from evaluation.match import contest
from players.by_name import make_player
from plugins.laboratory.hex_circuit import STEPS, SURE, Circuit, current, make_room
from plugins.laboratory.hex_openings import TABLES, known_openings
from plugins.laboratory.hex_player import best_move
from plugins.laboratory.hex_proofs import GaveUp, Prover


def stones_of(*rows):
    """Return [size, size] of drawn rows: X joins the top to the bottom, O the left to the right."""
    return np.array([[{"X": 1, "O": -1, ".": 0}[c] for c in row] for row in rows], np.int8)


def random_stones(size, count, seed):
    stones, rng = np.zeros((size, size), np.int8), np.random.default_rng(seed)
    stones.flat[rng.permutation(size * size)[:count]] = np.resize([1, -1], count)
    return stones


def by_kirchhoff(circuit, room):
    """Return the current of the circuit that was just solved, from the equations of its nodes."""
    free = int((circuit.board == 0).sum())
    groups = int(room.label[circuit.board != 0].max()) + 1
    laws = np.zeros((groups + free,) * 2)
    for f in range(free):
        for to, weight in zip(room.to[f, : room.links[f]], room.weight[f], strict=False):
            for one, other in ((groups + f, to), (to, groups + f))[: 1 + (to < groups)]:
                laws[one, one] += weight
                laws[one, other] -= weight
    inner = [i for i in range(2, groups + free) if laws[i, i] > 0]
    volts = np.eye(groups + free)[0]
    volts[inner] = np.linalg.solve(laws[np.ix_(inner, inner)], -laws[inner, 0])
    return float(laws[0] @ volts)


@pytest.mark.parametrize("bridges", [False, True])
def test_currents_obey_kirchhoffs_laws(bridges):
    for seed in range(30):
        circuit, room = Circuit(random_stones(7, 8 + seed % 8, seed)), make_room(11 * 11)
        found = call(current, circuit.board, np.int64(11), STEPS, np.int64(1 - 2 * (seed % 2)), bridges, room)
        if 0.02 < found < SURE:
            assert found == pytest.approx(by_kirchhoff(circuit, room), rel=0.03)


def test_the_mirrored_board_with_colours_changed_is_worth_the_same():
    for seed in range(20):
        stones = random_stones(6, 9, seed)
        value, order = Circuit(stones).judge(1)
        other, mirrored = Circuit(-stones.T).judge(-1)
        assert value == pytest.approx(other, abs=0.1)
        assert len(set(order[:4]) & {p % 6 * 6 + p // 6 for p in mirrored[:4]}) >= 3


def test_a_chain_of_bridges_is_sure_and_the_point_that_joins_comes_first():
    sure = stones_of("...X.", ".....", "..X..", ".....", ".X...")
    value, _ = Circuit(sure).judge(-1)
    assert value < -6  # log(SURE) and more for X, who is not on move
    cut = stones_of("..OX.", "....O", "..X..", "..O..", ".X...")
    assert best_move(Circuit(cut), 1, 2)[0] == 5 * 3 + 1  # the bridge c3-b5 was entered at c4
    won = stones_of(".OX..", "..X..", "..X..", ".XO..", "..OOO")
    move, value = best_move(Circuit(won), 1, 1)
    assert move in (5 * 4, 5 * 4 + 1) and value > 10


def test_it_beats_random_play_and_takes_over_the_centre():
    game = games.make("hex(size=5)")
    scores = contest(game, (make_player("circuit:2", game), make_player("random", game)), 10, seed=0, opening_plies=2)
    assert sum(scores) == 10
    swap = games.make("hex(size=5,swap=yes)")
    player = make_player("circuit:2", swap)
    for name, swaps in (("c3", True), ("a1", False)):
        state = swap.start().takeAction(swap.parse_move(name))[0]
        assert (player.act(state, 0.0)[0] == 25) == swaps


@pytest.mark.parametrize("name", ["circuit:0", "circuit:99", "circuit:", "circuit:x", "circuit:0s"])
def test_other_names_and_games_are_refused(name):
    with pytest.raises(UserError, match="expected circuit:PLIES"):
        make_player(name, games.make("hex(size=5)"))
    with pytest.raises(UserError, match="expected hex"):
        make_player("circuit:3", games.make("connect4"))


def test_the_tables_of_first_stones_are_the_same_after_a_half_turn():
    for size, rows in TABLES.items():
        known = known_openings(size)
        assert len(known) == size * size == sum(map(len, rows)) and (known == known[::-1]).all()
    assert [int(known_openings(size).sum()) for size in TABLES] == [13, 24, 27, 32]
    with pytest.raises(UserError, match="expected a size of Hex"):
        known_openings(11)


def test_proofs_are_those_of_a_search_of_all_moves():
    game, prover, known = games.make("hex(size=4)"), Prover(4), {}

    def wins(state):
        if state.id not in known:
            known[state.id] = (
                state.value > 0
                if state.isEndGame
                else not all(wins(state.takeAction(a)[0]) for a in state.allowedActions)
            )
        return known[state.id]

    results = []
    for seed in range(16):
        state, rng = game.start(), np.random.default_rng(seed)
        while len(state.allowedActions) > 8 + seed % 2:
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        owners = game.owners(game.row_of(state))
        found = {int(point): int(owners.flat[point]) for point in np.flatnonzero(owners)}
        if not state.isEndGame:
            results.append(wins(state))
            assert prover.wins(found, state.playerTurn) == results[-1]
    assert 0 < sum(results) < len(results)
    assert sum(map(prover.opening, range(16))) == 4  # those of the short diagonal
    five, left, top = Prover(5), 5 * 3, 3  # a4 at the other's edge, d1 at the first player's own
    assert [five.opening(left), five.opening(top)] == known_openings(5)[[left, top]].tolist() == [True, False]
    with pytest.raises(GaveUp):
        Prover(6, most=5).opening(14)
