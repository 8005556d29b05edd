"""Alpha-beta in compiled code, for every game: exact values of positions, and the search of `players/alphabeta.py`.

Values are for the player to move. The search is a stack of frames in arrays, one a ply, so that it can be left after
any number of nodes and gone on with: clocks and limits are looked at from outside. Signs follow the player of each
position, so turns need not alternate.

References: Knuth, Moore 1975 (alpha-beta); Fishburn 1983 (fail-soft bounds); Slate, Atkin 1977 (table of positions,
iterative deepening, killers); Schaeffer 1989 (history heuristic).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from compiled import call, compiled, inlined, rule
from config import UserError
from game import EVALUATE, PLAYER, Game, GameState
from games.plain import PlainGame
from search.tables import copy_row, max_depth, row_size

EXACT, LOWER, UPPER = 0, 1, 2
COMPLETE = 255
"""Depth of a value that rests on ends of games only."""
DEEPEST = 254
AT_ONCE = 1 << 14
"""Nodes between two looks at the clock, and at who might want it to stop."""
TABLE = 1 << 20
"""Positions remembered."""
KEPT = 300_000
"""Positions of a game in plain Python that are kept; beyond, all but those under way are forgotten, and what the table
knows of them."""

ENTRY = np.dtype([("key", "u8"), ("value", "f4"), ("move", "u2"), ("depth", "u1"), ("bound", "u1")], align=True)
FRAME = np.dtype(
    [("key", "u8"), ("alpha", "f4"), ("beta", "f4"), ("floor", "f4"), ("best", "f4"), ("depth", "i4"), ("count", "i4"),
     ("next", "i4"), ("move", "i4"), ("player", "i1"), ("complete", "i1"), ("best_complete", "i1")],
    align=True)  # fmt: skip
"""floor: alpha as the node was opened with it; next: moves tried so far, the one under way included; move: the best;
complete: whether all values so far rest on ends of games; best_complete: whether that of the best does."""
NOW = np.dtype([("nodes", "i8"), ("ply", "i4"), ("value", "f4"), ("player", "i1"), ("complete", "i1")], align=True)
"""ply: of the frame under way, -1 when the root is known; value, player, complete: the answer on its way up."""


@rule(EVALUATE)
def unknown(row):
    """The estimate of games without one."""
    return 0.0


class Stack(NamedTuple):
    """The tables of one search; D plies deep."""

    now: np.ndarray
    """[1] NOW"""
    frames: np.ndarray
    """[D] FRAME"""
    rows: np.ndarray
    """[D + 1, row_size] int32: the position of each frame; the next one is room to try a move."""
    moves: np.ndarray
    """[D, action_size] int32: legal moves of each frame, those tried first"""
    orders: np.ndarray
    """[D, action_size] int64: the larger the earlier a move is tried"""
    killers: np.ndarray
    """[D, 2] int32: moves that lately refuted another one at this ply"""
    history: np.ndarray
    """[2, action_size] int64: how often, times depth^2, a move of the first and of the other player refuted another"""
    table: np.ndarray
    """[size] ENTRY in pairs: of each the first holds the deepest, the second the newest; the size is a power of two."""
    outcome: np.ndarray
    """[1] float32: room for one outcome"""


@inlined
def find_entry(s, key):
    """Return where the table holds a key, or -1."""
    place = np.int64(key & np.uint64(s.table.shape[0] - 2))
    if s.table[place].key == key:
        return place
    return place + 1 if s.table[place + 1].key == key else np.int64(-1)


@inlined
def remember(s, key, value, move, depth, bound):
    """Put a value into the table: beside a deeper one of another position, over any other."""
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
    """Note in which order the moves of a frame are tried: the table's, killers, then by history."""
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
    """Put the most promising of the moves not tried yet in front of them and return it."""
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
    """Look at the position of a ply; return whether its value is known, in s.now, else open its frame."""
    now, row, frame = s.now[0], s.rows[ply], s.frames[ply]
    now.nodes += 1
    now.player = row[PLAYER]
    now.complete = 1
    if rules.outcome(row, s.outcome):
        now.value = s.outcome[0]
        return True
    if depth == 0 or ply == s.frames.shape[0]:
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
    frame.count = rules.legal(row, s.moves[ply])
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
    """Take a frame's value as the answer, and remember it."""
    now, frame = s.now[0], s.frames[ply]
    bound = LOWER if frame.best >= frame.beta else (UPPER if frame.best <= frame.floor else EXACT)
    complete = frame.best_complete if bound == LOWER else frame.complete
    if abs(frame.best) >= 1.0:  # no estimate is as large
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
    """Give the answer to the frame of the move that led to it."""
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
    """Go on until the root is known (returns True) or `limit` nodes were looked at since `begin`."""
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
    """What a search knows of a position."""

    action: int
    value: float
    """For the player to move."""
    depth: int
    """Plies searched in full."""
    exact: bool
    """Whether the value rests on ends of games only."""
    nodes: int


class Minimax:
    """Alpha-beta for one game. What it remembers of positions is kept from call to call until `clear`."""

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
        )
        if isinstance(game, PlainGame):
            game.searches.add(self)

    def used_rows(self) -> np.ndarray:
        """Return the rows of the positions under way, [n, row_size]."""
        return self._stack.rows

    def clear(self) -> None:
        """Forget all positions, so that what is found depends on the next question only."""
        self._stack.table[:] = 0

    def solve(self, state: GameState, *, nodes: int | None = None) -> float | None:
        """Return the exact value for the player to move; None when that takes more than so many nodes."""
        return self._solve(state, nodes if nodes is not None else 2**62)[0]

    def solve_moves(self, state: GameState, *, nodes: int | None = None) -> dict[int, float] | None:
        """Return the exact value of each legal move for the player to move; None when that takes more nodes."""
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
        seconds: float | None = None,
        rng: np.random.Generator | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Search deeper and deeper until a depth, a time or an exact value is reached; raise `UserError` at an end.

        With `rng` one of the moves of equal value is taken by chance. At least one ply is searched, whatever the time
        and what `stop` says, which ends the search when true.
        Of lost moves the one is taken that took longest to refute (after `clear`; else the loss may be known at once).
        """
        end = time.perf_counter() + seconds if seconds is not None else float("inf")
        order, nodes = self._start(state, rng), 0
        found: Found | None = None

        def in_time() -> bool:
            return found is None or (time.perf_counter() < end and not stop())

        for plies in range(1, min(depth, len(self._stack.frames)) + 1):
            done = self._deepen(order, plies, in_time, 2**62, nodes)
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
        return (float(root["best"]) + 0.0 if exact else None), nodes  # + 0.0: no minus zero

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
        """Return the order of the root's moves with one before all others."""
        s, count = self._stack, int(self._stack.frames[0]["count"])
        by_action = dict(zip(s.moves[0, :count].tolist(), s.orders[0, :count].tolist(), strict=True))
        by_action[action] = max(by_action.values()) + 1
        return np.array([by_action[a] for a in sorted(by_action)], np.int64)

    def _deepen(self, order: np.ndarray, depth: int, in_time: Callable[[], bool], limit: int, nodes: int) -> bool:
        """Search the root to a depth; return whether that came to its end before the time or the nodes were used up."""
        s, functions = self._stack, (self._rules, self._evaluate)
        s.orders[0, : len(order)] = order
        call(begin, s, *functions, depth, nodes)
        done = False
        while not done and s.now[0]["nodes"] < limit and in_time():
            done = call(run, s, *functions, min(limit, int(s.now[0]["nodes"]) + self._slice))
            if isinstance(self.game, PlainGame):
                self.game.check_errors()
                if len(self.game) > KEPT:
                    self.game.tidy()
        return bool(done)
