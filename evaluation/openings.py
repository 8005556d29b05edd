"""Random openings of games, one for each pair of a match; identity of positions and games up to symmetry.

No position opens two pairs, in any symmetric form, so no game is played twice. (Positions are what a network sees: in
gomoku the same stones with another last one are another position.) A player may choose the even ones: in a game such
as gomoku on 15x15, where most random openings are won for one side, a match of others says little.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from game import Game, GameState

if TYPE_CHECKING:
    from agent import Player

_TRIES = 100
"""Openings drawn to find one whose position is new, and even if it has to be."""
EVEN = 0.25
"""Largest value of an even opening, for either side: that of five points of eight."""


def identity(game: Game, state: GameState) -> bytes:
    """Return the same bytes for a position and all its symmetric forms: the smallest of their planes."""
    nothing = np.zeros(game.action_size)
    return bytes([state.playerTurn + 1]) + min(p.tobytes() for p, _ in game.identities(state.planes(), nothing))


def different(game: Game, played: Iterable[Sequence[int]]) -> int:
    """Return the number of different games, up to the symmetries that leave the start position unchanged."""
    start, actions = game.start().planes(), np.arange(game.action_size)
    forms = [f for planes, f in game.identities(start, actions) if np.array_equal(planes, start)]
    return len({min(tuple(form[list(moves)].tolist()) for form in forms) for moves in played})


def random_opening(game: Game, plies: int, rng: np.random.Generator) -> tuple[list[int], GameState] | None:
    """Return random legal moves and the position after them; None when they end the game before."""
    state, moves = game.start(), []
    for _ in range(plies):
        moves.append(int(rng.choice(state.allowedActions)))
        state, _, done = state.takeAction(moves[-1])
        if done:
            return None
    return moves, state


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
        new = _new_opening(game, plies, np.random.default_rng([seed, pair]), seen)
        if new is None:
            break
        found.append(new[0])
    return found


def _new_opening(
    game: Game, plies: int, rng: np.random.Generator, seen: set[bytes]
) -> tuple[list[int], GameState] | None:
    """Return an opening whose position is not among those seen, which it joins; None if none is found."""
    for _ in range(_TRIES):
        drawn = random_opening(game, plies, rng)
        if drawn is not None and (key := identity(game, drawn[1])) not in seen:
            seen.add(key)
            return drawn
    return None


def even_openings(
    game: Game, count: int, judge: Player, *, plies: int, seed: int, report: Callable[[int], None] = lambda found: None
) -> list[list[int]]:
    """Return openings of `plies` moves that a player holds for even: for each pair the first of its `_TRIES`, if any.

    Its value of the position is at most `EVEN`, whoever leads. report: receives how many are found.
    """
    chances = [np.random.default_rng([seed, pair]) for pair in range(count)]
    found: dict[int, list[int]] = {}
    seen: set[bytes] = set()
    judge.new_games(min(count, judge.at_once))
    for _ in range(_TRIES):
        drawn = [(pair, _new_opening(game, plies, chances[pair], seen)) for pair in range(count) if pair not in found]
        new = [(pair, opening) for pair, opening in drawn if opening is not None]
        for first in range(0, len(new), judge.at_once):
            part = new[first : first + judge.at_once]
            for slot in range(len(part)):
                judge.new_game(slot, seed)  # what it says of a position does not depend on others
            states = [state for _, (_, state) in part]
            values = judge.act_many(range(len(part)), states, [0.0] * len(part))
            for (pair, (moves, _)), decision in zip(part, values, strict=True):
                if abs(decision.value) <= EVEN:
                    found[pair] = moves
            report(len(found))
        if len(found) == count or not new:
            break
    return [found[pair] for pair in sorted(found)]
