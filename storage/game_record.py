"""One stored game, and the one codec between it and bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from storage.atomic_files import DamagedData

IMPORTED = 1 << 30
"""From this number on the games of an iteration were played elsewhere."""


class GameRecord(NamedTuple):
    """One finished game of L moves."""

    index: int  # type: ignore[assignment]
    """Its number within the iteration; from `IMPORTED` on it was played elsewhere."""
    moves: np.ndarray
    """[L] int16"""
    visits: np.ndarray
    """[L, action_size] uint16: root visits; all 0 where the search was not a full one."""
    values: np.ndarray
    """[L] float32: the search's value, for the player to move."""
    result: float
    """For the player who began (playerTurn 1)."""


def record_of(row: tuple[Any, ...]) -> GameRecord:
    """Return the game that a row of the games holds; raise `DamagedData` where its number or result is none.

    The database keeps what it is given, of whatever type.
    """
    if type(row[1]) is not int or not isinstance(row[3], float | int):
        raise DamagedData("expected the number of a game and its result, got others")
    moves, visits = np.frombuffer(row[4], "<i2"), row[5]
    length, head = len(moves), -(-len(moves) // 8)
    full = np.unpackbits(np.frombuffer(visits[:head], np.uint8), count=length).astype(bool)
    counts = np.frombuffer(visits[head:], "<u2")
    searched = int(full.sum())
    table = np.zeros((length, len(counts) // searched if searched else 0), np.uint16)
    if searched:
        table[full] = counts.reshape(searched, -1)
    return GameRecord(row[1], moves, table, np.frombuffer(row[6], "<f4"), row[3])


ILLEGAL_VISITS = np.uint16(65535)
"""Marks illegal moves among visits."""
