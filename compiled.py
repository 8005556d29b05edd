"""Compiled code: the decorators that make it, and how Python calls it.

`@compiled` and `@inlined` are for functions that compiled code or Python calls, `@rule` for the rules of a game, which
are passed as addresses. `call` runs compiled code from Python, `bind` returns it for many calls.

numba compiles a function when it is first called, and the machine code is kept for the next start: see compiling/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from compiling.functions import CompiledFunction, Rule
from compiling.numba_import import llvmlite, numba

types = numba.types
"""numba's types, for signatures of rules."""

_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "forceinline": False,
}
"""Without numba's runtime, arrays are not reference-counted; atomic counting took 70 % of the search's time. Compiled
code therefore allocates no arrays; it writes into those passed to it. An option that is not given here is the caller's:
what a rule calls would be forced into it, with all that this calls in turn."""


def compiled(function: Callable[..., Any]) -> Any:
    """Make a function compiled code, when it is first called.

    A caller's literal (0, False), or an int32 where others pass an int64, is another argument type, for which numba
    compiles the function and all that it calls once more: pass `np.int64(n)` to a large function.
    """
    return CompiledFunction(function, _OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """Do as `compiled` for small functions that every simulation runs: the compiler takes them into each caller.

    (numba's own `inline="always"` copies their source into each caller, which took 1.3 times as long to compile and
    ran no faster.)
    """
    return CompiledFunction(function, {**_OPTIONS, "forceinline": True})


def rule(signature: Any) -> Callable[[Any], Any]:
    """Return the decorator that makes a rule of a game: a function of that signature that compiled code can call.

    It is `numba.cfunc` with a cache on disk, and with the function's code inlined into its C entry point.
    """
    return lambda function: Rule(function, signature)


_SHARED: dict[Any, Rule] = {}


def shared(function: Any, result: Any, *args: Any) -> Rule:
    """Return a large function as one that compiled code is passed, so that it is not a part of each caller.

    result: the type of what it returns; args: arguments of the types that it is called with.
    """
    if function not in _SHARED:
        _SHARED[function] = Rule(function.twin("shared"), result(*(numba.typeof(a) for a in args)))
    return _SHARED[function]


_CODE: dict[Any, Callable[..., Any]] = {}


def bind(function: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled code of `function` for arguments of these types; later arguments are not checked.

    Finding the types of all tables costs up to 600 us a call, more than many a step. So the types are those of the
    first call, for every game and every size: contiguous arrays of the same dtype, numbers of the same kind.
    """
    code = _CODE.get(function)
    if code is None:
        signature = tuple(numba.typeof(a) for a in args)
        entry = function.entry
        entry.compile(signature)
        code = _CODE[function] = entry.get_overload(signature)
    return code


def call(function: Any, *args: Any) -> Any:
    """Call the code that `bind` returns."""
    return bind(function, *args)(*args)


@inlined
def at(table, index):
    """Return table[index] for index >= 0; an unsigned index needs no check for counting from the table's end."""
    return table[np.uint64(index)]


@inlined
def in_order(out, count):
    """Return whether out[:count] is not empty, in ascending order and within 0 .. len(out) - 1."""
    if not (0 < count <= out.shape[0]):
        return False
    signs = np.int64(out[0])  # of the steps upwards, in operations that the compiler vectorises
    for i in range(1, count):
        signs |= np.int64(out[np.uint64(i)]) - np.int64(out[np.uint64(i - 1)]) - 1
    return signs >= 0 and out[np.uint64(count - 1)] < out.shape[0]


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of array[index], an element of a 1-D array, without waiting for it."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ir = llvmlite.ir
        kind = signature.args[0]
        place = numba.core.cgutils.get_item_pointer(
            context, builder, kind, context.make_array(kind)(context, builder, args[0]), [args[1]]
        )
        pointer = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        instruction = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer], ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        )
        read = number(0)
        keep = number(3)
        data = number(1)
        builder.call(instruction, [builder.bitcast(place, pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), code


prefetch: Any = numba.extending.intrinsic(_prefetch)


CACHE_LINE = 64
"""Bytes of a CPU cache line."""


def up_to(step: int, count: int) -> int:
    """Return the next multiple of `step` that is not below `count`."""
    return -(-count // step) * step
