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
from pathlib import Path
from typing import Any, NamedTuple

from game import Game
from plugins.browser.game_facts import SCRIPTS, START_SCRIPTS, game_facts, page_file, public_spec
from plugins.pictures import drawing_asset
from system.reading import TEXT_BYTES, read_limited


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


class PageParts(NamedTuple):
    """What a page needs of a player; all of it is made here, so that a server can deliver the parts one by one."""

    wasm: bytes
    """The search, the rules and the computation of the network, of one game."""
    layout: dict[str, Any]
    """Of the module's memory, as values for JSON."""
    weights: bytes
    """See `forward.bytes_of`."""
    facts: dict[str, Any]
    """Of the game (`game_facts.game_facts`) and of the player, as values for JSON."""
    script: str
    """The worker's script, whose `create` takes the other parts."""


def worker_script(engine: str = "") -> str:
    """Return the worker's script; engine: another text than that of engine.js, for tests."""
    text = engine or read_limited(Path(__file__).parent / "engine.js", TEXT_BYTES).decode()
    plain = re.sub(r"^export (?=async |function|const|let|class)", "", text, flags=re.MULTILINE)
    return plain + "\n" + page_file("worker.js")


def facts_of(game: Game, player: dict[str, Any]) -> dict[str, Any]:
    """Return all facts of a page; player: those of the player, which replace those of the game."""
    return game_facts(game) | player | {"spec": public_spec(game)}


def one_file(parts: PageParts, *, site: bool = False, server: ServerPart | None = None) -> str:
    """Return the page of a player as HTML.

    With `site` the page belongs to a folder with a manifest and a service worker. server: what a page of a server has
    more; it may connect to that server.
    """
    title, rules = parts.facts["title"]["en"], parts.facts["rules"]["en"]
    blocks = [
        facts_block(parts.facts),
        _json("layout", parts.layout),
        _packed("engine", parts.script.encode()),
        _packed("wasm", parts.wasm),
        _packed("weights", parts.weights),
    ]
    script = _script(SCRIPTS, board=True, after_client=server.script if server else "")
    return html(title, rules, "\n".join(blocks), script, site=site, server=server)


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
    return _json("facts", facts)


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
    """Return a page with its policy. Its script is packed: a third of its size."""
    begin = page_file("begin.js")
    sheet = page_file("style.css") + drawing_asset("board.css") + (server.sheet if server else "")
    own, manifest = (" 'self'", '<link rel="manifest" href="manifest.webmanifest">') if site else ("", "")
    more = "manifest-src 'self'; " if site else "connect-src 'self'; " if server else ""
    policy = (
        f"default-src 'none'; script-src '{_digest(begin)}' '{_digest(script)}' 'wasm-unsafe-eval'; "
        f"style-src '{_digest(sheet)}'; img-src data: blob:{own}; worker-src blob:{own}; {more}"
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": escape(title),
        "about": escape(about),
        "manifest": manifest,
        "sheet": sheet,
        "blocks": blocks + "\n" + _packed("script", script.encode()),
        "script": begin,
        "site": " data-site" if site else "",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], page_file("index.html"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(name: str, value: Any) -> str:
    """Return a block of JSON that no browser reads as a tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _packed(name: str, data: bytes) -> str:
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    return f'<script type="text/plain" id="{name}">{packed}</script>'
