"""A network's value and logits for one position, and who will own its points, computed by the steps of `layers.plan`.

Each kind of step is a plain loop whose inner loop runs over filters, so that the compiler vectorises it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from compiled import compiled, inlined
from compiling.records import record
from plugins.browser.layers import (
    BITS,
    EXACT,
    FROM,
    INPUTS,
    KERNEL,
    KIND,
    KINDS,
    OUTPUTS,
    SCALES,
    SECOND,
    TO,
    WEIGHTS,
    Plan,
)
from plugins.browser.tile import FILTERS, add_products
from plugins.browser.tile import POINTS as TILE

(
    CAST,
    WITH_ONES,
    CONV,
    RELU,
    RELU_FLAT,
    ADD,
    ADD_BIAS,
    FLATTEN,
    MEAN,
    SCALED,
    MAX,
    COLUMN_MEAN,
    CONCATENATE,
    DENSE,
    DENSE_TANH,
) = range(len(KINDS))
ROWS, COLUMNS, WIDTH, PAD, VALUE, LOGITS, OWNERS = range(7)


@record
class Network(NamedTuple):
    """A network in memory."""

    steps: np.ndarray
    owners: np.ndarray
    shape: np.ndarray
    """See `layers.Plan`."""
    small: np.ndarray
    fine: np.ndarray
    exact: np.ndarray
    weights: np.ndarray
    """[n] float32: the kernels"""
    room: np.ndarray
    """[n] float32: outputs of the steps"""


def network_of(plan: Plan) -> Network:
    """Return a network; `widen` writes its kernels."""
    weights, room = np.zeros(plan.kernels, np.float32), np.zeros(plan.room, np.float32)
    return Network(plan.steps, plan.owners, plan.shape, plan.small, plan.fine, plan.exact, weights, room)


def bytes_of(network: Network) -> bytes:
    """Return the trained numbers of a network, as `engine.js` reads them.

    Of each array the first bytes of all numbers, then the second ones, and so on: high bytes are alike, so that a page
    is packed into 3 % less.
    """
    arrays = network.small, network.fine, network.exact
    return b"".join(each.view(np.uint8).reshape(-1, each.itemsize).T.tobytes() for each in arrays)


@inlined
def place_of(step, i, o):
    """Return the place of a weight of input i (of all points of the kernel) and filter o, in the order of their use.

    FILTERS filters of an input lie together as long as there are that many; the rest follows.
    """
    outputs, inputs = np.int64(step[OUTPUTS]), np.int64(step[KERNEL]) * step[KERNEL] * step[INPUTS]
    blocks = outputs // FILTERS * FILTERS
    if o < blocks:
        return step[WEIGHTS] + (o // FILTERS * inputs + i) * FILTERS + o % FILTERS
    return step[WEIGHTS] + blocks * inputs + i * (outputs - blocks) + o - blocks


@compiled
def widen(network):
    """Write the kernels in 32 bits."""
    widen_kernels(network, network.steps)
    widen_kernels(network, network.owners)


@compiled
def widen_kernels(network, steps):
    for n in range(steps.shape[0]):
        step = steps[n]
        outputs, whole = np.int64(step[OUTPUTS]), step[WEIGHTS] >= network.small.shape[0]
        for i in range(np.int64(step[KERNEL]) * step[KERNEL] * step[INPUTS]):
            for o in range(outputs):
                at = i * outputs + o
                place = place_of(step, i, o) if step[KIND] == CONV else step[WEIGHTS] + at
                if whole:
                    network.weights[place] = network.exact[step[SCALES] + at]
                else:
                    at += step[WEIGHTS]
                    fine = network.fine[at >> 1] >> (BITS * (at & 1)) & ((1 << BITS) - 1)
                    number = (np.int32(network.small[at]) << BITS) + np.int32(fine)
                    network.weights[place] = np.float64(number) * network.exact[step[SCALES] + o]


@compiled
def convolution(step, shape, weights, exact, room):
    """Compute TILE points at a time, over the margins between rows as well, which are then set to 0 again."""
    width, pad, size = np.int64(shape[WIDTH]), np.int64(shape[PAD]), np.int64(step[KERNEL])
    inputs, outputs = np.int64(step[INPUTS]), np.int64(step[OUTPUTS])
    begin = pad * width + pad
    end = begin + (shape[ROWS] - 1) * width + shape[COLUMNS]
    before, blocks = (size - 1) // 2, outputs // FILTERS * FILTERS
    for p in range(begin, end + TILE - 1):
        for o in range(outputs):
            room[step[TO] + p * outputs + o] = exact[step[EXACT] + o]
    for o in range(0, blocks, FILTERS):
        for p in range(begin, end, TILE):
            to = step[TO] + p * outputs + o
            for k in range(size * size):
                at = step[FROM] + (p + (k // size - before) * width + k % size - before) * inputs
                place = step[WEIGHTS] + (o * size * size + k * FILTERS) * inputs
                add_products(room, to, outputs, at, inputs, weights, place)
    if blocks < outputs:
        convolve_rest(step, shape, weights, room, blocks)
    clear_margins(shape, room, np.int64(step[TO]), outputs)


@compiled
def convolve_rest(step, shape, weights, room, blocks):
    """Add the products of the filters behind the last block."""
    width, pad, size = np.int64(shape[WIDTH]), np.int64(shape[PAD]), np.int64(step[KERNEL])
    inputs, outputs = np.int64(step[INPUTS]), np.int64(step[OUTPUTS])
    begin, rest = pad * width + pad, outputs - blocks
    before = (size - 1) // 2
    first = step[WEIGHTS] + blocks * size * size * inputs
    for p in range(begin, begin + (shape[ROWS] - 1) * width + shape[COLUMNS]):
        to = step[TO] + p * outputs + blocks
        for k in range(size * size):
            at = step[FROM] + (p + (k // size - before) * width + k % size - before) * inputs
            for i in range(inputs):
                x, place = room[at + i], first + (k * inputs + i) * rest
                for o in range(rest):
                    room[to + o] += x * weights[place + o]


@compiled
def clear_margins(shape, room, to, filters):
    """Set what lies between the rows of a board, and the points behind it, to 0."""
    width, pad, columns = np.int64(shape[WIDTH]), np.int64(shape[PAD]), np.int64(shape[COLUMNS])
    for r in range(shape[ROWS]):
        p = (r + pad) * width + pad + columns
        behind = np.int64(TILE) if r == shape[ROWS] - 1 and TILE > pad else pad
        for i in range(behind):
            for o in range(filters):
                room[to + (p + i) * filters + o] = 0.0


@inlined
def first_point(shape, r):
    """Return the place of a row's first point."""
    return (r + shape[PAD]) * np.int64(shape[WIDTH]) + shape[PAD]


@compiled
def cast(step, shape, planes, room, ones):
    """Write the planes as numbers, from bytes or from an earlier step, with one more plane of ones if wanted."""
    columns, inputs, outputs = np.int64(shape[COLUMNS]), np.int64(step[INPUTS]), np.int64(step[OUTPUTS])
    for r in range(shape[ROWS]):
        for c in range(columns):
            p = first_point(shape, r) + c
            to = step[TO] + p * outputs
            for i in range(inputs):
                if ones:
                    room[to + i] = room[step[FROM] + p * inputs + i]
                else:
                    room[to + i] = planes[(r * columns + c) * inputs + i]
            if ones:
                room[to + inputs] = 1.0


@compiled
def point_by_point(step, shape, room):
    """ReLU, or the sum of two boards, or of a board and a number for each filter."""
    columns, filters, kind = np.int64(shape[COLUMNS]), np.int64(step[OUTPUTS]), step[KIND]
    for r in range(shape[ROWS]):
        for c in range(columns):
            p = (first_point(shape, r) + c) * filters
            out = room[step[TO] + p : step[TO] + p + filters]
            one = room[step[FROM] + p : step[FROM] + p + filters]
            if kind == RELU:
                for o in range(filters):
                    out[o] = max(one[o], np.float32(0.0))
            else:
                at = step[SECOND] + (p if kind == ADD else 0)
                other = room[at : at + filters]
                for o in range(filters):
                    out[o] = one[o] + other[o]


@compiled
def pool(step, shape, room):
    """Mean or maximum of each filter over the board."""
    columns, filters, kind = np.int64(shape[COLUMNS]), np.int64(step[OUTPUTS]), step[KIND]
    out = room[step[TO] : step[TO] + filters]
    for o in range(filters):
        out[o] = 0.0 if kind == MEAN else -np.inf
    for r in range(shape[ROWS]):
        for c in range(columns):
            p = step[FROM] + (first_point(shape, r) + c) * filters
            one = room[p : p + filters]
            if kind == MEAN:
                for o in range(filters):
                    out[o] += one[o]
            else:
                for o in range(filters):
                    out[o] = max(out[o], one[o])
    if kind == MEAN:
        for o in range(filters):
            out[o] /= shape[ROWS] * shape[COLUMNS]


@compiled
def flatten(step, shape, room):
    """Write a board without its margins."""
    columns, filters = np.int64(shape[COLUMNS]), np.int64(step[INPUTS])
    for r in range(shape[ROWS]):
        to, at = step[TO] + r * columns * filters, step[FROM] + first_point(shape, r) * filters
        for i in range(columns * filters):
            room[to + i] = room[at + i]


@compiled
def column_mean(step, shape, room):
    for c in range(shape[COLUMNS]):
        total = np.float32(0.0)
        for r in range(shape[ROWS]):
            total += room[step[FROM] + r * shape[COLUMNS] + c]
        room[step[TO] + c] = total / shape[ROWS]


@compiled
def dense(step, weights, exact, room):
    inputs, outputs = np.int64(step[INPUTS]), np.int64(step[OUTPUTS])
    out = room[step[TO] : step[TO] + outputs]
    for o in range(outputs):
        out[o] = exact[step[EXACT] + o]
    for i in range(inputs):
        x = room[step[FROM] + i]
        w = weights[step[WEIGHTS] + i * outputs : step[WEIGHTS] + (i + 1) * outputs]
        for o in range(outputs):
            out[o] += x * w[o]
    if step[KIND] == DENSE_TANH:
        for o in range(outputs):
            out[o] = math.tanh(np.float64(out[o]))


@compiled
def copied(step, exact, room):
    """Part of a concatenation, numbers times a factor, or the ReLU of features that are no board."""
    kind = step[KIND]
    factor = exact[step[EXACT]] if kind == SCALED else np.float32(1.0)
    for i in range(step[OUTPUTS]):
        x = room[step[FROM] + i] * factor
        room[step[TO] + i] = max(x, np.float32(0.0)) if kind == RELU_FLAT else x


@inlined
def compute(network, steps, planes):
    """Compute steps. As a function of its own it makes an evaluation 1 to 2 % slower."""
    shape, weights, exact, room = network.shape, network.weights, network.exact, network.room
    for n in range(steps.shape[0]):
        step = steps[n]
        kind = step[KIND]
        if kind == CONV:
            convolution(step, shape, weights, exact, room)
        elif kind == RELU or kind == ADD or kind == ADD_BIAS:
            point_by_point(step, shape, room)
        elif kind == DENSE or kind == DENSE_TANH:
            dense(step, weights, exact, room)
        elif kind == MEAN or kind == MAX:
            pool(step, shape, room)
        elif kind == CAST or kind == WITH_ONES:
            cast(step, shape, planes, room, kind == WITH_ONES)
        elif kind == FLATTEN:
            flatten(step, shape, room)
        elif kind == COLUMN_MEAN:
            column_mean(step, shape, room)
        else:
            copied(step, exact, room)


@compiled
def evaluate(network, planes, logits):
    """Write the logits of a position with these planes and return its value."""
    shape, room = network.shape, network.room
    compute(network, network.steps, planes)
    for i in range(logits.shape[0]):
        logits[i] = room[shape[LOGITS] + i]
    return room[shape[VALUE]]


@compiled
def foresee(network, planes, owned):
    """Write how likely each point is the player's at the end, less how likely it is the other's; after `evaluate`.

    Return whether the network has learned that. A head has three logits a point: the other's, nobody's, own.
    """
    shape, room = network.shape, network.room
    if network.owners.shape[0] == 0:
        return False
    compute(network, network.owners, planes)
    for i in range(owned.shape[0]):
        at = shape[OWNERS] + 3 * (first_point(shape, i // shape[COLUMNS]) + i % shape[COLUMNS])
        top = np.float64(max(room[at], room[at + 1], room[at + 2]))
        other, nobody, own = math.exp(room[at] - top), math.exp(room[at + 1] - top), math.exp(room[at + 2] - top)
        owned[i] = (own - other) / (own + nobody + other)
    return True
