"""What the page shows while nothing is compiled yet, and whether a tab waits for another's game.

    python benchmarks/cold_page.py [--moves 8]      # as JSON; needs Chromium, chromedriver and selenium

A server with an empty folder of compiled code is opened in Chromium: when the first board and when something new is
seen, up to the board that can be played on. Then a tab plays Connect 4 against rollouts, alone and while another tab
opens gomoku, whose code has to be compiled; each move is timed from the click to the reply on the board.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent))

from support.browser_page import chromium, until
from support.page_server import free_port

from storage.game_files import PERSON

HERE = Path(__file__).parent.parent
SEEN = "return (document.querySelector('main')?.innerText ?? '') + document.querySelectorAll('main svg').length"
STONES = "return [...document.querySelectorAll('.moves [data-ply], [data-ply]')].length"


def watch(driver: Any, address: str) -> dict[str, Any]:
    """Return when the first board, and a board to play on, were seen, and the longest time without anything new."""
    began = last = time.monotonic()
    before, silence = "", 0.0
    found: dict[str, Any] = {"first_board": 0.0}
    driver.get(address)
    while not driver.find_elements("css selector", ".stage svg"):
        now, seen = time.monotonic(), driver.execute_script(SEEN)
        if driver.find_elements("css selector", ".first-board svg") and not found["first_board"]:
            found["first_board"] = now - began
        if now - began > 1 and now - max(last, began + 1) > silence:
            silence, found["after"] = now - max(last, began + 1), before
        if seen != before:
            before, last = seen, now
        time.sleep(0.03)
    return {**found, "board_to_play_on": time.monotonic() - began, "longest_silence": silence}


def reply(driver: Any, column: int) -> float:
    """Return the seconds from a click on a column to the machine's reply."""
    moves, began = driver.execute_script(STONES), time.monotonic()
    driver.execute_script(f"document.querySelector('.stage [data-action=\"{column}\"]').dispatchEvent("
                          "new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    until(lambda: driver.execute_script(STONES) >= moves + 2)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moves", type=int, default=8)
    count = parser.parse_args().moves
    with tempfile.TemporaryDirectory() as kept:
        environment = {**os.environ, "NUMBA_CACHE_DIR": kept, "ALPHAZERO_RUNS": f"{kept}/runs"}
        command = [sys.executable, str(HERE / "main.py"), "serve", "--no-open", "--port", str(free_port())]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        driver = chromium()
        try:
            assert server.stdout is not None  # noqa: S101
            address = re.findall(r"http://\S+", server.stdout.readline())[0] + "&view=play"
            found: dict[str, Any] = {"load": os.getloadavg()[0], "cold": watch(driver, address)}
            here = f"{address}&game=connect4&first={PERSON}&second=rollout@400"
            times: dict[str, list[float]] = {"alone": [], "while another compiles": []}
            driver.get(here)
            first = driver.current_window_handle
            for name, values in times.items():
                if name != "alone":
                    driver.switch_to.new_window("tab")
                    driver.get(f"{address}&game=gomoku")
                    driver.switch_to.window(first)
                for i in range(count):
                    driver.get(here)
                    until(lambda: driver.find_elements("css selector", ".stage svg"))
                    values.append(reply(driver, i % 7))
            found |= {name: [round(value, 3) for value in values] for name, values in times.items()}
            found["later_by"] = statistics.median(times["while another compiles"]) - statistics.median(times["alone"])
            print(json.dumps(found))
        finally:
            driver.quit()
            server.send_signal(signal.SIGINT)
            server.wait(60)


if __name__ == "__main__":
    main()
