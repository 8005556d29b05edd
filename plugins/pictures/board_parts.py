"""What a page needs to draw the positions of a game by itself: what never changes as SVG, places, colours, shapes."""

from __future__ import annotations

import re
from typing import Any

from game import Game
from plugins.pictures import board_looks
from plugins.pictures.board_hexagons import RADIUS, SHAPE
from plugins.pictures.board_looks import BRIGHT, DARK, HINT, HOLE, INK, LESS, MORE, ink_on, ink_over
from plugins.pictures.board_svg import board_of_game

STEPS = 10
"""Strengths of an overlay's colour for which the colour of its text is named."""


def board_parts(game: Game) -> dict[str, Any]:
    """Return the parts of a game's drawing as values for JSON. See `board_svg`, which draws the same in one piece.

    under, over: the SVG below and above the stones. places: [x, y] of each point. paint: by side, the attributes of a
    group of stones; ink: what is visible on a stone. marks: the overlay's colours, and for both of them the attributes
    of a text for strengths of 0, 0.1 ... 1; opacity: for strengths of 0 and 1. capitals: whether players of the game
    write its letters as capitals.
    """
    board = board_of_game(game)
    look = board_looks.LOOKS[game.look]
    ground = HOLE if game.look == "holes" else look.ground
    opacities = [board_looks.opacity_of(step / STEPS) for step in range(STEPS + 1)]
    inks = {
        name: [ink_over(ground, colour, opacity) for opacity in opacities]
        for name, colour in (("more", MORE), ("less", LESS))
    }
    return {
        "look": game.look,
        "capitals": game.scored_by_area,
        "width": board.width,
        "height": board.height,
        "under": re.sub(r' style="[^"]*"', "", board.under()),  # which a policy may forbid
        "over": board.over(),
        "places": [[round(x, 2), round(y, 2)] for x, y in board.places()],
        "radius": look.radius,
        "hexagon": [RADIUS, SHAPE] if game.look == "hexagons" else None,
        "colours": {str(side): list(look.sides[side]) for side in (1, -1)},
        "paint": {str(side): board_looks.side_paint(game.look, side) for side in (1, -1)},
        "ink": {str(side): ink_on(look.sides[side][0]) for side in (1, -1)},
        "marks": {
            "more": MORE,
            "less": LESS,
            "dark": DARK,
            "bright": BRIGHT,
            "hint": HINT,
            "text": INK,
            "forbidden": board_looks.FORBIDDEN_CROSS,
            "opacity": [opacities[0], opacities[-1]],
            "inks": inks,
        },
    }
