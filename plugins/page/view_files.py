"""The pages of the server as HTML: the views home, games and training, and what a game's page has of a server.

The scripts are those of the page of one file (`plugins/browser/page`), and a few that only a server has (`views`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from languages.translate import LANGUAGES
from plugins.browser.assemble import ServerPart, facts_block, html
from plugins.browser.game_facts import page_file, page_texts, texts_in, translated
from system.reading import TEXT_BYTES, read_limited

VIEWS = {
    "home": ("home.js",),
    "games": ("games.js",),
    "training": ("training.js", "watch.js"),
}
"""The views, and the scripts of each."""
SHARED = "words.js", "parts.js", "picture.js"
"""Scripts of the page of one file that views have."""


def view_file(name: str) -> str:
    """Return the text of a file of `views`."""
    return read_limited(Path(__file__).parent / "views" / name, TEXT_BYTES).decode()


@cache
def server_part() -> ServerPart:
    """Return what a game's page has more: the script that talks to the server, and the sheet."""
    return ServerPart(view_file("server.js"), view_file("views.css"))


@cache
def view_texts() -> tuple[str, ...]:
    """Return the English texts of the views and of the game's page."""
    own = [view_file(name) for names in (*VIEWS.values(), ("server.js", "frame.js")) for name in names]
    return tuple(dict.fromkeys([*page_texts(), *texts_in(own)]))


def texts_of_game() -> dict[str, dict[str, str]]:
    """Return the texts of a game's page in each language, those that only a server's page says with them."""
    return translated((*page_texts(), *texts_in([view_file("server.js")])))


def view_page(view: str, facts: dict[str, Any] | None = None) -> str:
    """Return the page of a view; facts: further ones that its scripts read."""
    shared = [page_file(name) for name in SHARED]
    own = [view_file(name) for name in ("server.js", "frame.js", *VIEWS[view])]
    texts = translated(texts_in([*shared, *own]))
    known = {"server": True, "view": view, "texts": texts, "languages": LANGUAGES} | (facts or {})
    script = "\n".join(['"use strict";', *shared, *own])
    return html("AlphaZero", "", facts_block(known), script, server=server_part())
