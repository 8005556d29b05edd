"""One game out of a collection in SGF of any size, which is read piece by piece: only the game has a limit."""

from __future__ import annotations

import re
from typing import BinaryIO

from config import UserError
from storage.sgf_facts import codec_of, encodings_in

_PARENTHESIS = re.compile(rb"(?:[^()\[]++|\[(?:[^\]\\]++|\\.)*+\])*+([()])", re.DOTALL)
"""All up to the next parenthesis outside of a property's value."""
_MISLEADING = re.compile("big5|gb|cp932|iso-2022")
"""Encodings in which the second byte of a letter may look like a backslash or a bracket."""


def game_in(file: BinaryIO, number: int, most: int) -> bytes:
    """Return game `number`, from 1, of a collection; raise `UserError` where it has more than `most` bytes.

    Nothing is decoded before a game is found, so encodings in which that could mislead are refused.
    """
    data, at, begins, depth, count = b"", 0, 0, 0, 0
    while True:
        found = _PARENTHESIS.match(data, at)
        if found is None:
            data, at, begins = data[begins:], at - begins, 0
            if len(data) > most:
                count += 1
                break
            more = file.read(most + 1)
            if not more:
                raise UserError(f"expected a game from 1 to {count}, got {number}")
            if named := [name for name in encodings_in(more) if _MISLEADING.match(codec_of(name))]:
                raise UserError(f"expected at most {most:,} bytes in the encoding {named[0]}, got a larger file")
            data += more
            continue
        at = found.end()
        if found[1] == b"(":
            begins = begins if depth else at - 1
            depth += 1
            continue
        depth -= 1
        if depth < 0:
            raise UserError(f"expected games in SGF, got a parenthesis that closes none after game {count}")
        if depth == 0:
            count += 1
            if count == number and at - begins > most:
                break
            if count == number:
                return data[begins:at]
            begins = at
    raise UserError(f"expected a game of at most {most:,} bytes, game {count} is larger")
