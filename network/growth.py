"""A network that grows within a run: for the first part of it half of the filters, which play and learn faster.

Its function is preserved (network/net2net.py). The run's settings name the large network from the beginning; a version
of before, read for play or for a later one, is the large network with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from config import Config
from network.architecture import residual_network
from network.net2net import placed
from storage.atomic_files import DamagedData, arrays_from_bytes
from storage.checkpoints import weights_file
from storage.run_store import Store

STAGE = "growth"
"""The stage of run.db, between self-play and training, in which the network grows; its fact: the steps until then."""
FEWEST_FILTERS = 8


def halved(layers: tuple[str, ...]) -> tuple[str, ...]:
    """Return layers with half of their filters, at least `FEWEST_FILTERS` of those that there are.

    >>> halved(("32x3", "32x5")), halved(("15x3",)), halved(("4x3",))
    (('16x3', '16x5'), ('8x3',), ('4x3',))
    """
    parts = [layer.split("x") for layer in layers]
    return tuple(f"{max(int(filters) // 2, min(int(filters), FEWEST_FILTERS))}x{size}" for filters, size in parts)


def small(config: Config) -> Config | None:
    """Return the settings of the network that a run begins with; None where it has all filters at once."""
    layers = halved(config.hidden_cnn_layers)
    if not config.small_share or layers == config.hidden_cnn_layers:
        return None
    return replace(config, hidden_cnn_layers=layers, small_share=0.0)


class Phase(NamedTuple):
    """The part of a run that one network trains: each has a learning rate of its own, from its beginning to its end."""

    begin: float
    end: float
    """Shares of the run."""
    since: int
    """Iteration in which it began; 0 = with the run."""
    steps: int
    """Training steps of the run before it."""
    config: Config
    """The settings with its network."""

    def share(self, of_run: float) -> float:
        """Return which share of the phase is done when a share of the run is."""
        return min(max((of_run - self.begin) / (self.end - self.begin), 0.0), 1.0)


def phase(config: Config, store: Store) -> Phase:
    """Return the phase of a run at present."""
    before, done = small(config), store.iterations_done()
    if before is None:
        return Phase(0.0, 1.0, 0, 0, config)
    for iteration, line in store.stage_facts("iteration", range(done + 1)):
        if (steps := line.get(f"{STAGE}_steps")) is not None:
            return Phase(config.small_share, 1.0, iteration, steps, config)
    if (now := store.finished(done + 1).get(STAGE)) is not None:
        return Phase(config.small_share, 1.0, done + 1, now["steps"], config)
    return Phase(0.0, config.small_share, 0, 0, before)


def weights_of(
    folder: Path, store: Store, version: int, model: Any, config: Config, start: Sequence[np.ndarray] = ()
) -> list[np.ndarray]:
    """Return a version's weights for `model`; raise when it is unknown, or not the file that the run wrote.

    config: the run's. start: what the weights are that a small network lacks, by default zeros.
    """
    data, path = weights_file(folder, store, version)
    return enlarged_to(model, data, config, str(path), start)


def enlarged_to(
    model: Any, data: bytes, config: Config, source: str, start: Sequence[np.ndarray] = ()
) -> list[np.ndarray]:
    """Return the weights in a file's content for `model`; those of the run's small network are enlarged.

    source: what an error calls the file.
    """
    try:
        return arrays_from_bytes(data, model.shapes, source)
    except DamagedData:
        before = small(config)
        if before is None or before.hidden_cnn_layers == model.config.hidden_cnn_layers:
            raise
    layers = residual_network(before, model.game).weights()
    old = arrays_from_bytes(data, [shape for _, shape in layers], source)
    new = start or [np.zeros(shape, np.float32) for shape in model.shapes]
    return [placed(name, *parts) for (name, _), *parts in zip(layers, old, new, strict=True)]
