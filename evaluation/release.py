"""A trained player made ready to ship: a small folder in run_archive/ that every command can play at once.

It holds one network, the settings, the metrics of its training, its scoreboard, and levels of play with their Elo
(evaluation/level_games.py); no games of the training.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import games
from config import Config, UserError, to_json, with_overrides
from evaluation.level_games import LINKS
from loggers import write_metrics
from network.stored_network import GRAPH, StoredNetwork
from players.levels import Level
from storage.atomic_files import (
    DamagedData,
    arrays_from_bytes,
    arrays_to_bytes,
    read_file,
    sha256,
    write_file,
    writing,
)
from storage.checkpoints import content, path_of
from storage.game_record import IMPORTED
from storage.run_files import RunFiles
from storage.run_folders import RunBusy, make_folder, make_private, read_config, shipped_folder
from storage.run_store import Store, game_of_row
from system import files


def pack(folder: Path, version: int | None = None) -> Path:
    """Copy what ships of a run, by default its best version, into run_archive/; return the new folder.

    An older one there is replaced at the end.
    """
    with packed(folder, version) as shipped:
        return shipped


@contextmanager
def packed(folder: Path, version: int | None = None) -> Iterator[Path]:
    """Do as `pack` for a block that measures what was packed; if the block fails, the older player is restored.

    Raises `RunBusy` while another process does so for the same game.
    """
    config = with_overrides(read_config(folder), backend="auto", precision="auto")  # what trained it need not be there
    shipped = shipped_folder(config.game)
    with _alone(shipped, config.game), _replaced(folder, version, config, shipped):
        yield shipped


@contextmanager
def _alone(shipped: Path, spec: str) -> Iterator[None]:
    """Hold the lock of a game's shipped player during the block; raise `RunBusy` when another process has it."""
    path = shipped.with_name(f".{shipped.name}.lock")
    make_private(path.parent)
    with writing(path):
        descriptor = files.open_no_link(path, os.O_RDWR | os.O_CREAT)
    try:
        with writing(path):  # a file that its last owner removed after it was opened here locks nothing
            mine = files.lock(descriptor) and os.fstat(descriptor).st_nlink > 0
        if not mine:
            raise RunBusy(f"{spec}: another process is replacing the player that ships; repeat this when it has ended")
        try:
            yield
        finally:
            with suppress(OSError):  # before it is unlocked, where an open file can be removed
                path.unlink()
            files.unlock(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _replaced(folder: Path, version: int | None, config: Config, shipped: Path) -> Iterator[None]:
    """Put what ships of a run in the place of a shipped player; restore that one if the block fails."""
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
        yield
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


def write_small(folder: Path, version: int, target: Path, **settings: Any) -> None:
    """Write one version of a run as a run of its own into a new folder, with these settings changed."""
    _write(folder, version, with_overrides(read_config(folder), **settings), target)


def write_early_versions(folder: Path, versions: Sequence[int], games_each: int, target: Path) -> None:
    """Write versions of a run, each with some of its games against itself, as a run of its own into a new folder.

    The weights are kept in 16 bits. Games that began with random moves are left out. The metrics end with the newest of
    these versions.
    """
    config = with_overrides(read_config(folder), backend="auto", precision="auto")
    source, kept = Store(folder / "run.db", read_only=True), list[tuple[Any, ...]]()
    try:
        for version in versions:
            played = source.rows("games", "WHERE version = ? AND idx < ? ORDER BY idx", (version, IMPORTED))
            kept += islice((row for row in played if game_of_row(row).visits[0].any()), games_each)
    finally:
        source.close()
    _write(folder, versions[-1], config, target, earlier=versions[:-1], kept=kept)


def _write(
    folder: Path,
    version: int | None,
    config: Config,
    target: Path,
    *,
    earlier: Sequence[int] = (),
    kept: Sequence[tuple[Any, ...]] = (),
) -> None:
    """Write what ships of a run into a new folder.

    earlier: versions before that one; with them all are kept in 16 bits. kept: rows of games.
    """
    source = Store(folder / "run.db", read_only=True)
    try:
        row = source.version(source.best() if version is None else version)
        rows, data = [], dict[str, bytes]()
        for each in (*map(source.version, earlier), row):
            found = content(folder, each.file, each.sha256)
            if found is None:
                raise DamagedData(f"{path_of(folder, each.file)}: expected the file that the run wrote, got another")
            data[each.file] = _in_16_bits(found, config, each.file) if earlier else found
            rows.append(each._replace(optimizer="", sha256=sha256(data[each.file])))
        meta = {key: value for key, value in source.rows("meta") if key != "identity"}
        last = row.iteration if earlier else 2**31
        closed = list(source.rows("stages", "WHERE stage = 'iteration' AND iteration <= ? ORDER BY iteration", (last,)))
    finally:
        source.close()
    shutil.rmtree(target, ignore_errors=True)
    with writing(target):
        target.mkdir(mode=0o700)  # a link of that name is refused
    make_folder(target)
    for name, found in data.items():
        write_file(path_of(target, name), found)
    if (folder / GRAPH).exists():  # of a network that somebody wrote
        write_file(target / GRAPH, read_file(folder / GRAPH))
    store = Store(target / "run.db", create=True)
    try:
        with store.transaction():
            for key, value in {**meta, "best": str(row.version), "finished": "yes"}.items():
                store.put(key, value)
            store.insert("versions", rows)
            store.insert("games", kept)
            store.insert("stages", closed)
        store.write_mark()
        store.seal()
    finally:
        store.close()
    write_file(target / "config.json", to_json(config).encode())
    place = RunFiles(target)
    write_metrics(place, [json.loads(row[2]) for row in closed])
    place.close()


def _in_16_bits(data: bytes, config: Config, name: str) -> bytes:
    """Return a file of weights with each number rounded to 16 bits."""
    shapes = StoredNetwork(config, games.make(config.game)).shapes
    return arrays_to_bytes([array.astype(np.float16) for array in arrays_from_bytes(data, shapes, name)])


def write_levels(file: Path, found: list[Level], games_each: int) -> None:
    """Write the file of a board's levels."""
    anchor, levels = LINKS[0].how, [level._asdict() for level in found]
    found_and_how: dict[str, Any] = {"anchor": anchor, "games": games_each, "levels": levels}
    write_file(file, (json.dumps(found_and_how, indent=1) + "\n").encode())
