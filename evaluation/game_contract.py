"""`check(game)`: the public test that a game keeps the contract of game.py. Any game, compiled or in plain Python."""

from __future__ import annotations

import copy
import inspect
import time
import traceback
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from compiled import call
from config import UserError
from evaluation.rule_writes import estimated, safe_moves, winning_move, writes_outside
from game import (
    GIVEN_UP,
    NO_WIN,
    NOT_TOLD,
    OVER,
    PLAYER,
    PLY,
    WINNER,
    CompiledState,
    Game,
    GameState,
    Symmetry,
    not_played,
    solve_not_told,
)
from games import own
from games.endings import Endings, endings_of
from games.plain import PlainGame
from games.returned_values import check_rules
from search.rollouts import random_games
from search.solving.endgame_solver import make_line, solve
from system.shell import quoted

HINTS = {
    "of the old position after takeAction": "takeAction must leave its position as it is and return a new one",
    "after an illegal action": "an illegal action must change nothing",
    "ids are equal": "the id leaves out something that matters",
    "id when the same moves are played again": "the id must depend on the position only",
    "after row_of and state_of": "either positions change, or the id leaves out something",
    "under symmetry": "either this symmetry is none of the game, or its points and actions do not fit together",
    "score": "value and score are for the player to move",
    "evaluate": "1 and -1 are for games that are over; alpha-beta would take this for a win or a loss",
    "plies in a row": "`play` counts a ply in row[PLY]: by it a game ends at max_plies",
    "view of planes": "show the stones of the player to move first, as `board * self.playerTurn` does, or who that is",
    "row (player, over, winner)": "the winner in a row is 1 or -1, the outcome is for the player to move",
    "id within a game": "a game that comes back to a position need not end: put the ply into the id, and end the game "
    "at max_plies",
    "the rules": "a mistake in the code of the game",
}
"""The likely cause of a fault, by a part of its name."""
HARMLESS = (
    "planes",
    "view of planes",
    "plies in a row",
    "render",
    "move_name",
    "parse_move of each move_name",
    "parse_moves of format_moves",
    "score",
    "evaluate",
    "illegal action",
    "action_size",
)
"""Faults that spoil no stored game: `checked` lets a game with them be played. Planes of another shape end a game."""
SHORT, SECONDS = 20, 1.0
"""Most games and seconds of the check before a game of your own is played."""


class ContractReport(NamedTuple):
    """The result of random games: faults, how the games ended, and the end of the last one."""

    faults: list[str]
    results: dict[int, int]
    """Games won by player 1, drawn (0), won by player -1."""
    plies: tuple[int, int]
    """Length of the shortest and of the longest game."""
    end: GameState | None


def check(game: Game, *, games: int = 50, seed: int = 0) -> list[str]:
    """Play random games and return the faults, one line for each kind; empty = none.

    The sign of a value can be checked only where a game states it twice: `score`, the winner in a row, two positions
    with one id, a symmetry. Elsewhere a person has to look at the end of a game: see `examine`.
    """
    return examine(game, games=games, seed=seed).faults


def checked(game: Game) -> Game:
    """Return a game; raise `UserError` if it is your own and a few random games break its contract."""
    if game.origin:
        test = _test(game, SHORT, seed=0, until=time.monotonic() + SECONDS)
        if test.raised:
            raise UserError(test.raised)
        if grave := [line for name, line in test.faults.items() if name not in HARMLESS]:
            raise UserError(f"{game.spec}: {grave[0]}; `python main.py check {quoted(game.spec)}` lists all faults")
    return game


def examine(game: Game, *, games: int = 50, seed: int = 0) -> ContractReport:
    """Play random games and return their faults and how they ended."""
    test = _test(game, games, seed=seed)
    if not test.faults:
        test.guard(test.random_games)
    lengths = test.lengths or [0]
    return ContractReport(list(test.faults.values()), dict(test.results), (min(lengths), max(lengths)), test.end)


def _test(game: Game, games: int, *, seed: int, until: float = float("inf")) -> _Check:
    """Play random games, at least one, the last begun before the monotonic time `until`."""
    test = _Check(game, np.random.default_rng(seed))
    if not isinstance(game, PlainGame) and game.rules is not None:
        if written := writes_outside(game, min(games, SHORT), np.random.default_rng(seed)):
            test.faults["memory"] = f"memory: {written}"
            return test  # nothing that these rules tell can be trusted
    for number in range(games):
        if test.unusable or number and time.monotonic() > until:
            break
        test.guard(lambda number=number: test.one_game(number))  # type: ignore[misc]
    test.view()
    return test


class _Unusable(Exception):
    """What a game returned is of a kind with which the check cannot continue: (what, expected, got)."""


def _facts(state: GameState) -> dict[str, Any]:
    """Return what a position says; raise `_Unusable` for what cannot be compared: no array, no number, NaN."""
    facts = {name: _attribute(state, name) for name in ("playerTurn", "isEndGame", "value", "id")}
    legal, owners, planes = _attribute(state, "allowedActions"), state.owners, state.planes()
    _require_number(facts["value"])
    for name, array in (("planes()", planes), ("owners", owners)):
        if not isinstance(array, np.ndarray) and not (name == "owners" and array is None):
            raise _Unusable(name, "an array of whole numbers", _kind(array))
        if array is not None and array.dtype.kind == "f" and np.isnan(array).any():
            raise _Unusable(name, "an array of whole numbers", "some that are NaN")
    owned = None if owners is None else np.ravel(owners).tolist()
    return {**facts, "legal": list(legal), "planes": planes.ravel().tolist(), "owners": owned}


def _attribute(state: GameState, name: str) -> Any:
    try:
        return getattr(state, name)
    except AttributeError as error:
        if error.obj is state and error.name == name:
            raise _Unusable(name, "an attribute of each position", "none") from None
        raise


def _require_number(value: Any) -> None:
    if not isinstance(value, (int, float, np.number)) or np.isnan(value):
        raise _Unusable("value", "a float in [-1, 1], 0.0 before the end", repr(value))


def _is_pair(score: Any) -> bool:
    numbers = isinstance(score, (tuple, list, np.ndarray)) and len(score) == 2
    return numbers and all(isinstance(points, (int, float, np.number)) for points in score)


def _kind(thing: Any) -> str:
    return "None" if thing is None else type(thing).__name__


def _played(state: GameState, action: int) -> tuple[GameState, float, bool]:
    """Return what `takeAction` returns; raise `_Unusable` for anything but a position, a number and a bool."""
    found: Any = state.takeAction(action)
    if not (isinstance(found, tuple) and len(found) == 3 and isinstance(found[0], GameState)):
        got = f"({', '.join(map(_kind, found))})" if isinstance(found, tuple) else _kind(found)
        raise _Unusable("takeAction()", "(a GameState, its value, whether it is over)", got)
    _require_number(found[1])
    return found


GAMES = 2000
"""Random games whose mean results are compared."""
ORDERS, DEEP, FEW = 3, 6, 30
"""How often a few moves are played in every order, and the number of these moves; moves tried to come back."""
LATE, POSITIONS = 10, 20_000
"""Plies before the latest end of a game from which on exact values are compared; positions searched for one."""
Trail = list[tuple[list[int], dict[str, Any]]]
"""Moves from the start and facts of each position of a game."""


class _Check:
    """The first fault of each kind, and the moves that led to the current position."""

    def __init__(self, game: Game, rng: np.random.Generator) -> None:
        self.game, self.rng = game, rng
        self.faults: dict[str, str] = {}
        self.moves: list[int] = []
        self.seen: dict[Hashable, tuple[list[int], GameState]] = {}
        self.results: Counter[int] = Counter()
        self.lengths: list[int] = []
        self.end: GameState | None = None
        self.raised = ""  # by the user's file, one line with its place
        self.first: np.ndarray | None = None  # planes of the first position
        self.shown = np.ones((4, 0), bool)
        """[4, planes] bool: whether a plane has shown the stones of 1, those of -1, the free points, or always the same
        in each position so far; none of them where the game does not say whose a point is."""
        self.unusable = False
        """Whether the game returned something with which the check cannot continue."""

    def expect(self, what: str, expected: Any, got: Any, good: bool | None = None) -> bool:
        """Record a fault unless `good`, by default whether `got` equals `expected`; return whether it is good."""
        good = bool(got == expected) if good is None else good
        if not good and what not in self.faults:
            texts = (" ".join(str(thing).split()) for thing in (expected, got))
            shown = [text if len(text) <= 120 else text[:117] + "..." for text in texts]
            hint = next((f"; {words}" for part, words in HINTS.items() if part in what), "")
            self.faults[what] = f"{what}: expected {shown[0]}, got {shown[1]} (after moves {self.moves}){hint}"
        return good

    def guard(self, work: Callable[[], None]) -> None:
        """Do some work; record an error in it as a fault of the rules."""
        self.moves = []
        try:
            work()
        except UserError as error:
            text = str(error).splitlines()[0].removeprefix(f"{self.game.spec}: ")
            self.faults.setdefault("the rules", f"the rules: {text} (after moves {self.moves})")
        except _Unusable as error:
            self.unusable = True
            what, expected, got = error.args
            self.expect(what, expected, got, good=False)
        except (Exception, SystemExit) as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            # game.py raises it where a method that every game has to write was not written
            if isinstance(error, NotImplementedError) and Path(where.filename) == Path(inspect.getfile(Game)):
                self.unusable = True
                self.expect(f"{where.name}()", "it to be written (see docs/add_a_game.md)", "none", good=False)
                return
            line = own.line_of(error)
            self.raised = self.raised or line
            place = f"{Path(where.filename).name} line {where.lineno} in {where.name}"
            self.expect("the rules", "no exception", line or f"{type(error).__name__} in {place}: {error}")

    def one_game(self, number: int) -> None:
        """Play a random game, and play it again in every symmetry."""
        if number == 0:
            self.facts()
        if number < ORDERS:
            self.orders(number)
            self.moves = []
        game, trail = self.game, self.play()
        self.expect("parse_moves of format_moves", self.moves, game.parse_moves(game.format_moves(self.moves)))
        self.replay("when the same moves are played again", None, trail)
        for i, symmetry in enumerate(game.symmetries if not self.faults else ()):
            self.replay(f"under symmetry {i}", symmetry, trail)

    def same(self, when: str, expected: dict[str, Any], state: GameState) -> bool:
        """Compare the expected facts of a position with the position."""
        got = _facts(state)
        shown = {name: (value, got[name]) for name, value in expected.items()}
        if "planes" in expected:
            shown["planes"] = self.first_difference(expected["planes"], got["planes"])
        return all([self.expect(f"{name} {when}", *pair, got[name] == expected[name]) for name, pair in shown.items()])

    def first_difference(self, expected: list[int], got: list[int]) -> tuple[Any, Any]:
        """Return the first difference of two arrays of planes, with its place."""
        unlike = [i for i, pair in enumerate(zip(expected, got, strict=False)) if pair[0] != pair[1]]
        if len(expected) != len(got) or not unlike or len(got) != np.prod(self.game.input_shape):
            return expected, got
        row, column, plane = (int(i) for i in np.unravel_index(unlike[0], self.game.input_shape))
        return f"{expected[unlike[0]]} in row {row}, column {column}, plane {plane}", got[unlike[0]]

    def facts(self) -> None:
        game, size, (rows, columns) = self.game, self.game.action_size, self.game.grid_shape
        self.expect("rules", "some for the search (see games.plain.PlainGame)", None, game.rules is not None)
        self.expect("input_shape", (rows, columns, game.input_shape[-1]), game.input_shape)
        least = {"points": rows * columns, "columns": columns, "other": 1}.get(game.policy_layout, size + 1)
        self.expect("action_size", f"{least} or more for layout {game.policy_layout!r}", size, size >= least)
        self.expect("the player who begins", 1, game.start().playerTurn)
        names = [self.name_of(a) for a in range(size)]
        twice = [name for name, count in Counter(names).items() if count > 1 or not name]
        self.expect("move_name", "a different name for each action", twice, not twice)
        self.expect("parse_move of each move_name", [*range(size)], [game.parse_move(name) for name in names])
        for number, symmetry in enumerate(game.symmetries):
            for part, count in (("actions", size), ("grid", rows * columns)):
                found = np.sort(getattr(symmetry, part)).tolist()
                self.expect(f"{part} of symmetry {number}, sorted", [*range(count)], found)

    def name_of(self, action: int) -> str:
        """Return the name of an action as it is compared."""
        name: Any = self.game.move_name(action)
        if not isinstance(name, str):
            raise _Unusable("move_name()", "a text", f"{name!r} for action {action}")
        return name.strip().lower()

    def play(self) -> Trail:
        """Play one random game."""
        state, trail = self.game.start(), []
        met: dict[Hashable, int] = {}
        while True:
            facts = _facts(state)
            trail.append((self.moves, facts))
            self.expect("id within a game", "another after each move", f"the one after {met.get(state.id)} moves",
                        state.id not in met)  # fmt: skip
            met[state.id] = len(self.moves)
            self.position(state, facts["legal"], facts["isEndGame"], facts["value"])
            self.twin(state)
            if facts["isEndGame"] or self.rng.random() < 4 / self.game.max_plies:
                self.illegal(state)
            fits = self.expect("length of a game", f"at most {self.game.max_plies} plies", "more",
                               facts["isEndGame"] or len(self.moves) < self.game.max_plies)  # fmt: skip
            if facts["isEndGame"]:
                self.results[int(np.sign(facts["value"])) * facts["playerTurn"]] += 1
                self.lengths.append(len(self.moves))
                self.end = state
            if facts["isEndGame"] or not facts["legal"] or not fits:
                return trail
            action = int(self.rng.choice(facts["legal"]))
            new, value, done = _played(state, action)
            self.same("of the old position after takeAction", facts, state)
            if not self.faults and len(self.lengths) < ORDERS:
                self.comes_back(state, facts["legal"], met)
            self.moves = [*self.moves, action]
            self.expect("value and done from takeAction", (new.value, new.isEndGame), (value, done))
            if isinstance(state, CompiledState) and isinstance(new, CompiledState):
                self.expect("plies in a row", int(state.row[PLY]) + 1, int(new.row[PLY]))
            state = new

    def comes_back(self, state: GameState, legal: list[int], met: dict[Hashable, int]) -> None:
        """Look whether one of some moves leads back to an earlier position of the game: a random one seldom does."""
        rng = np.random.default_rng(len(met))
        for action in rng.choice(legal, min(FEW, len(legal)), replace=False).tolist():
            after = _played(state, action)[0]
            self.expect("id within a game", "another after each move",
                        f"after {action} the one after {met.get(after.id)} moves", after.id not in met)  # fmt: skip

    def position(self, state: GameState, legal: list[int], over: bool, value: float) -> None:
        size, planes, score = self.game.action_size, state.planes(), state.score
        self.expect("playerTurn", "1 or -1", state.playerTurn, state.playerTurn in (1, -1))
        whole = all(isinstance(a, (int, np.integer)) and 0 <= a < size for a in legal)
        in_order = whole and legal == sorted(set(legal))
        self.expect("order of legal", f"ascending, each once, within 0 .. {size - 1}", legal, in_order)
        amount = f"{'none' if over else 'some'}, as isEndGame is {over}"
        self.expect("number of legal", amount, legal, bool(legal) != over)
        self.expect("value", "a float in [-1, 1], 0.0 before the end", value,
                    isinstance(value, float) and -1 <= value <= 1 and (over or value == 0))  # fmt: skip
        if self.expect("score", "(points of the player to move, points of the other)", score, _is_pair(score)):
            agree = not over or value * (score[0] - score[1]) >= 0
            self.expect("score", f"the sign of value {value}", score, agree)
        self.expect("shape of planes", self.game.input_shape, planes.shape)
        self.expect("planes", "uint8", planes.dtype)
        self.expect("planes", "only 0 and 1", np.unique(planes), bool(np.isin(planes, (0, 1)).all()))
        owners, owned = state.owners, self.game.start().owners is not None
        if self.expect("owners", "some in every position or in none", owners, (owners is not None) == owned) and owned:
            shape = isinstance(owners, np.ndarray) and owners.shape
            good = shape == self.game.grid_shape and bool(np.isin(np.asarray(owners), (-1, 0, 1)).all())
            self.expect("owners", f"an array {list(self.game.grid_shape)} of -1, 0 and 1", owners, good)
            if good and planes.shape == self.game.input_shape:
                self.look(planes, np.asarray(owners))
        text: Any = state.render()
        if not isinstance(text, str):
            raise _Unusable("render()", "lines of text", _kind(text))
        self.expect("render", "lines of text", text, bool(text.strip()))
        if self.game.rules is not None:
            row = self.game.row_of(state)
            header = [state.playerTurn, int(over), int(np.sign(value)) * state.playerTurn]
            self.expect("row (player, over, winner)", header, row[[PLAYER, OVER, WINNER]].tolist())
            self.same("after row_of and state_of", _facts(state), self.game.state_of(row))
            if not over:
                self.hints(state, row, legal)
                if self.game.evaluate is not None:
                    estimate = float(estimated(self.game.evaluate, row))
                    self.expect("evaluate", "a number within (-1, 1)", estimate, -1 < estimate < 1)

    def look(self, planes: np.ndarray, owners: np.ndarray) -> None:
        """Note what each plane may show, whoever is to move."""
        if self.first is None:
            self.first, self.shown = planes.copy(), np.ones((4, planes.shape[2]), bool)
        board = owners[..., None]
        same = [planes == (board == 1), planes == (board == -1), planes == (board == 0), planes == self.first]
        self.shown &= np.array([each.all(axis=(0, 1)) for each in same])

    def view(self) -> None:
        """Record a fault if planes show the stones of each side in its own plane and none says who is to move."""
        if self.unusable or not self.shown.any(axis=0).all():
            return
        ones, others = (np.flatnonzero(shows & ~self.shown[3]).tolist() for shows in self.shown[:2])
        if ones and others:
            got = f"those of the player who began in plane {ones[0]} at each turn, the other's in plane {others[0]}"
            self.moves = []
            self.expect("view of planes", "the stones as the player to move sees them", got)

    def hints(self, state: GameState, row: np.ndarray, legal: list[int]) -> None:
        """Compare the winning and safe moves that a game names with those found by playing them."""
        rules: Any = self.game.rules
        named, safe = int(winning_move(rules, row)), np.zeros(self.game.action_size, np.int32)
        if named != NOT_TOLD:
            self.expect("the move that wins at once", self.winning(state, legal), named)
        count = int(safe_moves(rules, row, safe))
        if count != NOT_TOLD and (named if named != NOT_TOLD else self.winning(state, legal)) == NO_WIN:
            self.expect("moves that do not lose at once", self.safe(state, legal, named), safe[:count].tolist())
        endings = endings_of(self.game) or Endings(self.game.max_plies)
        if rules.solve is not solve_not_told and row[PLY] >= endings.plies - LATE:
            self.exact(row)

    def exact(self, row: np.ndarray) -> None:
        """Compare the exact value that a game gives near its end with that of alpha-beta over the other rules."""
        rules: Any = self.game.rules
        values = []
        for solver in (rules._replace(solve=solve_not_told), rules):
            line = make_line(self.game, LATE)
            line.rows[0], line.left[0] = row, POSITIONS
            values.append(int(call(solve, line, solver, np.zeros(1, np.float32))))
            check_rules(self.game, line.bounds)
        self.expect("exact value", values[0], values[1], values[0] == values[1] or GIVEN_UP in values)

    def safe(self, state: GameState, legal: list[int], named: int) -> list[int]:
        """Return the actions after which the opponent has no move that wins at once."""
        safe = []
        for action in legal:
            after, _, over = _played(state, action)
            theirs = not over and after.playerTurn != state.playerTurn
            if theirs and named != NOT_TOLD:  # compare what the game names for the opponent as well
                theirs = winning_move(self.game.rules, self.game.row_of(after)) != NO_WIN
            elif theirs:
                theirs = self.winning(after, list(after.allowedActions)) != NO_WIN
            if not theirs:
                safe.append(action)
        return safe

    def winning(self, state: GameState, legal: list[int]) -> int:
        """Return the lowest action that wins at once, NO_WIN without one."""
        for action in legal:
            after, value, over = _played(state, action)
            if over and value * after.playerTurn * state.playerTurn == 1:
                return action
        return NO_WIN

    def random_games(self) -> None:
        """Compare the mean of the game's own random games, if it has them, with that of games by the other rules."""
        if self.game.rules is None or isinstance(self.game, PlainGame):
            return
        plain = copy.copy(self.game)
        plain.rules = self.game.rules._replace(playout=not_played)
        wanted, got = (random_games(game, GAMES, seed) for seed, game in enumerate((plain, self.game)))
        error = 5 * (2 / GAMES) ** 0.5
        self.expect("mean result of playout", f"{wanted:.2f} ± {error:.2f}", f"{got:.2f}", abs(got - wanted) <= error)

    def twin(self, state: GameState) -> None:
        """Compare the position, and each one a move later, with the earlier position of the same id."""
        moves, other = self.seen.setdefault(state.id, (self.moves, state))
        if moves != self.moves and self.same("where ids are equal", _facts(other), state):
            for action in state.allowedActions:
                facts = _facts(_played(other, action)[0])
                self.same("a move after ids are equal", facts, _played(state, action)[0])

    def orders(self, number: int) -> None:
        """Play a few moves, the last in the list among them, in every order: equal ids must have equal futures.

        A random game seldom comes to one position twice, and hardly ever by different passes.
        """
        start = self.game.start()
        known: dict[Any, Any] = {}
        legal = list(start.allowedActions)
        rng = np.random.default_rng(number)
        few = sorted({legal[-1], *(int(a) for a in rng.choice(legal, min(3, len(legal)), replace=False))})
        todo: list[tuple[list[int], GameState]] = [([], start)]
        while todo:
            self.moves, state = todo.pop()
            facts = _facts(state)
            moves, expected = known.setdefault(state.id, (self.moves, facts))
            if moves is not self.moves:
                self.same("where ids are equal", expected, state)
            elif len(moves) < DEEP and not facts["isEndGame"]:
                todo += [([*moves, a], _played(state, a)[0]) for a in few if a in facts["legal"]]

    def illegal(self, state: GameState) -> None:
        facts = _facts(state)
        for action in sorted(set(range(-1, self.game.action_size + 1)) - set(facts["legal"])):
            try:
                got = f"a position for {action}: {state.takeAction(action)}"
            except UserError:
                continue
            except (Exception, SystemExit) as error:
                got = f"{type(error).__name__} for {action}"
            self.expect("illegal action", "UserError", got)
        self.same("after an illegal action", facts, state)

    def replay(self, when: str, symmetry: Symmetry | None, trail: Trail) -> None:
        """Play a game again, mirrored: new action a is old `actions[a]`, so old b is new `inverse[b]`."""
        inverse = np.argsort(symmetry.actions) if symmetry else np.arange(self.game.action_size)
        state = self.game.start()
        for self.moves, facts in trail:
            if self.moves:
                state = _played(state, int(inverse[self.moves[-1]]))[0]
            expected = dict(facts)
            if symmetry:
                del expected["id"]
                expected["legal"] = sorted(inverse[facts["legal"]].tolist()) if facts["legal"] else []
                board = np.reshape(facts["planes"], (-1, self.game.input_shape[2]))
                expected["planes"] = board[symmetry.grid].ravel().tolist()
                if facts["owners"] is not None:
                    expected["owners"] = np.array(facts["owners"])[symmetry.grid].tolist()
            if not self.same(when, expected, state):
                return
