"""The page in a headless Chromium: the server, the browser, a tab as people see it."""

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from support.browser import chromium, needs_browser, until

CONNECT4 = "&view=play&game=connect4"
needs_page = [
    *needs_browser, pytest.mark.skipif(not importlib.util.find_spec("nicegui"), reason="the page needs nicegui")
]  # fmt: skip


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Return the folder of a page: its runs are in runs/, what it said in log."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def address(served):
    """Return the address of a page whose runs are in an empty folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = open(served / "log", "w+")  # noqa: SIM115
    command = [sys.executable, str(Path(__file__).with_name("run_page.py")), str(served / "runs")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    server = subprocess.Popen(
        [*command, "serve", "--no-open", "--port", str(port)], stdout=log, stderr=subprocess.STDOUT, env=environment
    )
    try:
        yield until(lambda: re.findall(r"http://\S+", (served / "log").read_text()))[0]
        assert server.poll() is None
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)
        told = (served / "log").read_text()
        log.close()
    assert "Traceback" not in told, told


@pytest.fixture(scope="session")
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
        """Open the page, in the mode that shows all unless `more` names one."""
        self.browser = browser
        more += "" if "&mode=" in more else "&mode=analyse"
        browser.get(address + more)
        until(lambda: self.all(".stage svg, .learn, .games"))

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

    def answer(self, text):
        """Press a button of the dialog that asks for a yes."""
        until(lambda: [b for b in self.all(".question button") if b.is_displayed() and b.text == text])[0].click()
        until(lambda: not self.count(".question"))

    def give_up(self):
        self.press("give the game up")
        self.answer("Give up")

    def choose(self, label, option):
        """Pick an option of a list by what it reads."""
        field = until(lambda: [e for e in self.all(f'[aria-label="{label}"]') if e.is_displayed()])[0]
        self.pick(self.run("return arguments[0].closest('.q-field')", field), option)

    def _no_list_is_open(self):
        """Look; one that is open, as a list of several is after a pick, is closed as people do."""
        if self.count(".q-menu"):
            self.browser.find_element("css selector", "body").send_keys("\ue00c")  # Escape
        return not self.count(".q-menu")

    def pick(self, field, option):
        """Open a list and pick an option."""
        until(self._no_list_is_open)
        field.find_element("css selector", ".q-field__control").click()
        find = "[...document.querySelectorAll('.q-menu .q-item')].find(e => e.innerText.startsWith(arguments[0]))"
        until(lambda: self.run(f"return {find}", option)).click()
        until(self._no_list_is_open)

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
            [...document.querySelectorAll(`.stage .side > .${side}`)].map(s =>
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


def people(browser, address, more):
    """Open a page at which two people sit."""
    page = Page(browser, address, more)
    page.choose("player 2", "Person")
    return page
