"""What an SGF file says of a game in words: its komi, result, rules and encoding, and how our rules differ from that.

Each function returns a fact and a plain line for people, "" where there is nothing to say.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,9}(?:[.,][0-9]{1,9})?|[.,][0-9]{1,9})")
_HUNDREDTHS = {275: 5.5, 325: 6.5, 350: 7.0, 375: 7.5}
"""Komi of servers that write Chinese stones, two points each, in hundredths (KataGo's sgf.cpp knows the same). Larger
ones, such as 550, 650, 700 and 750, are hundredths of points."""
_RESULT = re.compile(
    r"(?:(b|w)(?:lack|hite)?\s*(?:\+|wins?\b|won\b)|(?:0(?:\.0*)?|draw|jigo)(?![\w.+]))", re.IGNORECASE
)

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

_ENCODINGS = re.compile(
    r"(utf-?8|(us-)?ascii|latin-?1|big5(-hkscs)?|gb2312|gbk|gb18030|euc-(jp|kr)|shift-?jis|sjis|iso-2022-(jp|kr)|"
    r"koi8-[ru]|(iso-?8859-|windows-|cp)[0-9]{1,4})\Z"
)
"""The encodings that a file may name: others, such as punycode, can take minutes for a megabyte."""
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift-jis": "cp932", "shiftjis": "cp932", "sjis": "cp932",
          "euc-kr": "cp949"}  # fmt: skip
"""{encoding: one that has all its letters and those that files with its name really use}."""
_NAMED = re.compile(rb"\bCA\s*\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]")


def komi_of(text: str, area: int) -> tuple[float, str]:
    """Return the points for White that KM means on a board of `area` points; 0 where it is missing or unreadable."""
    if not text:
        return 0.0, "the file states no komi: 0 is used"
    found = _NUMBER.match(text)
    if found is None:
        return 0.0, f"KM[{text[:20]}] is no number: komi 0 is used"
    stated = points = float(found[0].replace(",", "."))
    if points >= 100 and points % 25 == 0:
        points = _HUNDREDTHS.get(int(points), points / 100)
    if points % 0.5 and points % 0.25 == 0 and stated < 100:  # Chinese stones, as in GoGoD's files
        points *= 2
    if abs(points) > area:
        return 0.0, f"KM[{text[:20]}] is not possible on this board: komi 0 is used"
    points = round(2 * points) / 2 + 0.0
    same = points == stated and found[0] == text
    return points, "" if same else f"KM[{text[:20]}] is read as komi {points:g}"


def result_of(text: str) -> float | None:
    """Return the result that RE means for Black: 1, 0 or -1; None where it names no winner and no draw."""
    found = _RESULT.match(text)
    if found is None:
        return None
    return 0.0 if found[1] is None else 1.0 if found[1].lower() == "b" else -1.0


def margin_of(text: str) -> float | None:
    """Return the points by which RE says that somebody won."""
    found = re.fullmatch(r"[bw]\s*\+\s*([0-9]{1,4}(?:\.[0-9]+)?)", text.lower())
    return float(found[1]) if found else None


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


def encodings_in(data: bytes) -> list[str]:
    """Return the encodings that CA may name in a file, before it is parsed."""
    named = [name.decode() for name in dict.fromkeys(found[1] for found in _NAMED.finditer(data))]
    return [name for name in named[:4] if codec_of(name)]


def codec_of(name: str) -> str:
    """Return Python's name for an encoding, "" where it is not to be used."""
    word = name.strip().lower().replace("_", "-")
    return _WIDER.get(word, word) if _ENCODINGS.match(word) else ""
