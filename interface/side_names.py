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
    score = dict(zip((end.playerTurn, -end.playerTurn), end.score, strict=True))
    return [f"{names[side]}: {_points_of(game, end, side, score[side])}" for side in (1, -1)]


def has_points(game: Game, state: GameState) -> bool:
    """Return whether a game is decided by points."""
    return (type(game).score if game.rules is not None else type(state).score) not in (Game.score, GameState.score)


def _points_of(game: Game, end: GameState, side: int, score: float) -> str:
    """Return a side's points in words: discs, or stones with territory and komi."""
    from games.go import Go  # not loaded where another game is played
    from games.othello import Othello

    total = tr("1 point") if score == 1 else tr("{points} points", points=f"{score:g}")
    grid, owners = game.cells(end), end.owners
    if grid is None or owners is None:
        return total
    stones = sum(cell == side for row in grid.cells for cell in row)
    owned = int((owners == side).sum())
    if isinstance(game, Othello):
        return tr("1 disc") if stones == 1 else tr("{count} discs", count=stones)
    if not isinstance(game, Go):
        return total
    parts = [tr("1 stone") if stones == 1 else tr("{count} stones", count=stones)]
    parts += [tr("{count} territory", count=owned - stones)]
    parts += [tr("{points} komi", points=f"{score - owned:g}")] if score != owned else []
    return f"{total} ({', '.join(parts)})"
