"""The codec of stored games: bytes that never change, and arrays that come back as they were."""

import numpy as np
import pytest

from storage.game_record import GameBytes, GameRecord
from storage.run_store import game_of_row, row_of
from training.selfplay import Counts
from training.worker_messages import Expected, game_message, game_of_message, read

NOTHING = Counts(0, 0, 0, 0, 0, 0, 0.0)
ANY = Expected(4, 20, lambda record: "")


def record_of(length=11, actions=4, full=(0, 9), seed=3):
    rng = np.random.default_rng(seed)
    visits = np.zeros((length, actions), np.uint16)
    visits[list(full)] = rng.integers(1, 60_000, (len(full), actions))
    moves, values = rng.integers(0, actions, length).astype(np.int16), rng.uniform(-1, 1, length).astype(np.float32)
    return GameRecord(7, moves, visits, values, -1.0)


def same(one, other):
    assert (one.index, one.result) == (other.index, other.result)
    for name in ("moves", "visits", "values"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), name


def test_the_bytes_in_the_database_are_these_and_no_others():
    visits = np.array([[0, 0], [1, 258], [0, 0]], np.uint16)
    record = GameRecord(5, np.array([1, 0, 300], np.int16), visits, np.array([0.5, -1.0, 0.0], np.float32), -0.0)
    moves, values = b"\x01\x00\x00\x00\x2c\x01", b"\0\0\0\x3f\0\0\x80\xbf\0\0\0\0"
    assert record.to_bytes() == GameBytes(moves, b"\x40\x01\x00\x02\x01", values)
    assert row_of(2, 1, record) == (2, 5, 1, 0.0, moves, b"\x40\x01\x00\x02\x01", values, 1)


@pytest.mark.parametrize("length, full", [(1, (0,)), (8, (7,)), (9, (0, 8)), (11, tuple(range(11))), (17, (3, 16))])
def test_a_game_comes_back_from_each_form_as_it_was(length, full):
    record = record_of(length, full=full)
    same(GameRecord.from_bytes(7, -1.0, record.to_bytes()), record)
    same(GameRecord.from_arrays(7, -1.0, record.to_arrays()), record)
    same(game_of_row(row_of(1, 0, record)), record)
    same(game_of_message(*read(game_message(record, NOTHING)), ANY), record)


def test_a_game_without_a_full_search_keeps_its_width_where_that_is_known():
    record = record_of(full=())
    same(game_of_message(*read(game_message(record, NOTHING)), ANY), record)
    assert game_of_row(row_of(1, 0, record)).visits.shape == (11, 0)


@pytest.mark.parametrize("data", [("x", b"", b""), (b"\0\0\0", b"", b""), (b"\0\0", b"\x80\0", b""), (3, b"", b"")])
def test_bytes_that_hold_no_arrays_are_refused(data):
    with pytest.raises((TypeError, ValueError)):
        GameRecord.from_bytes(0, 0.0, GameBytes(*data))
