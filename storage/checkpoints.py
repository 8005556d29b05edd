"""The networks of a run on disk: written once, checked at each load; a damaged newest version is trained again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from config import UserError
from storage.atomic_files import (
    DamagedData,
    arrays_from_bytes,
    arrays_to_bytes,
    read_checked,
    sha256,
)
from storage.fault_injection import reach
from storage.run_folders import settings_fault
from storage.run_store import Store, Version

Shapes = list[tuple[int, ...]]


def optimizer_file(version: int) -> str:
    """Return the name of the file with the optimizer's state after a version."""
    return f"optimizer{version:04}.npz"


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a model file: always in models/, whatever the database says."""
    return folder / "models" / Path(name).name


def save(
    store: Store, version: int, iteration: int, losses: dict[str, float],
    weights: list[np.ndarray], optimizer: list[np.ndarray],
) -> None:  # fmt: skip
    """Write a network as a version; call it inside the transaction that registers it.

    A file of that name with other content, which no version of the run has, goes to quarantine/.
    """
    names, digests = (f"version{version:04}.npz", optimizer_file(version)), []
    for name, arrays in zip(names, (weights, optimizer), strict=True):
        if not all(np.isfinite(a).all() for a in arrays):
            raise ArithmeticError(f"{name} would have numbers that are not finite")
        data = arrays_to_bytes(arrays)
        digests.append(sha256(data))
        if content(store.path.parent, name, digests[-1]) is None:
            store.files.set_aside(f"models/{name}")
        store.files.write(f"models/{name}", data, point="model", needed=store.reserve)
    reach("model.before_row")
    store.add_version(version, iteration, names[0], digests[0], losses, digests[1])
    reach("model.after_row")


def files_of(version: Version) -> list[str]:
    """Return the names of a version's files: its weights and the optimizer's state after it."""
    return [version.file, optimizer_file(version.version)]


def size(folder: Path, version: Version) -> int:
    """Return the bytes of a version's files."""
    paths = [path_of(folder, name) for name in files_of(version)]
    return sum(path.stat().st_size for path in paths if path.exists())


def read_weights(folder: Path, store: Store, version: int, shapes: Shapes) -> list[np.ndarray]:
    """Return a version's weights; raise when it is unknown, missing, or not the file that the run wrote."""
    row = store.version(version)
    path = path_of(folder, row.file)
    data = read_checked(path, row.sha256)
    try:
        return arrays_from_bytes(data, shapes, str(path))
    except DamagedData:  # it is the file that the run wrote: the settings are others
        if fault := settings_fault(folder, store.get("config")):
            raise UserError(fault) from None
        raise


def read_optimizer(folder: Path, version: Version, layouts: list[Shapes]) -> list[np.ndarray]:
    """Return the optimizer's state after a version, in the layout in which it was written.

    layouts: without a weight average, and with one. A lost state is returned as zeros without an average, as at the
    start of every optimizer.
    """
    if not version.optimizer:
        return [np.zeros(shape, np.float32) for shape in layouts[0]]
    path = path_of(folder, optimizer_file(version.version))
    data, (plain, averaged) = read_checked(path, version.optimizer), layouts
    try:
        return arrays_from_bytes(data, averaged, str(path))
    except DamagedData:
        return arrays_from_bytes(data, plain, str(path))


def content(folder: Path, name: str, digest: str) -> bytes | None:
    """Return the bytes of a model file, or None when they are not those that the run wrote."""
    try:
        return read_checked(path_of(folder, name), digest)
    except DamagedData:
        return None


def drop_old_optimizers(store: Store, newest: int) -> None:
    """Keep the two newest optimizer states: one to resume from, one to train a damaged newest version again."""
    kept = {optimizer_file(version) for version in (newest, newest - 1)}
    for name in store.files.names("models"):
        if name.startswith("optimizer") and name.endswith(".npz") and name not in kept:
            store.files.remove(f"models/{name}")


def mend(folder: Path, store: Store) -> str:
    """Quarantine a damaged newest version and return to before its training; return a message, "" if none is damaged.

    The version is trained again from the games, and comes out the same if settings and back end are the same. Other
    damage stays; the error names it when the file is loaded.
    """
    before, newest = [None, None, *store.versions()][-2:]
    if before is None or newest is None or not before.optimizer:
        return ""
    wrong = _wrong(folder, newest)
    if not wrong or _wrong(folder, before):
        return ""
    set_aside(store, wrong)
    with store.transaction("mend"):
        store.step_back(newest.iteration)
    return (
        f"{' and '.join(wrong)}: not what the run wrote, moved to {folder / 'quarantine'}; version {newest.version} "
        f"and what followed from it are made again, from iteration {newest.iteration} on"
    )


def set_aside(store: Store, names: list[str]) -> None:
    """Move model files to quarantine/."""
    store.files.make_folder("quarantine")
    for name in names:
        store.files.set_aside(f"models/{Path(name).name}")


def renew(folder: Path, store: Store, weights: list[np.ndarray], optimizer: list[np.ndarray]) -> str:
    """Write damaged files of version 0 again from a new network, while there is no version 1; return a message or "".

    A run that began with another run's network cannot be repaired so; the error names its damage when it is loaded.
    """
    newest = store.newest()
    wrong = [] if newest.version else _wrong(folder, newest)
    renewed = []
    for name, digest, arrays in (
        (newest.file, newest.sha256, weights), (optimizer_file(0), newest.optimizer, optimizer)
    ):  # fmt: skip
        data = arrays_to_bytes(arrays) if name in wrong else b""
        if data and sha256(data) == digest:
            store.files.write(f"models/{Path(name).name}", data, point="model")
            renewed.append(name)
    return f"{' and '.join(renewed)}: not what the run wrote; made again from its seed" if renewed else ""


def _wrong(folder: Path, version: Version) -> list[str]:
    """Return the names of a version's files that are not those that the run wrote."""
    files = zip(files_of(version), (version.sha256, version.optimizer), strict=True)
    return [name for name, digest in files if digest and content(folder, name, digest) is None]
