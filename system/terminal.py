"""Terminals: whether a line that is shown can be replaced by another, how wide a text is, colours."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import TextIO
from unicodedata import combining, east_asian_width

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move the cursor, give a terminal commands, or turn the direction of writing; not tab and newline."""
MAX_TYPED = 10_000
"""Characters of a typed line that are read."""


def harmless(text: str) -> str:
    """Return a text of somebody else's with "?" for each character that could command a terminal.

    >>> harmless("no file \\x1b[2J")
    'no file ?[2J'
    """
    return _CONTROL.sub("?", text)


def redraws(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands the sequences of `LiveLine`."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    if sys.platform == "win32":  # a console has to be asked to read such sequences
        import ctypes

        kernel, mode = ctypes.windll.kernel32, ctypes.c_ulong()
        handle = kernel.GetStdHandle(-12 if stream is sys.stderr else -11)
        known = kernel.GetConsoleMode(handle, ctypes.byref(mode))
        return bool(known and kernel.SetConsoleMode(handle, mode.value | 4))  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
    return True


def has_colours(stream: TextIO) -> bool:
    """Return whether to write colours to a stream: a terminal, and the person has not set NO_COLOR."""
    return not os.environ.get("NO_COLOR") and redraws(stream)


def width_of(stream: TextIO) -> int:
    """Return the columns of a stream's terminal as it is now; 100 where there is none."""
    with suppress(OSError, ValueError, AttributeError):
        if not os.environ.get("COLUMNS"):
            return os.get_terminal_size(stream.fileno()).columns or 100
    return shutil.get_terminal_size((100, 24)).columns


def columns_for(stream: TextIO) -> int | None:
    """Return the columns of a stream's terminal; None where it is none: a file or a program takes any line."""
    return width_of(stream) if stream.isatty() else None


def folded(text: str, stream: TextIO, indent: str = "") -> str:
    """Return a line of text in as many as a stream's terminal needs for it, broken between words only.

    indent: what the further lines begin with.
    """
    columns = columns_for(stream)
    if columns is None:
        return text
    return textwrap.fill(text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a line of text takes: Chinese characters take two.

    >>> columns_of("4 手")
    4
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, width: int) -> str:
    """Return a line of text, filled up to `width` columns with blanks behind it; before it if `width` is negative."""
    blanks = " " * (abs(width) - columns_of(text))
    return blanks + text if width < 0 else text + blanks


def cut(text: str, columns: int) -> str:
    """Return the beginning of a line of text that fits into `columns`."""
    if len(text) * 2 <= columns:
        return text
    while columns_of(text) > columns:
        text = text[:-1]
    return text


class LiveLine:
    """One line of a terminal that is replaced by the next, whatever has become of the terminal's width."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream, self._shown = stream, 0

    @property
    def width(self) -> int:
        """Columns that a line may take now."""
        return width_of(self._stream or sys.stdout) - 1

    def show(self, text: str) -> None:
        """Replace the line; "" removes it. A terminal that became narrower may show the old one on several lines."""
        width = self.width
        above = max(self._shown - 1, 0) // (width + 1)
        text = cut(text, width)
        up = f"\x1b[{above}A" if above else ""
        stream = self._stream or sys.stdout
        stream.write(f"\r{up}\x1b[J{text}")
        stream.flush()
        self._shown = columns_of(text)


def typed_line(stream: TextIO | None) -> str | None:
    """Return the visible characters of the next line, of a long one the first MAX_TYPED; None when there is no more."""
    if stream is None:
        return None
    try:
        line = rest = stream.readline(MAX_TYPED)
        while len(rest) == MAX_TYPED and not rest.endswith("\n"):  # drop the rest of a long line
            rest = stream.readline(MAX_TYPED)
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"
    except (OSError, ValueError):  # the terminal is gone, or the file is closed
        return None
    return "".join(c for c in line if c.isprintable()) if line else None
