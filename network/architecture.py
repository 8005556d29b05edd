"""The layers of `model.Residual_CNN` as a list, without Keras: what play needs to evaluate a stored network.

model.py trains the network; other runtimes are given these layers and a version's arrays. Files hold the arrays in
Keras's order of layers, which `Layers.weights` repeats. Tests hold both equal to the Keras network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from config import NetworkSettings
from config import layers as layer_sizes
from game import Game
from memory import learns_ownership

Shape = tuple[int, ...]
MEAN_WIDTH, WIDTHS = 14.0, 10.0
"""A mean over the board is also given times (width - 14) / 10, with the width as the root of the area (KataGo)."""


def width_factor(rows: int, columns: int) -> float:
    """Return the factor of the mean over a board that is also scaled by its width."""
    return ((rows * columns) ** 0.5 - MEAN_WIDTH) / WIDTHS


def pools_in_block(settings: NetworkSettings, name: str) -> bool:
    """Return whether a residual block, "block1" and so on, pools over the board: every second one."""
    return settings.many_sizes and int(name.removeprefix("block")) % 2 == 0


class Layer(NamedTuple):
    """One layer."""

    name: str
    kind: str
    """planes, cast, with_ones, conv, normalise, relu, add, flatten, reshape, mean, scaled, max, column_mean,
    concatenate, dense, dense_tanh or identity."""
    inputs: tuple[str, ...]
    shape: Shape
    """Of its output, without the batch."""
    weights: tuple[Shape, ...] = ()
    """Shapes of its arrays, in Keras's order: kernel, bias; or gamma, beta, moving mean, moving variance."""
    factor: float = 1.0
    """Of `scaled`."""


class Layers:
    """The layers of a residual network in the order of evaluation; its heads follow `model.Residual_CNN`."""

    def __init__(self, settings: NetworkSettings, game: Game) -> None:
        self.settings, self.game = settings, game
        self.all: dict[str, Layer] = {}
        sizes = layer_sizes(settings)
        self._add("planes", "planes", (), tuple(game.input_shape))
        x = self._add("cast", "cast", ("planes",))
        if settings.many_sizes:  # the mask of a board that fills its frame
            rows, columns, planes = game.input_shape
            x = self._add("board", "with_ones", (x,), (rows, columns, planes + 1))
        x = self._conv_layer(x, *sizes[0], "conv")
        for i, (filters, kernel) in enumerate(sizes[1:], 1):
            y = self._conv_layer(x, filters, kernel, f"block{i}a")
            if pools_in_block(settings, f"block{i}"):
                y, _ = self._biased(y, f"block{i}")
            y = self._conv(y, filters, kernel, f"block{i}b")
            x = self._relu(self._add(f"block{i}_add", "add", (x, y)), f"block{i}")
        self.heads = [self._value_head(x)]
        seen = self._policy_layer(x)
        self.heads.append(self._policy_head(*seen))
        if settings.soft_policy_weight:
            self.heads.append(self._policy_head(*seen, "soft_policy"))
        if learns_ownership(settings, game):
            y = self._conv_layer(x, settings.policy_filters, 1, "ownership_conv")
            self.heads.append(self._conv(y, 3, 1, "ownership_head", bias=True))

    def weights(self) -> list[tuple[str, Shape]]:
        """Return (layer, shape) of every array of a version, in the order of Keras: by distance from the outputs."""
        depths = dict.fromkeys(self.all, 0)
        for layer in reversed(self.all.values()):  # each layer after those that it takes in
            for name in layer.inputs:
                depths[name] = max(depths[name], depths[layer.name] + 1)
        visited: dict[str, int] = {}
        waiting = self.heads[::-1]
        while waiting:
            name = waiting.pop()
            if name not in visited:
                visited[name] = len(visited)
                waiting += self.all[name].inputs[::-1]
        order = sorted(self.all, key=lambda name: (-depths[name], visited[name]))
        return [(name, shape) for name in order for shape in self.all[name].weights]

    def shown(self, outputs: Sequence[str] = ()) -> list[Layer]:
        """Return the layers that `outputs` need; by default value and policy, not heads that only help training."""
        needed, waiting = set(), list(outputs or self.heads[:2])
        while waiting:
            name = waiting.pop()
            needed.add(name)
            waiting += self.all[name].inputs
        return [layer for layer in self.all.values() if layer.name in needed]

    # ---- one layer

    def _add(
        self, name: str, kind: str, inputs: tuple[str, ...], shape: Shape | None = None,
        weights: tuple[Shape, ...] = (), factor: float = 1.0,
    ) -> str:  # fmt: skip
        shape = self.all[inputs[0]].shape if shape is None else shape
        self.all[name] = Layer(name, kind, inputs, shape, weights, factor)
        return name

    def _conv(self, x: str, filters: int, kernel: int, name: str, *, bias: bool = False) -> str:
        rows, columns, planes = self.all[x].shape
        normalised = self.settings.normalisation == "batch" and not bias
        shapes: tuple[Shape, ...] = ((kernel, kernel, planes, filters),)
        x = self._add(name, "conv", (x,), (rows, columns, filters), shapes if normalised else (*shapes, (filters,)))
        return self._add(f"{name}_bn", "normalise", (x,), weights=((filters,),) * 4) if normalised else x

    def _relu(self, x: str, name: str) -> str:
        return self._add(f"{name}_relu", "relu", (x,))

    def _conv_layer(self, x: str, filters: int, kernel: int, name: str) -> str:
        return self._relu(self._conv(x, filters, kernel, name), name)

    def _dense(self, x: str, units: int, name: str, kind: str = "dense") -> str:
        return self._add(name, kind, (x,), (units,), ((self.all[x].shape[0], units), (units,)))

    def _flatten(self, x: str, name: str) -> str:
        rows, columns, filters = self.all[x].shape
        return self._add(name, "flatten", (x,), (rows * columns * filters,))

    def _pooled(self, x: str, name: str) -> str:
        filters = self.all[x].shape[-1]
        parts = [self._add(f"{name}_{kind}", kind, (x,), (filters,)) for kind in ("mean", "max")]
        if self.settings.many_sizes:
            factor = width_factor(*self.game.grid_shape)
            parts.insert(1, self._add(f"{name}_scaled", "scaled", (parts[0],), factor=factor))
        return self._add(f"{name}_pool", "concatenate", tuple(parts), (len(parts) * filters,))

    def _biased(self, x: str, name: str) -> tuple[str, str]:
        """Return (a board of features with a bias from these pooled over it, the pooled ones)."""
        filters = self.all[x].shape[-1]
        pooled = self._pooled(x, name)
        bias = self._dense(pooled, filters, f"{name}_bias")
        bias = self._add(f"{name}_bias_board", "reshape", (bias,), (1, 1, filters))
        return self._relu(self._add(f"{name}_biased", "add", (x, bias)), f"{name}_point"), pooled

    # ---- heads

    @property
    def _pools(self) -> bool:
        return self.settings.global_pooling or self.settings.many_sizes

    def _value_head(self, x: str) -> str:
        x = self._conv_layer(x, self.settings.value_filters, 1, "value_conv")
        x = self._pooled(x, "value") if self._pools else self._flatten(x, "value_flat")
        x = self._relu(self._dense(x, self.settings.value_units, "value_dense"), "value_dense")
        return self._dense(x, 1, "value_head", "dense_tanh")

    def _policy_layer(self, x: str) -> tuple[str, str]:
        """Return the policy head's inputs: (flat features, ""), or (a board of features, these pooled over it)."""
        filters = self.settings.policy_filters
        x = self._conv_layer(x, filters, 1, "policy_conv")
        if not self._pools or self.game.policy_layout == "other":
            return self._flatten(x, "policy_flat"), ""
        return self._biased(x, "policy")

    def _policy_head(self, x: str, pooled: str, name: str = "policy") -> str:
        size, (rows, columns) = self.game.action_size, self.game.grid_shape
        if not pooled:
            return self._dense(x, size, f"{name}_head")
        x = self._conv(x, 1, 1, f"{name}_points", bias=True)
        if self.game.policy_layout == "columns":
            x = self._add(f"{name}_lines", "reshape", (x,), (rows, columns))
            x = self._add(f"{name}_columns", "column_mean", (x,), (columns,))
            return self._add(f"{name}_head", "identity", (x,))
        x = self._flatten(x, f"{name}_board")
        if size > rows * columns:
            others = self._dense(pooled, size - rows * columns, f"{name}_others")
            x = self._add(f"{name}_all", "concatenate", (x, others), (size,))
        return self._add(f"{name}_head", "identity", (x,))
