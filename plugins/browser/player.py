"""What a page needs of a player, by the player's name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from config import Config, UserError
from evaluation.scoreboard_file import SCOREBOARD, read_scoreboard
from game import Game
from loggers import read_metrics
from network.ownership import HEAD
from network.stored_network import layers_of
from players.by_name import model_of, network_named
from players.levels import NETWORKS, read_levels
from players.runs_of_many_sizes import plays
from plugins.browser.assemble import PageParts, facts_of, worker_script
from plugins.browser.engine import compile_engine, make_engine
from plugins.browser.forward import bytes_of, network_of
from plugins.browser.layers import plan
from storage import run_folders
from storage.run_folders import read_config


def page_parts(player: str, game: Game, root: Path | None = None) -> PageParts:
    """Return the parts of a page for a network by its name, such as `shipped`, `best` or `run0002:version0007`.

    Game and network may be your own. Raises `UserError` for other players, for a network in code of your own, and for a
    game in plain Python.
    """
    named = network_named(player, game, root)
    if named is None or named.forms or named.book:
        raise UserError(f"export-page: expected a network such as shipped, best or run0002:best, got {player[:60]!r}")
    config = read_config(named.folder)
    if config.game != game.spec and not plays(config.game, game):
        raise UserError(f"{named.folder.name}: expected a model of {game.spec}, got one of {config.game}")
    ships = named.folder.is_relative_to(run_folders.SHIPPED)
    own = "shipped" if ships else named.folder.name
    model, version = model_of(game, named.folder, config, own, named.version)
    layers = layers_of(model)
    if layers is None:
        raise UserError(f"export-page: expected the residual network, got a network of your own ({config.network})")
    network = network_of(plan(layers, model.get_weights(), ownership=game.scored_by_area))
    search = replace(config.search, forced_wins=2) if game.forced else config.search  # as `network_player` does
    engine = make_engine(game, search, network)
    wasm, layout = compile_engine(engine)
    facts = {
        "player": _player_facts(named.folder, config, version, own, ships),
        "levels": _levels(game) if ships else [],
        "ownership": game.scored_by_area and HEAD in layers.heads,
    }
    return PageParts(wasm, layout, bytes_of(network), facts_of(game, facts), worker_script())


def _levels(game: Game) -> list[dict[str, Any]]:
    """Return the levels of play that are of the network that ships."""
    return [
        {
            "name": each.name,
            "elo": round(each.elo),
            "sims": each.sims,
            "temperature": each.temperature,
            "slips": each.slips,
        }
        for each in read_levels(game.spec)
        if each.player in NETWORKS
    ]


def _player_facts(folder: Path, config: Config, version: int, own: str, ships: bool) -> dict[str, Any]:
    """Return what the page says of the player: which version of which run, how it was trained, how strong it is."""
    lines = read_metrics(folder / "metrics.jsonl")
    board = folder / SCOREBOARD
    return {
        "name": f"{own}:version{version:04}",
        "version": version,
        "ownNetwork": not ships,
        "iterations": len(lines),
        "games": sum(int(line.get("self_play_games", 0)) for line in lines),
        "minutes": round(lines[-1].get("total_seconds", 0) / 60, 1) if lines else 0,
        "scoreboard": read_scoreboard(board) if ships and board.exists() else None,
    }
