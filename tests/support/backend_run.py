"""What the back end named by KERAS_BACKEND makes of given weights and batches; writes {name: array} to a file.

    KERAS_BACKEND=jax PYTHONPATH=.:tests python -m support.backend_run FILE
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import games
from loggers import MEGABYTE
from memory import ILLEGAL, Batch
from model import Gen_Model
from network.backend import chosen_backend
from network.keras_import import keras, layers
from network.keras_predictor import KerasPredictor
from network.training_step import keras_step
from support.small_networks import make
from support.tiny_runs import boards, left_behind, tiny, trained_looking

OPTIMIZERS = {
    "sgd": {"normalisation": "batch", "reg_const": 0.001}, "adamw": {"global_pooling": True},
    "muon": {"soft_policy_weight": 1.0, "ownership_weight": 0.5, "weight_average": 0.9},
}  # fmt: skip
"""{optimizer: further settings, so that each kind of layer and head is trained once}."""
RATES = (0.01, 0.0, 0.02, 0.005)


def batch_of(game, step):
    rng = np.random.default_rng(step)
    policy = rng.dirichlet(np.ones(game.action_size), 32).astype(np.float32)
    owners = rng.integers(-1, 2, (32, *game.grid_shape)).astype(np.int8)
    return Batch(boards(game, 32, seed=step), rng.uniform(-1, 1, 32).astype(np.float32), policy, owners)


def trained(optimizer):
    """Return {name: array} of a training of four steps: weights after each, the state and losses after all."""
    model, found, sums = make("connect4", optimizer=optimizer, momentum=0.9, **OPTIMIZERS[optimizer]), {}, []
    model.set_weights(trained_looking(model))
    mean = model.get_weights()

    def report(step):
        now = model.get_weights()
        found.update({f"step{step} {name}": w for (name, _), w in zip(model.named_weights(), now, strict=True)})
        decay = min(0.9, (1 + step) / (10 + step))
        sums[:] = [m + (1 - decay) * (w - m) for m, w in zip(sums or mean, now, strict=True)]

    losses = model.fit(lambda step: batch_of(model.game, step), 4, rate=lambda step: RATES[step], report=report)
    if model.config.weight_average:
        for ours, theirs in zip(model.get_weights(), sums, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)
    found |= {f"state {i:03}": a.astype(np.float32) for i, a in enumerate(model.get_optimizer())}
    found |= {f"loss {name}": np.array(loss) for name, loss in losses.items()}
    if optimizer == "muon" and chosen_backend() != "tensorflow":  # its state has that of the others; see test_model.py
        continued_as_itself(model, optimizer)
    return {f"{optimizer} {name}": array for name, array in found.items()}


def continued_as_itself(model, optimizer):
    """Assert that a network with the weights and the optimizer's state of another is trained like it."""
    twin = make("connect4", optimizer=optimizer, momentum=0.9, seed=5, **OPTIMIZERS[optimizer])
    twin.set_weights(model.get_weights())
    twin.set_optimizer(model.get_optimizer())
    for each in (model, twin):
        each.fit(lambda step: batch_of(model.game, 4 + step), 2, rate=lambda step: 0.01)
    for ours, theirs in zip(model.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


class Noisy(Gen_Model):
    """A network that draws random numbers while it is trained."""

    def _build(self, dtype):
        planes = keras.Input(self.game.input_shape, dtype="uint8", name="planes")
        x = layers.Dropout(0.5)(layers.Flatten()(layers.Rescaling(1.0)(planes)))
        heads = layers.Dense(1, name="value_head"), layers.Dense(self.game.action_size, name="policy_head")
        return keras.Model(planes, [head(x) for head in heads])


def steps_and_keras_own(kinds):
    """Return {name: array} of steps as `fit` takes them ("step ...") and as Keras itself does ("keras ...")."""
    found, game = {}, games.make("connect4")
    few = 20 if chosen_backend() == "torch" else 32  # its steps are traced for each size
    batches = [batch_of(game, 0), Batch(*(array[:few] for array in batch_of(game, 1))), batch_of(game, 2)]
    for optimizer, precision in kinds:
        for who in ("step", "keras"):
            changes = {"precision": precision, "momentum": 0.9, **OPTIMIZERS[optimizer]}
            model = make("connect4", optimizer=optimizer, **changes)
            model.set_weights(trained_looking(model))
            if who == "keras":
                model.model.make_train_function(force=True)
                model._step = keras_step(model.model)
            losses = model.fit(lambda step: batches[step], 3, rate=lambda step: 0.01)
            arrays = {"losses": np.array(list(losses.values())), **dict(model.named_weights())}
            arrays |= {f"state{i}": array for i, array in enumerate(model.get_optimizer())}
            found |= {f"{who} {optimizer} {precision} {name}": array for name, array in arrays.items()}
    return found


def losses_of_noise():
    """Return the losses of three steps that change nothing, of a network that draws random numbers."""
    model = Noisy(tiny(game="connect4", optimizer="sgd"), games.make("connect4"))
    predictor, planes = KerasPredictor(model), boards(model.game, 8)
    predictor.load(model.get_weights())
    for ours, right in zip(predictor(planes), model.predict(planes), strict=True):
        np.testing.assert_allclose(ours, right, atol=1e-5)
    losses = [model.fit(lambda _: batch_of(model.game, 0), 1, rate=lambda _: 0.0)["loss"] for _ in range(3)]
    state = model.get_weights(), model.get_optimizer()

    def later(model):
        """Return the loss of a fit from that state on."""
        model.set_weights(state[0])
        model.set_optimizer(state[1])
        return model.fit(lambda step: batch_of(model.game, step), 3, rate=lambda _: 0.01)["loss"]

    resumed = Noisy(model.config, model.game)
    assert later(model) == later(model) == later(resumed), "what is drawn follows from the steps before"
    return np.array(losses)


def evaluated():
    """Return {name: array}: what Keras itself and the compiled predictor answer, with two sets of weights."""
    model, found = make("connect4", normalisation="batch", global_pooling=True), {}
    predictor, planes = KerasPredictor(model, smallest=8), boards(model.game, 70)
    for version in (0, 1, 0):
        model.set_weights(trained_looking(model, seed=version))
        predictor.load(model.get_weights())
        for count in (1, 70):
            for name, ours, right in zip(
                ("value", "logits"), predictor(planes[:count]), model.predict(planes[:count]), strict=True
            ):
                found[f"ours {name} {version} {count}"], found[f"keras {name} {version} {count}"] = ours, right
    with ThreadPoolExecutor(2) as pool:  # each compiles another size first
        other = KerasPredictor(model)
        other.load(model.get_weights())
        for answers in pool.map(lambda count: [other(planes[:count])[0].copy() for _ in range(5)], (70, 20, 70, 20)):
            for value in answers:
                np.testing.assert_allclose(value, found["ours value 0 70"][: len(value)], atol=1e-5)
    compiled, versions = compilations(predictor), [trained_looking(model, seed=seed) for seed in (0, 1)]

    def swap():
        for i in range(100):
            predictor.load(versions[i % 2])
            predictor(planes)

    limit = 4 * MEGABYTE  # a function or its buffers that stay take more
    assert left_behind(swap, limit) < limit
    assert compilations(predictor) == compiled
    assert predictor.name == f"keras {chosen_backend()} float32", predictor.name
    return found


def shift_gradients(precision):
    """Return the gradient of the policy's pooled bias, by which all logits of a board move nearly alike."""
    plain = {"optimizer": "sgd", "momentum": 0.0, "reg_const": 0.0}
    model = make("gomoku(size=13)", precision=precision, global_pooling=True, **plain)
    model.set_weights(trained_looking(model))
    before = dict(model.named_weights())["policy_bias/kernel"]
    batch = batch_of(model.game, 0)
    legal = batch.planes[..., :2].max(axis=-1).reshape(32, -1) == 0
    model.fit(lambda step: batch._replace(policy=np.where(legal, batch.policy, ILLEGAL)), 1, rate=lambda step: 1.0)
    return before - dict(model.named_weights())["policy_bias/kernel"]


def compilations(predictor):
    """Return how many functions were compiled; Torch compiles none on a CPU."""
    counted = {"tensorflow": "experimental_get_tracing_count", "jax": "_cache_size"}.get(chosen_backend())
    return getattr(predictor._function, counted)() if counted else 0


def main():
    found = evaluated()
    for optimizer in OPTIMIZERS:
        found |= trained(optimizer)
    half = make("connect4", precision="bfloat16", optimizer="muon")
    found["bfloat16"] = np.array([half.fit(lambda step: batch_of(half.game, step), 2)["loss"]])
    found["bfloat16 gradient"] = shift_gradients("bfloat16")
    if chosen_backend() == "tensorflow":
        found["float32 gradient"] = shift_gradients("float32")
    found["losses of noise"] = losses_of_noise()
    kinds = ("adamw", "float32"), ("sgd", "float32"), ("muon", "bfloat16")
    steps = {"tensorflow": 0, "jax": 1, "torch": 3}[chosen_backend()]  # of those that are not Keras' own
    found |= steps_and_keras_own(kinds[:steps])
    if chosen_backend() != "tensorflow":
        assert half.together == 1 and "tensorflow" not in sys.modules, "no other back end is loaded"
    np.savez(sys.argv[1], **{name.replace("/", "."): array for name, array in found.items()})


if __name__ == "__main__":
    main()
