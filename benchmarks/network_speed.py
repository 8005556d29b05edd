"""What answering, changing weights and training cost, by back end, arithmetic and normalisation; ratios in one run.

    python benchmarks/network_speed.py [--game connect4] [--seconds 1]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
import model as models
from game import Game
from memory import Batch
from model import Residual_CNN
from network.choose_predictor import make_predictor
from network.cpu_features import native_bfloat16
from training.presets import preset


def rate(call: Callable[[], object], count: int, seconds: float) -> float:
    """Return `count` calls' worth a second, after a warm-up."""
    call()
    call()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        call()
        done += count
    return done / (time.perf_counter() - began)


def resident() -> float:
    """MiB of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def answering(game: Game, seconds: float) -> None:
    batches = (1, 8, 64, 256, 512)
    rng = np.random.default_rng(0)
    print("evaluations/s at batch          " + "".join(f"{b:>10}" for b in batches))
    for backend, precision in (("keras", "float32"), ("openvino", "float32"), ("openvino", "bfloat16")):
        if precision == "bfloat16" and not native_bfloat16():
            continue
        model = Residual_CNN(preset("laptop", game=game.spec, precision=precision), game)
        predictor = make_predictor(model, backend=backend)
        found = []
        for size in batches:
            planes = rng.integers(0, 2, (size, *game.input_shape)).astype(np.uint8)
            found.append(rate(partial(predictor, planes), size, seconds))
        print(f"{backend + ' ' + precision:<32}" + "".join(f"{r:>10,.0f}" for r in found))
        if backend == "openvino":
            planes = planes[:128]
            for _ in range(20):
                predictor.load(model.get_weights())
                predictor(planes)
            began, before = time.perf_counter(), resident()
            for _ in range(100):
                predictor.load(model.get_weights())
                predictor(planes)
            spent = (time.perf_counter() - began) / 100
            print(f"    a new version and 128 answers: {1000 * spent:.0f} ms, {(resident() - before) / 100:+.3f} MiB")
    planes = planes[:1]
    print(f"keras predict, one position: {rate(lambda: model.plain.predict(planes, verbose=0), 1, 2 * seconds):,.0f}/s")


def _always(batch: Batch, step: int) -> Batch:
    return batch


def training(game: Game, seconds: float) -> None:
    module: Any = models
    side_by_side = module.boards_side_by_side
    variants: list[tuple[str, int, dict[str, Any]]] = [
        ("BatchNormalization, AdamW", 256, {"normalisation": "batch", "optimizer": "adamw"}),
        ("AdamW", 256, {"optimizer": "adamw"}),
        ("Muon", 256, {}),
        ("Muon", 512, {}),
        ("Muon, 96x3 eight times", 512, {"hidden_cnn_layers": ("96x3",) * 8}),
    ]
    kinds = [("float32", False), ("bfloat16", False), ("bfloat16", True)]
    print("positions/s in training         batch   float32  bfloat16  bfloat16, boards side by side")
    for name, size, changes in variants:
        policy = np.full((size, game.action_size), 1 / game.action_size, np.float32)
        planes = np.random.default_rng(0).integers(0, 2, (size, *game.input_shape)).astype(np.uint8)
        owners = np.zeros((size, *game.grid_shape), np.int8)
        batch, found = Batch(planes, np.zeros(size, np.float32), policy, owners), []
        for precision, together in kinds if native_bfloat16() else kinds[:1]:
            module.boards_side_by_side = side_by_side if together else lambda *_: 1
            config = preset("laptop", game=game.spec, batch_size=size, precision=precision, **changes)
            model = models.Residual_CNN(config, game)
            steps = 5120 // size
            found.append(rate(partial(model.fit, partial(_always, batch), steps), steps * size, 3 * seconds))
        print(f"{name:<32}{size:>5}" + "".join(f"{r:>10,.0f}" for r in found))
    module.boards_side_by_side = side_by_side


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    game = games.make(options.game)
    answering(game, options.seconds)
    training(game, options.seconds)


if __name__ == "__main__":
    main()
