"""Evaluations by state key, so that a position is evaluated once for each set of weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiled import at, inlined, up_to
from compiling.records import record
from config import UserError
from search.speed.aligned_arrays import allocate

LOOKED_UP, FOUND, SIMULATIONS, NOT_FINITE = range(4)
"""Indices into `counts`."""
SHARE = 8
"""The length of an entry is a multiple of this many numbers: half a CPU cache line."""


class NotFinite(UserError, ArithmeticError):
    """A network's answers, or the numbers of its training, are NaN or infinite."""

    exit_code = 4


@record
class Cache(NamedTuple):
    """Evaluations by state key; one entry per slot, a newer one replaces it. Emptied when weights change.

    Keys are stored apart from the numbers: most lookups miss, and the keys alone fill few memory pages.
    """

    keys: np.ndarray
    """[C] uint64; C is a power of two; 0 = free."""
    numbers: np.ndarray
    """[C, width] float32: the logits, then the value"""
    flat: np.ndarray
    """The same memory as a 1-D array."""
    counts: np.ndarray
    """[4] int64: positions looked up, positions found, simulations, evaluations that were not finite"""


CACHE_BYTES = 2**28
"""Most memory of the cache of a player in a match: with thousands of actions its usual size would take gigabytes."""


def place_bytes(action_size: int) -> int:
    """Return the memory of one entry, in bytes."""
    return 8 + 4 * up_to(SHARE, action_size + 1)


def places_in(room: int, size: int, action_size: int) -> int:
    """Return `size`, or fewer places where they would take more than `room` bytes; rounded up as `make_cache` does."""
    return min(size, 1 << max(room // place_bytes(action_size), 1).bit_length() - 1)


def make_cache(size: int, action_size: int) -> Cache:
    """Return a cache with room for at least one position; sizes round up to powers of two."""
    room = 1 << max(size - 1, 0).bit_length()
    found = allocate(keys=(room, np.uint64), numbers=((room, up_to(SHARE, action_size + 1)), np.float32))
    return Cache(found["keys"], found["numbers"], found["numbers"].reshape(-1), np.zeros(4, np.int64))


@inlined
def cache_place(cache, key):
    """Return the index of a key's slot in the cache."""
    return key & np.uint64(cache.keys.shape[0] - 1)


@inlined
def look_up(cache, key):
    """Count a question; return whether the cache holds the evaluation of a key, at its `cache_place`."""
    cache.counts[LOOKED_UP] += 1
    if at(cache.keys, cache_place(cache, key)) != key or key == 0:
        return False
    cache.counts[FOUND] += 1
    return True


@inlined
def keep(cache, key, value, logits):
    """Keep an evaluation: value for the player to move, logits [action_size] unmasked."""
    place, actions = cache_place(cache, key), logits.shape[0]
    kept = cache.numbers[place]
    for a in range(actions):
        kept[np.uint64(a)] = at(logits, a)
    kept[np.uint64(actions)] = value
    cache.keys[place] = key
