"""Random openings of games, one for each pair of a match; identity of positions and games up to symmetry.

No position opens two pairs, in any symmetric form, so no game is played twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from game import Game, GameState

_TRIES = 100
"""Openings drawn to find one whose position is new."""


def identity(game: Game, state: GameState) -> bytes:
    """Return the same bytes for a position and all its symmetric forms: the smallest of their planes."""
    nothing = np.zeros(game.action_size)
    return bytes([state.playerTurn + 1]) + min(p.tobytes() for p, _ in game.identities(state.planes(), nothing))


def different(game: Game, played: Iterable[Sequence[int]]) -> int:
    """Return the number of different games, up to the symmetries that leave the start position unchanged."""
    start, actions = game.start().planes(), np.arange(game.action_size)
    forms = [f for planes, f in game.identities(start, actions) if np.array_equal(planes, start)]
    return len({min(tuple(form[list(moves)].tolist()) for form in forms) for moves in played})


def random_opening(game: Game, plies: int, rng: np.random.Generator) -> tuple[list[int], bytes] | None:
    """Return random legal moves and the identity of the position after them; None when they end the game before."""
    state, moves = game.start(), []
    for _ in range(plies):
        moves.append(int(rng.choice(state.allowedActions)))
        state, _, done = state.takeAction(moves[-1])
        if done:
            return None
    return moves, identity(game, state)


def openings(game: Game, count: int, *, plies: int, seed: int) -> list[list[int]]:
    """Return openings of pairs 0 .. count - 1, all of one length, each a function of (seed, pair) and that length.

    The length is `plies`, or more if too few positions are that short: openings of two lengths could lead into one
    game. A game with too few positions gives as many openings as it has at one length.
    """
    most: list[list[int]] = []
    for length in itertools.chain(range(plies, game.max_plies), range(min(plies, game.max_plies) - 1, -1, -1)):
        found = _of_length(game, count, length, seed)
        if len(found) > len(most):
            most = found
        if len(found) == count or most and not found:
            break
    return most


def _of_length(game: Game, count: int, plies: int, seed: int) -> list[list[int]]:
    """Return as many openings of a length as there are, `count` at most."""
    found: list[list[int]] = []
    seen: set[bytes] = set()
    for pair in range(count):
        rng = np.random.default_rng([seed, pair])
        drawn = (random_opening(game, plies, rng) for _ in range(_TRIES))
        new = next((opening for opening in drawn if opening is not None and opening[1] not in seen), None)
        if new is None:
            break
        found.append(new[0])
        seen.add(new[1])
    return found
