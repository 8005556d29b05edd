"""The page in a real browser: versions of a run side by side, the growing tree, small boards of games, limits."""

import re
import shutil

import pytest

from plugins.page.run_reader import list_games
from plugins.page.tests.browser_page import Page, needs_page
from support.browser import until

pytestmark = needs_page
NAME = "tictactoe/run0077"
LEFT = "\ue012"


@pytest.fixture
def learned(trained, served):
    """Return the folder of a run of four iterations that the page has; it goes after the test."""
    folder = served / "runs" / "tictactoe" / "run0077"
    shutil.copytree(trained, folder)
    yield folder
    shutil.rmtree(folder)


def training(browser, address, name=NAME):
    """Open the training view and display a run."""
    page = Page(browser, address, "&view=training")
    until(lambda: name in page.run("return document.querySelector('.displayed .q-field')?.innerText ?? ''"))
    return page


def field(page, label):
    find = "[...document.querySelectorAll('.q-field')].find(f => f.innerText.startsWith(arguments[0]))"
    return until(lambda: page.run(f"return {find}", label))


def test_versions_stand_side_by_side_with_milestones_and_one_is_played_against(browser, address, learned):
    page = training(browser, address)
    until(lambda: page.all(".watch .q-item"))[0].click()
    until(lambda: "5 versions" in page.text(".watch .soft"))
    shown = "return [...document.querySelectorAll('.versions [data-version]')].map(e => +e.dataset.version)"
    assert page.run(shown) == [0, 1, 2, 3, 4] and page.text(".version-here") == "version 4"
    assert page.count(".versions svg .mark") > 5 * 5, "a policy on each board"
    assert re.search(r"value for X [+-]\d\.\d\d", page.text(".watch .look"))
    assert page.count('.watch .chart .dot') == 2 * 5 and page.count(".watch .chart .here") == 1
    told = page.text(".watch .milestones") or page.text(".watch")
    assert re.search(r"version \d (already )?\w|none yet", told)
    slider = page.all('.watch .q-slider [tabindex="0"], .watch .q-slider[tabindex="0"]')[0]
    slider.send_keys(LEFT)
    until(lambda: page.text(".version-here") == "version 3")
    click = "document.querySelector('.versions [data-version=\"0\"]').click()"
    until(lambda: page.run(click) or page.text(".version-here") == "version 0")  # the slider may still tell its value
    assert page.run("return document.querySelector('.versions [aria-pressed=true]').dataset.version") == "0"
    find = "[...document.querySelectorAll('.watch button')].find(b => b.innerText.includes('Play version 0'))"
    page.run(f"{find}.click()")
    until(lambda: page.count(".stage .point") == 9 and "run0077" in page.run("return document.body.innerText"))
    page.click(4)
    until(lambda: page.moves == 2)


def test_another_position_is_looked_at(browser, address, learned):
    page = training(browser, address)
    until(lambda: page.all(".watch .q-item"))[0].click()
    until(lambda: "5 versions" in page.text(".watch .soft"))
    before = page.text(".watch .look")
    page.pick(page.all(".watch .q-field")[0], "a win in one to stop")
    until(lambda: "5 versions" in page.text(".watch .soft") and page.text(".watch .look") not in ("", before))
    assert page.count(".watch .small-board .stone") >= 3


def test_the_tree_grows_a_simulation_at_a_time(browser, address, learned):
    page = Page(browser, address, "&game=tictactoe&moves=b2&mode=analyse")
    until(lambda: page.all(".growing .q-item"))[0].click()
    until(lambda: page.text(".growing [role=status]") == "simulation 1")
    for number in (2, 3, 4):
        page.press("one simulation on")
        until(lambda: page.text(".growing [role=status]") == f"simulation {number}")  # noqa: B023
        assert f"N {number}" in page.text(".growing .root") and page.count(".growing .new") >= 1
    four = page.run("return document.querySelector('.growing .tree-picture').outerHTML")
    page.press("one simulation back")
    until(lambda: "N 3" in page.text(".growing .root"))
    page.press("one simulation on")
    until(lambda: page.run("return document.querySelector('.growing .tree-picture').outerHTML") == four)
    page.press("let the tree grow")
    until(lambda: int(page.text(".growing [role=status]").split()[-1]) >= 6)
    page.press("let the tree grow")
    page.press("to the first simulation")
    until(lambda: "N 1" in page.text(".growing .root"))
    page.press("one move back")
    until(lambda: not page.count(".stage .side > .stone") and page.text(".growing [role=status]") == "simulation 1")


def test_games_are_small_boards_that_filters_choose_from(browser, address, learned):
    page = Page(browser, address, "&view=games")
    page.pick(field(page, "run"), NAME)
    found = list_games(learned, 4, "self-play")[1]
    until(lambda: page.count("[data-game] svg") == min(24, len(found)))
    draws = [game for game in found if game.result == 0]
    page.pick(field(page, "result"), "draw" if draws else "first won")
    wanted = draws or [game for game in found if game.result > 0]
    until(lambda: page.text(".boards").count("A draw" if draws else "X wins") == min(24, len(wanted)))
    assert page.count("[data-game]") == min(24, len(wanted))
    page.pick(field(page, "result"), "any result")
    page.pick(field(page, "iteration"), "all")
    page.pick(field(page, "version"), "2")
    of_two = [game for game in list_games(learned, 0, "self-play")[1] if game.versions == (2,)]
    until(lambda: f"{len(of_two)} games" in page.text("[role=status]"))
    least = field(page, "moves from").find_element("css selector", "input")
    least.send_keys("9")
    long = [game for game in of_two if len(game.moves) >= 9]
    until(lambda: (f"{len(long)} games" if long else "no games") in page.text("[role=status]"))


def test_the_preset_follows_the_game_and_a_limit_is_a_minute_at_least(browser, address, learned):
    page = training(browser, address)
    page.pick(field(page, "game"), "Connect 4")
    until(lambda: "laptop" in field(page, "preset").text)
    page.pick(field(page, "game"), "Tic-tac-toe")
    until(lambda: "tiny" in field(page, "preset").text)
    limit = field(page, "minutes at most").find_element("css selector", "input")
    limit.send_keys("0.5")
    page.press("start a new run")
    until(lambda: "A limit is at least 1 minute." in page.text(".learn .note"))
    assert "Nothing is being trained." in page.text(".at-work")


def test_curves_are_in_order_of_weight_and_the_rest_is_folded(browser, address, learned):
    page = training(browser, address)
    until(lambda: page.count(".charts .chart"))
    seen = "return [...document.querySelectorAll('[data-curve]')].filter(e => e.offsetHeight).map(e => e.dataset.curve)"
    first = page.run(seen)
    assert first[0] == "elo" and set(first) <= {
        "elo", "score_kept_alone", "score_kept", "retrain_policy_loss", "retrain_value_loss"
    }  # fmt: skip
    button = "[...document.querySelectorAll('button')].find(b => b.innerText.includes(arguments[0]))"
    page.run(f"{button}.click()", "More curves")
    until(lambda: len(page.run(seen)) > len(first))
    assert page.run(f"return {button}.ariaExpanded ?? {button}.getAttribute('aria-expanded')", "Fewer curves") == "true"
    page.run(f"{button}.click()", "Fewer curves")
    until(lambda: page.run(seen) == first)
