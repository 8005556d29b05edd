"""What the memory teaches after a second look: later searches, weights, values by ply."""

import numpy as np
import pytest

from memory import ILLEGAL, Memory, running_sum
from storage.game_record import ILLEGAL_VISITS
from storage.position_data import origins
from support.search_cases import GAMES
from support.unsearched_games import random_record


def some_games(game, count, seed=1):
    rng = np.random.default_rng(seed)
    records = [random_record(game, rng)._replace(index=i) for i in range(count)]
    return [r._replace(values=rng.uniform(-1, 1, len(r.moves)).astype(np.float32)) for r in records]


def test_every_position_has_a_name_of_its_own_which_the_disk_does_not_change():
    records = some_games(GAMES["connect4"], 50)
    names = np.concatenate([origins(record) for record in records])
    assert len(set(names.tolist())) == len(names)
    again = records[3]._replace(moves=records[3].moves.astype("<i2"), values=records[3].values.astype("<f4"), index=9)
    assert (origins(again) == origins(records[3])).all()


@pytest.mark.parametrize("size", [60, 1000])
def test_a_later_search_is_taught_in_place_of_the_first_one_and_of_the_result(size):
    game, records = GAMES["tictactoe"], some_games(GAMES["tictactoe"], 20)
    memory = Memory(game, size)
    memory.extend(records)
    before = [column.copy() for column in memory.ltmemory]
    stored = memory.ltmemory.origin[: len(memory)]
    names = np.concatenate([origins(records[-1])[:3], origins(records[0])[:2], np.array([5], np.uint64)])
    visits, values = np.arange(6 * 9, dtype=np.uint16).reshape(6, 9), np.linspace(-1, 1, 6).astype(np.float32)
    changed = np.flatnonzero(np.isin(stored, names))
    assert memory.retarget(names, visits, values) == len(changed) == memory.retarget(names, visits, values)
    assert len(changed) == (3 if size == 60 else 5)
    for place in changed:
        which = names.tolist().index(stored[place])
        illegal = before[1][place] == ILLEGAL_VISITS
        assert (memory.ltmemory.visits[place] == np.where(illegal, ILLEGAL_VISITS, visits[which])).all()
        assert memory.ltmemory.result[place] == values[which] == memory.ltmemory.value[place]
    others = np.setdiff1d(np.arange(size), changed)
    assert all((now[others] == old[others]).all() for now, old in zip(memory.ltmemory, before, strict=True))
    batch = memory.sample(200, np.random.default_rng(0))
    assert ((batch.policy == ILLEGAL) | (batch.policy >= 0)).all()
    assert Memory(game, 10).retarget(names, visits, values) == 0
    assert memory.retarget(names[:0], visits[:0], values[:0]) == 0


@pytest.mark.parametrize("how", ["linear", "log", "constant"])
def test_weighed_positions_are_drawn_as_often_as_their_weight_says(how):
    memory = Memory(GAMES["connect4"], 500)
    memory.extend(some_games(GAMES["connect4"], 8))
    n = len(memory)
    usual = memory._draw(n, 20_000, np.random.default_rng(1), how)
    weights = np.random.default_rng(2).uniform(0, 4, 30).astype(np.float32)
    assert memory.weigh(memory.ltmemory.origin[10:40].copy(), weights) == 30
    drawn = np.bincount(memory._draw(n, 20_000, np.random.default_rng(3), how), minlength=n)
    assert len(np.bincount(usual, minlength=n)) == n
    memory._draw(n, 1, np.random.default_rng(4), "log")  # computes the keys
    factors = np.ones(n)
    factors[10:40] = weights
    chance = np.diff(running_sum(memory._keys[:n], how), prepend=0) * factors
    expected = 20_000 * chance / chance.sum()
    likely = expected > 0
    chi = ((drawn[likely] - expected[likely]) ** 2 / expected[likely]).sum()
    assert chi < n + 4 * np.sqrt(2 * n)


def test_a_weight_ends_with_the_position_that_had_it():
    memory = Memory(GAMES["tictactoe"], 30)
    records = some_games(GAMES["tictactoe"], 20)
    memory.extend(records[:5])
    memory.weigh(memory.ltmemory.origin.copy(), np.full(30, 9, np.float32))
    memory.extend(records[5:])
    assert (memory._weights == 1).all()


@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize("plies", [0, 1, 6, 100])
def test_the_searchs_weight_falls_by_ply_from_one_to_that_of_late_positions(share, plies):
    game = GAMES["connect4"]
    for record in some_games(game, 5, seed=3):
        memory = Memory(game, 100, search_value_plies=plies)
        found = memory.batch(memory.positions(record), np.zeros(len(record.moves), int), share).value
        for ply, value in enumerate(found):
            weight = share + (1 - share) * max(0.0, 1 - ply / plies) if plies else share
            result = record.result * (1 if ply % 2 == 0 else -1)
            assert value == pytest.approx(weight * record.values[ply] + (1 - weight) * result, abs=1e-5)
