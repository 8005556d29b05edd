"""What screen readers hear in a real browser: the point under the cursor, a machine's move; and the list of keys."""

import pytest

from plugins.page.record_card import machine_moved
from plugins.page.table import Table
from plugins.page.tests.browser_page import CONNECT4, Page, needs_page
from support.browser import until

pytestmark = needs_page
chains = pytest.importorskip("selenium.webdriver.common.action_chains", reason="needs selenium to drive a browser")
UP, RIGHT, ENTER, ESCAPE = "\ue013", "\ue014", "\ue007", "\ue00c"


def test_a_machines_move_is_said_and_no_other():
    table = Table("connect4")
    table.load_text("44")
    assert machine_moved(table) == "Move 2: random played 4."
    table.go(1)
    assert machine_moved(table) == "", "an earlier position"
    table.go(2)
    table.play(0)
    assert machine_moved(table) == "", "a person's move"
    table.new()
    assert machine_moved(table) == ""


def test_the_point_under_the_cursor_is_said(browser, address):
    page, keys = Page(browser, address, "&game=gomoku&mode=play&first=you&second=you&moves=f5"), None
    keys = chains.ActionChains(browser)
    page.run("document.querySelector('.stage').focus()")
    assert page.count('.cursor-voice[aria-live="polite"]') == 1 and page.text(".cursor-voice") == ""
    for key, said in ((UP, "e5, empty"), (RIGHT, "f5, Black"), (UP, "f6, empty")):
        keys.send_keys(key).perform()
        until(lambda: page.text(".cursor-voice") == said)  # noqa: B023
    keys.send_keys(ENTER).perform()
    until(lambda: page.moves == 2 and page.text(".cursor-voice") == "f6, White")


def test_the_answer_of_a_machine_is_said(browser, address):
    page = Page(browser, address, CONNECT4 + "&mode=play&first=you&second=random")
    page.click(38)
    until(lambda: page.moves == 2)
    move = page.run("return document.querySelector('.moves [data-ply=\"2\"]').innerText")
    until(lambda: page.text('.record .voice[role="status"]').endswith(f" played {move}."))


def test_the_keys_are_listed_by_a_question_mark_but_not_while_one_types(browser, address):
    page = Page(browser, address, "&game=tictactoe&mode=play")
    press = "arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: '?', bubbles: true}))"
    page.press("files and text")
    field = until(lambda: page.all(".moves-text input"))[0]
    page.run(press, field)
    body = browser.find_element("tag name", "body")
    body.send_keys(ESCAPE)
    until(lambda: not page.count(".q-menu"))
    assert not page.count(".keys")
    page.run(press, body)
    until(lambda: "one move back or on" in page.text(".keys"))
    body.send_keys(ESCAPE)
    until(lambda: not page.count(".keys"))
