"""What stages keep about positions: it comes back as it was, and anything else is refused."""

import base64
import json
import zlib

import numpy as np
import pytest

from storage.atomic_files import DamagedData
from storage.consistency import stage_fault
from storage.position_data import REANALYSE, SIDE, SURPRISE, Searched, Sides, Weights

RNG = np.random.default_rng(0)
SEARCHED = Searched(
    RNG.integers(0, 2**64, 5, np.uint64), RNG.integers(0, 2**16, (5, 7)).astype(np.uint16), np.ones(5, np.float32)
)
WEIGHTS = Weights(SEARCHED.names, np.array([0, 0.5, 1, 2, 9], np.float32))
SIDES = Sides(
    np.array([0, 5, 70_000, 2**31 - 1, 3], np.int32), np.arange(5, dtype=np.uint16),
    np.arange(65_531, 65_536).astype(np.uint16), SEARCHED.visits, np.array([-1, 1, 0, 0.5, 0.25], np.float32),
)  # fmt: skip


def test_searches_and_weights_come_back_as_they_were():
    both = (SEARCHED, Searched.of(SEARCHED.facts(), 7)), (SIDES, Sides.of(SIDES.facts(), 7))
    for found, kept in (*both, (WEIGHTS, Weights.of(WEIGHTS.facts()))):
        assert all((a == b).all() and a.dtype == b.dtype for a, b in zip(found, kept, strict=True))
    none = Searched(SEARCHED.names[:0], SEARCHED.visits[:0], SEARCHED.values[:0])
    assert Searched.of(none.facts(), 7).visits.shape == (0, 7)
    assert Sides.of(Sides(*(column[:0] for column in SIDES)).facts(), 7).visits.shape == (0, 7)


@pytest.mark.parametrize(
    "data",
    ["", "?", "AAAA", base64.b64encode(zlib.compress(b"\x00" * 10**6)).decode(), WEIGHTS.facts()["data"],
     base64.b64encode(zlib.compress(b"\xff" * 130)).decode()],
)  # fmt: skip
def test_what_holds_no_searches_is_refused(data):
    with pytest.raises(DamagedData, match="expected"):
        Searched.of({"positions": 5, "data": data}, 7)


def test_weights_below_zero_and_numbers_of_positions_that_do_not_fit_are_refused():
    with pytest.raises(DamagedData, match="weights from 0"):
        Weights.of(WEIGHTS._replace(weights=-WEIGHTS.weights).facts())
    for count in (4, 6, -1):
        with pytest.raises(DamagedData, match="expected"):
            Weights.of({**WEIGHTS.facts(), "positions": count})


def test_verify_finds_what_cannot_be_read():
    for stage, facts in ((REANALYSE, SEARCHED.facts()), (SURPRISE, WEIGHTS.facts()), (SIDE, SIDES.facts())):
        assert stage_fault((1, stage, json.dumps(facts))) == ""
        for wrong in ({"positions": 7}, {"positions": 0}, {"positions": -5}, {"data": "?"}, {"data": ""}, {"data": 1}):
            assert stage_fault((1, stage, json.dumps({**facts, **wrong}))), wrong
