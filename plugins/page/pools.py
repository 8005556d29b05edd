"""Threads for what takes its time: a page opens while searches run and pages are made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
PARSING = threading.Lock()
"""Held while sources are parsed: Python 3.11 may fail (SystemError) where two threads do it at once."""
SEARCHES = 16
"""Searches at once."""


class Pools:
    """The threads of a server, by what they do."""

    def __init__(self) -> None:
        self.reading = ThreadPoolExecutor(8, thread_name_prefix="reading")
        self.making = ThreadPoolExecutor(2, thread_name_prefix="making")
        self.searching = ThreadPoolExecutor(SEARCHES, thread_name_prefix="searching")

    def close(self) -> None:
        """Let no thread begin anything more."""
        for pool in (self.reading, self.making, self.searching):
            pool.shutdown(wait=False, cancel_futures=True)


async def within(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Do some work in a thread, in the language of who requests it."""
    return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, work)
