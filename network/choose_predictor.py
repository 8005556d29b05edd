"""The choice of a predictor: OpenVINO on a CPU if it is installed, else ONNX Runtime, else compiled Keras."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np

from config import Config, UserError
from game import Game
from network.pipelines import SeveralDevices
from network.predictor import Predictor
from network.stored_network import StoredNetwork, convertible, layers_of
from system.machine import gpu_driver


def make_predictor(
    model: Any, *, backend: str = "auto", streams: int = 1, smallest: int = 1, in_8_bits: bool = False
) -> Predictor:
    """Return a predictor with the model's present weights; `streams` threads may call it at once.

    model: a `Gen_Model`, or a `StoredNetwork` where `choose_backend` does not name Keras. smallest: smaller batches are
    padded to this size. in_8_bits: by OpenVINO only. With several streams all GPUs are used.
    """
    chosen = choose_backend(backend)
    if backend == "auto" and not convertible(model, chosen):
        chosen = "keras"
    if in_8_bits:
        _require_openvino(chosen)
    predictor: Predictor
    if chosen == "openvino":
        from network.openvino_predictor import OpenVINOPredictor

        predictor = OpenVINOPredictor(model, streams=streams, smallest=smallest, in_8_bits=in_8_bits)
    elif chosen == "onnxruntime":
        from network.onnxruntime_predictor import ONNXRuntimePredictor

        predictor = ONNXRuntimePredictor(model, streams=streams, smallest=smallest)
    else:
        from network.keras_predictor import KerasPredictor

        count = len(gpus()) if streams > 1 else 1
        devices = [KerasPredictor(model, smallest=smallest, gpu=i) for i in range(max(count, 1))]
        predictor = SeveralDevices(devices) if count > 1 else devices[0]
    if weights := model.get_weights():  # a stored network may have none yet
        predictor.load(weights)
    return predictor


def require_precision(config: Config) -> None:
    """Raise `UserError` where self-play cannot evaluate in the precision of these settings."""
    if config.precision == "int8":
        _require_openvino(choose_backend(config.backend))


def _require_openvino(chosen: str) -> None:
    if chosen != "openvino":
        raise UserError(
            f"precision int8: expected the back end openvino, on a CPU, got {chosen}; use --precision auto"
        )


def on_board(model: Any, game: Game, weights: list[np.ndarray], backend: str = "auto") -> Any:
    """Return a network for boards of many sizes as one for a game of another size, with these weights.

    They are not read from `model`, which may be trained meanwhile.
    """
    if layers_of(model) is not None and choose_backend(backend) != "keras":
        found: Any = StoredNetwork(model.config, game)
    else:
        found = type(model)(model.config, game)
    found.set_weights(weights)
    return found


def choose_backend(backend: str) -> str:
    """Return the library that evaluates for a setting that may be "auto"; raise `UserError` if it is missing."""
    installed = {"openvino": openvino_installed(), "onnxruntime": onnxruntime_installed()}
    if not installed.get(backend, True):
        packages = {"onnxruntime": "onnxruntime onnx"}.get(backend, backend)
        raise UserError(f"backend {backend}: not installed; `pip install {packages}`, or use --backend keras")
    if backend != "auto":
        return backend
    return "keras" if gpus() else next((name for name, there in installed.items() if there), "keras")


def gpus() -> list[str]:
    """Return the names of the GPUs that Keras's back end uses; it is loaded only where there may be one."""
    if not _maybe_gpu():
        return []
    from network.keras_import import gpus as used

    return used()


def _maybe_gpu() -> bool:
    """Return False where no GPU can be: no driver of one, or no Keras."""
    if importlib.util.find_spec("keras") is None:
        return False
    if f"{__package__}.keras_import" in sys.modules:
        return True
    return gpu_driver()


def openvino_installed() -> bool:
    """True when OpenVINO can be imported."""
    return importlib.util.find_spec("openvino") is not None


def onnxruntime_installed() -> bool:
    """True when ONNX Runtime can be imported, and the package that makes its files."""
    return all(importlib.util.find_spec(name) is not None for name in ("onnxruntime", "onnx"))
