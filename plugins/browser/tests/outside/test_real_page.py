"""The page around the engine of a player that ships: it plays, searches and says what it is."""

import pytest

import games
from plugins.browser.assemble import one_file
from plugins.browser.player import page_parts
from plugins.browser.tests.outside.test_browser_page import Page
from support.browser import chromium, needs_browser, until

pytestmark = needs_browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    game, place = games.make("connect4"), tmp_path_factory.mktemp("real")
    data = page_parts("shipped", game)
    page = one_file(data)
    assert len(page) < 2_000_000, "Connect 4 is under 2 MB"
    (place / "connect4.html").write_text(page, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def browser():
    driver = chromium()
    try:
        yield driver
        assert not [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
    finally:
        driver.quit()


def test_it_answers_blocks_and_says_what_it_is(browser, folder):
    seen = Page(browser, folder, "connect4", "#moves=1.7.2.7&view=play")
    seen.click(37)  # a third in a row at the bottom, which is open on one side
    until(lambda: seen.stones == 6)
    seen = Page(browser, folder, "connect4", "#moves=1.7.2.7.3&view=analyse")
    until(lambda: seen.count(".found tbody tr") and seen.count("[data-key=deepen]"))
    assert seen.text(".found tbody tr:first-child td:first-child") == "4"
    seen.press("Show the tree")
    until(lambda: seen.count(".tree .node") > 8)
    visits = "return document.querySelector(arguments[0]).getAttribute('aria-label').match(/([\\d,]+) visits/)[1]"
    assert seen.run(visits, ".node[data-node='3']") == seen.text(".found tbody tr:first-child td:nth-child(2)")
    seen.press("Menu")
    seen.press("About this player")
    about = seen.text("dialog")
    assert "ships with the program, version 34" in about and "Elo 1,423" in about and "solved positions" in about


def test_a_winning_search_is_proven(browser, folder):
    seen = Page(browser, folder, "connect4", "#moves=1.7.2.7.3.6&view=analyse")
    seen.wait_for("won for certain", ".analysis")
