"""What stages keep about positions: it comes back as it was, and anything else is refused."""

import base64
import json
import zlib

import numpy as np
import pytest

from storage.atomic_files import DamagedData
from storage.consistency import stage_fault
from storage.position_data import REANALYSE, Searched

RNG = np.random.default_rng(0)
SEARCHED = Searched(
    RNG.integers(0, 2**64, 5, np.uint64), RNG.integers(0, 2**16, (5, 7)).astype(np.uint16), np.ones(5, np.float32)
)


def test_searches_come_back_as_they_were():
    kept = Searched.of(SEARCHED.facts(), 7)
    assert all((a == b).all() and a.dtype == b.dtype for a, b in zip(SEARCHED, kept, strict=True))
    none = Searched(SEARCHED.names[:0], SEARCHED.visits[:0], SEARCHED.values[:0])
    assert Searched.of(none.facts(), 7).visits.shape == (0, 7)


@pytest.mark.parametrize(
    "data",
    ["", "?", "AAAA", *(base64.b64encode(zlib.compress(data)).decode() for data in (b"\0" * 10**6, b"\xff" * 130))],
)
def test_what_holds_no_searches_is_refused(data):
    with pytest.raises(DamagedData, match="expected"):
        Searched.of({"positions": 5, "data": data}, 7)


def test_numbers_of_positions_that_do_not_fit_are_refused():
    for count in (4, 6, -1):
        with pytest.raises(DamagedData, match="expected"):
            Searched.of({**SEARCHED.facts(), "positions": count}, 7)


def test_verify_finds_what_cannot_be_read():
    facts = SEARCHED.facts()
    assert stage_fault((1, REANALYSE, json.dumps(facts))) == ""
    for wrong in ({"positions": 7}, {"positions": 0}, {"positions": -5}, {"data": "?"}, {"data": ""}, {"data": 1}):
        assert stage_fault((1, REANALYSE, json.dumps({**facts, **wrong}))), wrong
