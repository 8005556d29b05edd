"""The page in a real browser: whole games by clicking and by keyboard, the search, training, ten tabs, no outside."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from browsing import chromium, until

pytest.importorskip("nicegui", reason="the page needs nicegui")
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromium-driver"),
    pytest.mark.timeout(900),
]
CONNECT4 = "&view=play&game=connect4"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Return the address of a page whose runs are in an empty folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root = tmp_path_factory.mktemp("served")
    log = open(root / "log", "w+")  # noqa: SIM115
    command = [sys.executable, str(Path(__file__).with_name("serving.py")), str(root / "runs")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    server = subprocess.Popen(
        [*command, "serve", "--no-open", "--port", str(port)], stdout=log, stderr=subprocess.STDOUT, env=environment
    )
    try:
        yield until(lambda: re.findall(r"http://\S+", (root / "log").read_text()))[0]
        assert server.poll() is None
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)
        told = (root / "log").read_text()
        log.close()
    assert "Traceback" not in told, told


@pytest.fixture(scope="module")
def browser(address):
    driver = chromium()
    try:
        yield driver
        asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
        urls = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
        urls += [m["params"]["url"] for m in asked if m["method"] == "Network.webSocketCreated"]
        here = address.split("/?")[0].removeprefix("http://")
        assert len(urls) > 10 and any(url.startswith("ws:") for url in urls)
        outside = [u for u in urls if not re.match(rf"(http|ws)://{re.escape(here)}/|data:|blob:|about:", u)]
        assert not outside, "nothing is asked of other machines"
        severe = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        assert not severe
    finally:
        driver.quit()


class Page:
    """A tab, by what people see in it."""

    def __init__(self, browser, address, more=""):
        self.browser = browser
        browser.get(address + more)
        until(lambda: self.all(".stage svg, .learn"))

    def all(self, css):
        return self.browser.find_elements("css selector", css)

    def run(self, script, *values):
        return self.browser.execute_script(script, *values)

    def text(self, css):
        words = "map(e => e.innerText ?? e.textContent).join(' ')"
        return self.run(f"return [...document.querySelectorAll(arguments[0])].{words}", css)

    def count(self, css):
        return self.run("return document.querySelectorAll(arguments[0]).length", css)

    def press(self, label):
        until(lambda: [e for e in self.all(f'button[aria-label^="{label}"]') if e.is_displayed()])[0].click()

    def choose(self, label, option):
        """Pick an option of a list by what it reads."""
        field = until(lambda: [e for e in self.all(f'[aria-label="{label}"]') if e.is_displayed()])[0]
        self.pick(self.run("return arguments[0].closest('.q-field')", field), option)

    def pick(self, field, option):
        """Open a list and pick an option."""

        def shown():
            if not self.count(".q-menu .q-item"):
                self.run("arguments[0].querySelector('.q-field__control').click()", field)
                time.sleep(0.3)
            items = "[...document.querySelectorAll('.q-menu .q-item')]"
            return self.run(f"return {items}.find(e => e.innerText.startsWith(arguments[0]))", option)

        until(shown).click()
        until(lambda: not self.count(".q-menu .q-item"))

    def click(self, point):
        self.send_click(f'.stage [data-point="{point}"]')

    def send_click(self, css):
        """Click what is drawn as SVG."""
        click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        self.run(f"document.querySelector(arguments[0]).{click}", css)

    def stones(self):
        """The points that have stones, by side."""
        places = """const at = e => [+(e.getAttribute('cx') || 0), +(e.getAttribute('cy') || 0)];
        const near = (a, b) => Math.abs(a[0] - b[0]) < 5 && Math.abs(a[1] - b[1]) < 5;
        const middle = p => [+p.getAttribute('x') + 20, +p.getAttribute('y') + 20];
        const points = [...document.querySelectorAll('.stage .point')];
        return ['first', 'second'].map(side =>
            [...document.querySelectorAll(`.stage svg > .${side}`)].map(s =>
                +points.find(p => near(middle(p), at(s))).dataset.point))"""
        return [set(side) for side in self.run(places)]

    @property
    def status(self):
        return self.text(".status")

    @property
    def moves(self):
        return self.count(".moves button")


def answered(page, before):
    """Wait for the answer to a move; return whether the game goes on."""
    until(lambda: page.moves >= before + 2 or "wins" in page.status or "draw" in page.status)
    return "wins" not in page.status and "draw" not in page.status


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
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Random")
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
    page.send_click('.values [data-ply="1"]')
    until(lambda: "Move 1 of 4" in page.status)


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
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Person")
    until(lambda: page.count(".found tr[data-hover]") == 7 and page.text(".simulations") == "400")
    assert page.count(".stage .mark") == 0
    press = "[...document.querySelectorAll('.overlays button')].find(b => b.innerText === arguments[0]).click()"
    page.run(press, "Visits")
    until(lambda: page.count(".stage .mark") == 7)
    visits = page.text(".stage .mark text")
    page.run(press, "Q")
    until(lambda: page.text(".stage .mark text") != visits)
    assert re.fullmatch(r"([+-](1|\.\d\d) ?)+", page.text(".stage .mark text"))
    page.run(press, "None")
    until(lambda: page.count(".stage .mark") == 0)
    before = page.text(".found")
    page.run("[...document.querySelectorAll('button')].find(b => b.innerText.includes('Deepen')).click()")
    until(lambda: page.text(".simulations") == "1600")
    assert page.text(".found") != before
    page.click(3)
    until(lambda: page.text(".simulations") == "400" and page.moves == 1)
    assert page.count(".found tr[data-hover]") == 7
    row = until(lambda: page.all(".found tr[data-hover]"))[0]
    action = row.get_attribute("data-hover")
    webdriver.ActionChains(browser).move_to_element(page.all(".name")[0]).move_to_element(row).perform()
    until(lambda: page.count(f'.stage .line[data-line="{action}"][visibility="visible"]'))
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


def test_training_is_started_watched_stopped_and_gone_on_with(browser, address):
    page = Page(browser, address, "&view=learn")
    until(lambda: "no run yet" in page.status)
    pick(page, "game", "tictactoe")
    pick(page, "preset", "tiny")
    page.press("start a new run")
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
    page.press("go on with this run")
    until(lambda: page.count(dots) > stopped, 200)
    page.press("end at the next commit")
    until(lambda: "waiting" in page.status, 200)
    browse(page)


def pick(page, label, option):
    fields = "[...document.querySelectorAll('.learn .q-field')]"
    find = f"return {fields}.find(f => f.querySelector('.q-field__label')?.innerText === arguments[0])"
    page.pick(until(lambda: page.run(find, label)), option)


def browse(page):
    """Open a stored game on the board, as a part of the test above: it has a run."""
    page.run("[...document.querySelectorAll('.q-tab')].find(t => t.innerText === 'Games').click()")
    until(lambda: page.count("[data-game]"))
    page.send_click("[data-game]")
    until(lambda: page.moves >= 5 and "Move 0 of" in page.status)
    assert page.count(".stage .point") == 9
    assert page.count(".values .dot") >= 5, "the values of self-play"


def test_the_address_without_its_token_opens_nothing(browser, address):
    browser.get(address.split("?")[0])
    assert "needs the token" in browser.find_element("tag name", "body").text
    with contextlib.suppress(Exception):
        browser.get_log("browser")  # that the page was refused stands there
