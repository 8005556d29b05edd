"""Settings for a game that has no preset of its own: your own games, and those of OpenSpiel (docs/add_a_game.md).

What a setting should be follows from how many moves the game has, how long it is, and whether its rules are compiled.
A few random games say the latter two.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import Any, NamedTuple

from config import Config
from game import Game
from games.plain import PlainGame

MANY_MOVES = {
    "episodes": 256, "gumbel": 16, "mcts_sims": 24, "fast_sims": 16, "grow_sims": 0, "reuse": 3.0,
    "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
}  # fmt: skip
"""What the presets of gomoku, Othello, Hex and Go have in common. Other games get what Connect 4 has."""
FEW = 9
"""Actions up to which a game is like Connect 4."""
GAMES = 10
"""Random games that are played."""


class Facts(NamedTuple):
    """What random games say of a game."""

    plies: float
    """Mean length."""
    seconds: float
    """Mean processor time of a ply, by the rules in Python."""


def facts_of(game: Game) -> Facts:
    """Play a few random games, always the same ones.

    Of a game with a fault, which its check will name before it is learned, the longest length is taken.
    """
    draw, plies, began = random.Random(0), 0, time.process_time()
    with suppress(Exception):
        for _ in range(GAMES):
            state, most = game.start(), game.max_plies
            while not state.isEndGame and most > 0:
                state, _, _ = state.takeAction(draw.choice(list(state.allowedActions)))
                plies, most = plies + 1, most - 1
        return Facts(plies / GAMES, (time.process_time() - began) / max(plies, 1))
    return Facts(game.max_plies, 0.0)


def settings_for(game: Game) -> dict[str, Any]:
    """Return {name: value} of the settings of preset `laptop` for a game that has none of its own."""
    plies = facts_of(game).plies
    found: dict[str, Any] = {} if game.action_size <= FEW else dict(MANY_MOVES)
    found["random_opening_plies"] = max(round(min(plies / 3, 20)), 1)  # then most is still open
    found["turns_until_tau0"] = max(round(min(plies / 2, 12)), 1)
    if isinstance(game, PlainGame):  # its rules, not the network, take the time
        found |= {"episodes": 128, "reuse": Config.reuse}  # games are dear, to learn from them once more is not
        if game.action_size <= FEW:
            found |= {"mcts_sims": 48, "grow_sims": 0}
    found["min_memory"] = max(min(round(found.get("episodes", Config.episodes) * plies / 2), Config.min_memory), 1)
    return found
