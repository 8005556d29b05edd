"""The page of a game: made once of rules, network and facts, then kept, in memory and in the folder of compiled code.

Where a browser can play the game with a network, the page has both as WebAssembly. Where it cannot (rules in plain
Python, a network of your own, no network at all, or no linker here) the page has neither, and the server plays.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from compiling import cache_folder
from config import UserError
from game import Game
from games.own import digest as rules_digest
from languages import translate
from plugins import browser, page, pictures
from plugins.browser.assemble import PageParts, facts_of, one_file
from plugins.browser.player import page_parts
from plugins.page.home import address_of
from plugins.page.pools import PARSING
from plugins.page.view_files import server_part, texts_of_game
from plugins.page.web_players import EARLY, SHIPS, Roster, prefix_of
from storage import run_folders
from storage.atomic_files import replacing
from system.reading import LINES_BYTES, read_limited

IN_MEMORY, ON_DISK = 8, 60
"""Pages that are kept at once."""
SOURCES = tuple(Path(str(package.__file__)).parent for package in (browser, page, pictures, translate))
SUFFIXES = frozenset((".py", ".js", ".css", ".html", ".json", ".gz"))
PLAIN_LEVELS = (
    ("Beginner", "random", 0),
    ("Novice", "rollout", 25),
    ("Casual", "rollout", 100),
    ("Club", "rollout", 400),
)
"""Opponents of a game without measured levels: (name, player, simulations)."""


class GamePages:
    """The pages that were made. Safe to use from several threads: one at a time makes a page."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, game: Game, player: str = "") -> bytes:
        """Return the HTML of a game's page. player: the network in it, by default the strongest there is."""
        names = self._roster.networks(game.spec)
        if player and player not in names:
            raise UserError(f"expected a network of {game.spec}, got {player[:60]!r}")
        player = player or self._roster.strongest(game.spec)
        key = self._key(game, player)
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            with PARSING:
                found = self._kept.get(key) or _read(key)
                if found is None:
                    found = made(game, player).encode()
                    _write(key, found)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > IN_MEMORY:
                self._kept.popitem(last=False)
        return found

    def _key(self, game: Game, player: str) -> str:
        """Return a digest of all that a page is made from."""
        parts = [game.spec, rules_digest(game), player, self._roster.digest_of(player, game)]
        return hashlib.sha256("\n".join([*parts, sources_digest(SOURCES)]).encode()).hexdigest()[:32]


def sources_digest(folders: Iterable[Path]) -> str:
    """Return a digest of when the files that pages are made of were changed."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and "tests" not in path.parts:
                status = path.stat()
                found.append(f"{path} {status.st_mtime_ns} {status.st_size}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def _place(key: str) -> Path:
    return cache_folder.FOLDER / f"page-{key}.html.gz"


def _read(key: str) -> bytes | None:
    """Return a page that was kept on disk, None if there is none or it is damaged."""
    try:
        return gzip.decompress(read_limited(_place(key), LINES_BYTES))
    except (OSError, EOFError, gzip.zlib.error):  # type: ignore[attr-defined]
        return None


def _write(key: str, page: bytes) -> None:
    """Keep a page on disk, instead of the oldest where there are too many; what cannot be written is not kept."""
    with suppress(OSError, UserError):
        with replacing(_place(key)) as trial:
            trial.write_bytes(gzip.compress(page, 1))
        found = sorted(cache_folder.FOLDER.glob("page-*.html.gz"), key=lambda path: path.stat().st_mtime)
        for old in found[:-ON_DISK]:
            old.unlink()


def made(game: Game, player: str) -> str:
    """Return the page of a game with a network, or without one where the browser cannot play."""
    more: dict[str, Any] = {"server": True, "texts": texts_of_game(), "address": address_of(game.spec)}
    try:
        parts = _parts(player, game)
    except UserError:
        facts = facts_of(game, {"player": _no_player(), "levels": _levels(), "engine": "server"})
        parts = PageParts(b"", {}, b"", facts, "")
    return one_file(parts._replace(facts=parts.facts | more), server=server_part())


def _parts(player: str, game: Game) -> PageParts:
    """Return the parts of a page for a network; raise `UserError` where a browser cannot play it."""
    prefix = prefix_of(player)
    if prefix != EARLY:
        return page_parts("shipped" if prefix == SHIPS else player, game)
    parts = page_parts(player.removeprefix(EARLY), game, run_folders.EARLY)
    return parts._replace(facts=parts.facts | {"player": parts.facts["player"] | {"early": True}})


def _no_player() -> dict[str, Any]:
    return {"name": "", "version": 0, "ownNetwork": False, "elo": None, "scoreboard": None}


def _levels() -> list[dict[str, Any]]:
    """Return the opponents that the server plays, in the form of measured levels."""
    return [
        {"name": name, "elo": None, "sims": sims, "temperature": 0, "player": player}
        for name, player, sims in PLAIN_LEVELS
    ]
