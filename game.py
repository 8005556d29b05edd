"""The contract of a game: `Game` holds static facts, `GameState` is one immutable position.

Values are for the player to move, in [-1, 1]; whether a game is over is a separate bool; a draw is 0.
`playerTurn` is 1 for the player who began, -1 for the other. Turns need not alternate.

A game comes in one of two forms, and everything works with both. *Plain Python*: a `GameState` subclass.
*Compiled rules*: five functions over a row of int32 (see `Rules`), wrapped by `CompiledState`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit, types

from config import UserError

Row = np.ndarray
"""[row_size] int32: player to move (1 or -1), plies played, whether over (0/1), winner (1, -1 or 0),
last action (-1 at the start), then whatever the game needs."""
PLAYER, PLY, OVER, WINNER, LAST, HEADER = 0, 1, 2, 3, 4, 5

_row = types.Array(types.int32, 1, "C")
_bytes = types.Array(types.uint8, 1, "C")
_floats = types.Array(types.float32, 1, "C")
LEGAL = types.int64(_row, _row)
PLAY = types.void(_row, types.int64)
OUTCOME = types.int64(_row, _floats)
ENCODE = types.void(_row, _bytes)
KEY = types.uint64(_row)


@njit(cache=True)
def _call_legal(fn, row, out):  # type: ignore[no-untyped-def]
    return fn(row, out)


@njit(cache=True)
def _call_play(fn, row, action):  # type: ignore[no-untyped-def]
    fn(row, action)


@njit(cache=True)
def _call_outcome(fn, row, out):  # type: ignore[no-untyped-def]
    return fn(row, out)


@njit(cache=True)
def _call_encode(fn, row, out):  # type: ignore[no-untyped-def]
    fn(row, out)


@njit(cache=True)
def _call_key(fn, row):  # type: ignore[no-untyped-def]
    return fn(row)


class Rules(NamedTuple):
    """The rules as functions that compiled code can call: each a `numba.cfunc` with the signature named.

    One compiled search serves every game, because it depends on the signatures only.
    """

    legal: Any
    """LEGAL: (row, out [action_size] int32) -> count; writes the legal actions in ascending order."""
    play: Any
    """PLAY: (row, action) -> None; changes the row in place. The action is legal: not checked."""
    outcome: Any
    """OUTCOME: (row, out [1] float32) -> 1 when the game is over, and out[0] is its value for the player to move."""
    encode: Any
    """ENCODE: (row, out [rows * columns * planes] uint8) -> None; what the network sees, for the player to move."""
    key: Any
    """KEY: (row) -> uint64; equal keys <=> equal futures."""


class Symmetry(NamedTuple):
    """One way to turn or mirror the board: `planes[grid]` with `pi[actions]` is the same position seen otherwise."""

    grid: np.ndarray
    """[rows * columns] int: which point of the old board each point of the new one shows."""
    actions: np.ndarray
    """[action_size] int: which old action each new action is."""


class GameState:
    """One position. Subclass it for a game in plain Python; every attribute below is to be there."""

    id: Hashable
    """Equal ids <=> equal futures: side to move, pass and ko information included."""
    playerTurn: int
    """1 or -1."""
    allowedActions: Sequence[int]
    """Legal actions in ascending order; empty when the game is over."""
    isEndGame: bool
    value: float
    """For the player to move; 0.0 while the game is not over."""

    @property
    def score(self) -> tuple[float, float]:
        """Points of the player to move and of the other; 0 while nobody has any."""
        return (max(self.value, 0.0), max(-self.value, 0.0))

    def takeAction(self, action: int) -> tuple[GameState, float, bool]:
        """Return the next state, its value for its player to move, and whether it is over."""
        raise NotImplementedError

    def planes(self) -> np.ndarray:
        """Return [rows, columns, planes] uint8: what the network sees, for the player to move."""
        raise NotImplementedError

    def render(self) -> str:
        """Return the board as lines of text."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.render()


class Game:
    """Static facts of a game. Compiled games also set `rules` and `start_row`."""

    name: ClassVar[str]
    grid_shape: tuple[int, int]
    """(rows, columns) of the board."""
    input_shape: tuple[int, int, int]
    """(rows, columns, planes) of what the network sees."""
    action_size: int
    max_plies: int
    """No game is longer."""
    pieces: dict[int, str] = {1: "X", 0: "-", -1: "O"}
    symmetries: list[Symmetry]
    """Without the identity."""
    policy_layout: str = "points"
    """What an action is: "points" = a point of the board in row order (then perhaps others, such as a pass),
    "columns" = a column, "other"."""
    rules: Rules | None = None
    start_row: Row | None = None
    parameters: dict[str, int] = {}
    """Those that differ from the defaults."""

    @property
    def spec(self) -> str:
        """The name that makes this game again, e.g. "connect4(rows=5)"."""
        inside = ",".join(f"{k}={v}" for k, v in sorted(self.parameters.items()))
        return f"{self.name}({inside})" if inside else self.name

    def start(self) -> GameState:
        """Return the first position."""
        if self.start_row is None:
            raise NotImplementedError
        return CompiledState(self, self.start_row.copy())

    def state_of(self, row: Row) -> GameState:
        """Return the position that a row of the search's tables holds."""
        return CompiledState(self, row.copy())

    def row_of(self, state: GameState) -> Row:
        """Return the row of a position, for the search's tables."""
        if not isinstance(state, CompiledState) or state.game.spec != self.spec:
            raise UserError(f"expected a position of {self.spec}, got {type(state).__name__}")
        return state.row

    def move_name(self, action: int) -> str:
        """Return the name that people use for an action."""
        return str(action)

    def parse_move(self, text: str) -> int:
        """Return the action that a name means; raise `UserError` when it is none."""
        names = {self.move_name(a).lower(): a for a in range(self.action_size)}
        action = names.get(text.strip().lower()) if len(text) <= 40 else None
        if action is None:
            raise UserError(f"expected a move such as {self.move_name(0)!r}, got {text[:40]!r}")
        return action

    def parse_moves(self, text: str) -> list[int]:
        """Return the actions of a line of moves, separated by blanks or commas."""
        return [self.parse_move(word) for word in text.replace(",", " ").split()]

    def identities(self, planes: np.ndarray, pi: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (planes, pi) in every symmetric form, the given one first."""
        flat = planes.reshape(-1, planes.shape[-1])
        forms = [(planes, pi)]
        return forms + [(flat[s.grid].reshape(planes.shape), pi[s.actions]) for s in self.symmetries]

    def render(self, row: Row) -> str:
        """Return the board of a compiled position as lines of text."""
        raise NotImplementedError


class CompiledState(GameState):
    """A thin object over one row of a compiled game."""

    __slots__ = ("game", "row")

    def __init__(self, game: Game, row: Row) -> None:
        self.game = game
        self.row = row

    @property
    def rules(self) -> Rules:
        if self.game.rules is None:
            raise TypeError(f"{self.game.name} has no compiled rules")
        return self.game.rules

    @property
    def id(self) -> int:  # type: ignore[override]
        return int(_call_key(self.rules.key, self.row))

    @property
    def playerTurn(self) -> int:  # type: ignore[override]
        return int(self.row[PLAYER])

    @property
    def allowedActions(self) -> list[int]:  # type: ignore[override]
        if self.isEndGame:
            return []
        out = np.empty(self.game.action_size, np.int32)
        return [int(a) for a in out[: _call_legal(self.rules.legal, self.row, out)]]

    @property
    def isEndGame(self) -> bool:  # type: ignore[override]
        return self._outcome()[1]

    @property
    def value(self) -> float:  # type: ignore[override]
        return self._outcome()[0]

    def _outcome(self) -> tuple[float, bool]:
        out = np.zeros(1, np.float32)
        over = _call_outcome(self.rules.outcome, self.row, out)
        return (float(out[0]) if over else 0.0), bool(over)

    def takeAction(self, action: int) -> tuple[GameState, float, bool]:
        """Play; raise `UserError` with the board when the action is not legal."""
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        row = self.row.copy()
        _call_play(self.rules.play, row, int(action))
        state = CompiledState(self.game, row)
        return (state, *state._outcome())

    def planes(self) -> np.ndarray:
        out = np.zeros(int(np.prod(self.game.input_shape)), np.uint8)
        _call_encode(self.rules.encode, self.row, out)
        return out.reshape(self.game.input_shape)

    def render(self) -> str:
        return self.game.render(self.row)

    def __repr__(self) -> str:
        return f"<{self.game.spec} ply {self.row[PLY]}\n{self.render()}>"


def illegal_move(game: Game, state: GameState, action: int) -> str:
    """Say why an action cannot be played, with the moves that can."""
    legal = [game.move_name(a) for a in state.allowedActions]
    shown = " ".join(legal[:40]) + (" ..." if len(legal) > 40 else "")
    try:
        name = game.move_name(int(action)) if 0 <= int(action) < game.action_size else repr(action)
    except (TypeError, ValueError):
        name = repr(action)[:40]
    end = "the game is over" if not legal else f"legal: {shown}"
    return f"illegal move {name} ({end})\n{state.render()}"


# ---- the conformance test of a game


def check(game: Game, *, games: int = 50, seed: int = 0) -> list[str]:
    """Play random games and return what is wrong, one line for each kind of fault; empty = all right.

    Whether a value has the right sign shows only where a game says it twice: `score`, the winner in a row,
    two positions with one id, a symmetry.
    """
    test = _Check(game, np.random.default_rng(seed))
    for _ in range(games):
        test.moves = []
        try:
            test.facts()
            trail = test.play()
            test.replay("when the same moves are played again", None, trail)
            for number, symmetry in enumerate(game.symmetries):
                test.replay(f"under symmetry {number}", symmetry, trail)
        except Exception as error:
            test.expect("the rules", "no exception", f"{type(error).__name__}: {error}")
    return list(test.faults.values())


def _facts(state: GameState) -> dict[str, Any]:
    facts = {name: getattr(state, name) for name in ("playerTurn", "isEndGame", "value", "id")}
    return {**facts, "legal": list(state.allowedActions), "planes": state.planes().ravel().tolist()}


Trail = list[tuple[list[int], dict[str, Any]]]
"""Moves from the start and facts of each position of a game."""


class _Check:
    """The first fault of each kind, and the moves that led to the position looked at."""

    def __init__(self, game: Game, rng: np.random.Generator) -> None:
        self.game, self.rng = game, rng
        self.faults: dict[str, str] = {}
        self.moves: list[int] = []
        self.seen: dict[Hashable, tuple[list[int], GameState]] = {}

    def expect(self, what: str, expected: Any, got: Any, good: bool | None = None) -> bool:
        """Note a fault unless `good`, which by default is whether `got` is what was expected."""
        good = bool(got == expected) if good is None else good
        if not good and what not in self.faults:
            shown = [text if len(text) <= 120 else text[:117] + "..." for text in (str(expected), str(got))]
            self.faults[what] = f"{what}: expected {shown[0]}, got {shown[1]} (after moves {self.moves})"
        return good

    def same(self, when: str, expected: dict[str, Any], state: GameState) -> bool:
        """Compare what was expected of a position with the position."""
        got = _facts(state)
        return all([self.expect(f"{name} {when}", value, got[name]) for name, value in expected.items()])

    def facts(self) -> None:
        game, size, (rows, columns) = self.game, self.game.action_size, self.game.grid_shape
        self.expect("rules", "some for the search (see games.plain.PlainGame)", None, game.rules is not None)
        self.expect("input_shape", (rows, columns, game.input_shape[-1]), game.input_shape)
        least = {"points": rows * columns, "columns": columns, "other": 1}.get(game.policy_layout, size + 1)
        self.expect("action_size", f"{least} or more for layout {game.policy_layout!r}", size, size >= least)
        self.expect("the player who begins", 1, game.start().playerTurn)
        names = [game.move_name(a).strip().lower() for a in range(size)]
        twice = [name for name in names if names.count(name) > 1 or not name]
        self.expect("move_name", "a different name for each action", twice, not twice)
        self.expect("parse_move of each move_name", [*range(size)], [game.parse_move(name) for name in names])
        for number, symmetry in enumerate(game.symmetries):
            for part, count in (("actions", size), ("grid", rows * columns)):
                found = np.sort(getattr(symmetry, part)).tolist()
                self.expect(f"{part} of symmetry {number}, sorted", [*range(count)], found)

    def play(self) -> Trail:
        """Play one random game."""
        state, trail = self.game.start(), []
        while True:
            facts = _facts(state)
            trail.append((self.moves, facts))
            self.position(state, facts["legal"], facts["isEndGame"], facts["value"])
            self.twin(state)
            if facts["isEndGame"] or self.rng.random() < 4 / self.game.max_plies:
                self.illegal(state)
            fits = self.expect("length of a game", f"at most {self.game.max_plies} plies", "more",
                               facts["isEndGame"] or len(self.moves) < self.game.max_plies)  # fmt: skip
            if facts["isEndGame"] or not facts["legal"] or not fits:
                return trail
            action = int(self.rng.choice(facts["legal"]))
            new, value, done = state.takeAction(action)
            self.same("of the old position after takeAction", facts, state)
            self.moves = [*self.moves, action]
            self.expect("value and done from takeAction", (new.value, new.isEndGame), (value, done))
            state = new

    def position(self, state: GameState, legal: list[int], over: bool, value: float) -> None:
        size, planes, score, text = self.game.action_size, state.planes(), state.score, state.render()
        self.expect("playerTurn", "1 or -1", state.playerTurn, state.playerTurn in (1, -1))
        in_order = legal == sorted(set(legal)) and all(0 <= a < size for a in legal)
        self.expect("order of legal", f"ascending, each once, within 0 .. {size - 1}", legal, in_order)
        amount = f"{'none' if over else 'some'}, as isEndGame is {over}"
        self.expect("number of legal", amount, legal, bool(legal) != over)
        self.expect("value", "a float in [-1, 1], 0.0 before the end", value,
                    isinstance(value, float) and -1 <= value <= 1 and (over or value == 0))  # fmt: skip
        agree = not over or value * (score[0] - score[1]) >= 0
        self.expect("score", f"the sign of value {value}", score, agree)
        self.expect("shape of planes", self.game.input_shape, planes.shape)
        self.expect("planes", "uint8", planes.dtype)
        self.expect("planes", "only 0 and 1", np.unique(planes), bool(np.isin(planes, (0, 1)).all()))
        self.expect("render", "lines of text", text, isinstance(text, str) and bool(text.strip()))
        if self.game.rules is not None:
            row = self.game.row_of(state)
            header = [state.playerTurn, int(over), int(np.sign(value)) * state.playerTurn]
            self.expect("row (player, over, winner)", header, row[[PLAYER, OVER, WINNER]].tolist())
            self.same("after row_of and state_of", _facts(state), self.game.state_of(row))

    def twin(self, state: GameState) -> None:
        """Compare the position, and each one a move later, with the one that had the same id before."""
        moves, other = self.seen.setdefault(state.id, (self.moves, state))
        if moves != self.moves and self.same("where ids are equal", _facts(other), state):
            for action in state.allowedActions:
                facts = _facts(other.takeAction(action)[0])
                self.same("a move after ids are equal", facts, state.takeAction(action)[0])

    def illegal(self, state: GameState) -> None:
        facts = _facts(state)
        for action in sorted(set(range(-1, self.game.action_size + 1)) - set(facts["legal"])):
            try:
                got = f"a position for {action}: {state.takeAction(action)}"
            except UserError:
                continue
            except Exception as error:
                got = f"{type(error).__name__} for {action}"
            self.expect("illegal action", "UserError", got)
        self.same("after an illegal action", facts, state)

    def replay(self, when: str, symmetry: Symmetry | None, trail: Trail) -> None:
        """Play a game again, mirrored: new action a is old `actions[a]`, so old b is new `inverse[b]`."""
        inverse = np.argsort(symmetry.actions) if symmetry else np.arange(self.game.action_size)
        state = self.game.start()
        for self.moves, facts in trail:
            if self.moves:
                state = state.takeAction(int(inverse[self.moves[-1]]))[0]
            expected = dict(facts)
            if symmetry:
                del expected["id"]
                expected["legal"] = sorted(inverse[facts["legal"]].tolist()) if facts["legal"] else []
                board = np.reshape(facts["planes"], (-1, self.game.input_shape[2]))
                expected["planes"] = board[symmetry.grid].ravel().tolist()
            if not self.same(when, expected, state):
                return
