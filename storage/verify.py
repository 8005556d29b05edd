"""Check of a run for corruption: every row and file is read, every stored game replayed by the rules."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from config import UserError
from game import Game
from games.own import digest
from storage.atomic_files import DamagedData, read_file, sha256
from storage.checkpoints import optimizer_file, path_of
from storage.consistency import inconsistencies, stage_fault, version_fault
from storage.game_exchange import fault
from storage.run_folders import game_of, read_config, settings_fault
from storage.run_store import Store, game_of_row
from storage.sizes_played import SizesPlayed


class RunReport(NamedTuple):
    """The counts of what was checked, and the damage found."""

    games: int
    matches: int
    versions: int
    iterations: int
    state: str
    """A digest of all that the run holds, the same for two runs that did the same; "" when it is damaged."""
    damage: list[str]
    """One line each; empty when there is none."""
    backend: str = ""
    """The Keras back ends that trained it, e.g. "tensorflow, jax from version 4"; "" if it does not say."""
    mixed: tuple[str, ...] = ()
    """The classes of processors whose games it has, where a cluster had several: they add up in other orders."""
    rules_changed: bool = False
    """Whether your own game has other files than when the run began: its games are checked by the new rules."""


def verify(folder: Path) -> RunReport:
    """Check a run as it is at one moment, even while it is at work; nothing is written."""
    try:
        game = game_of(folder, read_config(folder))
        store = Store(folder / "run.db", read_only=True)
    except UserError as error:
        return RunReport(0, 0, 0, 0, "", str(error).splitlines())
    damage: list[str] = []
    try:
        with store.reading():
            damage += [f"run.db: {line}" for line in store.mark_faults()]
            damage += [f"run.db: {line}" for line in inconsistencies(store)]
            damage += settings_fault(folder, store.get("config")).splitlines()
            damage += _file_faults(folder, store)  # early: a run at work drops the states of old optimizers
            damage += [f"run.db: {line}" for line in _row_faults(store, game)]
            sizes = store.sizes()
            state = "" if damage else store.state_digest()
            return RunReport(
                store.count_games(), sizes["matches"], len(store.versions()), store.iterations_done(), state, damage,
                str(store.get("backend") or ""), tuple(map(str, json.loads(store.get("processors") or "[]"))),
                rules_changed(store, game),
            )  # fmt: skip
    except (sqlite3.Error, DamagedData, ValueError, TypeError, LookupError) as error:
        line = str(error) if isinstance(error, DamagedData) else f"run.db: cannot be read ({error})"
        return RunReport(0, 0, 0, 0, "", [*damage, line])
    finally:
        store.close()


def _row_faults(store: Store, game: Game) -> Iterator[str]:
    """Yield the faults of rows: not as they were written, or a game that the rules do not allow."""
    sizes = SizesPlayed(game, [row for row, right in store.checked("stages") if right])
    for table, rest in (("meta", ""), ("versions", ""), ("stages", ""), ("games", "ORDER BY iteration, idx"),
                        ("matches", "ORDER BY iteration, idx")):  # fmt: skip
        for row, right in store.checked(table, rest):
            wrong = row_fault(sizes, table, row) if right else "is not what the run wrote"
            if wrong:
                yield f"{_named(table, row)}: {wrong}"


def row_fault(sizes: SizesPlayed, table: str, row: tuple) -> str:  # type: ignore[type-arg]
    """Return the fault of a row whose checksum is right, "" for none: a file from others may hold anything."""
    if table in ("games", "matches") and [type(value) for value in row[:2]] != [int, int]:
        return "has no numbers of an iteration and of a game"
    if table == "games":
        return game_fault(sizes, row)
    if table == "matches":
        return match_fault(sizes, row)
    if table == "versions":
        return version_fault(row)
    return stage_fault(row) if table == "stages" else ""


def rules_changed(store: Store, game: Game) -> bool:
    """Return whether your own game has other files than when the run began."""
    return bool(store.get("rules", "") != digest(game))


def require_games_by_rules(store: Store, game: Game, name: str) -> None:
    """Raise `UserError` if one of a run's stored games is none by the rules, which have changed since it began."""
    sizes = SizesPlayed(game, store.rows("stages"))
    for table in ("games", "matches"):
        for row, right in store.checked(table, "ORDER BY iteration, idx"):
            if right and (wrong := row_fault(sizes, table, row)):
                raise UserError(
                    f"{name}: the rules of {game.spec} have changed since this run began, and {_named(table, row)} "
                    f"is none by them: {wrong}; put the files back as they were, or begin another run with --new"
                )


def _named(table: str, row: tuple) -> str:  # type: ignore[type-arg]
    kind = {"games": "game", "matches": "match game"}.get(table)
    return f"{kind} {row[1]} of iteration {row[0]}" if kind else f"{table} {row[0]}"


def game_fault(sizes: SizesPlayed, row: tuple) -> str:  # type: ignore[type-arg]
    """Return the fault of a row of games by the rules, "" for none."""
    try:
        return fault(sizes.game(row[0], row[1]), game_of_row(row))
    except (ValueError, TypeError, UserError) as error:
        return f"cannot be read ({error})"


def match_fault(sizes: SizesPlayed, row: tuple) -> str:  # type: ignore[type-arg]
    """Return the fault of a row of matches by the rules, "" for none."""
    iteration, _, _, _, opening, began, score, text = row
    try:
        game = sizes.match(iteration)
    except UserError as error:
        return str(error)
    state, illegal = game.start(), ""
    if type(began) is not int or type(score) not in (int, float):
        return "does not name who began and the score"
    try:
        moves = game.parse_moves(text)
        if game.parse_moves(opening) != moves[: len(opening.split())]:
            return "does not begin with its opening"
        for ply, action in enumerate(moves):
            if action not in state.allowedActions:
                illegal = f"move {ply + 1} is illegal"
                break
            state = state.takeAction(action)[0]
    except UserError as error:
        return str(error)
    except (TypeError, AttributeError) as error:  # SQLite stores values of any type in any column
        return f"cannot be read ({error})"
    if illegal or not state.isEndGame:
        return illegal or "is not over after its last move"
    result = state.value * state.playerTurn * (1 if began else -1)
    right = 0.5 + (result > 0) / 2 - (result < 0) / 2
    return "" if right == score else f"has the score {score:g}, by the rules {right:g}"


def _file_faults(folder: Path, store: Store) -> list[str]:
    """Return the faults of the versions' files, and of the optimizer states that are kept."""
    found = []
    versions = [row for row, right in store.checked("versions", "ORDER BY version") if right and not version_fault(row)]
    wanted = [(row[2], row[3]) for row in versions]
    wanted += [(optimizer_file(row[0]), row[5]) for row in versions[-1:] if len(row) > 5 and row[5]]
    for name, content in wanted:
        try:
            if sha256(read_file(path_of(folder, name))) != content:
                found.append(f"models/{name}: is not what the run wrote")
        except DamagedData:
            found.append(f"models/{name}: is missing or cannot be read")
    return found
