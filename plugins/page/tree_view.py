"""The search tree: as a picture that grows simulation by simulation, by steps or by itself, and as rows to open."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from html import escape
from typing import Any

from nicegui import ui

from config import UserError
from languages.translate import tr
from MCTS import Node
from plugins.page.controls import icon_button
from plugins.page.machine_turns import searching
from plugins.page.tab_language import in_background
from plugins.page.web_players import make_game
from plugins.pictures.tree_svg import Growth

ROWS_OF_TREE = 400
PACE = 0.8
"""Seconds from one simulation to the next while they play."""


class TreePicture:
    """The panel; it belongs to the panel of the search. Its search is one of its own, from an empty tree."""

    def __init__(self, play: Any, analyst: Callable[[], str]) -> None:
        """analyst: returns the name of who searches."""
        self._play, self._analyst = play, analyst
        self._frames: list[str] = []
        """The picture after each simulation so far; the last one comes again if nothing more can change."""
        self._at = -1
        self._growth: Growth | None = None
        self._job = 0
        """Counts positions and beginnings: a step of an older one is dropped."""
        self._growing = False
        """Whether a simulation runs or is about to."""

    def build(self) -> None:
        """Put the panel where the page is being built."""
        with ui.expansion(tr("Growing tree")).props("dense").classes("growing") as self._shelf:
            with ui.element("div").classes("line-up"):
                icon_button("", "first_page", lambda: self._show(0), tr("to the first simulation"))
                icon_button("", "chevron_left", lambda: self._show(self._at - 1), tr("one simulation back"))
                self._run = icon_button("", "play_arrow", self._toggle, tr("let the tree grow, or pause"))
                icon_button("", "chevron_right", self._forward, tr("one simulation on"))
                self._words = ui.label().classes("soft grow").props('role="status"')
            self._picture = ui.html("", sanitize=False).classes("scroll tree-stage")
            words = tr("Number: visits. Q: for who makes the move. Green: good for who is to move now.")
            ui.label(words).classes("soft")
        self._shelf.on_value_change(lambda e: self._opened(e.value))
        self._clock = ui.timer(PACE, self._forward, active=False)

    def forget(self) -> None:
        """Drop the tree: the position is another one, or the tab is closed."""
        self._job += 1
        self._growth, self._frames = None, []
        self._pause()
        self._show(-1)
        if self._shelf.value and self._play.mode == "analyse":
            self._forward()

    def _opened(self, is_open: bool) -> None:
        if is_open and not self._frames:
            self._forward()
        elif not is_open:
            self._pause()

    def _toggle(self) -> None:
        if self._clock.active:
            self._pause()
        else:
            self._clock.activate()
            self._run.props("icon=pause")

    def _pause(self) -> None:
        self._clock.deactivate()
        self._run.props("icon=play_arrow")

    def _forward(self) -> None:
        """Show the next picture; where there is none yet, run a simulation."""
        if self._at + 1 < len(self._frames):
            self._show(self._at + 1)
        elif self._growth is not None and self._growth.over:
            self._pause()
        elif not self._growing and self._play.watched and not self._play.table.over:
            self._growing = True
            in_background(self._grow(self._job), "growing tree")

    async def _grow(self, job: int) -> None:
        """Run a simulation and show it, if the position is still the same."""
        found = None
        try:
            state, spec, name = self._play.table.state, self._play.table.game.spec, self._analyst()
            if self._growth is None:
                growth = await searching(lambda: Growth(self._play.roster.analyst(name, make_game(spec)), state))
                self._growth = growth if job == self._job else self._growth
            if self._growth is not None and job == self._job:
                found = await searching(copy_context().run, self._growth.picture)
        except UserError as error:
            self._pause()
            self._words.text = str(error).splitlines()[0]
            return
        finally:
            self._growing = False
        if job != self._job and self._shelf.value and not self._frames:
            self._forward()
        elif job == self._job and found is not None:
            self._frames.append(found)
            self._show(len(self._frames) - 1)

    def _show(self, at: int) -> None:
        if not -1 <= at < len(self._frames) or (at < 0 and self._frames):
            return
        self._at = at
        self._picture.content = self._frames[at] if at >= 0 else ""
        self._words.text = tr("simulation {number}", number=at + 1) if at >= 0 else ""
        if self._growth is not None and self._growth.over and at == len(self._frames) - 1:
            self._words.text = tr("simulation {number}, the last one", number=at + 1)


def tree_html(root: Node) -> str:
    """Return the search tree as rows to open: the most visited moves of each node, down to the third visit."""
    room = [ROWS_OF_TREE]

    def rows(node: Node, depth: int) -> str:
        edges = sorted(((e.stats, a, e) for a, e in node.edges), key=lambda found: -found[0]["N"])
        parts = []
        for stats, action, edge in edges[:8]:
            if stats["N"] < (1 if depth == 0 else 3) or room[0] <= 0:
                break
            room[0] -= 1
            name = escape(node.mcts.game.move_name(action))
            label = f"<b>{name}</b> N {stats['N']:.0f}, Q {stats['Q']:+.3f}, P {stats['P']:.3f}"
            child = edge.outNode
            below = rows(child, depth + 1) if child is not None and depth < 16 else ""
            inner = f"<details><summary>{label}</summary>{below}</details>" if below else f"<div>{label}</div>"
            parts.append(f"<li>{inner}</li>")
        return f"<ul>{''.join(parts)}</ul>" if parts else ""

    return f'<div class="tree">{rows(root, 0)}</div>'
