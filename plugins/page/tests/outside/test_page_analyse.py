"""Walking through a game in Analyse in a real browser: single steps, the mouse wheel, tries, the search's lines."""

import pytest

from plugins.page.tests.browser_page import CONNECT4, Page, needs_page
from support.browser import until

pytestmark = needs_page
PEOPLE = "&first=you&second=you"
MACHINE = "&first=you&second=random"


def at(page, ply, count=4):
    """Wait until the position after `ply` moves is shown."""
    until(lambda: page.count(".stage .side > .stone") == ply)
    until(lambda: ply == count or f"Move {ply} of {count}" in page.status)


def pressed(page, *labels):
    for label in labels:
        page.press(label)


def test_the_buttons_go_to_either_end_and_by_single_moves(browser, address):
    page = Page(browser, address, f"{CONNECT4}{MACHINE}&moves=4453")
    for label, ply in (("one move back", 3), ("one move back", 2), ("one move on", 3), ("to the start", 0),
                       ("one move on", 1), ("to the end", 4)):  # fmt: skip
        page.press(label)
        at(page, ply)
    page.press("one move on")
    page.press("one move back")
    at(page, 3)
    page.send_click('.values [data-ply="1"]')
    at(page, 1)
    buttons = [e.get_attribute("aria-label") for e in page.all(".tools button") if e.is_displayed()]
    assert not [name for name in buttons if name.startswith(("undo", "redo"))], "in Analyse nothing is taken back"


WHEEL = """const [deltaY, deltaMode, ctrlKey] = arguments;
const e = new WheelEvent("wheel", {deltaY, deltaMode, ctrlKey, bubbles: true, cancelable: true});
document.querySelector(".stage svg").dispatchEvent(e); return e.defaultPrevented"""


def test_the_mouse_wheel_over_the_board_walks_and_a_touchpads_turns_add_up(browser, address):
    page = Page(browser, address, f"{CONNECT4}{MACHINE}&moves=4453")
    at(page, 4)
    assert page.run(WHEEL, -100), "the page stays where it is"
    at(page, 3)
    page.run(WHEEL, -3, 1)  # in lines
    at(page, 2)
    for _ in range(4):
        page.run(WHEEL, -15)
    at(page, 1)
    page.run(WHEEL, -15)
    page.run(WHEEL, 60)
    at(page, 2)
    assert not page.run(WHEEL, -100, 0, True), "with Ctrl it zooms"
    page.run(WHEEL, 120)
    at(page, 3)


@pytest.mark.parametrize("more", ["&moves=4453&mode=play", ""])
def test_where_there_is_nothing_to_walk_the_wheel_scrolls_the_page(browser, address, more):
    page = Page(browser, address, CONNECT4 + PEOPLE + more)
    assert not page.run(WHEEL, -100)
    assert page.moves == (4 if more else 0) and "Move" not in page.status


def back(page, ply):
    return [b for b in page.all(".record .back") if b.is_displayed() and f"Back to the game (move {ply})" in b.text]


def test_a_try_in_an_earlier_position_leads_back_to_the_game(browser, address):
    page = Page(browser, address, f"{CONNECT4}{PEOPLE}&moves=4453")
    at(page, 4)
    page.click(0)
    until(lambda: page.moves == 5)
    assert page.count(".record .back") and not back(page, 4), "a move at the end is a move of the game"
    game = page.stones()
    pressed(page, "one move back", "one move back", "one move back")
    at(page, 2, 5)
    page.click(6)
    until(lambda: page.moves == 3 and back(page, 2))
    page.click(6)
    until(lambda: page.moves == 4)
    page.press("to the start")
    at(page, 0)
    page.click(1)
    until(lambda: page.moves == 1 and back(page, 2))  # a try in a try leads to the game, too
    back(page, 2)[0].click()
    at(page, 2, 5)
    assert not back(page, 2)
    page.press("to the end")
    until(lambda: page.stones() == game)


def test_in_play_a_move_taken_back_is_taken_back(browser, address):
    page = Page(browser, address, f"{CONNECT4}{PEOPLE}&moves=4453&mode=play")
    page.press("undo")
    at(page, 3)
    page.click(6)
    until(lambda: page.moves == 4 and page.count(".stage .side > .stone") == 4 and "Move" not in page.status)
    assert not back(page, 3)


def searched(browser, address, more):
    page = Page(browser, address, CONNECT4 + more)
    until(lambda: page.text(".simulations") == "400")
    until(lambda: page.count(".main-line button"))
    return page


def test_the_main_line_is_walked_and_leads_back_to_the_game(browser, address):
    page = searched(browser, address, f"{MACHINE}&moves=4453")
    line = page.run("return [...document.querySelectorAll('.main-line button')].map(e => e.innerText)")
    assert page.text(".found tr[data-hover] td").split()[0] == line[0] and len(line) >= 2
    page.send_click('.main-line [data-walk="2"]')
    until(lambda: page.text(".moves button") == "4 4 5 3 " + " ".join(line[:2]))
    assert "thinking" not in page.status and page.run("return document.querySelector('.stage svg') !== null")
    until(lambda: page.count(".main-line button") and page.text(".simulations") == "400")
    page.send_click('.main-line [data-walk="1"]')
    until(lambda: page.moves == 7)
    back(page, 4)[0].click()
    until(lambda: page.text(".moves button") == "4 4 5 3")


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_a_row_of_the_table_tries_its_move(browser, address, way):
    page = searched(browser, address, f"{MACHINE}&moves=4453")
    row = '.found tr[data-hover="6"]'
    event = "new MouseEvent('click', {bubbles: true})" if way == "click" else (
        "new KeyboardEvent('keydown', {key: 'Enter', bubbles: true})")  # fmt: skip
    page.run(f"document.querySelector(arguments[0]).dispatchEvent({event})", row)
    until(lambda: page.text(".moves button") == "4 4 5 3 7" and back(page, 4))
    assert "waiting" in page.status, "the machine answers no try"
