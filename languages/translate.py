"""Texts in the person's language. The English text is the key; `zh/*.json` hold {English: Chinese}.

What a person reads on the page, in a game at the console or in the notebook goes through `tr`; names of players, moves,
commands and settings, logs, and what `--json` prints do not.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
LANGUAGES = {"en": "English", "zh": "中文"}
chosen: ContextVar[str] = ContextVar("language", default="")
"""Language of this task and those that it begins, "" for the one of the page's tab, else of the system."""
of_tab: list[Callable[[], str]] = []
"""What returns the language of the page's tab in whose event this is called, "" outside of one; the page adds it."""


def tr(text: str, /, **values: object) -> str:
    """Return a text in the person's language, with its {fields} filled in.

    >>> tr("{count} moves", count=3)
    '3 moves'
    """
    found = catalogue(language()).get(text, text)
    return found.format(**values) if values else found


def language() -> str:
    """Return the language of what is shown now, one of LANGUAGES."""
    return chosen.get() or next((found for find in of_tab if (found := find())), "") or of_system()


@cache
def catalogue(name: str) -> dict[str, str]:
    """Return {English text: text} of a language, {} for English."""
    texts: dict[str, str] = {}
    for path in sorted((HERE / name).glob("*.json")):
        texts |= json.loads(path.read_text(encoding="utf-8"))
    return texts


def of_system() -> str:
    """Return the language that the environment names, as gettext reads it; English if there is no catalogue."""
    named = (os.environ.get(key) for key in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    wanted = next((name for name in named if name), "").split(":")
    return next((known for name in wanted if (known := re.split("[_.@-]", name)[0]) in LANGUAGES), "en")


def of_browser(header: str) -> str:
    """Return the first language of an Accept-Language header that there is a catalogue for, by its weights (RFC 9110,
    12.5.4); the system's if the header names none."""
    weighed: list[tuple[float, str]] = []
    for part in header[:1000].split(","):
        match = re.fullmatch(r"\s*([A-Za-z]{2,3})(?:-[A-Za-z0-9-]+)?\s*(?:;\s*q=([01](?:\.\d{0,3})?))?\s*", part)
        if match and match[1].lower() in LANGUAGES and (weight := float(match[2] or 1)):  # 0: anything but this
            weighed.append((weight, match[1].lower()))
    return max(weighed, key=lambda found: found[0])[1] if weighed else of_system()
