"""A classical player of Hex to measure networks against: alpha-beta over circuits. `circuit:3` plies, `circuit:1s`."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable

import numpy as np

from config import UserError
from game import Game, GameState
from games.hex import Hex
from players.simple import SimplePlayer
from plugins.laboratory.hex_circuit import WON, Circuit

WIDTH, AT_ROOT = 12, 24
"""Moves that are tried, those through which most current runs: in the tree, and at its root."""
DEEPEST = 20


class TooLate(Exception):
    """The time of a move is over."""


class CircuitPlayer(SimplePlayer):
    """Looks `depth` plies ahead, or as far as it gets in `seconds`; nothing in its moves is random."""

    def __init__(self, game: Game, *, depth: int | None = None, seconds: float | None = None) -> None:
        if not isinstance(game, Hex):
            raise UserError(f"expected hex for the player circuit, got {game.spec}")
        if (depth is None) == (seconds is None):
            raise ValueError("expected either depth or seconds")
        super().__init__(f"circuit:{depth}" if seconds is None else f"circuit:{seconds:g}s", game)
        self._hex = game
        self._depth, self._seconds = DEEPEST if depth is None else depth, seconds
        self.at_once = 1

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        seconds = float("inf") if self._seconds is None else self._seconds
        until = min(time.monotonic() + seconds, self.deadline)
        size = self.game.grid_shape[0]
        circuit = Circuit(self._hex.owners(self._hex.row_of(state)))
        move, value = best_move(circuit, state.playerTurn, self._depth, lambda: time.monotonic() > until)
        if size * size in state.allowedActions and value < 0:  # after the swap the other is in this position
            return size * size, math.tanh(-value / 2)
        return move, math.tanh(value / 2)


def best_move(circuit: Circuit, player: int, depth: int, late: Callable[[], bool] = lambda: False) -> tuple[int, float]:
    """Return (the best point, its value for the player to move), searched ever deeper up to `depth` plies or `late`.

    The value is the mean of the last two depths, as who moved last looks too good.
    """
    best, moves = circuit.judge(player)
    before, moves = best, moves[:AT_ROOT]
    for plies in range(1, depth + 1):
        try:
            values = _root_values(circuit, player, moves, plies, late if plies > 1 else lambda: False)
        except TooLate:
            break
        order = sorted(range(len(values)), key=lambda i: -values[i])
        before, best, moves = best, values[order[0]], [moves[i] for i in order]
        if abs(best) > math.log(WON) / 2:
            return moves[0], best
    return moves[0], (before + best) / 2


def _root_values(circuit: Circuit, player: int, moves: list[int], plies: int, late: Callable[[], bool]) -> list[float]:
    """Return the values of the root's moves: of the best one, and for the others no more than that."""
    values: list[float] = []
    for move in moves:
        alpha = max(values, default=-math.inf)
        circuit.put(move, player)
        try:
            values.append(-_value(circuit, -player, plies - 1, -math.inf, -alpha, late))
        finally:
            circuit.put(move, 0)
    return values


def _value(circuit: Circuit, player: int, plies: int, alpha: float, beta: float, late: Callable[[], bool]) -> float:
    """Return the value for the player to move, exact between alpha and beta (fail-soft alpha-beta)."""
    value, moves = circuit.judge(player)
    if plies == 0 or not moves or abs(value) > math.log(WON) / 2:
        return value + math.copysign(0.01 * plies, value)  # a win sooner, a loss later
    if late():
        raise TooLate
    best = -math.inf
    for move in moves[:WIDTH]:
        circuit.put(move, player)
        try:
            best = max(best, -_value(circuit, -player, plies - 1, -beta, -max(alpha, best), late))
        finally:
            circuit.put(move, 0)
        if best >= beta:
            break
    return best


def named(game: Game, rest: str) -> CircuitPlayer:
    """Return the player `circuit:REST`: a number of plies, or seconds such as 0.5s."""
    if match := re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]{1,2})?)s", rest, re.ASCII):
        if float(match[1]):
            return CircuitPlayer(game, seconds=float(match[1]))
    elif re.fullmatch(r"[0-9]{1,2}", rest, re.ASCII) and 1 <= int(rest) <= DEEPEST:
        return CircuitPlayer(game, depth=int(rest))
    raise UserError(f"expected circuit:PLIES from 1 to {DEEPEST}, or circuit:0.5s, got circuit:{rest[:40]}")
