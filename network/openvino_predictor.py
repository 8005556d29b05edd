"""The network in OpenVINO on a CPU: its graph is made again for each version, with the weights as constants.

Compiling a version takes 50-100 ms a batch size and leaks nothing measurable (benchmarks/RESULTS.md). With constants in
place the compiler folds normalisation into the convolutions and lays the weights out for the processor.

Where several threads call it at once, each has its own compiled network with its share of the cores. With one core
OpenVINO computes in the calling thread itself; the streams of one shared network would be other threads, to which every
batch is handed over.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from network.int8 import find_scales
from network.openvino_graph import converted, core, filled_in, from_bytes, openvino_graph
from network.predictor import STEADY, cores, padded, pieces
from network.stored_network import StoredNetwork, layers_of

_MAKING = threading.Lock()
"""Requests are made one at a time: two threads that made one stood still for ever, once."""


class _Request:
    """An inference request, its arrays looked up once: all batches have one size, so the arrays stay where they are."""

    def __init__(self, compiled: Any) -> None:
        with _MAKING:
            request = compiled.create_infer_request()
        self.infer = request.infer
        self.planes = request.get_input_tensor(0).data
        self.values = request.get_output_tensor(0).data[:, 0]
        self.logits = request.get_output_tensor(1).data


class OpenVINOPredictor:
    """Evaluates with OpenVINO; `streams` threads that call it at once share the cores.

    in_8_bits: most of a residual network computes in 8-bit integers, see network/int8.py; `scales` is empty if not.
    """

    def __init__(self, model: Any, *, streams: int = 1, smallest: int = 1, in_8_bits: bool = False) -> None:
        self._precision = model.precision
        self.name = f"openvino {self._precision}"
        self._smallest, self._game = smallest, model.game
        self._layers = layers_of(model)
        self._graph = None if self._layers else _graph_of(model)
        threads = max(1, cores() // streams)
        self.piece = STEADY if threads == 1 else 0
        """Multiples of this many positions need no padding and cost the same per position (0: not so)."""
        self._options = {
            "INFERENCE_PRECISION_HINT": "bf16" if model.precision == "bfloat16" else "f32",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        self._in_8_bits = in_8_bits and self._layers is not None
        self.scales: dict[str, float] = {}
        """The largest input of each convolution that computes in 8 bits, with the weights that are loaded."""
        self._lock = threading.Lock()
        self._weights: list[np.ndarray] = []
        self._shared: dict[int, Any] | None = {} if streams == 1 else None
        """The network for each batch size, if threads call one after the other; else None."""
        self._requests: dict[tuple[int, int], _Request] = {}
        self._mine = threading.local()
        """The calling thread's requests. Just after a batch even a lock takes its time."""

    def load(self, weights: list[np.ndarray]) -> None:
        self._weights = list(weights)
        if self._in_8_bits and self._layers:
            self.scales = find_scales(self._layers, self._weights, self._game, self._options)
            self.name = f"openvino {'int8' if self.scales else self._precision}"
        self._requests.clear()
        self._mine = threading.local()
        if self._shared:
            self._shared.clear()

    def _compile(self, size: int) -> Any:
        if self._layers:
            rounded = self._precision == "bfloat16"
            graph = openvino_graph(self._layers, self._weights, size, scales=self.scales, rounded=rounded)
        else:
            graph = filled_in(self._graph, self._weights, size)
        return core().compile_model(graph, "CPU", self._options)

    def _request(self, size: int) -> _Request:
        """Return the calling thread's request for a batch size."""
        mine: Any = self._mine.__dict__
        request: _Request | None = mine.get(size)
        if request is None:
            request = mine[size] = self._new_request(size)
        return request

    def _new_request(self, size: int) -> _Request:
        """Return a request for the calling thread, perhaps that of a thread that has ended."""
        key = threading.get_ident(), size
        with self._lock:  # also for the lookup: a new thread may have the number of one that has ended
            request = self._requests.get(key)
            if request is None:
                alive = {thread.ident for thread in (threading.current_thread(), *threading.enumerate())}
                left = [k for k in self._requests if k[1] == size and k[0] not in alive]
                if left:
                    request = self._requests[key] = self._requests.pop(left[0])
        if request is None:
            request = _Request(self._network(size))
            with self._lock:
                self._requests[key] = request
        return request

    def _network(self, size: int) -> Any:
        if self._shared is None:
            return self._compile(size)
        with self._lock:
            if size not in self._shared:
                self._shared[size] = self._compile(size)
            return self._shared[size]

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = max(len(planes), self._smallest)
        sizes = pieces(count) if self.piece else (padded(count),)
        if len(sizes) == 1:
            return self._ask(sizes[0], planes)
        first, values, logits = 0, [], []
        for size in sizes:
            value, logit = self._ask(size, planes[first : first + size])
            values.append(value.copy())  # the next piece may have the same size, and so use the same array
            logits.append(logit.copy())
            first += size
        return np.concatenate(values), np.concatenate(logits)

    def _ask(self, size: int, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate up to `size` positions in a batch of that size."""
        count, request = len(planes), self._request(size)
        request.planes[:count] = planes
        request.infer(share_outputs=True)  # or OpenVINO makes copies that nobody reads
        return request.values[:count], request.logits[:count]


def _graph_of(model: Any) -> Any:
    """Return the graph of a user's own network, its arrays as inputs; a Keras network keeps it once it is made."""
    if isinstance(model, StoredNetwork):
        return from_bytes(model.graph or b"")
    if not hasattr(model, "openvino_graph"):
        model.openvino_graph = converted(model)
    return model.openvino_graph
