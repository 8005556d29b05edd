"""Queries of KataGo's analysis protocol: one JSON object a line, read into the positions that are to be analysed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import games
from config import UserError
from game import Game, GameState
from games.boards import GO_LETTERS
from games.parameters import values_of
from plugins.engines import vertices
from plugins.engines.position import Position, set_up
from plugins.engines.rule_sets import RuleSet, notes_of, read_rules
from plugins.engines.serving import changed

MOST_MOVES = 1000
MOST_VISITS = 10**9
USUAL_KOMI = 7.5
"""That of a query that names none, on a board on which no network was trained; as in KataGo for area scoring."""
SIDES = {"B": 1, "W": -1}
KNOWN = {
    "id", "moves", "initialStones", "initialPlayer", "rules", "komi", "boardXSize", "boardYSize",
    "analyzeTurns", "maxVisits", "includeOwnership", "includeMovesOwnership", "includePolicy", "includePVVisits",
    "avoidMoves", "allowMoves", "overrideSettings", "reportDuringSearchEvery", "priority", "priorities",
}  # fmt: skip
PERSPECTIVES = ("BLACK", "WHITE", "SIDETOMOVE")


class BadField(Exception):
    """A field of a query that cannot be used: (field, what is wrong)."""


class Turn(NamedTuple):
    """One position of a query."""

    number: int
    state: GameState
    priority: int
    allowed: frozenset[int] | None
    """The root's moves that may be searched; None = all."""


class Query(NamedTuple):
    """What is asked about a game."""

    id: str
    game: Game
    turns: list[Turn]
    visits: int
    every: float
    """Seconds between two reports on the way; infinite for none."""
    seconds: float
    flags: frozenset[str]
    perspective: str
    warnings: list[tuple[str, str]]
    """(field, text)"""


def read_query(
    values: dict[str, Any], base: Game, visits: int, learned: Callable[[Game], float | None] = lambda game: None
) -> Query:
    """Return a query; raise `BadField` naming the field that cannot be used. base: names the kind of Go.

    learned: the komi that the network for a game's board learned, None where there is none; it stands for one that is
    not given.
    """
    warnings = [(key, "Unexpected or unused field") for key in sorted(set(values) - KNOWN)[:20]]
    rules = _rules(values.get("rules"), warnings)
    game = _game(values, base, rules, learned, warnings)
    given = _moves(values.get("moves"), "moves")
    position = _begun(values, game, given, rules.bonus)
    positions, played = [], 0
    wanted = _turns(values, len(given))
    priorities = _priorities(values, len(wanted))
    for number in range(max(wanted) + 1):
        while played < number:
            _play(position, *given[played], played)
            played += 1
        if number in wanted:
            positions += [(number, _to_play(position, given, number, values))]
    settings = _settings(values, warnings)
    turns = [
        Turn(number, state, priorities[wanted.index(number)], _allowed(values, game, state, warnings))
        for number, state in positions
    ]
    flags = {key for key in KNOWN if key.startswith("include") and _flag(values, key)}
    return Query(
        values["id"], game, turns, _number(values, "maxVisits", 1, MOST_VISITS, visits),
        _real(values, "reportDuringSearchEvery", 0.001, 1e6, math.inf), settings.get("maxTime", math.inf),
        frozenset(flags), settings["reportAnalysisWinratesAs"], warnings,
    )  # fmt: skip


# ---- fields


def _number(values: dict[str, Any], key: str, low: int, high: int, usual: int | None) -> int:
    value = values.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadField(key, f"Must be an integer from {low} to {high}")
    return value


def _real(values: dict[str, Any], key: str, low: float, high: float, usual: float) -> float:
    value = values.get(key, usual)
    if key not in values:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadField(key, f"Must be a number from {low:g} to {high:g}")
    return float(value)


def _flag(values: dict[str, Any], key: str) -> bool:
    value = values.get(key, False)
    if not isinstance(value, bool):
        raise BadField(key, "Must be a boolean")
    return value


def _game(
    values: dict[str, Any], base: Game, rules: RuleSet, learned: Callable[[Game], float | None],
    warnings: list[tuple[str, str]],
) -> Game:
    columns = _number(values, "boardXSize", 2, len(GO_LETTERS), None)
    rows = _number(values, "boardYSize", 2, len(GO_LETTERS), None)
    if rows != columns:
        raise BadField("boardYSize", "The board must be square")
    try:
        if "komi" in values_of(base):
            komi = _real(values, "komi", -150, 150, min(USUAL_KOMI, rows * columns))
            game = changed(games.make(base.spec), size=rows, komi=komi, ko=rules.ko, suicide=rules.suicide)
            if "komi" not in values:
                known = learned(game)
                komi = komi if known is None else known
                game = changed(game, komi=komi)
                warnings.append(("komi", f"Not given: {komi:g} is used"))
            return game.longer()
        komi = _real(values, "komi", -150, 150, base.komi or 0.0)
        if rows != base.grid_shape[0] or komi != base.komi:
            raise UserError(f"{base.name} has {base.grid_shape[0]} lines and a komi of {base.komi or 0:g}")
    except UserError as error:
        field = "komi" if "komi" in str(error) else "boardXSize"
        raise BadField(field, str(error).splitlines()[0]) from None
    return base


def _rules(rules: Any, warnings: list[tuple[str, str]]) -> RuleSet:
    try:
        found = read_rules(rules)
    except UserError as error:
        raise BadField("rules", str(error)) from None
    warnings += [("rules", note) for note in notes_of(found)]
    return found


def _moves(value: Any, field: str) -> list[tuple[int, str]]:
    """Return [(player, name)] of a list of pairs."""
    if not isinstance(value, list) or len(value) > MOST_MOVES:
        raise BadField(field, f"Must be an array of at most {MOST_MOVES} pairs of a player and a location")
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)):
            raise BadField(field, "Must be an array of pairs of the form [player, location]")
        if pair[0].upper() not in SIDES:
            raise BadField(field, f"Could not parse player, expected B or W, got {pair[0][:20]!r}")
    return [(SIDES[player.upper()], name) for player, name in value]


def _action(game: Game, state: GameState, name: str, field: str) -> int:
    """Return the move of a location such as C4, pass, or (0,13) from the upper left."""
    match, (rows, columns) = re.fullmatch(r"\(([0-9]{1,2}),([0-9]{1,2})\)", name.strip()), game.grid_shape
    if match and int(match[1]) < columns and int(match[2]) < rows:
        return int(match[2]) * columns + int(match[1])
    try:
        return vertices.action(game, state, name.strip())
    except UserError:
        raise BadField(field, f"Could not parse location {name[:20]!r}") from None


def _begun(values: dict[str, Any], game: Game, moves: list[tuple[int, str]], bonus: str) -> Position:
    """Return the position before the first move."""
    start, board = game.start(), np.zeros(game.grid_shape, np.int8)
    for player, name in _moves(values.get("initialStones", []), "initialStones"):
        point = _action(game, start, name, "initialStones")
        if point >= board.size or board.flat[point]:
            raise BadField("initialStones", f"Could not place a stone on {name[:20]!r}")
        board.flat[point] = player
    try:
        return Position(set_up(game, board, _first(values, moves)), bonus)
    except UserError as error:
        raise BadField("initialStones", str(error).splitlines()[0]) from None


def _first(values: dict[str, Any], moves: list[tuple[int, str]]) -> int:
    """Return who is to move at first: as stated, else who moves; after a handicap White, as in KataGo."""
    player = values.get("initialPlayer")
    if player is None and moves:
        return moves[0][0]
    if player is None:
        black = [colour for colour, _ in _moves(values.get("initialStones", []), "initialStones")]
        return -1 if len(black) > 1 and min(black) == 1 else 1
    if not isinstance(player, str) or player.upper() not in SIDES:
        raise BadField("initialPlayer", 'Must be "B" or "W"')
    return SIDES[player.upper()]


def _play(position: Position, player: int, name: str, number: int) -> None:
    action = _action(position.game, position.state, name, "moves")
    try:
        position.play(player, action)
    except UserError:
        raise BadField("moves", f"Illegal move {number}: {name[:20]}") from None


def _to_play(position: Position, moves: list[tuple[int, str]], number: int, values: dict[str, Any]) -> GameState:
    """Return the position with the player to move who moves next in the query, else in turn; at first as stated."""
    turn = -moves[-1][0] if moves else 1
    if number < len(moves):
        turn = moves[number][0]
    if number == 0:
        turn = _first(values, moves)
    try:
        return position.turned_to(turn)
    except UserError:
        raise BadField("moves", f"The game is over after {number} moves") from None


def _turns(values: dict[str, Any], count: int) -> list[int]:
    turns = values.get("analyzeTurns", [count])
    whole = isinstance(turns, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in turns)
    if not whole or not turns or not 0 <= min(turns) <= max(turns) <= count:
        raise BadField("analyzeTurns", f"Must be an array of integers from 0 to {count}")
    return list(dict.fromkeys(turns))


def _priorities(values: dict[str, Any], count: int) -> list[int]:
    if "priorities" not in values:
        return [_number(values, "priority", -(2**31), 2**31, 0)] * count
    given = values["priorities"]
    if not isinstance(given, list) or len(given) != count or not all(type(n) is int for n in given):
        raise BadField("priorities", f"Must be an array of {count} integers, as many as analyzeTurns")
    return given


def _settings(values: dict[str, Any], warnings: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the settings of overrideSettings that are kept here."""
    given = values.get("overrideSettings", {})
    if not isinstance(given, dict):
        raise BadField("overrideSettings", "Must be an object")
    side = str(given.get("reportAnalysisWinratesAs", "BLACK")).upper()
    if side not in PERSPECTIVES:
        raise BadField("overrideSettings", f"reportAnalysisWinratesAs: must be one of {', '.join(PERSPECTIVES)}")
    found: dict[str, Any] = {"reportAnalysisWinratesAs": side}
    if "maxTime" in given:
        found["maxTime"] = _real(given, "maxTime", 0.001, 1e9, math.inf)
    if unused := sorted(key[:40] for key, value in given.items() if key not in (*found, "maxTime") and value):
        warnings.append(("overrideSettings", f"Unused settings: {', '.join(unused[:20])}"))
    return found


def _allowed(
    values: dict[str, Any], game: Game, state: GameState, warnings: list[tuple[str, str]]
) -> frozenset[int] | None:
    """Return the moves that avoidMoves and allowMoves leave at a position; None if they say nothing of its player."""
    legal = frozenset(state.allowedActions)
    left = legal
    for field in ("avoidMoves", "allowMoves"):
        dicts = values.get(field, [])
        if not isinstance(dicts, list) or not all(isinstance(d, dict) for d in dicts):
            raise BadField(field, "Must be an array of objects")
        for each in dicts:
            names, player = each.get("moves"), str(each.get("player", "")).upper()
            if not isinstance(names, list) or not all(isinstance(n, str) for n in names) or player not in SIDES:
                raise BadField(field, 'Must have a "player" B or W and "moves", an array of locations')
            if each.get("untilDepth") != 1 and (field, _DEPTH) not in warnings:
                warnings.append((field, _DEPTH))
            if SIDES[player] == state.playerTurn:
                named = {_action(game, state, name, field) for name in names}
                left = left & named if field == "allowMoves" else left - named
    if not left:
        raise BadField("avoidMoves", "No legal move is left")
    return None if left == legal else left


_DEPTH = "Moves are left out at the root only, as with untilDepth 1"
