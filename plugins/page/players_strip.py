"""Who plays whom, above the board, with points and the clock: it counts in the browser, and here the time runs out."""

from __future__ import annotations

import asyncio
import time
from html import escape
from typing import Any

from nicegui import ui

from interface.side_names import has_points
from languages.translate import tr
from plugins.page.clock import LOW, face
from plugins.page.table import Table
from plugins.pictures.board_svg import LOOKS
from storage.game_files import PERSON

LATE = 0.05
"""Seconds after a side's last one at which its time is looked at: no timer fires exactly."""


class Strip:
    """The strip; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._alarm: asyncio.TimerHandle | None = None
        self._changes = 0
        """Counts the changes of the clock, so that the browser sees them."""

    def build(self) -> None:
        """Put the strip where the page is being built."""
        self._place = ui.html("", sanitize=False).classes("players")

    def show(self) -> None:
        """Show the players, their points, whose turn it is, and the clock."""
        table, now = self._play.table, time.monotonic()
        counted = points(table)
        parts = []
        for side in (1, -1):
            colour = LOOKS[table.game.look].sides[side][0]
            turn = not table.over and table.state.playerTurn == side
            name = f'<span class="who">{escape(self._play.opponents.name_of(side))}</span>'
            dot = f'<span class="dot-side" style="background:{colour}"></span>'
            if counted:
                words = tr("{points} points", points=f"{counted[side]:g}")
                name += f'<span class="points" title="{escape(words)}">{counted[side]:g}</span>'
            clock = ""
            if table.clock is not None:
                left, runs = table.clock.time_of(side, now), "1" if table.clock.running == side else ""
                person = "1" if table.seats[side] == PERSON else ""
                words = escape(tr("time of {side}", side=table.side_name(side)))
                clock = (
                    f'<span class="clock{" low" if left < LOW else ""}" role="timer" aria-label="{words}" '
                    f'data-left="{left:.1f}" data-runs="{runs}" data-side="{side}" data-person="{person}" '
                    f'data-stamp="{self._changes}">{face(left)}</span>'
                )
            parts.append(f'<div class="side{" turn" if turn else ""}">{dot}{name}{clock}</div>')
        self._place.content = "".join(parts)

    def time(self) -> None:
        """Let the time run of who is to move, or nobody's: in Analyse, and while nobody looks or a machine loads."""
        play, now = self._play, time.monotonic()
        clock = play.table.clock
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if clock is None:
            return
        stands = play.mode != "play" or not play.watched or play.machines_load
        side = None if stands else play.table.on_the_clock
        self._changes += clock.running != side
        clock.run(side, now)
        if side is not None:
            self._alarm = asyncio.get_running_loop().call_later(clock.time_of(side, now) + LATE, self._look)
        if not play.gone:
            self.show()

    def _look(self) -> None:
        """End the game of a side whose time is up."""
        clock = self._play.table.clock
        late = clock.fallen(time.monotonic()) if clock is not None else None
        if late is not None:
            self._play.table.resign(late, late=True)
            with self._play.client:
                self._play.changed()


def points(table: Table) -> dict[int, float]:
    """Return the points of both sides in the position on the board; {} in games that count none before the end."""
    state, game = table.state, table.game
    if game.scored_by_area or not has_points(game, state) or not any(state.score):
        return {}
    return dict(zip((state.playerTurn, -state.playerTurn), state.score, strict=True))
