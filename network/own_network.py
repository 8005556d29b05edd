"""Loads a network of your own from a file by its path: `--network FILE.py:CLASS` (docs/add_a_network.md).

Loading a file runs it, as for games (games/own.py). A run keeps the path of its network's file, so that a run from
others could name any file on this machine. Therefore the file of a stored run is run only if somebody has named it
here: what `remember` was given is listed in `networks.txt` in the folder of the runs.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from config import Config, UserError
from game import Game
from games.own import Kind, class_in, guarded, path_of
from storage import run_folders
from storage.atomic_files import private, writing
from system.import_names import files_beside
from system.reading import TEXT_BYTES, read_limited

_SPEC = re.compile(r"(?P<file>.+\.py)\s*(?::\s*(?P<name>\w+)?)?\s*\Z")
_WHAT, _GUIDE = "network", "docs/add_a_network.md"


def full_name(spec: str) -> str:
    """Return the name of a network with the whole path of its file, which need not exist; nothing is run."""
    path, name = _parts(spec)
    return f"{path}:{name}" if name else str(path)


def _parts(spec: str) -> tuple[Path, str]:
    match = _SPEC.match(spec.strip())
    if not match:
        raise UserError(f"network: expected FILE.py:CLASS, got {spec[:60]!r}")
    return path_of(match["file"], _WHAT), match["name"] or ""


def short_name(spec: str) -> str:
    """Return the name of a network without the folder of its file."""
    path, name = _parts(spec)
    return f"{path.name}:{name}" if name else path.name


def digest(spec: str) -> str:
    """Return a sha256 of a network's file and of those in its folder that it imports; nothing is run."""
    path, _ = _parts(spec)
    total = hashlib.sha256()
    for file in files_beside(path):
        with suppress(OSError):  # who loads it says so
            text = read_limited(file, TEXT_BYTES)
            total.update(f"{file.name} {len(text)}\n".encode() + text)
    return total.hexdigest()


def lies_elsewhere(one: str | None, other: str | None) -> bool:
    """Return whether two names mean the same class, in a file that has been moved."""
    return one is not None and other is not None and short_name(one) == short_name(other)


def own_network(spec: str, base: type, config: Config, game: Game, *, typed: bool) -> Any:
    """Return the network of the class that `spec` names; raise `UserError` with one line when that fails.

    base: `Gen_Model`. typed: whether a person has named it, and not a stored run.
    """
    if not typed and spec not in _remembered():
        raise UserError(f"expected --network {spec[:100]}, as its code is to be run: a stored run alone does not do")
    path, name = _parts(spec)
    kind = Kind(base, _WHAT, base.__name__, "_build", _GUIDE)
    found = class_in(path, name, kind)
    return guarded(path, lambda: found(config, game), kind)


def remember(spec: str) -> None:
    """Let stored runs use a network, given by its full name, that a person has named."""
    path = _list()
    if spec in _remembered():
        return
    run_folders.make_private(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with writing(path), os.fdopen(private(str(path), flags), "a", encoding="utf-8") as file:
        file.write(f"{spec}\n")


def _remembered() -> set[str]:
    path = _list()
    return set(read_limited(path, TEXT_BYTES).decode().splitlines()) if path.exists() else set()


def _list() -> Path:
    return run_folders.RUNS / "networks.txt"
