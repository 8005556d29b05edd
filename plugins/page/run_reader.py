"""Readings of a run at work: its phase, curves, games, log. Nothing is written, no lock is taken."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import games
from config import Config, UserError
from evaluation.rating import ANCHOR, rated_versions, wilson
from game import Game
from interface.metric_lines import finite
from languages.translate import tr
from plugins.page.charts import Point
from storage.game_files import Record
from storage.game_record import IMPORTED, GameRecord
from storage.run_folders import game_folder, read_config
from storage.run_store import STAGES, Store, game_of_row
from storage.sizes_played import SizesPlayed
from system import processes
from system.reading import LINES_BYTES, TEXT_BYTES, open_regular, read_limited

LINES_OF_LOG = 200
LATEST = 3
"""A run's further iterations are expected to take the mean time of this many latest ones."""
MOST_LISTED = 2000
"""Games in a list of all iterations."""
TEXTS = "self-play", "imported"
"""Kinds of stored games."""


class Standing(NamedTuple):
    """The state of a run."""

    finished: bool
    process: int | None
    """The process that works on it."""
    iteration: int
    stage: str
    share: float | None
    """Fraction of the stage that is done; None if unknown."""
    seconds_left: float | None
    games: int
    versions: int
    best: int


@contextmanager
def readable(folder: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn the errors of a damaged run into a `UserError` that names it; `more`: further errors to expect."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (sqlite3.Error, UserError, *more)):
            raise
        reason = str(error).partition("\n")[0]
        raise UserError(f"{folder.parent.name}/{folder.name}: this run cannot be read ({reason})") from None


@contextmanager
def reading(folder: Path) -> Iterator[Store]:
    """Open a run's database for reading; raise `UserError` if it is damaged, also later in the block."""
    with readable(folder, ValueError, TypeError, LookupError):
        store = Store(folder / "run.db", read_only=True)
        try:
            yield store
        finally:
            store.close()


def settings(folder: Path) -> Config:
    """Return the settings of a run; raise `UserError` when they cannot be read."""
    with readable(folder):
        return read_config(folder)


def game_spec(folder: Path, named: tuple[str, ...]) -> str:
    """Return the game of a run; raise `UserError` for one that must not be made.

    Making some games runs or opens a file (see `games.make`), and config.json may come from anybody: such a game must
    be among those `named` at the command line, and any game must be the one that the folder is named after.
    """
    spec = settings(folder).game
    with readable(folder):
        if game_folder(spec) != folder.parent.name:
            raise UserError(f"expected a game of {folder.parent.name}, got {spec[:60]!r}")
        if spec not in named and (".py" in spec or spec.startswith("open_spiel:")):
            _made(spec)
    return spec


def standing(folder: Path) -> Standing:
    """Return the state of a run; raise `UserError` when it cannot be read."""
    config = settings(folder)
    with reading(folder) as store:
        done = store.iterations_done()
        now = done + 1
        stages = set(store.finished(now))
        finished = store.get("finished") == "yes"
        versions = store.versions()
        played = sum(index < IMPORTED for index in store.game_indices(now))
        seconds = float(store.get("seconds", "0") or 0)
        taken = [line["seconds"] for line in finite(store.lines(max(done - LATEST, 0)), "seconds")]
        facts = store.best(), store.count_games()
    stage = next((name for name in STAGES if name not in stages), STAGES[-1])
    share = min(played / config.episodes, 1.0) if stage == "self-play" else None
    left = None if finished else time_left(config, done, seconds, taken)
    number = versions[-1][0] if versions else 0
    return Standing(finished, owner(folder), now, stage, share, left, facts[1], number, facts[0])


def time_left(config: Config, done: int, seconds: float, taken: list[float]) -> float | None:
    """Return the seconds of work a run has to go; None before its first iteration is done, if it has no time limit.

    done, seconds: its iterations and its seconds so far; taken: the seconds of its latest iterations, whose mean the
    further ones are expected to take.
    """
    if not done or not taken:
        return max(60 * config.minutes - seconds, 0.0) if config.minutes else None
    left = (config.iterations - done) * sum(taken) / len(taken)
    return max(0.0, min(left, 60 * config.minutes - seconds) if config.minutes else left)


def owner(folder: Path) -> int | None:
    """Return the process that works on a run, read from the lock's file: the lock itself stays untouched."""
    try:
        process = int(read_limited(folder / "lock", TEXT_BYTES).strip() or 0)
        if processes.exists(process) is False:
            return None
    except (OSError, ValueError, OverflowError):
        return None
    try:
        words = processes.command_of(process)
        later = processes.started(process) > (folder / "lock").stat().st_mtime + 5  # another process has the number now
    except OSError:  # another system
        return process or None
    return process if b"python" in words and not later and process != os.getpid() else None


def metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the complete lines of metrics.jsonl; one that is being written is left for later."""
    try:
        text = read_limited(folder / "metrics.jsonl", LINES_BYTES).decode(errors="replace")
    except OSError:
        return []
    lines = []
    for line in text.split("\n"):
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict) and isinstance(values.get("iteration"), int):
            lines.append(values)
    return lines


def series(lines: list[dict[str, Any]], key: str, *, factor: float = 1.0) -> list[Point]:
    """Return a number of each iteration that has it."""
    return [Point(m["iteration"], factor * m[key]) for m in finite(lines, key)]


def kept_points(lines: list[dict[str, Any]], key: str) -> list[Point]:
    """Return the share of solved positions whose value the move keeps, in percent, with its 95 % interval (Wilson).

    When all possible positions were measured, nothing is left to chance, and there is no interval.
    """
    points = []
    for point in series([m for m in lines if m.get("score_positions")], key):
        line = next(m for m in lines if m["iteration"] == point.x)
        if line.get("score_whole"):
            points.append(Point(point.x, 100 * point.y))
            continue
        low, high = wilson(point.y, line["score_positions"])
        points.append(Point(point.x, 100 * point.y, 100 * low, 100 * high))
    return points


def strength_points(lines: list[dict[str, Any]]) -> tuple[list[Point], str]:
    """Return (Elo of each version that played, with its 95 % interval; the player at Elo 0); promotions are noted.

    They are those of `python main.py curves`: `rating.league` rates all versions and fixed opponents of a run together.
    """
    versions, ratings = rated_versions(lines)
    points: list[Point] = []
    for m, (elo, error, _) in versions:
        note = "promoted" if m.get("tournament_promoted") else ""
        points.append(Point(m["iteration"], elo, elo - error, elo + error, note))
    return points, ANCHOR if ANCHOR in ratings else "version 0"


def log_tail(folder: Path, lines: int = LINES_OF_LOG) -> str:
    """Return the end of the run's main log."""
    try:
        with open_regular(folder / "logs" / "logger_main.log") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 200 * lines))
            return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
    except OSError:
        return ""


# ---- games


class Stored(NamedTuple):
    """A stored game of a run."""

    record: Record
    values: dict[int, float]
    """{ply: value for the player who began, from the search of that move}."""


@lru_cache(maxsize=8)
def _made(spec: str) -> Any:
    return games.make(spec, typed=False)


def _game(folder: Path, named: tuple[str, ...]) -> Any:
    spec = game_spec(folder, named)
    return games.make(spec) if spec in named else _made(spec)  # a file of rules may have changed


def _sizes(store: Store, game: Game) -> SizesPlayed:
    return SizesPlayed(game, store.rows("stages") if game.sizes else ())


def stored_game(folder: Path, iteration: int, index: int, *, named: tuple[str, ...] = ()) -> Stored:
    """Return a game of self-play; raise `UserError` when it is not there. named: see `game_spec`."""
    game = _game(folder, named)
    with reading(folder) as store:
        for record in store.games_of(iteration):
            if record.index == index:
                return _stored(_sizes(store, game).game(iteration, index), iteration, record)
    raise UserError(f"expected a game of iteration {iteration}, got number {index}")


def newest_game(folder: Path, *, named: tuple[str, ...] = ()) -> Stored | None:
    """Return the self-play game that was kept last. named: see `game_spec`."""
    game = _game(folder, named)
    with reading(folder) as store:
        found = store.newest_game()
        return _stored(_sizes(store, game).game(found[0], found[1].index), *found) if found else None


def _stored(game: Game, iteration: int, record: GameRecord) -> Stored:
    actions = record.moves.tolist()
    state, noted = game.start(), {}
    searched = False  # the moves of a random opening are not searched
    for ply, (action, value) in enumerate(zip(actions, record.values, strict=True)):
        searched = searched or value != 0 or bool(record.visits[ply].any())
        if searched and math.isfinite(value):
            noted[ply] = float(value) * state.playerTurn
        state = state.takeAction(action)[0]
    names = f"iteration {iteration}", f"game {record.index}"
    return Stored(Record(game, actions, record.result, names), noted)


def match_game(folder: Path, iteration: int, index: int, *, named: tuple[str, ...] = ()) -> Stored:
    """Return a game of a tournament; raise `UserError` when it is not there. named: see `game_spec`."""
    game = _game(folder, named)
    with reading(folder) as store:
        for row in store.matches_of(iteration):
            if row[0] == index:
                return _match(_sizes(store, game).match(iteration), row)
    raise UserError(f"expected a game of the tournament of iteration {iteration}, got number {index}")


def _match(game: Game, row: tuple[Any, ...]) -> Stored:
    _, current, best, began, score, moves = row
    names = (f"version {current}", f"version {best}") if began else (f"version {best}", f"version {current}")
    result = 2 * score - 1 if began else 1 - 2 * score
    actions = [game.parse_move(name) for name in moves.split()]
    return Stored(Record(game, actions, result, names), {})


class Listed(NamedTuple):
    """A stored game in a list."""

    number: int
    who: str
    result: float | None
    """For the player who began; None for a game that was left."""
    moves: list[int]
    iteration: int
    versions: tuple[int, ...]
    """The versions that played it."""
    board: Game | None = None
    """The game on the board that it was played on, in a run of several sizes another than the run's."""
    person: int = 0
    """The person's side, 1 or -1, in the person's own game against a machine."""


def list_games(folder: Path, iteration: int, kind: str, *, named: tuple[str, ...] = ()) -> tuple[Game, list[Listed]]:
    """Return (the game, the games of an iteration, those played first first).

    iteration: 0 for those of all, the newest MOST_LISTED, newest first. kind: "self-play" or "tournament". named: see
    `game_spec`.
    """
    game = _game(folder, named)
    rest, value = ("WHERE iteration = ? ORDER BY idx", iteration) if iteration else ("ORDER BY rowid DESC LIMIT ?",
                                                                                      MOST_LISTED)  # fmt: skip
    with reading(folder) as store:
        sizes = _sizes(store, game)
        if kind == "self-play":
            return game, [_of_self_play(sizes, row) for row in store.rows("games", rest, (value,)) if row[0] > 0]
        return game, [_of_tournament(sizes.match(row[0]), row) for row in store.rows("matches", rest, (value,))]


def _of_self_play(sizes: SizesPlayed, row: tuple[Any, ...]) -> Listed:
    record, game = game_of_row(row), sizes.game(row[0], row[1])
    who = "self-play" if record.index < IMPORTED else "imported"
    return Listed(record.index, who, record.result, record.moves.tolist(), int(row[0]), (int(row[2]),), game)


def _of_tournament(game: Game, row: tuple[Any, ...]) -> Listed:
    iteration, found = int(row[0]), _match(game, (row[1], row[2], row[3], *row[5:])).record
    who = tr("{first} began, against {second}", first=found.players[0], second=found.players[1])
    return Listed(int(row[1]), who, found.result or 0.0, found.moves, iteration, (int(row[2]), int(row[3])), game)


def iterations(folder: Path) -> list[int]:
    """Return the iterations that have games, newest first; raise `UserError` when they cannot be read."""
    with reading(folder) as store:
        return sorted((i for i in store.game_counts() if i > 0), reverse=True)
