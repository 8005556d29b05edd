"""Positions that came more than once, up to symmetry: how to tell them, and how often each is trained on."""

from __future__ import annotations

import numpy as np

from game import Game


class Likeness:
    """Gives positions keys that are equal for those that the network sees alike, up to symmetry."""

    def __init__(self, game: Game) -> None:
        rows, columns, planes = game.input_shape
        words = np.random.default_rng(0).integers(0, 2**64, (rows * columns, planes), dtype=np.uint64)
        forms = [words[np.argsort(grid)] for grid in game.views()[0]]
        self._words = np.stack(forms, axis=-1).reshape(rows * columns * planes, len(forms))
        """[rows * columns * planes, forms]: a turned position's sum of words is the position's sum of turned words."""

    def keys(self, planes: np.ndarray) -> np.ndarray:
        """Return [n] uint64 for planes [n, rows * columns * planes] uint8: the least of the symmetric forms' hashes."""
        parts = np.array_split(planes, len(planes) // 4096 + 1)
        return np.concatenate([(part.astype(np.uint64) @ self._words).min(axis=1) for part in parts])


def running_sum(keys: np.ndarray, weight: str) -> np.ndarray:
    """Return [n] float64, the running sum of the chances of positions to be drawn, those with one key together:

    1 + log2 of their number ("log") or 1 ("constant"), as AlphaZero.jl weighs merged positions.
    """
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    together = {"log": 1 + np.log2(counts), "constant": np.ones(len(counts))}[weight]
    sums: np.ndarray = np.cumsum((together / counts)[which])
    return sums
