"""Which games' code is compiled and kept: a mark for each, beside the machine code, so that it goes when that goes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from compiling.cache_folder import FOLDER
from system.import_names import files_beside


def _mark(spec: str) -> Path:
    changed = ""
    file = Path(spec.partition(".py")[0] + ".py")
    if ".py" in spec and file.is_file():  # your own game: its code is compiled again when its files change
        changed = str([part.stat().st_mtime_ns for part in files_beside(file)])
    return FOLDER / f"prepared-{hashlib.sha256(f'{spec} {changed}'.encode()).hexdigest()[:16]}"


def is_prepared(spec: str) -> bool:
    """Return whether all code of a game is kept, so that nothing is compiled where it is played."""
    return _mark(spec).exists()


def mark_prepared(spec: str) -> None:
    """Record that all code of a game is kept; a folder that cannot be written keeps none."""
    try:
        _mark(spec).touch()
    except OSError:
        return


def search_is_kept() -> bool:
    """Return whether the code of self-play, most of what is compiled, is kept."""
    return any(FOLDER.rglob("selfplay_step.selfplay_step.entry-*.nbi"))
