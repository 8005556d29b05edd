"""Run folders: where they are, which there are, and what can be read of one without opening it for work."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from config import Config, UserError, from_json
from game import Game
from storage import DamagedData, Store, arrays_from_bytes, sha256

HERE = Path(__file__).parent
RUNS = HERE / "run"
ARCHIVE = HERE / "run_archive"
RUN = re.compile(r"run([0-9]{4,6})\Z")


def game_folder(spec: str) -> str:
    """Return the folder's name for a game: letters, digits and hyphens, and another one for every other game.

    >>> game_folder("connect4(rows=5)")
    'connect4-rows-5'
    """
    plain = re.fullmatch(r"(open_spiel:)?\w+(\((\w+=[\w.]+,?)+\))?", spec, re.ASCII) and len(spec) <= 100
    shown = spec if plain else re.split(r"[/\\]", spec)[-1].replace(".py:", "-")[:60]
    name = re.sub(r"[^A-Za-z0-9]+", "-", shown).strip("-")
    return name if plain else f"{name}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"


def runs_of(spec: str, root: Path | None = None) -> list[Path]:
    """Return the folders of a game's runs, oldest first."""
    folder = (root or RUNS) / game_folder(spec)
    found = [p for p in folder.iterdir() if RUN.match(p.name)] if folder.is_dir() else []
    return sorted((p for p in found if (p / "config.json").exists()), key=lambda p: int(p.name[3:]))


def read_config(folder: Path) -> Config:
    """Return the settings of a run; raise `UserError` when the folder is none."""
    path = folder / "config.json"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"expected the settings of a run in {path}, got {type(error).__name__}") from None
    return from_json(text, str(path))


def find_run(spec: str, number: int | None = None, root: Path | None = None) -> Path:
    """Return the folder of a run, the newest when no number is given."""
    found = runs_of(spec, root)
    if number is not None:
        for path in found:
            if int(path.name[3:]) == number:
                return path
    elif found:
        return found[-1]
    known = ", ".join(p.name for p in found) or "none"
    wanted = "a run" if number is None else f"run{number:04}"
    raise UserError(f"expected {wanted} of {spec}, there is {known} in {(root or RUNS) / game_folder(spec)}")


def unfinished_run(spec: str, root: Path | None = None) -> Path | None:
    """Return the newest run of a game that has iterations to go, or None."""
    for path in reversed(runs_of(spec, root)):
        if (path / "run.db").exists() and not _is_finished(path):
            return path
    return None


def _is_finished(path: Path) -> bool:
    store = Store(path / "run.db", read_only=True)
    try:
        return store.get("finished") == "yes"
    finally:
        store.close()


def network_facts(config: Config, game: Game) -> dict[str, Any]:
    """Return what a model file must fit: the game and the network's shape."""
    names = ("hidden_cnn_layers", "normalisation", "value_filters", "value_units", "policy_filters", "global_pooling")
    facts = {n: getattr(config, n) for n in names}
    facts["hidden_cnn_layers"] = list(config.hidden_cnn_layers)
    return {"game": game.spec, "input_shape": list(game.input_shape), "action_size": game.action_size, **facts}


def read_weights(folder: Path, store: Store, version: int, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Return a version's weights; raise when it is unknown, missing, or not the file that the run wrote."""
    known = {v: (file, digest) for v, _, file, digest in store.versions()}
    if version not in known:
        raise UserError(f"{folder.name}: expected a version from {min(known)} to {max(known)}, got {version}")
    file, digest = known[version]
    data = read_file(folder / "models" / file)
    if sha256(data) != digest:
        raise DamagedData(f"{folder / 'models' / file}: expected the file that the run wrote, got another")
    return arrays_from_bytes(data, shapes, str(folder / "models" / file))


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedData(f"expected the model file {path}, got {type(error).__name__}") from None
