"""Code of games, compiled by processes of their own while the page shows a board and a counter: no tab waits for
another's game, as compiling in this process would take turns with every search."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from config import UserError
from languages.translate import tr
from system import processes
from system.place import START

COMMAND = [*START, "prepare", "--json"]
EVERY = 0.5
"""Seconds between two looks at how far a process is."""
MOST = 2
"""Processes at once; further games are compiled where they are played."""

T = TypeVar("T")


class Preparation:
    """A process that compiles a game's code."""

    def __init__(self, spec: str) -> None:
        self.told: dict[str, float] = {}
        """Its last line: functions compiled, about how many there are, seconds."""
        self.done, self._began = threading.Event(), time.monotonic()
        self.process = subprocess.Popen(
            [*COMMAND, "--game", spec], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            **processes.own_group(),
        )  # fmt: skip
        threading.Thread(target=self._read, name=f"prepare {spec}", daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None  # noqa: S101
        for line in self.process.stdout:
            if line.startswith(b"{"):
                self.told |= json.loads(line)  # the last one says only that it is ready
        self.process.wait()
        self.done.set()

    def __str__(self) -> str:
        seconds = int(time.monotonic() - self._began)
        if not (told := self.told).get("compiled"):
            return tr("Preparing this game, once: {seconds} s", seconds=seconds)
        return tr("compiling the search, once: {done} of about {expected} functions, {seconds} s",
                  done=told["compiled"], expected=told["expected"], seconds=seconds)  # fmt: skip


class Preparations:
    """The games that processes compile for the tabs of a page, one process for each game."""

    def __init__(self, named: str) -> None:
        """named: the game of the command line; no other file of rules is run."""
        self._named, self._of, self._lock = named, dict[str, Preparation](), threading.Lock()

    def begin(self, spec: str) -> Preparation | None:
        """Begin to compile a game's code, unless it is kept already; return what does, None if nothing is to be done.

        A process that fails is not tried again: the game then says itself what is wrong with it.
        """
        from compiling.prepared import is_prepared

        with self._lock:
            if spec not in self._of:
                busy = sum(not each.done.is_set() for each in self._of.values())
                if busy >= MOST or is_prepared(spec) or (".py" in spec and spec != self._named):
                    return None
                self._of[spec] = Preparation(spec)
            found = self._of[spec]
            return None if found.done.is_set() else found

    async def wait(self, spec: str, show: Callable[[str], None]) -> None:
        """Wait until a game's code is compiled and its rules are loaded; say meanwhile how far it is, twice a second.

        Raises `UserError` where there is no such game.
        """
        found = await asyncio.to_thread(self.begin, spec)
        while found is not None and not found.done.is_set():
            show(str(found))
            await asyncio.sleep(EVERY)
        await ticking(asyncio.to_thread(_load_rules, spec, typed=spec == self._named), show)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for each in self._of.values():
                if each.process.poll() is None:
                    processes.kill_group(each.process)


async def ticking(work: Coroutine[Any, Any, T], show: Callable[[str], None]) -> T:
    """Do some work of seconds, and show meanwhile for how long it has been done."""
    began, task = time.monotonic(), asyncio.ensure_future(work)
    while not task.done():
        show(tr("Loading the boards: {seconds} s", seconds=int(time.monotonic() - began)))
        await asyncio.wait({task}, timeout=EVERY)
    return task.result()


def _load_rules(spec: str, *, typed: bool) -> None:
    """Load the code that drawing a board runs: done by the page's own thread it would hold up every tab."""
    import games
    from plugins.pictures.board_svg import board_svg

    board_svg(games.make(spec, typed=typed).start())


def change_game(play: Any, preparations: Preparations, event: Any) -> bool:
    """Return whether a tab has to wait for the game that was chosen in it; its choice is then repeated later."""
    spec = event.value
    if spec == play.table.game.spec or preparations.begin(spec) is None:
        return False

    async def later() -> None:
        with suppress(UserError):  # told by the choice below
            await preparations.wait(spec, play.tell)
        play.tell("")
        if not play.gone and play.chosen_game() == spec:
            play.change_game(spec)

    from plugins.page.tab_language import in_background

    in_background(later(), "prepare")
    return True


def first_board(spec: str, *, typed: bool = False) -> tuple[str, str]:
    """Return (the game's own name, the drawing of its first position) without compiling anything: what needs its rules
    is left out.

    typed: whether the person named the game, so that a file of rules may be run.
    """
    import games
    from plugins.pictures.board_svg import first_svg

    game = games.make(spec, typed=typed)
    return game.spec, first_svg(game)
