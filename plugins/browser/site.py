"""A folder for a web space: a start page, a file for each game, what installs it on a phone and publishes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import games
from config import UserError, has_range
from game import Game
from games.sizes import largest_of
from plugins.browser.assemble import Entry, one_file, start_page
from plugins.browser.player import page_parts
from storage import run_folders
from storage.atomic_files import replacing
from storage.run_folders import game_folder, read_config, runs_in
from system.reading import TEXT_BYTES, read_limited

HERE = Path(__file__).parent
START, PICTURE, MANIFEST, WORKER = "index.html", "icon.svg", "manifest.webmanifest", "service-worker.js"
PUBLISH = ".github/workflows/publish.yml"
ALWAYS = START, PICTURE, MANIFEST, WORKER, PUBLISH
"""Files of every site, but for an empty one."""
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" fill="#1f4e79"/>'
    '<circle cx="170" cy="170" r="84" fill="#f2b632"/><circle cx="342" cy="170" r="84" fill="#d1495b"/>'
    '<circle cx="170" cy="342" r="84" fill="#d1495b"/><circle cx="342" cy="342" r="84" fill="#f2b632"/></svg>\n'
)


def _own(name: str) -> str:
    return read_limited(HERE / name, TEXT_BYTES).decode()


def shipped_games() -> list[str]:
    """Return the games for which a player ships; of a range of sizes the largest, unless that has a player itself."""
    found = []
    for folder in sorted(run_folders.SHIPPED.iterdir()):
        for run in runs_in(folder):
            spec = read_config(run).game
            found.append(largest_of(games.make(spec)).spec if has_range(spec) else spec)
    return list(dict.fromkeys(found))


def write_site(
    folder: Path, specs: list[str], player: str, say: Callable[[str], object], *, overwrite: bool = False
) -> dict[str, int]:
    """Write the site, a game that is named twice once; return {file: bytes}.

    The service worker is written last, when all that it names is there. Raises `UserError` before anything is written,
    also where a file has such a name that no earlier site wrote, unless `overwrite`.
    """
    named: dict[str, Game] = {}
    for made in map(games.make, specs):
        game = largest_of(made)
        if game.spec not in {each.spec for each in named.values()}:
            named[f"{game_folder(made.spec)}.html"] = game
    if not overwrite:
        _check_free(folder, [*named, *ALWAYS])
    entries: list[Entry] = []
    files: dict[str, bytes] = {}
    for name, game in named.items():
        parts = page_parts(player, game)
        page = one_file(parts, site=True).encode()
        files[name] = page
        entries.append(Entry(name, parts.facts, len(page)))
        say(f"{name}: {parts.facts['player']['name']} of {game.spec}, {len(page) / 1e6:.2f} MB")
    files[START] = start_page(entries).encode()
    files[PICTURE] = ICON.encode()
    files[MANIFEST] = _manifest().encode()
    files[".nojekyll"] = b""
    files[PUBLISH] = _own("publish.yml").encode()
    digest = hashlib.sha256(b"".join(hashlib.sha256(files[name]).digest() for name in sorted(files))).hexdigest()
    first = ["./", START, PICTURE, MANIFEST]
    worker = _own(WORKER)
    files[WORKER] = (
        worker.replace("__VERSION__", json.dumps(digest[:16]))
        .replace("__FIRST__", json.dumps(first))
        .replace("__PAGES__", json.dumps(sorted(entry.file for entry in entries)))
        .encode()
    )
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with replacing(folder / name) as trial:
            trial.write_bytes(content)
    return {name: len(content) for name, content in files.items()}


def _check_free(folder: Path, names: list[str]) -> None:
    """Raise `UserError` if a file of a folder has one of these names and the folder is not that of an earlier site."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: expected a folder to write a site into, got a file")
    there = [name for name in names if (folder / name).exists()]
    if there and not _is_site(folder):
        raise UserError(
            f"{folder}: expected a folder without {there[0]}, or an earlier site; name another, or replace such files "
            "with --overwrite"
        )


def _is_site(folder: Path) -> bool:
    """Return whether an earlier call wrote the folder's service worker, its last file."""
    try:
        found = read_limited(folder / WORKER, TEXT_BYTES).decode(errors="replace")
    except OSError:
        return False
    return found.partition("\n")[0] == _own(WORKER).partition("\n")[0]


def _manifest() -> str:
    facts = {
        "name": "AlphaZero: play",
        "short_name": "AlphaZero",
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#1f4e79",
        "icons": [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any maskable"}],
    }
    return json.dumps(facts, indent=1) + "\n"
