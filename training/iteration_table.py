"""An iteration as one line of a table that fits the terminal, and as a sentence for the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from loggers import clock

Line = dict[str, Any]


class Column(NamedTuple):
    """One column; `width` holds its name and its usual numbers."""

    name: str
    width: int
    rank: int
    """Columns of the highest ranks are left out first where the terminal is narrow."""
    cell: Callable[[Line], str]


def _percent(key: str) -> Callable[[Line], str]:
    return lambda line: f"{100 * line[key]:.1f}%" if key in line else ""


def _loss(key: str) -> Callable[[Line], str]:
    return lambda line: f"{line[key]:.3f}" if line.get("retrain_steps") else ""


def _rate(line: Line) -> str:
    return f"{line['self_play_evals_per_s']:,.0f}" if "self_play_evals_per_s" in line else ""


def _elo(line: Line) -> str:
    return f"{round(line['score_elo'])} ±{line['score_elo_error']:.0f}" if "score_elo" in line else ""


COLUMNS = (
    Column("iter", 5, 0, lambda line: str(line["iteration"])),
    Column("games", 6, 4, lambda line: f"{line['self_play_games']:,}"),
    Column("moves", 5, 6, lambda line: f"{line['self_play_plies']:.0f}"),
    Column("evals/s", 7, 9, _rate),
    Column("positions", 9, 3, lambda line: f"{line['self_play_memory']:,}"),
    Column("version", 7, 2, lambda line: str(line["version"])),
    Column("loss", 6, 2, _loss("retrain_loss")),
    Column("value", 6, 8, _loss("retrain_value_loss")),
    Column("policy", 6, 8, _loss("retrain_policy_loss")),
    Column("kept", 6, 5, _percent("score_kept_alone")),
    Column("searched", 8, 1, _percent("score_kept")),
    Column("Elo", 9, 1, _elo),
    Column("best", 5, 3, lambda line: str(line["best_version"])),
    Column("time", 7, 0, lambda line: clock(line["seconds"])),
)
LEGEND = (
    "moves: of a game; positions: in memory; kept, searched: share of exact positions whose value the network's "
    "move keeps, alone and with search; Elo: over rollout:16; best: version"
)


def columns_for(width: int) -> list[Column]:
    """Return the columns that fit into `width` characters."""
    kept = list(COLUMNS)
    while len(kept) > 1 and sum(c.width + 1 for c in kept) > width:
        kept.remove(max(reversed(kept), key=lambda c: c.rank))
    return kept


def heading(width: int) -> str:
    """Return the names of the columns that fit."""
    return " ".join(c.name.rjust(c.width) for c in columns_for(width))


def row(line: Line, width: int) -> str:
    """Return an iteration's line of metrics.jsonl as a line under `heading`."""
    return " ".join(c.cell(line).rjust(c.width) for c in columns_for(width))


def sentence(line: Line) -> str:
    """Return an iteration's line of metrics.jsonl as a sentence."""
    played = f"{line['self_play_games']} games of {line['self_play_plies']:.0f} moves"
    if "self_play_share" in line:
        played += f" ({line['self_play_evals_per_s']:,.0f} evaluations/s, {100 * line['self_play_share']:.0f} % of raw)"
    parts = [f"iteration {line['iteration']}: {played}", f"{line['self_play_memory']:,} positions"]
    if line.get("retrain_steps"):
        parts.append(
            f"version {line['version']}: loss {line['retrain_loss']:.3f} (value {line['retrain_value_loss']:.3f}, "
            f"policy {line['retrain_policy_loss']:.3f})"
        )
    elif "retrain_waits_for" in line:
        parts[1] += f" of the {line['retrain_waits_for']:,} from which on it learns"
    if "score_kept" in line:
        parts.append(
            f"keeps the value in {100 * line['score_kept_alone']:.0f} % of positions, "
            f"{100 * line['score_kept']:.0f} % at {line['score_sims']} simulations"
        )
    if "score_elo" in line:
        parts.append(f"Elo {round(line['score_elo'])} ±{line['score_elo_error']:.0f} over rollout:16")
    parts.append(f"best is version {line['best_version']}, {line['seconds']:.0f} s")
    return "; ".join(parts)
