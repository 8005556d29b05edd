"""`Memory`: stmemory holds finished games not yet trained on; ltmemory is the window from which training samples.

ltmemory is a ring of arrays in RAM, filled from the games in run.db: the positions searched in full, and a fraction of
those searched fast, which train the value head only. Symmetries are applied when sampling, not stored. Values are for
the player to move.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from compiled import call, compiled
from config import Config, NetworkSettings
from game import PLAYER, Game
from games.bounds import check_owners, check_rules, legal_moves, make_bounds
from games.plain import PlainGame
from games.sizes import OUTSIDE, Frame, reordered
from storage.atomic_files import DamagedData
from storage.game_record import ILLEGAL_VISITS, GameRecord
from storage.position_data import SIDE, origins

ILLEGAL = -1.0
"""Marks illegal moves in a policy target."""


def learns_ownership(network: NetworkSettings, game: Game) -> bool:
    """Return whether a network with these settings learns the final owner of each point in this game."""
    return network.ownership_weight > 0 and game.start().owners is not None


class Batch(NamedTuple):
    """One training batch."""

    planes: np.ndarray
    """[B, rows, columns, planes] uint8; for a network of many sizes with a last plane, 1 on the board, 0 outside"""
    value: np.ndarray
    """[B] float32, for the player to move"""
    policy: np.ndarray
    """[B, action_size] float32: shares that sum to 1 over legal moves, ILLEGAL elsewhere. Positions that train the
    value head only have shares of 0; the others are then scaled up, so that the mean sum over the batch is 1."""
    owners: np.ndarray | None = None
    """[B, rows, columns] int8: owner of each point at the game's end, 1 = the player to move, -1 = the other, 0 =
    nobody, OUTSIDE = outside a smaller board, or not known; None unless the memory keeps it."""


class Positions(NamedTuple):
    """Columns of the ring, one row per position."""

    planes: np.ndarray
    """[n, rows * columns * planes] uint8"""
    visits: np.ndarray
    """[n, action_size] uint16; 65535 = illegal; no visits: trains the value head only"""
    result: np.ndarray
    """[n] float32: the game's result for the player to move, mixed with searches' values at later plies (`returns`)"""
    value: np.ndarray
    """[n] float32: the search's value for the player to move"""
    owners: np.ndarray
    """[n, rows * columns] int8: as in `Batch`; [n, 0] unless the memory keeps it"""
    origin: np.ndarray
    """[n] uint64: of which ply of which game (`position_data.origins`)"""
    size: np.ndarray
    """[n] uint8: the number of the board's size, in a memory of several (games/sizes.py)"""


@compiled
def unroll(rules, row, legal, moves, visits, kept, planes, policy, players, bounds):
    """Replay a game and write the positions of the plies `kept`; return their number, -1 - ply at an illegal move.

    row: the start position, is changed. legal: room for one list of moves. players: [plies], the player to move at
    each.
    """
    n = 0
    for ply in range(moves.shape[0]):
        count = legal_moves(rules, row, legal, bounds)
        known = False
        for i in range(count):
            known = known or legal[i] == moves[ply]
        if not known:
            return -1 - ply
        players[ply] = row[PLAYER]
        if kept[ply]:
            rules.encode(row, planes[n])
            for a in range(policy.shape[1]):
                policy[n, a] = 65535
            for i in range(count):
                policy[n, legal[i]] = visits[ply, legal[i]]
            n += 1
        rules.play(row, moves[ply])
    return n


@compiled
def returns(players, values, result, decay, out):
    """Write the lambda-return of each ply, for its player to move: out[t] = (1 - decay) v[t] + decay out[t + 1].

    players, values: [plies], for the player to move; result: for player 1, with decay 1 the only target (Sutton 1988).
    """
    back = result
    for ply in range(players.shape[0] - 1, -1, -1):
        back = (1.0 - decay) * values[ply] * players[ply] + decay * back
        out[ply] = back * players[ply]


def window(first: int, played: int) -> int:
    """Return how many of the newest positions to train on when `played` positions were played.

    c (1 + beta ((N / c)^alpha - 1) / alpha), alpha 0.75, beta 0.4 (Wu 2019, KataGo, appendix C); all up to c = `first`.
    """
    if not first or played <= first:
        return played
    return round(first * (1.0 + 0.4 * ((played / first) ** 0.75 - 1.0) / 0.75))


class Memory:
    """The article's memory: short-term for games as they end, long-term for training."""

    def __init__(
        self, game: Game, size: int, *, value_lambda: float = 1.0, fast_positions: float = 0.0,
        search_value_plies: int = 0, ownership: bool = False, masked: bool = False,
    ) -> None:  # fmt: skip
        """Make an empty memory. `ownership`: keep the final owner of each point, which the game must define.

        masked: batches have a plane that shows the board in its frame. Boards of several sizes lie at the top left.
        """
        self.game, self.masked = game, masked
        self._frame = Frame(game)
        self.size = size
        self.fast_positions = fast_positions
        self.value_lambda, self.search_value_plies = value_lambda, search_value_plies
        points, actions = int(np.prod(game.input_shape)), game.action_size
        self._owned = int(np.prod(game.grid_shape)) if ownership else 0
        self.stmemory: list[GameRecord] = []
        shapes = (points,), (actions,), (), (), (self._owned,), (), ()
        kinds = np.uint8, np.uint16, np.float32, np.float32, np.int8, np.uint64, np.uint8
        self.ltmemory = Positions(*(np.zeros((size, *shape), k) for shape, k in zip(shapes, kinds, strict=True)))
        self._weights, self._weighted = np.ones(size, np.float32), False
        """How often each position is drawn beside others; whether any has another weight than 1."""
        self._next = self._count = self._came = 0
        """Index of the next position, number of positions held, number ever inserted."""
        self._teaches = np.zeros(size, bool)
        """Which positions train the policy head."""
        self._among = 0, 0, 0
        """The last call of `_newest`: its count, the number of positions ever inserted, the result."""
        self._grids, self._actions = self._frame.grids, self._frame.actions
        self._likeness = SymmetricHash(game)
        self._keys, self._keyed = np.zeros(size, np.uint64), 0
        """Keys of the positions, computed on demand; how many of the positions ever inserted have theirs."""
        self._drawing: tuple[tuple[int, int, str], np.ndarray] = (0, 0, ""), np.zeros(0)
        """The last weighted draw: (`among`, number of positions ever inserted, weight), and its running sum."""

    @classmethod
    def of_run(cls, config: Config, game: Game) -> Memory:
        """Make the empty memory of a run."""
        return cls(
            game, config.memory_size, value_lambda=config.value_lambda, fast_positions=config.fast_positions,
            search_value_plies=config.search_value_plies, ownership=learns_ownership(config, game),
            masked=config.many_sizes,
        )  # fmt: skip

    def __len__(self) -> int:
        """Return the number of positions in ltmemory."""
        return self._count

    @property
    def bytes_per_position(self) -> int:
        return sum(column[:1].nbytes for column in self.ltmemory) + self._keys.itemsize + self._weights.itemsize

    def commit_stmemory(self, record: GameRecord) -> None:
        """Keep a finished game until `commit_ltmemory`."""
        self.stmemory.append(record)

    def clear_stmemory(self) -> None:
        """Drop the games not yet committed."""
        self.stmemory.clear()

    def commit_ltmemory(self) -> int:
        """Move the games of stmemory, by index, into ltmemory, all or none; return how many positions were added."""
        added = self._insert(self.joined(sorted(self.stmemory, key=lambda g: g.index)))
        self.clear_stmemory()
        return added

    def extend(self, games: Iterable[GameRecord], *, piece: int = 1000) -> int:
        """Add games in this order, `piece` at once, replacing the oldest positions; return how many were added."""
        waiting, count = iter(games), 0
        while some := list(itertools.islice(waiting, piece)):
            count += self._insert(self.joined(some))
            if isinstance(self.game, PlainGame):
                self.game.tidy()  # it keeps every position that it has met
        return count

    def joined(self, games: list[GameRecord]) -> Positions:
        """Return the positions of several games that are trained on."""
        columns = [column[:0] for column in self.ltmemory]
        return Positions(*map(np.concatenate, zip(columns, *map(self.positions, games), strict=True)))

    def positions(self, record: GameRecord) -> Positions:
        """Return the positions of a game that are trained on."""
        number = self._frame.number(record.board)
        if number < 0:  # of a size that the run no longer plays
            return Positions(*(column[:0] for column in self.ltmemory))
        game = self._frame.games[number]
        if game.rules is None or game.start_row is None:
            raise TypeError(f"{game.name} has no rules")
        length = len(record.moves)
        planes = np.zeros((length, int(np.prod(game.input_shape))), np.uint8)
        policy = np.zeros((length, game.action_size), np.uint16)
        players = np.zeros(length, np.int32)
        visits = np.array(record.visits if np.any(record.visits) else policy, np.uint16, order="C").reshape(length, -1)
        moves = np.array(record.moves, np.int16)
        values = np.asarray(record.values, np.float32)
        if visits.shape != policy.shape or len(record.values) != length or length > game.max_plies:
            raise DamagedData(f"expected a game of {game.spec}, got one of {length} moves, visits {visits.shape}")
        legal = np.zeros(game.action_size, np.int32)
        kept = visits.any(axis=1) | self._fast(moves, visits, values)
        if not kept.any():
            return Positions(*(column[:0] for column in self.ltmemory))
        row = game.start_row.copy()
        bounds = make_bounds(game)
        n = call(unroll, game.rules, row, legal, moves, visits, kept, planes, policy, players, bounds)
        check_rules(game, bounds)
        if n < 0:
            raise DamagedData(f"expected a game of {game.spec}, got {moves.tolist()} with an illegal move at {-1 - n}")
        outcome = np.zeros(length, np.float32)
        returns(players, values, float(record.result), self.value_lambda, outcome)
        if self.search_value_plies:  # with `batch`, the search's weight falls from 1 to value_from_search
            outcome += np.maximum(1 - np.arange(length) / self.search_value_plies, 0) * (values - outcome)
        owners = game.state_of(row).owners if self._owned and record.board != SIDE else None
        whose = np.full((n, self._owned), OUTSIDE, np.int8)  # unknown after a side position
        if owners is not None:
            whose = players[kept, None] * check_owners(game, owners).reshape(1, -1)
        frame, numbers = self._frame, np.full(n, number, np.uint8)
        policy, planes = frame.visits(number, policy[:n], int(ILLEGAL_VISITS)), frame.planes(number, planes[:n])
        whose = frame.owners(number, whose.astype(np.int8))
        return Positions(planes, policy, outcome[kept], values[kept], whose, origins(record)[kept], numbers)

    def _fast(self, moves: np.ndarray, visits: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return [plies] bool: a random sample of the positions searched fast.

        Moves of a random opening have the value 0 and are left out. The seed is a hash of the game: a resumed run draws
        the same sample, and different games draw different ones.
        """
        seed = np.frombuffer(hashlib.sha256(moves.tobytes() + values.tobytes()).digest(), np.uint32)
        drawn = np.random.default_rng(seed).random(len(values)) < self.fast_positions
        full = visits.any(axis=1)
        found: np.ndarray = drawn & ~full & np.logical_or.accumulate(full | (values != 0))
        return found

    def _insert(self, new: Positions) -> int:
        n = len(new.result)
        last = np.arange(max(0, n - self.size), n)
        where = (self._next + last) % self.size
        for column, values in zip(self.ltmemory, new, strict=True):
            column[where] = values[last]
        self._teaches[where] = np.any((new.visits > 0) & (new.visits != ILLEGAL_VISITS), axis=1)[last]
        self._weights[where] = 1
        self._next, self._count = (self._next + n) % self.size, min(self._count + n, self.size)
        self._came += n
        return n

    def _held(self, origins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (places of stored positions with one of these origins, index of each one's in `origins`)."""
        order = np.argsort(origins, kind="stable")
        held = self.ltmemory.origin[: self._count if len(origins) else 0]
        at = np.minimum(np.searchsorted(origins[order], held), len(origins) - 1)
        found = np.flatnonzero(origins[order[at]] == held)
        return found, order[at[found]]

    def retarget(self, origins: np.ndarray, visits: np.ndarray, values: np.ndarray) -> int:
        """Replace the targets of stored positions by those of a repeated search; return how many were stored.

        origins: [m] (`position_data.origins`); visits: [m, action_size]; values: [m], for the player to move, also in
        place of the game's result.
        """
        where, which = self._held(origins)
        before = self.ltmemory.visits[where]
        self.ltmemory.visits[where] = np.where(before == ILLEGAL_VISITS, before, visits[which])
        self.ltmemory.result[where] = self.ltmemory.value[where] = values[which]
        return len(where)

    def weigh(self, origins: np.ndarray, weights: np.ndarray) -> int:
        """Draw stored positions with these weights [m], others with 1; return how many of these there were."""
        where, which = self._held(origins)
        self._weights[where] = weights[which]
        self._weighted, self._drawing = True, ((0, 0, ""), np.zeros(0))
        return len(where)

    def _newest(self, count: int) -> int:
        """Return how many of the newest positions to draw from, so that `count` of them train the policy head."""
        request = count, self._came
        if self._among[:2] != request:
            back = self._teaches[(self._next - 1 - np.arange(self._count)) % self.size]
            self._among = *request, int(np.searchsorted(np.cumsum(back), count)) + 1
        return min(self._among[2], self._count)

    def _draw(self, among: int, count: int, rng: np.random.Generator, weight: str) -> np.ndarray:
        """Draw [count] of the `among` newest positions, numbered from the oldest; duplicates have the given weight."""
        if weight == "linear" and not self._weighted:
            return rng.integers(0, among, count)
        missing = (self._next - np.arange(min(self._came - self._keyed, self._count), 0, -1)) % self.size
        if len(missing) and weight != "linear":
            self._keys[missing] = self._likeness.keys(self.ltmemory.planes[missing], self.ltmemory.size[missing])
            self._keyed = self._came
        request = among, self._came, weight
        if self._drawing[0] != request:
            newest = (self._next - among + np.arange(among)) % self.size
            self._drawing = request, running_sum(self._keys[newest], weight, self._weights[newest])
        sums = self._drawing[1]
        return np.minimum(np.searchsorted(sums, rng.random(count) * sums[-1], side="right"), among - 1)

    def sample(
        self,
        count: int,
        rng: np.random.Generator,
        *,
        value_from_search: float = 0.0,
        newest: int = 0,
        duplicate_weight: str = "linear",
    ) -> Batch:
        """Return `count` positions drawn with replacement, each in a random symmetry.

        newest: draw from the newest positions, as many as contain `newest` that train the policy head; 0 = from all.
        duplicate_weight: how often positions that occur more than once are drawn (`running_sum`).
        The value target mixes the game's result with the search's value; the policy target is the share of
        visits over legal moves, ILLEGAL elsewhere.
        """
        if not self._count:
            raise ValueError("expected positions in ltmemory, got none")
        among = self._newest(newest) if newest else self._count
        where = (self._next - among + self._draw(among, count, rng, duplicate_weight)) % self.size
        drawn = Positions(*(column[where] for column in self.ltmemory))
        views = self._frame.views
        form = rng.integers(0, views[0] if len(views) == 1 else views[drawn.size], count)
        return self.batch(drawn, form, value_from_search)

    def batch(self, positions: Positions, form: np.ndarray, value_from_search: float = 0.0) -> Batch:
        """Return positions as training targets, each in the symmetry with index `form` [n] (0 = unchanged)."""
        n, planes = len(form), self.game.input_shape[2]
        form = self._frame.first[positions.size] + form
        boards = positions.planes.reshape(n, -1, planes)
        boards = reordered(boards, self._grids[form])
        visits = reordered(positions.visits, self._actions[form])
        legal = visits != ILLEGAL_VISITS
        counts = np.where(legal, visits, 0).astype(np.float32)
        total = counts.sum(axis=1, keepdims=True)
        weight = np.float32(n / max(int(np.count_nonzero(total)), 1))
        policy = np.where(legal, weight * counts / np.maximum(total, 1), np.float32(ILLEGAL))
        value = (1 - value_from_search) * positions.result + value_from_search * positions.value
        owners = None
        if self._owned:
            owners = reordered(positions.owners, self._grids[form]).reshape(n, *self.game.grid_shape)
        if self.masked:
            boards = np.concatenate([boards, self._frame.masks[positions.size][:, :, None]], axis=2)
        return Batch(boards.reshape(n, *self.game.input_shape[:2], -1), value.astype(np.float32), policy, owners)


class SymmetricHash:
    """Computes keys of positions: equal for those that look the same to the network, up to symmetry."""

    def __init__(self, game: Game) -> None:
        frame, (rows, columns, planes) = Frame(game), game.input_shape
        words = np.random.default_rng(0).integers(0, 2**64, (rows * columns, planes), dtype=np.uint64)
        self._words = []
        """Of each size [rows * columns * planes, forms]: words are turned for each form, instead of each position."""
        for first, count in zip(frame.first, frame.views, strict=True):
            forms = [words[np.argsort(grid)] for grid in frame.grids[first : first + count]]
            self._words.append(np.stack(forms, axis=-1).reshape(rows * columns * planes, count))

    def keys(self, planes: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
        """Return [n] uint64 for planes [n, rows * columns * planes] uint8: the least of the symmetric forms' hashes.

        sizes: [n], the number of each board's size; by default all have the first. Two sizes have no equal keys.
        """
        found = np.zeros(len(planes), np.uint64)
        for number, words in enumerate(self._words):
            among = np.flatnonzero(sizes == number) if sizes is not None else np.arange(len(planes))
            for part in np.array_split(among, len(among) // 4096 + 1):
                hashes = (planes[part].astype(np.uint64) @ words).min(axis=1)
                found[part] = hashes + np.uint64(number * 0x9E3779B97F4A7C15 & (2**64 - 1))
            if sizes is None:
                break
        return found


def running_sum(keys: np.ndarray, weight: str, factors: np.ndarray | float = 1.0) -> np.ndarray:
    """Return [n] float64: the running sum of the positions' drawing weights, each times its factor.

    Positions with the same key share one weight: their number ("linear"), 1 + log2 of it ("log") or 1 ("constant"), as
    AlphaZero.jl weighs merged positions.
    """
    if weight == "linear":
        return np.cumsum(np.ones(len(keys)) * factors)
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    together = {"log": 1 + np.log2(counts), "constant": np.ones(len(counts))}[weight]
    sums: np.ndarray = np.cumsum((together / counts)[which] * factors)
    return sums
