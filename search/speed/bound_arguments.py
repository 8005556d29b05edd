"""Arguments that compiled code is called with again and again: looked into once, then reached by one address.

A search works on some fifty arrays. To look into each of them takes the interpreter 15 us, and some times as long when
the network has just filled the processor's caches with its own numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox

from compiled import compiled

CAPACITY = 2048
"""Room for the arguments, in numbers of 8 bytes."""


class BoundArgumentsType(types.Type):
    """The type of bound arguments; values: that of their tuple."""

    def __init__(self, values: Any) -> None:
        self.values = values
        super().__init__(f"BoundArguments({values})")


register_model(BoundArgumentsType)(models.OpaqueModel)
_TYPES: dict[Any, BoundArgumentsType] = {}
_STORING: dict[BoundArgumentsType, Any] = {}


class BoundArguments:
    """Arguments for `function`, whose first one it is: compiled code finds them with `unpack(bound)`.

    Arrays stay where they are and what they are; what is in them may change. Who replaces an array binds all again.
    As with `compiled.bind` the types are those of the first call for the function; others raise `TypeError`.
    """

    def __init__(self, function: Any, *values: Any) -> None:
        self.values = values
        self._block = np.zeros(CAPACITY, np.uint64)
        self.address = int(self._block.ctypes.data)
        found = typeof(values)
        self.kind = _TYPES.setdefault(function, BoundArgumentsType(found))
        if found != self.kind.values:  # compiled code would read the memory of one as if it were the other
            raise TypeError(f"{function.__name__}: {_mismatch(self.kind.values, found)}")
        if self.kind not in _STORING:
            signature = typeof(self._block), self.kind.values
            _store_arguments.compile(signature)
            _STORING[self.kind] = _store_arguments.get_overload(signature)
        if _STORING[self.kind](self._block, values) > CAPACITY * 8:
            raise AssertionError("more arguments than there is room for")


def _mismatch(expected: Any, found: Any, name: str = "argument") -> str:
    """Return where two types of arguments first differ: "expected argument 3.keys to be ..., got ..."."""
    parts, others = getattr(expected, "types", None), getattr(found, "types", None)
    if parts is not None and others is not None and len(parts) == len(others):
        names = getattr(expected, "fields", range(1, len(parts) + 1))
        for part, mine, theirs in zip(names, parts, others, strict=True):
            if mine != theirs:
                return _mismatch(mine, theirs, f"{name}{' ' if name == 'argument' else '.'}{part}")
    return f"expected {name} to be {expected}, got {found}"


@typeof_impl.register(BoundArguments)
def _typeof_bound(value: BoundArguments, context: Any) -> BoundArgumentsType:
    return value.kind


@unbox(BoundArgumentsType)
def _unbox_bound(kind: Any, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "address")
    missing = cgutils.is_null(c.builder, address)
    place = cgutils.alloca_once_value(c.builder, ir.Constant(cgutils.voidptr_t, None))
    with c.builder.if_then(c.builder.not_(missing), likely=True):
        c.builder.store(c.pyapi.long_as_voidptr(address), place)
        c.pyapi.decref(address)
    return NativeValue(c.builder.load(place), is_error=missing)


def _store(typing_context: Any, block: Any, values: Any) -> Any:
    """Write the values into the block, as compiled code holds them; return how many bytes they are."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.args[1])
        array = context.make_array(signature.args[0])(context, builder, args[0])
        builder.store(args[1], builder.bitcast(array.data, kind.as_pointer()))
        return context.get_constant(types.int64, context.get_abi_sizeof(kind))

    return types.int64(block, values), code


_store_values: Any = intrinsic(_store)


@compiled
def _store_arguments(block, values):
    return _store_values(block, values)


def _unpack(typing_context: Any, bound: Any) -> Any:
    """Return the bound values, as a tuple."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        return builder.load(builder.bitcast(args[0], kind.as_pointer()))

    return bound.values(bound), code


unpack: Any = intrinsic(_unpack)
