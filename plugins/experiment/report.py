"""A run or an experiment as one HTML file, which needs nothing else: no server, no network, no other file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import games
from config import Config, differences
from evaluation.rating import ANCHOR, rated_versions
from game import Game
from interface.metric_lines import finite, lines_of
from loggers import clock
from plugins.experiment.answer import cells, rows, sentences
from plugins.experiment.boards import Boards
from plugins.experiment.charts import Interval, Series, interval_chart, line_chart
from plugins.experiment.folder import differing, machine, read_experiment
from plugins.experiment.measure import read_results
from plugins.experiment.openings_played import as_values, openings_played
from plugins.experiment.plan import Plan
from plugins.experiment.runs import Job, jobs
from storage.run_folders import game_of, read_config
from storage.run_store import Store
from system.reading import TEXT_BYTES, read_limited
from system.shell import join
from training.presets import as_options, preset_for, unfitted
from training.size_plan import game_named

HERE = Path(__file__).parent
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
MARK = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
"""Stands in each report, and in no other file."""
POINTS = 200
"""Most points of a curve."""
OPENINGS = (
    "How often each move was played, how the player who began scored, and how often it was played in each part of the "
    "run. Games that began with random moves do not count where that is known."
)


def page(title: str, below: str, sections: Iterable[str], data: dict[str, Any]) -> str:
    """Return a whole HTML file; the texts are escaped already, `title` and `below` are not."""
    style, script = (read_limited(HERE / name, TEXT_BYTES).decode() for name in ("report.css", "report.js"))
    values = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{MARK}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f'<body><main><h1>{escape(title)}</h1><p class="less">{escape(below)}</p>{"".join(sections)}</main>'
        f'<script type="application/json" id="data">{values}</script><script>{script}</script></body></html>\n'
    )


def section(heading: str, *inside: str, kind: str = "") -> str:
    """Return a section, "" if nothing is in it."""
    text = "".join(inside)
    return f'<section class="{kind}"><h2>{escape(heading)}</h2>{text}</section>' if text else ""


def table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table, its heading first; "" without lines below it."""
    if len(lines) < 2:
        return ""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in lines[0])
    body = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in lines[1:])
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text: str) -> str:
    return f"<td{' class=text' * (len(text) > 40)}>{escape(text)}</td>"


def _charts(*charts: str) -> str:
    return f'<div class="charts">{"".join(charts)}</div>' if any(charts) else ""


def _viewer(view: str) -> str:
    return f'<div class="play" data-view="{view}"><div class="board"></div><div class="side"></div></div>'


def _para(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>'


# ---- a run


def run_report(folder: Path) -> str:
    """Return the report of a run, which may be at work; nothing of it is changed."""
    config = read_config(folder)
    game = game_of(folder, config)
    lines = lines_of(folder)
    boards = Boards()
    parts: list[tuple[int, int]] = []
    openings: list[dict[str, Any]] = []
    games_shown: list[dict[str, Any]] = []
    store = Store(folder / "run.db", read_only=True)
    try:
        if store.count_games():
            games_shown = _sample_games(store, game, boards)
            root, parts = openings_played(store, config, game)
            openings = as_values(root, game, boards) if sum(root.games) else []
    finally:
        store.close()
    last = lines[-1] if lines else {"iteration": 0}
    below = (
        f"iteration {last['iteration']}, version {last.get('version', 0)}, best version "
        f"{last.get('best_version', 0)}, {clock(last.get('total_seconds', 0))} of work"
    )
    sections = [
        section("Curves", _curves(lines)),
        section("Scoreboard", _scoreboard(lines)),
        section("Elo of the versions", _versions(lines)),
        section("Games of self-play", _viewer("games") if games_shown else ""),
        section(
            "Openings of self-play",
            *([_para(OPENINGS, "less"), _viewer("openings")] if len(openings) > 1 else []),
        ),
        section("Settings that differ from the preset", _settings(config)),
        section("Do it again", f"<pre>{escape(_command(config))}</pre>"),
        section("Machine of this report", _facts(machine())),
    ]
    data = {
        "parts": boards.parts,
        "drawn": boards.drawn,
        "games": games_shown,
        "openings": openings,
        "parts_of_run": parts,
    }
    return page(f"{game.name}: {folder.name}", below, sections, data)


def _thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    step = -(-len(points) // POINTS) or 1
    return points[::-1][::step][::-1]


def _series(lines: list[dict[str, Any]], key: str, name: str, colour: int) -> Series:
    points = [(float(m["iteration"]), float(m[key])) for m in finite(lines, key)]
    return Series(name, _thin(points), colour)


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _curves(lines: list[dict[str, Any]]) -> str:
    rated, ratings = rated_versions(lines)
    elo = [(float(line["iteration"]), r.elo, r.error) for line, r in rated] if ANCHOR in ratings else []
    elo.sort()
    strength = Series("", [p[:2] for p in elo], 0, [p[2] for p in elo])
    return _charts(
        line_chart(
            "Loss",
            [_series(lines, "retrain_policy_loss", "policy", 0), _series(lines, "retrain_value_loss", "value", 1)],
            zero=True,
            across="iteration",
        ),
        line_chart(
            "Moves that keep the value",
            [_series(lines, "score_kept", "with search", 0), _series(lines, "score_kept_alone", "network alone", 1)],
            label=_percent,
            across="iteration",
        ),
        line_chart(f"Elo over {ANCHOR}", [strength], across="iteration"),
        line_chart(
            "Results of self-play",
            [_series(lines, "self_play_first_wins", "first wins", 0), _series(lines, "self_play_draws", "drawn", 2)],
            label=_percent,
            zero=True,
            across="iteration",
        ),
        line_chart("Moves of a game", [_series(lines, "self_play_plies", "", 0)], across="iteration"),
        line_chart(
            "Positions a second",
            [
                _series(lines, "self_play_evals_per_s", "evaluated", 2),
                _series(lines, "retrain_positions_per_s", "trained", 1),
            ],
            zero=True,
            across="iteration",
        ),
    )


def _scoreboard(lines: list[dict[str, Any]]) -> str:
    found = [["iteration", "version", "alone", "with search", "simulations", "opponents"]]
    scored = [m for m in lines if "score_kept" in m or m.get("score_matches")]
    for m in scored[-1:-9:-1]:
        met = ", ".join(
            f"{100 * o['score']:.0f} % against {o['opponent']} ({o['games']})" for o in m.get("score_matches", ())
        )
        kinds = "score_kept_alone", "score_kept"
        share = [_percent(m[key]) if isinstance(m.get(key), float) else "" for key in kinds]
        found.append([str(m["iteration"]), str(m.get("version", "")), *share, str(m.get("score_sims", "")), met])
    return table(found)


def _versions(lines: list[dict[str, Any]]) -> str:
    rated, ratings = rated_versions(lines)
    against = ANCHOR if ANCHOR in ratings else "version 0"
    found = [["version", "iteration", f"Elo over {against}", "error, 95 %"]]
    for line, rating in sorted(rated, key=lambda pair: -pair[0]["version"])[:12]:
        found.append([str(line["version"]), str(line["iteration"]), f"{rating.elo:.0f}", f"±{rating.error:.0f}"])
    return table(found)


def _sample_games(store: Store, game: Game, boards: Boards, label: str = "") -> list[dict[str, Any]]:
    """Return two games of the first, the middle and the last iteration."""
    iterations = sorted(i for i in store.game_counts() if i > 0)
    chosen = dict.fromkeys((iterations[0], iterations[len(iterations) // 2], iterations[-1]) if iterations else ())
    found = []
    for iteration in chosen:
        for record in islice(store.games_of(iteration), 1 if label else 2):
            board = game_named(game, record.board)
            winner = "the first player wins" if record.result > 0 else "the second player wins"
            title = f"{label}iteration {iteration}, game {record.index}: {winner if record.result else 'drawn'}"
            found.append(boards.game(board, record.moves.tolist(), record.values.tolist(), title))
    return found


def _settings(config: Config) -> str:
    base = unfitted(preset_for(config.game), game=config.game)
    found = [["setting", preset_for(config.game), "here"]]
    found += [[name, str(old), str(new)] for name, (old, new) in differences(base, config).items()]
    return table(found) or _para("None.")


def _command(config: Config) -> str:
    name = preset_for(config.game)
    return join(["python", "main.py", "--preset", name, "--game", config.game, "--new", *as_options(config, name)])


def _facts(values: dict[str, Any]) -> str:
    return table([["", ""], *([name, str(value)] for name, value in values.items() if value != "")])


# ---- an experiment


def experiment_report(folder: Path, named: str) -> str:
    """Return the report of an experiment, which may be at work.

    named: a game that the user has named. A game's own file is run only if it is that one, and not because the plan of
    an experiment from others names it.
    """
    plan, made = read_experiment(folder)
    game = games.make(plan.game, typed=".py" in plan.game and games.make(named).spec == plan.game)
    todo, results = jobs(plan, folder), read_results(folder)
    found = rows(plan, todo, results)
    done = sum(job.finished() for job in todo)
    whole = done == len(todo) and all(row.elo is not None and len(row.elo.seeds) == plan.seeds for row in found[1:])
    said = (
        sentences(plan, found)
        if whole
        else [f"{done} of {len(todo)} runs are finished: the answer comes at the end, not before."]
    )
    boards = Boards()
    shown = _games_of(plan, game, todo, boards)
    data = {"parts": boards.parts, "drawn": boards.drawn, "games": shown, "openings": [], "parts_of_run": []}
    elos = [Interval(row.name, row.elo.mean, row.elo.low, row.elo.high, row.elo.seeds) for row in found if row.elo]
    kept = [Interval(row.name, row.kept.mean, row.kept.low, row.kept.high, row.kept.seeds) for row in found if row.kept]
    unlike = [words for before, now in pairwise(made) for words in differing(before, now)]
    changed = _para(f"Not all of it was made alike: {'; '.join(unlike)}.") if unlike else ""
    together = "" if plan.comparisons < 2 else f", which hold for all {plan.comparisons} variants together"
    sections = [
        section("Answer", *(_para(line) for line in said), kind="answer"),
        section(
            "Table",
            table(cells(plan, found)),
            _para(
                f"Brackets are 95 % intervals over seeds{together}: Student's t, never narrower than the games of a "
                "seed allow. The number of seeds was fixed before the start.",
                "less",
            ),
        ),
        section(
            "Differences from the base",
            _charts(
                interval_chart("Elo", elos, across=f"Elo over {plan.base.name}; a dot is a seed"),
                interval_chart("Value kept", kept, across=f"% more than {plan.base.name}; a dot is a seed"),
            ),
        ),
        section("Curves", _experiment_curves(plan, todo, results)),
        section("Matches", _matches(plan, results)),
        section("Games of self-play", _viewer("games") if shown else ""),
        section("Variants", _variants(plan)),
        section("Do it again", *(f"<pre>{escape(line)}</pre>" for line in dict.fromkeys(m["command"] for m in made))),
        section("Made by", changed, *(_facts({k: v for k, v in m.items() if k != "command"}) for m in made)),
    ]
    below = f"{len(plan.variants)} variants, {plan.seeds} seeds, {plan.budget} a run"
    return page(f"{game.name}: {folder.name}", below, sections, data)


def _experiment_curves(plan: Plan, todo: list[Job], results: list[dict[str, Any]]) -> str:
    loss, lengths, kept = [], [], []
    for job in sorted(todo, key=lambda j: j.number):
        lines = job.metrics()
        at = [(m["total_seconds"] / 60, m) for m in lines]
        points = [(x, m["retrain_policy_loss"]) for x, m in at if "retrain_policy_loss" in m]
        loss.append(Series(job.variant.name, _thin(points), job.number))
        lengths.append(
            Series(
                job.variant.name,
                _thin([(x, m["self_play_plies"]) for x, m in at if "self_play_plies" in m]),
                job.number,
            )
        )
    for r in results:
        if r["kind"] == "kept" and "curve" in r:
            number = r["variants"][0]
            kept.append(Series(plan.variants[number].name, [(x, y) for x, y in r["curve"]], number))
    return _charts(
        line_chart("Loss of the policy", loss, across="minutes"),
        line_chart("Value kept by the network alone", kept, label=_percent, across="minutes"),
        line_chart("Moves of a game", lengths, across="minutes"),
    )


def _matches(plan: Plan, results: list[dict[str, Any]]) -> str:
    found = [["seed", "match", "won", "drawn", "lost", "score"]]
    for r in sorted((r for r in results if r["kind"] == "match"), key=lambda r: (r["seed"], r["variants"])):
        one, other = (plan.variants[number].name for number in r["variants"])
        counts = [sum(score == wanted for score in r["scores"]) for wanted in (1, 0.5, 0)]
        share = sum(r["scores"]) / max(len(r["scores"]), 1)
        found.append([str(r["seed"]), f"{one} – {other}", *map(str, counts), f"{100 * share:.1f} %"])
    return table(found)


def _games_of(plan: Plan, game: Game, todo: list[Job], boards: Boards) -> list[dict[str, Any]]:
    """Return games of each variant's run of the first seed."""
    found = []
    for job in todo:
        if job.seed != plan.first_seed or job.folder is None or job.variant.checkout or job.variant.game:
            continue
        store = Store(job.folder / "run.db", read_only=True)
        try:
            found += _sample_games(store, game, boards, f"{job.variant.name}, ")
        finally:
            store.close()
    return found


def _variants(plan: Plan) -> str:
    base = plan.config(plan.base, plan.first_seed)
    lines = [["variant", "changes from the preset", "code"]]
    for variant in plan.variants:
        own = {**plan.settings, **variant.settings}
        words = ", ".join(f"{n} = {' '.join(v) if isinstance(v, list) else v}" for n, v in own.items()) or "none"
        if variant.first:
            words += "; before that " + ", ".join(f"{n} = {v}" for n, v in variant.first.items())
        code = ", ".join(w for w in (variant.checkout, variant.game) if w) or "this program"
        lines.append([variant.name, words, code])
    return table(lines) + _para(f"Preset {preset_for(plan.game)}, network {' '.join(base.hidden_cnn_layers)}.", "less")
