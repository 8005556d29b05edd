"""The page on a phone: what comes first, what fits, and small points that are tapped twice."""

import time

import pytest

from plugins.page.tests.browser_page import Page, needs_page
from support.browser import until

pytestmark = needs_page


@pytest.fixture
def phone(browser):
    """Make the browser a phone for one test."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


PARTS = ".setup", ".players", ".stage", ".tools", ".record", ".opponents", ".inside"
BOXES = """return arguments[0].map(css => document.querySelector(css)).filter(e => e.checkVisibility())
    .map(e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom] })"""


@pytest.mark.parametrize("mode", ["play", "analyse"])
@pytest.mark.parametrize("game, moves", [("connect4", "44"), ("gomoku(rule=renju,size=15)", "h8 i9")])
def test_on_a_phone_the_game_comes_first_and_nothing_overlaps(phone, address, mode, game, moves):
    page = Page(phone, address, f"&game={game}&moves={moves}&mode={mode}&first=you&second=random&clock=5%2B3")
    until(lambda: page.count(".clock") == 2)
    until(lambda: mode == "play" or game != "connect4" or page.text(".simulations") == "400")
    boxes = page.run(BOXES, PARTS)
    assert len(boxes) == 6, "all but the other mode's"
    assert all(above[3] <= below[1] + 0.5 for above, below in zip(boxes, boxes[1:], strict=False))
    assert all(left >= 0 and right <= 390 for left, _, right, _ in boxes)
    assert page.run("return document.documentElement.scrollWidth") <= 390
    inner = page.run("""return [...document.querySelectorAll('main button, main .q-field, main svg')]
        .filter(e => e.checkVisibility()).map(e => [e.outerHTML.slice(0, 90), e.getBoundingClientRect().right])""")
    assert [name for name, right in inner if right > 390] == [], "nor is anything cut off"
    buttons = page.run("""return [...document.querySelectorAll('.tools button')].filter(e => e.checkVisibility())
        .map(e => e.getBoundingClientRect())""")
    assert len({round(b["top"]) for b in buttons}) == 1, "one toolbar of one row"
    assert all(b["width"] >= 24 and b["height"] >= 24 for b in buttons)


def test_the_first_board_of_a_game_that_is_prepared_fits(phone, address):
    page = Page(phone, address, "&game=tictactoe")
    page.run("""document.querySelector('main').innerHTML =
        '<div class="first-board"><svg viewBox="0 0 700 500" width="700" height="500"></svg></div>'""")
    box = page.run("return document.querySelector('.first-board svg').getBoundingClientRect()")
    assert 0 <= box["left"] and box["right"] <= 390 and abs(box["width"] / box["height"] - 1.4) < 0.01


def tap(page, point):
    """Touch a point of the board with a finger."""
    spot = page.run("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                    "return {x: r.left + r.width / 2, y: r.top + r.height / 2}",
                    f'.stage [data-point="{point}"]')  # fmt: skip
    page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [spot]})
    page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_small_points_are_tapped_twice(phone, address):
    page = Page(phone, address, "&game=gomoku(rule=renju,size=15)&mode=play&first=you&second=you")
    until(lambda: page.count(".tile") > 3)
    assert page.run("return document.querySelector('.stage .point').getBoundingClientRect().width") < 28
    tap(page, 112)
    until(lambda: page.count(".tap-ghost") == 1 and page.text(".note") == "Tap again to play h8.")
    tap(page, 50)
    until(lambda: page.count(".tap-ghost") == 1 and page.text(".note") == "Tap again to play f12.")
    assert page.moves == 0, "another point takes the ghost along"
    tap(page, 50)
    until(lambda: page.moves == 1 and page.stones() == [{50}, set()])
    until(lambda: page.count(".tap-ghost") == 0)
    time.sleep(0.5)  # a tap within 0.4 s of a move counts as the second of a double one
    tap(page, 50)
    until(lambda: page.text(".note") == "illegal move f12")
    assert page.count(".tap-ghost") == 0, "no stone can be there"


def test_large_points_are_tapped_once(phone, address):
    page = Page(phone, address, "&game=connect4&mode=play&first=you&second=you")
    until(lambda: page.count(".tile") > 3)
    tap(page, 38)
    until(lambda: page.moves == 1)
