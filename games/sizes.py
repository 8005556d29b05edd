"""One game on boards of several sizes: "gomoku(size=7..15)" is gomoku on every board from 7 to 15 that its rules allow.

Such a name makes its largest game, whose `sizes` are all of them. A network that learns them has no weight that depends
on the board (`Config.many_sizes`). Positions of a smaller board lie at the top left of the largest one, the `Frame`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from config import RANGE, UserError, has_range
from game import Game
from games.parameters import parameters_of

BOARD = "size", "rows", "columns"
"""Parameters of a game that may be a range."""
MOST = 64
"""Largest number of sizes of one game."""
OUTSIDE = 2
"""Marks points outside a board among owners of points."""


def several(spec: str, make: Callable[[str], Game]) -> Game:
    """Return the largest game of a name with ranges, its `sizes` set; raise `UserError` if they are no sizes.

    Both ends of a range must be possible; sizes in between that the rules refuse are left out. `make`: makes a game
    from a name without a range.
    """
    head, _, inside = spec.strip().rpartition("(")
    given = RANGE.findall(inside)
    ranges = {name.strip(): (int(low), int(high)) for name, low, high in given}
    if len(ranges) < len(given):
        raise UserError(f"{spec}: expected one range of each of {', '.join(BOARD)}, got two")
    for name, (low, high) in ranges.items():
        if name not in BOARD or low > high:
            raise UserError(f"expected a range of {', '.join(BOARD)} such as size=7..15, got {name}={low}..{high}")

    def at(*values: int) -> Game:
        numbers = iter(values)
        return make(f"{head}({RANGE.sub(lambda match: f'{match[1]}={next(numbers)}', inside)}")

    numbers = [range(low, high + 1) for low, high in ranges.values()]
    if np.prod([len(each) for each in numbers]) > MOST:
        raise UserError(f"{spec}: expected at most {MOST} sizes, got more")
    largest, smallest = at(*(each[-1] for each in numbers)), at(*(each[0] for each in numbers))
    found = []
    for values in itertools.product(*numbers):
        try:
            found.append(at(*values))
        except UserError:
            continue
    _check(spec, found, smallest, largest)
    largest.sizes = tuple(found)
    largest.parameters = {**largest.parameters, **{name: f"{low}..{high}" for name, (low, high) in ranges.items()}}
    return largest


def _check(spec: str, found: Sequence[Game], smallest: Game, largest: Game) -> None:
    """Raise `UserError` unless the games differ in their boards alone, for a network that sees boards and points."""
    if largest.policy_layout == "other":
        raise UserError(f"{spec}: expected a game whose moves are points or columns of its board, for a range of sizes")
    grids = {game.grid_shape for game in found}
    alike = {(game.input_shape[2], others(game), game.input_shape[:2] == game.grid_shape) for game in found}
    most = tuple(max(side) for side in zip(*grids, strict=True))
    if len(grids) < len(found) or len(alike) > 1 or most != largest.grid_shape:
        raise UserError(f"{spec}: expected games that differ in the size of their board alone, got others")


def others(game: Game) -> int:
    """Return how many actions of a game are no points or columns of its board, such as a pass."""
    rows, columns = game.grid_shape
    return game.action_size - (columns if game.policy_layout == "columns" else rows * columns)


def family(spec: str) -> str:
    """Return what names with other ranges of the same sizes have in common.

    >>> family("gomoku(rule=renju,size=7..15)")
    'gomoku(rule=renju,size=many)'
    """
    head, bracket, inside = spec.rpartition("(")
    return f"{head}{bracket}{RANGE.sub(lambda match: f'{match[1]}=many', inside)}"


def other_sizes(setting: str, old: object, new: object) -> bool:
    """Return whether a changed setting is the game, with another range of its sizes: a run may continue with that."""
    old, new = str(old), str(new)
    return setting == "game" and has_range(old) and has_range(new) and family(old) == family(new)


def sizes_of(game: Game) -> tuple[Game, ...]:
    """Return the games of all sizes, for an ordinary game that one."""
    return game.sizes or (game,)


def largest_of(game: Game) -> Game:
    """Return the largest size of a range as a game of its own; an ordinary game is returned itself."""
    return sizes_of(game)[-1]


def families(game: Game) -> list[str]:
    """Return the names, with "many" for a size, of the runs of several sizes that a game may belong to.

    >>> import games
    >>> families(games.make("gomoku(size=15,rule=renju)"))
    ['gomoku(rule=renju,size=many)']
    """
    known = [each.name for each in parameters_of(type(game)) if each.name in BOARD]
    found = []
    for count in range(len(known), 0, -1):
        for names in itertools.combinations(known, count):
            given = {k: f"{v:g}" if isinstance(v, float) else v for k, v in game.parameters.items()}
            inside = ",".join(f"{k}={v}" for k, v in sorted({**given, **dict.fromkeys(names, "many")}.items()))
            found.append(f"{game.origin or game.name}({inside})")
    return found


class Frame:
    """The boards of a game of several sizes in the largest one; for an ordinary game, its own board."""

    def __init__(self, game: Game) -> None:
        self.game, self.games = game, sizes_of(game)
        rows, columns = game.grid_shape
        self._numbers = {each.spec: number for number, each in enumerate(self.games)}
        self._points, self._actions = [], []
        """Of each size: where its points and actions are in the frame."""
        grids, actions = [], []
        for each in self.games:
            board = np.arange(rows * columns).reshape(rows, columns)
            points = board[: each.grid_shape[0], : each.grid_shape[1]].ravel()
            last = np.arange(others(each)) + game.action_size - others(each)
            first = np.arange(each.grid_shape[1]) if game.policy_layout == "columns" else points
            moves = np.concatenate([first, last]) if len(self.games) > 1 else np.arange(game.action_size)
            self._points.append(points)
            self._actions.append(moves)
            for grid, action in zip(*each.views(), strict=True):
                grids.append(_placed(rows * columns, points, grid))
                actions.append(_placed(game.action_size, moves, action))
        self.grids, self.actions = np.array(grids), np.array(actions)
        """[views, points], [views, actions] of the frame: all ways to see the boards, one size after the other."""
        views = [len(each.views()[0]) for each in self.games]
        self.first, self.views = np.cumsum([0, *views[:-1]]), np.array(views)
        """[sizes]: the first view of each size, which changes nothing, and how many it has."""
        self.masks = np.zeros((len(self.games), rows * columns), np.uint8)
        """[sizes, points]: 1 = a point of the board, 0 = outside."""
        for mask, points in zip(self.masks, self._points, strict=True):
            mask[points] = 1

    def number(self, spec: str) -> int:
        """Return the number of a size by its name, "" for an ordinary game; -1 if it is none of these."""
        return self._numbers.get(spec, -1) if self.game.sizes else 0

    def planes(self, number: int, planes: np.ndarray) -> np.ndarray:
        """Return planes [n, points * planes] of a board in the frame; 0 outside."""
        count, depth = len(planes), self.game.input_shape[2]
        return self._widened(planes.reshape(count, -1, depth), self._points[number], 0).reshape(count, -1)

    def visits(self, number: int, visits: np.ndarray, illegal: int) -> np.ndarray:
        """Return visits [n, actions] of a board in the frame; `illegal` for moves that it has not."""
        if len(self._actions[number]) == self.game.action_size:
            return visits
        wide = np.full((len(visits), self.game.action_size), illegal, visits.dtype)
        wide[:, self._actions[number]] = visits
        return wide

    def owners(self, number: int, owners: np.ndarray) -> np.ndarray:
        """Return owners [n, points] of a board in the frame; OUTSIDE outside."""
        return self._widened(owners, self._points[number], OUTSIDE)

    def _widened(self, columns: np.ndarray, points: np.ndarray, outside: int) -> np.ndarray:
        size = self.masks.shape[1]
        if columns.shape[1] in (0, size):
            return columns
        wide = np.full((len(columns), size, *columns.shape[2:]), outside, columns.dtype)
        wide[:, points] = columns
        return wide


def reordered(values: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return values [n, k, ...] with the entries of each row in its order [n, k]: row i has values[i, orders[i]].

    As np.take_along_axis, in half the time.

    >>> reordered(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2, 1, 0], [0, 0, 1]])).tolist()
    [[3, 2, 1], [4, 4, 5]]
    """
    count, length = values.shape[:2]
    return values.reshape(count * length, *values.shape[2:]).take(orders + length * np.arange(count)[:, None], axis=0)


def _placed(size: int, places: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return a reordering of a board's points or actions as one of the frame's; all others stay where they are."""
    found = np.arange(size)
    found[places] = places[order]
    return found
