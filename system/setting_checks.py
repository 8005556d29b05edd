"""Whether a value is one that a setting may have: its type, its range; and how a wrong one is shown."""

from __future__ import annotations

import difflib
import math
import re
import typing
from collections.abc import Iterable
from typing import Any, Literal

LAYER = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]?)\Z")
GAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,1000}\Z")  # what can be typed; `games.make` knows what it means


def shown(value: Any) -> str:
    """Return a wrong value as text of at most 60 characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integers of thousands of digits, lists a thousand deep
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else text[:57] + "..."


def fault_of(value: Any, kind: Any, low: float | None, high: float | None) -> str | None:
    """Return what was expected, or None when `value` fits."""
    if kind is bool:
        return None if type(value) is bool else "true or false"
    if typing.get_origin(kind) is Literal:
        options = typing.get_args(kind)
        return None if isinstance(value, str) and value in options else "one of " + ", ".join(options)
    if kind is str:
        named = isinstance(value, str) and GAME.match(value)
        return None if named else "the name of a game, such as connect4 or connect4(rows=5,columns=6)"
    if kind == str | None:
        given = value is None or isinstance(value, str) and GAME.match(value)
        return None if given else "FILE.py:CLASS, a network of your own"
    if kind in (int, float):
        allowed = (int,) if kind is int else (int, float)
        word = "a whole number" if kind is int else "a number"
        if type(value) not in allowed or not low <= value <= high or not math.isfinite(value):
            return f"{word} from {low:,} to {high:,}"
        return None
    good = isinstance(value, (tuple, list)) and 1 <= len(value) <= 80
    if not (good and all(isinstance(v, str) and LAYER.match(v) for v in value)):
        return "1 to 80 layers such as 64x3"
    if len({v.split("x")[0] for v in value}) != 1:
        return "the same number of filters in every layer (residual blocks add)"
    return None


def unknown_setting(name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown and suggest the nearest one."""
    known, text = list(known), str(name)
    near = difflib.get_close_matches(text, known, n=1, cutoff=0.72) or [
        long for long in known if len(text) > 2 and any(word.startswith(text) for word in long.split("_"))
    ]
    return f"unknown setting {shown(name)}" + (f", did you mean {near[0]!r}?" if near else "")
