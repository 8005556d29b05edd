"""Recovery of a damaged run into a new one: rows whose checksums are right, networks whose files are.

The damaged run is only read. What is missing in the new run is made again when it resumes: games by their numbers, the
newest version from the memory.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from config import Config, UserError, from_json, to_json
from game import Game
from games.own import digest
from storage.atomic_files import DamagedData, require_space, writing
from storage.checkpoints import content, optimizer_file
from storage.consistency import LOST, accepted_losses, version_fault
from storage.database import KEPT, TABLES, row_digest, schema_fault
from storage.game_record import IMPORTED
from storage.run_folders import (
    NOTHING,
    game_of,
    lock_folder,
    lock_new_folder,
    network_facts,
    read_config,
    settings_fault,
)
from storage.run_store import Store, evaluations_of
from storage.sizes_played import SIZES, SizesPlayed
from storage.sqlite_errors import connect
from storage.verify import row_fault
from system.reading import MODEL_BYTES, TEXT_BYTES, read_limited

Row = tuple[Any, ...]
PAGE = 4096
LEAST = 1 << 15
"""Row numbers that are tried in any case."""
TRIES = 200_000
"""Most failed reads of a table before the rest of it is given up."""
CARRIED = ("imports", "version0", "began_with", "backend", "processors", LOST)
"""Keys of meta whose values are kept, and do not follow from the rest."""
UNREADABLE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOTADB}


class Recovered(NamedTuple):
    """What was saved and what was lost."""

    run: str
    """Name of the new run."""
    games: int
    matches: int
    versions: int
    iterations: int
    lost: list[str]
    """One line for each loss; made again when the run resumes."""


def recover(folder: Path) -> Recovered:
    """Save the undamaged part of a run as a new run next to it; raise `DamagedData` if no network is left."""
    lock = lock_folder(folder)
    try:
        require_space(folder, 2 * sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()))
        for left in folder.parent.glob(f".recover-{folder.name}-*"):  # left by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        with (
            writing(folder.parent),
            tempfile.TemporaryDirectory(prefix=f".recover-{folder.name}-", dir=folder.parent) as place,  # has the space
        ):
            tables = _read_tables(folder, Path(place))
        lost: list[str] = []
        config, game = _settings(folder, tables, lost)
        lost += _unread(folder, tables) + _drop_wrong(tables, game)
        versions = _drop_versions(folder, tables, lost)
        _drop_stages(tables, lost)
        return _write(folder, config, game, tables, versions, lost)
    finally:
        lock.close()


# ---- reading what can be read


def require_recoverable(folder: Path) -> None:
    """Raise what `recover` raises where it finds no settings or no network; a run's games are not read."""
    try:
        with tempfile.TemporaryDirectory() as place:
            tables = _read_tables(folder, Path(place), ("meta", "versions"))
    except OSError:  # no room for the copy: not known, and to try costs nothing
        return
    _settings(folder, tables, [])
    rows = [row for row in tables["versions"] if not version_fault(row)]
    if all(content(folder, row[2], row[3]) is None for row in rows):
        raise _no_network(folder, rows)


def _no_network(folder: Path, rows: list[Row]) -> DamagedData:
    """Return the error for a run without an undamaged network; `rows`: of its versions."""
    read = "no network of the run is undamaged" if rows else "run.db names no network any more"
    return DamagedData(f"{folder}: {read}; {NOTHING}")


def _read_tables(folder: Path, place: Path, wanted: Iterable[str] = TABLES) -> dict[str, list[Row]]:
    """Return {table: rows whose checksum is right}, read from a copy, whose first page is replaced if it is damaged."""
    found: dict[str, dict[Any, Row]] = {table: {} for table in wanted}
    if not (folder / "run.db").is_file():
        raise DamagedData(f"{folder / 'run.db'}: expected the run's database, there is no such file; {NOTHING}")
    for attempt in ("as it is", "with a new first page", "without its log"):
        copy = place / f"{attempt}.db"
        shutil.copy(folder / "run.db", copy)
        if attempt != "without its log" and (folder / "run.db-wal").is_file():
            shutil.copy(folder / "run.db-wal", f"{copy}-wal")
        if attempt != "as it is":
            _renew_first_page(copy, place)
        for table, rows in _readable(copy, wanted).items():
            keys = 1 if table in ("meta", "versions") else 2
            for row in rows:
                found[table].setdefault(row[:keys], row)
        for path in place.glob(f"{attempt}.db*"):
            path.unlink()
        if attempt == "as it is" and all(found.values()):
            break
    return {table: [rows[key] for key in sorted(rows, key=_place)] for table, rows in found.items()}


def _place(key: Row) -> list[tuple[str, Any]]:
    """Return the sort key of rows, whatever the types of their keys: a file from others may hold any."""
    return [(type(value).__name__, value) for value in key]


def _renew_first_page(path: Path, place: Path) -> None:
    """Replace a damaged first page by that of an empty run: its tables begin at the same pages.

    Pages of tables that are missing, in a file that was cut, become zeros, or SQLite would read none.
    """
    fresh = place / "fresh" / "run.db"
    if not fresh.exists():
        fresh.parent.mkdir()
        store = Store(fresh, create=True)
        store.checkpoint()
        store.close()
    first = bytearray(read_limited(fresh, MODEL_BYTES)[:PAGE])
    first[24:28] = b"\xff\xff\xff\xff"  # differs from "version valid for": the size is then that of the file
    size = max(-(-path.stat().st_size // PAGE) * PAGE, fresh.stat().st_size)
    with open(path, "r+b") as file:
        file.write(first)
        file.truncate(size)


def _readable(path: Path, wanted: Iterable[str]) -> dict[str, list[Row]]:
    """Return the rows of a database whose checksums are right, table by table, around the damaged pages."""
    found: dict[str, list[Row]] = {}
    db = connect(path.as_uri())
    try:
        form = int(db.execute("PRAGMA user_version").fetchone()[0])
        if schema_fault(db, form):
            return {}
        for table in wanted:
            width = TABLES[table].split(", PRIMARY")[0].count(",") + 1
            rows = [row for row in _around_damage(db, table) if len(row) == width]
            found[table] = [row[:-1] for row in rows if row_digest(table, row[:-1]) == row[-1]]
    except sqlite3.Error:  # its first page is damaged
        pass
    finally:
        db.close()
    return found


def _around_damage(db: sqlite3.Connection, table: str) -> Iterator[Row]:
    """Yield the readable rows of a table; a range of rows that cannot be read is halved."""
    if table == "meta":  # it has no row numbers, and fits into a page
        with suppress(sqlite3.Error):
            yield from db.execute("SELECT * FROM meta").fetchall()
        return
    ranges, failed = [(0, _end(db, table))], 0
    while ranges and failed < TRIES:
        low, high = ranges.pop()
        try:
            yield from db.execute(f"SELECT * FROM {table} WHERE rowid BETWEEN ? AND ?", (low, high)).fetchall()
        except sqlite3.Error as error:
            failed += 1
            if (getattr(error, "sqlite_errorcode", 0) & 255) not in UNREADABLE:
                return
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


def _end(db: sqlite3.Connection, table: str) -> int:
    """Return a number beyond which no row can be read.

    Rows are numbered one after the other. Where the page of the last ones is damaged, all numbers beyond seem to exist
    and cannot be read. Eight numbers between a power of two and the next are tried, from the highest down.
    """
    for number in (eighth << k for k in range(31, 10, -1) for eighth in range(15, 7, -1)):
        with suppress(sqlite3.Error):
            db.execute(f"SELECT rowid FROM {table} WHERE rowid = ?", (number,)).fetchone()
            return 2 * number
    return LEAST


# ---- what goes together


def _settings(folder: Path, tables: dict[str, list[Row]], lost: list[str]) -> tuple[Config, Game]:
    """Return the settings of a run and its game, from run.db where config.json is damaged."""
    meta: dict[str, str] = dict(tables["meta"])
    kept = meta.get("config")
    try:
        if not settings_fault(folder, kept):
            config = read_config(folder)
            return config, game_of(folder, config)
        wrong = "has other settings than the run"
    except UserError:
        wrong = "cannot be read"
    try:
        config = from_json(kept or "", "run.db")
    except UserError:
        found = f"{folder / 'config.json'}: expected the settings of a run; neither it nor run.db has them"
        raise DamagedData(f"{found}; put them there, and the rest can be recovered") from None
    game = game_of(folder, config)
    lost.append(f"config.json: {wrong}; the settings in the database take its place")
    return config, game


def _unread(folder: Path, tables: dict[str, list[Row]]) -> list[str]:
    """Return the number of rows that cannot be read, as far as it is known."""
    try:
        mark = json.loads(read_limited(folder / "run.mark", TEXT_BYTES))
        return [f"{mark[t] - len(tables[t])} {t} cannot be read" for t in KEPT if len(tables[t]) < mark[t]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ["run.mark: cannot be read, so it is not known how many rows there were"]


def _drop_wrong(tables: dict[str, list[Row]], game: Game) -> list[str]:
    """Drop rows that have no meaning, and games that the rules do not allow; return a line for each."""
    lost, sizes = [], SizesPlayed(game, tables["stages"])
    for table in KEPT:
        for row in list(tables[table]):
            wrong = row_fault(sizes, table, row)
            if wrong:
                tables[table].remove(row)
                lost.append(f"{table} {row[:2]}: {wrong}")
    return lost


def _drop_versions(folder: Path, tables: dict[str, list[Row]], lost: list[str]) -> dict[str, bytes]:
    """Drop versions whose file is damaged, and all that followed from the newest; return {file: content}."""
    files: dict[str, bytes] = {}
    good: list[Row] = []
    for row in tables["versions"]:
        data = content(folder, row[2], row[3])
        if data is None:
            lost.append(f"version {row[0]}: {row[2]} is not what the run wrote")
        else:
            good.append(row)
            files[row[2]] = data
    if not good:
        raise _no_network(folder, tables["versions"])
    state = _state(folder, good[-1])
    if state is None and len(good) > 1 and _state(folder, good[-2]) is not None:
        # training the newest once more is better than resuming without its optimizer's state
        lost.append(f"version {good[-1][0]}: the state of its optimizer is not what the run wrote")
        files.pop(good.pop()[2])
        state = _state(folder, good[-1])
    top = good[-1]
    if state is None:
        lost.append(f"version {top[0]}: the state of its optimizer is lost and starts from zero")
        good[-1] = (*top[:5], None)
    else:
        files[optimizer_file(top[0])] = state
    trained = [row[0] for row in tables["stages"] if row[1] == "retrain" and json.loads(row[2])["steps"]]
    first = min((iteration for iteration in trained if iteration > top[1]), default=None)
    if first is not None:
        stays = "self-play", SIZES
        imported = {(row[0], SIZES) for row in tables["games"] if row[1] >= IMPORTED}  # their boards are in the plan
        kept = (row for row in tables["stages"] if (row[0], row[1] not in stays) < (first, True) or row[:2] in imported)
        tables["stages"] = list(kept)
        tables["matches"] = [row for row in tables["matches"] if row[0] < first]
        tables["games"] = [row for row in tables["games"] if row[0] <= first or row[1] >= IMPORTED]
        lost.append(f"version {top[0] + 1} and what followed from it: learned again from iteration {first} on")
    tables["versions"] = good
    return files


def _state(folder: Path, version: Row) -> bytes | None:
    """Return a version's optimizer state, or None when it is not the one that the run wrote."""
    return content(folder, optimizer_file(version[0]), version[5]) if version[5] else None


def _drop_stages(tables: dict[str, list[Row]], lost: list[str]) -> None:
    """Drop the ends of incomplete stages of the iteration in progress, so that they are resumed.

    What stays lost is put into meta, and is no damage of the new run. Games stay lost when a network has learned from
    their iteration: the newest one is then no longer the one that played them.
    """
    done = max((row[0] for row in tables["stages"] if row[1] == "iteration"), default=0)
    learned = {row[0] for row in tables["stages"] if row[1] == "retrain"} | {row[1] for row in tables["versions"]}
    games = Counter(row[0] for row in tables["games"] if row[1] < IMPORTED)
    matches = Counter(row[0] for row in tables["matches"])
    known, gaps = accepted_losses(dict(tables["meta"])), dict[int, dict[str, int]]()
    for row in list(tables["stages"]):
        if row[1] not in ("self-play", "tournament"):
            continue
        iteration, self_play, facts = row[0], row[1] == "self-play", json.loads(row[2])
        missing = facts["games"] - games[iteration] if self_play else facts["played"] - matches[iteration]
        if missing <= 0:
            continue
        table, what = ("games", "games") if self_play else ("matches", "match games")
        if iteration > done and not (self_play and iteration in learned):
            tables["stages"].remove(row)
            lost.append(f"{missing} {what} of iteration {iteration} are played again")
            continue
        gaps.setdefault(iteration, {})[table] = missing
        if missing > known.get((iteration, table), 0):  # the others were named when they were lost
            why = "what they taught is in the networks" if self_play else "their tournament is decided"
            lost.append(f"{missing} {what} of iteration {iteration} stay lost: {why}")
    tables["meta"] = [row for row in tables["meta"] if row[0] != LOST] + ([(LOST, json.dumps(gaps))] if gaps else [])


# ---- writing


def _write(
    folder: Path, config: Config, game: Game, tables: dict[str, list[Row]], files: dict[str, bytes], lost: list[str]
) -> Recovered:
    place, store = lock_new_folder(folder.parent), None
    new = place.folder
    try:
        for name, data in files.items():
            place.write(f"models/{Path(name).name}", data)
        store = Store(new / "run.db", create=True, files=place)
        done = max((row[0] for row in tables["stages"] if row[1] == "iteration"), default=0)
        with store.transaction("recover"):
            for table in KEPT:
                store.insert(table, tables[table])
            for key, value in _values(config, game, tables, lost).items():
                store.put(key, value)
            store.put("recovered_from", folder.name)
            seconds = float(store.get("seconds") or 0)
            made = float(store.get("evaluations") or 0)
            over = done >= config.iterations or 0 < 60 * config.minutes <= seconds or 0 < config.evaluations <= made
            store.put("finished", "yes" if over else "no")
        store.checkpoint()
        found = Recovered(
            new.name, store.count_games(), len(tables["matches"]), len(tables["versions"]), done, lost
        )
        store.close()
        place.write("config.json", to_json(config).encode())
    except BaseException:  # a part of a run is none
        if store is not None:
            store.close()
        place.remove_all()
        raise
    finally:
        place.close()
    return found


def _values(config: Config, game: Game, tables: dict[str, list[Row]], lost: list[str]) -> dict[str, str]:
    """Return the values of the meta table: those that were kept, and those that follow from the rest."""
    ordered = sorted(tables["stages"], key=lambda row: (row[0], row[1] == "iteration"))
    stages = [(stage, json.loads(facts)) for _, stage, facts in ordered]
    known = {row[0] for row in tables["versions"]}
    best, seconds, evaluations, steps = 0, 0.0, 0.0, 0
    for stage, facts in stages:
        if stage == "iteration":
            best, seconds = int(facts["best_version"]), float(facts["total_seconds"])
            evaluations += evaluations_of(facts)
        elif stage == "tournament" and facts.get("promoted"):
            best = max(known)  # of the iteration in progress; a finished one has its own line, read after this
        elif stage == "retrain":
            steps += int(facts["steps"])
    kept: dict[str, str] = dict(tables["meta"])
    made = {
        "run": f"{game.spec}/{config.seed}", "game": game.spec, "rules": digest(game),
        "model": json.dumps(network_facts(config, game)), "config": to_json(config),
    }  # fmt: skip
    if best not in known:
        instead = max((v for v in known if v <= best), default=min(known))
        lost.append(f"version {best} was the best: version {instead} takes its place")
        best = instead
    values = {name: kept.get(name, value) for name, value in made.items()}
    values |= {name: kept[name] for name in CARRIED if name in kept}
    if "backend" in values:
        values["backend"] = _backends(values["backend"], max(known))
    counted = {"best": best, "seconds": seconds, "evaluations": evaluations, "steps": steps}
    return {**values, **{name: str(value) for name, value in counted.items()}}


def _backends(history: str, newest: int) -> str:
    """Return the back ends that trained a run, without those that began after its newest version.

    >>> _backends("tensorflow, jax from version 4, torch from version 6", 4)
    'tensorflow, jax from version 4'
    """
    if newest == 0:
        return ""
    first, *later = history.split(", ")
    numbers = (part.rpartition(" ")[2] for part in later)
    return ", ".join([first, *(p for p, n in zip(later, numbers, strict=True) if n.isdecimal() and int(n) <= newest)])
