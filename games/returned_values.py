"""Bounds on what a game's rules return: compiled code has no other, and a number out of range would corrupt memory.

Compiled code checks each result of a rule where it enters a table. At the first that breaks the contract of game.py it
sets a flag and takes the position as a drawn end, so that searches and games end by themselves. Python raises the
error (`check_rules`) after each compiled call, before a result is used. Positions in plain Python are checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from compiled import compiled, in_order, inlined
from config import UserError
from game import PLAYER, PLY, Game, GameState, Symmetry

MAX_ACTIONS, MAX_PLIES, MAX_INPUTS = 32_767, 65_535, 1 << 20
"""Most actions (stored as int16), plies, and numbers that the network sees (rows x columns x planes)."""
BROKEN, PLIES = 0, 1
"""Indices into `bounds`, [2] int32: the first rule broken (0 = none); `max_plies`."""
(LEGAL, PLAYER_TURN, RESULT, LENGTH, START, WINNING_MOVE, SAFE_MOVES, EXACT_VALUE, RANDOM_GAME,
 FORCED_MOVE) = range(1, 11)  # fmt: skip
_EXPECTED = {
    LEGAL: "legal moves from 0 to {last}, in ascending order and at least one before the end, got others",
    PLAYER_TURN: "the player to move to be 1 or -1, got another",
    RESULT: "a result from -1 to 1, got another",
    LENGTH: "at most max_plies={plies} moves, got a game with more: raise max_plies, or end the game",
    START: "a start position that is not over, got one that is",
    WINNING_MOVE: "`winning` to return a legal move, NO_WIN or NOT_TOLD, got another number",
    SAFE_MOVES: "`safe` to write legal moves in ascending order, got others",
    EXACT_VALUE: "`solve` to return -1, 0, 1, GIVEN_UP or NOT_TOLD, got another number",
    FORCED_MOVE: "`forced` to return a legal move, NO_WIN, or ONLY - n and n legal moves in order, got others",
    RANDOM_GAME: "`playout` to return a value from -1 to 1 or NOT_PLAYED, got another",
}


def make_bounds(game: Game) -> np.ndarray:
    """Return the `bounds` of a game, [2] int32, for compiled code."""
    return np.array([0, game.max_plies], np.int32)


def check_rules(game: Game, bounds: np.ndarray) -> None:
    """Raise the error of a rule in plain Python, or `UserError` for a rule that compiled code met broken."""
    number, bounds[BROKEN] = int(bounds[BROKEN]), 0
    game.check_errors()
    if number:
        text = _EXPECTED[number].format(last=game.action_size - 1, plies=game.max_plies)
        raise UserError(f"{game.spec}: expected {text}")


# ---- in compiled code


@inlined
def break_rule(bounds, number):
    """Set the flag, unless a rule was broken before."""
    if bounds[BROKEN] == 0:
        bounds[BROKEN] = number


@inlined
def is_over(rules, row, outcome, bounds):
    """Return whether a position is over; outcome[0] is then its value for the player to move, from -1 to 1."""
    if not rules.outcome(row, outcome):
        return False
    if not (-1.0 <= outcome[0] <= 1.0):  # also NaN
        break_rule(bounds, RESULT)
        outcome[0] = 0.0
    return True


@inlined
def legal_moves(rules, row, out, bounds):
    """Write the legal moves of a position that is not over into `out`; return their number, 0 if they break a rule."""
    count = rules.legal(row, out)
    if in_order(out, count):
        return count
    break_rule(bounds, LEGAL)
    return np.int64(0)


@inlined
def is_sound(row, over, count, bounds):
    """Return whether a position with `count` legal moves keeps the rules about players and about a game's length."""
    player = row[PLAYER]
    if player != 1 and player != -1:
        break_rule(bounds, PLAYER_TURN)
        return False
    if not over and row[PLY] >= bounds[PLIES]:
        break_rule(bounds, LENGTH)
        return False
    return over or count > 0


@compiled
def random_move(rules, row, legal, x, bounds):
    """Return the legal move with the index x times their number, -1 if it breaks a rule; x: within [0, 1)."""
    count = rules.legal(row, legal)
    if 0 < count <= legal.shape[0]:
        action = np.int64(legal[np.int64(x * count)])
        if 0 <= action < legal.shape[0]:
            return action
    break_rule(bounds, LEGAL)
    return np.int64(-1)


# ---- in Python


def _refuse(game: Game, expected: str, got: Any) -> NoReturn:
    raise UserError(f"{game.spec}: expected {expected}, got {' '.join(repr(got).split())[:60]}")


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= int(value) <= high


def check_facts(game: Game) -> None:
    """Raise `UserError` unless a game's sizes and symmetries fit together and into the tables."""
    grid, shape = game.grid_shape, game.input_shape
    sizes: tuple[tuple[str, Any, int], ...] = (
        ("action_size", game.action_size, MAX_ACTIONS), ("max_plies", game.max_plies, MAX_PLIES),
    )  # fmt: skip
    for name, value, most in sizes:
        if not _whole(value, 1, most):
            _refuse(game, f"{name} from 1 to {most:,}", value)
    for name, sides, count in (("grid_shape", grid, 2), ("input_shape", shape, 3)):
        if not (isinstance(sides, tuple) and len(sides) == count and all(_whole(n, 1, MAX_INPUTS) for n in sides)):
            _refuse(game, f"{name} to be {count} positive whole numbers", sides)
    if tuple(shape[:2]) != tuple(grid):
        _refuse(game, f"input_shape to begin with grid_shape {grid}", shape)
    if (inputs := int(shape[0]) * int(shape[1]) * int(shape[2])) > MAX_INPUTS:
        _refuse(game, f"at most {MAX_INPUTS:,} numbers in input_shape", inputs)
    if game.policy_layout not in ("points", "columns", "other"):
        _refuse(game, 'policy_layout to be "points", "columns" or "other"', game.policy_layout)
    points = int(grid[0]) * int(grid[1])
    for name, forms in (("symmetries", game.symmetries), ("exchanges", game.exchanges)):
        if not isinstance(forms, (list, tuple)) or not all(isinstance(form, Symmetry) for form in forms):
            _refuse(game, f"{name} to be a list of game.Symmetry, see games.boards.point_symmetries", forms)
    for number, symmetry in enumerate([*game.symmetries, *game.exchanges]):
        for part, count in (("grid", points), ("actions", game.action_size)):
            found = np.asarray(getattr(symmetry, part))
            if found.shape != (count,) or not np.array_equal(np.sort(found), np.arange(count)):
                _refuse(game, f"`{part}` of symmetry {number} to hold 0 to {count - 1}, each once", found.tolist())


def check_position(game: Game, state: Any) -> None:
    """Raise `UserError` unless a position has a player to move and, if it is over, a value."""
    if not isinstance(state, GameState):
        _refuse(game, "start to return a GameState, and takeAction (a GameState, its value, whether it is over)", state)
    if not _whole(state.playerTurn, -1, 1) or state.playerTurn == 0:
        _refuse(game, "playerTurn to be 1 or -1", state.playerTurn)
    if not isinstance(state.allowedActions, (Sequence, np.ndarray)):
        _refuse(game, "allowedActions to be a list or a tuple in ascending order", state.allowedActions)
    if state.isEndGame:
        value = state.value
        if not (isinstance(value, (int, float, np.number)) and -1 <= value <= 1):
            _refuse(game, "a value from -1 to 1", value)


def check_legal(game: Game, actions: Sequence[int]) -> list[int]:
    """Return the legal actions of a position that is not over; raise `UserError` if they break the contract."""
    last = game.action_size - 1
    found = list(actions) if isinstance(actions, (Sequence, np.ndarray, range)) else []
    if not found or not all(_whole(a, 0, last) for a in found) or found != sorted(set(found)):
        _refuse(game, f"allowedActions from 0 to {last}, ascending and at least one before the end", actions)
    return [int(a) for a in found]


def check_planes(game: Game, planes: Any) -> np.ndarray:
    """Return the planes of a position as uint8; raise `UserError` if they have another shape or other numbers."""
    found = np.asarray(planes)
    if found.shape != tuple(game.input_shape):
        _refuse(game, f"planes of the shape {tuple(game.input_shape)}", found.shape)
    if found.dtype != np.uint8 and (found != found.astype(np.uint8)).any():
        _refuse(game, "planes of whole numbers from 0 to 255", found.dtype)
    return found.astype(np.uint8, copy=False)


def check_owners(game: Game, owners: Any) -> np.ndarray:
    """Return the owner of each point; raise `UserError` if they have another shape or other numbers."""
    found = np.asarray(owners)
    if found.shape != tuple(game.grid_shape) or not np.isin(found, (-1, 0, 1)).all():
        _refuse(game, f"owners {list(game.grid_shape)} of -1, 0 and 1", found.shape)
    return found


def check_start(game: Game) -> None:
    """Raise `UserError` unless the start is a position that is not over."""
    state = game.start()
    check_position(game, state)
    if state.isEndGame:
        raise UserError(f"{game.spec}: expected {_EXPECTED[START]}")


def check_ply(game: Game, state: GameState, plies: int) -> None:
    """Raise `UserError` unless the position after `plies` moves keeps the contract."""
    check_position(game, state)
    if state.isEndGame:
        return
    if plies >= game.max_plies:
        raise UserError(f"{game.spec}: expected {_EXPECTED[LENGTH].format(plies=game.max_plies)}")
    check_legal(game, state.allowedActions)
