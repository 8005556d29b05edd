"""Evaluations by state key: the network is not asked twice for a position while its weights stay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Cache(NamedTuple):
    """Evaluations by state key; one place a key, the newest stays. Emptied when weights change.

    A place is one line of numbers, so that a position's answer costs one wait for memory: the logits, the value, and
    in the last two the key.
    """

    numbers: np.ndarray
    """[C, width] float32; C is a power of two, width even"""
    words: np.ndarray
    """The same memory as [C, width / 2] uint64: the last of a line is the key, 0 = free."""
    flat: np.ndarray
    """The same as one long array."""
    counts: np.ndarray
    """[4] int64: looked up, found, simulations, answers of the network that were not finite"""


def make_cache(size: int, action_size: int) -> Cache:
    """Return a cache with room for at least one position; sizes round up to powers of two."""
    room, width = 1 << max(size - 1, 0).bit_length(), action_size + 3 + (action_size + 3) % 2
    words = np.zeros((room, width // 2), np.uint64)
    return Cache(words.view(np.float32), words, words.reshape(-1), np.zeros(4, np.int64))
