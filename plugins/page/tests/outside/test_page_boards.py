"""Boards in a real browser: motion, the ghost, the hint, sounds, and the editor."""

import pytest

from plugins.page.tests.browser_page import Page, needs_page
from storage.game_files import PERSON
from support.browser import until

pytestmark = needs_page
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")
PEOPLE = f"&mode=play&first={PERSON}&second={PERSON}"
STYLE = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"


@pytest.fixture
def motion(browser):
    """Return what says whether the system wants less motion."""

    def wanted(less):
        features = [{"name": "prefers-reduced-motion", "value": "reduce" if less else "no-preference"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    yield wanted
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def played(page, point):
    before = page.moves
    page.click(point)
    until(lambda: page.moves == before + 1)


def test_a_disc_drops_unless_less_motion_is_wanted(browser, address, motion):
    motion(False)
    page = Page(browser, address, "&game=connect4" + PEOPLE)
    played(page, 3)
    assert page.count(".stage .drop") == 1 and page.run(STYLE, ".stage .drop", "animationName") == "az-drop"
    played(page, 3)
    assert page.run("return document.querySelector('.stage .second').classList.contains('drop')")
    page.press("undo")
    until(lambda: not page.count(".stage .second"))
    assert page.count(".stage .drop") == 0, "a move taken back drops nothing"
    motion(True)
    page = Page(browser, address, "&game=connect4" + PEOPLE)
    played(page, 4)
    assert page.run(STYLE, ".stage .drop", "animationName") == "none"


def test_a_board_drawn_again_does_not_begin_its_motion_again(browser, address, motion):
    motion(False)
    page = Page(browser, address, "&game=connect4&mode=analyse&moves=4")
    until(lambda: page.text(".simulations") == "400")
    page.run("document.querySelector('.stage svg').dataset.mine = 1")
    page.run("[...document.querySelectorAll('.overlays button')].find(b => b.innerText === 'Prior').click()")
    until(lambda: not page.count(".stage svg[data-mine]"))  # it was drawn again
    since = page.run("return document.querySelector('.stage svg').style.getPropertyValue('--since')")
    assert float(since.removesuffix("ms")) < -1


def test_discs_of_othello_turn_and_the_old_side_is_gone(browser, address, motion):
    motion(False)
    page = Page(browser, address, "&game=othello" + PEOPLE)
    played(page, 4 * 8 + 5)
    assert page.count(".stage .turned") == page.count(".stage .was") == 1
    until(lambda: page.run("return document.getAnimations().every(one => one.playState === 'finished')"))
    assert page.run("return document.querySelector('.stage .was').getBoundingClientRect().width") < 1
    assert page.count(".stage .first") == 4


def test_the_stone_to_move_is_seen_under_the_pointer_where_it_would_lie(browser, address):
    page = Page(browser, address, "&game=connect4" + PEOPLE)
    over = browser.find_element("css selector", '.stage [data-point="3"]')
    webdriver.ActionChains(browser).move_to_element(over).perform()
    until(lambda: page.run(STYLE, ".stage .ghost", "visibility") == "visible")
    at = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert abs(page.run(at, ".stage .ghost") - page.run(at, '.stage [data-point="38"]')) < 20, "at the foot"
    webdriver.ActionChains(browser).move_to_element(page.all(".bar .name")[0]).perform()
    until(lambda: page.run(STYLE, ".stage .ghost", "visibility") == "hidden")


def test_a_hint_is_a_ring_on_the_board(browser, address):
    page = Page(browser, address, "&game=tictactoe&moves=a1 a3 b1 b3" + PEOPLE)
    page.press("what would the search play")
    until(lambda: page.count(".stage .hint"))
    assert page.run("return document.querySelector('.stage .hint').dataset.hint") in ("2", "8"), "a win"
    page.click(4)
    until(lambda: page.moves == 5)
    assert page.count(".stage .hint") == 0


def test_sounds_are_off_until_they_are_switched_on_and_that_is_remembered(browser, address):
    count = """window.tones = 0; const make = AudioContext.prototype.createOscillator;
        AudioContext.prototype.createOscillator = function () { window.tones++; return make.call(this); }"""
    page = Page(browser, address, "&game=tictactoe" + PEOPLE)
    try:
        page.run(count)
        played(page, 0)
        assert page.run("return window.tones") == 0
        page.press("sounds")
        until(lambda: page.run("return window.tones") == 1)
        page = Page(browser, address, "&game=tictactoe&moves=a1 a3 b2 b3" + PEOPLE)
        page.run(count)
        until(lambda: page.run("return document.querySelector('.sounds').getAttribute('aria-pressed')") == "true")
        played(page, 2)
        until(lambda: page.run("return window.tones") == 4)  # a stone and the end
    finally:
        page.run("localStorage.clear()")


def edit(page):
    page.press("files and text")
    page.press("set up a position")
    until(lambda: page.all(".set-up .point"))


def put(page, *points):
    for point in points:
        before = page.count(".set-up .stone")
        page.send_click(f'.set-up [data-point="{point}"]')
        until(lambda: page.count(".set-up .stone") != before)  # noqa: B023


def press(page, text):
    page.run("[...document.querySelectorAll('.editor button')].find(b => b.innerText === arguments[0]).click()", text)


def test_a_position_is_set_up_and_played_from(browser, address):
    page = Page(browser, address, "&game=gomoku" + PEOPLE)
    edit(page)
    put(page, 40, 41, 42, 43)
    press(page, "White")
    put(page, 0)
    put(page, 0)
    assert page.count(".set-up .stone") == 4, "a second click takes it off"
    put(page, 44)
    press(page, "White to move")
    press(page, "Play from here")
    until(lambda: page.count(".stage .stone") == 5)
    first, second = page.stones()
    assert (first, second) == ({40, 41, 42, 43}, {44}) and page.moves == 0 and "White to move" in page.status
    until(lambda: not page.count(".editor"))
    played(page, 39)
    assert page.stones()[1] == {44, 39}


def test_a_position_that_is_won_already_is_refused_with_one_line(browser, address):
    page = Page(browser, address, "&game=gomoku" + PEOPLE)
    edit(page)
    put(page, 40, 41, 42, 43, 44)
    press(page, "Play from here")
    until(lambda: "nobody has won" in page.text(".editor .note"))
    assert "\n" not in page.text(".editor .note") and page.count(".stage .stone") == 0
    page.press("clear the board")
    until(lambda: page.count(".set-up .stone") == 0)


def test_a_game_whose_positions_arise_by_moves_only_has_no_editor(browser, address):
    page = Page(browser, address, "&game=connect4" + PEOPLE)
    page.press("files and text")
    until(lambda: page.all(".moves-text"))
    assert not [e for e in page.all('button[aria-label^="set up"]') if e.is_displayed()]


def test_a_pass_keeps_its_place(browser, address):
    tools = "return document.querySelector('.tools').getBoundingClientRect().top"
    for game in ("othello(size=4)", "go(size=5)"):
        page = Page(browser, address, f"&game={game}" + PEOPLE)
        before = page.run(tools)
        page.run("document.querySelector('.others').replaceChildren()")
        assert page.run(tools) == before
        page.run("document.querySelector('.others').innerHTML = '<button class=\"q-btn\">pass</button>'")
        assert abs(page.run(tools) - before) < 1
