"""What a drawing shows of a board: what a game says stands on it, and what a move changed."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import games
from config import UserError
from game import FORBIDDEN_POINT
from games.line_of_moves import after_moves
from plugins.pictures.board_grid import Before, Changes, changes, grid_of, scored_squares
from plugins.pictures.board_looks import LOOKS
from plugins.pictures.board_svg import board_svg
from plugins.pictures.printed_board import read_board

GAMES = [
    "connect4",
    "connect4(rows=8,columns=12)",
    "tictactoe",
    "gomoku(size=22)",
    "gomoku(size=15,rule=renju)",
    "go(size=5,suicide=yes)",
    "go(size=19)",
    "littlego",
    "othello(size=10)",
    "metasquares",
    "hex(size=19)",
    "hex(size=5,swap=yes)",
]


@pytest.mark.parametrize("spec", GAMES)
def test_what_a_game_says_stands_on_its_board_is_what_its_text_shows(spec):
    game, rng = games.make(spec), np.random.default_rng(1)
    state = game.start()
    for _ in range(60):
        shown, said = game.cells(state), read_board(state.render(), *game.grid_shape, game.pieces)
        if game.name in ("go", "littlego"):  # whose text does not mark the points that are forbidden
            marked = {i for i, cell in enumerate(sum(shown.cells, [])) if cell == FORBIDDEN_POINT}
            free = {i for i, cell in enumerate(sum(said.cells, [])) if cell == 0}
            assert marked == (set() if state.isEndGame else free - set(state.allowedActions))
            shown = shown._replace(
                cells=[[0 if cell == FORBIDDEN_POINT else cell for cell in row] for row in shown.cells]
            )
        assert shown == said
        if state.isEndGame:
            break
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]


def test_a_position_of_another_game_is_no_board_of_this_one():
    with pytest.raises(UserError, match=r"expected a position of go, got CompiledState"):
        games.make("go").cells(games.make("othello").start())


def line(spec, moves):
    game = games.make(spec)
    actions = game.parse_moves(moves)
    return [after_moves(game, actions[:n]) for n in range(len(actions) + 1)]


def test_a_move_of_othello_turns_discs():
    before, after = line("othello", "f5")
    found = changes(grid_of(before), grid_of(after))
    assert found == Changes(4 * 8 + 5, frozenset({4 * 8 + 4}), {})
    root = ElementTree.fromstring(board_svg(after, before=before))
    kinds = [e.get("class") for e in root.iter() if e.tag.endswith("circle")]
    assert kinds.count("stone first new") == 1 and kinds.count("stone first turned") == 1 and kinds.count("was") == 1
    was = next(e for e in root.iter() if e.get("class") == "was")
    assert was.get("visibility") == "hidden", "without a style sheet it is not seen"


def test_a_capture_takes_stones_off_and_is_drawn_hidden():
    states = line("go(size=5)", "a2 a1 b1")
    assert changes(grid_of(states[2]), grid_of(states[3])).gone == {20: -1}
    drawn = board_svg(states[3], before=states[2])
    assert 'class="gone"' in drawn and drawn.count("stone second") == 0
    assert 'class="gone"' not in board_svg(states[3])


def test_a_disc_of_connect_4_falls_from_above_the_board():
    states = line("connect4", "44")
    drawn = board_svg(states[2], before=states[1])
    assert 'class="stone second drop"' in drawn and "--fall:-200px" in drawn
    assert drawn.index("drop") < drawn.index('fill="url(#az-face)'), "behind the front of the board"


def test_nothing_moves_at_a_jump_or_backwards():
    states = line("connect4", "4455")
    for before, after in ((0, 4), (4, 0), (2, 2), (3, 1)):
        found = changes(grid_of(states[before]), grid_of(states[after]))
        assert found.new is None and not found.turned
    assert changes(None, grid_of(states[1])) == Changes()
    assert changes(grid_of(line("othello", "")[0]), grid_of(states[1])) == Changes(), "another board"


def test_a_position_drawn_again_moves_as_before():
    states, view = line("connect4", "44"), Before()
    assert view.of(states[0]) is None and view.of(states[0]) is None
    assert view.of(states[1]) is states[0] and view.of(states[1]) is states[0]
    assert view.of(states[2]) is states[1]


def test_the_squares_that_the_last_stone_of_metasquares_made_are_found_at_any_angle():
    upright = grid_of(line("metasquares", "d4 a1 d6 b5 f4 e8 f6")[-1])
    assert len(scored_squares(upright)) == 1
    tilted = line("metasquares(size=5)", "b1 a1 c4 a2 a3 e5 d2")[-1]
    (corners,) = scored_squares(grid_of(tilted))
    assert {tilted.game.move_name(p) for p in corners} == {"b1", "d2", "c4", "a3"}
    assert board_svg(tilted).count('class="scored"') == 2, "a dark line and a bright one"
    assert scored_squares(grid_of(line("metasquares(size=5)", "b1 a1")[-1])) == []


def test_a_hint_is_a_ring_where_the_stone_would_lie():
    state = line("connect4", "4")[-1]
    root = ElementTree.fromstring(board_svg(state, hint=3))
    ring = next(e for e in root.iter() if e.get("class") == "hint")
    assert ring.get("data-hint") == "3" and {e.get("cy") for e in ring} == {"181"}, "on the disc that is there"
    assert "hint" not in board_svg(line("go(size=5)", "")[0], hint=25), "a pass has no point"


def test_the_ghost_is_of_the_side_to_move_and_only_where_there_is_a_move():
    states = line("tictactoe", "a1 a3 b2 b3 c3")
    shapes = [[e for e in ElementTree.fromstring(board_svg(s, clickable=True)).iter() if e.get("class") == "ghost"]
              for s in states]  # fmt: skip
    assert [len(found) for found in shapes] == [1, 1, 1, 1, 1, 0]
    assert [found[0].tag.split("}")[1] for found in shapes[:2]] == ["path", "circle"]
    assert all(found[0].get("visibility") == "hidden" for found in shapes[:5])


def test_a_note_names_the_sides_by_their_colours():
    root = ElementTree.fromstring(board_svg(line("metasquares", "d4 a1 d6 b5 f4 e8 f6")[-1]))
    note = next(e for e in root.iter() if e.tag.endswith("text") and "points" in "".join(e.itertext()))
    assert "".join(note.itertext()) == "\u25cf 4, \u25cf 0 points"
    fills = [e.get("fill") for e in note]
    assert fills == [LOOKS["corners"].sides[side][0] for side in (1, -1)]
