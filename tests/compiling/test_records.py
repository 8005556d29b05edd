"""Records: compiled code reads in them what Python put there."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

from compiled import call, compiled, rule, types
from compiling.numba_import import numba
from compiling.records import block_of, record


@record
class Inner(NamedTuple):
    table: np.ndarray
    scale: float


@record
class Outer(NamedTuple):
    flag: bool
    inner: Inner
    cube: np.ndarray
    count: int
    small: np.uint8
    twice: object


@rule(types.int64(types.int64))
def twice(x):
    return 2 * x


@compiled
def read(r, out):
    out[0] = r.inner.scale
    out[1] = r.count
    out[2] = r.small
    out[3] = 1.0 if r.flag else 0.0
    out[4] = r.twice(np.int64(21))
    out[5] = r.inner.table.shape[0]
    for i in range(r.cube.shape[0]):
        for j in range(r.cube.shape[1]):
            for k in range(r.cube.shape[2]):
                out[6] += r.cube[i, j, k] * (100 * i + 10 * j + k)
    r.inner.table[1] += np.int32(r.count)


def outer(rng, flag):
    cube = rng.integers(-9, 9, tuple(rng.integers(1, 5, 3)))
    inner = Inner(rng.integers(-9, 9, int(rng.integers(2, 9))).astype(np.int32), float(rng.normal()))
    return Outer(flag, inner, cube, int(rng.integers(-(2**40), 2**20)), np.uint8(rng.integers(256)), twice)


@pytest.mark.parametrize("seed", range(10))
def test_compiled_code_reads_and_writes_what_a_record_holds(seed):
    rng = np.random.default_rng(seed)
    r, out = outer(rng, bool(seed % 2)), np.zeros(7)
    before, places = r.inner.table.copy(), np.indices(r.cube.shape)
    call(read, r, out)
    weighted = (r.cube * (100 * places[0] + 10 * places[1] + places[2])).sum()
    expected = [r.inner.scale, r.count, int(r.small), seed % 2, 42, len(r.inner.table), weighted]
    assert out.tolist() == expected
    before[1] += np.int64(r.count).astype(np.int32)
    assert r.inner.table.tolist() == before.tolist()


def test_a_record_is_a_tuple_and_a_changed_copy_is_another_one():
    one = Inner(np.zeros(3, np.int32), 1.5)
    two = one._replace(scale=2.5)
    assert isinstance(two, tuple) and type(two) is Inner and two.scale == 2.5 and one.address != two.address
    assert one.address == one.address


def test_what_compiled_code_cannot_read_is_refused():
    with pytest.raises(TypeError, match="expected contiguous arrays, numbers, records and functions"):
        _ = Inner(np.zeros(6, np.int32)[::2], 1.0).address


def test_threads_that_need_a_record_at_once_get_one_block(monkeypatch):
    """Another's block would be freed as soon as it is replaced, and compiled code would read what comes next there."""
    both, found = threading.Barrier(2), []

    def slow(values, kind):
        block = block_of(values, kind)
        both.wait(60)
        return block

    monkeypatch.setattr("compiling.records.block_of", slow)
    inner = Inner(np.zeros(3), 1.5)
    threads = [threading.Thread(target=lambda: found.append(inner.address)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [inner.address] * 2


def test_the_type_of_a_record_is_found_once():
    """numba asks for it at each call from Python."""
    first = Inner(np.zeros((2, 3)), 1.5)
    kind = numba.typeof(first)
    assert numba.typeof(first) is kind and numba.typeof(Inner(np.ones((5, 1)), 2.5)) == kind
    assert numba.typeof(first._replace(table=np.zeros((2, 3), np.int8))) != kind
