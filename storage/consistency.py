"""Whether a run's database goes together: the check that `verify` and every opening for work share.

SQLite's own check and the tally (storage/database.py) find rows that are missing or are those of an earlier state. The
rest compares what finished stages say with what there is; it is all that a run of an earlier release has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from storage.game_record import IMPORTED
from storage.position_data import DATA, REANALYSE, position_fault
from storage.run_store import Store

FACTS: dict[str, dict[str, tuple[type, ...]]] = {
    "self-play": {"games": (int,)},
    "retrain": {"steps": (int,)},
    "tournament": {"played": (int,)},
    REANALYSE: {"positions": (int,), DATA: (str,)},
    "sizes": {"games": (list,), "match": (str,)},
    "iteration": {"best_version": (int,), "total_seconds": (int, float)},
}
"""Facts that the end of a stage must hold for a run to resume."""
LOST = "stay_lost"
"""Key of meta: the rows that `recover` found missing and accepted, {iteration: {"games": n, "matches": n}} as JSON."""
NEEDED = ("run", "game", "model", "best")
"""Keys of meta from which the games and networks of a run follow."""
Stages = dict[tuple[int, str], dict[str, Any]]


def inconsistencies(store: Store) -> list[str]:
    """Return what contradicts itself in a run's database, a line each.

    The loss of its end is no contradiction: that is an earlier state, from which the run resumes.
    """
    found = store.integrity()  # if the file itself is damaged, what its rows say means nothing
    return found or [*store.faults(), *_contradictions(store)]


def version_fault(row: tuple[Any, ...]) -> str:
    """Return the fault of a row of versions, "" for none."""
    return "" if [type(value) for value in row[:5]] == [int, int, str, str, str] else "names no network"


def stage_fault(row: tuple[Any, ...]) -> str:
    """Return the fault of a row of stages, "" for none."""
    try:
        facts = json.loads(row[2])
    except (ValueError, TypeError, RecursionError) as error:
        return f"cannot be read ({str(error)[:80]})"
    wanted = FACTS.get(row[1], {}) if isinstance(row[1], str) else {}
    good = type(row[0]) is int and isinstance(facts, dict)
    if not good or not all(type(facts.get(name)) in kinds for name, kinds in wanted.items()):
        return f"expected what {str(row[1])[:20]} ended with, got another"
    return position_fault(facts) if DATA in wanted else ""


def _contradictions(store: Store) -> Iterator[str]:
    """Yield what finished stages say and the other tables do not."""
    meta = {row[0]: row[1] for row, right in store.checked("meta") if right}
    rows = [row for row, right in store.checked("stages", "ORDER BY iteration") if right and not stage_fault(row)]
    stages = {(row[0], row[1]): json.loads(row[2]) for row in rows}
    versions = [row[0] for row, right in store.checked("versions", "ORDER BY version") if right]
    yield from _missing_games(store, stages, accepted_losses(meta))
    if meta.get("best", "0") not in map(str, versions):
        yield f"the best version is said to be {meta.get('best', '0')}, which there is not"
    shipped = all(stage == "iteration" for _, stage in stages) and stages
    if not (shipped or "recovered_from" in meta):  # the one has no games, the other may lack rows of the past
        yield from (f"meta: {key} is missing" for key in NEEDED if key not in meta)
        yield from _missing_stages(stages)
        yield from _wrong_versions(stages, versions, meta)


def accepted_losses(meta: dict[str, str]) -> dict[tuple[int, str], int]:
    """Return {(iteration, table): number of rows} that stay lost, from the values of meta; {} if they say nothing."""
    try:
        said = json.loads(meta.get(LOST, "{}"))
        found = {(int(i), table): rows for i, tables in said.items() for table, rows in tables.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):  # a file from others may hold anything
        return {}
    return {key: rows for key, rows in found.items() if type(rows) is int and rows > 0}


def _missing_games(store: Store, stages: Stages, accepted: dict[tuple[int, str], int]) -> Iterator[str]:
    """Yield a line for each finished stage with fewer games than it says, but for those that stay lost."""
    played = store.counts("games", f"WHERE idx < {IMPORTED} OR typeof(idx) <> 'integer'")
    matches = store.counts("matches")
    for (iteration, stage), facts in stages.items():
        if stage in ("self-play", "tournament"):
            table, fact, known = ("games", "games", played) if stage == "self-play" else ("matches", "played", matches)
            said = facts[fact]
            if known.get(iteration, 0) + accepted.get((iteration, table), 0) < said:
                yield f"iteration {iteration}: {said} games in {stage}, {known.get(iteration, 0)} are there"


def _missing_stages(stages: Stages) -> Iterator[str]:
    """Yield a line for each stage of a finished iteration whose end is missing."""
    for iteration in range(1, max((i for i, stage in stages if stage == "iteration"), default=0) + 1):
        line = stages.get((iteration, "iteration"))
        if line is None:
            yield f"iteration {iteration}: its end is missing"
            continue
        for stage in ("self-play", "retrain", "tournament"):
            if f"{stage.replace('-', '_')}_{[*FACTS[stage]][0]}" in line and (iteration, stage) not in stages:
                yield f"iteration {iteration}: the end of {stage} is missing"


def _wrong_versions(stages: Stages, versions: list[Any], meta: dict[str, str]) -> Iterator[str]:
    """Yield a line for each version that is missing, and where the best one or the number of steps is another."""
    steps = [facts["steps"] for (_, stage), facts in stages.items() if stage == "retrain"]
    newest = sum(number > 0 for number in steps)
    yield from (f"version {number} is missing" for number in range(newest + 1) if number not in versions)
    yield from (f"version {number} is of no finished training" for number in versions if not 0 <= number <= newest)
    best, done = 0, 0
    for (iteration, stage), facts in stages.items():
        if stage == "iteration":
            best, done = facts["best_version"], iteration
    if stages.get((done + 1, "tournament"), {}).get("promoted"):
        best = newest
    for key, said in (("best", best), ("steps", sum(steps))):
        if meta.get(key, "0") != str(said):
            yield f"meta: {key} is {meta.get(key)}, the finished stages say {said}"
