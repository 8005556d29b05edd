"""What a stage found out about positions, as text within its facts: so it is in run.db, checked and resumed.

The games stay as they were played. A position is named by its game and ply (`origins`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import operator
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from game import Game
from storage.atomic_files import DamagedData
from storage.game_record import GameRecord

REANALYSE = "reanalyse"
"""The stage that keeps such data; in runs up to version 0.3.0 also "surprise" and "side", which nothing reads now."""
DATA = "data"
"""The name of the fact that holds it; it is no part of metrics.jsonl."""
MOST_BYTES = 1 << 30
"""Largest size of what a stage keeps."""


def origins(record: GameRecord) -> np.ndarray:
    """Return [plies] uint64, a name for each position of a game: 48 bits of the game's hash, then its ply."""
    moves, values = np.asarray(record.moves, "<i2"), np.asarray(record.values, "<f4")
    digest = hashlib.sha256(moves.tobytes() + values.tobytes() + record.board.encode()).digest()
    return (np.frombuffer(digest, "<u8")[0] & ~np.uint64(0xFFFF)) | np.arange(len(moves), dtype=np.uint64)


class Searched(NamedTuple):
    """Later searches of n positions."""

    names: np.ndarray
    """[n] uint64, of `origins`"""
    visits: np.ndarray
    """[n, action_size] uint16: weight of each move in the policy target"""
    values: np.ndarray
    """[n] float32: the search's value, for the player to move"""

    def facts(self) -> dict[str, Any]:
        """Return the facts that hold them."""
        return _facts(self.names.astype("<u8"), self.visits.astype("<u2"), self.values.astype("<f4"))

    @classmethod
    def of(cls, facts: dict[str, Any], actions: int) -> Searched:
        """Return the searches that facts hold; raise `DamagedData` if they hold none."""
        names, visits, values = _columns(facts, "<u8", f"{actions}<u2", "<f4")
        return cls(names, visits, _finite(values))


def fill(memory: Any, found: Iterable[tuple[int, GameRecord]], game: Game, store: Any) -> int:
    """Put games, which come as (iteration, game) in order, into a `Memory`, each iteration's with what its stages found
    out; return the number of positions.

    In the order of the run, as what a stage finds out is not for later games, even with equal moves and values.
    """
    count = 0
    for iteration, group in itertools.groupby(found, key=operator.itemgetter(0)):
        count += memory.extend(record for _, record in group)
        for _, facts in store.stage_facts(REANALYSE, range(iteration, iteration + 1)):
            memory.retarget(*Searched.of(facts, game.action_size))
    return count


def position_fault(facts: dict[str, Any]) -> str:
    """Return the fault of such facts, whatever the game's number of actions, "" for none."""
    n = facts["positions"]
    try:
        size = len(_unpacked(facts, MOST_BYTES))
    except DamagedData as error:
        return str(error)
    fits = size % n == 0 and size >= 12 * n if n > 0 else size == n
    return "" if fits else f"holds {size} bytes for {n} positions"


def _facts(*columns: np.ndarray) -> dict[str, Any]:
    data = zlib.compress(b"".join(column.tobytes() for column in columns), 6)
    return {"positions": len(columns[0]), DATA: base64.b64encode(data).decode()}


def _columns(facts: dict[str, Any], *kinds: str) -> list[np.ndarray]:
    """Return the columns that facts hold, one after the other, of these kinds (numpy's words for a row's part)."""
    n, sizes = facts["positions"], [np.dtype(kind).itemsize for kind in kinds]
    data = _unpacked(facts, n * sum(sizes) + 1)
    if len(data) != n * sum(sizes):
        raise DamagedData(f"expected {n * sum(sizes)} bytes of {n} positions, got {len(data)}")
    ends = [n * end for end in itertools.accumulate(sizes, initial=0)]
    return [np.frombuffer(data[a:b], kind) for kind, (a, b) in zip(kinds, itertools.pairwise(ends), strict=True)]


def _unpacked(facts: dict[str, Any], most: int) -> bytes:
    """Return at most `most` bytes of what facts hold."""
    try:
        return zlib.decompressobj().decompress(base64.b64decode(facts[DATA], validate=True), max(most, 1))
    except (zlib.error, binascii.Error, ValueError) as error:
        raise DamagedData(f"expected what a stage found out about positions, got none ({error})") from None


def _finite(values: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        raise DamagedData("expected finite values of positions, got others")
    return values
