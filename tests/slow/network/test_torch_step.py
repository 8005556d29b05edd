"""Torch's operations of a step, without copies; whole steps are in test_backends.py."""

import pytest

torch = pytest.importorskip("torch", reason="requirements-dev.txt brings Torch")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from network.torch_step import shortened  # noqa: E402


def turned(x):
    """Return values that need no copy of x in another order."""
    return x.t().contiguous().view(-1), (x + 1).t().contiguous() * 2


def written(x):
    """Return values for which x, a view of a copy, and what a copy was made of are written to."""
    copy = x.t().contiguous()
    copy[1:].add_(1.0)
    total = x * 2
    before = total.t().contiguous()
    total.mul_(3.0)
    torch._foreach_add_([total], 1.0)
    return copy, before, total


@pytest.mark.parametrize(("function", "copies"), [(turned, 0), (written, 2)])
def test_only_copies_that_nothing_writes_to_are_left_out(function, copies):
    x = torch.arange(6.0).reshape(2, 3)
    traced = shortened(make_fx(function)(x))
    assert sum(node.target == torch.ops.aten.clone.default for node in traced.graph.nodes) == copies
    for found, right in zip(traced(x + 5), function(x + 5), strict=True):
        assert torch.equal(found, right)
