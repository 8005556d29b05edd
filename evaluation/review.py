"""Review of a game: what each move lost, the better move with its line, marks, accuracy, the turning point.

A loss is in points of the game (a win 1, a draw 1/2): half of the difference between the values of the best move and
of the move played, both for the player who moved. So it is from 0 to 1, the fall of the chance to win, as lichess has
it. Values are exact where a solver or the search's proofs know them (win, draw, loss), else those of a search.

A search compares two moves fairly: where its own choice is another than the move played, the positions after both get
a new search of the same size, and the loss is the difference between these. An exact loss is always marked, a whole
point as a blunder and half a point as a mistake. The thresholds of the others are measured, game by game
(benchmarks/review_games.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from config import UserError
from game import Game, GameState
from games.line_of_moves import follow, ready
from MCTS import Node
from players.solver import AlphaBetaScores, BitbullyScores, position_solver
from storage.game_files import Record
from system.reading import TEXT_BYTES, read_limited

MARKS = {"": "", "inaccuracy": "?!", "mistake": "?", "blunder": "??"}
"""{mark: its sign behind a move}, from good to bad."""
LINE = 8
"""Moves of the better line."""
ACCURACY = 103.1668, 4.354, 3.1669
"""a, b, c of lichess's accuracy of a move, a exp(-b loss) - c."""
DECIDED = 1 / 3
"""Beyond this value a position counts as won, below its negative as lost."""


class Searcher(Protocol):
    """What reviews a game without a solver: a network with its search, or a rollout player."""

    name: str

    def new_game(self, slot: int, seed: int) -> None: ...

    def think(self, state: GameState, sims: int | None = None, stop: Callable[[], bool] | None = None) -> Node: ...


class Thresholds(NamedTuple):
    """Smallest losses with a mark, in points of the game."""

    inaccuracy: float
    mistake: float
    blunder: float

    def mark(self, loss: float, *, exact: bool) -> str:
        """Return the mark of a loss, "" for none. An exact one is marked whatever the thresholds."""
        if exact:
            return "blunder" if loss > 0.5 else "mistake" if loss > 0 else ""
        for name in ("blunder", "mistake", "inaccuracy"):
            if loss >= getattr(self, name):
                return name
        return ""


class Judged(NamedTuple):
    """A move of the game and what it lost. Values are for the player who moved, in [-1, 1]."""

    ply: int
    """Moves before it."""
    player: int
    action: int
    before: float
    """With the best move."""
    after: float
    """With the move played."""
    exact: bool
    mark: str
    line: list[int]
    """The better move and what follows; empty if none is better."""
    choices: int
    """Legal moves."""

    @property
    def loss(self) -> float:
        """Points of the game that it lost, from 0 to 1."""
        return max(self.before - self.after, 0.0) / 2

    @property
    def accuracy(self) -> float:
        """Accuracy of the move, from 0 to 100, as lichess defines it (https://lichess.org/page/accuracy).

        The chance to win in percent, which falls there by Win%, is here 100 times the points of the game.

        >>> Judged(0, 1, 3, 0.4, 0.4, False, "", [], 7).accuracy, Judged(0, 1, 3, 1.0, -1.0, True, "", [], 7).accuracy
        (100.0, 0.0)
        """
        scale, steepness, less = ACCURACY
        return float(np.clip(scale * math.exp(-steepness * self.loss) - less, 0.0, 100.0).round(1))


class Summary(NamedTuple):
    """A reviewed game in a few numbers."""

    accuracy: dict[int, float | None]
    """{player: mean accuracy of the moves that had a choice}; None without one."""
    counts: dict[int, dict[str, int]]
    """{player: {mark: number of moves}}"""
    turning: int | None
    """Ply of the last move that changed who wins, else of the one that lost most; None if no move is marked."""
    lost_throughout: dict[int, bool]
    """{player: whether every position it had to move in is exactly lost, so that no move could be a mistake}"""


def review(
    record: Record, make: Callable[[Game], Searcher], *, sims: int = 400, seed: int = 0,
    stop: Callable[[], bool] = lambda: False, solve: bool = True,
) -> Iterator[Judged]:  # fmt: skip
    """Yield the moves of a game, judged one by one, in order; a true `stop()` ends it early.

    make: makes the player that searches; called when the first move needs a search. The same record, player, `sims` and
    `seed` give the same review. Without `solve` no solver is used, though what the search proves is exact.
    """
    game = record.game
    states = list(follow(game, record.moves))
    states = [ready(game, state) for state in states[:-1]] + states[-1:]
    exact = _Exact(game, states, stop) if solve else None
    searched = _Searched(make, game, sims, seed, stop)
    limits = thresholds(game.spec)
    for ply, action in enumerate(record.moves):
        state = states[ply]
        found = exact.judge(ply, action) if exact is not None else None
        if found is None and not stop():
            known = exact.value(ply + 1) if exact is not None else None
            found = searched.judge(state, action, known)
        if found is None or stop():
            return
        before, after, certain, line = found
        mark = limits.mark(max(before - after, 0.0) / 2, exact=certain)
        line = line if before > after else []
        yield Judged(ply, state.playerTurn, action, before, after, certain, mark, line, len(state.allowedActions))


Found = tuple[float, float, bool, list[int]]
"""(value of the best move, of the one played, whether both are exact, the best line)."""


class _Exact:
    """Exact values of a game's positions, as far from its end as a solver knows them."""

    def __init__(self, game: Game, states: list[GameState], stop: Callable[[], bool]) -> None:
        self._solver: AlphaBetaScores | BitbullyScores = position_solver(game)
        self._states = states
        self._scores: dict[int, dict[int, float]] = {}
        for ply in range(len(states) - 2, -1, -1):
            scores = None if stop() else self._solver.scores(states[ply])
            if scores is None:  # positions before it are further from the end
                break
            self._scores[ply] = scores

    def value(self, ply: int) -> float | None:
        """Return the value of a position for its player to move; None if it is not known."""
        state = self._states[ply]
        if state.isEndGame:
            return float(np.sign(state.value))
        return float(np.sign(max(self._scores[ply].values()))) if ply in self._scores else None

    def judge(self, ply: int, action: int) -> Found | None:
        """Return what is known of a move; None if its position is not solved."""
        if ply not in self._scores:
            return None
        values = {a: float(np.sign(score)) for a, score in self._scores[ply].items()}
        best, after = max(values.values()), values[action]
        if after == best:
            return best, after, True, []
        line = self._solver.line(self._states[ply], LINE)
        if not line or values[line[0]] < best:
            line = [next(a for a, value in values.items() if value == best)]
        return best, after, True, line


class _Searched:
    """Values by a player's searches, each of a new tree."""

    def __init__(
        self, make: Callable[[Game], Searcher], game: Game, sims: int, seed: int, stop: Callable[[], bool]
    ) -> None:
        self._make, self._game, self._sims, self._seed, self._stop = make, game, sims, seed, stop
        self._player: Searcher | None = None
        self._last: tuple[Any, Node] | None = None
        """(id of the position, root) of the tree that the player has now."""

    def judge(self, state: GameState, action: int, known: float | None) -> Found | None:
        """Judge a move; known: the exact value of the position after it, for its player to move; None when stopped."""
        root = self._think(state)
        if self._stop():
            return None
        mcts, value, proven = root.mcts, root.Q, root.proven is not None
        line = mcts.principal_variation(root, LINE) or list(state.allowedActions[:1])
        if line[0] == action:
            return value, value, proven, []
        best, certain = self._after(state, line[0], None)
        after, sure = self._after(state, action, known)  # the last search: the next move is judged from it
        if proven:
            best, certain = value, True
        elif best < 1.0:
            certain = False  # a move that neither of the searches looked at may be better
        return max(best, after), after, sure and (certain or after == 1.0), line

    def _after(self, state: GameState, action: int, known: float | None) -> tuple[float, bool]:
        """Return (value of a move for its player, whether it is exact)."""
        child = state.takeAction(action)[0]
        sign = 1 if child.playerTurn == state.playerTurn else -1
        if known is not None:
            return sign * known + 0.0, True
        if child.isEndGame:
            return sign * float(child.value) + 0.0, True
        root = self._think(child)
        return sign * root.Q + 0.0, root.proven is not None

    def _think(self, state: GameState) -> Node:
        if self._player is None:
            self._player = check_searcher(self._make(self._game))
        if self._last is None or self._last[0] != state.id:
            self._player.new_game(0, self._seed)
            self._last = state.id, self._player.think(state, self._sims, self._stop)
        return self._last[1]


def check_searcher(player: Any) -> Any:
    """Return a player; raise `UserError` if it has no search to review with."""
    if not hasattr(player, "think"):
        raise UserError(f"expected a player that searches, a network or rollout:N, to review, got {player.name}")
    return player


# ---- the whole game


def summary(moves: Iterable[Judged]) -> Summary:
    """Return the numbers of a game, or of its moves judged so far."""
    moves = list(moves)
    accuracy: dict[int, float | None] = {}
    counts: dict[int, dict[str, int]] = {}
    lost = {}
    for player in (1, -1):
        own = [move for move in moves if move.player == player]
        with_choice = [move.accuracy for move in own if move.choices > 1]
        accuracy[player] = float(np.mean(with_choice)) if with_choice else None
        counts[player] = {mark: sum(move.mark == mark for move in own) for mark in MARKS if mark}
        lost[player] = bool(own) and all(move.exact and move.before == -1.0 for move in own)
    return Summary(accuracy, counts, _turning(moves), lost)


def _turning(moves: list[Judged]) -> int | None:
    marked = [move for move in moves if move.mark]
    turned = [move for move in marked if _side(move.before) != _side(move.after)]
    if turned:
        return turned[-1].ply
    return max(marked, key=lambda move: (move.loss, move.ply)).ply if marked else None


def _side(value: float) -> int:
    """Return 1 for a won position, -1 for a lost one, 0 between."""
    return (value > DECIDED) - (value < -DECIDED)


def as_values(record: Record, moves: Iterable[Judged], player: str) -> dict[str, Any]:
    """Return a review as values for JSON: names of moves, values and losses of each, and the summary."""
    game, moves = record.game, list(moves)
    total = summary(moves)
    names = [game.move_name(action) for action in record.moves]
    listed = [
        {
            "ply": move.ply, "player": 1 if move.player == 1 else 2, "move": names[move.ply], "mark": move.mark,
            "loss": move.loss, "value": move.before, "value_played": move.after, "exact": move.exact,
            "accuracy": move.accuracy, "better": [game.move_name(action) for action in move.line],
        }
        for move in moves
    ]  # fmt: skip
    return {
        "game": game.spec, "players": list(record.players), "result": record.result, "by": player,
        "accuracy": [total.accuracy[1], total.accuracy[-1]], "marks": [total.counts[1], total.counts[-1]],
        "turning_point": total.turning, "moves": listed,
    }  # fmt: skip


@cache
def thresholds(spec: str) -> Thresholds:
    """Return the thresholds of a game; of one that was not measured the mean of the others."""
    found = json.loads(read_limited(Path(__file__).with_name("review_thresholds.json"), TEXT_BYTES))["games"]
    rows = [found[spec]] if spec in found else list(found.values())
    return Thresholds(*(round(float(np.mean([row[name] for row in rows])), 3) for name in Thresholds._fields))
