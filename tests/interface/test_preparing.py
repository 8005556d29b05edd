"""What the page says while a process compiles a game's code."""

import pytest

from interface.web.preparing import Preparation


@pytest.mark.parametrize(
    "told, words",
    [
        ({}, "Preparing this game, once ..."),
        ({"compiled": 0, "expected": 9, "seconds": 0.4}, "Preparing this game, once ..."),
        ({"compiled": 3, "expected": 9, "seconds": 4.4}, "compiling the search, once: 3 of about 9 functions, 4 s"),
        ({"compiled": 9, "seconds": 20.0, "ready": True}, "Preparing this game, once ..."),
    ],
)
def test_each_line_of_the_process_is_said_the_last_one_too(told, words):
    found = Preparation.__new__(Preparation)
    found.told = told
    assert str(found) == words
