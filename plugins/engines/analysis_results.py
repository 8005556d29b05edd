"""Results of analysis queries in KataGo's form, and the actions that are no queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from config import UserError
from game import Game, state_key
from plugins.engines.analysis_query import BadField, Query, read_query
from plugins.engines.analysis_search import Pool, Task
from plugins.engines.serving import PlayerSource
from plugins.engines.snapshot import Snapshot
from plugins.engines.thinking import policy
from plugins.engines.vertices import NameLine

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


class Program(Protocol):
    """The other program."""

    def say(self, values: dict[str, Any]) -> None: ...


class Analysis:
    """All that one program asks for."""

    def __init__(self, source: PlayerSource, base: Game, program: Program, *, visits: int, count: int) -> None:
        """Load the network. visits: of queries that name none; count: positions that are searched side by side."""
        if not base.scored_by_area:
            raise UserError(f"expected a game of Go for the analysis protocol, got {base.spec}")
        self._base, self._program, self._visits = base, program, visits
        self._source, self._pool = source, Pool(source, count)
        self._pool.warm(base)
        self._name = source.player(base).name
        self._noted: set[str] = set()

    @property
    def idle(self) -> bool:
        return self._pool.idle

    def ask(self, values: dict[str, Any]) -> None:
        """Take a query in, after its warnings; say what is wrong with it, if something is."""
        name = values["id"]
        try:
            query = read_query(values, self._base, self._visits, self._source.komi_for)
            notes = [*query.warnings, *self._new_notes(query, self._pool.add(query))]
        except BadField as error:
            field, text = error.args
            self._program.say({"error": text, "field": field, "id": name})
            return
        except UserError as error:
            self._program.say({"error": str(error).splitlines()[0][:300], "field": "boardXSize", "id": name})
            return
        for field, text in notes:
            self._program.say({"warning": text, "field": field, "id": name})

    def _new_notes(self, query: Query, note: str) -> list[tuple[str, str]]:
        """Return (field, text) of what the network does not know of a query's rules, each text once."""
        game, learned = query.game, self._source.komi
        found = [("komi" if learned != game.komi else "rules", note)] if note else []
        points = max(game.handicap_points(turn.state) for turn in query.turns)
        if points:
            text = f"White has {points:g} more for the handicap, of which the network, that learned komi"
            found.append(("rules", f"{text} {learned:g}, knows nothing"))
        found = [(field, text) for field, text in found if text not in self._noted]
        self._noted.update(text for _, text in found)
        return found

    def act(self, values: dict[str, Any]) -> None:
        """Do a special action and echo it."""
        action = values["action"]
        if action in ("terminate", "terminate_all"):
            self._terminate(values)
        elif action == "clear_cache":
            self._pool.clear_cache()
        elif action == "query_models":
            values = {**values, "models": [{"name": self._name, "internalName": self._base.spec}]}
        else:
            text = f"'action' field must be one of {', '.join(ACTIONS)}"
            self._program.say({"error": text, "field": "action", "id": values["id"]})
            return
        self._program.say(values)

    def _terminate(self, values: dict[str, Any]) -> None:
        wanted, turns = values.get("terminateId"), values.get("turnNumbers")
        if values["action"] == "terminate" and not isinstance(wanted, str):
            raise UserError('Requests to terminate must have a string "terminateId" field')
        if turns is not None and not (isinstance(turns, list) and all(type(n) is int for n in turns)):
            raise UserError("turnNumbers must be an array of integers")
        for task in self._pool.tasks():
            named = values["action"] == "terminate_all" or task.query.id == wanted
            if named and (turns is None or task.turn.number in turns):
                task.cancelled = True
        for task in self._pool.drop_cancelled():
            self._say_nothing(task)

    def step(self, stop: Callable[[], bool]) -> None:
        """Search for a while and write what is due."""
        for task, done in self._pool.step(stop):
            found = task.found
            if found is None or not found.moves:
                if done:
                    self._say_nothing(task)
                continue
            self._program.say(result(task, found, done))

    def _say_nothing(self, task: Task) -> None:
        known = {"id": task.query.id, "isDuringSearch": False, "noResults": True, "turnNumber": task.turn.number}
        self._program.say(known)


def result(task: Task, found: Snapshot, done: bool) -> dict[str, Any]:
    """Return what is known of a position, as KataGo says it."""
    query, group, state = task.query, task.group, task.turn.state
    game, names, side = query.game, NameLine(query.game, state), _side(query, found)
    territory = group.territory(game) if game.scored_by_area else None
    owned, after = territory.after(state, found) if territory is not None else (None, [])
    moves = []
    for order, move in enumerate(found.moves):
        winrate = _turned(move.winrate, side)
        info: dict[str, Any] = {
            "move": names(move.line[:1]), "visits": move.visits, "winrate": winrate, "utility": 2 * winrate - 1,
            "prior": move.prior, "lcb": _turned(move.lcb, side), "order": order, "pv": names.each(move.line),
        }  # fmt: skip
        if territory is not None:
            lead = territory.score(after[order], state) * found.player * side
            info |= {"scoreLead": lead, "scoreMean": lead}
        if "includePVVisits" in query.flags:
            info["pvVisits"] = list(move.line_visits)
        if "includeMovesOwnership" in query.flags and territory is not None:
            info["ownership"] = _board(after[order] * found.player * side)
        moves.append(info)
    root: dict[str, Any] = {
        "visits": found.visits, "winrate": _turned(found.winrate, side),
        "utility": 2 * _turned(found.winrate, side) - 1, "currentPlayer": "B" if found.player == 1 else "W",
        "thisHash": f"{state_key(game, state):016X}",
    }  # fmt: skip
    values: dict[str, Any] = {"id": query.id, "turnNumber": task.turn.number, "isDuringSearch": not done,
                              "moveInfos": moves, "rootInfo": root}  # fmt: skip
    if territory is not None and owned is not None:
        root["scoreLead"] = territory.score(owned, state) * found.player * side
        if "includeOwnership" in query.flags:
            values["ownership"] = _board(owned * found.player * side)
    if "includePolicy" in query.flags and (priors := policy(group.agent, state)) is not None:
        values["policy"] = [round(float(p), 8) for p in priors]
    return values


def _side(query: Query, found: Snapshot) -> int:
    """Return 1 if values are those of the player to move, -1 if they are the other's."""
    return {"BLACK": 1, "WHITE": -1}.get(query.perspective, found.player) * found.player


def _turned(winrate: float, side: int) -> float:
    return winrate if side == 1 else 1.0 - winrate


def _board(owned: np.ndarray) -> list[float]:
    return [round(float(value), 6) for value in owned.ravel()]
