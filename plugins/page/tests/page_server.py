"""Starts the page as a user does: a process, and the address that it prints."""

import re
import signal
import socket as sockets
import subprocess
import sys
from pathlib import Path

import pytest


def free_port():
    """Return a port of this machine that nobody listens on now."""
    with sockets.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def opened(*options, files=None):
    """Return (a process that serves the page, its address); `files`: how many it may open, its connections included."""
    pytest.importorskip("starlette")
    command = [sys.executable, "main.py", "serve", "--no-open", "--port", str(free_port()), *options]
    place = Path(__file__).parents[3]

    def limit() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        if files is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    before = None if sys.platform == "win32" else limit
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=place, preexec_fn=before)
    return server, re.findall(r"http://\S+", server.stdout.readline())[0]
