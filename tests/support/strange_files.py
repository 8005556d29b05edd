"""Files that are pipes, devices, folders or far too large, and a limit on how long a read may wait for them."""

import os
import signal
from contextlib import contextmanager

HOW = ("pipe", "device", "folder", "large")


def put(path, how):
    """Put a file of a kind in the place of another."""
    path.unlink(missing_ok=True)
    if how == "pipe":
        os.mkfifo(path)
    elif how == "device":
        path.symlink_to("/dev/zero")
    elif how == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 5 << 30)


@contextmanager
def in_time():
    """Fail, instead of waiting for ever."""

    def late(*_):
        raise AssertionError("a read waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
