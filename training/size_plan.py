"""Which games of an iteration are played on which board, in a run of several sizes.

An iteration is divided into parts of games with consecutive numbers; a part is played on one board. The boards follow
from the run and the iteration alone, so that a run stays reproducible. As a run may go on with other sizes, they are
kept in run.db (storage/sizes_played.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from config import Config
from game import Game
from games.sizes import sizes_of
from initialise import Session
from storage.game_record import GameRecord
from storage.sizes_played import SIZES, SizesPlayed, facts_of
from training.selfplay import Counts, game_seed
from training.worker_pool import LocalPool, RoundSpec

PART = 64
"""Games of a part, at least: fewer would not fill the network's batches."""
GOLDEN = (5**0.5 - 1) / 2


def plan(game: Game, config: Config, run: str, iteration: int) -> list[tuple[int, str]]:
    """Return (number of the first game, name of its game) of each part of an iteration.

    The parts are evenly spaced over the sizes, laid out by their shares; from one iteration to the next they move by
    the golden section, so that few iterations in a row come close to the shares (Weyl 1916). On a GPU with a number of
    games in flight (`games_on_gpu`) a part has at least twice as many.
    """
    sizes = sizes_of(game)
    shares = np.cumsum(config.size_ratio ** np.arange(len(sizes)))
    parts = max(1, min(len(sizes), config.episodes // max(PART, 2 * config.games_on_gpu)))
    start = game_seed(run, 0, 0) / 2**64 + GOLDEN * iteration
    at = np.searchsorted(shares / shares[-1], (start + np.arange(parts) / parts) % 1.0, side="right")
    firsts = [part * config.episodes // parts for part in range(parts)]
    return [(first, sizes[number].spec) for first, number in zip(firsts, at.tolist(), strict=True)]


def parts_of(session: Session, games: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return (name of the game, numbers of games) of each part of the iteration in progress; "" for a run of one size.

    The plan is written to run.db when it is first needed.
    """
    s, iteration = session, session.iteration
    if not s.game.sizes:
        return [("", list(games))]
    if s.store.sizes_in(iteration) is None:
        facts = facts_of(plan(s.game, s.config, s.store.get("run") or "", iteration), s.game.sizes[-1].spec)
        with s.store.transaction(SIZES):
            s.store.finish(iteration, SIZES, facts)
    boards = json.loads(s.store.sizes_in(iteration) or "")["games"]
    ends = [first for first, _ in boards[1:]] + [1 << 62]
    parts = []
    for (first, name), end in zip(boards, ends, strict=True):
        mine = [i for i in games if first <= i < end]
        parts += [(str(name), mine)] if mine else []
    return parts


def game_named(game: Game, name: str) -> Game:
    """Return a game of several sizes on the board with this name, also one outside of the range; "" is the game."""
    return SizesPlayed(game, ()).named(name) if name else game


class SizesPool:
    """Games of several sizes played by threads of this process, one size after the other."""

    def __init__(self, make: Callable[[str], LocalPool]) -> None:
        """`make`: makes the pool for the game with a name; the one before is dropped."""
        self._make, self._board = make, ""
        self._pool: LocalPool | None = None
        self._past = Counts(0, 0, 0, 0, 0, 0, 0.0)

    def play(
        self, spec: RoundSpec, games: Sequence[int], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[GameRecord]:
        if self._pool is None or spec.board != self._board:
            self._past, self._pool = self.counts(), None
            self._pool, self._board = self._make(spec.board), spec.board
        return self._pool.play(spec, games, stop=stop)

    def counts(self) -> Counts:
        return total(self._past, self._pool.counts() if self._pool is not None else None)

    def close(self) -> None:
        pass


def total(past: Counts, now: Counts | None) -> Counts:
    """Return the work of earlier players and of the present one; the room is the present one's."""
    if now is None:
        return past
    work: Any = [a + b for a, b in zip(past, now, strict=True)]
    return Counts(*work)._replace(room=now.room)
