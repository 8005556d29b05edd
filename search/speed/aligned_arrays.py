"""Arrays aligned to CPU cache lines, many in one allocation."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import CACHE_LINE, up_to


def allocate(**wanted: tuple[int | tuple[int, ...], Any]) -> dict[str, np.ndarray]:
    """Return arrays of zeros, {name: (shape, dtype)}, each aligned to a cache line; pages are touched when first used.

    For a large allocation numpy requests huge pages. On small pages each wait for memory is twice as long, because the
    page has to be looked up first.
    """
    sizes = {name: int(np.prod(shape)) * np.dtype(dtype).itemsize for name, (shape, dtype) in wanted.items()}
    room = np.zeros(sum(up_to(CACHE_LINE, size) for size in sizes.values()) + CACHE_LINE, np.uint8)
    place, found = -room.ctypes.data % CACHE_LINE, {}
    for name, (shape, dtype) in wanted.items():
        found[name] = room[place : place + sizes[name]].view(dtype).reshape(shape)
        place += up_to(CACHE_LINE, sizes[name])
    return found
