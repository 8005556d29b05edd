"""Arguments that compiled code is called with again and again: unpacked once, then passed as one address.

A search works on some fifty arrays. Unpacking them at a call takes the interpreter 15 us, and several times as long
right after the network has filled the CPU caches with its own numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import (
    NativeValue,
    cgutils,
    compiled,
    intrinsic,
    ir,
    models,
    register_model,
    typeof,
    typeof_impl,
    types,
    unbox,
)

CAPACITY = 2048
"""Room for the arguments, in numbers of 8 bytes."""


class BoundArgumentsType(types.Type):
    """The numba type of bound arguments; values: the type of their tuple."""

    def __init__(self, values: Any) -> None:
        self.values = values
        super().__init__(f"BoundArguments({values})")


register_model(BoundArgumentsType)(models.OpaqueModel)
_TYPES: dict[Any, BoundArgumentsType] = {}
_STORING: dict[BoundArgumentsType, Any] = {}


class BoundArguments:
    """Arguments for `function`, passed as its first parameter: compiled code gets them back with `unpack(bound)`.

    The arrays' contents may change, but not the arrays themselves: to replace one, bind all again. As with
    `compiled.bind`, the types are those of the first call for the function; others raise `TypeError`.
    """

    def __init__(self, function: Any, *values: Any) -> None:
        self.values = values
        self._block = np.zeros(CAPACITY, np.uint64)
        self.address = int(self._block.ctypes.data)
        found = typeof(values)
        self.kind = _TYPES.setdefault(function, BoundArgumentsType(found))
        if found != self.kind.values:  # compiled code would misread the memory
            raise TypeError(f"{function.__name__}: {_mismatch(self.kind.values, found)}")
        if self.kind not in _STORING:
            signature = typeof(self._block), self.kind.values
            _store_arguments.compile(signature)
            _STORING[self.kind] = _store_arguments.get_overload(signature)
        if _STORING[self.kind](self._block, values) > CAPACITY * 8:
            raise AssertionError("more arguments than there is room for")


def _mismatch(expected: Any, found: Any, name: str = "argument") -> str:
    """Return where two argument types first differ: "expected argument 3.keys to be ..., got ..."."""
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
    """Write the values into the block, as compiled code represents them; return their size in bytes."""

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
