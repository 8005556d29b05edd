"""`Memory`: stmemory holds finished games not yet trained on; ltmemory is the window from which training samples.

ltmemory is a ring of arrays in RAM (`Ring`), filled with the positions searched in full of the games in run.db, and a
`Draw` chooses among them. Symmetries are applied when sampling, not stored. Values are for the player to move.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from compiled import call, compiled
from config import Config, NetworkSettings
from game import PLAYER, Game
from games.plain import PlainGame
from games.returned_values import check_owners, check_rules, legal_moves, make_bounds
from games.sizes import Frame, reordered
from storage.atomic_files import DamagedData
from storage.game_record import ILLEGAL_VISITS, GameRecord
from storage.position_data import origins

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
    """[B, action_size] float32: shares that sum to 1 over legal moves, ILLEGAL elsewhere"""
    owners: np.ndarray | None = None
    """[B, rows, columns] int8: owner of each point at the game's end, 1 = the player to move, -1 = the other, 0 =
    nobody, OUTSIDE = outside a smaller board; None unless the memory keeps it."""


class Positions(NamedTuple):
    """Columns of the ring, one row per position."""

    planes: np.ndarray
    """[n, rows * columns * planes] uint8"""
    visits: np.ndarray
    """[n, action_size] uint16; 65535 = illegal"""
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


class Ring:
    """The newest of all positions that came: a new one takes the place of the oldest once the columns are full."""

    def __init__(self, columns: Positions) -> None:
        """columns: room for the positions; their length is the largest number that is kept."""
        self.columns = columns
        self.size = len(columns.result)
        self.came = 0
        """Number of positions that ever came; position n of these, from 0, lies at n % size as long as it is kept."""

    def __len__(self) -> int:
        return min(self.came, self.size)

    def append(self, new: Positions) -> None:
        """Add positions, the oldest first; they count once all of their columns are written."""
        n = len(new.result)
        last = np.arange(max(n - self.size, 0), n)
        for column, values in zip(self.columns, new, strict=True):
            column[(self.came + last) % self.size] = values[last]
        self.came += n

    def places(self, count: int) -> np.ndarray:
        """Return [count] int64: where the newest `count` positions are, the oldest of them first."""
        return np.arange(self.came - count, self.came) % self.size


class Draw:
    """Draws from a ring with replacement. Positions that occur more than once, up to symmetry, share a weight."""

    def __init__(self, ring: Ring, game: Game) -> None:
        self._ring = ring
        self._hash = SymmetricHash(game)
        self._keys = np.zeros(ring.size, np.uint64)
        """Equal for equal positions; made when a draw needs them."""
        self._keyed = 0
        """How many of the positions that ever came have had their key made."""
        self._sums = np.zeros(0)
        """The running sum of the weights of all positions, the oldest first."""
        self._summed = 0, ""
        """For which it was made: number of positions that ever came, kind of weight."""

    @property
    def bytes_per_position(self) -> int:
        return self._keys.itemsize

    def places(self, count: int, rng: np.random.Generator, weight: str) -> np.ndarray:
        """Return [count] int64, where the positions drawn are in the ring; weight: of duplicates (`running_sum`)."""
        ring, kept = self._ring, len(self._ring)
        if weight == "linear":  # all positions alike
            numbers = rng.integers(0, kept, count)
        else:
            sums = self._running_sum(weight)
            numbers = np.minimum(np.searchsorted(sums, rng.random(count) * sums[-1], side="right"), kept - 1)
        return (ring.came - kept + numbers) % ring.size

    def _running_sum(self, weight: str) -> np.ndarray:
        ring = self._ring
        if self._summed != (ring.came, weight):
            fresh = ring.places(min(ring.came - self._keyed, len(ring)))
            self._keys[fresh] = self._hash.keys(ring.columns.planes[fresh], ring.columns.size[fresh])
            self._keyed = ring.came
            self._sums = running_sum(self._keys[ring.places(len(ring))], weight)
            self._summed = ring.came, weight
        return self._sums


class Memory:
    """The article's memory: short-term for games as they end, long-term for training."""

    def __init__(
        self, game: Game, size: int, *, value_lambda: float = 1.0, ownership: bool = False, masked: bool = False
    ) -> None:
        """Make an empty memory of at most `size` positions.

        ownership: keep the final owner of each point, which the game must define. masked: batches have a plane that
        shows the board in its frame. Boards of several sizes lie at the top left.
        """
        self.game = game
        self.masked = masked
        self.value_lambda = value_lambda
        self._frame = Frame(game)
        self._owned = int(np.prod(game.grid_shape)) if ownership else 0
        """Number of points whose owner is kept."""
        self.until = 0
        """The last iteration of a run whose games are in ltmemory; kept by who adds them."""
        self.stmemory: list[GameRecord] = []
        self.ltmemory = Positions(
            planes=np.zeros((size, int(np.prod(game.input_shape))), np.uint8),
            visits=np.zeros((size, game.action_size), np.uint16),
            result=np.zeros(size, np.float32),
            value=np.zeros(size, np.float32),
            owners=np.zeros((size, self._owned), np.int8),
            origin=np.zeros(size, np.uint64),
            size=np.zeros(size, np.uint8),
        )
        """The columns of the ring; the first `len(memory)` rows hold positions."""
        self._ring = Ring(self.ltmemory)
        self._draw = Draw(self._ring, game)

    @classmethod
    def of_run(cls, config: Config, game: Game) -> Memory:
        """Make the empty memory of a run."""
        return cls(
            game,
            config.memory_size,
            value_lambda=config.value_lambda,
            ownership=learns_ownership(config, game),
            masked=config.many_sizes,
        )

    def __len__(self) -> int:
        """Return the number of positions in ltmemory."""
        return len(self._ring)

    @property
    def bytes_per_position(self) -> int:
        return sum(column[:1].nbytes for column in self.ltmemory) + self._draw.bytes_per_position

    # ---- games come

    def commit_stmemory(self, record: GameRecord) -> None:
        """Keep a finished game until `commit_ltmemory`."""
        self.stmemory.append(record)

    def clear_stmemory(self) -> None:
        """Drop the games not yet committed."""
        self.stmemory.clear()

    def commit_ltmemory(self) -> int:
        """Move the games of stmemory, by index, into ltmemory, all or none; return how many positions were added."""
        added = self._insert(sorted(self.stmemory, key=lambda g: g.index))
        self.clear_stmemory()
        return added

    def extend(self, games: Iterable[GameRecord], *, piece: int = 1000) -> int:
        """Add games in this order, `piece` at once, replacing the oldest positions; return how many were added."""
        waiting, count = iter(games), 0
        while some := list(itertools.islice(waiting, piece)):
            count += self._insert(some)
            if isinstance(self.game, PlainGame):
                self.game.tidy()  # it keeps every position that it has met
        return count

    def _insert(self, games: list[GameRecord]) -> int:
        """Add the positions of games, all or none; return their number."""
        parts = [self._no_positions(), *map(self.positions, games)]
        new = Positions(*map(np.concatenate, zip(*parts, strict=True)))
        self._ring.append(new)
        return len(new.result)

    def _no_positions(self) -> Positions:
        return Positions(*(column[:0] for column in self.ltmemory))

    def positions(self, record: GameRecord) -> Positions:
        """Return the positions of a game that are trained on: those searched in full.

        Raises `DamagedData` if it is no game by the rules.
        """
        number = self._frame.number(record.board)
        if number < 0:  # of a size that the run no longer plays
            return self._no_positions()
        game = self._frame.games[number]
        if game.rules is None or game.start_row is None:
            raise TypeError(f"{game.name} has no rules")
        length = len(record.moves)
        moves = np.array(record.moves, np.int16)
        values = np.asarray(record.values, np.float32)
        policy = np.zeros((length, game.action_size), np.uint16)
        visits = np.array(record.visits if np.any(record.visits) else policy, np.uint16, order="C").reshape(length, -1)
        if visits.shape != policy.shape or len(record.values) != length or length > game.max_plies:
            raise DamagedData(f"expected a game of {game.spec}, got one of {length} moves, visits {visits.shape}")
        kept = visits.any(axis=1)
        if not kept.any():
            return self._no_positions()
        planes = np.zeros((length, int(np.prod(game.input_shape))), np.uint8)
        players = np.zeros(length, np.int32)
        row = game.start_row.copy()
        legal = np.zeros(game.action_size, np.int32)
        bounds = make_bounds(game)
        n = call(unroll, game.rules, row, legal, moves, visits, kept, planes, policy, players, bounds)
        check_rules(game, bounds)
        if n < 0:
            raise DamagedData(f"expected a game of {game.spec}, got {moves.tolist()} with an illegal move at {-1 - n}")
        result = np.zeros(length, np.float32)
        returns(players, values, float(record.result), self.value_lambda, result)
        owners = np.zeros((n, 0), np.int8)
        if self._owned:
            at_the_end = check_owners(game, game.state_of(row).owners).reshape(1, -1)
            owners = (players[kept, None] * at_the_end).astype(np.int8)
        return Positions(
            planes=self._frame.planes(number, planes[:n]),
            visits=self._frame.visits(number, policy[:n], int(ILLEGAL_VISITS)),
            result=result[kept],
            value=values[kept],
            owners=self._frame.owners(number, owners),
            origin=origins(record)[kept],
            size=np.full(n, number, np.uint8),
        )

    def retarget(self, origins: np.ndarray, visits: np.ndarray, values: np.ndarray) -> int:
        """Replace the targets of stored positions by those of a repeated search; return how many were stored.

        origins: [m] (`position_data.origins`); visits: [m, action_size]; values: [m], for the player to move, also in
        place of the game's result.
        """
        if not len(origins):
            return 0
        order = np.argsort(origins, kind="stable")
        stored = self.ltmemory.origin[: len(self)]
        at = np.minimum(np.searchsorted(origins[order], stored), len(origins) - 1)
        where = np.flatnonzero(origins[order[at]] == stored)
        which = order[at[where]]
        before = self.ltmemory.visits[where]
        self.ltmemory.visits[where] = np.where(before == ILLEGAL_VISITS, before, visits[which])
        self.ltmemory.result[where] = self.ltmemory.value[where] = values[which]
        return len(where)

    # ---- batches are drawn

    def sample(
        self,
        count: int,
        rng: np.random.Generator,
        *,
        value_from_search: float = 0.0,
        duplicate_weight: str = "linear",
    ) -> Batch:
        """Return `count` positions drawn with replacement, each in a random symmetry.

        duplicate_weight: how often positions that occur more than once are drawn (`running_sum`).
        The value target mixes the game's result with the search's value; the policy target is the share of
        visits over legal moves, ILLEGAL elsewhere.
        """
        if not len(self):
            raise ValueError("expected positions in ltmemory, got none")
        where = self._draw.places(count, rng, duplicate_weight)
        drawn = Positions(*(column[where] for column in self.ltmemory))
        views = self._frame.views
        form = rng.integers(0, views[0] if len(views) == 1 else views[drawn.size], count)
        return self.batch(drawn, form, value_from_search)

    def batch(self, positions: Positions, form: np.ndarray, value_from_search: float = 0.0) -> Batch:
        """Return positions as training targets, each in the symmetry with index `form` [n] (0 = unchanged)."""
        n, planes = len(form), self.game.input_shape[2]
        frame = self._frame
        view = frame.first[positions.size] + form
        boards = reordered(positions.planes.reshape(n, -1, planes), frame.grids[view])
        if self.masked:
            boards = np.concatenate([boards, frame.masks[positions.size][:, :, None]], axis=2)
        visits = reordered(positions.visits, frame.actions[view])
        legal = visits != ILLEGAL_VISITS
        counts = np.where(legal, visits, 0).astype(np.float32)
        total = counts.sum(axis=1, keepdims=True)
        policy = np.where(legal, counts / np.maximum(total, 1), np.float32(ILLEGAL))
        value = (1 - value_from_search) * positions.result + value_from_search * positions.value
        owners = None
        if self._owned:
            owners = reordered(positions.owners, frame.grids[view]).reshape(n, *self.game.grid_shape)
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


def running_sum(keys: np.ndarray, weight: str) -> np.ndarray:
    """Return [n] float64: the running sum of the positions' drawing weights.

    Positions with the same key share one weight: 1 + log2 of their number ("log") or 1 ("constant"), as AlphaZero.jl
    weighs merged positions.
    """
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    together = {"log": 1 + np.log2(counts), "constant": np.ones(len(counts))}[weight]
    sums: np.ndarray = np.cumsum((together / counts)[which])
    return sums
