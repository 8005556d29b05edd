"""What an SGF file says in words: the result of a game, and its encoding."""

from __future__ import annotations

import re

_RESULT = re.compile(
    r"(?:(b|w)(?:lack|hite)?\s*(?:\+|wins?\b|won\b|\Z)|(?:0(?:\.0*)?(?!\s*[-:])|draw|jigo)(?![\w.+]))", re.IGNORECASE
)

_ENCODINGS = re.compile(
    r"(utf-?8|(us-)?ascii|latin-?1|big5(-hkscs)?|gb2312|gbk|gb18030|euc-(jp|kr)|shift-?jis|sjis|iso-2022-(jp|kr)|"
    r"koi8-[ru]|(iso-?8859-|windows-|cp)[0-9]{1,4})\Z"
)
"""The encodings that a file may name: others, such as punycode, can take minutes for a megabyte."""
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift-jis": "cp932", "shiftjis": "cp932", "sjis": "cp932",
          "euc-kr": "cp949"}  # fmt: skip
"""{encoding: one that has all its letters and those that files with its name really use}."""
_NAMED = re.compile(rb"\bCA\s*\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]")


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


def encodings_in(data: bytes) -> list[str]:
    """Return the encodings that CA may name in a file, before it is parsed."""
    named = [name.decode() for name in dict.fromkeys(found[1] for found in _NAMED.finditer(data))]
    return [name for name in named[:4] if codec_of(name)]


def codec_of(name: str) -> str:
    """Return Python's name for an encoding, "" where it is not to be used."""
    word = name.strip().lower().replace("_", "-")
    return _WIDER.get(word, word) if _ENCODINGS.match(word) else ""
