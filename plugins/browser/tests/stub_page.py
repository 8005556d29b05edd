"""A page around the test double of the engine: `python stub_page.py GAME FILE`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import games  # noqa: E402
from players.levels import read_levels  # noqa: E402
from plugins.browser.assemble import one_file  # noqa: E402

STUB = Path(__file__).with_name("stub_engine.js")


def stub_page(spec, engine=None):
    """Return the HTML of a game's page around the test double, or another engine."""
    engine = engine or STUB.read_text(encoding="utf-8")
    game = games.make(spec)
    levels = [
        {
            "name": level.name,
            "elo": level.elo,
            "sims": level.sims,
            "temperature": level.temperature,
            "plain": not level.sims,
        }
        for level in read_levels(spec)
    ] or [{"name": "Casual", "elo": None, "sims": 100, "temperature": 0, "plain": False}]
    player = {
        "name": "shipped, version 34",
        "trained": "34 iterations, 34,816 games against itself.",
        "elo": 1423,
        "ownNetwork": False,
        "version": 34,
    }
    facts = {"spec": spec, "levels": levels, "player": player, "format": 1}
    return one_file(game, facts, {}, b"no wasm", b"no weights", engine)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(stub_page(sys.argv[1]), encoding="utf-8")
