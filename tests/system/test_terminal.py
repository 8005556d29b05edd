"""A line that is replaced by the next, in a terminal whose width changes; the width of a text; colours."""

import io
import os
import sys

import pytest

from support.systems import needs_posix
from system.terminal import MAX_TYPED, LiveLine, columns_for, columns_of, cut, folded, has_colours, typed_line


@pytest.mark.parametrize("text, columns", [("", 0), ("abc", 3), ("第 4 手", 7), ("e\u0301", 1), ("█", 1)])
def test_chinese_characters_take_two_columns(text, columns):
    assert columns_of(text) == columns


@pytest.mark.parametrize("columns", range(9))
def test_a_line_is_cut_to_the_columns_that_there_are(columns):
    found = cut("第 4 手", columns)
    assert "第 4 手".startswith(found) and columns_of(found) <= columns
    assert columns_of(found) >= min(columns, 7) - 1


def test_a_line_is_folded_for_a_terminal_alone(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    text, terminal = "go(size=19): trained on go(komi=7,size=7..9), nowhere else", io.StringIO()
    assert folded(text, terminal) == text and columns_for(terminal) is None
    terminal.isatty = lambda: True
    lines = folded(text, terminal, indent="  ").splitlines()
    assert columns_for(terminal) == 20 and lines[0] == "go(size=19): trained" and lines[1] == "  on"
    assert " ".join(line.strip() for line in lines) == text and lines[2] == "  go(komi=7,size=7..9),"


class Screen:
    """A terminal that breaks long lines again when its width changes, as most do."""

    def __init__(self, columns):
        self.columns, self.above, self.line, self.at = columns, ["before"], "", 0

    def rows(self):
        return [self.line[i : i + self.columns] for i in range(0, max(len(self.line), 1), self.columns)]

    def write(self, text):
        rows = self.rows()
        row, text = len(rows) - 1, text.removeprefix("\r")
        if text.startswith("\x1b[") and "A" in text.split("\x1b[J")[0]:
            up, text = text[2:].split("A", 1)
            row -= int(up)
        assert text.startswith("\x1b[J") and row >= 0, "no line above the live one is touched"
        self.line = "".join(rows[:row]) + text.removeprefix("\x1b[J")


@needs_posix
def test_the_live_line_leaves_nothing_behind_when_the_terminal_changes_its_width(monkeypatch):
    import fcntl
    import pty
    import struct
    import termios

    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    screen = Screen(100)
    with os.fdopen(theirs, "w") as stream:
        line = LiveLine(stream)
        for columns, text in [(100, "a" * 90), (40, "b" * 90), (25, "c" * 60), (120, "d" * 150), (10, ""), (80, "e")]:
            fcntl.ioctl(stream.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            screen.columns = columns
            line.show(text)
            screen.write(os.read(ours, 4096).decode())
            assert screen.line == text[: columns - 1]
    os.close(ours)


@needs_posix
def test_colours_are_for_terminals_of_people_who_want_them(monkeypatch):
    import pty

    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with os.fdopen(theirs, "w") as stream:
        assert has_colours(stream) and not has_colours(io.StringIO())
        monkeypatch.setenv("NO_COLOR", "1")
        assert not has_colours(stream)
        monkeypatch.delenv("NO_COLOR")
        monkeypatch.setenv("TERM", "dumb")
        assert not has_colours(stream)
    os.close(ours)


def test_the_width_is_that_of_the_stream_and_a_usual_one_where_there_is_none(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "__stdout__", io.StringIO())
    assert LiveLine(io.StringIO()).width == 99
    monkeypatch.setenv("COLUMNS", "50")
    assert LiveLine(io.StringIO()).width == 49


def test_a_long_line_is_read_in_part_and_the_next_one_whole():
    stream = io.StringIO("x" * (3 * MAX_TYPED) + "\nnext\n")
    assert [len(typed_line(stream)), typed_line(stream), typed_line(stream)] == [MAX_TYPED, "next", None]
    assert typed_line(None) is None
