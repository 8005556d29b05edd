"""The contract of a game: `Game` holds static facts, `GameState` is one immutable position.

Values are for the player to move, in [-1, 1]; whether a game is over is a separate bool; a draw is 0.
`playerTurn` is 1 for the player who began, -1 for the other. Turns need not alternate.

A game comes in one of two forms, and everything works with both. *Plain Python*: a `GameState` subclass.
*Compiled rules*: five functions over a row of int32 (see `Rules`), wrapped by `CompiledState`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from compiled import call, compiled, in_order, rule, types
from compiling.records import record
from config import UserError

Row = np.ndarray
"""[row_size] int32: player to move (1 or -1), plies played, whether over (0/1), winner (1, -1 or 0),
point or action played last (-1 at the start; for drawing only), then whatever the game needs."""
PLAYER, PLY, OVER, WINNER, LAST, HEADER = 0, 1, 2, 3, 4, 5

_row = types.Array(types.int32, 1, "C")
_bytes = types.Array(types.uint8, 1, "C")
_floats = types.Array(types.float32, 1, "C")
LEGAL = types.int64(_row, _row)
PLAY = types.void(_row, types.int64)
OUTCOME = types.int64(_row, _floats)
ENCODE = types.void(_row, _bytes)
KEY = types.uint64(_row)
EVALUATE = types.float32(_row)
PLAYOUT = types.float32(_row, types.uint64)
WINNING = types.int64(_row)
SAFE = SOLVE = types.int64(_row, _row)
FORCED = types.int64(_row, types.int64, _row, _row)
NOT_PLAYED, NO_WIN, NOT_TOLD, GIVEN_UP, ONLY = 2.0, -1, -2, 2, -3
"""Results of the optional rules. NOT_PLAYED (of `playout`), NOT_TOLD (of others): use the required rules. NO_WIN (of
`winning`, `forced`): no move wins. GIVEN_UP (of `solve`): it took too long. ONLY - n (of `forced`): all but n lose."""
_NUMBER = re.compile(r"\A[0-9]+[.)]+")  # of a move, before it
_PART = re.compile(r"[A-Za-z][0-9]{1,2}(?=[A-Za-z]|\Z)|.+")  # one of points without blanks, or else all


@compiled
def _call_legal(fn, row, out):
    count = fn(row, out)
    return count if in_order(out, count) else np.int64(-1)


@compiled
def _call_play(fn, row, action):
    fn(row, action)


@compiled
def _call_outcome(fn, row, out):
    return fn(row, out)


@compiled
def _call_encode(fn, row, out):
    fn(row, out)


@compiled
def _call_key(fn, row):
    return fn(row)


@rule(PLAYOUT)
def not_played(row, seed):
    return NOT_PLAYED


@rule(WINNING)
def not_told(row):
    return NOT_TOLD


@rule(SAFE)
def safe_not_told(row, out):
    return NOT_TOLD


solve_not_told = safe_not_told  # of the same signature


@record
class Rules(NamedTuple):
    """The rules as functions that compiled code can call, each made by `compiled.rule` with the signature named below.

    The first five are required; the others compute faster what also follows from these. One compiled search serves
    every game, because it depends on the signatures only.
    """

    legal: Any
    """LEGAL: (row, out [action_size] int32) -> count; writes the legal actions in ascending order."""
    play: Any
    """PLAY: (row, action) -> None; changes the row in place. The action must be legal; this is not checked."""
    outcome: Any
    """OUTCOME: (row, out [1] float32) -> 1 when the game is over, and out[0] is its value for the player to move."""
    encode: Any
    """ENCODE: (row, out [rows * columns * planes] uint8) -> None; what the network sees, for the player to move."""
    key: Any
    """KEY: (row) -> uint64; equal keys <=> equal futures."""
    winning: Any = not_told
    """WINNING: (row) -> the lowest legal action that ends the game with value 1 for the player who plays it, or NO_WIN;
    NOT_TOLD: the search tries every move."""
    playout: Any = not_played
    """PLAYOUT: (row, seed) -> float32, the value for player 1 of one random game from a position that is not over,
    every legal move equally likely; may change the row. NOT_PLAYED: the game is played with the required rules."""
    safe: Any = safe_not_told
    """SAFE: (row, out [action_size] int32) -> count; writes, ascending, the legal actions after which the other player
    cannot win at once. Called only where no action wins at once. NOT_TOLD: any action may be safe."""
    solve: Any = solve_not_told
    """SOLVE: (row, left [2 + room] int32) -> the exact value of the position for the player to move, -1, 0 or 1; each
    position visited takes one off left[0]; GIVEN_UP when nothing is left. left[1] is the question's number, left[2:]
    (`Endings.room`) is for what later calls can use. NOT_TOLD: alpha-beta over the other rules is used."""


class Symmetry(NamedTuple):
    """One way to turn or mirror the board: `planes[grid]` with `pi[actions]` is the same position seen that way."""

    grid: np.ndarray
    """[rows * columns] int: for each point of the new board, the point of the old board that it shows."""
    actions: np.ndarray
    """[action_size] int: for each new action, the old action that it is."""


class GameState:
    """One position. Subclass it for a game in plain Python; every attribute below is required."""

    id: Hashable
    """Equal ids <=> equal futures: side to move, pass and ko information included."""
    playerTurn: int  # 1 or -1
    allowedActions: Sequence[int]
    """Legal actions in ascending order; empty when the game is over."""
    isEndGame: bool
    value: float
    """For the player to move; 0.0 while the game is not over."""

    @property
    def score(self) -> tuple[float, float]:
        """Return the points of the player to move and of the other; 0 while nobody has any."""
        return (max(self.value, 0.0), max(-self.value, 0.0))

    @property
    def owners(self) -> np.ndarray | None:
        """Return the owner of each point of the board, [rows, columns] int8; None where the game defines none.

        1 = the player who began, -1 = the other, 0 = nobody. The network may learn to predict it (`ownership_weight`).
        """
        return None

    def takeAction(self, action: int) -> tuple[GameState, float, bool]:
        """Return the next state, its value for its player to move, and whether it is over."""
        raise NotImplementedError

    def planes(self) -> np.ndarray:
        """Return [rows, columns, planes] uint8: what the network sees, for the player to move."""
        raise NotImplementedError

    def render(self) -> str:
        """Return the board as lines of text."""
        raise NotImplementedError

    def _repr_svg_(self) -> str:
        from interface.board_svg import board_svg

        return board_svg(self)

    def __str__(self) -> str:
        return self.render()


class Game:
    """Static facts of a game. Compiled games also set `rules` and `start_row`."""

    name: ClassVar[str]
    grid_shape: tuple[int, int]  # (rows, columns) of the board
    input_shape: tuple[int, int, int]  # (rows, columns, planes) of what the network sees
    action_size: int
    max_plies: int  # upper bound of a game's length
    pieces: dict[int, str] = {1: "X", 0: "-", -1: "O"}
    symmetries: list[Symmetry]  # all but the identity
    look: str = "squares"
    """Its look when drawn: discs on "squares" or in "holes", stones on "points", "corners", "hexagons"; or "marks"."""
    winning_line: int = 0
    """Stones in a row that win; 0 where the game is not won by a row."""
    plane_names: tuple[str, ...] = ()
    """What each plane of `input_shape` shows, for programs that use an exported network; () = not said."""
    policy_layout: str = "points"
    """What an action is: "points" = a point of the board in row order (then perhaps others, such as a pass),
    "columns" = a column, "other"."""
    rules: Rules | None = None
    evaluate: Any = None
    """EVALUATE: (row) -> float32, an estimate for the player to move of a position that is not over, within (-1, 1).
    Made by `compiled.rule`, for players that look only a few moves ahead; None = no estimate before the end."""
    forced: Any = None  # FORCED: finds wins by force, see search/solving/forced.py; None = there is no such search
    forced_room: int = 1  # words of its work space
    start_row: Row | None = None
    parameters: dict[str, int | float | str] = {}  # those that differ from their defaults
    sizes: tuple[Game, ...] = ()  # all games of a range of sizes, of which this is the largest (games/sizes.py)
    won_by_a_move: bool = True
    """Whether most games end by a winning move; if so, a search looks a move ahead (`Config.look_ahead`)."""
    endings: Any = None  # games.endings.Endings: how a search solves endings; None: by default if won_by_a_move
    sgf_number: int | None = None
    """The game's number in SGF (its property GM), when its actions are the points of a board and perhaps a pass."""
    set_up_from: Game | None = None
    """The usual game, when this one begins with another position: see `games.line_of_moves.starting_at`."""
    origin: str = ""
    """The text before the parameters in `spec` where that is not the name: the file and class of your own game."""

    @property
    def aim(self) -> str:
        """Return what wins, in a sentence or two for who has never played the game; "" = not said."""
        return ""

    def views(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (grids [S, points], actions [S, action_size]) of all S ways to see the board, the identity first."""
        forms = [Symmetry(np.arange(int(np.prod(self.grid_shape))), np.arange(self.action_size)), *self.symmetries]
        return np.array([form.grid for form in forms]), np.array([form.actions for form in forms])

    @property
    def spec(self) -> str:
        """Return the name from which `games.make` makes this game again, e.g. "connect4(rows=5)"."""
        shown = {k: f"{v:g}" if isinstance(v, float) else v for k, v in sorted(self.parameters.items())}
        inside = ",".join(f"{k}={v}" for k, v in shown.items())
        return (self.origin or self.name) + (f"({inside})" if inside else "")

    def start(self) -> GameState:
        """Return the first position."""
        if self.start_row is None:
            raise NotImplementedError
        return CompiledState(self, self.start_row.copy())

    def state_of(self, row: Row) -> GameState:
        """Return the position in a row of the search's tables."""
        return CompiledState(self, row.copy())

    def row_of(self, state: GameState) -> Row:
        """Return the row of a position for the search's tables."""
        if not isinstance(state, CompiledState) or state.game.spec != self.spec:
            raise UserError(f"expected a position of {self.spec}, got {type(state).__name__}")
        return state.row

    def score(self, row: Row) -> tuple[float, float]:
        """Return the points of the player to move and of the other, for a compiled position."""
        lead = float(row[WINNER] * row[PLAYER])
        return (max(lead, 0.0), max(-lead, 0.0))

    def owners(self, row: Row) -> np.ndarray | None:
        """Return the owner of each point of a compiled position, as `GameState.owners` does."""
        return None

    def set_up(self, board: np.ndarray, player: int) -> GameState:
        """Return the position with stones [rows, columns] in {1, -1, 0}; raise `UserError` when there is none."""
        raise UserError(f"expected moves only, got stones set up, which {self.name} does not have")

    def resumed(self, state: GameState) -> GameState | None:
        """Return how a game continues that its players ended, such as by two passes; None where it cannot."""
        return None

    def move_name(self, action: int) -> str:
        """Return the name of an action as people write it."""
        return str(action)

    def parse_move(self, text: str) -> int:
        """Return the action with this name; raise `UserError` when there is none."""
        action = self._moves_by_name.get(text.strip().lower()) if len(text) <= 40 else None
        if action is None:
            raise UserError(f"expected a move such as {self.move_name(0)!r}, got {text[:40]!r}")
        return action

    @cached_property
    def _moves_by_name(self) -> dict[str, int]:
        return {self.move_name(a).lower(): a for a in range(self.action_size)}

    def parse_moves(self, text: str) -> list[int]:
        """Return the actions of a line such as "c3, d4 e5", "1. c3 d4 2. e5" or "c3d4e5"."""
        actions: list[int] = []
        for word in text.replace(",", " ").split():
            known = len(word) <= 40 and word.lower() in self._moves_by_name
            for part in [word] if known else _PART.findall(_NUMBER.sub("", word)):
                try:
                    actions.append(self.parse_move(part))
                except UserError as error:
                    raise UserError(f"move {len(actions) + 1}: {error}") from None
        return actions

    def format_moves(self, actions: Sequence[int]) -> str:
        """Return a line of moves that `parse_moves` reads."""
        return " ".join(self.move_name(a) for a in actions)

    def identities(self, planes: np.ndarray, pi: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (planes, pi) in every symmetric form, the original first."""
        flat = planes.reshape(-1, planes.shape[-1])
        return [(planes, pi)] + [(flat[s.grid].reshape(planes.shape), pi[s.actions]) for s in self.symmetries]

    def render(self, row: Row) -> str:
        """Return the board of a compiled position as lines of text."""
        raise NotImplementedError

    def check_errors(self) -> None:
        """Raise the error of a rule in plain Python since the last call; compiled rules raise none."""


class CompiledState(GameState):
    """A thin object around one row of a compiled game."""

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
        return int(call(_call_key, self.rules.key, self.row))

    @property
    def playerTurn(self) -> int:  # type: ignore[override]
        return int(self.row[PLAYER])

    @property
    def allowedActions(self) -> list[int]:  # type: ignore[override]
        if self.isEndGame:
            return []
        out = np.empty(self.game.action_size, np.int32)
        if (count := call(_call_legal, self.rules.legal, self.row, out)) < 0:
            raise UserError(f"{self.game.spec}: expected legal moves from 0 to {len(out) - 1}, ascending, got others")
        return out[:count].tolist()

    @property
    def isEndGame(self) -> bool:  # type: ignore[override]
        return self._outcome()[1]

    @property
    def value(self) -> float:  # type: ignore[override]
        return self._outcome()[0]

    def _outcome(self) -> tuple[float, bool]:
        over = call(_call_outcome, self.rules.outcome, self.row, out := np.zeros(1, np.float32))
        return (float(out[0]) if over else 0.0), bool(over)

    @property
    def score(self) -> tuple[float, float]:
        return self.game.score(self.row)

    @property
    def owners(self) -> np.ndarray | None:
        return self.game.owners(self.row)

    def takeAction(self, action: int) -> tuple[CompiledState, float, bool]:
        """Play an action; raise `UserError` with the board when it is not legal."""
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        row = self.row.copy()
        call(_call_play, self.rules.play, row, int(action))
        state = CompiledState(self.game, row)
        return (state, *state._outcome())

    def planes(self) -> np.ndarray:
        out = np.zeros(int(np.prod(self.game.input_shape)), np.uint8)
        call(_call_encode, self.rules.encode, self.row, out)
        return out.reshape(self.game.input_shape)

    def render(self) -> str:
        return self.game.render(self.row)

    def __repr__(self) -> str:
        return f"<{self.game.spec} ply {self.row[PLY]}\n{self.render()}>"


def illegal_move(game: Game, state: GameState, action: int) -> str:
    """Return the message that an action cannot be played, with the moves that can."""
    legal = state.allowedActions
    shown = " ".join(game.move_name(a) for a in legal[:40]) + (" ..." if len(legal) > 40 else "")
    try:
        name = game.move_name(int(action)) if action in range(game.action_size) else repr(action)[:40]
    except (TypeError, ValueError):
        name = repr(action)[:40]
    return f"illegal move {name} ({f'legal: {shown}' if legal else 'the game is over'})\n{state.render()}"


def state_key(game: Game, state: GameState) -> int:
    """Return the 64-bit key of a position in the search's tables."""
    if game.rules is None:
        raise TypeError(f"{game.name} has no rules")
    return int(call(_call_key, game.rules.key, game.row_of(state)))
