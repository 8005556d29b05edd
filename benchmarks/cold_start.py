"""Whether the console and the notebook show something new at least every second while nothing is compiled yet.

    python benchmarks/cold_start.py [WORD ...]      # only commands with one of these words; `notebook` is one

Each command runs in a terminal of its own, with an empty folder of compiled code; the cells of run.ipynb up to the
training, of three iterations, in a kernel of their own. A line of JSON for each command and each cell: when the first
output came, the longest silence from the first second on, and what was on the screen before it. POSIX only.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    return {"command": command, "code": code, **rounded(now - began, first, silence, before)}


def rounded(seconds: float, first: float, silence: float, before: str) -> dict[str, object]:
    return {"seconds": round(seconds, 1), "first": round(first, 2), "longest_silence": round(silence, 2),
            "after": before, "load": round(os.getloadavg()[0], 1)}  # fmt: skip


def cells() -> Iterator[dict[str, object]]:
    """Run the notebook's cells of code up to the training; yield when each said what."""
    from jupyter_client.manager import KernelManager

    book = json.loads((MAIN.parent / "run.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in book if cell["cell_type"] == "code"]
    training = next(number for number, code in enumerate(codes) if "train(session" in code)
    with tempfile.TemporaryDirectory() as kept:
        kernel = KernelManager(kernel_name="python3")
        kernel.start_kernel(cwd=str(MAIN.parent), env={**os.environ, "NUMBA_CACHE_DIR": kept})
        client = kernel.client()
        client.start_channels()
        client.wait_for_ready(timeout=120)
        for code in codes[: training + 1]:
            code = re.sub(r"(?m)^ITERATIONS = \d+", "ITERATIONS = 3", code)
            client.execute(re.sub(r"(?m)^ROOT = None", f"ROOT = {kept!r}", code))
            began = last = time.monotonic()
            first, silence, before, text, kind = 0.0, 0.0, "", "", ""
            what: dict[str, Any] = {}
            while (kind, what.get("execution_state")) != ("status", "idle"):
                message = client.get_iopub_msg(timeout=600)
                now, kind, what = time.monotonic(), message["msg_type"], message["content"]
                if kind == "error":
                    raise RuntimeError(what["evalue"])
                shows = kind in ("stream", "display_data", "update_display_data", "execute_result")
                if shows or what.get("execution_state") == "idle":
                    if now - max(last, began + 1) > silence:
                        silence, before = now - max(last, began + 1), text
                    first, last = first or (now - began) * shows, now
                    text = str(what.get("text") or what.get("data", {}).get("text/plain", ""))[-80:]
            yield {"cell": code.strip().splitlines()[0][:60], **rounded(now - began, first, silence, before)}
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


if __name__ == "__main__":
    if not sys.argv[1:] or any(word in "notebook" for word in sys.argv[1:]):
        for row in cells():
            print(json.dumps(row), flush=True)
    for command, typed in COMMANDS.items():
        if not sys.argv[1:] or any(word in command for word in sys.argv[1:]):
            print(json.dumps(watched(command, typed)), flush=True)
