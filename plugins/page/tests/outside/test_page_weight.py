"""What a load of the page takes: few bytes beyond the framework's own files, and nothing from other machines."""

import json
import re
import time

from plugins.page.tests.browser_page import Page, needs_page
from support.browser import chromium, until

pytestmark = needs_page
MOST = 300_000
"""Bytes of a page load beyond NiceGUI's own files: the page, its styles and scripts, and all that the socket brings."""


def messages(browser):
    return [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]


def weights(found):
    """Return (bytes of our responses, bytes of the framework's, bytes through the socket, all addresses)."""
    urls, ours, framework, socket, frames = {}, 0, 0, [], 0
    for message in found:
        kind, given = message["method"], message["params"]
        if kind == "Network.requestWillBeSent":
            urls[given["requestId"]] = given["request"]["url"]
        elif kind == "Network.webSocketCreated":
            socket.append(given["url"])
        elif kind == "Network.webSocketFrameReceived":
            frames += len(given["response"]["payloadData"])
        elif kind == "Network.dataReceived":
            url = urls.get(given["requestId"], "")
            if "/_nicegui/" in url:
                framework += given["dataLength"]
            elif not url.startswith("data:"):
                ours += given["dataLength"]
    return ours, framework, frames, [*urls.values(), *socket]


def test_a_load_is_light_and_asks_no_other_machine(address):
    """Uncompressed bytes are counted: with compression there are fewer."""
    for more in ("&view=play&game=gomoku(size=15)&mode=analyse", "&view=training", "&view=games"):
        browser = chromium()
        try:
            page = Page.__new__(Page)
            page.browser = browser
            browser.get(address + more)
            until(lambda: page.all(".sheet .card, .learn"))  # noqa: B023
            time.sleep(2)
            ours, framework, socket, urls = weights(messages(browser))
        finally:
            browser.quit()
        print(more, ours, framework, socket)
        assert 10_000 < ours + socket <= MOST, more
        assert framework > 100_000 and socket > 1_000, "both were counted"
        here = re.escape(address.split("/?")[0].removeprefix("http://"))
        assert [url for url in urls if not re.match(rf"(http|ws)://{here}/|data:|blob:|about:", url)] == []
