"""Lines from another program: whole, cut, late, and seen while nobody reads them."""

import io
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from config import UserError
from plugins.engines.command_lines import TOO_LONG, CommandLines
from plugins.engines.loading import Loading

HERE = Path(__file__).parents[3]


def lines_of(data, longest=20):
    lines, found = CommandLines(io.BytesIO(data), longest), []
    while (line := lines.next(600)) is not None:
        found.append(line)
    return found


def test_lines_are_read_whatever_their_ends():
    assert lines_of(b"a\r\nb\n\nc") == ["a", "b", "", "c"] and lines_of(b"") == []
    assert lines_of("\u00e4".encode() + b"\xff\n") == ["\u00e4\ufffd"]


@pytest.mark.parametrize("size", [21, 5000, 200_000])
def test_of_a_long_line_the_rest_is_dropped_and_the_next_is_whole(size):
    assert lines_of(b"x" * size + b"\nnext\n") == [TOO_LONG + "x" * 20, "next"]
    assert lines_of(b"x" * 20 + b"\n") == ["x" * 20] and lines_of(b"x" * size) == [TOO_LONG + "x" * 20]


def test_it_is_seen_that_a_line_has_come_and_one_may_be_heeded_at_once():
    ends, heard = os.pipe(), queue.Queue()

    def heed(line):
        heard.put(line)
        return line == "# now"

    with open(ends[0], "rb") as source, open(ends[1], "wb", buffering=0) as target:
        lines = CommandLines(source, 100, heed)
        assert not lines.waiting
        with pytest.raises(queue.Empty):
            lines.next(0.01)
        target.write(b"# now\nplay")
        assert heard.get(timeout=600) == "# now" and not lines.waiting
        target.write(b" b c3\n")
        assert heard.get(timeout=600) == "play b c3" and lines.next(600) == "play b c3"
        target.close()
        assert lines.next(600) is None and lines.waiting and lines.next(600) is None


def test_a_failure_to_load_is_raised_although_the_input_ended_before_it():
    ended = threading.Event()

    def load():
        assert ended.wait(600)
        raise UserError("no such player")

    lines, loading = CommandLines(io.BytesIO(b"name\n")), Loading(load)
    assert loading.wait_for(lines) == "name"
    threading.Timer(0.2, ended.set).start()
    with pytest.raises(UserError, match="no such player"):
        loading.wait_for(lines)


@pytest.mark.parametrize("command, last", [("gtp", b"quit\n"), ("gomocup", b"END\n")])
def test_the_program_ends_though_its_input_stays_open(command, last):
    process = subprocess.Popen([sys.executable, HERE / "main.py", command, "random"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdin.write(last)
    process.stdin.flush()
    assert process.wait(600) == 0 and process.stderr.read() == b""
    process.communicate()
