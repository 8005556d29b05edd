"""Whether one value fits a setting, and in words what was expected."""

from __future__ import annotations

import math
import re
import typing
from typing import Any, Literal

LAYER = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]?)\Z")
GAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,1000}\Z")  # what can be typed; `games.make` knows what it means


def shown(value: Any) -> str:
    """Return a value in at most 60 characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integers of thousands of digits, lists a thousand deep
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else text[:57] + "..."


def value_fault(value: Any, kind: Any, low: float | None, high: float | None) -> str | None:
    """Return what was expected of a setting of this type and range, or None when `value` fits."""
    if kind is bool:
        return None if type(value) is bool else "true or false"
    if typing.get_origin(kind) is Literal:
        options = typing.get_args(kind)
        return None if isinstance(value, str) and value in options else "one of " + ", ".join(options)
    if kind is str:
        named = isinstance(value, str) and GAME.match(value)
        return None if named else "the name of a game, such as connect4 or connect4(rows=5,columns=6)"
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
