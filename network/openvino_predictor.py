"""The network in OpenVINO on a CPU: converted once with the weights as inputs, which become constants for a version.

Compiling a version takes 50-100 ms a batch size and leaks nothing measurable (benchmarks/RESULTS.md). With constants in
place the compiler folds normalisation into the convolutions and lays the weights out for the processor.

Where several threads call it at once, each has its own compiled network with its share of the cores. With one core
OpenVINO computes in the calling thread itself; the streams of one shared network would be other threads, to which every
batch is handed over.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from typing import Any

import numpy as np

# The converter would send usage data to its makers, from a forked process that keeps our files open.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import openvino as ov  # noqa: E402

from config import UserError  # noqa: E402
from network.keras_import import tf  # noqa: E402
from network.predictor import STEADY, cores, padded, pieces  # noqa: E402


class _Request:
    """An inference request, its arrays looked up once: all batches have one size, so the arrays stay where they are."""

    def __init__(self, compiled: Any) -> None:
        request = compiled.create_infer_request()
        self.infer = request.infer
        self.planes = request.get_input_tensor(0).data
        self.values = request.get_output_tensor(0).data[:, 0]
        self.logits = request.get_output_tensor(1).data


class OpenVINOPredictor:
    """Evaluates with OpenVINO; `streams` threads that call it at once share the cores."""

    def __init__(self, model: Any, *, streams: int = 1, smallest: int = 1) -> None:
        self.name = f"openvino {model.precision}"
        self._shape, self._smallest = model.game.input_shape, smallest
        if not hasattr(model, "openvino_graph"):
            model.openvino_graph = _convert(model)
        self._graph = model.openvino_graph
        threads = max(1, cores() // streams)
        self.piece = STEADY if threads == 1 else 0
        """Multiples of this many positions need no padding and cost the same per position (0: not so)."""
        self._options = {
            "INFERENCE_PRECISION_HINT": "bf16" if model.precision == "bfloat16" else "f32",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        self._lock = threading.Lock()
        self._weights: list[np.ndarray] = []
        self._shared: dict[int, Any] | None = {} if streams == 1 else None
        """The network for each batch size, if threads call one after the other; else None."""
        self._requests: dict[tuple[int, int], _Request] = {}
        self._mine = threading.local()
        """The calling thread's requests. Just after a batch even a lock takes its time."""

    def load(self, weights: list[np.ndarray]) -> None:
        self._weights = [np.ascontiguousarray(w) for w in weights]
        self._requests.clear()
        self._mine = threading.local()
        if self._shared:
            self._shared.clear()

    def _compile(self, size: int) -> Any:
        graph = self._graph.clone()
        planes, *inputs = graph.get_parameters()
        for parameter, weight in zip(inputs, self._weights, strict=True):
            parameter.output(0).replace(ov.op.Constant(weight).output(0))
            graph.remove_parameter(parameter)
        graph.reshape({planes.output(0): [size, *self._shape]})
        return _core().compile_model(graph, "CPU", self._options)

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


@cache
def _made() -> Any:
    return ov.Core()


_MAKING = threading.Lock()


def _core() -> Any:
    """Return OpenVINO, one for the life of the process.

    Its CPU plugin gives the thread that it starts in a stack for signals, and removes that stack when it ends. If it
    ends in another thread, as when Python collects garbage there, the first thread has no such stack left: Ctrl-C would
    crash.
    """
    with _MAKING:
        return _made()


def _convert(model: Any) -> ov.Model:
    """Return the graph with inputs planes, weight 0, weight 1, ... and outputs value [B, 1], logits."""
    if sys.flags.optimize > 1:  # its converter reads its own docstrings
        raise UserError("expected Python with docstrings for OpenVINO: unset PYTHONOPTIMIZE=2 (-OO)")
    run = model.inference()
    specs = [tf.TensorSpec((None, *model.game.input_shape), tf.uint8)]
    specs += [tf.TensorSpec(w.shape, tf.float32) for w in model.get_weights()]
    names = ["planes"] + [f"weight{i:04d}" for i in range(len(specs) - 1)]
    named = [tf.TensorSpec(s.shape, s.dtype, name) for s, name in zip(specs, names, strict=True)]

    @tf.function(input_signature=named)
    def function(planes: Any, *weights: Any) -> dict[str, Any]:
        value, logits = run(planes, *weights)
        return {"a_value": value, "b_logits": logits}

    graph = ov.convert_model(function.get_concrete_function())
    parameters = {p.get_friendly_name(): p for p in graph.get_parameters()}
    results = {next(iter(o.get_names())): o.get_node() for o in graph.outputs}
    missing = [n for n in names if n not in parameters]
    if missing or set(results) != {"a_value", "b_logits"}:
        raise RuntimeError(f"OpenVINO renamed the network's inputs or outputs: {missing} {list(results)}")
    return ov.Model([results["a_value"], results["b_logits"]], [parameters[n] for n in names], "network")
