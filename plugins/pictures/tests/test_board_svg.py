"""The drawing of a board: what stands where, the last move, the winning line, legal moves, overlays, clicks."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

import games
from games.line_of_moves import after_moves
from plugins.pictures.board_svg import Mark, board_svg, grid_of, point_of, ratio_of, star_points, winning_points
from support.corridor import Corridor

SVG = "{http://www.w3.org/2000/svg}"
POSITIONS = [
    ("connect4", "4433"), ("connect4(rows=5,columns=6)", "123"), ("tictactoe", "b2 a3"), ("gomoku", "e5 d4"),
    ("gomoku(size=15,rule=renju)", "h8 a1 h9 c1"), ("go(size=9,komi=7.5)", "e5 c3"), ("othello", "f5d6"),
    ("gomoku(size=22)", "v22 a1 l11"), ("metasquares", "f6 a1"), ("littlego", "c3 b2"),
    ("hex", "f6 k11"), ("hex(size=19)", "s19 a1 j10"),
]  # fmt: skip


def position(spec, moves):
    game = games.make(spec)
    return game, after_moves(game, game.parse_moves(moves))


def drawn(state, **options):
    return ElementTree.fromstring(board_svg(state, **options))


def of_class(root, name):
    return [e for e in root.iter() if name in e.get("class", "").split()]


@pytest.mark.parametrize("spec, moves", POSITIONS)
def test_every_game_of_ours_is_drawn_with_the_stones_that_its_planes_have(spec, moves):
    game, state = position(spec, moves)
    root, planes = drawn(state), state.planes()
    own, other = int(planes[..., 0].sum()), int(planes[..., 1].sum())
    first, second = (own, other) if state.playerTurn == 1 else (other, own)
    assert (len(of_class(root, "first")), len(of_class(root, "second"))) == (first, second)
    assert len(of_class(root, "last")) == 1


@pytest.mark.parametrize("spec, moves", POSITIONS)
def test_a_click_on_a_point_is_the_move_that_puts_a_stone_there(spec, moves):
    game, state = position(spec, moves)
    found = of_class(drawn(state, clickable=True), "point")
    points = {int(e.get("data-point")): int(e.get("data-action")) for e in found}
    grid = grid_of(state)
    assert len(points) == game.grid_shape[0] * game.grid_shape[1]
    for action in state.allowedActions:
        point = point_of(game, grid, action)
        if point is None:
            assert game.move_name(action) == "pass"
            continue
        assert points[point] == action
        assert grid_of(state.takeAction(action)[0]).last == point


@pytest.mark.parametrize("spec, moves", POSITIONS)
def test_the_stones_bear_the_numbers_of_their_moves_if_these_are_given(spec, moves):
    game, state = position(spec, moves)
    actions = game.parse_moves(moves)
    assert not of_class(drawn(state), "number")
    numbers = of_class(drawn(state, moves=actions), "number")
    assert sorted(int(e.text) for e in numbers) == list(range(1, len(actions) + 1))
    last = of_class(drawn(state, moves=actions), "last")[0]
    own = next(e for e in numbers if int(e.text) == len(actions))
    assert abs(float(own.get("x")) - float(last.get("cx"))) < 30, "at the last stone"


def test_a_captured_stone_has_no_number_and_a_point_has_that_of_its_newest_stone():
    game, state = position("go(size=5)", "a2 a1 b1")
    actions = game.parse_moves("a2 a1 b1")
    assert [e.text for e in of_class(drawn(state, moves=actions), "number")] == ["1", "3"]
    game, state = position("go(size=5)", "a2 a1 b1 e5 a1")
    actions = game.parse_moves("a2 a1 b1 e5 a1")
    assert sorted(e.text for e in of_class(drawn(state, moves=actions), "number")) == ["1", "3", "4", "5"]


def test_the_board_is_read_as_it_stands():
    _, state = position("connect4", "4433")
    grid = grid_of(state)
    assert grid.cells[-1] == [0, 0, 1, 1, 0, 0, 0] and grid.cells[-2] == [0, 0, -1, -1, 0, 0, 0]
    assert grid.last == 7 * 4 + 2 and grid.columns == list("1234567")
    game, state = position("othello", "f5")
    assert grid_of(state).rows == list("12345678") and grid_of(state).columns == list("abcdefgh")


@pytest.mark.parametrize(
    "spec, moves, line",
    [
        ("connect4", "4141414", {3 + 7 * r for r in (2, 3, 4, 5)}),
        ("tictactoe", "a1 a3 b2 b3 c3", {2, 4, 6}),
        ("gomoku", "e5 d4 e6 d5 e7 d6 e8 d7 e9", {4 + 9 * r for r in range(5)}),
        ("gomoku(rule=exact)", "a1 a9 b1 b9 c1 c9 e1 e9 f1 f9 g1 g9 d1", set()),
    ],
)
def test_the_stones_that_won_are_ringed(spec, moves, line):
    game, state = position(spec, moves)
    assert state.isEndGame == bool(line)
    assert len(of_class(drawn(state), "won")) == len(line)
    if line:
        assert set(winning_points(game, grid_of(state))) == line


def test_legal_points_are_marked_only_where_not_every_free_point_is_legal():
    _, state = position("othello", "")
    assert len(of_class(drawn(state), "legal")) == 4
    assert not of_class(drawn(position("gomoku", "e5")[1]), "legal")


def test_points_forbidden_in_renju_are_crossed_out():
    state = position("gomoku(size=15,rule=renju)", "h8 a1 h9 o1 j10 a15 k10 o15")[1]
    cross = of_class(drawn(state), "forbidden")[0]
    assert cross.get("d").count("M") == state.render().count("*") > 0


@pytest.mark.parametrize("spec", ["go(size=5)", "littlego"])
def test_points_forbidden_in_go_are_crossed_out_and_the_others_have_no_mark(spec):
    """Black has two eyes at a1 and c1, into which White may not play; a ko bars one point more."""
    game, state = position(spec, "a2 e5 b1 pass b2 pass c2 pass d1")
    assert not of_class(drawn(state), "legal")
    assert of_class(drawn(state), "forbidden")[0].get("d").count("M") == 2
    after = state.takeAction(game.parse_move("e4"))[0]
    assert not of_class(drawn(after), "forbidden"), "Black may fill them"
    ko, taken = position("go(size=5)", "b1 c1 a2 d2 b3 c3 d4 b2 c2")
    root = drawn(taken)
    assert of_class(root, "forbidden")[0].get("d").count("M") == 2, "the ko, and an eye of White's"
    assert not of_class(root, "legal")
    assert taken.allowedActions.count(ko.parse_move("b2")) == 0
    over = position("go(size=5)", "b1 pass pass")[1]
    assert over.isEndGame and not of_class(drawn(over), "forbidden")


def test_an_overlay_has_a_number_beside_its_colour_and_a_sign_has_a_colour_of_its_own():
    state = position("connect4", "44")[1]
    root = drawn(state, overlay={0: Mark(0.5, "50"), 3: Mark(-1.0, "-1.00"), 6: Mark(0.0, "<&")})
    marks = {int(e.get("data-mark")): e for e in of_class(root, "mark")}
    assert {a: e.find(f"{SVG}text").text for a, e in marks.items()} == {0: "50", 3: "-1.00", 6: "<&"}
    discs = {a: e.find(f"{SVG}circle") for a, e in marks.items()}
    assert float(discs[3].get("fill-opacity")) > float(discs[0].get("fill-opacity"))
    assert discs[3].get("fill") != discs[0].get("fill")
    assert float(discs[3].get("cy")) < float(discs[0].get("cy")), "the stone would lie on the two that are there"


def test_a_line_of_moves_is_hidden_and_its_stones_lie_where_they_would_fall():
    game, state = position("connect4", "")
    group = of_class(drawn(state, lines={3: [3, 3, 2]}), "line")[0]
    assert group.get("visibility") == "hidden" and group.get("data-line") == "3"
    assert [t.text for t in group.iter(f"{SVG}text")] == ["1", "2", "3"]
    stones = [(float(e.get("x")), float(e.get("y"))) for e in group.iter(f"{SVG}text")]
    assert stones[0][0] == stones[1][0] > stones[2][0] and stones[1][1] < stones[0][1] == stones[2][1]
    kinds = {(float(e.get("cx")), float(e.get("cy"))): e.get("class").split()[1] for e in of_class(group, "stone")}
    assert [kinds[place] for place in stones] == ["first", "second", "first"]


def test_a_board_of_ones_own_is_drawn_too():
    game = Corridor()
    root = drawn(after_moves(game, game.parse_moves("b2")))
    assert len(of_class(root, "stone")) == 1 and len(of_class(root, "last")) == 1


def test_a_board_that_is_no_grid_is_shown_as_its_text():
    class Odd:
        def planes(self):
            import numpy

            return numpy.zeros((2, 2, 1), numpy.uint8)

        def render(self):
            return "k  <q>\nR &"

    assert [e.text for e in drawn(Odd()).iter(f"{SVG}text")] == ["k  <q>", "R &"]


def test_a_position_shows_itself_in_a_notebook():
    state = position("tictactoe", "b2")[1]
    assert state._repr_svg_() == board_svg(state)


@pytest.mark.parametrize("pictures", [True, False])
def test_a_notebook_shows_a_position_as_a_picture_and_without_one_as_its_text(monkeypatch, pictures):
    formatters = pytest.importorskip("IPython.core.formatters", reason="needs IPython")
    if not pictures:
        monkeypatch.setattr("game.plugins", dict)
    corridor = Corridor()
    for state in (position("tictactoe", "b2")[1], after_moves(corridor, corridor.parse_moves("b2"))):
        shown, _ = formatters.DisplayFormatter().format(state)
        assert state.render() in shown["text/plain"]
        assert shown.get("image/svg+xml") == (board_svg(state) if pictures else None)


def test_nothing_in_a_drawing_leads_outside():
    for spec, moves in POSITIONS:
        text = board_svg(position(spec, moves)[1], clickable=True)
        assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_star_points_are_those_of_go_boards():
    assert [len(star_points(n, n)) for n in (5, 8, 9, 13, 15, 19)] == [0, 4, 5, 9, 9, 9]
    assert star_points(19, 19)[:3] == [19 * 3 + 3, 19 * 3 + 9, 19 * 3 + 15]


def test_a_drawing_tells_its_proportions():
    for name in ("connect4", "go", "othello"):
        svg = board_svg(games.make(name).start())
        width, height = (float(re.search(rf'<svg[^>]* {side}="([0-9.]+)"', svg)[1]) for side in ("width", "height"))
        assert ratio_of(svg) == pytest.approx(width / height)
    assert ratio_of("<svg></svg>") == 1.0


def test_a_pass_changes_no_size_where_only_lasting_lines_are_drawn():
    for spec, moves in (("go", "c3 pass"), ("go", "c3 pass pass"), ("littlego", "c3 pass"), ("othello", "f5d6")):
        game, state = position(spec, moves)
        first, now = board_svg(game.start(), lasting=True), board_svg(state, lasting=True)
        assert ratio_of(first) == ratio_of(now), spec
        assert "passed" not in now
    assert "passed" in board_svg(position("go", "c3 pass")[1])
    assert "points" in board_svg(position("metasquares", "f6")[1], lasting=True), "a line that is always there stays"
