"""Lets the compiled search call a game written in plain Python.

A row holds the header and the number of a `GameState` kept here; each rule is a C callback with the same
signature as a compiled one, so there is one search and not two. An error in a user's rule is kept and raised
again by `check_errors` after the compiled call that met it.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from compiling.functions import Function
from compiling.numba_import import numba
from config import UserError
from game import (
    ENCODE,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLY,
    WINNER,
    Game,
    GameState,
    Row,
    Rules,
)
from games import own
from games.returned_values import check_legal, check_planes, check_position

_ARRAY_WORDS = 7
"""Words by which a 1-D array is passed to a C function: memory info, parent, size, item size, data, shape, stride."""
_HANDLE = HEADER


class _Callback:
    """A Python function at a C address, typed for numba."""

    def __init__(self, signature: Any, arrays: int, scalars: int, result: Any, function: Callable[..., Any]) -> None:
        words = [ctypes.c_ssize_t] * (_ARRAY_WORDS * arrays) + [ctypes.c_int64] * scalars
        self.signature = signature
        self._c = ctypes.CFUNCTYPE(result, *words)(function)
        self.address = ctypes.cast(self._c, ctypes.c_void_p).value


@numba.extending.typeof_impl.register(_Callback)
def _typeof_callback(value: _Callback, context: Any) -> Any:
    return Function(value.signature)


def _array(words: tuple[int, ...], position: int, kind: Any) -> np.ndarray:
    start = position * _ARRAY_WORDS
    pointer = ctypes.cast(words[start + 4], ctypes.POINTER(kind))
    return np.ctypeslib.as_array(pointer, shape=(words[start + 5],))


class PlainGame(Game):
    """Base of a game in plain Python: set the static facts, write `start()`, return `GameState`s from it.

    Positions met in a search are kept while they are in a tree of one of `searches`. Only one thread may use a game.
    """

    won_by_a_move = False  # trying every move in Python costs more than the network's answer

    def __init__(self) -> None:
        self._states: dict[int, GameState] = {}
        self._numbers: dict[Any, int] = {}
        self._next = 0
        self._room = 10_000
        self.searches: weakref.WeakSet[Any] = weakref.WeakSet()
        self._error: BaseException | None = None
        callbacks = (
            (LEGAL, 2, 0, ctypes.c_int64, self._legal, 0),
            (PLAY, 1, 1, None, self._play, None),
            (OUTCOME, 2, 0, ctypes.c_int64, self._outcome, 1),
            (ENCODE, 2, 0, None, self._encode, None),
            (KEY, 1, 0, ctypes.c_uint64, self._key, 0),
        )
        self.rules = Rules(*(_Callback(s, a, n, r, self._guard(f, d)) for s, a, n, r, f, d in callbacks))
        self.start_row = self.row_of(self.start())

    def start(self) -> GameState:
        raise NotImplementedError

    def state_of(self, row: Row) -> GameState:
        return self._states[int(row[_HANDLE])]

    def row_of(self, state: GameState) -> Row:
        row = np.zeros(HEADER + 1, np.int32)
        row[LAST] = -1
        return self._fill(row, state)

    def tidy(self) -> None:
        """Drop the positions that no search holds, if there are many."""
        if len(self._states) < self._room:
            return
        rows = [self.start_row[None], *(search.used_rows() for search in self.searches)]  # type: ignore[index]
        used = {int(number) for number in np.concatenate(rows)[:, _HANDLE]}
        self._states = {number: s for number, s in self._states.items() if number in used}
        self._numbers = {s.id: number for number, s in self._states.items()}
        self._room = 2 * len(self._states) + 10_000

    def __len__(self) -> int:
        """Return the number of positions kept."""
        return len(self._states)

    def check_errors(self) -> None:
        """Raise the error that a rule raised since the last call."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _fill(self, row: Row, state: GameState) -> Row:
        number = self._numbers.get(state.id) if isinstance(state, GameState) else None
        if number is None:
            check_position(self, state)
            number = self._next
            self._next += 1
            self._numbers[state.id] = number
            self._states[number] = state
        row[PLAYER] = state.playerTurn
        row[OVER] = state.isEndGame
        row[WINNER] = int(np.sign(state.value)) * state.playerTurn if state.isEndGame else 0
        row[_HANDLE] = number
        return row

    def _guard(self, function: Callable[..., Any], default: Any) -> Callable[..., Any]:
        def guarded(*words: int) -> Any:
            if self._error is not None:
                return default
            try:
                return function(words)
            except BaseException as error:
                self._error = self._in_one_line(error)
                return default

        return guarded

    def _in_one_line(self, error: BaseException) -> BaseException:
        """Return an error that a result of your own game's rules caused, but no line of its file, as one line.

        So is a rule's wish to end the program.
        """
        if isinstance(error, SystemExit):
            return UserError(own.line_of(error) or f"{self.spec}: a rule ends the program ({error})")
        if not self.origin or not isinstance(error, Exception) or isinstance(error, UserError) or own.line_of(error):
            return error
        text = " ".join(str(error).split())[:200]
        return UserError(f"{self.spec}: a rule returned what cannot be used ({type(error).__name__}: {text})")

    def _row(self, words: tuple[int, ...]) -> Row:
        return _array(words, 0, ctypes.c_int32)

    def _legal(self, words: tuple[int, ...]) -> int:
        actions = check_legal(self, self.state_of(self._row(words)).allowedActions)
        _array(words, 1, ctypes.c_int32)[: len(actions)] = actions
        return len(actions)

    def _play(self, words: tuple[int, ...]) -> None:
        row, action = self._row(words), int(words[_ARRAY_WORDS])
        after = self.state_of(row).takeAction(action)
        self._fill(row, after[0] if isinstance(after, tuple) and after else after)
        row[PLY] += 1
        row[LAST] = action

    def _outcome(self, words: tuple[int, ...]) -> int:
        state = self.state_of(self._row(words))
        _array(words, 1, ctypes.c_float)[0] = state.value if state.isEndGame else 0.0
        return int(state.isEndGame)

    def _encode(self, words: tuple[int, ...]) -> None:
        planes = check_planes(self, self.state_of(self._row(words)).planes())
        _array(words, 1, ctypes.c_uint8)[:] = planes.ravel()

    def _key(self, words: tuple[int, ...]) -> int:
        number = int(self._row(words)[_HANDLE])
        return (number + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)
