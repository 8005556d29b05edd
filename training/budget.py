"""Sizes that follow from the time a run has: a preset's own are for an hour and more of two cores.

In a few minutes a run of those sizes makes a handful of iterations, and nearly all of its games are played by networks
that have learned next to nothing. So iterations get shorter until there are `ITERATIONS` of them, and what is counted
in iterations or in positions follows. In a minute of a core a network of half as many filters learns more. No size
grows: a run of an hour has its preset's.
"""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Any

import numpy as np

from config import Config, with_overrides
from game import Game
from games.plain import PlainGame
from training.unknown_game import facts_of

TYPICAL_LENGTH = 0.7
"""Plies of a game over the most there can be: a guess, made before the first game."""
ITERATIONS = 20
"""Iterations that a run has at least, by these guesses."""
FEWEST_GAMES = 64
"""Games of an iteration at least: fewer would hardly fill the network's batches."""
OVERHEAD = 1.5
"""Time of all else, the search, tournaments and the scoreboard, with that of the network and of rules in Python."""
SMALL, FEWEST_FILTERS = 1.5, 8
"""Core-minutes under which a network has half of its filters, and how many it keeps. Measured in Connect 4 with 16
filters against 32 (benchmarks/log/2026-11-presets.md): Elo +81 [+43, +118] after one, +30 [-18, +78] after three.
"""
WARMING = 0.05
"""Share of a run's training steps in which the learning rate rises, at most."""
RATE = 2.4e11
"""Multiplications and additions that a core does in a second: in bfloat16 of Zen 4 (benchmarks/network_speed.py)."""
LEARNING = 5.0
"""What it takes to learn a position once, in evaluations by the network."""


def suited(game: Game, config: Config, core_minutes: float, given: Container[str] = ()) -> dict[str, Any]:
    """Return {name: value} of the settings that follow from the minutes of a core that a run has.

    given: the names of those that somebody chose: what follows from them follows from the choice.
    """
    layers = config.hidden_cnn_layers
    if core_minutes < SMALL and "hidden_cnn_layers" not in given:
        layers = tuple(_halved(layer) for layer in layers)
        config = with_overrides(config, hidden_cnn_layers=layers)
    searched = searched_plies(game, config)
    games = 60 * core_minutes / (searched * seconds_of_position(game, config))
    episodes = config.episodes
    if "episodes" not in given:
        episodes = min(episodes, max(FEWEST_GAMES, math.ceil(games / ITERATIONS)))
    share, steps = episodes / config.episodes, games * searched * config.reuse / config.batch_size
    least = config.min_memory if "min_memory" in given else round(share * config.min_memory)
    return {
        "hidden_cnn_layers": layers,
        "episodes": episodes,
        "memory_size": max(round(share * config.memory_size), least),
        "min_memory": least,
        "eval_episodes": max(2 * round(share * config.eval_episodes / 2), 20),
        "grow_sims": min(config.grow_sims, round(games / episodes / 2)),
        "warmup_steps": min(config.warmup_steps, round(WARMING * steps)),
    }


def _halved(layer: str) -> str:
    """Return a layer such as "32x3" with half of its filters."""
    filters, kernel = layer.split("x")
    return f"{max(int(filters) // 2, min(int(filters), FEWEST_FILTERS))}x{kernel}"


def searched_plies(game: Game, config: Config) -> float:
    """Return a guess of the plies of a game of self-play behind its random opening."""
    opening = config.random_opening_share * (1 + config.random_opening_plies) / 2
    return max(TYPICAL_LENGTH * game.max_plies - opening, 1.0)


def seconds_of_position(game: Game, config: Config) -> float:
    """Return a guess of what a position takes of a core, to be searched and to be learned."""
    filters, kernels = zip(*(map(int, text.split("x")) for text in config.hidden_cnn_layers), strict=True)
    first, *blocks = (size * size for size in kernels)
    weights = first * filters[0] * game.input_shape[2] + 2 * sum(blocks) * filters[0] ** 2
    evaluation = 2 * weights * float(np.prod(game.grid_shape)) / RATE
    rules = 2 * facts_of(game).seconds if isinstance(game, PlainGame) else 0.0  # for a position's moves and planes
    sims = config.full_search_share * config.mcts_sims + (1 - config.full_search_share) * config.fast_sims
    asked = sims * evaluations_asked(game, config)
    return OVERHEAD * (asked * (evaluation + rules) + LEARNING * config.reuse * evaluation)


def evaluations_asked(game: Game, config: Config) -> float:
    """Return a guess of evaluations per simulation: the other simulations end at positions that are known already.

    In the runs that ship: 0.4 to 0.7, and 0.04 to 0.2 where a game of few moves is won by a move that can be proven.
    """
    return 0.2 if config.proofs and game.won_by_a_move and game.action_size <= 9 else 0.5
