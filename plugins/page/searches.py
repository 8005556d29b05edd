"""What the server searches for pages: moves of players that no browser can play, and positions looked into.

Each search has a tree of its own, begins empty, and ends when its page is closed, stops it or begins another one.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import numpy as np

from agent import Agent
from config import UserError
from game import Game, GameState
from games.line_of_moves import after_moves, played, ready, starting_at
from interface.side_names import has_points
from players.rollout import RolloutPlayer
from plugins.engines.snapshot import snapshot
from plugins.engines.territory import Territory
from plugins.page.feeds import TooMany
from plugins.page.pools import Pools, within
from plugins.page.preparing import Preparations
from plugins.page.true_values import true_scores
from plugins.page.web_players import SECONDS, Roster, choose, found, look, tree_of
from plugins.pictures.board_grid import grid_of
from search.branches import branches

WAITING = 32
"""Searches that are open at once, those that wait for a thread among them."""
LINES = 8
"""Moves whose main line is in an opinion."""
AT_ONCE = "random", "greedy"
"""Players that need no search."""
EVERY = 0.25
"""Seconds from one look at whether a page has gone to the next."""
PROVEN = {"": None, "won": 1, "lost": -1, "drawn": 0}


class Searches:
    """The searches of all pages."""

    def __init__(self, roster: Roster, pools: Pools, preparing: Preparations) -> None:
        self._roster, self._pools, self._preparing = roster, pools, preparing
        self._open: dict[str, threading.Event] = {}
        """{page: what stops its search}"""

    @property
    def count(self) -> int:
        """The number of open searches."""
        return len(self._open)

    def begin(self, tab: str, work: Work, gone: Callable[[], Any]) -> AsyncIterator[str]:
        """Return the lines of a search's answer. Raises `TooMany` where there are WAITING searches already.

        tab: the page, whose search before this one ends. gone: returns whether the page has closed the answer.
        """
        if (before := self._open.pop(tab, None)) is not None:
            before.set()
        if self.count >= WAITING:
            raise TooMany(f"expected at most {WAITING} searches at once, got one more")
        stop = self._open[tab] = threading.Event()
        return self._lines(tab, stop, work, gone)

    async def _lines(
        self, tab: str, stop: threading.Event, work: Work, gone: Callable[[], Any]
    ) -> AsyncIterator[str]:
        shown: list[dict[str, Any]] = []  # at most one: a slow page misses what came between
        try:
            if work.player not in AT_ONCE:
                async for words in self._prepared(work.game.spec, gone):
                    yield _line({"preparing": words})
            task = asyncio.ensure_future(within(self._pools.searching, lambda: work.search(stop.is_set, shown)))
            while not task.done():
                await asyncio.wait({task}, timeout=EVERY)
                if not task.done() and await gone():
                    stop.set()
                if shown and not task.done():
                    yield _line({"progress": shown.pop()})
            yield _line(task.result())
        except UserError as error:
            yield _line({"error": str(error).splitlines()[0]})
        finally:
            stop.set()
            if self._open.get(tab) is stop:
                del self._open[tab]

    async def _prepared(self, spec: str, gone: Callable[[], Any]) -> AsyncIterator[str]:
        """Yield how far a game's code is compiled, until it is."""
        process = await within(self._pools.reading, lambda: self._preparing.begin(spec))
        while process is not None and not process.done.is_set() and not await gone():
            yield str(process)
            await asyncio.sleep(2 * EVERY)

    def close(self) -> None:
        """End all searches."""
        for stop in self._open.values():
            stop.set()


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"


class Work(ABC):
    """A search that a page requested."""

    def __init__(self, roster: Roster, game: Game, moves: list[int], player: str) -> None:
        self.roster, self.game, self.moves, self.player = roster, game, moves, player

    @abstractmethod
    def search(self, stop: Callable[[], bool], shown: list[dict[str, Any]]) -> dict[str, Any]:
        """Search in this thread; put what is found on the way into `shown`, instead of what is there."""


class MoveWork(Work):
    """A player's move."""

    def __init__(self, roster: Roster, game: Game, moves: list[int], player: str, level: str) -> None:
        """level: the player's budget, see `web_players.budget`."""
        super().__init__(roster, game, moves, player)
        self._level = level
        self._until = time.monotonic() + SECONDS

    def search(self, stop: Callable[[], bool], shown: list[dict[str, Any]]) -> dict[str, Any]:
        state = ready(self.game, after_moves(self.game, self.moves))
        if state.isEndGame:
            raise UserError("the game is over")
        player = self.roster.make(self.player, self.game, self._level)
        chosen = choose(player, self._level, state, self.moves, stop, until=self._until)
        if chosen is None:
            return {"stopped": True, "action": None, "opinion": None}
        opinion = None
        if isinstance(player, Agent) and player.MCTS is not None and len(player.MCTS):
            opinion = opinion_of(self.game, found(player, player.MCTS.root))
        return {"stopped": False, "action": int(chosen[0]), "value": chosen[1], "opinion": opinion}


class LookWork(Work):
    """A search whose numbers are shown."""

    def __init__(self, roster: Roster, game: Game, moves: list[int], player: str, sims: int) -> None:
        super().__init__(roster, game, moves, player)
        self._sims = sims

    def search(self, stop: Callable[[], bool], shown: list[dict[str, Any]]) -> dict[str, Any]:
        state = ready(self.game, after_moves(self.game, self.moves))
        if state.isEndGame:
            raise UserError("the game is over")
        analyst = self.roster.analyst(self.player, self.game, self._sims)
        until = time.monotonic() + SECONDS

        def watch(values: dict[str, Any]) -> None:
            shown[:] = [self._shown(analyst, values)]

        over = look(analyst, state, self._sims, stop=lambda: stop() or time.monotonic() > until, watch=watch)
        answer = self._shown(analyst, over)
        answer["opinion"] |= _territory(analyst, self.game, state)
        return answer | {"stopped": stop()}

    def _shown(self, analyst: Agent | RolloutPlayer, values: dict[str, Any]) -> dict[str, Any]:
        tree = tree_of(analyst)
        opinion = opinion_of(self.game, values) | {"tree": branches(tree.forest) if tree is not None else []}
        return {"opinion": opinion, "visits": values["simulations"]}


def opinion_of(game: Game, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `explain.describe`'s values as the engine of the page of one file has them, a number for each action."""
    size, moves = game.action_size, values["moves"]
    visits, priors = [0] * size, [0.0] * size
    q: list[float | None] = [None] * size
    v: list[float | None] = [None] * size
    proven: list[int | None] = [None] * size
    for move in moves:
        action = move["action"]
        visits[action], priors[action] = int(move["N"]), float(move["P"])
        q[action], v[action], proven[action] = _number(move["Q"]), _number(move["V"]), PROVEN[move["proven"]]
    lines = {move["action"]: [game.parse_move(name) for name in move["pv"]] for move in moves[:LINES] if move["N"]}
    best = moves[0]["action"] if moves else -1
    return {
        "visits": visits,
        "priors": priors,
        "q": q,
        "v": v,
        "proven": proven,
        "value": _number(values["search_value"]),
        "raw": _number(values["network_value"]),
        "sims": int(values["simulations"]),
        "proof": PROVEN[values["proven"]],
        "best": best,
        "line": lines.get(best, []),
        "lines": lines,
    }


def _number(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _territory(analyst: Agent | RolloutPlayer, game: Game, state: GameState) -> dict[str, Any]:
    """Return lead and owned (by point, 1 for the first player, -1 for the other), where the network says them."""
    if not isinstance(analyst, Agent) or analyst.model is None or not game.scored_by_area or analyst.MCTS is None:
        return {}
    territory = Territory(analyst, game)
    if not territory.by_network:
        return {}
    owned = territory.after(state, snapshot(analyst.MCTS))[0]
    return {"lead": float(territory.score(owned, state)), "owned": [round(float(o), 3) for o in owned.ravel()]}


# ---- positions


def position_of(game: Game, state: GameState, last: int = -1) -> dict[str, Any]:
    """Return a position as the page's engine has it. last: the move that led to it."""
    grid = grid_of(state)
    player, over = int(state.playerTurn), bool(state.isEndGame)
    score = None
    if has_points(game, state):
        own, other = state.score
        score = [float(own), float(other)] if player == 1 else [float(other), float(own)]
    found: dict[str, Any] = {
        "cells": [int(cell) for row in grid.cells for cell in row] if grid is not None else [],
        "player": player,
        "legal": [] if over else [int(action) for action in state.allowedActions],
        "over": over,
        "result": _sign(state.value * player) if over else None,
        "last": last,
        "score": score,
    }
    if grid is None:
        found["text"] = state.render()
    owners = state.owners if over and game.scored_by_area else None
    if owners is not None:
        found["owners"] = [int(owner) for owner in np.asarray(owners).ravel()]
    return found


def _sign(value: float) -> int:
    return int(value > 0) - int(value < 0)


def follow(game: Game, moves: list[int], first: int) -> dict[str, Any]:
    """Return the positions after `first` moves and each further one, and the number of the move that is not legal."""
    state, positions = game.start(), []
    if first == 0:
        positions.append(position_of(game, state))
    for number, action in enumerate(moves):
        try:
            state = played(game, state, action)
        except UserError:
            return {"positions": positions, "illegal": number}
        if number + 1 >= first:
            positions.append(position_of(game, state, action))
    return {"positions": positions, "illegal": None}


def set_up(game: Game, cells: list[int], player: int) -> GameState | None:
    """Return the position with these stones, None if there is none."""
    rows, columns = game.grid_shape
    if len(cells) != rows * columns:
        return None
    try:
        return game.set_up(np.array(cells, np.int8).reshape(rows, columns), player)
    except UserError:
        return None


def begun_with(game: Game, setup: Mapping[str, Any] | None) -> Game:
    """Return the game, with another first position where one was set up; raise `UserError` if that is none."""
    if setup is None:
        return game
    state = set_up(game, setup["cells"], setup["player"])
    if state is None:
        raise UserError("there is no such position in this game")
    return starting_at(game, state)


def exact(game: Game, moves: list[int]) -> dict[str, Any]:
    """Return the exact result of each move (1, 0, -1) and the plies to the end, where a solver knows them."""
    state = after_moves(game, moves)
    scores = None if state.isEndGame else true_scores(game, state)
    if scores is None:
        return {"values": None, "plies": None}
    values, plies = scores
    return {"values": values, "plies": plies}


