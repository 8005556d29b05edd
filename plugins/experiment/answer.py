"""The answer of an experiment: one table, and one sentence for each variant."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from evaluation.rating import fit_ratings
from plugins.experiment.plan import Plan
from plugins.experiment.runs import Job
from plugins.experiment.statistics import (
    MOST_SEEDS,
    Effect,
    effect,
    elo_of_seed,
    seed_error,
    seeds_for,
    spread_of,
    visible,
)
from storage.run_store import evaluations_of

Result = dict[str, Any]


class Row(NamedTuple):
    """What is known of a variant."""

    name: str
    seeds: int
    elo: Effect | None
    """Over the base; None for the base."""
    kept: Effect | None
    """Change of the share of moves that keep the value, in percent; None for the base and without a solver."""
    shares: dict[str, float]
    """{"alone", "searched": share of moves that keep the value, in percent, mean over seeds}"""
    loss: float | None
    games: float
    games_per_s: float
    evaluations: float
    minutes: float
    """Means over seeds."""


def rows(plan: Plan, jobs: list[Job], results: list[Result]) -> list[Row]:
    """Return a row for each variant; the effects are those of the seeds that are measured."""
    elos = _elos(plan, results)
    kept = {(r["variants"][0], r["seed"]): r for r in results if r["kind"] == "kept"}
    found = []
    for number, variant in enumerate(plan.variants):
        facts = [f for job in jobs if job.number == number and (f := _facts(job.metrics()))]
        of_seeds = elos.get(number, [])
        shares = {
            how: float(np.mean(values))
            for how in ("alone", "searched")
            if (values := [100 * _share(r[how]) for (n, _), r in kept.items() if n == number and how in r])
        }
        means = {key: float(np.mean([f[key] for f in facts])) if facts else 0.0 for key in _FACTS}
        losses = [f["loss"] for f in facts if f["loss"] is not None]
        found.append(
            Row(
                variant.name,
                len(facts),
                effect([e for e, _ in of_seeds], [v for _, v in of_seeds], plan.comparisons) if of_seeds else None,
                _kept_effect(plan, number, kept),
                shares,
                float(np.mean(losses)) if losses else None,
                **means,
            )
        )
    return found


def _elos(plan: Plan, results: list[Result]) -> dict[int, list[tuple[float, float]]]:
    """Return {variant: [(Elo over the base, variance of its error) of each seed]}, from the whole round robin."""
    found: dict[int, list[tuple[float, float]]] = {}
    for seed in plan.seed_numbers():
        matches = {tuple(r["variants"]): r["scores"] for r in results if r["kind"] == "match" and r["seed"] == seed}
        if len(matches) < len(plan.variants) * (len(plan.variants) - 1) // 2:
            continue
        league = fit_ratings(
            ((str(a), str(b), float(sum(scores)), len(scores)) for (a, b), scores in matches.items()), "0"
        )
        for number in range(1, len(plan.variants)):
            elo, variance = elo_of_seed([1 - score for score in matches[0, number]])
            found.setdefault(number, []).append((league[str(number)].elo if len(matches) > 1 else elo, variance))
    return found


def _kept_effect(plan: Plan, number: int, kept: dict[tuple[int, int], Result]) -> Effect | None:
    pairs = [
        (_hits(kept[number, seed]["searched"]), _hits(kept[0, seed]["searched"]))
        for seed in plan.seed_numbers()
        if (number, seed) in kept and (0, seed) in kept
    ]
    if not number or not pairs:
        return None
    differences = [100 * (own - base) for own, base in pairs]
    means = [float(d.mean()) for d in differences]
    errors = [float(d.var(ddof=1)) / len(d) if len(d) > 1 else 0.0 for d in differences]
    return effect(means, errors, plan.comparisons)


def _hits(text: str) -> np.ndarray:
    return np.array([float(c) for c in text])


def _share(text: str) -> float:
    return text.count("1") / max(len(text), 1)


_FACTS = "games", "games_per_s", "evaluations", "minutes"


def _facts(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a run's lines sum up to, {} if there are none."""
    if not lines:
        return {}
    seconds = [m.get("self_play_seconds", 0.0) for m in lines]
    games = sum(m.get("self_play_games", 0) for m in lines)
    losses = [m["retrain_policy_loss"] + m["retrain_value_loss"] for m in lines if "retrain_policy_loss" in m]
    return {
        "loss": losses[-1] if losses else None,
        "games": games,
        "games_per_s": games / max(sum(seconds), 1e-9),
        "evaluations": sum(map(_evaluations, lines)),
        "minutes": lines[-1]["total_seconds"] / 60,
    }


def _evaluations(line: dict[str, Any]) -> float:
    """Return the evaluations of an iteration; another checkout may know the rate of its self-play only."""
    measured = line.get("self_play_evals_per_s", 0.0) * line.get("self_play_seconds", 0.0)
    return evaluations_of({"self_play_evaluations": measured, **line})


# ---- in words


def interval(found: Effect, digits: int = 0) -> str:
    """Return "+36 [+8, +64]"."""
    numbers = found.mean, found.low, found.high
    mean, *ends = (f"{round(x, digits) + 0.0:+.{digits}f}" if math.isfinite(x) else "?" for x in numbers)
    return f"{mean} [{', '.join(ends)}]"


def cells(plan: Plan, found: list[Row]) -> list[list[str]]:
    """Return the table, its heading first."""
    solved = any(row.shares for row in found)
    alone = any("alone" in row.shares for row in found)
    head = ["variant", "seeds", "Elo", "Elo by seed"]
    head += [f"value kept, {plan.sims} simulations, %", "change"] if solved else []
    head += ["network alone, %"] if alone else []
    head += ["loss", "games", "games/s", "evaluations", "minutes"]
    lines = [head]
    for row in found:
        line = [row.name, str(row.seeds)]
        line += [interval(row.elo), ", ".join(f"{e:+.0f}" for e in row.elo.seeds)] if row.elo else ["0", ""]
        if solved:
            line += [f"{row.shares['searched']:.1f}" if "searched" in row.shares else ""]
            line += [interval(row.kept, 1) if row.kept else ""]
        line += [f"{row.shares['alone']:.1f}" if "alone" in row.shares else ""] if alone else []
        line += ["" if row.loss is None else f"{row.loss:.3f}", f"{row.games:,.0f}", f"{row.games_per_s:,.1f}"]
        line += [f"{row.evaluations:,.0f}", f"{row.minutes:.1f}"]
        lines.append(line)
    return lines


def table(plan: Plan, found: list[Row]) -> str:
    """Return the table in Markdown."""
    head, *rest = cells(plan, found)
    lines = [f"| {' | '.join(line)} |" for line in (head, *rest)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def sentences(plan: Plan, found: list[Row]) -> list[str]:
    """Return the answer: a sentence for each variant."""
    return [_sentence(plan, row) for row in found[1:]]


def _sentence(plan: Plan, row: Row) -> str:
    base = plan.base.name
    if row.elo is None:
        return f"{row.name}: not measured yet."
    points = abs(row.elo.mean)
    word = "better" if row.elo.mean > 0 else "worse"
    if not math.isfinite(row.elo.low):
        return (
            f"{row.name} is {word} than {base} by {points:.0f} Elo with one seed, which says nothing of others: "
            "two seeds are the least."
        )
    differs = f"is {word} than {base} by" if round(points) else f"and {base} differ by"
    said = f"{row.name} {differs} {points:.0f} Elo {_ends(row.elo)}"
    count = len(row.elo.seeds)
    if row.elo.sure:
        return f"{said}: the sign is certain at 95 %."
    need = seeds_for(max(points, 1.0), spread_of(row.elo, plan.comparisons), plan.comparisons)
    more = f"about {need}" if need < MOST_SEEDS else f"more than {MOST_SEEDS:,}"
    return f"{said}: with {count} seeds the sign is not certain; to see so small a difference takes {more} seeds."


def _ends(found: Effect) -> str:
    low, high = (found.low, found.high) if found.mean > 0 else (-found.high, -found.low)
    return f"[{low:.0f}, {high:.0f}]"


def power(plan: Plan) -> list[str]:
    """Return what the plan can see, before it begins."""
    error = seed_error(plan.spread, plan.match_games)
    count = len(plan.variants)
    lines = []
    if plan.seeds < 2:
        lines.append("With one seed nothing is certain: two seeds are the least.")
    else:
        seen = visible(error, plan.seeds, plan.comparisons)
        lines.append(f"With {plan.seeds} seeds a difference of {seen:.0f} Elo is seen in four of five experiments.")
    for wanted in (100, 60, 30):
        need = seeds_for(wanted, error, plan.comparisons)
        lines.append(f"  to see {wanted} Elo: {need} seeds, {plan.compute(need * count)}")
    games = f"with {plan.match_games} games a match it is measured to {error:.0f}"
    lines.append(f"  (from seed to seed the difference varies by {plan.spread:g} Elo; {games})")
    lines.append("The number of seeds is fixed now: it does not stop early, and gives its answer at the end.")
    return lines
