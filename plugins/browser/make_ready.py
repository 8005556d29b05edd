"""Makes the WebAssembly modules that ship, one for each built-in game, in plugins/browser/ready/.

    python plugins/browser/make_ready.py                # those whose sources have changed
    python plugins/browser/make_ready.py othello hex    # these games, changed or not

It needs a linker (docs/browser.md) and takes a quarter of a minute for a game, a minute for the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import games
from config import SearchSettings
from game import Game
from plugins.browser.engine import laid_out, make_engine
from plugins.browser.forward import network_of
from plugins.browser.layers import without_layers
from plugins.browser.module import Part, link
from plugins.browser.ready import FOLDER, digest, packed
from storage.atomic_files import replacing


def functions_of(game: Game) -> dict[str, Part]:
    """Return the functions of a game's module, which are the same for every network and size of board."""
    search = SearchSettings(forced_wins=2 if game.forced else 0)
    return laid_out(make_engine(game, search, network_of(without_layers(game.action_size))))[0]


def ready_file(name: str, parts: dict[str, Part]) -> Path:
    return FOLDER / f"{name}-{digest(parts)}.wasm.gz"


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


if __name__ == "__main__":
    main()
