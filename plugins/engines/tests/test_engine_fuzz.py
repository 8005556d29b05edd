"""Thousands of lines that are right, nearly right or wrong: always an answer in the protocol's form, and no harm."""

import pytest

from benchmarks.fuzz_engines import CASES, fuzz

LINES = {"gtp": 400, "gomocup": 3000, "analysis": 250}


@pytest.mark.parametrize("protocol, case", [(protocol, case) for protocol, cases in CASES.items() for case in cases])
def test_no_line_brings_an_engine_out_of_step(protocol, case):
    found = fuzz(protocol, *case, LINES[protocol], seed=20)
    assert found["refused"] > 50 and found["done"] > 20  # and no error was raised
