"""Rules of Go as KataGo names and describes them (its GTP_Extensions.md), and which of ours they are."""

from __future__ import annotations

from typing import Any, NamedTuple

from config import UserError
from game import Game
from games.parameters import values_of


class RuleSet(NamedTuple):
    """Rules that another program asks for."""

    ko: str
    suicide: str
    """Parameters of our Go."""
    bonus: str = "0"
    """White's points for a handicap of N stones: "0", "N" or "N-1"."""
    differs: str = ""
    """How the score differs from what was asked for."""
    notes: tuple[str, ...] = ()


NAMED = {
    "chinese": RuleSet("simple", "no", "N"),
    "chinese-ogs": RuleSet("superko", "no", "N"),
    "chinese-kgs": RuleSet("superko", "no", "N"),
    "tromp-taylor": RuleSet("superko", "yes"),
    "new-zealand": RuleSet("superko", "yes"),
    "new zealand": RuleSet("superko", "yes"),
    "aga": RuleSet("superko", "no", "N-1"),
    "bga": RuleSet("superko", "no", "N-1"),
    "aga-button": RuleSet("superko", "no", "N-1", "without a button"),
    "japanese": RuleSet("simple", "no", "0", "by area"),
    "korean": RuleSet("simple", "no", "0", "by area"),
    "stone-scoring": RuleSet("simple", "no", "0", "by area"),
    "stone_scoring": RuleSet("simple", "no", "0", "by area"),
    "littlego": RuleSet("simple", "no"),
}
"""Littlego is our own."""
_FIELDS = {"ko", "score", "scoring", "suicide", "tax", "hasButton", "whiteHandicapBonus", "friendlyPassOk"}
_KO = {"SIMPLE": "simple", "POSITIONAL": "superko", "SITUATIONAL": "superko"}
_WORDS = {
    "ko": ("POSITIONAL", tuple(_KO)),
    "scoring": ("AREA", ("AREA", "TERRITORY")),
    "tax": ("NONE", ("NONE", "SEKI", "ALL")),
    "whiteHandicapBonus": ("0", ("0", "N", "N-1")),
}
"""{field of rules as an object: (what it is where it is missing, as in Tromp-Taylor's rules, all that it may be)}"""


def read_rules(rules: Any) -> RuleSet:
    """Return the rules that a name or an object means; raise `UserError` if there are none such."""
    if isinstance(rules, dict):
        return _described(rules)
    if not isinstance(rules, str) or rules.strip().lower() not in NAMED:
        raise UserError(f"Could not parse rules, expected one of {', '.join(NAMED)} or an object")
    return NAMED[rules.strip().lower()]


def _described(rules: dict[str, Any]) -> RuleSet:
    given = {**rules, "scoring": rules["score"]} if "score" in rules and "scoring" not in rules else rules
    words = {key: str(given.get(key, usual)).upper() for key, (usual, _) in _WORDS.items()}
    for key, (_, known) in _WORDS.items():
        if words[key] not in known:
            raise UserError(f"Unknown {key} rule, expected one of {', '.join(known)}")
    for key in ("suicide", "hasButton"):
        if not isinstance(rules.get(key, False), bool):
            raise UserError(f"{key} must be a boolean")
    unused = sorted(key[:40] for key in rules if key not in _FIELDS)
    differs = "by area" if words["scoring"] == "TERRITORY" else "without a tax" if words["tax"] != "NONE" else ""
    return RuleSet(
        _KO[words["ko"]],
        "yes" if rules.get("suicide", True) else "no",
        words["whiteHandicapBonus"],
        differs or "without a button" * rules.get("hasButton", False),
        (f"Unused fields: {', '.join(unused[:20])}",) if unused else (),
    )


def notes_of(rules: RuleSet) -> list[str]:
    """Return what a user should know of rules that are not quite ours."""
    differs = f"Not known here: the game is counted {rules.differs}, and every stone is alive"
    return [*rules.notes, *([differs] if rules.differs else [])]


def description(game: Game, bonus: str) -> dict[str, Any]:
    """Return the rules by which a game of Go is played here, as KataGo describes rules."""
    known = values_of(game)
    return {
        "hasButton": False,
        "ko": "POSITIONAL" if known.get("ko") == "superko" else "SIMPLE",
        "scoring": "AREA",
        "suicide": known.get("suicide") == "yes",
        "tax": "NONE",
        "whiteHandicapBonus": bonus,
    }
