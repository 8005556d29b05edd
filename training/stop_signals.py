"""Ctrl-C, or the stop button of a notebook, while the program learns: it counts even where Python loses it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


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
