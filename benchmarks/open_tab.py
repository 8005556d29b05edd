"""A page of one file that is left open: what it holds while games are played on it, one after the other.

    python benchmarks/open_tab.py
    python benchmarks/open_tab.py --games "gomoku(size=15)" --count 40 --opponent Casual

It needs Chromium with its driver, selenium and psutil. A person's moves are drawn by lot, an opponent answers, and each
game is followed by a rematch; 60 games are more than an hour holds. After each tenth of them: what JavaScript holds on
the page after a collection, elements of the page, and the memory of the page's process, in which the engine works.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(1, str(Path(__file__).parent.parent / "tests"))

import psutil

import games
from plugins.browser.assemble import one_file
from plugins.browser.player import page_parts
from plugins.browser.tests.outside.test_browser_page import Page
from plugins.browser.tests.outside.test_browsers import PLAY, held
from support.browser import chromium


def resident(driver: Any) -> float:
    """Return the MiB of the largest process that shows a page."""
    children = psutil.Process(driver.service.process.pid).children(recursive=True)
    pages = [each for each in children if "--type=renderer" in each.cmdline()]
    return max(each.memory_info().rss for each in pages) / 2**20


def play(driver: Any, spec: str, opponent: str, count: int, place: Path) -> None:
    name = re.sub(r"\W+", "-", spec)
    (place / f"{name}.html").write_text(one_file(page_parts("shipped", games.make(spec))), encoding="utf-8")
    page = Page(driver, place, name)
    page.press(opponent)
    begun = time.monotonic()
    for tenth in range(1, 11):
        faults = page.run(PLAY, count // 10, tenth)
        if faults:
            raise SystemExit(f"{spec}: {faults}")
        now, seconds = held(driver), time.monotonic() - begun
        heap, elements = now["JSHeapUsedSize"] / 2**20, now["Nodes"]
        done = tenth * (count // 10)
        print(f"{spec} | {done} | {seconds:.0f} | {heap:.2f} | {elements:.0f} | {resident(driver):.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=["connect4", "gomoku(size=15)"])
    parser.add_argument("--opponent", default="Casual", help="the level that answers (default: %(default)s)")
    parser.add_argument("--count", type=int, default=60, help="games of each, a multiple of ten (default: 60)")
    args = parser.parse_args()
    driver = chromium()
    driver.set_script_timeout(3600)
    try:
        print("game | games | seconds | heap MiB | elements | process MiB")
        with tempfile.TemporaryDirectory() as folder:
            for spec in args.games:
                play(driver, spec, args.opponent, args.count, Path(folder))
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
