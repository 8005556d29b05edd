"""Positions whose moves differ in value, solved exactly: the test set of `evaluate`.

Positions come from uniformly random play, from a seed, no two alike up to symmetry. A move's score is for the player
who makes it: larger is better, its sign (win, draw, loss) is the game's value after it. Only positions whose legal
moves differ in value count; in all others no move is a mistake. The first n positions of a seed are the same for every
number drawn. They are stored in a file of the user's cache folder (`cache_file`), and checked when read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from config import UserError
from evaluation.openings import identity
from game import Game, GameState
from games.endings import Solvable
from players.solver import AlphaBetaScores, BitbullyScores, NodeLimit, known_to_bitbully
from storage.atomic_files import write_file
from storage.run_folders import game_folder
from system.reading import LINES_BYTES, read_limited

RECIPE = 1
"""Version of the way positions are drawn; files of another version are not used."""
GIVE_UP = 2_000
"""After this many positions in a row without a new one that counts, the game is taken to have no more."""


@dataclass(frozen=True)
class Solved:
    """A position whose moves differ in value."""

    moves: tuple[int, ...]
    """The moves from the start."""
    state: GameState
    scores: dict[int, float]
    """{legal action: its score, for the player to move}; the larger the better."""

    @cached_property
    def values(self) -> dict[int, int]:
        """{legal action: 1, 0, -1 for won, drawn, lost}"""
        return {action: int(np.sign(score)) for action, score in self.scores.items()}

    @cached_property
    def keeping(self) -> set[int]:
        """The actions that keep the game's value."""
        highest = max(self.values.values())
        return {a for a, v in self.values.items() if v == highest}

    @cached_property
    def best(self) -> set[int]:
        """The actions of the best score."""
        highest = max(self.scores.values())
        return {a for a, s in self.scores.items() if s == highest}

    @cached_property
    def planes(self) -> np.ndarray:
        """[rows, columns, planes] uint8: what the network sees."""
        return self.state.planes()

    @cached_property
    def following(self) -> list[tuple[np.ndarray, int]]:
        """(planes, exact value for its player to move) of each position one move later that is not over."""
        found = []
        for action, value in self.values.items():
            after, _, over = self.state.takeAction(action)
            if not over:
                found.append((after.planes(), value if after.playerTurn == self.state.playerTurn else -value))
        return found

    @property
    def ply(self) -> int:
        return len(self.moves)


class Oracle(NamedTuple):
    """A solver of a game, and the positions it is used on."""

    name: str
    plies: tuple[int, int]
    """Fewest and most random moves before a position."""
    bands: tuple[int, ...]
    """First plies of the game's stages."""
    distance: bool
    """Whether scores also distinguish quick wins from slow ones."""
    scores: Callable[[GameState], dict[int, float] | None]
    """position -> {action: score}; None when it is too far from the end."""
    whole: bool = False
    """Whether all positions of the game are used, not a sample."""
    most: int = 10**9
    """Largest number of positions."""
    endings: bool = False
    """Whether it knows only what is near the end."""


LIMIT = NodeLimit(100_000)
"""For one position; one that needs more is left out, which favours positions that are quick to solve."""


def oracle(game: Game) -> Oracle | None:
    """Return the solver of a game; None if there is none. Raise `UserError` when the solver is not installed."""
    if known_to_bitbully(game):
        exact = BitbullyScores()
        return Oracle(exact.name, (0, 35), (0, 12, 24), True, exact.scores)
    if game.origin or game.solvable is None:  # your own game has other rules, whatever it derives from
        return None
    return _alpha_beta(game, game.solvable)


def _alpha_beta(game: Game, solvable: Solvable) -> Oracle:
    exact, end = AlphaBetaScores(game, LIMIT), solvable.end or game.max_plies
    low, high = max(end - solvable.plies, 0), max(end - 2, 0)
    bands = sorted({low + third * (high - low + 1) // 3 for third in range(3)})
    plies, whole = (low, high), solvable.whole
    return Oracle(exact.name, plies, tuple(bands), False, exact.scores, whole, solvable.most, endings=not whole)


def sample(game: Game, who: Oracle, count: int, seed: int, *, report: Callable[[int], None] = lambda n: None
           ) -> tuple[list[Solved], bool]:  # fmt: skip
    """Return (the first `count` positions of a seed, whether the game has no others); report: as in `positions`."""
    found = positions(game, who, count + who.whole, seed, report=report)
    return found[:count], who.whole and len(found) <= count


def positions(game: Game, who: Oracle, count: int, seed: int, *, report: Callable[[int], None] = lambda n: None
              ) -> list[Solved]:  # fmt: skip
    """Return the first `count` positions of a seed, or all if the game has fewer; from the cache if it has enough.

    report: called with the number of positions so far.
    """
    count = min(count, who.most)
    path = cache_file(game, who, seed)
    found, complete = _read_cache(path, game)
    if len(found) >= count or complete:
        return found[:count]
    rest = _drawn(game, who, seed)
    found = []
    for position in rest:
        found.append(position)
        report(len(found))
        if len(found) == count:
            break
    kept = {
        "recipe": RECIPE, "solver": who.name, "game": game.spec, "complete": len(found) < count,
        "positions": [[list(p.moves), sorted(p.scores.items())] for p in found],
    }  # fmt: skip
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(path, json.dumps(kept).encode())
    except OSError:
        pass  # the next call solves them again
    return found


def cache_file(game: Game, who: Oracle, seed: int) -> Path:
    """Return the path of the solved positions' file: in XDG_CACHE_HOME or ~/.cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    solver = who.name.replace(" ", "-")
    return base / "alphazero-keras" / f"{game_folder(game.spec)}-{solver}-seed{seed}-recipe{RECIPE}.json"


def _read_cache(path: Path, game: Game) -> tuple[list[Solved], bool]:
    """Return (positions, whether there are no more) of a file; ([], False) when any part of it is wrong."""
    try:
        kept = json.loads(read_limited(path, LINES_BYTES))
        found = [_checked(game, moves, dict(scores)) for moves, scores in kept["positions"]]
        return found, kept["complete"] is True
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, UserError):
        return [], False


def _checked(game: Game, moves: Any, scores: dict[Any, Any]) -> Solved:
    state = game.start()
    for move in moves:
        state = state.takeAction(int(move))[0]
    position = Solved(tuple(int(m) for m in moves), state, {int(a): float(s) for a, s in scores.items()})
    if sorted(position.scores) != list(state.allowedActions) or len(set(position.values.values())) < 2:
        raise ValueError("expected a score for each legal move, of two values at least")
    return position


def _drawn(game: Game, who: Oracle, seed: int) -> Iterator[Solved]:
    """Yield positions that count, without end unless the game has no more."""
    rng = np.random.default_rng(seed)
    source = _every(game, rng) if who.whole else _played(game, who.plies, rng)
    seen: set[bytes] = set()
    in_vain = 0
    for moves, state in source:
        in_vain += 1
        if in_vain > GIVE_UP and not who.whole:
            return
        if state.isEndGame or len(state.allowedActions) < 2:
            continue
        key = identity(game, state)
        if key in seen:
            continue
        seen.add(key)
        scores = who.scores(state)
        if scores is not None and len({np.sign(s) for s in scores.values()}) > 1:
            in_vain = 0
            yield Solved(tuple(moves), state, scores)


def _played(game: Game, plies: tuple[int, int], rng: np.random.Generator) -> Iterator[tuple[list[int], GameState]]:
    while True:
        state, moves = game.start(), []
        for _ in range(int(rng.integers(plies[0], plies[1] + 1))):
            moves.append(int(rng.choice(state.allowedActions)))
            state = state.takeAction(moves[-1])[0]
            if state.isEndGame:
                break
        yield moves, state


def _every(game: Game, rng: np.random.Generator) -> Iterator[tuple[list[int], GameState]]:
    """Yield every position that is not over, once up to symmetry, in random order."""
    level: list[tuple[list[int], GameState]] = [([], game.start())]
    found, seen = [], {identity(game, level[0][1])}
    while level:
        found += level
        following = []
        for moves, state in level:
            for action in state.allowedActions:
                after = state.takeAction(action)[0]
                key = identity(game, after)
                if key not in seen and not after.isEndGame:
                    following.append(([*moves, int(action)], after))
                seen.add(key)
        level = following
    yield from (found[i] for i in rng.permutation(len(found)))
