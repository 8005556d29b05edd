"""Arguments that compiled code is called with again and again: unpacked once, then passed as one address.

A search works on some fifty arrays. Unpacking them at a call takes the interpreter 15 us, and several times as long
right after the network has filled the CPU caches with its own numbers.
"""

from __future__ import annotations

from typing import Any

from compiling.numba_import import numba
from compiling.records import RecordType, block_of, read_field

_TYPES: dict[Any, RecordType] = {}


class BoundArguments:
    """Arguments for `function`, passed as its first parameter: compiled code gets them back with `unpack(bound)`.

    The arrays' contents may change, but not the arrays themselves: to replace one, bind all again. As with
    `compiled.bind`, the types are those of the first call for the function; others raise `TypeError`.
    """

    def __init__(self, function: Any, *values: Any) -> None:
        self.values = values
        found = RecordType("bound", tuple((str(i), numba.typeof(value)) for i, value in enumerate(values, 1)))
        self.kind = _TYPES.setdefault(function, found)
        if found != self.kind:  # compiled code would misread the memory
            raise TypeError(f"{function.__name__}: {_mismatch(self.kind, found)}")
        self._block = block_of(values, found)
        self.address = int(self._block.ctypes.data)


def _mismatch(expected: Any, found: Any, name: str = "argument") -> str:
    """Return where two argument types first differ: "expected argument 3.keys to be ..., got ..."."""
    if isinstance(expected, RecordType) and isinstance(found, RecordType) and len(expected.fields) == len(found.fields):
        for (part, mine), (_, theirs) in zip(expected.fields, found.fields, strict=True):
            if mine != theirs:
                return _mismatch(mine, theirs, f"{name}{' ' if name == 'argument' else '.'}{part}")
    return f"expected {name} to be {expected}, got {found}"


@numba.extending.typeof_impl.register(BoundArguments)
def _typeof_bound(value: BoundArguments, context: Any) -> RecordType:
    return value.kind


def _unpack(typing_context: Any, bound: Any) -> Any:
    """Return the bound values, as a tuple."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        parts = [read_field(context, builder, bound, args[0], name) for name, _ in bound.fields]
        return context.make_tuple(builder, signature.return_type, parts)

    return numba.types.Tuple([kind for _, kind in bound.fields])(bound), code


unpack: Any = numba.extending.intrinsic(_unpack)
