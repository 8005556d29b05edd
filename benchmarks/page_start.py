"""How long the page takes to its first answer: `python benchmarks/page_start.py`, as JSON.

From the start of the process to the whole first page received; processor time is that of the process by then.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

MAIN = Path(__file__).parent.parent / "main.py"
TIMES = 5


def once() -> tuple[float, float]:
    """Return (seconds, seconds of processor time) to the first answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.perf_counter()
    command = [sys.executable, str(MAIN), "serve", "--no-open", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None  # noqa: S101
        address = re.findall(r"http://\S+", server.stdout.readline())[0]
        with urllib.request.urlopen(address) as answer:  # noqa: S310
            answer.read()
        seconds = time.perf_counter() - began
        words = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
        return seconds, (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


if __name__ == "__main__":
    seconds, work = zip(*(once() for _ in range(TIMES)), strict=True)
    found: dict[str, object] = {"starts": TIMES, "load": round(os.getloadavg()[0], 1)}
    for name, values in (("seconds", seconds), ("processor_seconds", work)):
        found[name] = {"least": round(min(values), 2), "median": round(statistics.median(values), 2)}
    print(json.dumps(found))
