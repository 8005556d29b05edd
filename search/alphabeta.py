"""Alpha-beta in compiled code, for every game: exact values of positions, and the search of `players/alphabeta.py`.

Values are for the player to move. The search keeps its stack in arrays, one frame per ply, so that it can stop after
any number of nodes and resume: the caller checks clocks and limits. Signs follow the player of each position, so turns
need not alternate.

References: Knuth, Moore 1975 (alpha-beta); Fishburn 1983 (fail-soft bounds); Slate, Atkin 1977 (transposition table,
iterative deepening, killers); Schaeffer 1989 (history heuristic).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from compiled import call, compiled, inlined, rule
from compiling.records import record
from config import UserError
from game import EVALUATE, PLAYER, Game, GameState
from games.plain import PlainGame
from games.returned_values import LENGTH, PLIES, break_rule, check_rules, is_over, legal_moves, make_bounds
from search.tables import copy_row, max_depth, row_size

EXACT, LOWER, UPPER = 0, 1, 2
COMPLETE = 255
"""Depth of a value that rests on finished games only."""
DEEPEST = 254
AT_ONCE = 1 << 14
"""Nodes between two checks of the clock and of `stop`."""
TABLE = 1 << 20
"""Default size of the transposition table, in positions."""
KEPT = 300_000
"""Positions of a plain-Python game that are kept. Beyond this limit all but those on the stack are dropped, and with
them their entries in the transposition table."""

ENTRY = np.dtype([("key", "u8"), ("value", "f4"), ("move", "u2"), ("depth", "u1"), ("bound", "u1")], align=True)
FRAME = np.dtype(
    [("key", "u8"), ("alpha", "f4"), ("beta", "f4"), ("floor", "f4"), ("best", "f4"), ("depth", "i4"), ("count", "i4"),
     ("next", "i4"), ("move", "i4"), ("player", "i1"), ("complete", "i1"), ("best_complete", "i1")],
    align=True)  # fmt: skip
"""floor: alpha when the frame was opened; next: number of moves tried, the current one included; move: the best so far;
complete: whether all values so far rest on finished games; best_complete: whether the best value does."""
NOW = np.dtype([("nodes", "i8"), ("ply", "i4"), ("value", "f4"), ("player", "i1"), ("complete", "i1")], align=True)
"""ply: of the current frame, -1 when the root's value is known; value, player, complete: the value being returned."""


@rule(EVALUATE)
def unknown(row):
    """Return the estimate for games without `evaluate`."""
    return 0.0


@record
class Stack(NamedTuple):
    """The tables of one search; D plies deep."""

    now: np.ndarray
    """[1] NOW"""
    frames: np.ndarray
    """[D] FRAME"""
    rows: np.ndarray
    """[D + 1, row_size] int32: the position of each frame; the row behind it is room to try a move."""
    moves: np.ndarray
    """[D, action_size] int32: legal moves of each frame, tried moves first"""
    orders: np.ndarray
    """[D, action_size] int64: moves with larger numbers are tried earlier"""
    killers: np.ndarray
    """[D, 2] int32: the last moves that caused a cutoff at this ply"""
    history: np.ndarray
    """[2, action_size] int64: sum of depth^2 over a move's cutoffs, for the first and for the other player"""
    table: np.ndarray
    """[size] ENTRY in pairs: the first keeps the deepest entry, the second the newest; the size is a power of two."""
    outcome: np.ndarray
    """[1] float32: room for one outcome"""
    bounds: np.ndarray
    """[2] int32: see games/returned_values.py"""


@inlined
def find_entry(s, key):
    """Return the index of a key in the transposition table, or -1."""
    place = np.int64(key & np.uint64(s.table.shape[0] - 2))
    if s.table[place].key == key:
        return place
    return place + 1 if s.table[place + 1].key == key else np.int64(-1)


@inlined
def remember(s, key, value, move, depth, bound):
    """Put a value into the table: next to a deeper entry of another position, over any other entry."""
    place = np.int64(key & np.uint64(s.table.shape[0] - 2))
    first = s.table[place]
    if first.key != key and first.depth > depth:
        place += 1
    entry = s.table[place]
    entry.key = key
    entry.value = value
    entry.move = move
    entry.depth = depth
    entry.bound = bound


@compiled
def order_moves(s, ply, wanted):
    """Set the order in which a frame's moves are tried: the table's move, killers, then by history."""
    frame = s.frames[ply]
    side = 0 if frame.player == 1 else 1
    for i in range(frame.count):
        move = s.moves[ply, i]
        if move == wanted:
            s.orders[ply, i] = 1 << 62
        elif move == s.killers[ply, 0]:
            s.orders[ply, i] = 1 << 61
        elif move == s.killers[ply, 1]:
            s.orders[ply, i] = 1 << 60
        else:
            s.orders[ply, i] = s.history[side, move]


@inlined
def next_move(s, ply):
    """Move the most promising untried move to the front of the untried ones and return it."""
    frame = s.frames[ply]
    best = frame.next
    for i in range(frame.next + 1, frame.count):
        if s.orders[ply, i] > s.orders[ply, best]:
            best = i
    move, order = s.moves[ply, best], s.orders[ply, best]
    for i in range(best, frame.next, -1):  # the others keep their order
        s.moves[ply, i], s.orders[ply, i] = s.moves[ply, i - 1], s.orders[ply, i - 1]
    s.moves[ply, frame.next], s.orders[ply, frame.next] = move, order
    frame.next += 1
    return move


@compiled
def enter(s, rules, evaluate, ply, alpha, beta, depth):
    """Enter the position of a ply: return True with its value in s.now if that is known, else open a frame for it."""
    now, row, frame = s.now[0], s.rows[ply], s.frames[ply]
    now.nodes += 1
    now.player = row[PLAYER]
    now.complete = 1
    if is_over(rules, row, s.outcome, s.bounds):
        now.value = s.outcome[0]
        return True
    if depth == 0 or ply == s.frames.shape[0]:
        if ply > s.bounds[PLIES]:
            break_rule(s.bounds, LENGTH)
        now.value = evaluate(row)
        now.complete = 0
        return True
    key = rules.key(row)
    place, wanted = find_entry(s, key), np.int32(-1)
    if place >= 0:
        entry = s.table[place]
        wanted = np.int32(entry.move)
        sharp = (
            entry.bound == EXACT
            or (entry.bound == LOWER and entry.value >= beta)
            or (entry.bound == UPPER and entry.value <= alpha)
        )
        if sharp and (entry.depth >= depth or entry.depth == COMPLETE) and ply > 0:
            now.value = entry.value
            now.complete = entry.depth == COMPLETE
            return True
    frame.key = key
    frame.alpha, frame.floor, frame.beta, frame.depth = alpha, alpha, beta, depth
    frame.best = -np.inf
    frame.count = legal_moves(rules, row, s.moves[ply], s.bounds)
    if frame.count == 0:
        now.value = 0.0
        return True
    frame.next = 0
    frame.move = -1
    frame.player = row[PLAYER]
    frame.complete = 1
    frame.best_complete = 0
    if ply > 0:
        order_moves(s, ply, wanted)
    now.ply = ply
    return False


@compiled
def leave(s, ply):
    """Return the value of a finished frame in s.now and store it in the transposition table."""
    now, frame = s.now[0], s.frames[ply]
    bound = LOWER if frame.best >= frame.beta else (UPPER if frame.best <= frame.floor else EXACT)
    complete = frame.best_complete if bound == LOWER else frame.complete
    if abs(frame.best) >= 1.0:  # estimates lie within (-1, 1)
        complete = 1
    now.value, now.player, now.complete = frame.best, frame.player, complete
    now.ply = ply - 1
    remember(s, frame.key, frame.best, frame.move, COMPLETE if complete else min(frame.depth, DEEPEST), bound)
    if bound == LOWER and frame.next > 1:
        s.history[0 if frame.player == 1 else 1, frame.move] += frame.depth * frame.depth
        if s.killers[ply, 0] != frame.move:
            s.killers[ply, 1] = s.killers[ply, 0]
            s.killers[ply, 0] = frame.move


@inlined
def take(s, ply):
    """Update a frame with the returned value of its current move."""
    now, frame = s.now[0], s.frames[ply]
    value = now.value if now.player == frame.player else -now.value
    frame.complete &= now.complete
    if value > frame.best:
        frame.best = value
        frame.move = s.moves[ply, frame.next - 1]
        frame.best_complete = now.complete
        frame.alpha = max(frame.alpha, value)


@compiled
def run(s, rules, evaluate, limit):
    """Run the search until the root's value is known (returns True) or `limit` nodes were visited since `begin`."""
    now = s.now[0]
    while now.ply >= 0:
        ply = now.ply
        frame = s.frames[ply]
        if frame.next == frame.count or frame.best >= frame.beta:
            leave(s, ply)
            if ply > 0:
                take(s, ply - 1)
            continue
        if now.nodes >= limit:
            return False
        move = next_move(s, ply)
        copy_row(s.rows, ply + 1, s.rows[ply])
        rules.play(s.rows[ply + 1], move)
        same = s.rows[ply + 1, PLAYER] == frame.player
        alpha, beta = (frame.alpha, frame.beta) if same else (-frame.beta, -frame.alpha)
        if enter(s, rules, evaluate, ply + 1, alpha, beta, frame.depth - 1):
            take(s, ply)
    return True


@compiled
def begin(s, rules, evaluate, depth, nodes):
    """Open the root, the position in s.rows[0], which is not over; its moves are tried in the order of s.orders[0]."""
    s.now[0].nodes = nodes
    enter(s, rules, evaluate, 0, -1.0, 1.0, depth)


class Found(NamedTuple):
    """The result of a search."""

    action: int
    value: float
    """For the player to move."""
    depth: int
    """Plies searched in full."""
    exact: bool
    """Whether the value rests on finished games only."""
    nodes: int


class Minimax:
    """Alpha-beta for one game. The transposition table is kept from call to call until `clear`."""

    def __init__(self, game: Game, *, table: int = TABLE) -> None:
        """Make the tables; `table`: positions remembered, rounded up to a power of two."""
        if game.rules is None or game.start_row is None:
            raise TypeError(f"{game.name} has no rules")
        plies = max_depth(game)
        evaluate = unknown if game.evaluate is None else game.evaluate
        self.game, self._rules, self._evaluate = game, game.rules, evaluate
        self._slice = 256 if isinstance(game, PlainGame) else AT_ONCE
        self._stack = Stack(
            now=np.zeros(1, NOW),
            frames=np.zeros(plies, FRAME),
            rows=np.zeros((plies + 1, row_size(game)), np.int32),
            moves=np.zeros((plies, game.action_size), np.int32),
            orders=np.zeros((plies, game.action_size), np.int64),
            killers=np.full((plies, 2), -1, np.int32),
            history=np.zeros((2, game.action_size), np.int64),
            table=np.zeros(1 << max(table - 1, 1).bit_length(), ENTRY),
            outcome=np.zeros(1, np.float32),
            bounds=make_bounds(game),
        )
        if isinstance(game, PlainGame):
            game.searches.add(self)

    def used_rows(self) -> np.ndarray:
        """Return the rows of the positions on the stack, [n, row_size]."""
        return self._stack.rows

    def clear(self) -> None:
        """Empty the transposition table, so that the next result depends on its arguments only."""
        self._stack.table.view(np.uint8).fill(0)  # ten times as fast as `table[:] = 0`

    def solve(self, state: GameState, *, nodes: int | None = None) -> float | None:
        """Return the exact value for the player to move; None when that takes more than `nodes` nodes."""
        return self._solve(state, nodes if nodes is not None else 2**62)[0]

    def solve_moves(self, state: GameState, *, nodes: int | None = None) -> dict[int, float] | None:
        """Return the exact value of each legal move for the player to move; None if that takes more than `nodes`."""
        left, values = nodes if nodes is not None else 2**62, {}
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            value, used = self._solve(after, left)
            if value is None:
                return None
            values[int(action)] = (value if after.playerTurn == state.playerTurn else -value) + 0.0
            left -= used
        return values

    def search(
        self,
        state: GameState,
        *,
        depth: int = DEEPEST,
        most: int = 2**62,
        seconds: float | None = None,
        rng: np.random.Generator | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Search deeper and deeper until a depth, `most` nodes, a time or an exact value is reached.

        Raises `UserError` when the game is over. At least one ply is searched, whatever the limits; after that, a true
        `stop()` ends the search. With `rng`, ties are broken at random. Of lost moves it returns the one that took
        longest to refute (after `clear`; otherwise the table may prove the loss at once).
        """
        end = time.perf_counter() + seconds if seconds is not None else float("inf")
        order, nodes = self._start(state, rng), 0
        found: Found | None = None

        def in_time() -> bool:
            return found is None or (time.perf_counter() < end and not stop())

        for plies in range(1, min(depth, len(self._stack.frames)) + 1):
            done = self._deepen(order, plies, in_time, most if found else 2**62, nodes)
            nodes = int(self._stack.now[0]["nodes"])
            if not done:
                break
            root = self._stack.frames[0]
            exact = bool(root["complete"]) or abs(root["best"]) >= 1
            action = int(root["move"])
            lost = found is not None and root["best"] <= -1
            found = Found(found.action if found and lost else action, float(root["best"]) + 0.0, plies, exact, nodes)
            if exact:
                break
            order = self._promoted(action)
        if found is None:
            raise RuntimeError("expected a depth of at least 1")
        return found._replace(nodes=nodes)

    # ---- inside

    def _solve(self, state: GameState, limit: int) -> tuple[float | None, int]:
        if state.isEndGame:
            return float(state.value), 1
        order = self._start(state, None)
        done = self._deepen(order, len(self._stack.frames) + 1, lambda: True, limit, 0)
        root, nodes = self._stack.frames[0], int(self._stack.now[0]["nodes"])
        exact = done and (bool(root["complete"]) or abs(root["best"]) >= 1)
        return (float(root["best"]) + 0.0 if exact else None), nodes  # + 0.0 turns -0.0 into 0.0

    def _start(self, state: GameState, rng: np.random.Generator | None) -> np.ndarray:
        """Put a position at the root; return the order of its moves, [count] int64."""
        if state.isEndGame:
            raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
        if isinstance(self.game, PlainGame):
            self.game.tidy()
        s = self._stack
        s.rows[0] = self.game.row_of(state)
        s.killers[:] = -1
        s.history[:] = 0
        count = len(state.allowedActions)
        return np.zeros(count, np.int64) if rng is None else rng.permutation(count).astype(np.int64)

    def _promoted(self, action: int) -> np.ndarray:
        """Return the order of the root's moves with `action` before all others."""
        s, count = self._stack, int(self._stack.frames[0]["count"])
        by_action = dict(zip(s.moves[0, :count].tolist(), s.orders[0, :count].tolist(), strict=True))
        by_action[action] = max(by_action.values()) + 1
        return np.array([by_action[a] for a in sorted(by_action)], np.int64)

    def _deepen(self, order: np.ndarray, depth: int, in_time: Callable[[], bool], limit: int, nodes: int) -> bool:
        """Search the root to a depth; return whether the search completed within the time and the node limit."""
        s, functions = self._stack, (self._rules, self._evaluate)
        s.orders[0, : len(order)] = order
        call(begin, s, *functions, depth, nodes)
        done = False
        while not done and s.now[0]["nodes"] < limit and in_time():
            done = call(run, s, *functions, min(limit, int(s.now[0]["nodes"]) + self._slice))
            check_rules(self.game, s.bounds)
            if isinstance(self.game, PlainGame) and len(self.game) > KEPT:
                self.game.tidy()
        return bool(done)
