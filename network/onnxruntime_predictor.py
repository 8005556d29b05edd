"""The network in ONNX Runtime on a CPU: a session for batches of any size, made for each version in 2 to 40 ms.

An evaluation is the same to the last bit in every batch, whatever the number of threads, so that nothing but `smallest`
needs padding. It computes in float32 always: ONNX Runtime has no bfloat16 on a CPU.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from config import UserError
from loggers import quiet_stderr
from network.onnx_graph import onnx_graph
from network.predictor import cores
from network.stored_network import layers_of

with quiet_stderr():  # it warns of graphics cards that it cannot read
    import onnxruntime as ort

ort.disable_telemetry_events()  # on Windows it would send usage data to its makers
ERRORS = 3
"""The least severe messages that ONNX Runtime prints."""


class ONNXRuntimePredictor:
    """Evaluates with ONNX Runtime; `streams` threads that call it at once share the cores."""

    def __init__(self, model: Any, *, streams: int = 1, smallest: int = 1) -> None:
        layers = layers_of(model)
        if layers is None:
            raise UserError("backend onnxruntime: expected the network of model.py, got another; use --backend keras")
        self.name = "onnxruntime float32"
        self._layers, self._smallest = layers, smallest
        self._threads = max(1, cores() // streams)
        self._options = ort.SessionOptions()
        self._options.intra_op_num_threads = self._threads
        self._options.inter_op_num_threads = 1
        self._options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # the search needs the cores
        self._options.log_severity_level = ERRORS
        self._file = b""
        self._lock = threading.Lock()
        self._free: list[Any] = []
        """Sessions that no thread is using. With one thread the caller computes itself, and all share one session."""

    def load(self, weights: list[np.ndarray]) -> None:
        self._file = onnx_graph(self._layers, weights)
        self._free = []

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(planes)
        if count < self._smallest:
            planes = np.concatenate([planes, np.zeros((self._smallest - count, *planes.shape[1:]), np.uint8)])
        session = self._take()
        try:
            value, logits = session.run(("value", "logits"), {"planes": planes})
        finally:
            if self._threads > 1:
                self._free.append(session)
        return value[:count, 0], logits[:count]

    def _take(self) -> Any:
        """Return a session for one evaluation."""
        with self._lock:
            if self._free:
                return self._free[-1] if self._threads == 1 else self._free.pop()
            session = ort.InferenceSession(self._file, self._options, providers=["CPUExecutionProvider"])
            if self._threads == 1:
                self._free.append(session)
            return session
