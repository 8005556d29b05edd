"""The board of hexagons: where its points are, the colours of its edges, the chain that won."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import games
from games.line_of_moves import after_moves
from plugins.pictures.board_hexagons import Hexagons, chain
from plugins.pictures.board_looks import CELL, LOOKS
from plugins.pictures.board_svg import board_svg


def distance(one, other):
    return abs(complex(*one) - complex(*other))


def touching(board, p, q):
    return p != q and distance(board.at(p), board.at(q)) < 1.1 * CELL


@pytest.mark.parametrize("size", [3, 11, 19])
def test_points_lie_in_the_drawing_and_touch_the_points_that_they_touch_in_the_rules(size):
    board, square = Hexagons(size, size, 22.0), np.arange(size * size).reshape(size, size)
    for r, c in [(0, 0), (0, size - 1), (1, 1), (size - 1, 0), (size - 1, size - 1)]:
        beside = ((r, c - 1), (r, c + 1), (r - 1, c), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c))
        expected = {int(square[p]) for p in beside if 0 <= p[0] < size and 0 <= p[1] < size}
        assert {q for q in range(size * size) if touching(board, square[r, c], q)} == expected
    for point in range(size * size):
        x, y = board.at(point)
        assert CELL / 2 < x < board.width - CELL / 2 and 23 < y < board.height - 23


@pytest.mark.parametrize("size", [3, 5, 9])
def test_the_chain_of_a_game_that_is_over_joins_the_winners_edges(size):
    game, rng, winners = games.make(f"hex(size={size})"), np.random.default_rng(size), set()
    board = Hexagons(size, size, 0.0)
    for _ in range(12):
        state = game.start()
        while not state.isEndGame:
            assert chain(state.owners.tolist()) == []
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        winner, line = int(state.value) * state.playerTurn, chain(state.owners.tolist())
        rows, columns = np.divmod(line, size)
        along = rows if winner == 1 else columns
        assert (along[0], along[-1]) == (0, size - 1) and len(set(line)) == len(line)
        assert all(touching(board, p, q) for p, q in zip(line, line[1:], strict=False))
        assert {state.owners.flat[p] for p in line} == {winner}
        winners.add(winner)
        root = ElementTree.fromstring(board_svg(state))
        won = [e for e in root.iter() if e.get("class", "").endswith("won")]
        assert len(won) == len(line) and "won-line" in ElementTree.tostring(root, encoding="unicode")
    assert winners == {1, -1}


def test_top_and_bottom_have_the_colour_of_who_began_and_points_are_clicked_in_their_hexagons():
    game = games.make("hex(size=5,swap=yes)")
    state = after_moves(game, game.parse_moves("a3 swap"))
    drawn = board_svg(state, clickable=True)
    rims = re.findall(r'd="M([\d.]+) ([\d.]+)[^"]*" fill="none" stroke-width="9" [^>]*stroke="(#\w+)"', drawn)
    red, blue = (LOOKS["hexagons"].sides[side][0] for side in (1, -1))
    assert [colour for *_, colour in rims] == [red, red, blue, blue]
    assert float(rims[0][1]) < float(rims[1][1]) and float(rims[2][0]) < float(rims[3][0])
    assert drawn.count('class="point free"') == 24 and drawn.count('class="point"') == 1
    assert "top to bottom" not in drawn, "the edges say it"
