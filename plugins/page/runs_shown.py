"""Runs as values for JSON: their list, one with its curves, its stored games, and what can be trained."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from config import UserError
from game import Game
from games.line_of_moves import after_moves, follow
from games.titles import title_of
from interface.metric_lines import searched_sims
from interface.side_names import side_name
from languages.translate import chosen, tr
from loggers import clock
from plugins.page.charts import Point, curve_svg
from plugins.page.home import address_of, in_languages
from plugins.page.pools import PARSING
from plugins.page.run_reader import (
    Listed,
    Standing,
    Stored,
    game_spec,
    iterations,
    kept_points,
    list_games,
    log_tail,
    match_game,
    metrics,
    newest_game,
    owner,
    readable,
    reading,
    series,
    settings,
    standing,
    stored_game,
    strength_points,
)
from plugins.page.training_process import Trainer
from plugins.page.web_players import EARLY, Roster, named_runs, prefix_of
from plugins.pictures.board_grid import grid_of
from plugins.pictures.board_parts import board_parts
from storage.game_record import IMPORTED
from system import processes
from training.presets import PRESETS, preset, preset_for

FAULTS = ValueError, TypeError, LookupError, ArithmeticError, AttributeError
"""Errors that lines no run wrote may raise; numpy's LinAlgError is a ValueError."""
CURVES = (
    ("Strength", "elo", 1.0, "Elo"),
    ("Game value kept by the network alone", "score_kept_alone", 1.0, "% of positions"),
    ("Game value kept with search", "score_kept", 1.0, "% of positions"),
    ("Policy loss", "retrain_policy_loss", 1.0, ""),
    ("Value loss", "retrain_value_loss", 1.0, ""),
    ("Score against the best", "tournament_score", 100.0, "% of points"),
    ("Length of self-play games", "self_play_plies", 1.0, "moves"),
    ("First player's wins", "self_play_first_wins", 100.0, "% of games"),
    ("Draws", "self_play_draws", 100.0, "% of games"),
    ("Positions in memory", "self_play_memory", 1.0, "positions"),
    ("Evaluations", "self_play_evals_per_s", 1.0, "a second"),
    ("Training", "retrain_positions_per_s", 1.0, "positions a second"),
)
FOLDED = 5
"""The curves from this one on are folded."""
STAGES = {"self-play": "self-play", "retrain": "retraining", "tournament": "tournament", "score": "scoreboard"}
WHAT = {
    "laptop": "suits the game and this processor",
    "tiny": "the smallest: minutes of learning",
    "classic": "the article's settings, slow",
    "gpu": "a larger network, for a GPU",
}
"""What a preset is."""
TEXTS = (
    "Strength",
    "Game value kept by the network alone",
    "Game value kept with search",
    "Policy loss",
    "Value loss",
    "Score against the best",
    "Length of self-play games",
    "First player's wins",
    "Draws",
    "Positions in memory",
    "Evaluations",
    "Training",
    "Elo",
    "% of positions",
    "% of points",
    "moves",
    "% of games",
    "positions",
    "a second",
    "positions a second",
    "self-play",
    "retraining",
    "tournament",
    "scoreboard",
    "suits the game and this processor",
    "the smallest: minutes of learning",
    "the article's settings, slow",
    "a larger network, for a GPU",
)
SHOWN = 24
"""Games in one answer."""
RESULTS = "", "1", "0", "-1", "left"
KINDS = "self-play", "tournament"


# ---- runs


def runs(trainer: Trainer) -> list[dict[str, Any]]:
    """Return all runs, the page's trainings that have no run yet first."""
    found = []
    processes_shown = set()
    for name, folder in named_runs().items():
        one = _run(name, folder, trainer)
        processes_shown.add(one["process"])
        found.append(one)
    starting = [
        {
            "name": "",
            "game": spec,
            "label": title_of(spec),
            "ships": False,
            "finished": False,
            "process": trainer.process(spec),
            "mine": True,
            "busy": True,
            "games": False,
            "error": "",
        }
        for spec in trainer.at_work()
        if trainer.process(spec) not in processes_shown
    ]
    return starting + found


def _run(name: str, folder: Path, trainer: Trainer) -> dict[str, Any]:
    """Return a run for the list; of one that cannot be read its name and why."""
    ships = prefix_of(name) != ""
    found: dict[str, Any] = {"name": name, "game": "", "label": name, "ships": ships, "finished": False}
    found |= {"process": None, "mine": False, "busy": False, "games": False, "error": ""}
    try:
        spec = settings(folder).game
        with reading(folder) as store:
            best, done = store.best(), store.get("finished") == "yes"
            found |= {"finished": done, "games": bool(store.count_games())}
        label = tr("{name}: best (version {number})", name=folder.name, number=best)
        label = tr("early versions") if name.startswith(EARLY) else label
        process = None if ships else owner(folder)
        mine = process is not None and process == trainer.process(spec)
        found |= {"game": spec, "label": f"{title_of(spec)}, {label}", "process": process, "mine": mine}
        found["busy"] = trainer.running(spec)
        found["error"] = "" if ships or process else trainer.error(spec)
    except UserError as error:
        found["error"] = str(error).splitlines()[0]
    return found


def folder_of(name: str) -> Path:
    """Return the folder of a run by its name in the list; raise `LookupError` if it is not there."""
    return named_runs()[name]


def one_run(name: str, compare: str, roster: Roster, trainer: Trainer) -> dict[str, Any]:
    """Return a run's state, numbers, curves, newest game and log. compare: another run's name, or ""."""
    folder, ships = folder_of(name), prefix_of(name) != ""
    now = standing(folder)
    compared = {name: folder} | ({compare: folder_of(compare)} if compare else {})
    with readable(folder, *FAULTS):
        lines = {each: metrics(place) for each, place in compared.items()}
        curves = all_curves(lines)
        if ships and not strength_points(lines[name])[0]:  # nor will there ever be
            curves = [curve for curve in curves if curve["key"] != "elo"]
    mine = now.process is not None and now.process == trainer.process(settings(folder).game)
    newest, board = None, None
    with suppress(UserError):  # a game that must not be made, or none yet
        stored = newest_game(folder, named=roster.named)
        if stored is not None:
            newest, board = as_game(stored), board_of(stored.record.game)
    return {
        "name": name,
        "standing": now._asdict(),
        "words": shipped_words(name, now) if ships else words_of(now, mine),
        "facts": facts_of(now, ships=ships),
        "curves": curves,
        "log": log_tail(folder),
        "newest": newest,
        "board": board,
    }


def words_of(now: Standing, mine: bool) -> str:
    """Return the state of a run, in words."""
    if now.finished:
        return tr("finished after {count} iterations", count=now.iteration - 1)
    if now.process is None:
        return tr("waiting, {count} iterations done", count=now.iteration - 1)
    text = tr("iteration {number}: {stage}", number=now.iteration, stage=tr(STAGES.get(now.stage, now.stage)))
    text += f" {100 * now.share:.0f} %" if now.share is not None else ""
    text += tr(", about {time} to go", time=clock(now.seconds_left)) if now.seconds_left is not None else ""
    return text if mine else text + tr(" (process {number}, not of this page)", number=now.process)


def shipped_words(name: str, now: Standing) -> str:
    """Return a line about a run that comes with the program."""
    if name.startswith(EARLY):
        return tr("comes with the program: versions of a training from its first minute on, with some of their games")
    return tr("ships with the program, after {count} iterations", count=now.iteration - 1)


def facts_of(now: Standing, *, ships: bool = False) -> dict[str, int]:
    """Return a run's numbers; ships: it came with the program, without most of the games that it played."""
    counted = {} if ships else {tr("games"): now.games}
    return {
        tr("iterations done"): now.iteration - 1,
        **counted,
        tr("newest version"): now.versions,
        tr("best version"): now.best,
    }


# ---- curves


def all_curves(lines: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the curves of the runs, {name: its metrics}; of those whose lines cannot be drawn a note."""
    try:
        return curves_of(lines)
    except FAULTS:
        drawable = {name: found for name, found in lines.items() if _can_be_drawn(found)}
    left = [
        {
            "key": f"fault {name}",
            "title": "",
            "svg": curve_svg(f"{name}: its metrics.jsonl cannot be drawn", {}),
            "first": False,
            "more": False,
        }
        for name in lines.keys() - drawable
    ]
    return left + curves_of(drawable)


def _can_be_drawn(found: list[dict[str, Any]]) -> bool:
    try:
        curves_of({"": found})
    except FAULTS:
        return False
    return True


def curves_of(lines: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return all curves, a line for each run. The first is the largest; those after FOLDED are folded at first."""
    curves = []
    for number, (title, key, factor, unit) in enumerate(CURVES):
        unit = tr(unit) if unit else ""
        shown: dict[str, list[Point]] = {}
        for run_name, found in lines.items():
            points, more = points_of(found, key, factor)
            name = f"{run_name}{f' ({more})' if more else ''}" if len(lines) > 1 else ""
            unit = f"{unit}, {more}" if more and len(lines) == 1 else unit
            shown[name] = points
        if key.startswith("score_") and not any(shown.values()):
            continue
        high = 100.0 if unit.startswith("%") else None
        low = None if key == "elo" or key.startswith("score_") else 0.0
        svg = curve_svg(tr(title), shown, unit=unit, low=low, high=high)
        curves.append({"key": key, "title": tr(title), "svg": svg, "first": number == 0, "more": number >= FOLDED})
    return curves


def points_of(lines: list[dict[str, Any]], key: str, factor: float) -> tuple[list[Point], str]:
    """Return (the points of a curve, notes on them)."""
    if key == "elo":
        points, zero = strength_points(lines)
        return points, f"{zero} = 0" if points else ""
    if key.startswith("score_kept"):
        sims = searched_sims(lines)
        return kept_points(lines, key), f"{sims} sims" if sims is not None and key == "score_kept" else ""
    return series(lines, key, factor=factor), ""


# ---- games


def board_of(game: Game) -> dict[str, Any]:
    """Return what a small board of a game needs."""
    names = {}
    for language in in_languages(game):
        token = chosen.set(language)
        try:
            names[language] = [side_name(game, 1), side_name(game, -1)]
        finally:
            chosen.reset(token)
    drawing = board_parts(game) if grid_of(game.start()) is not None else None
    return {"drawing": drawing, "spec": game.spec, "sideNames": names}


def as_game(stored: Stored) -> dict[str, Any]:
    """Return a stored game with all its positions."""
    record = stored.record
    game, positions = record.game, []
    for state in follow(game, record.moves):
        grid = grid_of(state)
        positions.append([cell for row in grid.cells for cell in row] if grid is not None else [])
    return {
        "spec": game.spec,
        "players": list(record.players),
        "moves": [game.move_name(action) for action in record.moves],
        "actions": [int(action) for action in record.moves],
        "values": stored.values,
        "result": record.result,
        "positions": positions,
    }


def one_game(name: str, iteration: int, number: int, kind: str, roster: Roster) -> dict[str, Any]:
    """Return a stored game of a run."""
    folder = folder_of(name)
    read = stored_game if kind == "self-play" else match_game
    found = read(folder, iteration, number, named=roster.named)
    return as_game(found) | {"board": board_of(found.record.game)}


def games_of(
    name: str,
    iteration: int,
    kind: str,
    roster: Roster,
    *,
    result: str = "",
    version: int | None = None,
    least: int | None = None,
    most: int | None = None,
    first: int = 0,
) -> dict[str, Any]:
    """Return SHOWN stored games of a run from number `first` of those that pass. iteration: 0 for the newest of all."""
    folder = folder_of(name)
    game, every = list_games(folder, iteration, kind, named=roster.named)
    found = passing(every, result, version, least, most)
    boards: dict[str, dict[str, Any]] = {}
    shown = []
    for one in found[first : first + SHOWN]:
        own = one.board or game
        boards.setdefault(own.spec, board_of(own))
        shown.append(_listed(name, kind, own, one))
    played = {number for one in every for number in one.versions}
    return {
        "games": shown,
        "boards": boards,
        "count": len(found),
        "more": len(found) > first + SHOWN,
        "versions": sorted(played, reverse=True),
        "iterations": iterations(folder),
    }


def _listed(name: str, kind: str, game: Game, one: Listed) -> dict[str, Any]:
    try:
        state = after_moves(game, one.moves)
        grid, fault = grid_of(state), ""
        cells = [cell for row in grid.cells for cell in row] if grid is not None else []
        last = grid.last if grid is not None and grid.last is not None else -1
    except UserError as error:  # a game that others wrote
        cells, last, fault = [0] * (game.grid_shape[0] * game.grid_shape[1]), -1, str(error).splitlines()[0]
    who = tr(one.who) if one.who in ("self-play", "imported") else one.who
    record = f"{name},{one.iteration},{one.number},{kind}"
    index = one.number % IMPORTED
    return {
        "number": one.number,
        "iteration": one.iteration,
        "who": f"{tr('iteration {iteration}, game {index}', iteration=one.iteration, index=index)}: {who}",
        "result": one.result,
        "length": len(one.moves),
        "versions": list(one.versions),
        "cells": cells,
        "last": last,
        "board": game.spec,
        "error": fault,
        "url": f"{address_of(game.spec)}?record={record}",
    }


def passing(
    found: list[Listed], result: str, version: int | None, least: int | None = None, most: int | None = None
) -> list[Listed]:
    """Return the games with a result (one of RESULTS, for who began), of a version, with `least` to `most` moves."""
    return [
        game
        for game in found
        if result in ("", kind_of(game.result))
        and (version is None or version in game.versions)
        and (least is None or len(game.moves) >= least)
        and (most is None or len(game.moves) <= most)
    ]


def kind_of(result: float | None) -> str:
    """Return the one of RESULTS that a result is.

    >>> [kind_of(result) for result in (1.0, 0.0, None)]
    ['1', '0', 'left']
    """
    return "left" if result is None else str((result > 0) - (result < 0))


# ---- what can be trained


def options(spec: str, minutes: int | None) -> dict[str, Any]:
    """Return what a training of a game can choose, and its sizes; minutes: its limit, None: without one."""
    suits = preset_for(spec)
    presets = []
    for name in PRESETS:
        with suppress(UserError):
            presets.append({"key": name, "name": tr(name), "about": tr(WHAT[name]), "suits": name == suits})
    with PARSING:
        config = preset(suits, game=spec, minutes=float(minutes or 0))
    lines = [
        (tr("games an iteration"), f"{config.episodes:,}"),
        (tr("iterations at most"), f"{config.iterations:,}"),
        (tr("simulations a move"), f"{config.mcts_sims:,}"),
    ]
    return {"presets": presets, "minutes": config.minutes or None, "seconds": None, "estimate": lines}


def train_arguments(given_preset: str, minutes: float | None) -> list[str]:
    """Return the arguments of `train` for a new run."""
    return ["--new", "--preset", given_preset, *(["--minutes", f"{minutes:g}"] if minutes else [])]


def resumed(run: str, spec: str, roster: Roster) -> tuple[str, list[str]]:
    """Return (game, arguments of `train`) that resume a run of a game; run: its name, or its folder's."""
    for name, folder in named_runs().items():
        if not prefix_of(name) and run in (name, folder.name) and settings(folder).game == spec:
            return game_spec(folder, roster.named), ["--run", str(int(folder.name[3:]))]
    raise LookupError(run)


# ---- a run at work


def _running(process: int) -> float | None:
    """Return the seconds since a process began, None where the system does not say."""
    try:
        return max(time.time() - processes.started(process), 0.0)
    except (OSError, AttributeError, ValueError, IndexError):
        return None


def live(name: str, folder: Path, trainer: Trainer) -> dict[str, Any] | None:
    """Return the figures of a run at work, None if no process works on it."""
    if prefix_of(name) or owner(folder) is None:
        return None
    now = standing(folder)
    if now.process is None:
        return None
    config = settings(folder)
    lines = metrics(folder)
    rate = lines[-1].get("self_play_evals_per_s") if lines else None
    with reading(folder) as store:
        played = sum(index < IMPORTED for index in store.game_indices(now.iteration))
    seconds = _running(now.process)
    return {
        "name": name,
        "stage": now.stage,
        "share": now.share,
        "iteration": now.iteration,
        "games": played,
        "evaluations_per_second": rate if isinstance(rate, int | float) else None,
        "seconds_left": now.seconds_left,
        "minutes": None if seconds is None else round(seconds / 60, 3),
        "words": words_of(now, now.process == trainer.process(config.game)),
        "lines": len(lines),
        "process": now.process,
    }


def starting(spec: str, seconds: float) -> dict[str, Any]:
    """Return the figures of a training that has no run yet."""
    words = f"{tr('{game}: starting ...', game=title_of(spec))} {seconds:.0f} s"
    return {
        "name": "",
        "game": spec,
        "stage": "",
        "share": None,
        "iteration": 0,
        "games": 0,
        "evaluations_per_second": None,
        "seconds_left": None,
        "minutes": round(seconds / 60, 3),
        "words": words,
        "lines": 0,
    }

