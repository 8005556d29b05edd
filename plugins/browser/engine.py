"""The engine's memory as a file: one tree with the search's own tables, the network, room for what JavaScript reads.

It is laid out from the same dtypes and record types as natively. Nothing is compiled for this computer.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from compiling.numba_import import numba
from compiling.records import RecordType
from config import SearchSettings, UserError
from game import FORBIDDEN_POINT, Game
from games.plain import PlainGame
from plugins.browser.entries import LONGEST, signatures
from plugins.browser.forward import Network, network_of
from plugins.browser.known_boards import KnownBoard, known_board
from plugins.browser.layers import without_layers
from plugins.browser.module import Part
from plugins.browser.ready import module_of
from search.branches import MOST
from search.evaluation_cache import make_cache, places_in
from search.pipeline import shared_run
from search.select import puct_of
from search.tables import capacity_for, make_forest, trees_in

TREE_BYTES, CACHE_BYTES = 2**28, 2**24
"""Memory of the tree and of the cache of evaluations at most."""
SIMS = 20_000
"""Visits for which the tree has room, if they fit."""
NO_RULES = "export-page needs compiled rules (`Rules`, docs/compiled_game.md), this game is in plain Python"
READ = {
    "state": np.int32,
    "legal": np.int32,
    "planes": np.uint8,
    "cells": np.int32,
    "visits": np.int32,
    "priors": np.float32,
    "q": np.float32,
    "own": np.float32,
    "proofs": np.int32,
    "values": np.float64,
    "line": np.int32,
    "branches": np.int32,
    "worths": np.float32,
    "logits": np.float32,
    "answers": np.float32,
    "points": np.float32,
    "territory": np.float32,
    "small": np.int16,
    "fine": np.uint8,
    "exact": np.float32,
}
"""Arrays that JavaScript reads or writes, and what they hold."""


class Values(NamedTuple):
    """A record for WebAssembly: values that are never passed to native code, so their rules need not be compiled."""

    kind: RecordType
    values: tuple[Any, ...]


def _record(title: str, **fields: Any) -> Values:
    kinds = [(name, v.kind if isinstance(v, Values) else numba.typeof(v)) for name, v in fields.items()]
    return Values(RecordType(title, tuple(kinds)), tuple(fields.values()))


class Board(NamedTuple):
    """How the board is read from a game's planes."""

    stones: tuple[int, int, int]
    """The plane of the stones of the player to move, that of the other's, and how many planes there are."""
    forbidden: bool
    """Whether the board shows free points where the player to move may not play."""


POSITIONS = 200
"""Positions of random games on which `board_of` is checked."""


def board_of(game: Game) -> Board:
    """Return how the board is read; raise `UserError` where no two planes show the stones of the two sides."""
    known = known_board(game)
    return found_board(game) if known is None else Board(known.stones, known.forbidden)


def found_board(game: Game) -> Board:
    """Return how the board is read, from positions of random games."""
    rows, columns, planes = game.input_shape
    shown: list[np.ndarray] = []
    expected: list[np.ndarray] = []
    forbidden = False
    rng, state = np.random.default_rng(0), game.start()
    while len(shown) < POSITIONS:
        grid = game.cells(state)
        if grid is None or (rows, columns) != tuple(game.grid_shape):
            raise UserError(f"{game.spec}: export-page needs `cells`, and planes with the board's rows and columns")
        cells = np.array(grid.cells).ravel()
        forbidden |= bool((cells == FORBIDDEN_POINT).any())
        shown.append(state.planes().reshape(-1, planes).astype(np.int8))
        expected.append(np.where(cells == FORBIDDEN_POINT, 0, cells) * state.playerTurn)
        state = game.start() if state.isEndGame else state.takeAction(int(rng.choice(state.allowedActions)))[0]
    seen, wanted = np.concatenate(shown), np.concatenate(expected)
    for own in range(planes):
        if ((wanted == 1) == (seen[:, own] == 1)).all():
            for other in range(planes):
                if ((wanted == -1) == (seen[:, other] == 1)).all():
                    return Board((own, other, planes), forbidden)
    raise UserError(f"{game.spec}: export-page needs a plane of the stones of the player to move, and of the other's")


def board_facts(game: Game) -> KnownBoard:
    """Return what a page has to know of a board, found by the rules."""
    board = found_board(game)
    return KnownBoard(board.stones, board.forbidden, [int(action) for action in game.start().allowedActions])


class Engine(NamedTuple):
    """The tables and functions of a player."""

    game: Game
    record: Values
    sims: int
    """Visits for which the tree has room."""
    settings: dict[str, dict[str, int]]
    """{"full" or "level": words of the solver}"""


def make_engine(game: Game, search: SearchSettings, network: Network) -> Engine:
    """Return the engine of a game with these settings of search and this network."""
    if game.rules is None or isinstance(game, PlainGame) or game.start_row is None:
        raise UserError(f"{game.spec}: {NO_RULES}")
    sims = int(min(SIMS, trees_in(TREE_BYTES, game, 1000) * 1000))
    forest = make_forest(game, 1, 1, capacity_for(sims, 1), search)
    forest.trees["root"], forest.trees["temperature"] = -1, 1.0
    cache = make_cache(places_in(CACHE_BYTES, 1 << 14, game.action_size), game.action_size)
    rules, puct = game.rules, puct_of(search)
    size, row = game.action_size, game.start_row
    planes = np.zeros((1, int(np.prod(game.input_shape))), np.uint8)
    waiting, answers, logits = np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros((1, size), np.float32)
    tables = forest, rules, puct, cache
    bound = (*tables, shared_run(*tables), waiting, answers, logits, planes)
    points = int(np.prod(game.grid_shape))
    owned = np.zeros(2 + (points if game.scored_by_area else 0), np.float32)
    counts = {"counted": game.counted, "points": owned} if game.counted else {}
    if game.counted and game.scored_by_area:
        counts["territory"] = np.zeros(points, np.float32)
    stones = {"arranged": game.arranged, "start": row.copy(), "cells": np.zeros(points, np.int32)}
    whole = _record(
        "engine",
        **counts,
        **(stones if game.arranged else {}),
        bound=_record("bound", **{str(i): value for i, value in enumerate(bound, 1)}),
        forest=forest, rules=rules, puct=puct, cache=cache, network=network,
        which=np.zeros(1, np.int32),
        waiting=waiting,
        answers=answers,
        logits=logits,
        planes=planes,
        row=np.zeros_like(row),
        first=row.copy(),
        other=np.zeros_like(row),
        legal=np.zeros(size, np.int32),
        outcome=np.zeros(1, np.float32),
        odds=np.zeros(size, np.float64),
        state=np.zeros(6, np.int32),
        values=np.zeros(2, np.float64),
        visits=np.zeros(size, np.int32),
        priors=np.zeros(size, np.float32),
        q=np.zeros(size, np.float32),
        own=np.zeros(size, np.float32),
        proofs=np.zeros(size, np.int32),
        line=np.zeros(LONGEST, np.int32),
        branches=np.zeros((MOST, 6), np.int32),
        worths=np.zeros((MOST, 2), np.float32),
        won_by_a_move=bool(game.won_by_a_move),
    )
    solver = forest.solver
    full = {"forced_wins": solver.forced_wins, "leaf_ply": solver.leaf_ply, "root_ply": solver.root_ply}
    level = {"forced_wins": 0, "leaf_ply": game.max_plies, "root_ply": game.max_plies}
    return Engine(game, whole, sims, {"full": full, "level": level})


class _Image:
    """Memory as it is before the first call: addresses count from its begin."""

    def __init__(self) -> None:
        self.size = 0
        self.pieces: list[tuple[int, bytes]] = []
        self.pointers: list[int] = []
        self.functions: list[tuple[int, str]] = []
        self.parts: dict[str, Part] = {}
        self.arrays: dict[str, tuple[int, int]] = {}
        self.words: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._known: dict[int, int] = {}
        self._names: dict[int, str] = {}

    def place(self, size: int, align: int = 64) -> int:
        at = -(-self.size // align) * align
        self.size = at + size
        return at

    def array(self, array: np.ndarray) -> int:
        at = self._places[array.ctypes.data] if array.nbytes else 0
        return at

    def lay_out(self, arrays: Sequence[np.ndarray]) -> None:
        """Give each array a place; two that begin at one address, such as a table and its flat view, share it."""
        for array in sorted(arrays, key=lambda each: -each.nbytes):
            if array.nbytes and array.ctypes.data not in self._places:
                self._places[array.ctypes.data] = self.place(array.nbytes)

    def fill(self, array: np.ndarray) -> None:
        """Keep what an array holds."""
        if array.view(np.uint8).any():
            self.pieces.append((self._places[array.ctypes.data], array.tobytes()))

    def function(self, function: Any) -> str:
        """Return the name by which a rule is exported."""
        if id(function) not in self._names:
            name = self._names[id(function)] = f"rule{len(self._names)}"
            self.parts[name] = Part(function.__wrapped__, function._sig)
        return self._names[id(function)]

    def record(self, record: Any, kind: RecordType) -> int:
        """Write a record's words and return their place."""
        if id(record) in self._known:
            return self._known[id(record)]
        words: list[tuple[str, int | str]] = []
        for value, (name, field) in zip(_values(record), kind.fields, strict=True):
            if name in ("forced_wins", "leaf_ply", "root_ply") and kind.title == "Solver":
                self.words[name] = len(words)
            if isinstance(field, numba.types.Array):
                if name in READ:
                    self.arrays[name] = (self.array(value), value.size)
                words += [("at", self.array(value)), *(("", length) for length in value.shape)]
            elif isinstance(field, RecordType):
                words.append(("at", self.record(value, field)))
            elif isinstance(field, numba.types.FunctionType):
                words.append(("function", self.function(value)))
            elif field == numba.types.float64:
                words.append(("", int(np.float64(value).view(np.uint64))))
            else:
                words.append(("", int(value) & 2**64 - 1))
        at = self._known[id(record)] = self.place(8 * len(words), 8)
        if kind.title == "Solver":
            self.words = {name: at + 8 * word for name, word in self.words.items()}
        numbers = np.zeros(len(words), np.uint64)
        for i, (what, word) in enumerate(words):
            if what == "function":
                self.functions.append((at + 8 * i, str(word)))
            else:
                numbers[i] = word
                self.pointers += [at + 8 * i] * (what == "at")
        self.pieces.append((at, numbers.tobytes()))
        return at


def _values(record: Any) -> Any:
    return record.values if isinstance(record, Values) else record


def _arrays_of(record: Any, kind: RecordType) -> list[tuple[str, np.ndarray]]:
    found: list[tuple[str, np.ndarray]] = []
    for value, (name, field) in zip(_values(record), kind.fields, strict=True):
        if isinstance(field, numba.types.Array):
            found.append((name, value))
        elif isinstance(field, RecordType):
            found += _arrays_of(value, field)
    return found


LEFT_OUT = "small", "fine", "exact", "table", "weights"
"""Arrays that are not empty and still not in the image: the weights come in a file of their own, the hash table is
filled by `clear_tree`."""


def compile_engine(engine: Engine) -> tuple[bytes, dict[str, Any]]:
    """Return (the WebAssembly module, the layout of its memory)."""
    parts, layout = laid_out(engine)
    return module_of(parts), layout


def functions_of(game: Game) -> dict[str, Part]:
    """Return the functions of a game's module, which are the same for every network and size of board."""
    search = SearchSettings(forced_wins=2 if game.forced else 0)
    return laid_out(make_engine(game, search, network_of(without_layers(game.action_size))))[0]


def laid_out(engine: Engine) -> tuple[dict[str, Part], dict[str, Any]]:
    """Return (the functions of the module, the layout of its memory)."""
    image = _Image()
    record = engine.record
    arrays = _arrays_of(record, record.kind)
    image.lay_out([array for _, array in arrays])
    filled = set()
    for name, array in arrays:
        if name not in LEFT_OUT and array.nbytes and array.ctypes.data not in filled:
            image.fill(array)
            filled.add(array.ctypes.data)
    at = image.record(record, record.kind)
    entries = {f.__name__: Part(f.py_func, signature) for f, signature in signatures(record.kind).items()}
    (rows, columns), board = engine.game.grid_shape, board_of(engine.game)
    layout = {
        "rows": rows,
        "columns": columns,
        "stones": board.stones,
        "forbidden": board.forbidden,
        "counts": bool(engine.game.counted),
        "engine": at,
        "size": image.size,
        "pieces": [(place, base64.b64encode(data).decode()) for place, data in image.pieces],
        "pointers": image.pointers,
        "functions": image.functions,
        "arrays": {name: (*found, np.dtype(READ[name]).name) for name, found in image.arrays.items()},
        "words": image.words,
        "settings": engine.settings,
        "sims": engine.sims,
    }
    return {**entries, **image.parts}, layout
