"""The network as a list of layers: one description, from which Keras, OpenVINO, ONNX and NumPy make theirs.

`residual_network` is the network of AlphaGo Zero (Silver et al. 2017, Methods, "Neural network architecture"): a
convolution, residual blocks, a policy head and a value head. What is not in that paper cites its source.

A renderer is a loop over `Architecture.shown()`: every layer comes after those that it reads, and
network/numpy_network.py defines what each kind computes. The arrays of a version are in the order of
`Architecture.weights()`. In what number format Keras trains, and with how many boards in one image, is its own concern
(network/keras_network.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from config import NetworkSettings, UserError
from config import layers as layer_sizes
from game import Game
from memory import learns_ownership

Shape = tuple[int, ...]
MEAN_WIDTH, WIDTHS = 14.0, 10.0
"""A mean over the board is also given times (width - 14) / 10, with the width as the root of the area (KataGo)."""


class Layer(NamedTuple):
    """One layer, without its arrays."""

    name: str
    kind: str
    """planes, cast, with_ones, conv, normalise, relu, add, flatten, reshape, mean, scaled, max, column_mean,
    concatenate, dense, dense_tanh or identity."""
    inputs: tuple[str, ...]
    """Names of the layers whose outputs it reads."""
    shape: Shape
    """Of its output, without the batch: [rows, columns, filters] or [features]."""
    weights: tuple[Shape, ...] = ()
    """Shapes of its arrays: kernel, bias; or gamma, beta, moving mean, moving variance."""
    factor: float = 1.0
    """Of `scaled`."""
    initial: str = ""
    """How its kernel begins, if it has one: Keras's name of an initializer."""


class Architecture(NamedTuple):
    """A network's layers in the order in which they are made and evaluated."""

    name: str
    layers: tuple[Layer, ...]
    tower: str
    """The layer that all heads read."""
    heads: tuple[str, ...]
    """value_head and policy_head, then those that only help training."""

    def weights(self) -> list[tuple[str, Shape]]:
        """Return (layer, shape) of every array of a version, in the order of Keras: by distance from the outputs."""
        depths = {layer.name: 0 for layer in self.layers}
        for layer in reversed(self.layers):  # each layer after those that it reads
            for name in layer.inputs:
                depths[name] = max(depths[name], depths[layer.name] + 1)
        inputs = {layer.name: layer.inputs for layer in self.layers}
        visited: dict[str, int] = {}
        waiting = list(self.heads[::-1])
        while waiting:
            name = waiting.pop()
            if name not in visited:
                visited[name] = len(visited)
                waiting += inputs[name][::-1]
        order = sorted(self.layers, key=lambda layer: (-depths[layer.name], visited[layer.name]))
        return [(layer.name, shape) for layer in order for shape in layer.weights]

    def arrays(self, weights: Sequence[np.ndarray]) -> dict[str, list[np.ndarray]]:
        """Return {layer: its arrays} of a version."""
        found: dict[str, list[np.ndarray]] = {layer.name: [] for layer in self.layers}
        for (name, _), array in zip(self.weights(), weights, strict=True):
            found[name].append(array)
        return found

    def shown(self, outputs: Sequence[str] = ()) -> list[Layer]:
        """Return the layers that `outputs` need; by default value and policy, not heads that only help training."""
        needed = set(outputs or self.heads[:2])
        for layer in reversed(self.layers):
            if layer.name in needed:
                needed.update(layer.inputs)
        return [layer for layer in self.layers if layer.name in needed]


def residual_network(settings: NetworkSettings, game: Game) -> Architecture:
    """Return the layers of the network that these settings describe, for a game."""
    network = _Layers(settings, game)
    first, *blocks = layer_sizes(settings)
    x = network.board()
    x = network.conv_layer(x, *first, "conv")
    for i, (filters, kernel) in enumerate(blocks, 1):
        x = network.residual_layer(x, filters, kernel, i)
    tower = x
    value = network.value_head(tower)  # a seed's weights depend on the order of the heads
    seen = network.policy_layer(tower)
    heads = [value, network.policy_head(seen, "policy")]
    if settings.soft_policy_weight:
        heads.append(network.policy_head(seen, "soft_policy"))
    if learns_ownership(settings, game):
        heads.append(network.ownership_head(tower))
    return Architecture(game.name, tuple(network.all.values()), tower, tuple(heads))


class _Seen(NamedTuple):
    """What the last layers of a policy head read."""

    features: str
    """Flat, or a board where the head pools."""
    pooled: str = ""
    """Means and maxima over the board where the head pools."""


class _Layers:
    """The layers so far. A method adds those of a part of the network and returns the name of the last one."""

    def __init__(self, settings: NetworkSettings, game: Game) -> None:
        self.settings, self.game = settings, game
        self.all: dict[str, Layer] = {}
        self.normalised = settings.normalisation == "batch"
        self.pools = settings.global_pooling or settings.many_sizes

    # ---- parts, with the article's names

    def board(self) -> str:
        """Add the input: planes [rows, columns, planes], and for many sizes one that is 1 on the board."""
        rows, columns, planes = self.game.input_shape
        self._add("planes", "planes", (), (rows, columns, planes))
        x = self._add("cast", "cast", ("planes",))
        return self._add("board", "with_ones", (x,), (rows, columns, planes + 1)) if self.settings.many_sizes else x

    def conv_layer(self, x: str, filters: int, kernel: int, name: str) -> str:
        """Add a convolution, normalisation and ReLU."""
        return self._relu(self._conv(x, filters, kernel, name), name)

    def residual_layer(self, x: str, filters: int, kernel: int, number: int) -> str:
        """Add two convolutions and a shortcut; without normalisation the second starts at 0 (Zhang 2019, Fixup).

        For many sizes every second block pools over the board (KataGo 3.3).
        """
        name = f"block{number}"
        y = self.conv_layer(x, filters, kernel, f"{name}a")
        if self.settings.many_sizes and number % 2 == 0:
            y = self._biased(y, name).features
        y = self._conv(y, filters, kernel, f"{name}b", initial="he_normal" if self.normalised else "zeros")
        return self._relu(self._add(f"{name}_add", "add", (x, y)), name)

    def value_head(self, x: str) -> str:
        """Add the value [1], for the player to move."""
        x = self.conv_layer(x, self.settings.value_filters, 1, "value_conv")
        x = self._pooled(x, "value") if self.pools else self._flatten(x, "value_flat")
        x = self._relu(self._dense(x, self.settings.value_units, "value_dense"), "value_dense")
        return self._dense(x, 1, "value_head", "dense_tanh")

    def policy_layer(self, x: str) -> _Seen:
        """Add what all policy heads read."""
        pools = self.pools and self.game.policy_layout != "other"
        if self.settings.many_sizes and not pools:
            raise UserError("many_sizes: expected a game whose moves are points or columns of its board")
        x = self.conv_layer(x, self.settings.policy_filters, 1, "policy_conv")
        return self._biased(x, "policy") if pools else _Seen(self._flatten(x, "policy_flat"))

    def policy_head(self, seen: _Seen, name: str) -> str:
        """Add logits [action_size], unmasked: dense, or of each point or column from the features there."""
        size, (rows, columns) = self.game.action_size, self.game.grid_shape
        if not seen.pooled:
            return self._dense(seen.features, size, f"{name}_head")
        x = self._conv_to_output(seen.features, 1, f"{name}_points")
        if self.game.policy_layout == "columns":
            x = self._add(f"{name}_lines", "reshape", (x,), (rows, columns))
            x = self._add(f"{name}_columns", "column_mean", (x,), (columns,))
            return self._add(f"{name}_head", "identity", (x,))
        x = self._flatten(x, f"{name}_board")
        if size > rows * columns:
            others = self._dense(seen.pooled, size - rows * columns, f"{name}_others")
            x = self._add(f"{name}_all", "concatenate", (x, others), (size,))
        return self._add(f"{name}_head", "identity", (x,))

    def ownership_head(self, x: str) -> str:
        """Add logits [rows, columns, 3] of each point's final owner: the other, nobody, the player to move (KataGo)."""
        x = self.conv_layer(x, self.settings.policy_filters, 1, "ownership_conv")
        return self._conv_to_output(x, 3, "ownership_head")

    # ---- pooling over the board (KataGo 3.3)

    def _pooled(self, x: str, name: str) -> str:
        """Add mean and maximum over the board, [2 * filters].

        For boards of many sizes, [3 * filters]: between them the mean scaled by the board's width. Features are not
        negative, so that zeros outside a board do not change the maximum.
        """
        filters = self.all[x].shape[-1]
        parts = [self._add(f"{name}_mean", "mean", (x,), (filters,))]
        if self.settings.many_sizes:
            rows, columns = self.game.grid_shape
            factor = ((rows * columns) ** 0.5 - MEAN_WIDTH) / WIDTHS
            parts.append(self._add(f"{name}_scaled", "scaled", (parts[0],), factor=factor))
        parts.append(self._add(f"{name}_max", "max", (x,), (filters,)))
        return self._add(f"{name}_pool", "concatenate", tuple(parts), (len(parts) * filters,))

    def _biased(self, x: str, name: str) -> _Seen:
        """Add a bias of each filter that depends on the features pooled over the board."""
        filters = self.all[x].shape[-1]
        pooled = self._pooled(x, name)
        bias = self._dense(pooled, filters, f"{name}_bias")
        bias = self._add(f"{name}_bias_board", "reshape", (bias,), (1, 1, filters))
        x = self._add(f"{name}_biased", "add", (x, bias))
        return _Seen(self._relu(x, f"{name}_point"), pooled)

    # ---- one layer

    def _add(
        self,
        name: str,
        kind: str,
        inputs: tuple[str, ...],
        shape: Shape = (),
        weights: tuple[Shape, ...] = (),
        *,
        factor: float = 1.0,
        initial: str = "",
    ) -> str:
        """Add a layer; by default its output has the shape of its first input."""
        self.all[name] = Layer(name, kind, inputs, shape or self.all[inputs[0]].shape, weights, factor, initial)
        return name

    def _conv(self, x: str, filters: int, kernel: int, name: str, *, initial: str = "he_normal") -> str:
        """Add a convolution of the same size; with BatchNormalization that takes the place of its bias."""
        rows, columns, planes = self.all[x].shape
        shapes: tuple[Shape, ...] = ((kernel, kernel, planes, filters),)
        if not self.normalised:
            return self._add(name, "conv", (x,), (rows, columns, filters), (*shapes, (filters,)), initial=initial)
        x = self._add(name, "conv", (x,), (rows, columns, filters), shapes, initial=initial)
        return self._add(f"{name}_bn", "normalise", (x,), weights=((filters,),) * 4)

    def _conv_to_output(self, x: str, filters: int, name: str) -> str:
        """Add a 1x1 convolution whose sums are a head's outputs: with a bias, never normalised."""
        rows, columns, planes = self.all[x].shape
        shapes: tuple[Shape, ...] = ((1, 1, planes, filters), (filters,))
        return self._add(name, "conv", (x,), (rows, columns, filters), shapes, initial="glorot_uniform")

    def _relu(self, x: str, name: str) -> str:
        return self._add(f"{name}_relu", "relu", (x,))

    def _dense(self, x: str, units: int, name: str, kind: str = "dense") -> str:
        shapes = ((self.all[x].shape[0], units), (units,))
        return self._add(name, kind, (x,), (units,), shapes, initial="glorot_uniform")

    def _flatten(self, x: str, name: str) -> str:
        rows, columns, filters = self.all[x].shape
        return self._add(name, "flatten", (x,), (rows * columns * filters,))
