"""Python's collector of cycles, which rests where much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_alone = False
"""Whether nothing but this program runs in this process."""


def alone_here() -> None:
    """Say that nothing but this program runs in this process: what it loads needs never be looked at."""
    global _alone
    _alone = True


@contextmanager
def resting() -> Iterator[None]:
    """Let the collector rest in a block that makes many objects which stay: machine code, or libraries.

    It would look through all of them every few thousand and find nothing.
    """
    awake = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if awake:
            gc.enable()


@contextmanager
def loading() -> Iterator[None]:
    """Do as `resting` in a block that imports libraries; where this program is alone, leave out all that is there then.

    A tiny run of two iterations takes 3.9 s of a processor in place of 4.9 with it, most of it TensorFlow's objects.
    Elsewhere, as in a notebook, there may be a user's objects that are to be collected later.
    """
    with resting():
        yield
        if _alone:
            gc.freeze()
