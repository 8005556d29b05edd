"""A page around the test double of the engine: `python stub_page.py GAME FILE`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import games  # noqa: E402
from players.levels import read_levels  # noqa: E402
from plugins.browser.assemble import PageParts, facts_of, one_file, worker_script  # noqa: E402

STUB = Path(__file__).with_name("stub_engine.js")


def stub_page(spec, engine=None, *, changes=(), ownership=False):
    """Return the HTML of a game's page around the test double or another engine, with other texts in its worker."""
    engine = engine or STUB.read_text(encoding="utf-8")
    game = games.make(spec)
    levels = [
        {
            "name": level.name,
            "elo": level.elo,
            "sims": level.sims,
            "temperature": level.temperature,
            "slips": level.slips,
        }
        for level in read_levels(spec)
    ] or [{"name": "Casual", "elo": None, "sims": 100, "temperature": 0}]
    player = {
        "name": "shipped, version 34",
        "trained": "34 iterations, 34,816 games against itself.",
        "ownNetwork": False,
        "version": 34,
    }
    facts = facts_of(game, {"levels": levels, "player": player, "ownership": ownership})
    worker = worker_script(engine)
    for before in changes:
        assert worker.count(before) == 1, before
        worker = worker.replace(before, changes[before])
    return one_file(PageParts(b"no wasm", {}, b"no weights", facts, worker))


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(stub_page(sys.argv[1]), encoding="utf-8")
