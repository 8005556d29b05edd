"""The model card of a player that ships: what it is, how it was made, how strong it is, where its limits are.

All of it follows from the files in the player's folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import games
from config import has_range
from evaluation.scoreboard_file import SCOREBOARD, read_scoreboard
from loggers import read_metrics
from network.stored_network import began_with
from players.levels import Level, boards_of, file_on, read_file
from storage.atomic_files import write_file
from storage.run_folders import read_config
from storage.run_store import Store

CARD = "README.md"


def model_card(folder: Path) -> str:
    """Return the card of the shipped player in `folder` as Markdown."""
    config = read_config(folder)
    game, lines = games.make(config.game), read_metrics(folder / "metrics.jsonl")
    store = Store(folder / "run.db", read_only=True)
    try:
        newest, began = store.newest(), began_with(store)
    finally:
        store.close()
    made = lines[: newest.iteration]
    rows, columns = game.grid_shape
    spent = made[-1].get("total_seconds", 0) / 60 if made else 0.0
    after = f" after those of {began}, with whose network it began" if began else ""
    facts = {
        "game": f"`{game.spec}`, {rows} x {columns} points, {game.action_size} actions, "
        f"{game.input_shape[2]} input planes",
        "network": f"residual, layers {' '.join(config.hidden_cnn_layers)}, normalisation {config.normalisation}",
        "file": f"`models/{newest.file}`, sha256 `{newest.sha256[:16]}...`, "
        f"{(folder / 'models' / newest.file).stat().st_size / 1e6:.1f} MB",
        "data": f"{sum(int(line.get('self_play_games', 0)) for line in made):,} games against itself",
        "training": f"{newest.iteration} iterations, {spent:.{0 if spent >= 10 else 1}f} minutes{after}, optimizer "
        f"{config.optimizer}; all settings in `config.json`, all figures in `metrics.jsonl`",
        "licence": "MIT, as the program",
    }
    board = read_scoreboard(folder / SCOREBOARD)
    return "\n".join([
        f"# {game.spec}: version {newest.version}", "",
        f"Plays with `python main.py play --game '{game.spec}' --against shipped`.", "",
        "| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in facts.items()), "",
        "## Strength", "", *_exact(board["exact"]), *_ladder(board["ladder"]), *_levels(folder),
        "## Limits", "", *_limits(board, game.spec), "",
    ])  # fmt: skip


def write_card(folder: Path) -> Path:
    """Write the card into the player's folder; return its path."""
    write_file(folder / CARD, model_card(folder).encode())
    return folder / CARD


def _exact(exact: dict[str, Any] | None) -> list[str]:
    if exact is None:
        return []
    first, last = exact["plies"]
    which, interval = f"{exact['positions']:,} positions after {first} to {last} random moves", " and its 95 % interval"
    if exact["whole"]:
        which, interval = f"all {exact['positions']:,} positions whose moves differ in value, up to symmetry", ""
    lines = [
        f"Positions solved exactly ({exact['solver']}, {which}),",
        f"with the share of moves that keep the game's value{interval}:",
        "",
        "| moves by | value kept |",
        "|---|---|",
        *(f"| {p['name']} | {_share(p['kept'], exact['whole'])} |" for p in exact["players"]),
        f"| a random move | {100 * exact['chance']['kept']:.0f} % |",
        "",
    ]
    if exact.get("endings"):
        lines += ["In play the search also solves such endings exactly; here it does not.", ""]
    return lines


def _share(kept: dict[str, Any], whole: bool) -> str:
    """Return a share in words; a share of all possible positions has no interval."""
    interval = "" if whole else f" [{100 * kept['low']:.1f}, {100 * kept['high']:.1f}]"
    return f"{100 * kept['share']:.1f} %{interval}"


def _ladder(ladder: dict[str, Any] | None) -> list[str]:
    if ladder is None:
        return []
    return [
        f"A player of random rollouts needs {ladder['words']} a move to score half against it",
        f"({ladder['games']} games, {ladder['player_simulations']} simulations a move for the network).", "",
    ]  # fmt: skip


def _levels(folder: Path) -> list[str]:
    lines: list[str] = []
    for board in boards_of(folder):
        rows, columns = board.grid_shape
        levels, anchor, games_each = read_file(file_on(folder, board))
        lines += [
            f"Levels of play on {rows} x {columns} points, Elo over `{anchor}`, with 95 % intervals of the distance to",
            f"the level below; from games of all candidates, at least {games_each} for each two that are neighbours:",
            "",
            "| level | name | player | simulations | temperature | at random | Elo |",
            "|---|---|---|---|---|---|---|",
            *(_row(number, level) for number, level in enumerate(levels, 1)),
            "",
        ]
    return lines


def _row(number: int, level: Level) -> str:
    sims, temperature = level.sims or "", f"{level.temperature:g}" if level.temperature else ""
    slips, strength = f"{level.slips:.0%}" if level.slips else "", f"{level.elo:.0f} ±{level.error:.0f}"
    return f"| {number} | {level.name} | `{level.player}` | {sims} | {temperature} | {slips} | {strength} |"


def _limits(board: dict[str, Any], spec: str) -> list[str]:
    exact = board["exact"]
    lines = [f"- It plays `{spec}` only: other sizes and rules need a network of their own."]
    if has_range(spec):
        lines = ["- It was trained on these sizes; how well it plays others was not measured."]
    if exact is not None and exact["players"]:
        strongest = exact["players"][-1]
        stage = min((s for s in strongest["stages"] if s["positions"]), key=lambda s: s["share"])
        if stage["share"] < 1:
            kept = _share(stage, exact["whole"])
            lines.append(f"- Weakest at {stage['name']}: {kept} of moves keep the value with {strongest['name']}.")
    if exact is None:
        lines.append("- No solver knows this game's exact values, so its strength is known from games only.")
    return [*lines, "- Positions far from those of its own games may be judged badly."]
