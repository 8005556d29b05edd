"""A trained player made ready to ship: a small folder in run_archive/ that every command can play at once.

It holds one network, the settings, the metrics of its training, its scoreboard, and levels of play with their Elo; no
games. Levels meet their neighbours in seeded openings with both colours; one maximum-likelihood fit rates them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from config import Config, UserError, to_json
from evaluation.match import contest
from evaluation.rating import ANCHOR, fit_ratings
from game import Game
from loggers import write_metrics
from players.by_name import make_player
from players.levels import AS_MEASURED, FILE, Level
from storage.atomic_files import DamagedData, write_file
from storage.checkpoints import content, path_of
from storage.run_files import RunFiles
from storage.run_folders import make_folder, read_config, shipped_folder
from storage.run_store import Store

LADDER = (
    ("random", 0), ("rollout:4", 0), (ANCHOR, 0), ("rollout:64", 0), ("rollout:256", 0), ("rollout:1024", 0),
    ("rollout:4096", 0), ("net:shipped", 0), ("shipped", 16), ("shipped", 64), ("shipped", 400), ("shipped", 1600),
)  # fmt: skip
"""(player, simulations of a network) of the levels, before they are measured."""
NEIGHBOURS = 2
"""Players at most this far apart in `LADDER` play each other."""
APART = 10.0
"""Smallest Elo difference between two levels."""
Say = Callable[[str], None]


def pack(folder: Path, version: int | None = None) -> Path:
    """Copy what ships of a run, by default its best version, into run_archive/; return the new folder.

    An older one there is replaced at the end.
    """
    with packed(folder, version) as shipped:
        return shipped


@contextmanager
def packed(folder: Path, version: int | None = None) -> Iterator[Path]:
    """Do as `pack` for a block that measures what was packed; if the block fails, the older player is restored."""
    config = read_config(folder)
    shipped = shipped_folder(config.game)
    target, away, gone = (shipped.with_name(f".{shipped.name}.{what}") for what in ("new", "old", "gone"))
    shutil.rmtree(gone, ignore_errors=True)
    if away.exists():  # an earlier process was killed
        shutil.rmtree(shipped, ignore_errors=True)
        away.rename(shipped)
    _write(folder, version, config, target)
    if shipped.exists():
        shipped.rename(away)
    target.rename(shipped)
    try:
        yield shipped
    except BaseException:
        shutil.rmtree(shipped)
        if away.exists():
            away.rename(shipped)
        raise
    if away.exists():
        away.rename(gone)  # in one step: a half-deleted folder must not be restored
        shutil.rmtree(gone, ignore_errors=True)


def require_learned(folder: Path) -> None:
    """Raise if a run's best network is the one that it began with; it can still be named by its number."""
    store = Store(folder / "run.db", read_only=True)
    try:
        if store.best() == 0:
            newest = store.newest().version
            hint = f": no tournament was won yet; --version {newest} is the newest" if newest else ""
            raise UserError(f"expected a trained network, the best of {folder.name} is version 0{hint}")
    finally:
        store.close()


def _write(folder: Path, version: int | None, config: Config, target: Path) -> None:
    """Write what ships of a run into a new folder."""
    source = Store(folder / "run.db", read_only=True)
    try:
        row = source.version(source.best() if version is None else version)
        data = content(folder, row.file, row.sha256)
        if data is None:
            raise DamagedData(f"{path_of(folder, row.file)}: expected the file that the run wrote, got another")
        meta = {key: value for key, value in source.rows("meta") if key != "identity"}
        closed = list(source.rows("stages", "WHERE stage = 'iteration' ORDER BY iteration"))
    finally:
        source.close()
    shutil.rmtree(target, ignore_errors=True)
    make_folder(target)
    write_file(path_of(target, row.file), data)
    store = Store(target / "run.db", create=True)
    try:
        with store.transaction():
            for key, value in {**meta, "best": str(row.version), "finished": "yes"}.items():
                store.put(key, value)
            store.insert("versions", [row._replace(optimizer="")])
            store.insert("stages", closed)
        store.write_mark()
        store.seal()
    finally:
        store.close()
    write_file(target / "config.json", to_json(config).encode())
    files = RunFiles(target)
    write_metrics(files, [json.loads(row[2]) for row in closed])
    files.close()


def measure_levels(
    game: Game, *, count: int, plies: int = 4, seed: int = 0, ladder: tuple[tuple[str, int], ...] = LADDER,
    report: Say = lambda text: None,
) -> list[Level]:  # fmt: skip
    """Return the levels in order of strength; each plays `count` games against each of its neighbours in `ladder`.

    Elo is rounded to integers; of equal ones the later in the ladder counts as stronger: perfect players draw.
    """
    results = []
    for i, first in enumerate(ladder):
        for second in ladder[i + 1 : i + 1 + NEIGHBOURS]:
            scores = _match(game, first, second, count, plies, seed)
            results.append((_name(first), _name(second), sum(scores), float(len(scores))))
            report(f"{_name(first)} against {_name(second)}: {sum(scores):g} of {len(scores)}")
    ratings = fit_ratings(results, ANCHOR)
    rated = [(entry, ratings[_name(entry)]) for entry in ladder]
    found = [Level(*entry, float(round(rating.elo)), float(round(rating.error))) for entry, rating in rated]
    return sorted(found, key=lambda level: level.elo)


def apart(levels: list[Level]) -> list[Level]:
    """Leave out each level that is hardly weaker than the next one kept: of perfect players the last one stays."""
    kept: list[Level] = []
    for level in reversed(levels):
        if not kept or kept[-1].elo - level.elo >= APART:
            kept.append(level)
    return kept[::-1]


def _name(entry: tuple[str, int]) -> str:
    return f"{entry[0]} {entry[1]}" if entry[1] else entry[0]


def _match(
    game: Game, first: tuple[str, int], second: tuple[str, int], count: int, plies: int, seed: int
) -> list[float]:
    """Return the scores of the first player; both colours of each opening."""
    one, two = (make_player(name, game, sims=sims or 1, **AS_MEASURED) for name, sims in (first, second))
    return contest(game, (one, two), count, seed=seed, opening_plies=plies)


def write_levels(folder: Path, found: list[Level], games_each: int) -> None:
    """Write the levels next to the shipped player."""
    levels: dict[str, Any] = {"anchor": ANCHOR, "games": games_each, "levels": [level._asdict() for level in found]}
    write_file(folder / FILE, (json.dumps(levels, indent=1) + "\n").encode())


def write_scoreboard(folder: Path, scoreboard: dict[str, Any]) -> None:
    """Write what `evaluate` found."""
    write_file(folder / "scoreboard.json", (json.dumps(scoreboard, indent=1) + "\n").encode())
