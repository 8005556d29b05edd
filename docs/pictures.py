"""Makes the pictures of the documents from the present program: `python docs/pictures.py [--run N]`.

docs/learning.svg from the run (docs/learning_picture.py), docs/page_*.png from the page in a headless Chromium. Needs
requirements-dev.txt, chromium and chromedriver. The run is best in a folder of its own, named by ALPHAZERO_RUNS.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests"), str(HERE)]

import learning_picture  # noqa: E402
from PIL import Image  # noqa: E402

from support.browser import chromium, until  # noqa: E402

PORT = 8765
MOVES = "4.4.5.3"
PAGES = {
    "home": ("/", ".group a.game"),
    "play": (f"/play/connect4#moves={MOVES}&view=play", ".moves button"),
    "analyse": (f"/play/connect4#moves={MOVES}&view=analyse", ".found tbody tr"),
    "learn": ("/play/connect4#moves=4.1.4.1.4.2.5.4&view=play", ".learn .verdict"),
    "puzzles": ("/play/connect4#view=puzzles", ".numbers button"),
    "training": ("/training", ".curve-card svg"),
    "games": ("/games", "a.stored"),
}
"""{name: (path, what is there when it can be taken)}."""
SIZES = {"page": (1280, 800), "page_phone": (390, 844)}
PICTURES = {
    ("page", "light"): ("home", "play", "analyse", "learn", "games"), ("page", "dark"): ("analyse", "training"),
    ("page_phone", "light"): ("home", "training"), ("page_phone", "dark"): ("play",),
}  # fmt: skip
"""{(kind, scheme): pages}."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=int, help="run of Connect 4 for learning.svg, which stays without it")
    number = parser.parse_args().run
    if number is not None:
        learning_picture.make(number)
    command = [sys.executable, "main.py", "serve", "--no-open", "--port", str(PORT)]
    server = subprocess.Popen(command, cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
    try:
        address = next(word for line in iter(server.stdout.readline, "") for word in line.split() if "http" in word)
        for (kind, scheme), names in PICTURES.items():
            shoot(address, kind, SIZES[kind], scheme, names)
    finally:
        server.terminate()
        server.wait(30)


def shoot(address: str, kind: str, size: tuple[int, int], scheme: str, names: tuple[str, ...]) -> None:
    """Take the pictures of pages at one size and in one colour scheme."""
    browser = chromium()
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600,
        })  # fmt: skip
        scheme_now = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme_now})
        browser.get(address)
        for name in names:
            path, there = PAGES[name]
            browser.get("about:blank")
            browser.get(address.partition("/?")[0] + path)
            if name == "learn":
                for label in ("Resign", "Give up", "Mistakes"):
                    until(lambda: browser.execute_script(PRESS, label), seconds=60)  # noqa: B023
            until(lambda: browser.execute_script(COUNT, there), seconds=120)  # noqa: B023
            time.sleep(4)  # what moves has come to rest, and what is searched is found
            target = HERE / f"{kind}_{name}_{scheme}.png"
            browser.save_screenshot(str(target))
            Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)
            print(target)
    finally:
        browser.quit()


PRESS = """const one = [...document.querySelectorAll("button")].find((b) => b.offsetParent && !b.disabled
    && b.innerText.trim().startsWith(arguments[0]));
one?.click();
return Boolean(one);"""
COUNT = "return document.querySelectorAll(arguments[0]).length"

if __name__ == "__main__":
    main()
