"""The server's interface: its pages, and values as JSON and events for their scripts. docs/page.md lists it.

What comes is checked here (`fields.py`), work is done in threads, and a fault is a status with one line: 400 for what
is wrong, 404 for what is not there, 409 for what is impossible now, 429 where there is too much at once.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from config import UserError
from languages.translate import LANGUAGES, chosen, of_browser
from plugins.page import fields
from plugins.page.fields import one_of, text, values_of, whole, wholes
from plugins.page.pools import Pools, within
from training.presets import PRESETS

MOST_ACTION = 100_000
MOST_MINUTES = 1_000_000
"""Largest number of a move in a request."""
LOADING = threading.RLock()
"""Held while modules are imported: two threads that do it at once may see halves of modules that import each other."""
TAB = 40
"""Most characters of a page's own name."""
Handler = Callable[[Request], Awaitable[Response]]


class Busy(UserError):
    """What was requested is impossible now."""


class Interface:
    """What all pages share, and the answers."""

    def __init__(self, spec: str) -> None:
        """spec: the game of the command line; a file of rules is run if this names it."""
        self._spec = spec
        self._pools = Pools()
        self._parts: Parts | None = None

    @property
    def parts(self) -> Parts:
        """What the answers need; made at the first one, as it takes slow imports."""
        if self._parts is None:
            with LOADING:
                self._parts = self._parts or Parts(self._spec, self._pools)
        return self._parts

    def begin(self) -> None:
        """Load in a thread what the first page needs."""
        self._pools.reading.submit(lambda: self.parts.warm())

    def end_streams(self) -> None:
        """End all answers that are still open."""
        if self._parts is not None:
            self._parts.feeds.close()
            self._parts.searches.close()

    def close(self) -> None:
        """End all work; training that the page started ends cleanly, so that it can be resumed."""
        self.end_streams()
        self._pools.close()
        if self._parts is not None:
            self._parts.preparing.close()
            self._parts.trainer.stop_all()

    def routes(self) -> list[Route]:
        """Return the routes of the server."""
        gets: dict[str, Callable[[Mapping[str, str]], Any]] = {
            "home": lambda q: self.parts.home(),
            "runs": lambda q: {"runs": self.parts.runs()},
            "run": lambda q: self.parts.run(text(q, "name"), text(q, "compare", "")),
            "versions": lambda q: self.parts.learning.versions(text(q, "name")),
            "look": lambda q: self.parts.look(q),
            "milestones": lambda q: self.parts.learning.milestones(text(q, "name")),
            "games": lambda q: self.parts.games(q),
            "game": lambda q: self.parts.game(q),
            "options": lambda q: self.parts.options(text(q, "game", ""), whole(q, "minutes", 1, MOST_MINUTES)),
            "players": lambda q: self.parts.players(text(q, "game")),
        }
        posts: dict[str, Callable[[dict[str, Any]], Any]] = {
            "train": lambda v: self.parts.train(v),
            "stop": lambda v: self.parts.stop(v),
            "follow": lambda v: self.parts.follow(v),
            "setup": lambda v: self.parts.setup(v),
            "exact": lambda v: self.parts.exact(v),
        }
        slow = "look", "milestones"
        return [
            *(Route(f"/api/{name}", self._get(answer, name in slow)) for name, answer in gets.items()),
            *(Route(f"/api/{name}", self._post(answer), methods=["POST"]) for name, answer in posts.items()),
            Route("/api/move", self._search("move"), methods=["POST"]),
            Route("/api/search", self._search("search"), methods=["POST"]),
            Route("/api/events", self._events),
            Route("/", self._view("home")),
            Route("/games", self._view("games")),
            Route("/training", self._view("training")),
            Route("/play/{name:path}", self._play),
        ]

    def faults(self) -> dict[Any, Any]:
        """Return what answers faults."""
        return {UserError: _fault, LookupError: _fault, HTTPException: _fault, Exception: _failed}

    # ---- answers

    def _get(self, answer: Callable[[Mapping[str, str]], Any], slow: bool) -> Handler:
        pool = self._pools.making if slow else self._pools.reading

        async def answered(request: Request) -> Response:
            with _language(request, request.query_params.get("lang")):
                return await self._answer(lambda: answer(request.query_params), pool)

        return answered

    def _post(self, answer: Callable[[dict[str, Any]], Any]) -> Handler:
        async def answered(request: Request) -> Response:
            values = values_of(await request.body())
            with _language(request, values.get("lang")):
                return await self._answer(lambda: answer(values), self._pools.reading)

        return answered

    async def _answer(self, work: Callable[[], Any], pool: Any) -> Response:
        """Return what some work returns; faults are in the language of who requests."""
        try:
            return JSONResponse(await within(pool, work))
        except (UserError, LookupError) as error:
            return _said(error)

    def _search(self, kind: str) -> Handler:
        async def answered(request: Request) -> Response:
            values = values_of(await request.body())
            tab = request.headers.get("x-tab", "")[:TAB]
            with _language(request, values.get("lang")):
                try:
                    work = await within(self._pools.reading, lambda: self.parts.work(kind, values))
                    lines = self.parts.searches.begin(tab, work, request.is_disconnected)
                except (UserError, LookupError) as error:
                    return _said(error)
                return StreamingResponse(_quietly(lines), media_type="application/x-ndjson")

        return answered

    async def _events(self, request: Request) -> Response:
        language = _language_of(request, request.query_params.get("lang"))
        name = text(request.query_params, "name", "")
        parts = await within(self._pools.reading, lambda: self.parts)
        events = parts.feeds.listen(name, language, request.is_disconnected)
        return StreamingResponse(_quietly(events), media_type="text/event-stream")

    def _view(self, view: str) -> Handler:
        async def answered(request: Request) -> Response:
            return await self._page(lambda: _view_page(view))

        return answered

    async def _play(self, request: Request) -> Response:
        name, player = request.path_params["name"], request.query_params.get("player", "")
        with _language(request, None):
            return await self._page(lambda: self.parts.page(text({"game": name}, "game"), player), self._pools.making)

    async def _page(self, work: Callable[[], bytes], pool: Any = None) -> Response:
        try:
            page = await within(pool or self._pools.reading, work)
        except (UserError, LookupError) as error:
            return Response(str(error).splitlines()[0], _status(error), media_type="text/plain")
        return Response(page, media_type="text/html", headers={"content-security-policy": _policy_of(page)})


async def _quietly(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the lines until whoever reads them has gone."""
    try:
        async for line in lines:
            yield line
    except (ClientDisconnect, OSError):
        return


class Parts:
    """What answers need: players, runs, trainings, searches, pages."""

    def __init__(self, spec: str, pools: Pools) -> None:
        from plugins.page.feeds import Feeds
        from plugins.page.game_pages import GamePages
        from plugins.page.learning import Learning
        from plugins.page.preparing import Preparations
        from plugins.page.searches import Searches
        from plugins.page.training_process import Trainer
        from plugins.page.web_players import Roster

        self.roster = Roster((spec,))
        self.trainer = Trainer()
        self.preparing = Preparations(spec)
        self.searches = Searches(self.roster, pools, self.preparing)
        self.feeds = Feeds(self.trainer, pools)
        self.pages = GamePages(self.roster)
        self.learning = Learning(self.roster)

    def warm(self) -> None:
        """Make the first screen's tiles, and the page of the game of the command line."""
        try:
            self.home()
            self.page(self.roster.named[0], "")
        except UserError:  # it is said where it is opened
            return

    # ---- games

    def game_named(self, spec: str) -> Any:
        """Return a game by its name; raise `UserError` if there is none, or if it must not be made."""
        from plugins.browser.game_facts import public_spec

        for named in self.roster.named:
            if ".py" in named and spec == public_spec(self.roster.find(named)):
                return self.roster.find(named)
        return self.roster.find(spec)

    def page(self, name: str, player: str) -> bytes:
        """Return the page of a game. name: its name, or that of its folder of runs."""
        from storage.run_folders import game_folder

        for spec in (*self.roster.named, *self._offered()):
            if name == game_folder(spec):
                return self.pages.page(self.roster.find(spec), player)
        return self.pages.page(self.game_named(name), player)

    def _offered(self) -> list[str]:
        from plugins.page.home import shipped_boards

        return list(dict.fromkeys([*shipped_boards(), *self.roster.games()]))

    def home(self) -> dict[str, Any]:
        """Return the first screen."""
        from plugins.page.home import groups

        return {"groups": groups(self.roster), "training": self._training()}

    def _training(self) -> list[dict[str, Any]]:
        from plugins.page import runs_shown

        found = []
        for one in runs_shown.runs(self.trainer):
            if one["process"] is not None or (one["busy"] and not one["name"]):
                now = None
                if one["name"]:
                    now = runs_shown.live(one["name"], runs_shown.folder_of(one["name"]), self.trainer)
                now = now or runs_shown.starting(one["game"], self.trainer.seconds(one["game"]))
                shown = {"name": one["name"], "spec": one["game"], "label": one["label"]}
                found.append(shown | {"words": now["words"], "share": now["share"]})
        return found

    def follow(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the positions of a line of moves."""
        from plugins.page.searches import follow

        moves = wholes(given, "moves", 0, MOST_ACTION)
        first = whole(given, "from", 0, fields.PLIES, len(moves))
        return follow(self._begun(given), moves, first or 0)

    def setup(self, given: dict[str, Any]) -> dict[str, Any] | None:
        """Return a position that was set up, None if there is none."""
        from plugins.page.searches import position_of, set_up

        game = self.game_named(text(given, "game"))
        if given.get("cells") is None:
            return position_of(game, game.start())
        state = set_up(game, wholes(given, "cells", -1, 1), _side(given))
        return None if state is None or state.isEndGame else position_of(game, state)

    def exact(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the exact results of a position's moves."""
        from plugins.page.searches import exact

        return exact(self._begun(given), wholes(given, "moves", 0, MOST_ACTION))

    def _begun(self, given: dict[str, Any]) -> Any:
        """Return the game of a request, with what it sets up."""
        from plugins.page.searches import begun_with

        game, setup = self.game_named(text(given, "game")), given.get("setup")
        if setup is None:
            return game
        if not isinstance(setup, dict):
            raise UserError("setup: expected cells and player")
        return begun_with(game, {"cells": wholes(setup, "cells", -1, 1), "player": _side(setup)})

    def work(self, kind: str, given: dict[str, Any]) -> Any:
        """Return the search that a page requests."""
        from plugins.page.searches import LookWork, MoveWork
        from plugins.page.web_players import DEEPEST, PLIES, SECONDS, budget, is_search

        game = self._begun(given)
        moves = wholes(given, "moves", 0, MOST_ACTION)
        sims = whole(given, "sims", 1, DEEPEST)
        seconds = fields.number(given, "seconds", 0.01, SECONDS)
        player = text(given, "player", "") or self.roster.strongest(game.spec)
        if player not in self.roster.players(game.spec) and player not in self.roster.networks(game.spec):
            raise UserError(f"expected a player of {game.spec}, got {player[:60]!r}")
        if kind == "move":
            plies = whole(given, "plies", 1, PLIES)
            return MoveWork(self.roster, game, moves, player, budget(player, plies, sims, seconds))
        if not is_search(player):
            raise UserError(f"expected a player that searches with visits, got {player[:60]!r}")
        return LookWork(self.roster, game, moves, player, sims or 400)

    def players(self, spec: str) -> dict[str, Any]:
        """Return the players of a game that a server can play."""
        game = self.game_named(spec)
        return {"players": [_player(name, label) for name, label in self.roster.players(game.spec).items()]}

    # ---- runs

    def runs(self) -> list[dict[str, Any]]:
        from plugins.page import runs_shown

        return runs_shown.runs(self.trainer)

    def run(self, name: str, compare: str) -> dict[str, Any]:
        from plugins.page import runs_shown

        return runs_shown.one_run(name, compare, self.roster, self.trainer)

    def look(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return what a version thinks of a position."""
        from plugins.page.learning import POSITIONS

        position = one_of(given, "position", (*POSITIONS, "moves"), "start")
        moves = given.get("moves", "").split()[: fields.PLIES]
        version = whole(given, "version", 0, 999_999, 0)
        return self.learning.look(text(given, "name"), version or 0, position, moves)

    def games(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return stored games of a run."""
        from plugins.page import runs_shown

        every = given.get("iteration", "all") in ("all", "")
        iteration = 0 if every else whole(given, "iteration", 1, 10**8)
        return runs_shown.games_of(
            text(given, "name"),
            iteration or 0,
            one_of(given, "kind", runs_shown.KINDS, "self-play"),
            self.roster,
            result=one_of(given, "result", runs_shown.RESULTS, ""),
            version=whole(given, "version", 0, 10**8),
            least=whole(given, "least", 0, 10**8),
            most=whole(given, "most", 0, 10**8),
            first=whole(given, "from", 0, 10**8, 0) or 0,
        )

    def game(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return a stored game of a run."""
        from plugins.page import runs_shown

        iteration, number = whole(given, "iteration", 0, 10**8, 0), whole(given, "number", 0, 10**12, 0)
        kind = one_of(given, "kind", runs_shown.KINDS, "self-play")
        return runs_shown.one_game(text(given, "name"), iteration or 0, number or 0, kind, self.roster)

    # ---- training

    def options(self, spec: str, minutes: int | None) -> dict[str, Any]:
        """Return what can be trained, or what a training of a game can choose.

        minutes: its limit, None: without one.
        """
        from games.titles import titled
        from plugins.page import runs_shown
        from plugins.page.home import in_languages

        if spec:
            return runs_shown.options(self._trained(spec), minutes)
        found = []
        for one in titled(list(dict.fromkeys([*self.roster.named, *self._offered()]))):
            found.append({"spec": one, "name": in_languages(self.roster.find(one))})
        return {"games": found}

    def _trained(self, spec: str) -> str:
        """Return the name of a game to train, as it was given: a range of sizes stays one."""
        self.game_named(spec)
        named = [each for each in self.roster.named if self.roster.find(each).spec == self.game_named(spec).spec]
        return named[0] if named else spec

    def train(self, given: dict[str, Any]) -> dict[str, Any]:
        """Start a training, or resume one."""
        from plugins.page import runs_shown

        spec, resume = self._trained(text(given, "game")), given.get("resume")
        if resume is not None:
            spec, arguments = runs_shown.resumed(text(given, "resume"), spec, self.roster)
        else:
            preset = one_of(given, "preset", PRESETS)
            arguments = runs_shown.train_arguments(preset, fields.number(given, "minutes", 1, MOST_MINUTES))
        if self.trainer.running(spec):
            raise Busy(f"{spec} is being trained already: stop that first")
        self.trainer.start(spec, arguments)
        return {"ok": True}

    def stop(self, given: dict[str, Any]) -> dict[str, Any]:
        """Let a training that the page started end at its next commit."""
        spec = text(given, "game")
        if not self.trainer.running(spec):
            raise Busy(f"expected a training that this page started, got {spec[:60]!r}")
        self.trainer.stop(spec)
        return {"ok": True}


def _side(given: Mapping[str, Any]) -> int:
    side = whole(given, "player", -1, 1)
    if side not in (1, -1):
        raise UserError("player: expected 1 or -1")
    return side


def _player(name: str, label: str) -> dict[str, Any]:
    from plugins.page.web_players import budget, budgets

    return {"name": name, "label": label, "takes": budgets(name) or None, "usual": budget(name)}


def _view_page(view: str) -> bytes:
    with LOADING:
        from plugins.page.view_files import view_page

    return view_page(view).encode()


def _policy_of(page: bytes) -> str:
    """Return the policy that a page brings, and that it may stand in no frame, which only a header can say."""
    head = page[:20_000].decode(errors="replace")
    found = head.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    return f"{found}; frame-ancestors 'none'"


# ---- languages and faults


def _language_of(request: Request, given: Any) -> str:
    return given if given in LANGUAGES else of_browser(request.headers.get("accept-language", ""))


@contextmanager
def _language(request: Request, given: Any) -> Iterator[None]:
    """Do something in the language of a request."""
    token = chosen.set(_language_of(request, given if isinstance(given, str) else None))
    try:
        yield
    finally:
        chosen.reset(token)


def _status(error: Exception) -> int:
    from plugins.page.feeds import TooMany

    for kind, status in ((HTTPException, 0), (TooMany, 429), (Busy, 409), (UserError, 400), (LookupError, 404)):
        if isinstance(error, kind):
            return status or int(getattr(error, "status_code", 400))
    return 500


def _said(error: Exception) -> Response:
    """Return the answer to a fault: one line."""
    if isinstance(error, HTTPException):
        words = str(error.detail)
    elif isinstance(error, UserError):
        words = str(error).splitlines()[0] if str(error) else "that is impossible"
    else:
        words = "there is no such thing here"
    return JSONResponse({"error": words}, _status(error))


async def _fault(request: Request, error: Exception) -> Response:
    return _said(error)


async def _failed(request: Request, error: Exception) -> Response:
    """Answer a fault of ours; uvicorn's log shows it."""
    return JSONResponse({"error": "the server failed; see its terminal"}, 500)


