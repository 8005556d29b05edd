"""Trains each game of examples/ once and draws how it learned: `python benchmarks/gallery.py OUT [NAME ...]`.

Settings are those of your own games with `--minutes` (docs/add_a_game.md), without tournaments and scoreboard. Versions
from the first to the newest then play against random games (`rollout:32`), 20 games each.
OUT/NAME.json keeps the figures; a game that is there is not trained again. examples/learning.svg is drawn of those that
are there, and the table of examples/README.md printed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

from alphazero_keras import play_match, train  # noqa: E402

GAMES = {
    "nim": "Nim",
    "domineering": "Domineering",
    "breakthrough": "Breakthrough",
    "dots_and_boxes": "DotsAndBoxes",
    "ultimate_tictactoe": "UltimateTicTacToe",
}
SETTINGS: dict[str, Any] = {"eval_every": 1_000_000, "score_games": 0}
OPPONENT, SIMS, MATCH = "rollout:32", 50, 20
LOOKS = (0.0, 0.25, 0.5, 1.0)
"""Shares of the versions after which a version is looked at."""
EARLY, MARKS = 0.5, (0, 0.5, 1, 2, 4)
"""Core-minutes up to which the axis of time is about linear, and those that are written at it."""
WIDTH, HEIGHT, LEFT, TOP, ACROSS, DOWN = 760, 250, 44, 34, 690, 160
COLOURS = ("#3b7dd8", "#e08a1e", "#2ba36b", "#d8404f", "#8a63d2")


def learn(name: str, out: Path, minutes: float) -> dict[str, Any]:
    """Train a game and let its versions play; return the figures."""
    spec = f"{HERE / 'examples' / name}.py:{GAMES[name]}"
    spent: list[float] = []
    began = time.process_time()
    trained = train(
        spec,
        runs=out / "runs",
        minutes=minutes,
        **SETTINGS,
        on_iteration=lambda _: spent.append((time.process_time() - began) / 60),
    )
    first = {0: 0.0}
    for line, used in zip(trained.metrics, spent, strict=True):
        first.setdefault(line["version"], used)
    points = []
    for version in sorted({round(share * max(first)) for share in LOOKS}):
        player = f"{trained.folder.name}:version{version:04d}"
        found = play_match(player, OPPONENT, game=spec, games=MATCH, sims=SIMS, runs=out / "runs")
        points.append({"version": version, "minutes": first[version], "score": found.score, "interval": found.interval})
        print(name, points[-1], flush=True)
    games = sum(line["self_play_games"] for line in trained.metrics)
    return {"minutes": minutes, "games": games, "points": points}


def draw(found: dict[str, dict[str, Any]]) -> str:
    """Return the curves of all games: score over core-minutes."""
    most = max(figures["points"][-1]["minutes"] for figures in found.values())

    def across(minutes: float) -> float:
        return LEFT + ACROSS * math.log1p(minutes / EARLY) / math.log1p(most / EARLY)

    def at(minutes: float, score: float) -> str:
        return f"{across(minutes):.1f} {TOP + DOWN * (1 - score):.1f}"

    parts = []
    for score in (0.0, 0.5, 1.0):
        y = TOP + DOWN * (1 - score)
        parts.append(f'<path d="M{LEFT} {y:g}h{ACROSS}" stroke="var(--line)"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{score:.0%}</text>')
    for i, (name, figures) in enumerate(found.items()):
        points = figures["points"]
        path = "L".join(at(p["minutes"], p["score"]) for p in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[i]}" stroke-width="2.2"/>')
        parts += [
            f'<circle cx="{x}" cy="{y}" r="3" fill="{COLOURS[i]}"/>'
            for x, y in (at(p["minutes"], p["score"]).split() for p in points)
        ]
        x = LEFT + 140 * i
        parts.append(f'<rect x="{x}" y="{HEIGHT - 18}" width="10" height="10" rx="2" fill="{COLOURS[i]}"/>')
        parts.append(f'<text x="{x + 15}" y="{HEIGHT - 9}">{name.replace("_", " ")}</text>')
    parts.append(f'<text x="{LEFT}" y="18">score against {OPPONENT}, {SIMS} simulations a move</text>')
    for mark in (mark for mark in MARKS if mark < most / 1.3):
        place = across(mark)
        parts.append(f'<path d="M{place:.1f} {TOP + DOWN}v4" stroke="var(--line)"/>')
        parts.append(f'<text x="{place:.1f}" y="{TOP + DOWN + 18}" text-anchor="middle">{mark:g}</text>')
    parts.append(f'<text x="{LEFT + ACROSS}" y="{TOP + DOWN + 18}" text-anchor="end">{most:.1f} core-minutes</text>')
    style = (
        "text{font:12px system-ui,sans-serif;fill:var(--ink)}svg{--ink:#1f2328;--line:#d1d9e0}"
        "@media(prefers-color-scheme:dark){svg{--ink:#f0f3f6;--line:#3d444d}}"
    )
    name = "Score of five small games' networks against random games, over the core-minutes of training"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">'
        f"<style>{style}</style>{''.join(parts)}</svg>\n"
    )


def row(name: str, figures: dict[str, Any]) -> str:
    """Return a game's row of the table."""
    first, last = figures["points"][0], figures["points"][-1]
    low, high = last["interval"]
    return (
        f"| [{name}.py]({name}.py) | {figures['games']:,} | {last['minutes']:.1f} | {100 * first['score']:.0f} % | "
        f"{100 * last['score']:.0f} % [{100 * low:.0f}, {100 * high:.0f}] |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Train each game of examples/ once and draw how it learned.")
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(GAMES)}; by default all")
    parser.add_argument("--minutes", type=float, default=2.0, help="of each game's training")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    files = {name: options.out / f"{name}.json" for name in GAMES}
    for name in options.names or GAMES:
        if not files[name].exists():
            files[name].write_text(json.dumps(learn(name, options.out, options.minutes), indent=1))
    found = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    (HERE / "examples" / "learning.svg").write_text(draw(found), encoding="utf-8")
    print("\n".join(row(name, figures) for name, figures in found.items()))


if __name__ == "__main__":
    main()
