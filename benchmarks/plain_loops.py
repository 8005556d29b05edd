"""A training step in plain PyTorch and in plain JAX: the network and the optimizer of a run, without Keras.

What a person would write by hand for one back end: eager PyTorch with its fused AdamW, one jitted JAX function. The
layers are those of network/architecture.py, and both compute Muon for all kernels of the tower at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memory import Batch
from network.architecture import Architecture, Layer

Step = Callable[[Batch], float]
"""Trains on a batch and returns the loss."""
Kinds = dict[str, Callable[..., Any]]
"""{kind of layer: what it computes of its inputs and its arrays}."""
QUINTIC = 3.4445, -4.7750, 2.0315
CLIP, MOMENTUM, RATE, DECAY = 5.0, 0.95, 0.002, 1e-4
WEIGHTS = {"value_head": 0.5, "policy_head": 0.5, "soft_policy_head": 1.0, "ownership_head": 1.5}


def targets(batch: Batch) -> dict[str, np.ndarray]:
    """Return the target of each head, all moves legal."""
    roots = batch.policy**0.25
    soft = roots / roots.sum(axis=1, keepdims=True)
    found = {"value_head": batch.value, "policy_head": batch.policy, "soft_policy_head": soft}
    return found if batch.owners is None else {**found, "ownership_head": batch.owners.astype(np.int64) + 1}


def outputs(layers: Sequence[Layer], kinds: Kinds, arrays: dict[str, list[Any]], planes: Any) -> dict[str, Any]:
    """Return {layer's name: what it gives} for boards."""
    out: dict[str, Any] = {}
    for layer in layers:
        given = [out[name] for name in layer.inputs]
        is_input = layer.kind == "planes"
        out[layer.name] = planes if is_input else kinds[layer.kind](*given, *arrays[layer.name])
    return out


def torch_step(network: Architecture, weights: Sequence[np.ndarray], dtype: str, *, last: bool = True) -> Step:
    """Return the step in PyTorch, on a GPU if there is one.

    last: whether boards have their planes last in memory, as oneDNN likes them.
    """
    import torch
    from torch.nn import functional as nn

    device = "cuda" if torch.cuda.is_available() else "cpu"
    form = torch.channels_last if last else torch.contiguous_format
    half = torch.bfloat16 if dtype == "bfloat16" else torch.float32
    arrays: dict[str, list[Any]] = {}
    for name, given in network.arrays(weights).items():
        made = [torch.from_numpy(a.transpose(3, 2, 0, 1) if a.ndim == 4 else a.T).contiguous() for a in given]
        made = [a.contiguous(memory_format=form) if a.ndim == 4 else a for a in made]
        arrays[name] = [a.to(device).requires_grad_() for a in made]
    tower = [a for name, each in arrays.items() if name.startswith("block") for a in each if a.ndim == 4]
    inside = {id(a) for a in tower}
    others = [a for each in arrays.values() for a in each if id(a) not in inside]
    adam = torch.optim.AdamW(others, lr=RATE, weight_decay=DECAY, fused=True)
    momentum = [torch.zeros_like(a) for a in tower]
    shown = network.shown(network.heads)

    kinds: Kinds = {
        "cast": lambda x: x.to(half),
        "conv": lambda x, kernel, bias: nn.conv2d(x, kernel.to(half), bias.to(half), padding=kernel.shape[2] // 2),
        "relu": nn.relu,
        "add": lambda x, y: x + y,
        "flatten": lambda x: x.permute(0, 2, 3, 1).flatten(1).float(),
        "dense": nn.linear,
        "dense_tanh": lambda x, kernel, bias: torch.tanh(nn.linear(x, kernel, bias)),
    }

    def step(batch: Batch) -> float:
        planes = torch.from_numpy(batch.planes).to(device).permute(0, 3, 1, 2)
        wanted = {name: torch.from_numpy(a).to(device) for name, a in targets(batch).items() if name in network.heads}
        found = outputs(shown, kinds, arrays, planes if last else planes.contiguous())
        loss: Any = 0.0
        for name, target in wanted.items():
            if name == "value_head":
                part = nn.mse_loss(found[name][:, 0], target)
            else:
                part = nn.cross_entropy(found[name].float(), target)
            loss = loss + WEIGHTS[name] * part
        loss.backward()
        with torch.no_grad():
            torch.nn.utils.clip_grad_norm_(others, CLIP)
            adam.step()
            slopes: Any = [a.grad for a in tower]
            torch._foreach_mul_(momentum, MOMENTUM)
            torch._foreach_add_(momentum, slopes)
            nesterov = torch._foreach_add(slopes, momentum, alpha=MOMENTUM)
            x = torch.stack([each.permute(0, 2, 3, 1).flatten(1) for each in nesterov])
            size = RATE * 0.2 * max(x.shape[1:]) ** 0.5
            a, b, c = QUINTIC
            x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
            for _ in range(5):
                square = x @ x.mT
                x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
            for kernel, change in zip(tower, x, strict=True):
                count, planes_in, rows, columns = kernel.shape
                kernel.mul_(1 - RATE * DECAY)
                kernel.sub_(change.view(count, rows, columns, planes_in).permute(0, 3, 1, 2), alpha=size)
        for array in (*tower, *others):
            array.grad = None
        return float(loss.detach())

    return step


def jax_step(network: Architecture, weights: Sequence[np.ndarray], dtype: str) -> Step:
    """Return the step in JAX, compiled as one function whose state is given away to it."""
    import jax
    from jax import lax
    from jax import numpy as jnp

    half = jnp.bfloat16 if dtype == "bfloat16" else jnp.float32
    shown = network.shown(network.heads)
    names = [layer.name for layer in network.layers if layer.kind == "conv" and layer.name.startswith("block")]

    def convolved(x: Any, kernel: Any, bias: Any) -> Any:
        kernel, bias, axes = kernel.astype(half), bias.astype(half), ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=axes) + bias

    kinds: Kinds = {
        "cast": lambda x: x.astype(half),
        "conv": convolved,
        "relu": jax.nn.relu,
        "add": lambda x, y: x + y,
        "flatten": lambda x: x.reshape(len(x), -1).astype(jnp.float32),
        "dense": lambda x, kernel, bias: x @ kernel + bias,
        "dense_tanh": lambda x, kernel, bias: jnp.tanh(x @ kernel + bias),
    }

    def loss(arrays: Any, planes: Any, wanted: dict[str, Any]) -> Any:
        found = outputs(shown, kinds, arrays, planes)
        total: Any = 0.0
        for name, target in wanted.items():
            if name == "value_head":
                part: Any = jnp.mean((found[name][:, 0] - target) ** 2)
            else:
                logs = jax.nn.log_softmax(found[name].astype(jnp.float32))
                if name == "ownership_head":
                    target = jax.nn.one_hot(target, 3)
                part = -jnp.mean(jnp.sum(target * logs, axis=-1))
            total += WEIGHTS[name] * part
        return total

    def orthogonal(x: Any) -> Any:
        a, b, c = QUINTIC
        x = x / (jnp.sqrt(jnp.sum(x * x, axis=(1, 2), keepdims=True)) + 1e-7)
        for _ in range(5):
            square = x @ x.mT
            x = a * x + (b * square + c * square @ square) @ x
        return x

    def adam(weight: Any, mean: Any, squares: Any, slope: Any, count: Any) -> Any:
        slope = slope * jnp.minimum(1.0, CLIP / (jnp.sqrt(jnp.sum(slope * slope)) + 1e-12))
        mean, squares = 0.9 * mean + 0.1 * slope, 0.999 * squares + 0.001 * slope * slope
        unbiased = jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        weight = weight * (1 - RATE * DECAY) - RATE * unbiased * mean / (jnp.sqrt(squares) + 1e-7)
        return weight, mean, squares

    def update(state: Any, planes: Any, wanted: dict[str, Any]) -> Any:
        arrays, means, squares, count = state
        value, slopes = jax.value_and_grad(loss)(arrays, planes, wanted)
        count += 1
        result: Any = {name: [None] * len(each) for name, each in arrays.items()}
        for name, each in arrays.items():
            for i in range(len(each)):
                if name not in names or i:
                    result[name][i] = adam(each[i], means[name][i], squares[name][i], slopes[name][i], count)
        if names:
            slope = jnp.stack([slopes[name][0] for name in names])
            mean = MOMENTUM * jnp.stack([means[name][0] for name in names]) + slope
            flat = (slope + MOMENTUM * mean).reshape(len(names), -1, slope.shape[-1]).mT
            change = RATE * 0.2 * max(flat.shape[1:]) ** 0.5 * orthogonal(flat).mT.reshape(slope.shape)
            for i, name in enumerate(names):
                result[name][0] = arrays[name][0] * (1 - RATE * DECAY) - change[i], mean[i], squares[name][0]
        parts = [{name: [one[i] for one in each] for name, each in result.items()} for i in range(3)]
        return (*parts, count), value

    compiled = jax.jit(update, donate_argnums=0)
    arrays = {name: [jnp.asarray(a) for a in given] for name, given in network.arrays(weights).items()}
    nothing = [{name: [jnp.zeros_like(a) for a in given] for name, given in arrays.items()} for _ in range(2)]
    state: list[Any] = [(arrays, *nothing, jnp.zeros((), jnp.int32))]

    def step(batch: Batch) -> float:
        wanted = {name: a for name, a in targets(batch).items() if name in network.heads}
        state[0], value = compiled(state[0], batch.planes, wanted)
        return float(value)

    return step
