"""The file of a shipped player's scoreboard: what `evaluate` measured, for its card and its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from storage.atomic_files import DamagedData, write_file
from system.reading import TEXT_BYTES, read_limited

SCOREBOARD = "scoreboard.json"
NOTHING = type(None)
SHARE = {"share": float, "low": float, "high": float}
STAGE = {name: (float, NOTHING) for name in SHARE}
EXACT = {
    "solver": str,
    "positions": int,
    "plies": [int],
    "whole": bool,
    "chance": {"kept": float},
    "players": [{"name": str, "kept": SHARE, "stages": [{"name": str, "positions": int, **STAGE}]}],
}
LADDER = {"words": str, "games": int}
"""What is read of a scoreboard: of a list all elements are alike, whole numbers are floats too. A stage without
positions has no shares."""


def write_scoreboard(folder: Path, scoreboard: dict[str, Any]) -> None:
    """Write what `evaluate` found."""
    write_file(folder / SCOREBOARD, (json.dumps(scoreboard, indent=1) + "\n").encode())


def read_scoreboard(path: Path) -> dict[str, Any]:
    """Return what `evaluate` found; raise `DamagedData` if the file does not hold what is read of it."""
    try:
        found = json.loads(read_limited(path, TEXT_BYTES))
    except OSError as error:
        raise DamagedData(f"{path}: expected a scoreboard ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{path}: expected a scoreboard in JSON ({str(error)[:80]})") from None
    for part, shape in (("exact", EXACT), ("ladder", LADDER)):
        if not isinstance(found, dict) or part not in found:
            raise DamagedData(f"{path}: expected a scoreboard with {part}")
        if found[part] is not None and (place := _fault(found[part], shape)) is not None:
            raise DamagedData(f"{path}: expected a scoreboard as `evaluate` writes it, got another {part}{place}")
    return found


def _fault(value: Any, shape: Any) -> str | None:
    """Return where a value differs from a shape, as in ".players[0].name"; None if nowhere."""
    if isinstance(shape, type | tuple):
        right = shape if isinstance(shape, tuple) else (shape,)
        return None if type(value) in right or (type(value) is int and float in right) else ""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return ""
        inside = {f"[{place}]": (each, shape[0]) for place, each in enumerate(value)}
    elif isinstance(value, dict) and value.keys() >= shape.keys():
        inside = {f".{name}": (value[name], each) for name, each in shape.items()}
    else:
        return ""
    faults = ((place, _fault(*pair)) for place, pair in inside.items())
    return next((place + fault for place, fault in faults if fault is not None), None)
