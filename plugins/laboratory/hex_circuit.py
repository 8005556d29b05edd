"""Hex as electrical circuits, one for each side between his two edges: what a classical player knows of a position.

A side's stones conduct freely, a free point has resistance 1, a stone of the other lets nothing through (Shannon;
Anshelevich 2002, "A hierarchical approach to computer Hex"). Points a bridge apart, with two free points between them
of which a side gets one, are linked as neighbours are, so what bridges join is joined. A position is worth the
logarithm of the ratio of the currents of both sides; the more current runs through a point, the earlier a move there
is tried.

Board: [wide * wide] int8 in row order, `PAD` points wider on each side than the game's.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from compiled import bind, compiled, inlined
from compiling.records import record

PAD = 2
"""A bridge reaches two lines far."""
TOP, BOTTOM, LEFT, RIGHT, NOBODY = 2, 3, 4, 5, 6
"""What lies around the board. The points on it are 0, free, or stones: 1 of who joins top to bottom, or -1."""
STEPS = np.array([(-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1)])
"""(rows, columns) to the neighbours, around the circle: steps k and k + 1 are the two ways of a bridge."""
SWEEPS, RELAXATION = 24, 1.6
"""How often the voltages are improved (Gauss-Seidel), and by how much more than a sweep says (over-relaxation)."""
SURE, WON = 1e3, 1e6
"""Current of a side whose edges are joined by his stones and bridges, and by his stones alone."""


@record
class Room(NamedTuple):
    """Room to work in, for P points of the board."""

    label: np.ndarray
    """[P] int32: the group of a stone or an edge, the node of a free point, -1 elsewhere"""
    queue: np.ndarray
    """[P] int32"""
    links: np.ndarray
    """[P] int32: how many nodes each free point is linked to"""
    to: np.ndarray
    """[P, 12] int32: these nodes"""
    weight: np.ndarray
    """[P, 12] float64: the links' conductances"""
    total: np.ndarray
    """[P] float64: their sum"""
    volts: np.ndarray
    """[2 P] float64: of groups, then of free points"""
    into: np.ndarray
    """[P] float64: of groups, the sum of conductances times voltages"""
    weights: np.ndarray
    """[P] float64: of groups, the sum of conductances"""
    flow: np.ndarray
    """[P] float64: the current through each free point"""


def make_room(points: int) -> Room:
    ints, floats = (lambda *n: np.zeros(n, np.int32)), (lambda *n: np.zeros(n))
    return Room(
        ints(points),
        ints(points),
        ints(points),
        ints(points, 12),
        floats(points, 12),
        floats(points),
        floats(2 * points),
        floats(points),
        floats(points),
        floats(points),
    )


@inlined
def way(steps: Any, wide: Any, k: Any) -> Any:
    """Return the step to a neighbour as a difference of points."""
    return steps[k % 6, 0] * wide + steps[k % 6, 1]


@compiled
def join(board: Any, wide: Any, steps: Any, player: Any, bridges: Any, room: Any, filled: Any) -> Any:
    """Give all that hangs together with the points queue[:filled], stones and edges of a side, their label."""
    near, label, queue = TOP if player == 1 else LEFT, room.label, room.queue
    done = 0
    while done < filled:
        at = queue[done]
        done += 1
        for k in range(12 if bridges else 6):
            rows, columns = steps[k % 6, 0], steps[k % 6, 1]
            if k >= 6:
                rows, columns = rows + steps[(k + 1) % 6, 0], columns + steps[(k + 1) % 6, 1]
            if not (0 <= at // wide + rows < wide and 0 <= at % wide + columns < wide):
                continue
            to = at + rows * wide + columns
            if label[to] >= 0 or board[to] not in (player, near, near + 1):
                continue
            if k >= 6 and (board[at + way(steps, wide, k)] != 0 or board[at + way(steps, wide, k + 1)] != 0):
                continue
            label[to] = label[at]
            queue[filled] = to
            filled += 1


@compiled
def find_groups(board: Any, wide: Any, steps: Any, player: Any, bridges: Any, room: Any) -> Any:
    """Write the group of each stone and edge of a side as its label, -1 elsewhere; return the number of groups.

    Group 0 has his near edge, group 1 the far one; 1 is returned if they are one group. bridges: whether these join.
    """
    near, label, queue = TOP if player == 1 else LEFT, room.label, room.queue
    label[:] = -1
    for group in range(2):
        filled = 0
        for i in range(board.shape[0]):
            if board[i] == near + group and label[i] < 0:
                label[i] = group
                queue[filled] = i
                filled += 1
        if filled == 0:
            return 1
        join(board, wide, steps, player, bridges, room, filled)
    groups = 2
    for i in range(board.shape[0]):
        if board[i] == player and label[i] < 0:
            label[i] = groups
            queue[0] = i
            join(board, wide, steps, player, bridges, room, 1)
            groups += 1
    return groups


@compiled
def current(board: Any, wide: Any, steps: Any, player: Any, bridges: Any, room: Any) -> Any:
    """Return the current between a side's edges, 1 volt apart, and write the flow through each free point.

    It is WON where his edges are joined.
    """
    points = board.shape[0]
    label, queue, to, weight, volts = room.label, room.queue, room.to, room.weight, room.volts
    room.flow[:] = 0.0
    groups = find_groups(board, wide, steps, player, bridges, room)
    if groups == 1:
        return WON
    free = 0
    for i in range(points):
        if board[i] == 0:
            label[i] = groups + free  # every free point is a node of its own
            queue[free] = i
            free += 1
    for f in range(free):
        at, links, total = queue[f], 0, 0.0
        for k in range(12 if bridges else 6):
            step = way(steps, wide, k)
            if k >= 6:
                if board[at + step] != 0 or board[at + way(steps, wide, k + 1)] != 0:
                    continue
                step += way(steps, wide, k + 1)
            if label[at + step] >= 0:
                to[f, links] = label[at + step]
                weight[f, links] = 1.0 if label[at + step] < groups else 0.5
                total += weight[f, links]
                links += 1
        room.links[f], room.total[f] = links, total
    volts[:] = 0.5
    volts[0], volts[1] = 1.0, 0.0
    for sweep in range(SWEEPS):
        for i in range(free):
            f = i if sweep % 2 == 0 else free - 1 - i
            if room.links[f] > 0:
                mean = 0.0
                for k in range(room.links[f]):
                    mean += weight[f, k] * volts[to[f, k]]
                volts[groups + f] += RELAXATION * (mean / room.total[f] - volts[groups + f])
        room.into[:] = 0.0
        room.weights[:] = 0.0
        for f in range(free):
            for k in range(room.links[f]):
                if to[f, k] < groups:
                    room.into[to[f, k]] += weight[f, k] * volts[groups + f]
                    room.weights[to[f, k]] += weight[f, k]
        for group in range(2, groups):
            if room.weights[group] > 0.0:
                volts[group] = room.into[group] / room.weights[group]
    for f in range(free):
        for k in range(room.links[f]):
            room.flow[queue[f]] += 0.5 * weight[f, k] * abs(volts[to[f, k]] - volts[groups + f])
    return max(room.weights[0] - room.into[0], 0.0)


@compiled
def judge(board: Any, player: Any, wide: Any, steps: Any, heat: Any, room: Any) -> Any:
    """Return the value of a position for the player to move, and write the share of the currents through each point.

    Within log(WON) and its negative; beyond log(SURE) / 2 one side is sure to win, as far as bridges do not overlap.
    """
    value = 0.0
    heat[:] = 0.0
    for side in range(2):
        who = player if side == 0 else -player
        found = current(board, wide, steps, who, True, room)
        if found == WON:  # the points that his bridges still need count, if there are any
            found = current(board, wide, steps, who, False, room)
            worth = WON if found == WON else SURE
        else:
            worth = min(found, SURE)
        for i in range(board.shape[0]):
            heat[i] += room.flow[i] / (found + 1e-9)
        value += (1.0 if side == 0 else -1.0) * math.log(worth + 1e-6)
    return value


class Circuit:
    """A position that stones are put on and taken from, and what the circuits say of it."""

    def __init__(self, stones: np.ndarray) -> None:
        """stones: [size, size] in {1, -1, 0}; 1 joins the top to the bottom."""
        size = len(stones)
        self.size, self.wide = size, size + 2 * PAD
        board = np.full((self.wide, self.wide), NOBODY, np.int8)
        inside = slice(PAD, PAD + size)
        board[:PAD, inside], board[PAD + size :, inside] = TOP, BOTTOM
        board[inside, :PAD], board[inside, PAD + size :] = LEFT, RIGHT
        board[inside, inside] = stones
        self.board = board.ravel()
        self.points = np.arange(self.wide**2).reshape(board.shape)[inside, inside].ravel()
        """[size * size]: where the points of the game lie on the board."""
        self._heat = np.zeros(self.wide**2)
        self._rest = np.int64(self.wide), STEPS, self._heat, make_room(self.wide**2)
        self._judge = bind(judge, self.board, np.int64(1), *self._rest)

    def put(self, point: int, stone: int) -> None:
        """Put a stone on a point, or with 0 take it away."""
        self.board[self.points[point]] = stone

    def judge(self, player: int) -> tuple[float, list[int]]:
        """Return (the value for the player to move, the free points, those with the largest current first)."""
        value: float = self._judge(self.board, np.int64(player), *self._rest)
        free = np.flatnonzero(self.board[self.points] == 0)
        heat = self._heat[self.points[free]]
        return value, free[np.argsort(-heat, kind="stable")].tolist()
