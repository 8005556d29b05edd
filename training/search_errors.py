"""Where past searches were wrong: how far each search's value was from what the game later showed.

The error of a ply is half of the distance between the search's value and the game's result, in [0, 1]; a search that
proved its position, later in the game, takes the result's place. Only games that this run played count, and only those
of finished iterations, which never change: what is chosen from them is the same after a kill.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiled import call
from game import Game
from games.returned_values import check_rules, make_bounds
from memory import unroll
from storage.atomic_files import DamagedData
from storage.game_record import IMPORTED, GameRecord
from storage.position_data import origins
from storage.run_store import Store


class Errors(NamedTuple):
    """The searched plies of an iteration's games."""

    number: np.ndarray
    """[n] int64: of the game in its iteration"""
    ply: np.ndarray
    """[n] int64"""
    early: np.ndarray
    """[n] bool: whether the ply is in the first half of its game"""
    error: np.ndarray
    """[n] float32"""
    name: np.ndarray
    """[n] uint64: of `position_data.origins`; 0 where the search was a fast one, which teaches no policy"""


def movers(game: Game, record: GameRecord) -> np.ndarray:
    """Return [plies] int32, the player to move at each ply; raise `DamagedData` if the rules forbid a move."""
    length, actions = len(record.moves), game.action_size
    players = np.zeros(length, np.int32)
    bounds, row = make_bounds(game), game.start_row.copy()  # type: ignore[union-attr]
    room = np.zeros((length, int(np.prod(game.input_shape))), np.uint8), np.zeros((length, actions), np.uint16)
    visits, kept = np.zeros((length, actions), np.uint16), np.zeros(length, bool)
    legal, moves = np.zeros(actions, np.int32), np.array(record.moves, np.int16)
    n = call(unroll, game.rules, row, legal, moves, visits, kept, *room, players, bounds)
    check_rules(game, bounds)
    if n < 0:
        raise DamagedData(f"expected a game of {game.spec}, got one with an illegal move at {-1 - n}")
    return players


def errors(record: GameRecord, players: np.ndarray) -> np.ndarray:
    """Return [plies] float64: the error of each ply, -1 where no search was made.

    players: [plies], the player to move at each. A value of exactly 1 or -1 is a proof.
    """
    said = np.asarray(record.values, np.float64) * players
    searched = np.logical_or.accumulate(record.visits.any(axis=1) | (said != 0))
    plies = np.arange(len(said))
    proven = np.where(searched & (np.abs(said) == 1), plies, len(said))
    following = np.minimum.accumulate(proven[::-1])[::-1]
    shown = np.append(said, record.result)[following]
    return np.where(searched, np.abs(said - shown) / 2, -1.0)


KEPT = 20
"""Iterations of which the errors are kept; reanalysis looks back no further."""


class SearchErrors:
    """The errors of a run's iterations, each read once."""

    def __init__(self, game: Game, store: Store) -> None:
        self._game, self._store = game, store
        self._known: dict[int, Errors] = {}

    def of(self, iteration: int) -> Errors:
        """Return the errors of a finished iteration's games."""
        if iteration not in self._known:
            self._known[iteration] = self._read(iteration)
            while len(self._known) > KEPT:
                del self._known[min(self._known)]
        return self._known[iteration]

    def _read(self, iteration: int) -> Errors:
        parts = [Errors(*(np.zeros(0, kind) for kind in (np.int64, np.int64, bool, np.float32, np.uint64)))]
        for record in self._store.games_of(iteration):
            if record.index >= IMPORTED:
                continue
            found = errors(record, movers(self._game, record))
            ply = np.flatnonzero(found >= 0)
            names = np.where(record.visits.any(axis=1), origins(record), np.uint64(0))[ply]
            index = np.full(len(ply), record.index, np.int64)
            parts.append(Errors(index, ply, 2 * ply < len(found), found[ply].astype(np.float32), names))
        return Errors(*map(np.concatenate, zip(*parts, strict=True)))
