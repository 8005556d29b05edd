"""The scoreboard of a player, as `main.py evaluate` prints it: exact values if there are any, and the ladder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from agent import Agent, Player
from config import UserError
from evaluation.ladder import Ladder, Rung, as_values, climb, rollout_match
from evaluation.match import MatchGame, forfeit_words, forfeits_of
from evaluation.move_accuracy import Measured, Share, chance, choose, choose_alone, measure, value_error, without_solver
from evaluation.solved_positions import Oracle, oracle, sample
from game import Game

Progress = Callable[[str, int, int], None]
"""(what is being done, steps done, steps in all)"""


def exact_part(
    game: Game, who: Oracle, player: Player, *, count: int, sims: Sequence[int], seed: int, report: Progress
) -> dict[str, Any]:
    """Return the share of value-keeping moves on solved positions, by stage and difficulty, for each way of moving."""
    found, whole = sample(game, who, count, seed, report=lambda n: report("solving positions", n, count))
    if not found:
        raise UserError(f"expected positions of {game.spec} whose moves differ in value, found none")
    ways: list[tuple[str, int | None, list[int]]] = []
    if isinstance(player, Agent):
        ways.append(("network alone", 0, choose_alone(player, found)))
    began = time.perf_counter()
    searching = without_solver(player, who) if isinstance(player, Agent) else player
    chosen = choose(searching, found, sims, seed=seed, report=lambda n: report("choosing moves", n, len(found)))
    seconds = time.perf_counter() - began
    ways += [(f"{n:,} simulations" if n else player.name, n or None, moves) for n, moves in chosen.items()]
    part: dict[str, Any] = {
        "solver": who.name, "positions": len(found), "seed": seed, "plies": list(who.plies),
        "whole": whole, "of_all": who.whole, "endings": searching is not player,
        "chance": chance(found), "seconds": seconds,
        "players": [
            {"name": name, "simulations": n, **_values(measure(moves, found, who.bands), who.distance)}
            for name, n, moves in ways
        ],
    }  # fmt: skip
    if isinstance(player, Agent):
        part["value"] = value_error(player, found)._asdict()
    return part


def _values(m: Measured, distance: bool) -> dict[str, Any]:
    return {
        "kept": m.kept._asdict(), "best": m.best._asdict() if distance else None,
        "stages": [{"name": name, **s._asdict()} for name, s in m.stages],
        "difficulties": [{"name": name, **s._asdict()} for name, s in m.difficulties],
    }  # fmt: skip


def ladder_part(
    game: Game, player: Player, *, games: int, seconds: float, seed: int, plies: int, report: Progress,
    play_games: Callable[..., list[MatchGame]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the ladder: how many simulations a rollout player needs to score half."""
    end = time.perf_counter() + seconds if seconds else None

    def report_rungs(rungs: list[Rung]) -> None:
        report("climbing the ladder", sum(r.games for r in rungs), games)

    def stop() -> str:
        return "time" if end is not None and time.perf_counter() > end else ""

    opened: list[int] = []
    forfeits = 0

    def play(sims: int, before: int, count: int) -> list[float]:
        nonlocal forfeits
        indices = range(before, before + count)
        pairs = max(games // 2, 1)
        played = rollout_match(game, player, sims, indices, seed=seed, plies=plies, pairs=pairs, play=play_games)
        opened.extend(len(g.opening) for g in played)
        forfeits += sum(forfeits_of(played))
        return [g.score for g in played]

    found: Ladder = climb(play, games, stop=stop, report=report_rungs)
    return {
        **as_values(found), "words": str(found.strength), "opening_plies": max(opened, default=plies),
        "forfeits": forfeits,
    }


def evaluate(
    game: Game,
    player: Player,
    *,
    count: int,
    sims: Sequence[int],
    ladder_games: int,
    ladder_seconds: float,
    ladder_sims: int,
    opening_plies: int,
    seed: int,
    report: Progress = lambda what, done, total: None,
    play_games: Callable[..., list[MatchGame]] | None = None,
) -> dict[str, Any]:
    """Return the scoreboard of a player as numbers for programs; `as_text` puts it into words.

    play_games: plays the ladder's games in the place of `play_batch`.
    """
    scoreboard: dict[str, Any] = {"game": game.spec, "player": player.name, "exact": None, "ladder": None, "note": ""}
    if count:
        try:
            who = oracle(game)
        except UserError as error:
            if not ladder_games:
                raise
            who, scoreboard["note"] = None, str(error)
        else:
            if who is None:
                scoreboard["note"] = f"no exact values of {game.spec}"
                if not ladder_games:
                    raise UserError(f"expected a game with exact values or a ladder, there are {scoreboard['note']}")
        if who is not None:
            scoreboard["exact"] = exact_part(game, who, player, count=count, sims=sims, seed=seed, report=report)
    if ladder_games:
        if isinstance(player, Agent):
            player.mcts_sims = ladder_sims
        part = ladder_part(
            game, player, games=ladder_games, seconds=ladder_seconds, seed=seed, plies=opening_plies, report=report,
            play_games=play_games,
        )  # fmt: skip
        scoreboard["ladder"] = {**part, "player_simulations": ladder_sims if isinstance(player, Agent) else None}
    return scoreboard


# ---- in words


def as_text(scoreboard: dict[str, Any]) -> str:
    """Return a scoreboard as a table."""
    parts = [f"{scoreboard['player']}, {scoreboard['game']}"]
    if scoreboard["note"]:
        parts.append(f"Exact part left out: {scoreboard['note']}.")
    if scoreboard["exact"]:
        parts.append(_exact_text(scoreboard["exact"]))
    if scoreboard["ladder"]:
        parts.append(_ladder_text(scoreboard["ladder"]))
    return "\n\n".join(parts)


def _exact_text(exact: dict[str, Any]) -> str:
    first, chance = exact["players"][0], exact["chance"]
    distance = first["best"] is not None
    stages = [s["name"].replace("plies", "ply") for s in first["stages"]]
    rows = [
        ["", "all", *stages, "one", "half", "more", "best score"],
        ["positions", *(f"{c['positions']:,}" for c in _shares(first)), ""],
        ["a random move", f"{100 * chance['kept']:.1f}", *[""] * (len(stages) + 3), f"{100 * chance['best']:.1f}"],
        *([p["name"], *(_share_text(s, exact["whole"]) for s in _shares(p)), _share_text(p["best"], exact["whole"])]
          for p in exact["players"]),
    ]
    drawn = "drawn from all" if exact["of_all"] else f"random play of {exact['plies'][0]}-{exact['plies'][1]} plies"
    how = "all there are up to symmetry" if exact["whole"] else f"{drawn}, seed {exact['seed']}"
    sure = "" if exact["whole"] else ", with 95 % intervals,"
    lines = [
        f"Moves that keep the game's value, in %{sure} in positions whose moves differ in value",
        f"({how}; solved by {exact['solver']}). Columns: plies played; then one legal move keeps",
        "the value, up to half of them do, more do" + ("; the share of best-score moves." if distance else "."),
        "",
        *_table(rows if distance else [row[:-1] for row in rows]),
    ]
    if exact.get("endings"):
        lines.append("In play the search also solves such endings exactly; here it does not.")
    if "value" in exact:
        v = exact["value"]
        lines.append(
            f"Value head: mean absolute error {v['mean_absolute_error']:.3f}, correlation {v['correlation']:.3f} "
            f"with the exact value (-1, 0, 1), {v['positions']:,} positions."
        )
    return "\n".join(lines)


def _shares(player: dict[str, Any]) -> list[dict[str, Any]]:
    return [player["kept"], *player["stages"], *player["difficulties"]]


def _share_text(s: dict[str, Any] | None, whole: bool) -> str:
    """Return a share in words; a share of all possible positions has no interval."""
    if s is None:
        return ""
    if whole and s["share"] is not None:
        return f"{100 * s['share']:.1f}"
    return str(Share(s["positions"], s["share"], s["low"], s["high"]))


def _ladder_text(ladder: dict[str, Any]) -> str:
    own = f" with {ladder['player_simulations']:,} simulations a move" if ladder["player_simulations"] else ""
    ends = {"time": ", ended by the time limit", "bound": ", at the ladder's end"}
    lines = [
        f"Ladder: it{own} scores half against a rollout player of {ladder['words']}",
        f"({ladder['games']} games, both colours of openings of {ladder['opening_plies']} random plies"
        f"{ends.get(ladder['ended'], '')}).",
        *([f"{forfeit_words(ladder['forfeits'], ladder['games'])}."] if ladder["forfeits"] else []),
        *_table(
            [
                ["rollout player", *(f"{r['simulations']:,}" for r in ladder["rungs"])],
                ["score", *(f"{100 * r['score']:.0f} %" for r in ladder["rungs"])],
                ["games", *(str(r["games"]) for r in ladder["rungs"])],
            ]
        ),
    ]
    return "\n".join(lines)


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]
