"""What stays in its place in a real browser, whatever the page says; and what the browser remembers of its looks."""

from urllib.parse import quote

import pytest

from plugins.page.tests.browser_page import CONNECT4, Page, needs_page
from support.browser import until

pytestmark = needs_page
pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")

SIZE = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
BOX = "const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.x, r.y, r.width, r.bottom]"
LOST = "443632441114662377327526664352372755"
"""A game of Connect 4 to its end."""


@pytest.fixture
def laptop(browser):
    """A window of 1280 x 800."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_line_below_the_board_moves_nothing_and_is_seen(laptop, address):
    page = Page(laptop, address, CONNECT4 + "&mode=play&first=you&second=you&moves=444444")
    until(lambda: page.count(".tile") > 3)
    before = page.run(BOX, ".stage")
    page.click(3)
    until(lambda: "illegal move 4" in page.text(".note"))
    assert page.run(BOX, ".stage") == before and page.run(BOX, ".note")[3] <= 800
    page = Page(laptop, address, CONNECT4 + f"&mode=play&first=you&second=you&moves={LOST}")
    until(lambda: page.text(".result"))
    assert page.run(BOX, ".stage") == before, "nor do panels that are longer than the window"


def test_the_board_stays_in_sight_of_the_search(laptop, address):
    page = Page(laptop, address, CONNECT4 + f"&mode=analyse&first=you&second=you&moves={LOST}")
    until(lambda: page.text(".result"))
    page.run("document.querySelector('.inside').scrollIntoView()")
    until(lambda: page.run("return scrollY") > 100)
    top, bottom = page.run(BOX, ".stage")[1], page.run(BOX, ".tools")[3]
    assert top >= 0 and bottom <= 800


def test_a_tip_covers_neither_what_is_told_nor_the_menu(laptop, address):
    from selenium.webdriver.common.action_chains import ActionChains

    laptop.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE | {"width": 1050})  # room below the toolbar
    page = Page(laptop, address, CONNECT4 + "&mode=play&first=you&second=you")
    shown = """return [...document.querySelectorAll('.q-tooltip')].filter(e => e.checkVisibility())
        .filter(e => e.innerText.startsWith(arguments[0])).map(e => e.getBoundingClientRect().bottom)"""
    for label in ("what would the search play", "files and text"):
        button = until(lambda: [e for e in page.all(f'button[aria-label^="{label}"]') if e.is_displayed()])[0]  # noqa: B023
        ActionChains(laptop).move_to_element(button).perform()
        until(lambda: page.run(shown, label))  # noqa: B023
        assert page.run(shown, label)[0] <= page.run(BOX, ".tools")[1] + 8
    button.click()
    until(lambda: page.count(".q-menu .moves-text"))
    until(lambda: not page.run(shown, "files and text"))


def test_light_or_dark_is_remembered_with_its_scroll_bars(browser, address):
    scheme = """return [document.body.classList.contains('body--dark'),
        getComputedStyle(document.documentElement).colorScheme]"""
    try:
        page = Page(browser, address, CONNECT4)
        assert page.run(scheme)[0] is False
        page.press("light or dark")
        until(lambda: page.run(scheme) == [True, "dark"])
        page = Page(browser, address, CONNECT4 + "&language=zh")
        until(lambda: page.run(scheme) == [True, "dark"])
        page.press("浅色或深色")
        until(lambda: page.run(scheme)[0] is False)
        assert browser.get_cookie("scheme")["value"] == "light"
    finally:
        browser.delete_cookie("scheme")


def test_choices_are_remembered_by_a_browser_that_a_file_leads_to_the_page(browser, address):
    door = f'<meta http-equiv="refresh" content="0; url={address}{CONNECT4}">'  # as `serve` starts the browser
    try:
        page = Page(browser, address, CONNECT4)
        page.press("light or dark")
        until(lambda: browser.get_cookie("scheme"))
        until(lambda: [b for b in page.all("button") if b.text == "中文"])[0].click()
        until(lambda: page.text(".status").startswith("轮到"))
        browser.get("data:text/html," + quote(door))
        until(lambda: page.text(".status").startswith("轮到"))
        assert page.run("return document.body.classList.contains('body--dark')")
        assert "language" not in browser.current_url
        until(lambda: [b for b in page.all("button") if b.text == "English"])[0].click()
        until(lambda: browser.get_cookie("language")["value"] == "en")
    finally:
        browser.delete_cookie("scheme")
        browser.delete_cookie("language")


def test_a_lost_connection_is_told_in_the_language_of_the_tab(browser, address):
    page = Page(browser, address, CONNECT4 + "&language=zh")
    words = page.run("const box = document.getElementById('popup'); return [box.getAttribute('role'), box.textContent]")
    assert words[0] == "alert" and words[1].split() == ["连接已断开。", "正在重新连接……"]
