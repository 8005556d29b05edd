"""Command lines as people type them: quoted for the shell of this system."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterable

POSIX = sys.platform != "win32"
"""Whether the shell reads '...' and backslashes as POSIX says; cmd.exe knows "..." only."""


def quoted(text: str) -> str:
    """Return a word in quotes.

    >>> quoted("connect4(rows=5)") if POSIX else "'connect4(rows=5)'"
    "'connect4(rows=5)'"
    """
    return "'" + text.replace("'", "'\\''") + "'" if POSIX else f'"{text}"'


def join(words: Iterable[str]) -> str:
    """Return a command line; words that need quotes have them.

    >>> join(["python", "main.py"])
    'python main.py'
    """
    return shlex.join(words) if POSIX else subprocess.list2cmdline(words)


def continued(line: str, columns: int | None) -> str:
    """Return a command line in lines of at most `columns`, as far as its words allow, that can be typed as they are."""
    if columns is None or len(line) <= columns or not POSIX:
        return line
    lines = [""]
    for word in map(shlex.quote, shlex.split(line)):
        if lines[-1].strip() and len(lines[-1]) + len(word) + 3 > columns:
            lines.append(" ")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return " \\\n".join(lines)


def as_word(path: object) -> str:
    """Return a file's name as a word of a command line, where it must not look like an option.

    >>> as_word("-x.json"), as_word("x.json")
    ('./-x.json', 'x.json')
    """
    return f"./{path}" if str(path).startswith("-") else str(path)


def split(line: str) -> list[str]:
    """Return the words of a command line; raise `ValueError` where a quote is not closed.

    >>> split('katago "gtp"')
    ['katago', 'gtp']
    """
    if POSIX:
        return shlex.split(line)
    return [w[1:-1] if len(w) > 1 and w[0] == w[-1] and w[0] in "\"'" else w for w in shlex.split(line, posix=False)]
