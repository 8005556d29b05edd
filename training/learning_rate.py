"""The progress of a run, and the learning rate that follows from it."""

from __future__ import annotations

import math

from config import Config, TrainingSettings
from storage.run_store import Store, evaluations_made

END = 0.05
"""The rate at which the cosine ends, as a fraction of the rate at the start."""


def progress(config: Config, store: Store, trained: float) -> float:
    """Return the fraction of the run that is done after a fraction `trained` of the present iteration; both in [0, 1].

    Progress is counted in iterations, minutes or evaluations, whichever is further. Minutes come from run.db, so that
    training repeated gives the same rates: self-play counts with the time it took, training with the time of the last
    training. With lag 1 training does not know how long the games will take: the iteration counts with the time of the
    last one.
    """
    i = store.iterations_done() + 1
    share = (i - 1 + trained) / config.iterations
    if config.minutes:
        played = store.finished(i).get("self-play", {}).get("seconds", 0.0)
        training = store.finished(i - 1).get("retrain", {}).get("seconds", 0.0)
        worked = float(store.get("seconds", "0") or 0)
        if config.lag:
            played, training = 0.0, store.finished(i - 1).get("iteration", {}).get("seconds", 0.0)
        share = max(share, (worked + played + trained * training) / (60 * config.minutes))
    if config.evaluations:
        before = float(store.get("evaluations", "0") or 0)
        made = evaluations_made(store.finished(i - 1 if config.lag else i))
        share = max(share, (before + trained * made) / config.evaluations)
    return min(share, 1.0)


def learning_rates(config: Config, store: Store, steps: int) -> list[float]:
    """Return the rate of each of the next `steps` training steps of the present iteration."""
    before, after = progress(config, store, 0.0), progress(config, store, 1.0)
    taken = int(store.get("steps", "0") or 0)
    way = [before + (after - before) * (step + 1) / steps for step in range(steps)]
    return [rate_at(config.training, share, taken + step) for step, share in enumerate(way)]


def rate_at(training: TrainingSettings, share: float, step: int) -> float:
    """Return the rate at training step `step`, counted from 0, when a fraction `share` of the run is done.

    The cosine is that of Loshchilov, Hutter 2017 (SGDR, arXiv 1608.03983) without restarts.
    """
    rate = training.learning_rate
    if training.learning_rate_schedule == "steps":
        rate *= 0.1 ** ((share >= 0.5) + (share >= 0.75))
    elif training.learning_rate_schedule == "cosine":
        rate *= END + (1 - END) * 0.5 * (1 + math.cos(math.pi * share))
    return rate * min(1.0, (step + 1) / training.warmup_steps) if training.warmup_steps else rate
