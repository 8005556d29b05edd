"""Makes the WebAssembly modules that ship, one for each built-in game, in plugins/browser/ready/, and
plugins/browser/known_boards.json.

    python distribution/make_ready.py                # those whose sources have changed
    python distribution/make_ready.py othello hex    # these games, changed or not

It needs a linker (docs/browser.md) and takes a quarter of a minute for a game, a minute for the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from plugins.browser.engine import board_facts, functions_of
from plugins.browser.known_boards import FILE, as_json, boards_that_ship
from plugins.browser.module import link
from plugins.browser.ready import FOLDER, packed, ready_file
from storage.atomic_files import replacing


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    named = sys.argv[1:]
    for name in named or games.names():
        parts = functions_of(games.make(name))
        path = ready_file(name, parts)
        if named or not path.exists():
            content = packed(link(parts))
            with replacing(path) as trial:
                trial.write_bytes(content)
            print(f"{path.name}: {len(content):,} bytes")
    wanted = {ready_file(name, functions_of(games.make(name))) for name in games.names()}
    for path in set(FOLDER.iterdir()) - wanted:
        path.unlink()
    boards = {spec: board_facts(games.make(spec)) for spec in boards_that_ship()}
    with replacing(FILE) as trial:
        trial.write_text(as_json(boards), encoding="utf-8")


if __name__ == "__main__":
    main()
