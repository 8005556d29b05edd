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
    go = one_file(page_parts("shipped", games.make("go(komi=7,size=9)")))
    assert len(go) < 3_000_000
    (place / "go.html").write_text(go, encoding="utf-8")
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


def test_territory_and_dead_stones_are_those_that_the_network_expects(browser, folder):
    """A game that GNU Go played against itself, and says which stones are dead at its end."""
    line = "j4.g2.j8.a1.d2.g3.b8.h5.b2.h7.c5.e6.d7.e7.d8.e8.e9.f9.d9.f8.e4.g9.f5.g6.e2.f2.f3.g4.f4.d5.d4.d6.c6.f6.f1.g1"
    seen = Page(browser, folder, "go", f"#moves={line}.e1.g5.e5&view=analyse")
    seen.press("Territory")
    seen.wait_for("leads by", ".analysis")
    owners = "return [...document.querySelectorAll('.owner')].map((one) => one.attributes.fill.value)"
    fills = until(lambda: seen.run(owners))
    assert len(fills) > 60 and len(set(fills)) == 2
    seen = Page(browser, folder, "go", f"#moves={line}.e1.g5.e5.pass&view=play")
    seen.press("Pass")
    seen.wait_for("3 dead stones.")
    at = "return [...document.querySelectorAll('.dead')].map(({ attributes: { cx, cy } }) => [cx.value, cy.value])"
    places = seen.run("return JSON.parse(document.getElementById('facts').textContent).drawing.places")
    found = {places.index([float(value) for value in place]) for place in seen.run(at)}
    assert found == {games.make("go(komi=7,size=9)").parse_move(name) for name in ("j8", "j4", "a1")}
    rows = "return [...document.querySelectorAll('.count tbody tr')].map((row) => row.innerText.split('\\t'))"
    assert seen.run(rows) == [["as it stands", "20", "26", "White +6"], ["without dead stones", "44", "44", "drawn"]]
    seen.press("Count")
    seen.wait_for("You lose.", ".ended")


def test_a_winning_search_is_proven(browser, folder):
    seen = Page(browser, folder, "connect4", "#moves=1.7.2.7.3.6&view=analyse")
    seen.wait_for("won for certain", ".analysis")
