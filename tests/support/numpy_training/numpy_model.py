"""In the place of model.py: a residual network of which only the last arrays of its two outputs learn, in NumPy.

Its arrays are those of `Residual_CNN`, so what plays is what plays always. Your own network is built by Keras.
"""

import importlib
import sys
from types import SimpleNamespace

import numpy as np

from network.stored_network import StoredNetwork


def make_network(config, game, *, typed=True):
    if config.network is None:
        return Learner(config, game)
    if sys.modules.get("model") is sys.modules[__name__]:
        sys.meta_path.remove(sys.modules["sitecustomize"].Replaced)
        del sys.modules["model"]
    return importlib.import_module("model").make_network(config, game, typed=typed)


class Learner(StoredNetwork):
    def __init__(self, config, game):
        super().__init__(config, game)
        rng = np.random.default_rng(config.seed)
        self.names = [name for name, _ in self.layers.weights()]
        scales = [np.sqrt(1 / (np.prod(shape[:-1]) or 1)) for shape in self.shapes]
        arrays = [rng.normal(0, scale, shape) for scale, shape in zip(scales, self.shapes, strict=True)]
        kinds = {layer.name: layer.kind for layer in self.layers.layers}
        for i, name in enumerate(self.names):
            if kinds[name] == "normalise":
                arrays[i] = np.ones_like(arrays[i])
        self.set_weights([array.astype(np.float32) for array in arrays])
        last = {name: i for i, name in enumerate(self.names)}
        self.value, self.policy = last["value_head"], last.get("policy_head", last.get("policy_points"))
        self.momentum = np.zeros(1 + arrays[self.policy].size, np.float32)
        self.model = SimpleNamespace(count_params=lambda: sum(array.size for array in self.get_weights()))

    def get_weights(self):
        return [array.copy() for array in super().get_weights()]

    def named_weights(self):
        names = [f"{name}/{self.names[:i].count(name)}" for i, name in enumerate(self.names)]
        return list(zip(names, self.get_weights(), strict=True))

    def get_optimizer(self):
        return [self.momentum.copy()]

    def optimizer_layouts(self):
        shapes = [self.momentum.shape]
        return [shapes, shapes + self.shapes]

    def set_optimizer(self, arrays):
        self.momentum = arrays[0].copy()

    def fit(self, batches, steps, *, rate=None, report=None):
        weights = self.get_weights()
        value, policy = weights[self.value].reshape(-1), weights[self.policy].reshape(-1)
        for step in range(steps):
            batch = batches(step)
            wanted = np.append(np.resize(batch.policy.clip(0).mean(axis=0), len(policy)), batch.value.mean())
            now = np.append(policy, value[:1])
            self.momentum = (0.9 * self.momentum + (wanted - now)).astype(np.float32)
            change = rate(step) * self.momentum
            policy += change[:-1]
            value += change[-1]
            if report is not None:
                report(step + 1)
        self.set_weights(weights)
        loss = float(((wanted - now) ** 2).mean())
        return {"loss": loss, "value_loss": loss, "policy_loss": loss}

    def printWeightAverages(self, say):  # noqa: N802
        say("means of %d arrays", len(self.shapes))

    def drawing(self):
        return b""
