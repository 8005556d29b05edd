"""Ctrl-C, SIGTERM, or the stop button of a notebook: they count even where Python loses or delays them."""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from system import processes

GRACE = 6.0
"""Seconds from Ctrl-C or SIGTERM to the end of the process: `docker stop` kills after ten, and on a busy machine a
thread may have to wait for another's garbage collection."""
AT_ONCE = 1.0
"""The same from a second one."""
_last_words = ["stopped"]
_sockets: list[socket.socket] = []
"""The two ends of a connection of this process to itself, on which the numbers of signals come."""
_reading, _heard = threading.Event(), threading.Event()
_dropped: list[bool] = []
_exit_code = [130]
_leaving: list[bool] = []


def end_in_time(seconds: float = GRACE) -> None:
    """Let this process end within `seconds` of Ctrl-C or SIGTERM, with exit code 130, whatever it does then.

    Python calls a signal's handler only between two of its own instructions, and a compiler or a search can take a
    minute for one. So a thread reads the signal from a socket and ends the process when it has not ended by itself.
    Nothing is lost by that but unfinished work: files are replaced whole, and the database keeps whole transactions.
    Once a signal came, the process also ends without waiting for libraries to take themselves apart, and a
    `KeyboardInterrupt` that Python drops, as in the callback of a weak reference or of a compiler, is raised again.
    """
    show = sys.unraisablehook
    sys.unraisablehook = lambda fault: _dropped.append(True) if fault.exc_type is KeyboardInterrupt else show(fault)
    atexit.register(_leave_at_once)  # before all others, so that it runs after them
    reader, writer = socket.socketpair()  # Windows waits for sockets only
    writer.setblocking(False)
    _sockets[:] = reader, writer
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_end, args=(reader, seconds), daemon=True, name="end_in_time").start()


def last_words(text: str) -> None:
    """Say `text` when the process has to be ended without waiting for its work."""
    _last_words[0] = text


def requested() -> bool:
    """Return whether Ctrl-C or SIGTERM has come to a process that ends in time, also one that came this moment."""
    return _heard.is_set() or _reading.is_set() or _comes()


def _comes() -> bool:
    return bool(_sockets and select.select(_sockets[:1], [], [], 0.0)[0])


def leave(code: int) -> NoReturn:
    """Exit the program with a code; if it ends in time, without waiting for libraries to take themselves apart.

    That would be a fifth of the processor time of a short command.
    """
    _exit_code[0] = code
    _leaving.append(True)
    sys.exit(code)


def _leave_at_once() -> None:
    if _leaving or requested():
        with suppress(OSError, ValueError):  # nobody reads them
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(_exit_code[0])


def _end(reader: socket.socket, seconds: float) -> None:
    number = bytearray(1)
    while not _heard.is_set():
        select.select([reader], [], [])
        _reading.set()
        reader.recv_into(number)
        if number[0] in processes.ENDINGS:
            _heard.set()
        _reading.clear()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([reader], [], [], 0.1)[0]:
            reader.recv_into(number)
            if number[0] in processes.ENDINGS:
                end = min(end, time.monotonic() + AT_ONCE)
        if _dropped:
            _dropped.clear()
            processes.interrupt_self()
    with suppress(OSError):  # nobody reads it any more
        os.write(2, f"\n{_last_words[0]}\n".encode())
    os._exit(130)


@contextmanager
def heard(stop: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Give a block a `stop` that is also true after an interrupt; the block then ends with `KeyboardInterrupt`.

    `KeyboardInterrupt` is raised at once, as usual. But Python drops an exception raised within the callback of a weak
    reference, and a compiler's callback turns it into another error. Outside the main thread, and where other code
    handles the signal, nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield stop
        return
    came: list[int] = []

    def come(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, come)
    try:
        yield lambda: bool(came) or stop()
    except Exception:
        if came:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
