"""What the page says while a process compiles a game's code."""

import json
import threading
import time
from types import SimpleNamespace

import pytest

from plugins.page.preparing import Preparation

PART = {"compiled": 3, "expected": 9, "seconds": 4.4}


@pytest.mark.parametrize(
    "lines, words",
    [
        ([], "Preparing this game, once: "),
        ([{**PART, "compiled": 0}], "Preparing this game, once: "),
        ([PART], "compiling the search, once: 3 of about 9 functions, "),
        ([PART, {"compiled": 9, "ready": True}], "compiling the search, once: 9 of about 9 functions, "),
    ],
)
def test_each_line_of_the_process_is_said_the_last_one_too(lines, words):
    found = Preparation.__new__(Preparation)
    found.told, found.done, found._began = {}, threading.Event(), time.monotonic()
    found.process = SimpleNamespace(stdout=[json.dumps(line).encode() + b"\n" for line in lines], wait=lambda: 0)
    found._read()
    assert found.done.is_set() and str(found).startswith(words)
