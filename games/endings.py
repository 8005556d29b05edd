"""How the search solves the endings of a game (`Game.endings`), and what a test set may ask (`Game.solvable`)."""

from __future__ import annotations

from typing import NamedTuple

from game import Game


class Endings(NamedTuple):
    """When endings are solved, and how long that may take. What counts as a position is the game's `Rules.solve`'s
    choice.
    """

    plies: int
    """Plies of a usual game: `Config.endgame` counts back from there."""
    leaf: int = 128
    """Positions for a leaf: by default about the time in which a small network evaluates one."""
    root: int = 16_384
    """Positions for all moves of a root."""
    move: int = 0
    """Positions for each move of a root at first, to find a move that wins soon; 0 = all that are left."""
    earlier: int = 0
    """Plies by which a root is solved earlier than a leaf."""
    room: int = 0
    """Numbers of work space that `Rules.solve` has behind left[1]."""


class Solvable(NamedTuple):
    """Which positions of random play alpha-beta solves exactly, in most cases, for a test set."""

    plies: int
    """Plies before the latest end from which it does."""
    end: int = 0
    """Plies of a game without passes; 0 = `Game.max_plies`."""
    most: int = 10**9
    """Positions at most, where few of them count and more would take many minutes to find."""
    whole: bool = False
    """Whether all positions of the game are used, not a sample."""


def endings_of(game: Game) -> Endings | None:
    """Return how the endings of a game are solved: in games won by a move by default, else only if the game says so."""
    if game.endings is None and game.won_by_a_move:
        return Endings(game.max_plies)
    found: Endings | None = game.endings
    return found


def first_solved(game: Game, endgame: int) -> tuple[int, int]:
    """Return the first plies at which leaves and roots are solved, with `endgame` plies of solving; 0: max_plies."""
    endings = endings_of(game)
    if endings is None or endgame == 0:
        return game.max_plies, game.max_plies
    leaf = endings.plies - endgame
    return leaf, leaf - endings.earlier
