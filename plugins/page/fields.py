"""What a request may say, checked: each fault is a `UserError` of one line, as the server's answer with status 400."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from config import UserError

PLIES = 5_000
"""Most moves of a line."""
TEXT = 300
"""Most characters of a name."""


def values_of(body: bytes) -> dict[str, Any]:
    """Return the values of a body of JSON."""
    try:
        found = json.loads(body, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        raise UserError("expected JSON") from None
    if not isinstance(found, dict):
        raise UserError("expected an object of JSON")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _finite(text: str) -> float:
    found = float(text)
    return found if math.isfinite(found) else _no_number(text)  # type: ignore[no-any-return]


def text(given: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a text; `default`: where there is none, None: there must be one."""
    found = given.get(name)
    found = default if found is None else found
    if not isinstance(found, str) or len(found) > TEXT or not found.isprintable():
        raise UserError(f"{name}: expected a text of at most {TEXT} characters, got {_shown(found)}")
    return found


def whole(given: Mapping[str, Any], name: str, low: int, high: int, default: int | None = None) -> int | None:
    """Return a whole number from `low` to `high`, also one in a text as addresses have them."""
    found = given.get(name)
    if found is None or found == "":
        return default
    if isinstance(found, str) and len(found) < 10 and found.removeprefix("-").isascii():
        found = int(found) if found.removeprefix("-").isdecimal() else found
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise UserError(f"{name}: expected a whole number from {low} to {high}, got {_shown(found)}")
    return found


def number(given: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    """Return a number from `low` to `high`, None where there is none."""
    found = given.get(name)
    if found is None:
        return None
    if not isinstance(found, int | float) or isinstance(found, bool) or not low <= found <= high:
        raise UserError(f"{name}: expected a number from {low:g} to {high:g}, got {_shown(found)}")
    return float(found)


def one_of(given: Mapping[str, Any], name: str, known: tuple[str, ...], default: str | None = None) -> str:
    """Return one of some texts."""
    found = text(given, name, default)
    if found not in known:
        raise UserError(f"{name}: expected one of {', '.join(known)}, got {_shown(found)}")
    return found


def wholes(given: Mapping[str, Any], name: str, low: int, high: int, most: int = PLIES) -> list[int]:
    """Return a list of whole numbers from `low` to `high`, at most `most`; an empty one where there is none."""
    found = given.get(name, [])
    right = isinstance(found, list) and len(found) <= most
    if not right or any(type(each) is not int or not low <= each <= high for each in found):
        raise UserError(f"{name}: expected at most {most} whole numbers from {low} to {high}, got {_shown(found)}")
    return list(found)


def _shown(value: Any) -> str:
    return ascii(value)[:60] if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
