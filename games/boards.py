"""Shared code of games on a grid: symmetries of a board, bit boards, hashes, names of points, drawings in text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiled import compiled, inlined
from game import Grid, Symmetry


@compiled
def hash_cells(row, start, stop, salt):
    """Return a 64-bit hash of row[start:stop], cells in {-1, 0, 1}, 32 of them mixed at a time (splitmix64)."""
    h = mix64(np.uint64(salt))  # mixed, so that it cannot cancel against a cell
    word = np.uint64(0)
    filled = 0
    for i in range(start, stop):
        word = (word << np.uint64(2)) | np.uint64(row[i] + 1)
        filled += 1
        if filled == 32 or i == stop - 1:
            h = mix64(h ^ word)
            word = np.uint64(0)
            filled = 0
    return h


@compiled
def squash(lead, scale):
    """Return an estimate within (-1, 1) for a lead; 1/2 when the lead is `scale`."""
    return np.float32(0.99 * lead / (abs(lead) + scale))


@compiled
def mix64(x):
    """Return x scrambled by the splitmix64 step (Steele, Lea, Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def draw_below(word, count):
    """Return a number from 0 to count - 1 from a random word; each is equally likely to within count / 2^32."""
    return np.int64((word >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))


@compiled
def ones(word):
    """Return how many bits are set: sums of 2, 4, 8 neighbours, then of the bytes (compiled to one instruction)."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def lowest(word):
    """Return the number of the lowest bit that is set, of a word that is not 0."""
    return ones((word & -word) - np.uint64(1))


@compiled
def get(row, at):
    """Return the 64-bit word in row[at] and row[at + 1]."""
    return np.uint64(np.uint32(row[at])) | (np.uint64(np.uint32(row[at + 1])) << np.uint64(32))


@compiled
def put(row, at, word):
    """Write a 64-bit word into row[at] and row[at + 1]."""
    row[at] = np.int32(word & np.uint64(0xFFFFFFFF))
    row[at + 1] = np.int32(word >> np.uint64(32))


@inlined
def next_move(work, at, stop):
    """Return the move to try next, the low six bits of the least number in work[at:stop], and take it out of the list;
    the last number takes its place.
    """
    best = at
    for i in range(at + 1, stop):
        if work[i] < work[best]:
            best = i
    move = np.int64(work[best] & 63)
    work[best] = work[stop - 1]
    return move


@compiled
def has(row, at, bit):
    """Return 1 when the bit board that begins at row[at] has the bit, else 0."""
    return (row[at + (bit >> 5)] >> (bit & 31)) & 1


@compiled
def hash_words(row, at, words, salt):
    """Return a 64-bit hash of `count` 64-bit words from row[at] on."""
    found = mix64(np.uint64(salt))
    for i in range(words):
        found = mix64(found ^ get(row, at + 2 * i))
    return found


@compiled
def thing_word(point, kind):
    """Return the random word for a thing of a kind (0-3) on a point."""
    return mix64(np.uint64(4 * point + kind + 1))


@compiled
def toggle(row, at, point, kind):
    """Add a thing of a kind (0-3) on a point to the hash in row[at] and row[at + 1], or remove it again.

    Zobrist 1970: the exclusive or of one random word for each thing on the board; a start of 0 is an empty board.
    """
    put(row, at, get(row, at) ^ thing_word(point, kind))


@compiled
def kept_hash(row, at, salt):
    """Return the hash in row[at] and row[at + 1], mixed with `salt`, what else distinguishes positions (0-2^31)."""
    return mix64(get(row, at)) ^ mix64(np.uint64(salt) + np.uint64(0x5851F42D4C957F2D))


@compiled
def longest_line(cells, base, rows, columns, r, c):
    """Return the length of the longest line of equal stones through (r, c); cells start at `base`."""
    stone = cells[base + r * columns + c]
    best = 1
    for d in range(4):
        dr = 0 if d == 0 else 1
        dc = 1 if d < 2 else (0 if d == 2 else -1)
        length = 1
        for sign in (1, -1):
            rr = r + sign * dr
            cc = c + sign * dc
            while 0 <= rr < rows and 0 <= cc < columns and cells[base + rr * columns + cc] == stone:
                length += 1
                rr += sign * dr
                cc += sign * dc
        best = max(best, length)
    return best


def point_symmetries(rows: int, columns: int, extra_actions: int = 0) -> list[Symmetry]:
    """Return the turns and mirrors of a board whose actions are its points, then `extra_actions` fixed actions."""
    points = np.arange(rows * columns).reshape(rows, columns)
    forms = [points[::-1], points[:, ::-1], points[::-1, ::-1]]
    if rows == columns:
        forms += [points.T, points.T[::-1], points.T[:, ::-1], points.T[::-1, ::-1]]
    fixed = rows * columns + np.arange(extra_actions)
    return [Symmetry(f.ravel().copy(), np.concatenate([f.ravel(), fixed])) for f in forms]


def column_mirror(rows: int, columns: int) -> list[Symmetry]:
    """Return the left-right mirror of a board whose actions are its columns."""
    points = np.arange(rows * columns).reshape(rows, columns)
    return [Symmetry(points[:, ::-1].ravel().copy(), np.arange(columns)[::-1].copy())]


def draw(cells: np.ndarray, last: int, pieces: dict[int, str]) -> list[str]:
    """Return the lines of a board, [rows, columns] in {-1, 0, 1}; the stone at index `last` in brackets."""
    lines = []
    for r, line in enumerate(cells):
        text = ""
        for c, cell in enumerate(line):
            here = r * cells.shape[1] + c == last
            text += f"[{pieces[int(cell)]}]" if here else f" {pieces[int(cell)]} "
        lines.append(text)
    return lines


LETTERS = "abcdefghijklmnopqrstuvwxyz"
GO_LETTERS = LETTERS.replace("i", "")
"""Letters of Go's columns, which leave out the i."""


def point_name(point: int, rows: int, columns: int, *, letters: str = LETTERS, from_top: bool = False) -> str:
    """Return the name of a point counted in row order from the top left: its column's letter and its row's number.

    >>> point_name(0, 9, 9), point_name(0, 8, 8, from_top=True)
    ('a9', 'a1')
    """
    r, c = divmod(point, columns)
    return f"{letters[c]}{r + 1 if from_top else rows - r}"


def edge_names(
    rows: int, columns: int, *, letters: str = LETTERS, from_top: bool = False
) -> tuple[list[str], list[str]]:
    """Return the names of the rows, from the top down, and of the columns, as `point_name` puts them together."""
    numbers = [str(r + 1 if from_top else rows - r) for r in range(rows)]
    return numbers, list(letters[:columns])


def make_grid(cells: np.ndarray, last: int, names: tuple[list[str], list[str]], notes: Sequence[str] = ()) -> Grid:
    """Return what `Game.cells` does, from a board [rows, columns] of integers and the names of its rows and columns.

    last: the action played last; one that is no point, such as a pass, is left out.
    """
    return Grid(cells.tolist(), last if 0 <= last < cells.size else None, *names, list(notes))


def draw_named(
    cells: np.ndarray, last: int, pieces: dict[int, str], *, letters: str = LETTERS, from_top: bool = False
) -> list[str]:
    """Return the lines of `draw` with row numbers before them and a line of column letters below."""
    rows, columns = edge_names(*cells.shape, letters=letters, from_top=from_top)
    lines = [f"{name:>2} {line}" for name, line in zip(rows, draw(cells, last, pieces), strict=True)]
    return [*lines, "   " + "".join(f" {letter} " for letter in columns)]
