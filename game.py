"""The contract of a game: `Game` holds static facts, `GameState` is one immutable position.

Values are for the player to move, in [-1, 1]; whether a game is over is a separate bool; a draw is 0.
`playerTurn` is 1 for the player who began, -1 for the other. Turns need not alternate.

A game comes in one of two forms, and everything works with both. *Plain Python*: a `GameState` subclass.
*Compiled rules*: five functions over a row of int32 (see `Rules`), wrapped by `CompiledState`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from compiled import call, compiled, in_order, rule, types
from compiling.records import record
from config import UserError
from languages.translate import tr
from system.plugins import load, plugins

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
COUNT = types.void(_row, _floats)
ARRANGE = types.int64(_row, _row, types.int64)
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
def _call_arranged(fn, row, cells, player):
    return fn(row, cells, player)


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


FORBIDDEN_POINT, OTHER_PIECE = 2, 3
"""What a cell of a `Grid` may be besides a side's stone (1, -1) and nothing (0)."""


class Grid(NamedTuple):
    """What stands on each point of a board, and what is written around it: all that a drawing needs."""

    cells: list[list[int]]
    """[rows][columns]: 1, -1, 0, FORBIDDEN_POINT for a free point where the player to move may not play, or
    OTHER_PIECE."""
    last: int | None
    """The point played last, in row order."""
    rows: list[str]
    columns: list[str]
    """Names of the rows, from the top, and of the columns; each is "" where the game writes none."""
    notes: list[str] = []
    """Lines below the board, such as points."""
    words: dict[int, str] = {}
    """The word on each point with OTHER_PIECE: a piece that is neither side's stone."""


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

    def _repr_svg_(self) -> str | None:
        """Return the position drawn by a plugin, for a notebook; None without one: the notebook then shows the text."""
        for plugin, found in plugins().items():
            if found.pictures:
                return str(load(plugin, found.pictures)(self))
        return None

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the board in IPython, where a class has no `__repr__` of its own."""
        printer.text(self.render())

    def __str__(self) -> str:
        return self.render()


Value = int | float | str
"""Of a parameter of a game."""


class Parameter(NamedTuple):
    """A number or a word that the rules of a game depend on, such as the size of its board."""

    name: str
    default: Value
    """Its type, int, float or str, is that of every value."""
    low: float = 0
    high: float = 0
    step: float = 1
    """A number is `low` and some of these steps, up to `high`."""
    words: tuple[str, ...] = ()
    """All words to choose from; () for a number."""

    def checked(self, value: Value, game: str) -> Value:
        """Return a value of this parameter; raise `UserError`, which begins with the game's name, if it is none.

        >>> Parameter("size", 8, 4, 16, 2).checked(5, "othello")
        Traceback (most recent call last):
            ...
        config.UserError: othello: expected size from 4 to 16 in steps of 2, got 5
        """
        if self.words:
            if value not in self.words:
                raise UserError(f"{game}: expected {self.name} out of {', '.join(self.words)}, got {value!r:.42}")
            return value
        if isinstance(value, str) or not self.low <= value <= self.high or (value - self.low) % self.step:
            steps = f" in steps of {self.step:g}" if self.step != 1 else ""
            raise UserError(f"{game}: expected {self.name} from {self.low:g} to {self.high:g}{steps}, got {value}")
        return (float(value) if isinstance(self.default, float) else int(value)) + 0  # a zero has no sign


class Game:
    """Static facts of a game. Compiled games also set `rules` and `start_row`."""

    name: ClassVar[str]
    takes: tuple[Parameter, ...] = ()
    """Its parameters, which `take` checks. A game whose constructor has plain arguments declares none."""
    grid_shape: tuple[int, int]  # (rows, columns) of the board
    input_shape: tuple[int, int, int]  # (rows, columns, planes) of what the network sees
    action_size: int
    max_plies: int  # upper bound of a game's length
    pieces: dict[int, str] = {1: "X", 0: "-", -1: "O"}
    symmetries: list[Symmetry]  # all but the identity
    exchanges: list[Symmetry] = []  # further forms of what a network sees, in which the players have changed sides
    look: str = "squares"
    """Its look when drawn: discs on "squares" or in "holes", stones on "points", "corners", "hexagons"; or "marks"."""
    winning_line: int = 0
    """Stones in a row that win; 0 where the game is not won by a row."""
    plane_names: tuple[str, ...] = ()
    """What each plane of `input_shape` shows, for programs that use an exported network; () = not said. Where it is
    said, row 0 is the top one of the board as drawn, column 0 the left one."""
    policy_layout: str = "points"
    """What an action is: "points" = a point of the board in row order (then perhaps others, such as a pass),
    "columns" = a column, "other"."""
    rules: Rules | None = None
    evaluate: Any = None
    """EVALUATE: (row) -> float32, an estimate for the player to move of a position that is not over, within (-1, 1).
    Made by `compiled.rule`, for players that look only a few moves ahead; None = no estimate before the end."""
    counted: Any = None
    """COUNT: (row, out) -> None: what `score` says, for programs without Python: the points of the player who began and
    of the other, and where the game is `scored_by_area` the owner of each point behind them; may change the row. Made
    by `compiled.rule`; None: nobody has points before the end."""
    arranged: Any = None
    """ARRANGE: (row of the first position, cells [points] int32 in {1, -1, 0}, player to move) -> 1, and the row is the
    position with these stones; 0: there is none. What `set_up` does, for programs without Python. Made by
    `compiled.rule`; None: the game has no positions that are set up."""
    forced: Any = None  # FORCED: finds wins by force, see search/solving/forced.py; None = there is no such search
    forced_room: int = 1  # words of its work space
    start_row: Row | None = None
    parameters: dict[str, Value] = {}  # those that differ from their defaults
    sizes: tuple[Game, ...] = ()  # all games of a range of sizes, of which this is the largest (games/sizes.py)
    won_by_a_move: bool = True
    """Whether most games end by a winning move; if so, a search looks a move ahead (`Config.look_ahead`)."""
    endings: Any = None  # games.endings.Endings: how a search solves endings; None: by default if won_by_a_move
    solvable: Any = None  # games.endings.Solvable: which positions alpha-beta solves for a test set; None: none
    scored_by_area: bool = False
    """Whether the points of a position are those that its `owners` own, as in Go: they say who leads at the end only,
    and a network that foresees owners foresees the score."""
    komi: float | None = None
    """Points that the second player gets for not having begun; None where the game has no such rule."""
    sgf_number: int | None = None
    """The game's number in SGF (its property GM), when its actions are the points of a board and perhaps a pass."""
    own_vertices: bool = False
    """Whether SGF and GTP write the game's own names of moves (`vertex`), in place of two letters and of Go's names."""
    rows_from_top: bool = False
    """Whether GTP counts the rows from above, as the programs for this game do; else from below, as in Go."""
    set_up_from: Game | None = None
    """The usual game, when this one begins with another position: see `games.line_of_moves.starting_at`."""
    origin: str = ""
    """The text before the parameters in `spec` where that is not the name: the file and class of your own game."""
    rests_on: dict[str, str] = {}
    """{name: sha256} of the files of your own game when it was loaded: its file, what it imports that is not installed,
    and the data that it reads."""

    def take(self, given: Mapping[str, Value]) -> tuple[Any, ...]:
        """Return the values of `takes` in their order, the default of one that is not given, and set `parameters`.

        Raise `UserError` if one is impossible.
        """
        if unknown := given.keys() - {each.name for each in self.takes}:
            raise TypeError(f"{self.name}: unknown parameters {', '.join(sorted(unknown))}")
        values = [each.checked(given.get(each.name, each.default), self.name) for each in self.takes]
        pairs = zip(self.takes, values, strict=True)
        self.parameters = {each.name: value for each, value in pairs if value != each.default}
        return tuple(values)

    @property
    def aim(self) -> str:
        """Return what wins, in a sentence or two for who has never played the game; "" = not said."""
        return ""

    def views(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (grids [S, points], actions [S, action_size]) of all S ways to see the board, the identity first."""
        unchanged = Symmetry(np.arange(int(np.prod(self.grid_shape))), np.arange(self.action_size))
        forms = [unchanged, *self.symmetries, *self.exchanges]
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
        if state.game.rests_on != self.rests_on:  # its row may mean something else
            raise UserError(f"expected a position of {self.spec} as its files are now, got one made before")
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

    def set_up_by_rule(self, board: np.ndarray, player: int, refused: str) -> GameState:
        """Return the position that the rule `arranged` makes; `refused`: what is expected, if there is none."""
        row = np.array(self.start_row)
        cells = np.ascontiguousarray(board, np.int32).ravel()
        if not call(_call_arranged, self.arranged, row, cells, int(player)):
            raise UserError(refused)
        return self.state_of(row)

    def white_points(self, state: GameState) -> float:
        """Return the points that White has without a stone: komi, and what `rewarded` gave."""
        return self.komi or 0.0

    def handicap_points(self, state: GameState) -> float:
        """Return the points that White has for handicap stones."""
        return self.white_points(state) - (self.komi or 0.0)

    def rewarded(self, state: GameState, points: float) -> GameState:
        """Return the position in which White gets `points` and the komi, as some rules of Go have it for a handicap.

        Its id is that of the position without them: who keeps a tree or a table forgets it before.
        """
        if points:
            raise UserError(f"expected no points for handicap stones, which {self.name} does not have")
        return state

    def resumed(self, state: GameState) -> GameState | None:
        """Return how a game continues that its players ended, such as by two passes; None where it cannot."""
        return None

    def turned(self, state: GameState) -> GameState | None:
        """Return the position with the other player to move, as records of Go have it; None where rules forbid it."""
        return None

    def longer(self) -> Game:
        """Return the game with room for more moves before its rules end it, for programs that know no such end.

        Its `spec` is the same, so that its networks play it.
        """
        return self

    def points_in_words(self, state: GameState, side: int) -> str:
        """Return the points of a side (1 or -1) at the end of a game, such as "5 points"."""
        points = state.score[state.playerTurn != side]
        return tr("1 point") if points == 1 else tr("{points} points", points=f"{points:g}")

    def left_out(self, text: str) -> str:
        """Return what `parse_moves` leaves out of a text because it is no move, in words; "" = nothing."""
        return ""

    @property
    def exact_solver(self) -> str:
        """Return the package that knows the value of every position, see players/solver.py; "" = there is none."""
        return ""

    @property
    def openspiel_name(self) -> str | None:
        """Return OpenSpiel's name, with parameters, of a game with the same rules; None = it has none."""
        return None

    def openspiel_actions(self) -> np.ndarray:
        """Return [action_size] OpenSpiel's number for each action."""
        return np.arange(self.action_size)

    def named_by_sgf(self, size: str, komi: str, rules: str, points: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """Return (parameters, notes for people) of the game that an SGF file of its `sgf_number` is read as.

        size: the lines of the board, "" where the file does not say them and SGF has no usual ones. komi, rules: the
        file's words (KM, RU), "" where it has none. points: of its moves.
        """
        return {"size": size} if size else {}, []

    def sgf_rules_note(self, rules: str) -> str:
        """Return how this game differs from the rules that an SGF file names (RU); "" = it does not."""
        return f"RU[{rules[:40]}] is kept: the game is read as {self.spec}"

    def move_name(self, action: int) -> str:
        """Return the name of an action as people write it."""
        return str(action)

    def vertex(self, action: int) -> str:
        """Return the name of an action in SGF and GTP, where these use `own_vertices`; `parse_move` reads it too."""
        return self.move_name(action)

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

    def cells(self, state: GameState) -> Grid | None:
        """Return what stands on the board; None where the game does not say, and its text is read instead."""
        return None

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
