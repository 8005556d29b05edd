"""Puts the page, the engine and a player's data into one HTML file that asks nothing of any other place.

Its content security policy allows the scripts and the sheet by their digests, WebAssembly, and a worker from a Blob.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from game import Game
from plugins.browser.game_facts import SCRIPTS, START_SCRIPTS, game_facts, page_file, public_spec
from plugins.pictures import drawing_asset


class Entry(NamedTuple):
    """A game of the start page."""

    file: str
    """Name of its page, next to the start page."""
    facts: dict[str, Any]
    size: int
    """Bytes of its page."""


class ServerPart(NamedTuple):
    """What a page has more that a server delivers."""

    script: str
    sheet: str


def one_file(
    game: Game,
    facts: dict[str, Any],
    layout: dict[str, Any],
    wasm: bytes,
    weights: bytes,
    engine: str,
    *,
    site: bool = False,
    server: ServerPart | None = None,
) -> str:
    """Return the page of a player as HTML; facts: of the player, and what replaces facts of the game.

    engine: the script that makes an engine of the other data. With `site` the page belongs to a folder with a manifest
    and a service worker. server: what a page of a server has more; it may connect to that server.
    """
    known = game_facts(game) | facts
    known["spec"] = public_spec(game)
    known["player"] = {key: value for key, value in known["player"].items() if key != "game"}  # it may name a folder
    worker = re.sub(r"^export (?=async |function|const|let|class)", "", engine, flags=re.MULTILINE)
    blocks = [
        facts_block(known),
        _text("layout", json.dumps(layout, separators=(",", ":"))),
        _text("engine", worker + "\n" + page_file("worker.js")),
        _bytes("wasm", wasm),
        _bytes("weights", weights),
    ]
    title = known["title"]["en"]
    script = _script(SCRIPTS, board=True, after_client=server.script if server else "")
    return html(title, known["rules"]["en"], "\n".join(blocks), script, site=site, server=server)


def start_page(entries: Sequence[Entry]) -> str:
    """Return the page of a site on which one chooses a game."""
    shown = ("title", "rules", "drawing", "start")
    listed = []
    for one in entries:
        measured = [level["elo"] for level in one.facts["levels"] if level["elo"] is not None]
        best = {"file": one.file, "size": one.size, "elo": max(measured, default=None)}
        listed.append(best | {key: one.facts[key] for key in shown})
    facts = {"games": listed, "texts": entries[0].facts["texts"], "languages": entries[0].facts["languages"]}
    return html("AlphaZero", "", facts_block(facts), _script(START_SCRIPTS, board=False), site=True)


def facts_block(facts: dict[str, Any]) -> str:
    """Return the block of a page that holds its facts."""
    return _text("facts", json.dumps(facts, ensure_ascii=False, separators=(",", ":")))


def _script(names: Sequence[str], *, board: bool, after_client: str = "") -> str:
    parts = [drawing_asset("board.js")] if board else []
    for name in names:
        parts.append(page_file(name))
        if name == "client.js":
            parts.append(after_client)
    return "\n".join(['"use strict";', *parts])


def html(
    title: str, about: str, blocks: str, script: str, *, site: bool = False, server: ServerPart | None = None
) -> str:
    """Return a page with its policy."""
    sheet = page_file("style.css") + drawing_asset("board.css") + (server.sheet if server else "")
    own, manifest = (" 'self'", '<link rel="manifest" href="manifest.webmanifest">') if site else ("", "")
    more = "manifest-src 'self'; " if site else "connect-src 'self'; " if server else ""
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}' 'wasm-unsafe-eval'; style-src '{_digest(sheet)}'; "
        f"img-src data: blob:{own}; worker-src blob:{own}; {more}"
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": escape(title),
        "about": escape(about),
        "manifest": manifest,
        "sheet": sheet,
        "blocks": blocks,
        "script": script,
        "site": " data-site" if site else "",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], page_file("index.html"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(name: str, text: str) -> str:
    """Return a block of text that no browser reads as a script or a tag."""
    if name in ("facts", "layout"):
        return f'<script type="application/json" id="{name}">{text.replace("<", chr(92) + "u003c")}</script>'
    return _bytes(name, text.encode())


def _bytes(name: str, data: bytes) -> str:
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    return f'<script type="text/plain" id="{name}">{packed}</script>'
