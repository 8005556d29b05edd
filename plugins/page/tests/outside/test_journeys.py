"""The server's page as people use it, in Chromium and in Firefox: home, a game, own games, training, versions.

One server is started for all, and one browser of each kind. Axe is a program of its own, see test_browser_page.py.
"""

import re
import signal

import pytest

from plugins.browser.tests.outside.test_browser_page import AXE, RUN, Page, only_chromium
from plugins.page.tests.page_server import opened
from support.browser import chromium, needs_browser, until
from support.firefox import Firefox, needs_firefox

pytestmark = needs_browser
WIDTHS = {"light": 390, "dark": 1280}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Return the address of a server whose runs lie in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHAZERO_RUNS", str(tmp_path_factory.mktemp("runs")))
        server, found = opened("--game", "tictactoe")
    yield found
    server.send_signal(signal.SIGINT)
    server.wait(60)


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=needs_firefox)])
def browser(request, address):
    driver = chromium() if request.param == "chromium" else Firefox()
    try:
        driver.get(address)  # from here on the cookie is enough
        yield driver
        if request.param == "chromium":
            assert not [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        else:
            assert not driver.errors
            place = address.split("/?")[0]
            assert not [url for url in driver.asked if not url.startswith((place, "data:", "blob:", "about:"))]
    finally:
        driver.quit()


class Served(Page):
    """A page of the server, by its path."""

    def __init__(self, browser, address, path):
        self.browser, self.place = browser, address.split("/?")[0]
        self.go(path)

    def go(self, path):
        self.browser.get("about:blank")
        self.browser.get(self.place + path)

    def ready(self):
        until(lambda: self.run("return document.documentElement?.dataset.ready !== undefined"))


def test_a_game_from_its_tile_to_the_list_of_own_games(browser, address):
    seen = Served(browser, address, "/")
    seen.run("localStorage.clear()")
    seen.go("/")
    until(lambda: seen.count(".group.now a.game") > 3)
    seen.run("[...document.querySelectorAll('a.game')].find((a) => a.href.endsWith('/play/connect4')).click()")
    seen.ready()
    seen.click(38)
    until(lambda: seen.stones == 2)
    before = seen.moves
    browser.get(seen.place + "/play/connect4")  # a reload continues the game
    seen.ready()
    until(lambda: seen.moves == before)
    seen.lose()
    assert "You lose." in seen.text(".ended")
    seen.go("/games?kind=mine")
    until(lambda: seen.count("a.stored") == 1)
    assert "Yellow won" in seen.text("a.stored")
    seen.run("document.querySelector('a.stored').click()")
    seen.ready()
    until(lambda: seen.moves == before and seen.count(".found"))
    seen.go("/games?kind=mine")
    seen.press("Delete all")
    seen.press("Delete")
    until(lambda: not seen.count("a.stored"))


def test_a_player_that_only_the_server_has_answers(browser, address):
    seen = Served(browser, address, "/play/tictactoe")
    seen.ready()
    until(lambda: seen.count(".opponents [data-key=Other]"))
    named = """return [...document.querySelectorAll('[data-key=Other] option')]
        .find((one) => one.text.includes(arguments[0])).value"""
    players = ("Random", None, ""), ("Rollouts", "33", "33 simulations"), ("Alpha-beta", "2", "2 plies")
    for who, typed, said in players:
        seen.set(".opponents [data-key=Other]", seen.run(named, who))
        seen.press("First")
        if typed:
            seen.set(".budget", "99999")
            assert seen.text(".budget-said").startswith("Expected 1 to "), who
            seen.set(".budget", typed)
            assert said in seen.text(".strip")
        seen.click(4)
        until(lambda: seen.stones == 2)
        seen.press("New game")
        seen.press("New game")
        until(lambda: seen.stones == 0)


def play_against_and_look_at_a_game(seen, point, stored):
    """Play a move against the version that is looked at, then open a game out of a list."""
    seen.run("document.querySelector('[data-key=against]').click()")
    seen.ready()
    seen.click(point)
    until(lambda: seen.stones == 2)
    seen.go(stored)
    until(lambda: seen.count("a.stored"))
    seen.run("document.querySelector('a.stored').click()")
    seen.ready()
    until(lambda: seen.moves and seen.count(".graph"))


def test_early_versions_are_there_before_anybody_has_trained_are_watched_and_played_against(browser, address):
    seen = Served(browser, address, "/training?game=connect4")
    chosen = "return document.querySelector('.displayed select')?.selectedOptions[0]?.text"
    until(lambda: seen.count(".abilities tr") and "Connect 4, early versions" in (seen.run(chosen) or ""))
    seen.set(".watch select", "stop")
    until(lambda: "Right: " in seen.text(".look"))
    right = re.search(r"Right: (\w+)", seen.text(".look"))[1]
    seen.set(".slider input", 0)
    until(lambda: seen.text(".look h3").lower() == "version 0" and seen.count(".abilities tr"))
    assert "After 0 games against itself" in seen.text(".look")
    liked = seen.run("return document.querySelector('.look tbody td').innerText")
    assert liked != right, "what it likes best lets the other win"
    play_against_and_look_at_a_game(seen, 38, "/games?run=early/connect4/run0001")


@only_chromium  # Firefox has the same view of a run that has ended in the test above
def test_a_training_is_started_watched_stopped_and_its_versions_are_looked_at(browser, address):
    seen = Served(browser, address, "/training?game=tictactoe")
    until(lambda: seen.count(".presets button"))
    seen.run("[...document.querySelectorAll('.presets button')].find((b) => /tiny/i.test(b.innerText)).click()")
    seen.press("Start")
    until(lambda: seen.text(".jobs .job"))
    figure = "return document.querySelector('.live dl')?.innerText"
    first = until(lambda: seen.run(figure))
    until(lambda: seen.run(figure) not in (None, first))  # a new figure each second
    until(lambda: "1" in seen.text(".facts, .figures.still") and seen.count(".curve-card svg"))
    until(lambda: seen.count(".newest .board"))
    until(lambda: int(seen.run("return document.querySelectorAll('.version').length")) >= 2)
    seen.run("document.querySelector('.version').click()")
    until(lambda: "version 0" in seen.text(".look h3").lower() and seen.count(".look tbody tr"))
    seen.press("Stop")
    until(lambda: "Nothing is being trained." in seen.text(".jobs"))
    play_against_and_look_at_a_game(seen, 4, "/games")


@only_chromium
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe: npm i axe-core, or AXE_JS names axe.min.js")
@pytest.mark.parametrize("scheme", WIDTHS)
def test_no_view_has_a_serious_fault_and_none_is_wider_than_the_screen(browser, address, scheme):
    width = WIDTHS[scheme]
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    found = {}
    try:
        for path, there in (
            ("/", "a.game"),
            ("/games", ".filters select"),
            ("/training", ".abilities tr"),
            ("/play/go", ".opponents"),
        ):
            seen = Served(browser, address, path)
            until(lambda: seen.count(there))  # noqa: B023
            browser.execute_script(AXE.read_text(encoding="utf-8"))
            found[path] = browser.execute_async_script(RUN)
            assert seen.run("return document.documentElement.scrollWidth") <= width, path
        assert not {path: faults for path, faults in found.items() if faults}
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
