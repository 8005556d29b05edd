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
from game import Game, GameState
from memory import Batch, learns_ownership
from network.architecture import Architecture, residual_network
from network.cpu_features import resolve_precision
from network.keras_import import BACKEND, gpus, keras, layers, ops, own_settings, set_seed
from network.keras_network import boards_in_image, boards_to_interleave, keras_network
from network.keras_predictor import TRACING
from network.losses import ownership_loss, soft_policy_loss
from network.losses import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from network.network_contract import HEADS, check_contract
from network.optimizers import WeightAverage, make_optimizer
from network.own_network import own_network
from network.training_step import Step, made_ahead, seed_random_layers, training_step
from system.reading import LINES_BYTES, read_limited


class Gen_Model:
    """Base class of the networks. A subclass implements `_build`."""

    @own_settings()
    def __init__(self, config: Config, game: Game) -> None:
        self.config = config
        self.game = game
        self.precision = resolve_precision(config.precision)
        owned = config.ownership_weight if learns_ownership(config, game) else 0.0
        heads = {
            "soft_policy_head": (soft_policy_loss, config.soft_policy_weight),
            "ownership_head": (ownership_loss, owned),
        }
        self.extra_heads = {name: head for name, head in heads.items() if head[1]}
        """Heads that only help training, as the settings want them: {name: (loss, its weight)}."""
        set_seed(config.seed)
        dtype = "mixed_bfloat16" if self.precision == "bfloat16" else "float32"
        self.model = self._build_for_training(dtype)
        """The network that is trained."""
        same = dtype == "float32" and not config.many_sizes
        self.plain = self.model if same else self._build("float32")
        """The same network for inference, any number of boards, in float32; the weights are copied before each use."""
        check_contract(self)
        self.together = boards_in_image(self.model)
        """Boards that share one image in training; a batch of another size is repeated up to a multiple of this."""
        self.trained_heads = [*HEADS, *(name for name in self.extra_heads if name in self.model.output_names)]
        """The heads that have a target: a network may leave out those that only help training."""
        self._compile()
        self._trained: list[np.ndarray] | None = None
        """The trained weights when the model's weights are a running average of them."""

    def _build(self, dtype: str) -> keras.Model:
        """Return the network for boards of its game's size, computing in "float32" or "mixed_bfloat16"."""
        raise NotImplementedError

    def _build_for_training(self, dtype: str) -> keras.Model:
        """Return the network as it is trained: the same weights, and with `many_sizes` one more plane."""
        return self._build(dtype)

    def _compile(self) -> None:
        """Make the model ready to be trained, with its losses and its optimizer."""
        losses = {"value_head": ("mean_squared_error", 0.5), "policy_head": (softmax_cross_entropy_with_logits, 0.5)}
        losses |= self.extra_heads
        self.model.compile(
            optimizer=make_optimizer(self.config.training),
            loss={name: losses[name][0] for name in self.trained_heads},
            loss_weights={name: losses[name][1] for name in self.trained_heads},
            jit_compile="auto" if BACKEND != "tensorflow" or gpus() else False,
        )
        self.model.optimizer.build(self.model.trainable_variables)
        self._step = self._prepared_step()

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
        model = self.plain

        @own_settings()
        def run(planes: Any, *weights: Any) -> Any:
            # its other variables, as the seed of Dropout, are no weights: they keep their values
            with keras.StatelessScope(list(zip(model.weights, weights, strict=True))):
                outputs = model(planes, training=False)
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
        seed_random_layers(self.model, self.config.seed)
        sums: dict[str, np.float32] = {}
        positions = np.float32(0.0)
        lessons = made_ahead(lambda i: self._lesson(batches(i)), steps)
        for i, (planes, targets) in enumerate(lessons):
            self.model.optimizer.learning_rate = self.config.learning_rate if rate is None else rate(i)
            with TRACING:
                found = self._step(planes, targets)
            sums = {name: sums.get(name, np.float32(0.0)) + len(planes) * loss for name, loss in found.items()}
            positions += len(planes)
            if average is not None:
                average.update(self.model)
            if report is not None:
                report(i + 1)
        losses = {name.replace("_head", ""): float(total / positions) for name, total in sums.items()}
        if not all(np.isfinite(v) for v in losses.values()):
            raise ArithmeticError(f"training gave losses that are not finite: {losses}")
        if not self.is_finite():
            spoiled = [name for name, weights in self.named_weights() if not np.isfinite(weights).all()]
            more = f" and {len(spoiled) - 3} more" if len(spoiled) > 3 else ""
            raise ArithmeticError(f"training gave weights that are not finite: {', '.join(spoiled[:3])}{more}")
        if average is not None:
            self._trained = self.get_weights()
            self.model.set_weights(average.weights)
        return losses

    def _lesson(self, batch: Batch) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return (planes, the target of each head) of a batch, repeated up to a multiple of `together`."""
        planes, value, policy, owners = batch
        targets = {
            "value_head": value[:, None],
            "policy_head": policy,
            "soft_policy_head": policy,
            "ownership_head": owners,
        }
        times = self.together // math.gcd(self.together, len(planes))
        repeated = {name: np.concatenate([targets[name]] * times) for name in self.trained_heads}
        return np.concatenate([planes] * times), repeated

    def _prepared_step(self) -> Step:
        """Return the training step. A loss is computed first: within a step its counters would cause a second trace."""
        grid, actions, planes = self.game.grid_shape, self.game.action_size, self.model.inputs[0].shape[1:]
        kinds = (("uint8", planes), ("float32", ()), ("float32", (actions,)), ("int8", grid))
        nothing = Batch(*(np.zeros((1, *shape), kind) for kind, shape in kinds))
        planes, targets = self._lesson(nothing)
        found = [ops.zeros((len(planes), *head.shape[1:])) for head in self.model.outputs]
        self.model.compute_loss(y=targets, y_pred=found)
        return training_step(self.model, planes, targets)

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
    """A convolution, then residual blocks, then a value and a policy head: the layers of network/architecture.py."""

    def architecture(self) -> Architecture:
        """Return the list of layers. A subclass may return another one, of layers of the same kinds."""
        return residual_network(self.config, self.game)

    def _build(self, dtype: str) -> keras.Model:
        return keras_network(self.architecture(), dtype, l2=self._l2())

    def _build_for_training(self, dtype: str) -> keras.Model:
        architecture, masked, boards = self.architecture(), self.config.many_sizes, 1
        if dtype == "mixed_bfloat16" and not masked:
            boards = boards_to_interleave(architecture, self.config.batch_size)
        return keras_network(architecture, dtype, masked=masked, boards=boards, l2=self._l2())

    def _l2(self) -> float:
        """Return the penalty on the kernels; AdamW and Muon decay the weights instead."""
        return self.config.reg_const if self.config.optimizer == "sgd" else 0.0


def make_network(config: Config, game: Game, *, typed: bool = True) -> Gen_Model:
    """Return the network of a run: the residual one, or that of the class in your own file which `config` names.

    Loading a file runs it. With `typed=False`, for the settings of a stored run, it must have been named before.
    """
    if config.network is None:
        return Residual_CNN(config, game)
    network: Gen_Model = own_network(config.network, Gen_Model, config, game, typed=typed)
    return network
