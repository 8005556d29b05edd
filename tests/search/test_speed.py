"""How tables lie in memory, and arguments that are looked into once."""

from typing import NamedTuple

import numpy as np
import pytest

from compiled import CACHE_LINE, call, compiled, up_to
from compiling.records import record
from MCTS import MCTS
from search.evaluation_cache import make_cache, place_bytes
from search.pipeline import search_step
from search.speed.aligned_arrays import allocate
from search.speed.bound_arguments import BoundArguments, unpack
from search.tables import EDGE, GROUP, MOVE
from support.search_cases import GAMES


def test_tables_begin_a_line_and_hold_zeros():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = {f"t{i}": tuple(int(n) for n in rng.integers(1, 90, rng.integers(1, 3))) for i in range(6)}
        kinds = {name: np.dtype(rng.choice(["u1", "i4", "f8"])) for name in sizes}
        found = allocate(**{name: (sizes[name], kinds[name]) for name in sizes})
        for i, (name, table) in enumerate(found.items()):
            assert table.ctypes.data % CACHE_LINE == 0 and table.shape == sizes[name] and table.dtype == kinds[name]
            assert not table.any(), "no two tables share a byte"
            table.view(np.uint8)[:] = i + 1
        assert all((table.view(np.uint8) == i + 1).all() for i, table in enumerate(found.values()))


@pytest.mark.parametrize("step, count, expected", [(8, 0, 0), (8, 1, 8), (8, 8, 8), (8, 9, 16), (64, 100, 128)])
def test_the_next_multiple(step, count, expected):
    assert up_to(step, count) == expected


@pytest.mark.parametrize("name", GAMES)
def test_edges_of_a_node_begin_a_line(name):
    mcts = MCTS(GAMES[name], sims=50)
    for state in (GAMES[name].start(), GAMES[name].start().takeAction(GAMES[name].start().allowedActions[0])[0]):
        mcts.addNode(state)
    firsts = mcts.forest.nodes["first"][:2].astype(int)
    assert (firsts % GROUP == 0).all() and firsts[1] - firsts[0] >= len(GAMES[name].start().allowedActions)
    assert GROUP * EDGE.itemsize % CACHE_LINE == GROUP * MOVE.itemsize % CACHE_LINE == 0
    assert mcts.forest.edges.ctypes.data % CACHE_LINE == mcts.forest.moves.ctypes.data % CACHE_LINE == 0


def test_the_memory_that_is_told_for_the_cache_is_what_it_takes():
    for actions in (1, 7, 8, 82, 362):
        cache = make_cache(1000, actions)
        assert cache.keys.nbytes + cache.numbers.nbytes == 1024 * place_bytes(actions)
        assert cache.numbers.shape[1] > actions, "the value has a place behind the logits"


@record
class Others(NamedTuple):
    other: np.ndarray


ONES = Others(np.ones(9, np.int64))


@compiled
def add(bound, n):
    table, others, scale = unpack(bound)
    for i in range(table.shape[0]):
        table[i] += n * scale + others.other[i]
    return table.shape[0]


def test_bound_arguments_are_the_arrays_themselves():
    one, two, other = np.zeros(3, np.int64), np.zeros(4, np.int64), np.ones(9, np.int64)
    first, second = BoundArguments(add, one, Others(other), 10), BoundArguments(add, two, Others(other), 100)
    assert call(add, first, 2) == 3 and one.tolist() == [21] * 3 and not two.any()
    other[1] = 5  # what is in an array may change
    assert call(add, second, 1) == 4 and two.tolist() == [101, 105, 101, 101] and one.tolist() == [21] * 3


def test_arguments_stay_while_they_are_bound():
    bound = [BoundArguments(add, np.full(1000, i), Others(np.zeros(1000, np.int64)), 1) for i in range(50)]
    assert all(call(add, b, 1) == 1000 for b in bound)
    assert [b.values[0][0] for b in bound] == [i + 1 for i in range(50)]


@pytest.mark.parametrize("values, message", [
    ((np.zeros(3, np.int32), ONES, 1), r"add: expected argument 1 to be .*int64.*, got .*int32"),
    ((np.zeros(3, np.int64), Others(np.ones((3, 3), np.int64)), 1), r"argument 2.other to be .*int64, 1d.*, got .*2d"),
    ((np.zeros(6, np.int64)[::2], ONES, 1), r"argument 1 to be .* C\), got .* A\)"),
    ((np.zeros(3, np.int64), ONES, 1.5), r"argument 3 to be int64, got float64"),
])  # fmt: skip
def test_an_argument_of_another_type_is_refused(values, message):
    BoundArguments(add, np.zeros(3, np.int64), ONES, 10)
    with pytest.raises(TypeError, match=message):
        BoundArguments(add, *values)


def test_a_table_of_another_type_is_refused_with_its_name():
    mcts = MCTS(GAMES["tictactoe"], sims=8)
    broken = mcts.cache._replace(keys=mcts.cache.keys.astype(np.int64))
    values = (mcts.forest, mcts.rules, mcts.puct, broken, *mcts._bound.values[4:])
    with pytest.raises(TypeError, match=r"search_step: expected argument 4.keys to be .*uint64.*, got .*int64"):
        BoundArguments(search_step, *values)
