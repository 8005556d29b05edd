"""Checks of an installation, of the path from a game to a network's targets, and of a run; each with its remedy.

A check is a short function of a `Patient` or of a run's `History` that returns what it `Found`; the tables in
installation.py, learning.py and history.py name them all. `docs/doctor.md` lists them with their thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from config import Config, with_overrides
from game import Game, GameState
from interface.missing_packages import PACKAGES, lacking
from system.place import requirements

T = TypeVar("T")


class Found(NamedTuple):
    """The result of a check."""

    good: bool
    measured: str
    expected: str = ""
    """The threshold in words; empty if nothing can be wrong."""
    remedy: str = ""
    checked: bool = True
    """Whether the check could be made; it is good where it could not."""


class Finding(NamedTuple):
    """The result of a check, with its name."""

    name: str
    good: bool
    measured: str
    expected: str
    remedy: str
    checked: bool = True

    def __str__(self) -> str:
        if self.good:
            return f"  {'ok' if self.checked else '-':6} {self.name}: {self.measured}"
        more = f"\n         expected {self.expected}\n         remedy: {self.remedy}"
        return f"  WRONG  {self.name}: {self.measured}{more}"


def examine(checks: Mapping[str, Callable[[T], Found]], subject: T) -> Iterator[Finding]:
    """Yield a finding for each check; a check that fails is a finding too."""
    for name, check in checks.items():
        try:
            found = check(subject)
        except Exception as error:  # a broken installation can raise anything
            words = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"
            found = Found(False, words, "a check that can be made", "repair what is named, then run doctor again")
            if without := lacked(error):
                found = unchecked(without)
        yield Finding(name, bool(found.good), *found[1:])  # numpy's own is no JSON


def lacked(error: BaseException) -> str:
    """Return which package an error is about and how to install it, "" for another error.

    With requirements-play.txt some packages are meant to be missing.
    """
    package = lacking(error)
    return f"without {package}; `pip install -r {requirements(PACKAGES[package])}`" if package else ""


def unchecked(why: str) -> Found:
    """Return the result of a check that cannot be made here."""
    return Found(True, f"not checked {why}", checked=False)


@dataclass
class Patient:
    """An installation that is to learn a game with some settings; what is slow to make is made when first needed."""

    game: Game
    config: Config
    folder: Path
    """The folder of the runs."""

    @cached_property
    def small(self) -> Config:
        """The settings with a network that takes seconds."""
        kernel = self.config.hidden_cnn_layers[0].split("x")[1]
        return with_overrides(
            self.config, network=None, hidden_cnn_layers=(f"16x{kernel}",) * 2,
            value_filters=4, value_units=16, policy_filters=8,
            precision="float32", warmup_steps=0, mcts_sims=16, fast_sims=8, games_in_flight=8, cache_size=0,
            min_memory=16, memory_size=2000, weight_average=0.0, full_search_share=1.0,
            ownership_weight=0.0, soft_policy_weight=0.0,
        )  # fmt: skip

    @cached_property
    def model(self) -> Any:
        """A fresh small network of the game, its weights moved a little so that no output is constant."""
        from model import make_network

        model, rng = make_network(self.small, self.game), np.random.default_rng(0)
        model.set_weights([w + rng.normal(0, 0.02, w.shape).astype(np.float32) for w in model.get_weights()])
        return model

    @cached_property
    def positions(self) -> list[GameState]:
        """Up to 32 positions of random games that differ for the network; none is the end of a game."""
        found: dict[bytes, GameState] = {}
        for seed in range(40):
            for state in random_game(self.game, seed)[:-1]:
                found.setdefault(state.planes().tobytes(), state)
        order = np.random.default_rng(0).permutation(len(found))[:32]
        states = list(found.values())
        return [states[i] for i in order]


def random_game(game: Game, seed: int) -> list[GameState]:
    """Return the positions of a game of random moves, its end included; one that is too long is cut at `max_plies`."""
    rng, states = np.random.default_rng(seed), [game.start()]
    while not states[-1].isEndGame and len(states) <= game.max_plies:
        states.append(states[-1].takeAction(int(rng.choice(states[-1].allowedActions)))[0])
    return states
