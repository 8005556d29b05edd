"""The machines' turns at a table: their players, and their searches in threads."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from nicegui import app

from agent import Player
from config import UserError
from game import Game
from games.line_of_moves import starting_at
from languages.translate import tr
from plugins.page.tab_language import in_background
from plugins.page.web_players import choose, has_level, make_game
from storage.game_files import PERSON

LOTS = 4
"""The first moves of a game between machines are drawn by lot, so that games differ; this many."""
_SEARCHES = ThreadPoolExecutor(64, thread_name_prefix="search")
"""Separate from the threads that read files and lists: a page opens while searches run."""
T = TypeVar("T")


async def searching(work: Callable[..., T], *given: Any) -> T | None:
    """Run a search in a thread, in the language of its tab; return None when the program ends."""
    if app.is_stopping:
        return None
    try:
        return await asyncio.get_running_loop().run_in_executor(_SEARCHES, copy_context().run, work, *given)
    except asyncio.CancelledError:
        return None


class Machines:
    """The machines of one tab; they belong to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self.running = False
        self.loading = False
        """Whether a player is being made and searches for the first time; its time does not run meanwhile."""
        self._players: dict[tuple[str, int, str, str], Player] = {}

    def forget(self) -> None:
        """Drop all players, and their trees."""
        self._players.clear()

    def keep_seated(self) -> None:
        """Drop the players that have no seat any more."""
        t = self._play.table
        seated = {self._key(t.game.spec, side, t.seats[side], t.levels[side]) for side in (1, -1)}
        for key in [key for key in self._players if key not in seated]:
            self._players.pop(key, None)

    def wake(self) -> None:
        """Let machines play if it is their turn."""
        if self._play.table.machine_to_move and self._play.watched and not self.running:
            self.running = True  # now, not when the task begins
            in_background(self._run(), "machines")

    async def _run(self) -> None:
        """Let machines play as long as it is their turn; any action at the table stops their search."""
        play, self._loop = self._play, asyncio.get_running_loop()
        try:
            while (t := play.table).machine_to_move and play.watched:
                turn, state, side, moves = play.turn, t.state, t.state.playerTurn, tuple(t.moves[: t.ply])
                play.show()
                try:
                    chosen = await searching(self._answer, t.seats[side], t.levels[side], t.game, state, moves, turn)
                except UserError:
                    if turn == play.turn:  # else that search is outdated
                        raise
                if turn != play.turn:
                    continue
                if chosen is None:  # the program ends
                    return
                action, value = chosen
                if value is not None:
                    t.note(t.ply, value, side)
                t.play(action)
                play.tell("")  # what was said of the position before
                play.changed()
                if t.result is None and PERSON not in t.seats.values():
                    await asyncio.sleep(0.25)  # so that people can follow
        except UserError as error:
            t.paused = True
            play.tell(str(error).splitlines()[0])
        except Exception:
            t.paused = True
            play.tell(tr("The machine failed; see the terminal."))
            raise
        finally:
            self.running = False
            if not play.gone:
                play.show()

    def _key(self, spec: str, side: int, name: str, level: str) -> tuple[str, int, str, str]:
        """Return the key of a player: each seat has its own tree, of the game on the table."""
        return spec, side, name, level if has_level(name) else ""

    def _answer(self, name: str, level: str, shown: Game, state: Any, moves: tuple[int, ...], turn: int
                ) -> tuple[int, float | None] | None:  # fmt: skip
        """Make the player if need be and let it choose a move, within its clock's time; runs in a thread."""
        key, table = self._key(shown.spec, state.playerTurn, name, level), self._play.table
        player, now = self._players.get(key), time.monotonic()
        until = now + table.clock.budget(state.playerTurn, now) if table.clock is not None else math.inf
        if player is None:
            self._load(True)
        try:
            if player is None:
                game = make_game(shown.spec)
                game = starting_at(game, shown.start()) if shown.set_up_from else game
                player = self._players[key] = self._play.roster.make(name, game, key[-1])
                until += time.monotonic() - now
            lots = len(moves) < LOTS and PERSON not in table.seats.values()  # or machines' games would be alike
            return choose(player, key[-1], state, moves, lambda: bool(self._play.turn != turn), lots=lots, until=until)
        finally:
            self._load(False)

    def _load(self, on: bool) -> None:
        """Stop the clock while a player is made and searches for the first time: networks are loaded, code compiled."""
        if on != self.loading:
            self.loading = on
            with suppress(RuntimeError):  # the program ends
                self._loop.call_soon_threadsafe(self._play.strip.time)
