"""What numba, or the program in its place, announces while a block is at work."""

from collections.abc import Iterator
from contextlib import contextmanager

from compiling.numba_import import numba


@contextmanager
def events(*kinds: str) -> Iterator[list[str]]:
    """Yield the list of the events of these kinds that have begun in the block, which grows."""
    begun: list[str] = []

    class Listener(numba.core.event.Listener):
        def on_start(self, event):
            begun.append(event.kind)

        def on_end(self, event):
            pass

    listener = Listener()
    for kind in kinds:
        numba.core.event.register(kind, listener)
    try:
        yield begun
    finally:
        for kind in kinds:
            numba.core.event.unregister(kind, listener)
