"""A site in a browser: it is kept on the device, so that it opens with the web space gone."""

import http.server
import threading
from functools import partial

import pytest

from plugins.browser.site import write_site
from support.browser import chromium, needs_browser, until

pytestmark = needs_browser


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        """Say nothing."""


@pytest.fixture
def web_space(tmp_path):
    sizes = write_site(tmp_path, ["tictactoe"], "shipped", say=lambda text: None)
    assert sizes["tictactoe.html"] < 3_000_000
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.server_close()


def test_a_game_opens_without_the_web_space_once_it_was_open(web_space):
    driver = chromium()
    try:
        place = f"http://127.0.0.1:{web_space.server_address[1]}"
        driver.get(f"{place}/index.html")
        until(lambda: driver.execute_script("return Boolean(navigator.serviceWorker.controller)"))
        link = driver.execute_script("return document.querySelector('a[href*=\"tictactoe\"]').href")
        driver.get(link)
        until(lambda: driver.execute_script("return document.title") == "Tic-tac-toe")
        titles = {link: "Tic-tac-toe"}
        driver.get(f"{place}/index.html")
        titles[f"{place}/index.html"] = driver.title
        web_space.shutdown()
        web_space.server_close()
        for address, title in titles.items():
            driver.get(address)
            assert driver.title == title
        driver.get(link)
        until(lambda: driver.execute_script("return document.querySelectorAll('.stage .point').length") == 9)
        wrong = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert wrong == []
    finally:
        driver.quit()
