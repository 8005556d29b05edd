"""The process that thinks about a turn of Little-Go, seen from the one that waits for it (turn.py).

Nothing heavy is imported here, so that it starts at once. Where it is late it is left alone: it ends when it has
compiled what the next turn needs, or the host ends it, and the next turn compiles again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from system.processes import own_group

_THINK = """
import json, sys
sys.path.insert(0, sys.argv[1])
try:
    from importlib import import_module
    import_module(sys.argv[2]).main()
except Exception as error:
    by = f"{type(error).__name__}: {error}".splitlines()[0]
    print(json.dumps({"action": None, "by": by, "final": True}), flush=True)
"""


class ThinkerProcess:
    """A process that loads the players from its beginning; killed if the block that it is made for fails."""

    def __init__(self) -> None:
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        package = __name__.rpartition(".")[0]
        root = Path(__file__).parents[package.count(".") + 1]
        command = [sys.executable, "-P", "-c", _THINK, str(root), f"{package}.compiling"]
        with suppress(OSError):  # the move of need is played
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.DEVNULL, **own_group())  # fmt: skip
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            for line in self._process.stdout:
                if line.startswith(b"{"):  # whatever else a library may print
                    self._lines.put(line)
        self._lines.put(b"")

    def ask(self, task: dict[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # it has ended: there are no answers
                self._process.stdin.write(json.dumps(task).encode() + b"\n")
                self._process.stdin.flush()

    def answers(self, last: float) -> Iterator[dict[str, Any]]:
        with suppress(Empty):
            while line := self._lines.get(timeout=max(last - time.monotonic(), 0.0)):
                yield json.loads(line)

    def __enter__(self) -> ThinkerProcess:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None and self._process is not None:
            self._process.kill()
