"""`Gen_Model` and `Residual_CNN`: the network, its loss, its training.

Keras is used here and in network/ only.
Value: for the player to move, in [-1, 1]. Policy: unmasked logits [B, action_size]; legality is the caller's.
A state of a model is a list of arrays, weights then optimizer; files hold arrays only, never a Keras object.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from config import VERSION, Config, UserError
from config import layers as layer_sizes
from game import Game, GameState
from memory import Batch, learns_ownership
from network.cpu_features import resolve_precision
from network.interleaved_boards import DilatedConv2D, Interleave, Separate, boards_side_by_side
from network.keras_import import BACKEND, gpus, keras, layers, ops, own_settings, set_seed
from network.keras_predictor import TRACING
from network.losses import ownership_loss, soft_policy_loss
from network.losses import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from network.masked_layers import BoardMean, BoardReLU, ColumnMean, WidthScaling
from network.optimizers import WeightAverage, make_optimizer
from network.residual_layers import pools_in_block, width_factor
from network.training_step import made_ahead, trace_once
from storage.atomic_files import LINES_BYTES, read_limited


class Gen_Model:
    """Base class of the networks. A subclass implements `_build`, which makes `self.model` for a Keras dtype policy."""

    @own_settings()
    def __init__(self, config: Config, game: Game) -> None:
        self.config = config
        self.game = game
        self.precision = resolve_precision(config.precision)
        set_seed(config.seed)
        policy = "mixed_bfloat16" if self.precision == "bfloat16" else "float32"
        owned = config.ownership_weight if learns_ownership(config.network, game) else 0.0
        heads = {
            "soft_policy_head": (soft_policy_loss, config.soft_policy_weight),
            "ownership_head": (ownership_loss, owned),
        }
        self.extra_heads = {name: head for name, head in heads.items() if head[1]}
        """Heads that only help training: {name: (loss, its weight)}; `_build` may leave them out."""
        self.together = 1
        """Boards that share one image in training; a batch of another size is repeated up to a multiple of this."""
        self._masked = config.many_sizes
        """Whether the network being built takes boards of several sizes in one frame: the one that is trained does."""
        self.model = self._build(policy)
        self.extra_heads = {n: head for n, head in self.extra_heads.items() if n in self.model.output_names}
        self._masked, trained = False, self._masked
        self.plain = self._build("float32") if trained or policy != "float32" else self.model
        """The same network for inference, any number of boards, in float32; the weights are copied before each use."""
        self.model.compile(
            optimizer=make_optimizer(config.training),
            loss={"value_head": "mean_squared_error", "policy_head": softmax_cross_entropy_with_logits}
            | {name: loss for name, (loss, _) in self.extra_heads.items()},
            loss_weights={"value_head": 0.5, "policy_head": 0.5}
            | {name: weight for name, (_, weight) in self.extra_heads.items()},
            jit_compile="auto" if BACKEND != "tensorflow" or gpus() else False,
        )
        self.model.optimizer.build(self.model.trainable_variables)
        self._prepare_training()
        self._trained: list[np.ndarray] | None = None
        """The trained weights when the model's weights are a running average of them."""

    def _build(self, dtype: str) -> keras.Model:
        raise NotImplementedError

    def convertToModelInput(self, state: GameState) -> np.ndarray:
        """Return what the network sees of a state: [rows, columns, planes] uint8."""
        return state.planes()

    @own_settings()
    def predict(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (value [B], logits [B, action_size]) from Keras itself: slow, the reference for the back ends."""
        if self.plain is not self.model:
            self.plain.set_weights(self.model.get_weights())
        value, logits = self.plain(planes, training=False)[:2]
        return ops.convert_to_numpy(value)[:, 0], ops.convert_to_numpy(logits)

    def inference(self) -> Callable[..., Any]:
        """Return f(planes, *weights) -> (value [B, 1], logits) without side effects, for a back end to compile."""
        model, order = self.plain, {id(v): i for i, v in enumerate(self.plain.variables)}

        @own_settings()
        def run(planes: Any, *weights: Any) -> Any:
            trainable = [weights[order[id(v)]] for v in model.trainable_variables]
            others = [weights[order[id(v)]] for v in model.non_trainable_variables]
            outputs, _ = model.stateless_call(trainable, others, planes, training=False)
            return outputs[0], outputs[1]

        return run

    @own_settings()
    def fit(
        self,
        batches: Callable[[int], Batch],
        steps: int,
        *,
        rate: Callable[[int], float] | None = None,
        report: Callable[[int], None] | None = None,
    ) -> dict[str, float]:
        """Train on batches(0) .. batches(steps - 1); return the mean losses.

        Raises `ArithmeticError` when a loss or weight is not finite; the caller then returns to its last version.
        """
        decay = self.config.weight_average
        average = WeightAverage(decay, self.get_weights()) if decay else None
        if self._trained is not None:
            self.model.set_weights(self._trained)
        sums: dict[str, np.float32] = {}
        positions = np.float32(0.0)
        lessons = made_ahead(lambda i: self._lesson(batches(i)), steps)
        for i, (planes, targets) in enumerate(lessons):
            self.model.optimizer.learning_rate = self.config.learning_rate if rate is None else rate(i)
            with TRACING:
                found = self.model.train_on_batch(planes, targets, return_dict=True)
            sums = {name: sums.get(name, np.float32(0.0)) + len(planes) * loss for name, loss in found.items()}
            positions += len(planes)
            if average is not None:
                average.update(self.model)
            if report is not None:
                report(i + 1)
        losses = {name.replace("_head", ""): float(total / positions) for name, total in sums.items()}
        if not all(np.isfinite(v) for v in losses.values()) or not self.is_finite():
            raise ArithmeticError(f"training gave numbers that are not finite: {losses}")
        if average is not None:
            self._trained = self.get_weights()
            self.model.set_weights(average.weights)
        return losses

    def _lesson(self, batch: Batch) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return (planes, the target of each head) of a batch, repeated up to a multiple of `together`."""
        planes, value, policy, owners = batch
        given = {"value_head": value[:, None], "policy_head": policy, "soft_policy_head": policy,
                 "ownership_head": owners}  # fmt: skip
        times = self.together // math.gcd(self.together, len(planes))
        heads = ("value_head", "policy_head", *self.extra_heads)
        return np.concatenate([planes] * times), {name: np.concatenate([given[name]] * times) for name in heads}

    def _prepare_training(self) -> None:
        """Compute a loss once: made within the first step, its counters would cause a second trace."""
        grid, actions, planes = self.game.grid_shape, self.game.action_size, self.model.inputs[0].shape[1:]
        kinds = (("uint8", planes), ("float32", ()), ("float32", (actions,)), ("int8", grid))
        nothing = Batch(*(np.zeros((1, *shape), kind) for kind, shape in kinds))
        planes, targets = self._lesson(nothing)
        found = [ops.zeros((len(planes), *head.shape[1:])) for head in self.model.outputs]
        self.model.compute_loss(y=targets, y_pred=found)
        if BACKEND == "tensorflow":
            trace_once(self.model, planes, targets)

    def is_finite(self) -> bool:
        """Return True when no weight is NaN or infinite."""
        return all(bool(np.isfinite(w).all()) for w in self.model.get_weights())

    # ---- state

    def get_weights(self) -> list[np.ndarray]:
        """Return the weights in the order of the layers."""
        return [np.array(w) for w in self.model.get_weights()]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of `get_weights`."""
        return [tuple(w.shape) for w in self.model.weights]

    def named_weights(self) -> list[tuple[str, np.ndarray]]:
        """Return (layer and kind, weights) in the order of the layers."""
        return [(v.path, w) for v, w in zip(self.model.weights, self.get_weights(), strict=True)]

    def set_weights(self, weights: list[np.ndarray]) -> None:
        """Replace the weights; raise `UserError` when their shapes are not this network's."""
        shapes, wanted = [w.shape for w in weights], self.shapes
        if shapes != wanted:
            differ = next((f"{b} expected, {a} came" for a, b in zip(shapes, wanted, strict=False) if a != b), "")
            raise UserError(f"expected {len(wanted)} weights of this network, got {len(shapes)} ({differ})")
        self.model.set_weights(weights)
        self._trained = None

    def get_optimizer(self) -> list[np.ndarray]:
        """Return what training resumes from: the optimizer's variables and, with an average, the trained weights."""
        state = [np.asarray(v) for v in self.model.optimizer.variables]
        return state + (self._trained or self.get_weights() if self.config.weight_average else [])

    def optimizer_layouts(self) -> list[list[tuple[int, ...]]]:
        """Return the shapes of the arrays from `get_optimizer`, without an average and with one."""
        state = [tuple(v.shape) for v in self.model.optimizer.variables]
        return [state, state + [w.shape for w in self.model.get_weights()]]

    def set_optimizer(self, arrays: list[np.ndarray]) -> None:
        """Resume from `get_optimizer`'s arrays, whatever its `weight_average`; a new average begins at the weights."""
        variables = self.model.optimizer.variables
        if [a.shape for a in arrays] not in self.optimizer_layouts():
            raise UserError("expected the state of this network's optimizer, got another's")
        for variable, array in zip(variables, arrays[: len(variables)], strict=True):
            variable.assign(array)
        self._trained = (arrays[len(variables) :] or None) if self.config.weight_average else None

    @own_settings()
    def export(self, path: str) -> None:
        """Write the inference network, without heads that only help training, as a .keras file."""
        self.plain.set_weights(self.model.get_weights())
        name = f"{self.game.name}_alphazero_{VERSION}"
        keras.Model(self.plain.input, self.plain.outputs[:2], name=name).save(path)

    # ---- inspection

    def printWeightAverages(self, log: Callable[[str], None] = print) -> None:
        """Report mean and largest absolute value of each layer's kernel and bias, as in the article."""
        for layer in self.model.layers:
            parts = [f"{np.abs(w).mean():.6f} (max {np.abs(w).max():.4f})" for w in layer.get_weights()]
            if parts:
                log(f"{layer.name:<24} mean |w|: " + ", ".join(parts))

    def viewLayers(self, columns: int = 8) -> Any:
        """Return a matplotlib figure with the kernels of each convolution as images."""
        from matplotlib.figure import Figure

        found = [layer for layer in self.model.layers if isinstance(layer, layers.Conv2D)]
        figure = Figure(figsize=(columns, 1.1 * len(found)), layout="constrained")
        axes = figure.subplots(len(found), columns, squeeze=False)
        for line, layer in zip(axes, found, strict=True):
            kernel = layer.get_weights()[0]
            limit = float(np.abs(kernel).max()) or 1.0
            for i, axis in enumerate(line):
                axis.axis("off")
                if i < kernel.shape[-1]:
                    axis.imshow(kernel[:, :, 0, i], cmap="coolwarm", vmin=-limit, vmax=limit)
            line[0].set_title(layer.name, fontsize=7, loc="left")
        return figure

    def drawing(self) -> bytes:
        """Return the network drawn as PNG; raise `UserError` when pydot or graphviz is missing."""
        needed = "drawing the network needs `pip install pydot` and graphviz's `dot`"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.png"
            try:
                keras.utils.plot_model(self.plain, to_file=str(path), show_shapes=True, show_layer_names=True)
            except (ImportError, OSError) as error:
                raise UserError(f"{needed}: {str(error).splitlines()[0]}") from None
            if not path.exists():  # in a notebook Keras prints instead of raising
                raise UserError(needed)
            return read_limited(path, LINES_BYTES)


class Residual_CNN(Gen_Model):
    """A convolution, then residual blocks, then a value and a policy head (AGZ, Methods)."""

    def _build(self, dtype: str) -> keras.Model:
        filters_and_kernels = layer_sizes(self.config.network)
        self._dtype, self._boards = dtype, 1
        if dtype == "mixed_bfloat16" and type(self) is Residual_CNN and not self._masked:
            # a subclass's layers may mix neighbouring columns
            kernels = [kernel for _, kernel in filters_and_kernels]
            columns = self.game.grid_shape[1]
            self._boards = self.together = boards_side_by_side(self.config.batch_size, columns, kernels)
        *grid, planes = self.game.input_shape
        board = keras.Input((*grid, planes + self._masked), dtype="uint8", name="planes")
        x = layers.Rescaling(1.0, dtype=dtype, name="cast")(board)
        self._board = x[..., -1:] if self._masked else None
        if self.config.many_sizes and not self._masked:
            x = ops.pad(x, ((0, 0), (0, 0), (0, 0), (0, 1)), constant_values=1.0)
        if self._boards > 1:
            x = Interleave(self._boards, dtype=dtype, name="interleave")(x)
        x = self.conv_layer(x, *filters_and_kernels[0], "conv")
        for i, (filters, kernel) in enumerate(filters_and_kernels[1:], 1):
            x = self.residual_layer(x, filters, kernel, f"block{i}")
        if self._boards > 1:
            x, self._boards = Separate(self._boards, dtype=dtype, name="separate")(x), 1
        heads = [self.value_head(x)]  # a seed's weights depend on this order
        seen = self.policy_layer(x)
        heads.append(self.policy_head(*seen))
        if "soft_policy_head" in self.extra_heads:
            heads.append(self.policy_head(*seen, "soft_policy"))
        if "ownership_head" in self.extra_heads:
            heads.append(self.ownership_head(x))
        return keras.Model(board, heads)

    def _conv(self, x: Any, filters: int, kernel: int, name: str, *, initial: str = "he_normal") -> Any:
        batch = self.config.normalisation == "batch"
        options = {"boards": self._boards} if self._boards > 1 else {}
        x = (DilatedConv2D if options else layers.Conv2D)(
            filters, kernel, padding="same", use_bias=not batch, kernel_initializer=initial,
            kernel_regularizer=self._penalty(), dtype=self._dtype, name=name, **options,
        )(x)  # fmt: skip
        if not batch:
            return x
        inside = {} if self._board is None else {"mask": self._board[..., 0]}
        return layers.BatchNormalization(momentum=0.9, dtype=self._dtype, name=f"{name}_bn")(x, **inside)

    def _penalty(self) -> Any:
        if self.config.optimizer != "sgd" or not self.config.reg_const:
            return None
        return keras.regularizers.L2(self.config.reg_const)

    def _relu(self, x: Any, name: str) -> Any:
        if self._board is not None and len(x.shape) == 4:
            return BoardReLU(dtype=self._dtype, name=f"{name}_relu")([x, self._board])
        return layers.ReLU(dtype=self._dtype, name=f"{name}_relu")(x)

    def _dense(self, x: Any, units: int, name: str, **options: Any) -> Any:
        options = {"dtype": self._dtype, "kernel_regularizer": self._penalty(), **options}
        return layers.Dense(units, name=name, **options)(x)

    def conv_layer(self, x: Any, filters: int, kernel: int, name: str) -> Any:
        """Apply a convolution, normalisation and ReLU."""
        return self._relu(self._conv(x, filters, kernel, name), name)

    def residual_layer(self, x: Any, filters: int, kernel: int, name: str) -> Any:
        """Apply two convolutions and a shortcut; without normalisation the second starts at 0 (Zhang 2019, Fixup)."""
        y = self.conv_layer(x, filters, kernel, f"{name}a")
        y = self._biased(y, name)[0] if pools_in_block(self.config.network, name) else y
        initial = "he_normal" if self.config.normalisation == "batch" else "zeros"
        y = self._conv(y, filters, kernel, f"{name}b", initial=initial)
        return self._relu(layers.Add(dtype=self._dtype, name=f"{name}_add")([x, y]), name)

    def _pooled(self, x: Any, name: str) -> Any:
        """Return mean and maximum over the board, [B, 2 * filters] (KataGo 3.3).

        For boards of many sizes, [B, 3 * filters]: between them the mean scaled by the board's width. Features are not
        negative, so that the zeros outside a board do not change the maximum.
        """
        options, board = {"dtype": self._dtype}, self._board
        if board is None:
            mean = layers.GlobalAveragePooling2D(**options, name=f"{name}_mean")(x)
        else:
            mean = BoardMean(**options, name=f"{name}_mean")([x, board])
        parts = [mean, layers.GlobalMaxPooling2D(**options, name=f"{name}_max")(x)]
        if board is not None:
            parts.insert(1, WidthScaling(**options, name=f"{name}_scaled")([mean, board]))
        elif self.config.many_sizes:
            factor = width_factor(*self.game.grid_shape)
            parts.insert(1, layers.Rescaling(factor, **options, name=f"{name}_scaled")(mean))
        return layers.Concatenate(**options, name=f"{name}_pool")(parts)

    def _biased(self, x: Any, name: str) -> tuple[Any, Any]:
        """Return (a board of features with a bias from these pooled over it, the pooled ones)."""
        pooled = self._pooled(x, name)
        bias = self._dense(pooled, x.shape[-1], f"{name}_bias")
        x = layers.Add(dtype=self._dtype)([x, layers.Reshape((1, 1, x.shape[-1]), dtype=self._dtype)(bias)])
        return self._relu(x, f"{name}_point"), pooled

    @property
    def _pools(self) -> bool:
        return self.config.global_pooling or self.config.many_sizes

    def value_head(self, x: Any) -> Any:
        """Return the value [B, 1], for the player to move."""
        x = self.conv_layer(x, self.config.value_filters, 1, "value_conv")
        x = self._pooled(x, "value") if self._pools else layers.Flatten(name="value_flat")(x)
        x = self._relu(self._dense(x, self.config.value_units, "value_dense"), "value_dense")
        return self._dense(x, 1, "value_head", activation="tanh", dtype="float32")

    def policy_layer(self, x: Any) -> tuple[Any, Any]:
        """Return the policy head's inputs: (flat features, None), or (a board of features, these pooled over it)."""
        pools, trunk = self._pools and self.game.policy_layout != "other", self._dtype
        if self.config.many_sizes and not pools:
            raise UserError("many_sizes: expected a game whose moves are points or columns of its board")
        # a board's gradients add up to 0: in bfloat16 AdamW would make steps of their rounding errors, and diverge
        self._dtype = "float32" if pools else trunk
        x = self.conv_layer(x, self.config.policy_filters, 1, "policy_conv")
        found = self._biased(x, "policy") if pools else (layers.Flatten(name="policy_flat")(x), None)
        self._dtype = trunk
        return found

    def policy_head(self, x: Any, pooled: Any, name: str = "policy") -> Any:
        """Return the logits [B, action_size] from the result of `policy_layer`."""
        size, (rows, columns) = self.game.action_size, self.game.grid_shape
        if pooled is None:
            return self._dense(x, size, f"{name}_head", dtype="float32")
        x = layers.Conv2D(1, 1, kernel_regularizer=self._penalty(), dtype="float32", name=f"{name}_points")(x)
        if self.game.policy_layout == "columns":
            x = layers.Reshape((rows, -1))(x)
            mean = layers.GlobalAveragePooling1D if self._board is None else ColumnMean
            x = mean(dtype="float32")(x if self._board is None else [x, self._board])
            return layers.Identity(name=f"{name}_head", dtype="float32")(x)
        x = layers.Flatten(dtype="float32")(x)
        if size > rows * columns:
            others = self._dense(pooled, size - rows * columns, f"{name}_others", dtype="float32")
            x = layers.Concatenate(dtype="float32")([x, others])
        return layers.Identity(name=f"{name}_head", dtype="float32")(x)

    def ownership_head(self, x: Any) -> Any:
        """Return logits [B, rows, columns, 3] of each point's final owner: the other, nobody, the player to move."""
        x = self.conv_layer(x, self.config.policy_filters, 1, "ownership_conv")
        return layers.Conv2D(3, 1, kernel_regularizer=self._penalty(), dtype="float32", name="ownership_head")(x)


def make_network(config: Config, game: Game) -> Gen_Model:
    """Return the network of a run; a new kind of network is added here."""
    return Residual_CNN(config, game)
