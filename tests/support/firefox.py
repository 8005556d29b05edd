"""A headless Firefox for tests, driven by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/) without geckodriver.

It offers what tests use of selenium's drivers: `get`, `execute_script`, an element's `click`, and `quit`.
"""

import contextlib
import importlib.util
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.browser import PATIENCE, until

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")
needs_firefox = [
    pytest.mark.skipif(not importlib.util.find_spec("websocket"), reason="needs websocket-client, as selenium does"),
    pytest.mark.skipif(not PROGRAM, reason="needs firefox-esr"),
]
WATCHED = "log.entryAdded", "network.beforeRequestSent"


class Firefox:
    """A browser with one page; `errors` and `asked` (addresses of requests) are what was seen so far."""

    def __init__(self):
        import websocket

        self.errors, self.asked = [], []
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [
            PROGRAM,
            "--headless",
            "--no-remote",
            "--remote-debugging-port=0",
            "--width=1280",
            "--height=900",
            "--profile",
            self._profile.name,
            "about:blank",
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address = until(self._address)
            self._socket = websocket.create_connection(address, suppress_origin=True, timeout=PATIENCE)
            self._calls = 0
            self._call("session.new", capabilities={})
            self._call("session.subscribe", events=WATCHED)
            self._context = self._call("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self._process.kill()
            raise

    def _address(self):
        """Return where it listens, which it writes into its profile; None: not yet."""
        assert self._process.poll() is None, "firefox ended"
        with contextlib.suppress(OSError, ValueError):
            said = json.loads((Path(self._profile.name) / "WebDriverBiDiServer.json").read_text())
            return f"ws://{said['ws_host']}:{said['ws_port']}/session"

    def _call(self, method, **params):
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": params}))
        while True:
            said = json.loads(self._socket.recv())
            if said.get("id") == self._calls:
                assert said["type"] == "success", f"{method}: {said.get('error')}: {said.get('message')}"
                return said["result"]
            self._seen(said)

    def _seen(self, event):
        params = event.get("params", {})
        if event.get("method") == "log.entryAdded" and params["level"] == "error":
            self.errors.append(params["text"])
        elif event.get("method") == "network.beforeRequestSent":
            self.asked.append(params["request"]["url"])

    def get(self, address):
        """Open a page and wait until it is loaded."""
        self._call("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def execute_script(self, script, *values):
        """Run the body of a function, wait for its promise if it returns one, and return what it returns."""
        whole = f"""async function() {{
            const found = await (function() {{ {script} }}).apply(window, JSON.parse(arguments[0]));
            return found instanceof Element ? found : JSON.stringify(found);
        }}"""
        done = self._call(
            "script.callFunction",
            functionDeclaration=whole,
            target={"context": self._context},
            awaitPromise=True,
            arguments=[{"type": "string", "value": json.dumps(values)}],
        )
        if done["type"] == "exception":
            raise AssertionError(done["exceptionDetails"]["text"])
        found = done["result"]
        if found["type"] == "node":
            return _Element(self, found["sharedId"])
        return json.loads(found["value"]) if "value" in found else None

    def quit(self):
        try:
            with contextlib.suppress(OSError):
                self._call("browser.close")
                self._socket.close()
            self._process.wait(60)
        finally:
            self._process.kill()
            self._process.wait()
            self._profile.cleanup()


class _Element:
    def __init__(self, browser, shared):
        self._browser, self._shared = browser, shared

    def click(self):
        """Bring it into view and click on its middle."""
        here = {"context": self._browser._context}
        self._browser._call(
            "script.callFunction",
            functionDeclaration="(e) => e.scrollIntoView({block: 'center'})",
            target=here,
            awaitPromise=False,
            arguments=[{"sharedId": self._shared}],
        )
        middle = {"type": "element", "element": {"sharedId": self._shared}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": middle},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        hand = {"type": "pointer", "id": "hand", "actions": steps}
        self._browser._call("input.performActions", **here, actions=[hand])
