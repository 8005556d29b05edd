"""The choice of a predictor: OpenVINO on a CPU if it is installed, else compiled Keras."""

from __future__ import annotations

from typing import Any

from config import UserError
from network.predictor import Predictor


def make_predictor(model: Any, *, backend: str = "auto", streams: int = 1, smallest: int = 1) -> Predictor:
    """Return a predictor with the model's present weights; `streams` threads may call it at once.

    auto: OpenVINO on a CPU if it is installed, else compiled Keras. smallest: smaller batches are padded to this size.
    """
    if backend == "auto":
        backend = "keras" if gpus() or not openvino_installed() else "openvino"
    predictor: Predictor
    if backend == "openvino":
        if not openvino_installed():
            raise UserError("backend openvino: not installed; `pip install openvino`, or use --backend keras")
        from network.openvino_predictor import OpenVINOPredictor

        predictor = OpenVINOPredictor(model, streams=streams, smallest=smallest)
    else:
        from network.keras_predictor import KerasPredictor

        predictor = KerasPredictor(model, smallest=smallest)
    predictor.load(model.get_weights())
    return predictor


def gpus() -> list[str]:
    """Return the names of the GPUs that the back end uses."""
    from network.keras_import import gpus as used

    return used()


def openvino_installed() -> bool:
    """True when OpenVINO can be imported."""
    import importlib.util

    return importlib.util.find_spec("openvino") is not None
