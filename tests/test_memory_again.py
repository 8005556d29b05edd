"""What the memory teaches after a second look: later searches."""

import numpy as np
import pytest

from memory import ILLEGAL, Memory
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
