"""What the sides and their points are called, at the console and on the page."""

from __future__ import annotations

from collections.abc import Mapping

from game import Game, GameState
from languages.translate import tr

COLOURS = {"holes": ("Red", "Yellow"), "points": ("Black", "White"), "squares": ("Black", "White"),
           "corners": ("Orange", "Blue"), "hexagons": ("Red", "Blue")}  # fmt: skip
TEXTS = "Red", "Yellow", "Black", "White", "Orange", "Blue"
"""Names of the sides."""


def side_name(game: Game, side: int) -> str:
    """Return the name of a side of a game, by the colour it is drawn in."""
    own = game.pieces != Game.pieces or game.look not in COLOURS
    return game.pieces[side] if own else tr(COLOURS[game.look][side == -1])


def marks(game: Game) -> dict[int, str]:
    """Return {side: its mark at the console}, with its name where what wins is said by names, as in "X (Black)"."""
    names = {side: side_name(game, side) for side in (1, -1)}
    said = any(name in game.aim for name in names.values())
    return {side: f"{game.pieces[side]} ({name})" if said else game.pieces[side] for side, name in names.items()}


def points(game: Game, end: GameState, names: Mapping[int, str]) -> list[str]:
    """Return a line for each side with its points and what they are made of, who began first; none where a game is
    not over or has no points. names: of the sides."""
    if not end.isEndGame or not has_points(game, end):
        return []
    return [f"{names[side]}: {game.points_in_words(end, side)}" for side in (1, -1)]


def has_points(game: Game, state: GameState) -> bool:
    """Return whether a game is decided by points."""
    return (type(game).score if game.rules is not None else type(state).score) not in (Game.score, GameState.score)
