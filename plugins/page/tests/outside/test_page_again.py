"""What a tab keeps when it is loaded anew, and what a hand does twice or too late."""

import pytest

from plugins.page.tests.browser_page import CONNECT4, Page, needs_page, people
from storage.game_files import PERSON
from support.browser import until

pytestmark = needs_page
chains = pytest.importorskip("selenium.webdriver.common.action_chains", reason="needs selenium to drive a browser")


def again(page):
    """Load the page anew, as it is in the address now."""
    page.run("document.body.dataset.old = 1")
    page.browser.refresh()
    until(lambda: page.all(".stage svg") and not page.run("return document.body.dataset.old"))


def test_a_game_is_picked_from_the_list_and_the_panel_of_files_opens_by_its_button_only(browser, address):
    page = Page(browser, address, CONNECT4)
    field = page.run("return document.querySelector('.setup .q-field')")
    page.pick(field, "Tic-tac-toe")
    until(lambda: page.count(".stage .point") == 9)
    assert not page.count(".moves-text")
    page.press("swap sides")
    assert not page.count(".moves-text")
    page.press("files and text")
    until(lambda: page.count(".moves-text"))


def test_seats_and_a_resignation_outlive_a_reload(browser, address):
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Rollouts")
    page.choose("level 2", "25 sims")
    page.press("swap sides")
    until(lambda: page.moves == 1 and page.status == "Yellow to move")
    again(page)
    until(lambda: page.moves == 1 and page.status == "Yellow to move")
    assert "25 sims" in page.run("return document.querySelector('.seat').innerText")
    page.click(5 * 7 + 3)
    until(lambda: page.moves == 3 and page.status == "Yellow to move")
    page.give_up()
    until(lambda: page.status == "Red wins. The other side resigned.")
    again(page)
    until(lambda: page.moves == 3 and page.status == "Red wins. The other side resigned.")
    for ply in (2, 1):
        page.press("one move back")
        until(lambda: f"Move {ply} of 3" in page.status)  # noqa: B023
    assert "Yellow to move" in page.status


def test_seats_that_are_not_offered_are_left_empty_by_the_address(browser, address):
    page = Page(browser, address, CONNECT4 + "&first=human&second=alphabeta:9@<b>&resigned=third")
    until(lambda: page.status == "Red to move")
    assert "Alpha-beta" not in page.text(".seat")


def test_a_game_that_is_not_on_the_list_can_be_loaded_anew(browser, address, tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[1]FF[4]SZ[13]KM[7.5];B[dd];W[jj])")
    page = Page(browser, address, CONNECT4)
    page.press("files and text")
    until(lambda: page.all('input[type="file"]'))[0].send_keys(str(file))
    until(lambda: page.count(".stage .point") == 169)
    again(page)
    until(lambda: page.count(".stage .point") == 169 and page.moves == 2)
    page.run("[...document.querySelectorAll('.q-tab')].find(t => t.innerText === 'Games').click()")
    until(lambda: page.count('[aria-label="read again"]'))


def test_a_double_click_is_one_move(browser, address):
    page = people(browser, address, CONNECT4)
    stage = page.all(".stage")[0]  # what is in it is drawn anew while the search is at work
    chains.ActionChains(browser).double_click(stage).perform()
    until(lambda: page.moves == 1 and page.status == "Yellow to move")
    page.click(37)
    until(lambda: page.moves == 2)


def test_a_click_on_a_board_that_is_no_longer_there_plays_nothing(browser, address):
    page = people(browser, address, CONNECT4)
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    page.run(f"const p = document.querySelector('.stage [data-point=\"38\"]'); p.{click}; p.{click}")
    until(lambda: page.moves == 1)
    page.click(37)
    until(lambda: page.moves == 2)
    assert page.stones() == [{38}, {37}]


def test_the_arrows_walk_through_the_game_after_a_click_on_the_board(browser, address):
    """A click leaves the keyboard to the page, as Tab alone brings it to the board."""
    page = Page(browser, address, f"&game=gomoku&mode=play&first={PERSON}&second={PERSON}&moves=e5 d4 e6 d5")
    page.run("document.activeElement.blur()")
    until(lambda: page.moves == 4)
    square = page.all(".stage .point")[0]
    chains.ActionChains(browser).click(square).perform()
    until(lambda: page.moves >= 5)
    assert not page.run("return document.activeElement === document.querySelector('.stage')")
    before = page.moves
    browser.find_element("tag name", "body").send_keys("\ue012")  # left
    here = "return +document.querySelector('.moves .here')?.dataset.ply"
    until(lambda: 0 < (page.run(here) or 0) < before)
    assert page.count(".stage .cursor") == 0


def test_the_list_of_moves_follows_the_game(browser, address):
    points = [f"{column}{row}" for row in range(1, 5) for column in "abcdefghi"]  # no five in a row
    more = f"&game=gomoku&mode=play&first={PERSON}&second={PERSON}&moves="
    page = Page(browser, address, more + " ".join(points))
    until(lambda: page.moves == len(points))
    seen = """const list = document.querySelector(".moves"), box = list.getBoundingClientRect();
        const here = list.querySelector(".here").getBoundingClientRect();
        return list.scrollHeight > list.clientHeight && here.top >= box.top - 1 && here.bottom <= box.bottom + 1"""
    until(lambda: page.run(seen))
    keys = browser.find_element("tag name", "body")
    keys.send_keys("\ue011")  # home
    keys.send_keys("\ue014")  # right
    until(lambda: page.run("return document.querySelector('.moves .here')?.dataset.ply === '1'"))
    until(lambda: page.run(seen))
