"""Proves who wins a position of Hex on boards of up to 8x8, by the sets of points that winning strategies need.

A side that wins does so on some free points, its carrier, whatever happens elsewhere. So a move outside the carrier of
the other's win after another move loses too, and only what is in all such carriers is tried (Hayward et al. 2003:
must-play region). A chain of stones and bridges from edge to edge, no point used twice, has won; the carriers of such
chains that one more stone completes are known before anything is tried. The circuits say which move is tried first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import call, compiled
from game import GameState
from games.hex import Hex
from plugins.laboratory.hex_circuit import LEFT, STEPS, TOP, Circuit, way

NONE = np.uint64(0)


class GaveUp(Exception):
    """The position needs more nodes than allowed."""


@compiled
def reach(
    board: Any, wide: Any, steps: Any, bits: Any, player: Any, start: Any, reached: Any, masks: Any, queue: Any
) -> Any:
    """Find what hangs together with an edge by stones and bridges, no point used twice, and write the points used.

    start: the edge, as on the board; reached: [P] bool; masks: [P] uint64.
    """
    near = TOP if player == 1 else LEFT
    filled = done = 0
    for i in range(board.shape[0]):
        reached[i] = board[i] == start
        masks[i] = np.uint64(0)
        if reached[i]:
            queue[filled] = i
            filled += 1
    while done < filled:
        at = queue[done]
        done += 1
        for k in range(12):
            rows, columns = steps[k % 6, 0], steps[k % 6, 1]
            if k >= 6:
                rows, columns = rows + steps[(k + 1) % 6, 0], columns + steps[(k + 1) % 6, 1]
            if not (0 <= at // wide + rows < wide and 0 <= at % wide + columns < wide):
                continue
            to, used = at + rows * wide + columns, np.uint64(0)
            if reached[to] or board[to] not in (player, near, near + 1):
                continue
            if k >= 6:
                one, two = at + way(steps, wide, k), at + way(steps, wide, k + 1)
                used = bits[one] | bits[two]
                if board[one] != 0 or board[two] != 0 or used & masks[at] != 0:
                    continue
            reached[to] = True
            masks[to] = masks[at] | used
            queue[filled] = to
            filled += 1


@compiled
def ways_to_win(
    board: Any, wide: Any, steps: Any, bits: Any, player: Any, reached: Any, masks: Any, queue: Any, ways: Any
) -> Any:
    """Write into ways [P] the carrier of a sure chain after a side's move at each free point, 0 where there is none.

    Return the carrier of the chain that he has already and whether he has one.
    """
    near = TOP if player == 1 else LEFT
    for side in range(2):
        reach(board, wide, steps, bits, player, near + side, reached[side], masks[side], queue)
    for i in range(board.shape[0]):
        ways[i] = np.uint64(0)
        if board[i] == near + 1 and reached[0, i]:
            return masks[0, i], True
    for i in range(board.shape[0]):
        if board[i] != 0:
            continue
        for k in range(12):
            here = i + way(steps, wide, k)
            used = np.uint64(0)
            if k >= 6:
                other = i + way(steps, wide, k + 1)
                used = bits[here] | bits[other]
                if board[here] != 0 or board[other] != 0:
                    continue
                here += way(steps, wide, k + 1)
            if not reached[0, here] or masks[0, here] & (used | bits[i]) != 0:
                continue
            first = masks[0, here] | used
            for m in range(12):
                there = i + way(steps, wide, m)
                used = np.uint64(0)
                if m >= 6:
                    other = i + way(steps, wide, m + 1)
                    used = bits[there] | bits[other]
                    if board[there] != 0 or board[other] != 0:
                        continue
                    there += way(steps, wide, m + 1)
                if reached[1, there] and (masks[1, there] & (used | bits[i]) | (masks[1, there] | used) & first) == 0:
                    ways[i] = first | masks[1, there] | used | bits[i]
                    break
            if ways[i] != 0:
                break
    return np.uint64(0), False


class Prover:
    """Proves positions of one size; what it has proven is kept."""

    def __init__(self, size: int, most: int = 10**9) -> None:
        """most: nodes after which `GaveUp` is raised."""
        if size > 8:
            raise ValueError(f"expected a board of at most 8x8, got {size}")
        self.circuit, self.nodes, self.most = Circuit(np.zeros((size, size), np.int8)), 0, most
        points = len(self.circuit.board)
        self._bits = np.zeros(points, np.uint64)
        self._bits[self.circuit.points] = np.uint64(1) << np.arange(size * size, dtype=np.uint64)
        self._room = np.zeros((2, points), np.bool_), np.zeros((2, points), np.uint64), np.zeros(points, np.int32)
        self._ways = np.zeros(points, np.uint64)
        self._known: dict[tuple[bytes, int], tuple[bool, int]] = {}

    def opening(self, point: int) -> bool:
        """Return whether the first player wins after opening at a point."""
        return self.wins({point: 1}, -1) is False

    def wins(self, stones: dict[int, int], player: int) -> bool:
        """Return whether the player to move wins the position with these stones {point: 1 or -1}."""
        for point, stone in stones.items():
            self.circuit.put(point, stone)
        try:
            return self._proven(player)[0]
        finally:
            for point in stones:
                self.circuit.put(point, 0)

    def _proven(self, player: int) -> tuple[bool, int]:
        """Return whether the player to move wins, and the carrier of who wins."""
        key = self.circuit.board.tobytes(), player
        if key not in self._known:
            self._known[key] = self._prove(player)
        return self._known[key]

    def _prove(self, player: int) -> tuple[bool, int]:
        self.nodes += 1
        if self.nodes > self.most:
            raise GaveUp
        carrier, sure, own = self._look(player)
        if sure or own:
            return True, carrier if sure else min(own.values(), key=int.bit_count)
        carrier, sure, threats = self._look(-player)
        if sure:
            return False, carrier
        must, lost = -1, 0
        for threat in sorted(threats.values(), key=int.bit_count):
            if must & ~threat:
                must, lost = must & threat, lost | threat
        for point in self.circuit.judge(player)[1]:
            if not must >> point & 1:
                continue
            self.circuit.put(point, player)
            try:
                wins, carrier = self._proven(-player)
            finally:
                self.circuit.put(point, 0)
            if not wins:
                return True, carrier | 1 << point
            must, lost = must & carrier, lost | carrier
        return False, lost

    def _look(self, player: int) -> tuple[int, bool, dict[int, int]]:
        """Return (the carrier of a side's sure chain, whether he has one, {point: carrier} of those one move away)."""
        board, wide = self.circuit.board, np.int64(self.circuit.wide)
        carrier, sure = call(ways_to_win, board, wide, STEPS, self._bits, np.int64(player), *self._room, self._ways)
        ways = self._ways[self.circuit.points]
        return int(carrier), bool(sure), {int(i): int(ways[i]) for i in np.flatnonzero(ways)}


class ProvenScores:
    """The values of all moves of a position of Hex without the swap, for `evaluation.puzzle_maker.Maker`."""

    def __init__(self, game: Hex, most: int = 3000) -> None:
        """most: nodes that may be proven for one position."""
        self.game, self.prover = game, Prover(game.grid_shape[0], most)

    def scores(self, state: GameState) -> dict[int, float] | None:
        """Return {action: score for the player to move}, positive where he wins; None where that takes too long.

        Of moves that win the one through which most current runs has the largest score, and of those that lose.
        """
        board = self.game.owners(self.game.row_of(state)).ravel()
        stones = {int(point): int(board[point]) for point in np.flatnonzero(board)}
        _, order = Circuit(board.reshape(self.game.grid_shape)).judge(state.playerTurn)
        found, self.prover.nodes = {}, 0
        for place, point in enumerate(order):
            try:
                lost = self.prover.wins({**stones, point: state.playerTurn}, -state.playerTurn)
            except GaveUp:
                return None
            found[point] = (-1.0 if lost else 1.0) - place / 1000
        return found
