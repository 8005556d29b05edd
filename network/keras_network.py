"""A network's layers as a Keras model: to be trained, or to evaluate boards of one size.

What only training needs is here and not in the list of layers: the number format, masks for boards of several sizes in
one frame (network/masked_layers.py), several boards in one image (network/interleaved_boards.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from network.architecture import Architecture, Layer
from network.interleaved_boards import DilatedConv2D, Interleave, Separate, boards_side_by_side
from network.keras_import import keras, layers, ops
from network.masked_layers import BoardMean, BoardReLU, ColumnMean, WidthScaling

POLICY_HEADS = "policy_", "soft_policy_"
"""How the names of their layers begin."""
SEPARABLE = {"conv", "normalise", "relu", "add"}
"""Kinds of layers that compute the same on boards that are interleaved in one image."""


def keras_network(
    architecture: Architecture, dtype: str = "float32", *, masked: bool = False, boards: int = 1, l2: float = 0.0
) -> keras.Model:
    """Return a Keras model: planes [B, rows, columns, planes] uint8 -> one output for each head.

    dtype: "float32" or "mixed_bfloat16". masked: boards are of several sizes; one more plane is 1 on the board and 0
    outside. boards: how many share an image in the tower; B must be a multiple of it. l2: penalty on the kernels.
    """
    rows, columns, planes = architecture.layers[0].shape
    board = keras.Input((rows, columns, planes + masked), dtype="uint8", name="planes")
    x = layers.Rescaling(1.0, dtype=dtype, name="cast")(board)
    form = _Format(boards, x[..., -1:] if masked else None, l2)
    if boards > 1:
        x = Interleave(boards, dtype=dtype, name="interleave")(x)
    made = {"cast": x}
    for layer in architecture.layers[2:]:
        inputs = [made[name] for name in layer.inputs]
        x = _output(layer, inputs, "float32" if _is_exact(layer, architecture) else dtype, form)
        if layer.name == architecture.tower and boards > 1:
            x = Separate(boards, dtype=dtype, name="separate")(x)
            form = form._replace(boards=1)
        made[layer.name] = x
    return keras.Model(board, [made[name] for name in architecture.heads])


def boards_to_interleave(architecture: Architecture, batch: int) -> int:
    """Return how many boards of a training batch may share an image: 1 where more is impossible or no faster."""
    names = [layer.name for layer in architecture.layers]
    tower = architecture.layers[2 : names.index(architecture.tower) + 1]
    if any(layer.kind not in SEPARABLE for layer in tower):
        return 1
    kernels = [layer.weights[0][0] for layer in tower if layer.kind == "conv"]
    return boards_side_by_side(batch, architecture.layers[0].shape[1], kernels)


def boards_in_image(model: keras.Model) -> int:
    """Return how many boards share an image in a model's tower."""
    return next((layer.boards for layer in model.layers if isinstance(layer, Interleave)), 1)


class _Format(NamedTuple):
    """How the layers of a model compute."""

    boards: int
    """Boards in an image."""
    mask: Any
    """1 on the board and 0 outside, [B, rows, columns, 1]; None where all boards fill their frame."""
    l2: float

    def penalty(self) -> Any:
        """Return the penalty on a kernel."""
        return keras.regularizers.L2(self.l2) if self.l2 else None


def _is_exact(layer: Layer, architecture: Architecture) -> bool:
    """Return whether a layer computes in float32 always: outputs, and all of a policy head that pools over the board.

    A board's gradients add up to 0 there: in bfloat16 AdamW would make steps of their rounding errors, and diverge.
    """
    pools = any(each.name == "policy_pool" for each in architecture.layers)
    return layer.name in architecture.heads or pools and layer.name.startswith(POLICY_HEADS)


def _output(layer: Layer, inputs: list[Any], dtype: str, form: _Format) -> Any:
    """Return a layer's output for those of the layers that it reads."""
    x, mask = inputs[0], form.mask
    options = {"dtype": dtype, "name": layer.name}
    match layer.kind:
        case "with_ones":
            return ops.pad(x, ((0, 0), (0, 0), (0, 0), (0, 1)), constant_values=1.0) if mask is None else x
        case "conv":
            return _convolution(layer, options, form)(x)
        case "normalise":
            inside = {} if mask is None else {"mask": mask[..., 0]}
            return layers.BatchNormalization(momentum=0.9, **options)(x, **inside)
        case "relu":
            on_board = mask is not None and len(layer.shape) == 3
            return BoardReLU(**options)([x, mask]) if on_board else layers.ReLU(**options)(x)
        case "add":
            return layers.Add(**options)(inputs)
        case "flatten":
            return layers.Flatten(dtype="float32", name=layer.name)(x)
        case "reshape":
            return layers.Reshape(layer.shape, **options)(x)
        case "mean":
            return layers.GlobalAveragePooling2D(**options)(x) if mask is None else BoardMean(**options)([x, mask])
        case "scaled":
            return layers.Rescaling(layer.factor, **options)(x) if mask is None else WidthScaling(**options)([x, mask])
        case "max":
            return layers.GlobalMaxPooling2D(**options)(x)
        case "column_mean":
            return layers.GlobalAveragePooling1D(**options)(x) if mask is None else ColumnMean(**options)([x, mask])
        case "concatenate":
            return layers.Concatenate(**options)(inputs)
        case "dense" | "dense_tanh":
            (_, units), _ = layer.weights
            return layers.Dense(
                units,
                activation="tanh" if layer.kind == "dense_tanh" else None,
                kernel_initializer=layer.initial,
                kernel_regularizer=form.penalty(),
                **options,
            )(x)
        case "identity":
            return layers.Identity(**options)(x)
    raise ValueError(f"expected a kind of layer from network/architecture.py, got {layer.kind}")


def _convolution(layer: Layer, options: dict[str, str], form: _Format) -> keras.layers.Layer:
    kernel, *bias = layer.weights
    rows, columns, _, filters = kernel
    inside: dict[str, Any] = {
        "padding": "same",
        "use_bias": bool(bias),
        "kernel_initializer": layer.initial,
        "kernel_regularizer": form.penalty(),
        **options,
    }
    if form.boards > 1:
        return DilatedConv2D(filters, (rows, columns), boards=form.boards, **inside)
    return layers.Conv2D(filters, (rows, columns), **inside)
