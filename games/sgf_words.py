"""What an SGF file says in words of the rules of Go: its komi and rules, and how our rules differ from that.

Each function returns a fact and a plain line for people, "" where there is nothing to say.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,9}(?:[.,][0-9]{1,9})?|[.,][0-9]{1,9})")
_HUNDREDTHS = 50
"""The least komi, a multiple of 25, that is read as the hundredths of some servers: 50 of a point, as after a handicap,
650 of points, or 375 of Chinese stones, two points each (KataGo's sgf.cpp knows the same)."""
_STONES = {350: 7.0}
"""Hundredths that are Chinese stones although they are whole or half points."""
_TERRITORY = "they count territory and prisoners, we count stones and territory"
_REPETITION = "they forbid every board that comes back, we do so after a single captured stone only (simple ko)"
_RULES: dict[str, tuple[dict[str, str], str]] = {
    "japanese": ({}, _TERRITORY),
    "korean": ({}, _TERRITORY),
    "chinese": ({}, _REPETITION),
    "aga": ({}, _REPETITION),
    "nz": ({"suicide": "yes"}, _REPETITION),
    "new zealand": ({"suicide": "yes"}, _REPETITION),
    "goe": ({"suicide": "yes"}, _REPETITION),
    "ing": ({"suicide": "yes"}, _REPETITION),
    "tromp": ({"ko": "superko", "suicide": "yes"}, ""),
}
"""{how a name of Go's rules begins: (parameters of our game, how it differs)}."""
_BONUS = {"Chinese": "N", "AGA": "N-1"}
"""{how a name of Go's rules begins: the points that White gets for a handicap of N stones, where he gets any}; both add
them to the komi."""


def bonus_of(rules: str) -> str:
    """Return what rules give White for a handicap of N stones: "0", "N" or "N-1"."""
    return next((bonus for name, bonus in _BONUS.items() if rules.lower().startswith(name.lower())), "0")


def handicap_points(bonus: str, stones: int) -> int:
    """Return White's points for a handicap of `stones` stones; a single one is an ordinary first move."""
    return 0 if stones < 2 else {"0": 0, "N": stones, "N-1": stones - 1}[bonus]


def words_for(points: float, stones: int) -> dict[str, str]:
    """Return the rules and the handicap by which a file is read with White's points for these stones; {} if none do."""
    rules = next((name for name, bonus in _BONUS.items() if points and handicap_points(bonus, stones) == points), "")
    return {"rules": rules, "handicap": str(stones)} if rules else {}


def komi_of(text: str, area: int) -> tuple[float, str]:
    """Return the points for White that KM means on a board of `area` points; 0 where it is missing or unreadable."""
    if not text:
        return 0.0, "the file states no komi: 0 is used"
    found = _NUMBER.match(text)
    if found is None:
        return 0.0, f"KM[{text[:20]}] is no number: komi 0 is used"
    stated = points = float(found[0].replace(",", "."))
    if abs(points) >= _HUNDREDTHS and points % 25 == 0:
        points = _STONES.get(int(points), points / 100)
    if points % 0.5 and points % 0.25 == 0:  # Chinese stones, as also in GoGoD's files
        points *= 2
    if abs(points) > area:
        return 0.0, f"KM[{text[:20]}] is not possible on this board: komi 0 is used"
    points = round(2 * points) / 2 + 0.0
    same = points == stated and found[0] == text
    return points, "" if same else f"KM[{text[:20]}] is read as komi {points:g}"


def go_rules_of(text: str, *, superko: bool = False) -> tuple[dict[str, str], str]:
    """Return the parameters of our Go that RU means, and how its rules differ from them, or from our superko."""
    if not text:
        return {}, ""
    word = text.lower().replace("_", " ")
    parameters, differs = next((known for name, known in _RULES.items() if word.startswith(name)), ({}, None))
    if differs is None:
        return {}, f"RU[{text[:40]}] is kept, but not known here: we count stones and territory, with simple ko"
    differs = "" if superko and differs == _REPETITION else differs
    return parameters, f"RU[{text[:40]}]: {differs}" if differs else ""
