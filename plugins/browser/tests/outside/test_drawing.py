"""The page draws a position as the program draws it: stones, what moved, the last one, what won, where one may play."""

import random
import re
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

import games
from plugins.browser.game_facts import game_facts
from plugins.browser.tests.scripts import answer
from plugins.pictures.board_grid import grid_of
from plugins.pictures.board_svg import board_svg

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")
SPECS = [
    "connect4",
    "go(size=9,komi=7)",
    "gomoku",
    "gomoku(size=9,rule=renju)",
    "hex(size=5)",
    "metasquares(size=5)",
    "othello",
    "tictactoe",
]
KINDS = ("stone", "last", "legal", "won-line", "scored", "forbidden", "point")
SHAPE = ("cx", "cy", "r", "d", "x", "y", "data-action", "data-point", "data-name", "data-side")


def shapes(svg):
    """Return the shapes of a drawing that say what stands where, in any order."""
    found = []
    for one in ElementTree.fromstring(svg).iter():
        classes = one.get("class", "").split()
        if set(classes) & set(KINDS) and "ghost" not in classes:
            values = [re.sub(r"-?\d+\.?\d*", lambda n: f"{float(n[0]):g}", one.get(key, "")) for key in SHAPE]
            found.append((sorted(classes), values))
    return sorted(found)


def position(state, action):
    grid = grid_of(state)
    over = state.isEndGame
    value = state.value * state.playerTurn
    return {
        "cells": [cell for row in grid.cells for cell in row],
        "player": state.playerTurn,
        "legal": [int(a) for a in state.allowedActions],
        "over": over,
        "last": action,
        "score": None,
        "result": (value > 0) - (value < 0) if over else None,
    }


@pytest.mark.parametrize("spec", SPECS)
def test_a_random_game_is_drawn_as_the_program_draws_it(spec):
    game, rng, views, ours = games.make(spec), random.Random(3), [], []
    state, before, last = game.start(), None, -1
    for _ in range(60):
        view = position(state, last)
        views.append({"position": view, "before": views[-1]["position"] if views else None})
        ours.append(board_svg(state, clickable=True, before=before))
        if state.isEndGame:
            break
        last = int(rng.choice(state.allowedActions))
        before, state = state, state.takeAction(last)[0]
    draws = "given.map((view) => boardSvg({ ...view, clickable: true, at: '' }))"
    drawn = answer(("words.js", "grid.js", "draw.js"), game_facts(game), views, draws)
    for ply, (theirs, mine) in enumerate(zip(drawn, ours, strict=True)):
        assert shapes(theirs) == shapes(mine), (spec, ply)
