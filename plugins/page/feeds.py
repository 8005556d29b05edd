"""Events for open pages, once a second: what is trained now, and when the list of runs or a run's curves changed.

One task reads for all pages; a page that is slow gets the newest figures and misses older ones, so that nothing piles
up. While no page listens nothing is read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from config import UserError
from languages.translate import chosen
from plugins.page import runs_shown
from plugins.page.pools import Pools, within
from plugins.page.training_process import Trainer
from plugins.page.web_players import named_runs

EVERY = 1.0
"""Seconds from one reading to the next."""
MOST = 200
"""Streams at once."""
SILENT = 15.0
"""Seconds after which a stream says something, so that a closed one is noticed."""


class TooMany(UserError):
    """There are as many as there may be."""


class Reading:
    """What one reading found, in one language."""

    def __init__(self, runs: list[dict[str, Any]], figures: dict[str, dict[str, Any]]) -> None:
        self.runs = json.dumps({"runs": runs})
        self.figures = {name: json.dumps(one) for name, one in figures.items()}
        """{name: figures of a run at work}; "starting GAME": of a training without a run yet."""
        self.lines = {name: one["lines"] for name, one in figures.items()}


class Feeds:
    """The streams of events of all pages."""

    def __init__(self, trainer: Trainer, pools: Pools) -> None:
        self._trainer, self._pools = trainer, pools
        self._open: dict[str, int] = {}
        """{language: streams}"""
        self._latest: dict[str, Reading] = {}
        self._turn = asyncio.Event()
        """Set, and replaced, after each reading."""
        self._task: asyncio.Task[None] | None = None
        self._ended = False

    @property
    def count(self) -> int:
        """The number of open streams."""
        return sum(self._open.values())

    def listen(self, name: str, language: str, gone: Callable[[], Any]) -> AsyncIterator[str]:
        """Return the events of a page that shows a run ("": none). gone: returns whether the page has been closed.

        Raises `TooMany` where there are MOST streams already.
        """
        if self.count >= MOST:
            raise TooMany(f"expected at most {MOST} pages that are open at once, got one more; close some")
        self._open[language] = self._open.get(language, 0) + 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())
        return self._events(name, language, gone)

    async def _events(self, name: str, language: str, gone: Callable[[], Any]) -> AsyncIterator[str]:
        runs, figures, lines, quiet = "", dict[str, str](), None, 0.0
        try:
            yield "retry: 2000\n\n"
            while not self._ended and not await gone():
                turn, latest, said = self._turn, self._latest.get(language), ""
                if latest is not None:
                    if latest.runs != runs:
                        runs = latest.runs
                        said += f"event: runs\ndata: {runs}\n\n"
                    for key, one in latest.figures.items():
                        said += f"event: standing\ndata: {one}\n\n" if figures.get(key) != one else ""
                    now, ended = latest.lines.get(name, lines), name in figures and name not in latest.figures
                    figures = latest.figures
                    if ended or (now != lines and lines is not None):
                        said += "event: iteration\ndata: {}\n\n"
                    lines = now
                quiet = 0.0 if said else quiet + EVERY
                if quiet >= SILENT:
                    said, quiet = ": still here\n\n", 0.0
                if said:
                    yield said
                try:
                    await asyncio.wait_for(turn.wait(), 2 * EVERY)
                except TimeoutError:
                    continue
        finally:
            self._open[language] -= 1

    async def _read(self) -> None:
        """Read while somebody listens."""
        while self.count and not self._ended:
            for language in [each for each, count in self._open.items() if count]:
                token = chosen.set(language)
                try:
                    self._latest[language] = await within(self._pools.reading, self._reading)
                finally:
                    chosen.reset(token)
            turn, self._turn = self._turn, asyncio.Event()
            turn.set()
            await asyncio.sleep(EVERY)
        self._latest.clear()

    def _reading(self) -> Reading:
        figures, shown = {}, set()
        for name, folder in named_runs().items():
            try:
                one = runs_shown.live(name, folder, self._trainer)
            except UserError:
                continue
            if one is not None:
                figures[name] = one
                shown.add(one["process"])
        for spec in self._trainer.at_work():
            if self._trainer.process(spec) not in shown:
                figures[f"starting {spec}"] = runs_shown.starting(spec, self._trainer.seconds(spec))
        return Reading(runs_shown.runs(self._trainer), figures)

    def close(self) -> None:
        """End all streams."""
        self._ended = True
        self._turn.set()
