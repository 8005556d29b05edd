"""Reads a board from the text that a game prints, for your own games that do not say what stands on it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from game import FORBIDDEN_POINT, OTHER_PIECE, Grid

EMPTY = {".", "-", "_", "+", "·"}
"""Words of an empty point, besides the game's own."""
_FRAME = re.compile(r"(?=.*--)[\s|]*\+[-=+|\s]*\Z")
"""A line between rows, such as +---+---+."""
_WORD = re.compile(r"\[[^\[\]\s]+\]|[^\[\]\s]+")


def read_board(text: str, rows: int, columns: int, pieces: Mapping[int, str]) -> Grid | None:
    """Return the board that a text shows, None if it shows none.

    A row is a line of one word for each point, perhaps with the row's name before them; the last move is in brackets.
    Letters or numbers in order name the columns. pieces: the word of each side and of an empty point.

    >>> read_board("2 X . O\\n1 - [X] -\\n  a b c", 2, 3, {1: "X", 0: "-", -1: "O"})
    Grid(cells=[[1, 0, -1], [0, 1, 0]], last=4, rows=['2', '1'], columns=['a', 'b', 'c'], notes=[], words={})
    """
    kinds = {**dict.fromkeys(EMPTY, 0), **{word: side for side, word in pieces.items()}, "*": FORBIDDEN_POINT}
    lines = [_words(line, columns) for line in text.splitlines() if not _FRAME.match(line)]
    board = [line for line in lines if all(_bare(word) in kinds for word in line[-columns:])]
    if len(board) != rows:  # pieces of other kinds too
        board = [line for line in lines if not _names_columns(line, columns) and _has_pieces(line[-columns:])]
    board = [line for line in board if len(line) in (columns, columns + 1)]
    if len(board) != rows:
        return None
    names = [line[0] if len(line) > columns else "" for line in board]
    points = [word for line in board for word in line[-columns:]]
    last = [point for point, word in enumerate(points) if word.startswith("[") and word != "["]
    bare = [_bare(word) for word in points]
    kept = {point: word for point, word in enumerate(bare) if word not in kinds}
    sides = [kinds.get(word, OTHER_PIECE) for word in bare]
    cells = [sides[first : first + columns] for first in range(0, rows * columns, columns)]
    others = [line for line in lines if line and not any(line is row for row in board)]
    labels = next((line for line in others if len(line) == columns and max(map(len, line)) <= 3), None)
    notes = [" ".join(line) for line in others if line is not labels]
    return Grid(cells, last[-1] if last else None, names, labels or [""] * columns, notes, kept)


def _words(line: str, columns: int) -> list[str]:
    """Return the words of a line; a row written without blanks is taken apart."""
    words: list[str] = _WORD.findall(line.replace("|", " "))
    if len(words) in (1, 2) and len(words) != columns and len(words[-1]) == columns:
        return [*words[:-1], *words[-1]]
    return words


def _bare(word: str) -> str:
    """Return a word without the brackets of the last move."""
    return word.strip("[]") or word


def _has_pieces(words: list[str]) -> bool:
    """Return whether words are short enough for pieces, such as N, bK or +R."""
    return all(len(_bare(word)) <= 2 for word in words)


def _names_columns(words: list[str], columns: int) -> bool:
    """Return whether words name all columns: a b c ..., without i as in Go perhaps, or 0 1 2 ... or 1 2 3 ..."""
    if len(words) != columns:
        return False
    if all(word.isdecimal() and len(word) < 4 for word in words):
        return [int(word) for word in words] in ([*range(len(words))], [*range(1, len(words) + 1)])
    letters = "abcdefghijklmnopqrstuvwxyz"
    text = "".join(words).lower()
    return len(words) > 1 and text in (letters[: len(text)], letters.replace("i", "")[: len(text)])
