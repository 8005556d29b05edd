"""The training step on Torch and a CPU: Keras' own, as a list of Torch's operations without what they do not need."""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from network.keras_import import keras

aten: Any = torch.ops.aten
ORDERS = torch.contiguous_format, torch.channels_last


def trace_each_size(model: keras.Model) -> None:
    """Let `train_on_batch` trace a compiled model's step once for each batch size, and then run its operations.

    Keras would do its own work at each step, and copy each board from planes last to planes first and back around each
    convolution; oneDNN computes with planes last.
    """
    variables = [*model.variables, *model.optimizer.variables, *model.metrics_variables]
    traced: dict[Any, Callable[..., Any]] = {}

    def step(planes: Any, targets: dict[str, Any], values: list[Any]) -> Any:
        with keras.StatelessScope(list(zip(variables, values, strict=True))) as scope:
            logs = model.train_step((planes, targets, None))
            return logs, [scope.get_current_value(variable) for variable in variables]

    def train(batches: list[tuple[np.ndarray, dict[str, np.ndarray], None]]) -> dict[str, Any]:
        planes, targets, _ = batches[0]
        given = torch.from_numpy(planes), {name: torch.from_numpy(array) for name, array in targets.items()}
        values = [variable.value.detach() for variable in variables]
        if len(planes) not in traced:
            leaves = [value.clone() for value in values]
            for leaf, variable in zip(leaves, variables, strict=True):
                leaf.requires_grad_(variable.value.requires_grad)
            traced[len(planes)] = shortened(make_fx(step)(*given, leaves)).forward
        with torch.no_grad():
            logs, found = traced[len(planes)](*given, values)
            torch._foreach_copy_(values, found)
        return dict(logs)

    model.train_function = train


def shortened(traced: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Take out of a list of operations what changes no result: copies into another order of memory, and repetitions.

    Each weight has its own step of an optimizer, and they all compute the same rates. What reads or makes memory that
    some operation writes to stays as it is.
    """
    written = {_memory(each) for node in traced.graph.nodes for each in _written(node)}
    known: dict[str, torch.fx.Node] = {}
    for node in list(traced.graph.nodes):
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
        touched = {_memory(each) for each in (node, *node.all_input_nodes)}
        if node.op not in ("call_function", "get_attr") or touched & written:
            continue
        if node.target == aten.clone.default and node.kwargs.get("memory_format") in ORDERS:
            same = node.args[0]
        else:
            same = known.setdefault(_key(node, traced), node)
        if same is not node:
            node.replace_all_uses_with(same)
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


def _key(node: torch.fx.Node, traced: torch.fx.GraphModule) -> str:
    """Return the same text for operations with the same result."""
    if node.op == "get_attr":
        constant = getattr(traced, str(node.target))
        return f"{constant.dtype} {constant.item()!r}" if constant.shape == () else node.name
    draws = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    return node.name if draws else f"{node.target} {node.args} {node.kwargs}"


def _written(node: torch.fx.Node) -> list[Any]:
    """Return the arguments to which an operation writes."""
    schema: Any = getattr(node.target, "_schema", None)
    pairs = zip(schema.arguments, node.args, strict=False) if schema and schema.is_mutable else ()
    found = [value for argument, value in pairs if argument.alias_info and argument.alias_info.is_write]
    return [each for value in found for each in (value if isinstance(value, (list, tuple)) else [value])]


def _memory(node: Any) -> torch.fx.Node:
    """Return the operation whose memory a value lies in: itself, unless it is a view of another."""
    schema: Any = getattr(node.target, "_schema", None)
    is_view = node.target is getitem or schema and any(each.alias_info for each in schema.returns)
    return _memory(node.args[0]) if is_view else node
