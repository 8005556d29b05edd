"""One stored game, and the codec between it and bytes: for the database, for a pipe and for a file of games."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

IMPORTED = 1 << 30
"""Games of an iteration with this number or a higher one were played elsewhere."""
ILLEGAL_VISITS = np.uint16(65535)
"""Marks illegal moves among visits."""


class GameArrays(NamedTuple):
    """What is stored of a game of L moves, S of them from a full search."""

    moves: np.ndarray
    """[L] int16"""
    full: np.ndarray
    """[L] bool: whether the move came from a full search"""
    visits: np.ndarray
    """[S, action_size] uint16: root visits of the full searches"""
    values: np.ndarray
    """[L] float32"""


class GameBytes(NamedTuple):
    """The arrays of a game as bytes, little-endian."""

    moves: bytes
    """int16"""
    visits: bytes
    """One bit for each move, whether it came from a full search, padded to full bytes; then uint16 root visits."""
    values: bytes
    """float32"""


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
    board: str = ""
    """The game's name, in a run of several sizes (games/sizes.py)."""

    def to_arrays(self) -> GameArrays:
        """Return copies of the game's arrays, visits of the full searches only."""
        full = np.asarray(self.visits.any(axis=1))
        visits = self.visits[full].astype("<u2")
        return GameArrays(self.moves.astype("<i2"), full, visits, self.values.astype("<f4"))

    @classmethod
    def from_arrays(cls, index: int, result: float, arrays: GameArrays) -> GameRecord:
        """Return the game of these arrays."""
        visits = np.zeros((len(arrays.moves), arrays.visits.shape[1]), np.uint16)
        visits[arrays.full] = arrays.visits
        return cls(index, arrays.moves, visits, arrays.values, result)

    def to_bytes(self) -> GameBytes:
        """Return the game's arrays as bytes."""
        moves, full, visits, values = self.to_arrays()
        return GameBytes(moves.tobytes(), np.packbits(full).tobytes() + visits.tobytes(), values.tobytes())

    @classmethod
    def from_bytes(cls, index: int, result: float, data: GameBytes, *, actions: int = 0) -> GameRecord:
        """Return the game of these bytes; raise `ValueError` or `TypeError` if they hold no arrays.

        actions: columns of `visits` in a game without a full search.
        """
        moves = np.frombuffer(data.moves, "<i2")
        length, head = len(moves), -(-len(moves) // 8)
        full = np.unpackbits(np.frombuffer(data.visits[:head], np.uint8), count=length).astype(bool)
        counts, searches = np.frombuffer(data.visits[head:], "<u2"), int(full.sum())
        visits = counts.reshape(searches, -1) if searches else np.zeros((0, actions), np.uint16)
        return cls.from_arrays(index, result, GameArrays(moves, full, visits, np.frombuffer(data.values, "<f4")))
