"""The page in a real browser: whole games by clicking and by keyboard, the search, training, ten tabs, no outside."""

import contextlib
import re
import shutil
import time

import pytest

from plugins.page.run_reader import iterations, stored_game
from plugins.page.tests.browser_page import CONNECT4, Page, answered, needs_page
from support.browser import until

pytestmark = needs_page
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")


def test_a_whole_game_of_connect4_is_played_by_clicking(browser, address):
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Random")
    goes_on, columns = True, 0
    while goes_on:
        first, second = page.stones()
        taken = first | second
        column = next(c % 7 for c in range(columns, columns + 7) if c % 7 not in taken)  # the top row
        before = page.moves
        page.click(column)
        goes_on = answered(page, before)
        columns += first == set() or len(first) % 4 == 0
    first, second = page.stones()
    assert len(first) - len(second) in (0, 1) and len(first) >= 4
    assert page.count(".stage .won") >= 4 or "draw" in page.status
    page.click(0)
    assert "over" in until(lambda: page.text(".note"))


def test_a_whole_game_of_gomoku_is_played_by_clicking(browser, address):
    page = Page(browser, address, "&game=gomoku")
    page.choose("player 2", "Random")
    goes_on = True
    lines = [[9 * r + c for c in range(9)] for r in range(9)]
    while goes_on:
        first, second = page.stones()
        free = [p for line in sorted(lines, key=lambda line: -len(first & set(line))) for p in line]
        point = next(p for p in free if p not in first | second)
        before = page.moves
        page.click(point)
        goes_on = answered(page, before)
    first, second = page.stones()
    assert len(first) - len(second) in (0, 1) and len(first) >= 5
    assert page.count(".stage .won") >= 5


def test_undo_redo_and_arrows_walk_through_the_game(browser, address):
    page = Page(browser, address, CONNECT4 + "&mode=play&first=you&second=random")
    for column in (3, 2):
        before = page.moves
        page.click(column)
        until(lambda: page.moves == before + 2)  # noqa: B023
    whole = page.stones()
    page.press("undo")
    until(lambda: sum(map(len, page.stones())) == 2)
    assert "Move 2 of 4" in page.status
    page.press("redo")
    until(lambda: page.stones() == whole)
    keys = browser.find_element("tag name", "body")
    keys.send_keys("\ue012")  # left
    until(lambda: "Move 3 of 4" in page.status)
    keys.send_keys("\ue011")  # home
    until(lambda: sum(map(len, page.stones())) == 0)
    keys.send_keys("\ue014")  # right
    until(lambda: "Move 1 of 4" in page.status)
    keys.send_keys("\ue010")  # end
    until(lambda: page.stones() == whole)


def test_a_game_waits_for_a_browser_that_was_out_of_reach(browser, address):
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Person")
    page.click(3)
    until(lambda: page.moves == 1)
    page.run("window.sameTab = true; window.socket.disconnect()")
    time.sleep(12)  # longer than a page is kept by itself
    page.run("window.socket.io.opts.query.next_message_id = window.nextMessageId; window.socket.connect()")
    page.click(3)
    until(lambda: page.moves == 2)
    until(lambda: page.text(".simulations") == "400")
    assert page.run("return window.sameTab"), "it was not loaded anew"
    stones = page.stones()
    browser.refresh()
    until(lambda: page.all(".stage svg") and page.moves == 2)
    assert page.stones() == stones and not page.run("return window.sameTab"), "what is loaded anew is the same game"


def test_an_illegal_click_says_why_and_changes_nothing(browser, address):
    page = Page(browser, address, CONNECT4 + "&moves=111111")
    until(lambda: page.moves == 6)
    page.choose("player 2", "Person")
    page.click(0)
    assert "illegal move 1 (legal: 2 3 4 5 6 7)" in until(lambda: page.text(".note"))
    assert page.moves == 6
    page = Page(browser, address, "&game=gomoku&moves=e5")
    page.choose("player 2", "Person")
    page.click(4 * 9 + 4)
    assert "illegal move e5" in until(lambda: page.text(".note"))


def test_the_overlay_and_the_table_follow_the_search(browser, address):
    from selenium.common.exceptions import StaleElementReferenceException

    page = Page(browser, address, CONNECT4 + "&first=you&second=you")
    until(lambda: page.count(".found tr[data-hover]") == 7 and page.text(".simulations") == "400")
    press = "[...document.querySelectorAll('.overlays button')].find(b => b.innerText === arguments[0]).click()"
    marks = ".stage .mark text"
    until(lambda: page.count(".stage .mark") == 7 and re.fullmatch(r"(\d+ ?)+", page.text(marks)))  # visits at first
    page.run(press, "Q")
    until(lambda: re.fullmatch(r"([+-](1|\.\d\d) ?)+", page.text(marks)))
    page.run(press, "None")
    until(lambda: page.count(".stage .mark") == 0)
    before = page.text(".found")
    page.run("[...document.querySelectorAll('button')].find(b => b.innerText.includes('Deepen')).click()")
    until(lambda: page.text(".simulations") == "1600" and page.text(".found") != before)
    page.click(3)
    until(lambda: page.text(".simulations") == "400" and page.moves == 1)
    until(lambda: page.count(".found tr[data-hover]") == 7)

    def line_is_shown():
        """Point at the first row; the table is drawn again when the solver's values come, whenever that is."""
        with contextlib.suppress(StaleElementReferenceException):
            row = until(lambda: page.all(".found tr[data-hover]"))[0]
            action = row.get_attribute("data-hover")
            webdriver.ActionChains(browser).move_to_element(page.all(".name")[0]).move_to_element(row).perform()
            return page.count(f'.stage .line[data-line="{action}"][visibility="visible"]')

    until(line_is_shown)
    page.press("what would the search play")
    assert "The search would play" in until(lambda: page.text(".note"))


def test_a_game_can_be_played_with_the_keyboard_only(browser, address):
    page = Page(browser, address, CONNECT4)
    keys = webdriver.ActionChains(browser)
    for _ in range(30):
        keys.send_keys("\ue004").perform()
        if page.run("return document.activeElement.classList.contains('stage')"):
            break
    else:
        pytest.fail("the board cannot be reached")
    before = page.moves
    keys.send_keys("\ue014\ue014\ue012").perform()
    assert page.count(".stage .point.cursor") == 1
    column = int(page.run("return document.querySelector('.stage .point.cursor').dataset.action"))
    keys.send_keys("\ue007").perform()
    until(lambda: page.moves == before + 2)
    assert 5 * 7 + column in page.stones()[0]
    assert page.run("return document.activeElement.classList.contains('stage')"), "the board keeps the focus"


def test_names_from_outside_are_text_and_lead_nowhere(browser, address):
    page = Page(browser, address, "&game=../../etc/passwd&moves=<img src=x onerror=window.bad=1>")
    assert page.count(".stage .point") == 42, "the game the server was started with"
    assert "expected" in until(lambda: page.text(".note"))
    assert page.run("return window.bad === undefined && !document.querySelector('main img')")


def test_ten_tabs_each_have_a_game_of_their_own(browser, address):
    first = browser.current_window_handle
    tabs = []
    try:
        for i in range(10):
            browser.switch_to.new_window("tab")
            tabs.append(browser.current_window_handle)
            page = Page(browser, address, CONNECT4 + "&moves=" + "1" * (i % 3 * 2))
        for i, tab in enumerate(tabs):
            browser.switch_to.window(tab)
            page.click(7 * 5 + i % 7)
        for i, tab in enumerate(tabs):
            browser.switch_to.window(tab)
            until(lambda: page.moves == i % 3 * 2 + 2)  # noqa: B023
            until(lambda: page.count(".found tr[data-hover]"))
    finally:
        for tab in tabs:
            browser.switch_to.window(tab)
            browser.close()
        browser.switch_to.window(first)


def test_training_is_started_watched_stopped_and_gone_on_with(browser, address, served):
    page = Page(browser, address, "&view=training")
    until(lambda: "no run yet" in page.status)
    pick(page, "game", "Tic-tac-toe")
    pick(page, "preset", "tiny")
    page.press("start a new run")
    until(lambda: "starting" in page.status)
    until(lambda: "starting" not in page.status, 200)
    assert "iteration 1" in page.status, "and in between nothing else was told"
    dots = '[data-curve="self_play_plies"] .dot'
    until(lambda: page.count(dots) >= 2, 200)
    grown = page.count(dots)
    until(lambda: page.count(dots) > grown, 200)
    assert "tictactoe/run0001" in page.run("return [...document.querySelectorAll('.learn .q-field')][0].innerText")
    until(lambda: page.count(".small-board .stone") > 0)
    until(lambda: "iteration" in page.text(".log"))
    page.press("end at the next commit")
    until(lambda: "waiting" in page.status, 200)
    stopped = page.count(dots)
    page.press("continue this run")
    until(lambda: page.count(dots) > stopped, 200)
    page.press("end at the next commit")
    until(lambda: "waiting" in page.status, 200)
    compare(page, served / "runs" / "tictactoe")
    browse(page, served / "runs" / "tictactoe" / "run0001")


def compare(page, folder):
    """Lay another run beside this one, as a part of the test above: a copy of it."""
    shutil.copytree(folder / "run0001", folder / "run0002")
    charts = "return document.querySelectorAll('[data-curve=self_play_plies] .curve').length"
    until(lambda: "run0002" in page.run("return document.querySelector('.learn .q-field').innerText"))
    assert page.run(charts) == 1
    pick(page, "compare with", "tictactoe/run0001")
    until(lambda: page.run(charts) == 2)
    chart = page.text('[data-curve="self_play_plies"]')
    assert "tictactoe/run0001" in chart and "tictactoe/run0002" in chart


def pick(page, label, option):
    fields = "[...document.querySelectorAll('.learn .q-field')]"
    find = f"return {fields}.find(f => f.querySelector('.q-field__label')?.innerText === arguments[0])"
    page.pick(until(lambda: page.run(find, label)), option)


def browse(page, folder):
    """Open a stored game on the board, as a part of the test above: it has a run."""
    page.run("[...document.querySelectorAll('.q-tab')].find(t => t.innerText === 'Games').click()")
    until(lambda: page.count("[data-game]"))
    index = int(page.run("return document.querySelector('[data-game]').dataset.game"))
    stored = stored_game(folder, iterations(folder)[0], index)
    page.send_click("[data-game]")
    until(lambda: page.moves == len(stored.record.moves) and "Move 0 of" in page.status)
    assert page.count(".stage .point") == 9
    assert page.count(".values .dot") == len(stored.values) > 0, "the values of self-play, none at random moves"


def test_the_address_without_its_token_opens_nothing(browser, address):
    browser.get(address.split("?")[0])
    assert "needs the token" in browser.find_element("tag name", "body").text
    with contextlib.suppress(Exception):
        browser.get_log("browser")  # that the page was refused stands there
