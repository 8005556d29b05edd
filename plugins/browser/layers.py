"""The network's layers as a table of steps that `forward.py` computes, and their arrays in 20 bits.

Boards lie in memory with a margin of zeros, so that a convolution needs no test for the edge: point (r, c) is
(r + pad) * width + c + pad, with width = columns + pad, as a row's right margin is the next row's left one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from config import UserError
from network.architecture import Architecture, Layer
from network.numpy_network import EPSILON
from network.ownership import HEAD
from plugins.browser.tile import POINTS as TILE

KINDS = (
    "cast",
    "with_ones",
    "conv",
    "relu",
    "relu_flat",
    "add",
    "add_bias",
    "flatten",
    "mean",
    "scaled",
    "max",
    "column_mean",
    "concatenate",
    "dense",
    "dense_tanh",
)
"""What a step may be. Layers that change no number (reshape, identity) have none, a normalisation is part of the
convolution before it."""
KIND, FROM, SECOND, TO, INPUTS, OUTPUTS, KERNEL, WEIGHTS, SCALES, EXACT = range(10)
"""Columns of `steps`: places of the inputs and of the output in the room, their lengths a point or in all, side of a
kernel (0: none), its place among the weights, of its scales among the exact numbers, of a bias or a factor there."""
BITS = 4
"""A weight is a number of 16 bits and one of 4 bits below it."""
LARGEST = 2 ** (15 + BITS) - 1
"""A weight is a whole number up to this times the scale of its filter."""
WHOLE = 4096
"""Kernels of at most this size are kept as they are: together they are small, and among them are the first layer
and the heads, whose rounding changes the answers most."""


class Plan(NamedTuple):
    """A network's steps and arrays."""

    steps: np.ndarray
    """[n, 10] int32: those of value and logits"""
    owners: np.ndarray
    """[n, 10] int32: further ones, of each point's owner"""
    shape: np.ndarray
    """[7] int32: rows, columns, width of a row in memory, pad, places of the value, of the logits and of those of each
    point's owner"""
    small: np.ndarray
    """[n] int16: the large kernels one after the other, convolutions with their normalisation folded in"""
    fine: np.ndarray
    """[n / 2] uint8: the 4 bits below each of these numbers, the first of a pair in the lower half"""
    exact: np.ndarray
    """[n] float32: small kernels, scales of the large kernels' filters, biases, factors"""
    kernels: int
    """Numbers of all kernels."""
    room: int
    """Numbers that all outputs take."""


class _Room:
    """Places of outputs; what no later step reads is used again by one of the same form, whose margins are zero too."""

    def __init__(self) -> None:
        self.size = 0
        self._forms: dict[int, tuple[int, bool]] = {}
        self._left: dict[int, int] = {}
        self._free: dict[tuple[int, bool], list[int]] = {}

    def take(self, size: int, *, board: bool, readers: int) -> int:
        """Return a place for an output that `readers` layers read."""
        free = self._free.setdefault((size, board), [])
        if free:
            place = free.pop()
        else:
            place, self.size = self.size, self.size + -(-size // TILE) * TILE
        self._forms[place], self._left[place] = (size, board), readers
        return place

    def more(self, place: int, readers: int) -> None:
        """Say that `readers` more layers read a place."""
        self._left[place] += readers

    def read(self, place: int) -> None:
        """Say that a layer has read a place."""
        self._left[place] -= 1
        if not self._left[place]:
            self._free[self._forms[place]].append(place)


def without_layers(action_size: int) -> Plan:
    """Return the plan of a network that has no layers: value 0, all moves equally likely."""
    shape = np.array([1, 1, 1, 1, 0, 0, 0], np.int32)
    arrays = np.zeros(0, np.int16), np.zeros(0, np.uint8), np.zeros(1, np.float32)
    steps = np.zeros((0, 10), np.int32)
    return Plan(steps, steps.copy(), shape, *arrays, kernels=1, room=action_size)


def plan(architecture: Architecture, weights: Sequence[np.ndarray], *, ownership: bool = False) -> Plan:
    """Return what computes value and logits of a network with these arrays.

    With `ownership` also what computes who will own each point, where the network has learned that.
    """
    return _Planner(architecture, weights, ownership=ownership and HEAD in architecture.heads).made()


class _Planner:
    def __init__(self, architecture: Architecture, weights: Sequence[np.ndarray], *, ownership: bool) -> None:
        self.architecture, self.ownership = architecture, ownership
        self.arrays = architecture.arrays([np.asarray(each, np.float64) for each in weights])
        self.layers = architecture.shown()
        self.searched = len(self.layers)
        if ownership:
            self.layers += [each for each in architecture.shown((HEAD,)) if each not in self.layers]
        self.by_name = {each.name: each for each in self.layers}
        self.rows, self.columns = self.layers[0].shape[:2]
        kernels = [self.arrays[each.name][0].shape[0] for each in self.layers if each.kind == "conv"]
        self.pad = max(kernel // 2 for kernel in kernels)
        self.width = self.columns + self.pad
        self.points = (self.rows + 2 * self.pad) * self.width + self.pad + TILE
        self.room = _Room()
        self.place: dict[str, int] = {}
        self.readers: dict[str, int] = {}
        for layer in self.layers:
            for name in layer.inputs:
                self.readers[name] = self.readers.get(name, 0) + 1
        self.steps: list[list[int]] = []
        self.kernels: list[tuple[list[int], np.ndarray]] = []
        self.exact: list[float] = []

    def made(self) -> Plan:
        value, logits = self.architecture.heads[:2]
        self.readers |= dict.fromkeys((value, logits, *([HEAD] if self.ownership else [])), 1)
        searched = 0
        for i, layer in enumerate(self.layers[1:], 1):
            self._step(layer, self.layers[i + 1] if i + 1 < len(self.layers) else None)
            if i < self.searched:
                searched = len(self.steps)
        places = [self.place[name] for name in (value, logits)] + [self.place[HEAD] if self.ownership else 0]
        shape = [self.rows, self.columns, self.width, self.pad, *places]
        whole, count = self._place_kernels()
        steps, exact = np.array(self.steps, np.int32), np.array(self.exact, np.float32)
        tables = steps[:searched].copy(), steps[searched:].copy()
        if not np.isfinite(exact).all():
            raise UserError("expected finite weights, got others")
        fine = np.append(whole & (1 << BITS) - 1, 0)[: len(whole) + len(whole) % 2]
        packed = (fine[::2] | fine[1::2] << BITS).astype(np.uint8)
        small = (whole >> BITS).astype(np.int16)
        return Plan(*tables, np.array(shape, np.int32), small, packed, exact, count, self.room.size)

    def _place_kernels(self) -> tuple[np.ndarray, int]:
        """Return (the whole numbers of the large kernels, how many numbers all kernels have).

        The large kernels are the first of all.
        """
        numbers, count = [np.zeros(0, np.int64)], 0
        for step, kernel in sorted(self.kernels, key=lambda each: each[1].size <= WHOLE):
            step[WEIGHTS] = count
            count += kernel.size
            if kernel.size <= WHOLE:
                step[SCALES] = self._keep(kernel.ravel())
            else:
                scales = np.maximum(np.abs(kernel).max(axis=0), 1e-30) / LARGEST
                step[SCALES] = self._keep(scales)
                numbers.append(np.rint(kernel / scales).astype(np.int64).ravel())
        return np.concatenate(numbers), count

    def _is_board(self, layer: Layer) -> bool:
        return len(layer.shape) == 3 and layer.shape[:2] == (self.rows, self.columns)

    def _size(self, layer: Layer) -> int:
        return self.points * layer.shape[-1] if self._is_board(layer) else int(np.prod(layer.shape))

    def _keep(self, numbers: np.ndarray) -> int:
        """Add exact numbers; return their place."""
        self.exact += numbers.tolist()
        return len(self.exact) - len(numbers)

    def _kernel(self, step: list[int], kernel: np.ndarray, bias: np.ndarray) -> None:
        """Add a kernel [..., filters] and a bias, and write the bias's place."""
        step[KERNEL] = kernel.shape[0] if kernel.ndim == 4 else 1
        step[EXACT] = self._keep(bias)
        self.kernels.append((step, kernel.reshape(-1, kernel.shape[-1])))

    def _step(self, layer: Layer, follower: Layer | None) -> None:
        inputs = [self.by_name[name] for name in layer.inputs]
        kind, first = layer.kind, inputs[0]
        if kind == "normalise" or kind == "identity" or (kind == "reshape" and not self._is_board(first)):
            self.place[layer.name] = self.place[first.name]  # the same numbers in the same place
            self.room.more(self.place[first.name], self.readers[layer.name])
            self.room.read(self.place[first.name])
            return
        step = [0] * 10
        if kind in ("reshape", "flatten"):
            kind = "flatten"
        elif kind == "relu" and not self._is_board(first):
            kind = "relu_flat"
        elif kind == "add" and not self._is_board(inputs[1]):
            kind = "add_bias"
        if kind not in KINDS:
            raise UserError(f"expected layers of {', '.join(KINDS)}, got {kind}")
        arrays = self.arrays[layer.name]
        if kind == "conv":
            kernel = arrays[0]
            bias = arrays[1] if len(arrays) > 1 else np.zeros(kernel.shape[3])
            if follower is not None and follower.kind == "normalise" and follower.inputs == (layer.name,):
                gamma, beta, mean, variance = self.arrays[follower.name]
                scale = gamma / np.sqrt(variance + EPSILON)
                kernel, bias = kernel * scale, (bias - mean) * scale + beta
            self._kernel(step, kernel, bias)
        elif arrays:
            self._kernel(step, *arrays)
        elif kind == "scaled":
            step[EXACT] = self._keep(np.array([layer.factor]))
        step[KIND] = KINDS.index(kind)
        step[INPUTS], step[OUTPUTS] = first.shape[-1], layer.shape[-1]
        if kind == "concatenate":
            self._concatenate(layer, inputs, step)
            return
        step[FROM] = -1 if first.kind == "planes" else self.place[first.name]
        step[SECOND] = self.place[inputs[1].name] if len(inputs) > 1 else -1
        step[TO] = self._take(layer)
        if kind in ("scaled", "flatten", "relu_flat") and not self._is_board(layer):
            step[OUTPUTS] = self._size(layer)
        self.steps.append(step)
        self._have_read(inputs)

    def _take(self, layer: Layer) -> int:
        """Return the place of a layer's output, which is taken before those of its inputs are free."""
        board, readers = self._is_board(layer), self.readers[layer.name]
        place = self.place[layer.name] = self.room.take(self._size(layer), board=board, readers=readers)
        return place

    def _have_read(self, inputs: list[Layer]) -> None:
        for each in inputs:
            if each.kind != "planes":
                self.room.read(self.place[each.name])

    def _concatenate(self, layer: Layer, inputs: list[Layer], step: list[int]) -> None:
        place = self._take(layer)
        for each in inputs:
            one = [*step]
            one[FROM], one[TO], one[OUTPUTS] = self.place[each.name], place, self._size(each)
            self.steps.append(one)
            place += self._size(each)
        self._have_read(inputs)
