"""Whether the console shows something new at least every second while nothing is compiled yet.

    python benchmarks/cold_start.py [WORD ...]      # only commands with one of these words

Each command runs in a terminal of its own, with an empty folder of compiled code. A line of JSON: when the first output
came, the longest silence from the first second on, and what was on the screen before it. POSIX only.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import sys
import tempfile
import time
from pathlib import Path

MAIN = Path(__file__).parent.parent / "main.py"
COMMANDS = {
    "play --game tictactoe --against shipped --sims 25": "b2\nquit\n",
    "explain --game tictactoe --sims 25": "",
    "match shipped rollout:20 --game tictactoe --games 2 --sims 8": "",
    "evaluate shipped --game tictactoe --sims 8 --ladder-games 2 --ladder-sims 8": "",
    "levels --game tictactoe": "",
    "train --preset tiny --new --iterations 1": "",
}
"""{command: what is typed}."""


def watched(command: str, typed: str) -> dict[str, object]:
    """Run a command in a terminal; return when it said what."""
    with tempfile.TemporaryDirectory() as kept:
        process, screen = pty.fork()
        if process == 0:
            os.environ |= {"NUMBA_CACHE_DIR": kept, "ALPHAZERO_RUNS": f"{kept}/runs", "TERM": "xterm", "COLUMNS": "100"}
            os.execv(sys.executable, [sys.executable, str(MAIN), *shlex.split(command)])
        began = last = time.monotonic()
        first, silence, before, text = 0.0, 0.0, "", ""
        os.write(screen, typed.encode())
        while True:
            ready = select.select([screen], [], [], 600)[0]
            now = time.monotonic()
            try:
                chunk = os.read(screen, 65536).decode(errors="replace") if ready else ""
            except OSError:  # the terminal's other end is closed
                chunk = ""
            quiet = now - max(last, began + 1)
            if quiet > silence:
                silence, before = quiet, text
            if not chunk:
                break
            if re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\s", "", chunk):
                first, last, text = first or now - began, now, chunk.strip()[-80:]
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return {"command": command, "code": code, "seconds": round(now - began, 1), "first": round(first, 2),
            "longest_silence": round(silence, 2), "after": before, "load": round(os.getloadavg()[0], 1)}  # fmt: skip


if __name__ == "__main__":
    for command, typed in COMMANDS.items():
        if not sys.argv[1:] or any(word in command for word in sys.argv[1:]):
            print(json.dumps(watched(command, typed)), flush=True)
