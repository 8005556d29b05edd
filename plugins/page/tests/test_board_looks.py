"""The colours of boards and page: texts have a contrast of at least 4.5, what one has to see has at least 3 (WCAG)."""

import re
from itertools import pairwise

import pytest

import games
from games.line_of_moves import after_moves
from plugins.browser.game_facts import page_file
from plugins.pictures import board_looks, drawing_asset
from plugins.pictures.board_looks import BRIGHT, DARK, FORBIDDEN_CROSS, HINT, HOLE, LESS, LOOKS, MORE, contrast, ink_on
from plugins.pictures.board_svg import Mark, board_svg

SHEETS = {
    "style.css": page_file("style.css"),
    "board.css": drawing_asset("board.css"),
}
PAGES = {"light": "#f3f4f6", "dark": "#14171b"}
"""What a board without a ground lies on; the page's own colours are compared with these below."""


def grounds(look):
    """Return what the stones of a look lie on."""
    if look == "marks":
        return [*PAGES.values()]
    return [HOLE] if look == "holes" else [LOOKS[look].ground]


def blended(over, under, opacity):
    parts = [(int(over[i : i + 2], 16), int(under[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a * opacity + b * (1 - opacity)):02x}" for a, b in parts)


def test_contrasts_are_those_of_the_standard():
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#2f6fc4", "#2f6fc4") == 1
    assert ink_on("#f6c945") == DARK and ink_on("#24272c") == BRIGHT


@pytest.mark.parametrize("look", LOOKS)
def test_stones_are_seen_on_their_board(look):
    for ground in grounds(look):
        for side, (fill, edge) in LOOKS[look].sides.items():
            shades = [fill, *LOOKS[look].light.get(side, ())]
            assert contrast(edge, ground) >= 3 or min(contrast(shade, ground) for shade in shades) >= 3, (side, ground)


@pytest.mark.parametrize("look", LOOKS)
def test_what_is_written_on_a_stone_is_readable(look):
    if look != "marks":  # its numbers stand beside it
        for fill, _ in LOOKS[look].sides.values():
            assert contrast(ink_on(fill), fill) >= 4.5


@pytest.mark.parametrize("look", [look for look in LOOKS if look not in ("holes", "marks")])
def test_lines_and_legal_points_are_seen(look):
    assert contrast(LOOKS[look].line, LOOKS[look].ground) >= 3
    if look == "squares":
        assert contrast(blended(BRIGHT, LOOKS[look].ground, 0.8), LOOKS[look].ground) >= 3


def test_holes_are_seen_on_light_and_dark_pages_and_tell_the_two_sides_apart():
    assert contrast(HOLE, LOOKS["holes"].ground) >= 3
    assert contrast(LOOKS["holes"].ground, PAGES["dark"]) >= 3 and contrast(LOOKS["holes"].ground, PAGES["light"]) >= 3
    (red, _), (yellow, _) = LOOKS["holes"].sides.values()
    assert contrast(red, yellow) >= 3


@pytest.mark.parametrize("look", LOOKS)
def test_rings_and_lines_over_a_board_are_seen_on_everything(look):
    below = [*grounds(look), *(fill for fill, _ in LOOKS[look].sides.values())]
    for ground in below:
        for core in (BRIGHT, HINT):
            assert max(contrast(core, ground), contrast(DARK, ground)) >= 3
    assert contrast(DARK, BRIGHT) >= 4.5, "the texts of overlays, with their edge"
    assert contrast(FORBIDDEN_CROSS, LOOKS["points"].ground) >= 3
    assert MORE != LESS


@pytest.mark.parametrize("look", LOOKS)
def test_the_cursor_is_seen_on_every_board(look):
    found = re.search(rf"\.{look} \.point\.cursor {{ stroke: (#\w+|currentColor)", SHEETS["board.css"])
    colour = (found or re.search(r"\n\.point\.cursor { stroke: (#\w+)", SHEETS["board.css"]))[1]
    if colour == "currentColor":
        assert [ink(mode) for mode in PAGES] == [variables(mode)["ink"] for mode in PAGES]
        return
    colour = "#ffffff" if colour == "#fff" else colour
    assert contrast(colour, LOOKS[look].ground) >= 3


def variables(mode):
    """Return {name: colour} of the page in a mode."""
    line = ":root" if mode == "light" else ":root[data-theme=dark]"
    block = re.search(rf"^{re.escape(line)} {{ --ground([^}}]+)}}", SHEETS["style.css"], re.M)
    found = dict(re.findall(r"--([\w-]+): (#\w{3,6})", "--ground" + block[1]))
    return {name: re.sub(r"^#(\w)(\w)(\w)$", r"#\1\1\2\2\3\3", colour) for name, colour in found.items()}


def ink(mode):
    return variables(mode)["ink"]


@pytest.mark.parametrize("mode", PAGES)
def test_texts_of_the_page_are_readable(mode):
    colours = variables(mode)
    assert colours["ground"] == PAGES[mode]
    for ground in (colours["ground"], colours["card"]):
        assert contrast(colours["ink"], ground) >= 4.5
        assert contrast(colours["soft"], ground) >= 4.5
        assert contrast(blended(colours["ink"], ground, 0.75), ground) >= 4.5, "names at a board's edges"
        assert contrast(blended(colours["ink"], ground, 0.62), ground) >= 3, "lines of a board without a ground"
        assert contrast(colours["accent"], ground) >= 4.5, "the texts of buttons"
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5, "on a button that is filled"


def test_gradients_are_defined_once_and_have_a_colour_behind_them():
    positions = {"connect4": "4433", "gomoku": "e5 d4", "othello": "f5d6", "metasquares": "a1 b2", "hex": "a1 b2"}
    for spec, moves in positions.items():
        game = games.make(spec)
        state = after_moves(game, game.parse_moves(moves))
        drawn = board_svg(state, clickable=True, overlay={0: Mark(1, "1")}, lines={0: state.allowedActions[:1]})
        names = re.findall(r' id="([^"]+)"', drawn)
        assert len(names) == len(set(names)) > 0
        used = re.findall(r'"url\(#([\w-]+)\) (none|#\w{6})"', drawn)
        assert {name for name, _ in used} == set(names) and drawn.count("url(") == len(used)


def test_a_drawing_is_small():
    sizes = {"connect4": 2_500, "gomoku(size=15)": 3_200, "go(size=19)": 3_900, "othello": 2_600, "tictactoe": 1_200,
             "hex": 8_000}  # fmt: skip
    for spec, most in sizes.items():
        assert len(board_svg(games.make(spec).start())) <= most, spec
    assert len(board_svg(games.make("gomoku(size=15)").start(), clickable=True)) < 30_000


def test_names_of_gradients_mean_the_same_in_all_looks():
    found = [re.findall(r' id="([^"]+)"', board_looks.definitions(look)) for look in LOOKS]
    assert all(not set(a) & set(b) for a, b in pairwise(found))
