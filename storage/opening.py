"""What a run's database holds when the run begins, and what is checked, repaired and compared when it is opened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from config import (
    REMOVED,
    VERSION,
    Config,
    UserError,
    differences,
    from_json,
    is_fixed,
    removed_settings,
    shown,
    to_json,
)
from game import Game
from games.own import digest
from storage.atomic_files import DamagedData
from storage.consistency import inconsistencies
from storage.game_record import GameRecord
from storage.run_folders import network_facts, read_config, settings_fault
from storage.run_store import Store
from storage.sizes_played import SIZES, facts_of_records

AT_ONCE = {
    "backend",
    "cache_size",
    "games_in_flight",
    "games_on_gpu",
    "memory_size",
    "min_memory",
    "network",
    "workers",
}
"""Settings that take effect at once: those that let a run continue where memory is short, and where the network's file
lies. All others take effect with the next iteration, so that each has one set; those of OF_FIT at once if the
iteration's training is not finished."""
OF_FIT = {"batch_size", "learning_rate"}
LIMITS = {"iterations", "minutes", "evaluations"}
"""Settings that take effect at once while an iteration has nothing but the plan of its boards."""


def write_first_rows(store: Store, game: Game, config: Config, records: list[GameRecord]) -> None:
    """Write what a new run is and the games that it begins with; call it inside the transaction that starts it."""
    store.put("run", f"{game.spec}/{config.seed}")
    store.put("config", to_json(config))
    store.put("program", VERSION)
    store.put("game", game.spec)
    store.put("rules", digest(game))
    store.put("model", json.dumps(network_facts(config, game)))
    store.put("best", "0")
    store.add_games(0, 0, records)
    if records and game.sizes:
        store.finish(0, SIZES, facts_of_records((r.board for r in records), game.sizes[-1].spec))


def require_consistent(store: Store) -> None:
    """Raise `DamagedData` if rows of a run's database contradict each other."""
    if wrong := inconsistencies(store):
        more = f", and {len(wrong) - 1} more" if wrong[1:] else ""
        raise DamagedData(f"{store.path}: expected the rows that the run wrote: {wrong[0]}{more}")


class Changes(NamedTuple):
    """How the settings requested for a run differ from those that it has."""

    pairs: dict[str, tuple[Any, Any]]
    """{name: (old, new)}"""
    removed: dict[str, Any]
    """{name: value} of settings that only earlier versions have, and that were on"""
    stored: bool
    """Whether run.db has the run's settings; a run of the first format has them in config.json alone."""

    @property
    def unstored(self) -> bool:
        """Whether run.db has other settings than the requested ones, or none."""
        return bool(self.pairs or self.removed) or not self.stored


def changes_of(
    folder: Path, store: Store, requested: Config, *, may_differ: Callable[[str, Any, Any], bool]
) -> Changes:
    """Compare the settings of a run with the requested ones; raise `UserError` if one of them cannot change.

    may_differ: (name, old, new) -> whether a setting that is fixed while a run lives may change so all the same.
    """
    kept = store.get("config")
    pairs = differences(from_json(kept, "run.db") if kept else read_config(folder), requested)
    if refused := {n: pair for n, pair in pairs.items() if is_fixed(n) and not may_differ(n, *pair)}:
        if fault := settings_fault(folder, kept):
            raise UserError(fault)
        conflicts = "; ".join(f"{n}: the run has {a!r}, got {b!r}" for n, (a, b) in refused.items())
        raise UserError(f"{folder.name}: cannot change while a run lives (start one with --new): {conflicts}")
    return Changes(pairs, removed_settings(kept) if kept else {}, bool(kept))


def counting_later(store: Store, changes: Changes) -> dict[str, Any]:
    """Return {name: old value} of the settings that change with the next iteration, not in the one in progress."""
    now = store.iterations_done() + 1
    if not store.has_begun(now):
        return {}
    at_once = AT_ONCE if "retrain" in store.finished(now) else AT_ONCE | OF_FIT
    if not store.has_begun(now, planned=False):  # a finished run may go on with games that were imported into it
        at_once |= LIMITS
    return {name: old for name, (old, _) in changes.pairs.items() if name not in at_once}


def in_words(store: Store, changes: Changes) -> list[str]:
    """Return a line for each changed setting."""
    later = counting_later(store, changes)
    when = f", from iteration {store.iterations_done() + 2} on"
    words = [f"{name}: {old!r} -> {new!r}{when if name in later else ''}" for name, (old, new) in changes.pairs.items()]
    words += [
        f"{name}: {shown(value)} -> {REMOVED[name]!r}, as only versions up to 0.3.0 have it"
        for name, value in changes.removed.items()
    ]
    return [f"changed setting {line}" for line in words]
