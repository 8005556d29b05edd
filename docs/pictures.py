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
from support.browser_page import Page, chromium, until  # noqa: E402

PORT = 8765
MOVES = "4453"
VIEWS = {
    "play": f"&view=play&mode=play&moves={MOVES}", "analyse": f"&view=play&mode=analyse&moves={MOVES}",
    "puzzles": "&view=puzzles", "training": "&view=training", "games": "&view=games",
}  # fmt: skip
SIZES = {"page": (1280, 800), "page_phone": (390, 844)}
PICTURES = {
    ("page", "light"): ("play", "analyse", "puzzles", "games"), ("page", "dark"): ("analyse", "training"),
    ("page_phone", "light"): ("analyse", "training"), ("page_phone", "dark"): ("play",),
}  # fmt: skip
"""{(kind, scheme): views}."""


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
        for (kind, scheme), views in PICTURES.items():
            shoot(address, kind, SIZES[kind], scheme, views)
    finally:
        server.terminate()
        server.wait(30)


def shoot(address: str, kind: str, size: tuple[int, int], scheme: str, views: tuple[str, ...]) -> None:
    """Take the pictures of views at one size and in one colour scheme."""
    browser = chromium()
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600,
        })  # fmt: skip
        scheme_now = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme_now})
        for view in views:
            page = Page(browser, address, f"{VIEWS[view]}&game=connect4")
            if view == "analyse":
                until(lambda: page.count(".simulations") and page.text(".simulations") == "400", seconds=120)  # noqa: B023
            time.sleep(4)  # curves have come
            path = HERE / f"{kind}_{view}_{scheme}.png"
            browser.save_screenshot(str(path))
            Image.open(path).convert("RGB").quantize(192).save(path, optimize=True)
            print(path)
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
