"""Makes and caches compiled code: the decorators, and a cache folder that changes when any compiled source does.

numba keeps machine code next to its source file and checks only that file for changes, so a change in an inlined
function would leave old code in use in its callers. Here the cache folder is named after a hash of all such sources.
A game's own file is left out unless another file imports it: nothing else inlines its functions, so a change in it
recompiles only that game.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, njit, typeof, types
from numba import config as numba_config
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.experimental.function_type import FunctionModel
from numba.extending import NativeValue, intrinsic, register_model, typeof_impl, unbox

_HERE = Path(__file__).parent
SETTINGS: Any = numba_config
"""numba's own settings; CACHE_DIR is the folder for machine code."""


def cache_folder(here: Path = _HERE) -> Path:
    """Return the folder for the machine code of the current sources; remove this checkout's older folders."""
    digest = hashlib.sha256()
    rooms = [path.parent for path in here.glob("*/__init__.py")]
    sources = sorted([*here.glob("*.py"), *(path for room in rooms for path in room.rglob("*.py"))])
    texts = {path: path.read_bytes() for path in sources}
    for path, text in texts.items():
        is_game = path.parent == here / "games"
        taken_in = not is_game or any(f"from games.{path.stem} ".encode() in t for t in texts.values())
        if taken_in and any(mark in text for mark in (b"@compiled", b"@inlined", b"@rule", b"numba.extending")):
            digest.update(text)
    base = Path(SETTINGS.CACHE_DIR) if SETTINGS.CACHE_DIR else here / "__pycache__"
    place = hashlib.sha256(str(here.resolve()).encode()).hexdigest()[:8]
    folder = base / f"numba-{place}-{digest.hexdigest()[:16]}"
    if not folder.exists():
        for old in base.glob(f"numba-{place}-*"):
            shutil.rmtree(old, ignore_errors=True)
    return folder


SETTINGS.CACHE_DIR = str(cache_folder())

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
"""Without numba's runtime, arrays are not reference-counted; atomic counting took 70 % of the search's time. Compiled
code therefore allocates no arrays; it writes into those passed to it."""
compiled: Any = njit(**_OPTIONS)
inlined: Any = njit(**_OPTIONS, forceinline=True)
"""Decorator for small functions that every simulation runs: compiled once, then inlined by the compiler at each call.
(numba's own `inline="always"` copies their source into each caller, which took 1.3 times as long to compile and ran
no faster.)

A caller's literal (0, False), or an int32 where others pass an int64, is another argument type, for which numba
compiles the function and all that it calls once more: pass `np.int64(n)` to a large function."""


@inlined
def at(table, index):
    """Return table[index] for index >= 0; an unsigned index needs no check for counting from the table's end."""
    return table[np.uint64(index)]


def rule(signature: Any) -> Callable[[Any], Any]:
    """Return the decorator that makes a rule of a game: a function of that signature that compiled code can call.

    It is `numba.cfunc` with a cache on disk, and with the function's code inlined into its C entry point.
    """
    return cfunc(signature, cache=True, forceinline=True)


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of array[index], an element of a 1-D array, without waiting for it."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        place = cgutils.get_item_pointer(
            context, builder, kind, context.make_array(kind)(context, builder, args[0]), [args[1]]
        )
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        instruction = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer], ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        )
        read, keep, data = number(0), number(3), number(1)
        builder.call(instruction, [builder.bitcast(place, pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), code


prefetch: Any = intrinsic(_prefetch)


class Function(types.FunctionType):
    """The type of a function passed to compiled code, which reads the object's `address`.

    numba's own type calls the interpreter for it, 9 us per function, and a game has nine rules.
    """


register_model(Function)(FunctionModel)


@typeof_impl.register(CFunc)
def _typeof_function(value: Any, context: Any) -> Any:
    return Function(value._sig)


@unbox(Function)
def _unbox_function(kind: Any, value: Any, c: Any) -> Any:
    function = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    address = c.pyapi.object_getattr_string(value, "address")
    missing = cgutils.is_null(c.builder, address)
    with c.builder.if_then(c.builder.not_(missing), likely=True):
        function.c_addr = c.pyapi.long_as_voidptr(address)
        c.pyapi.decref(address)
    return NativeValue(function._getvalue(), is_error=missing)


_CODE: dict[Any, Callable[..., Any]] = {}


def bind(function: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled code of `function` for arguments of these types; later arguments are not checked.

    Finding the types of all tables costs up to 600 us a call, more than many a step. So the types are those of the
    first call, for every game and every size: contiguous arrays of the same dtype, numbers of the same kind.
    """
    code = _CODE.get(function)
    if code is None:
        signature = tuple(typeof(a) for a in args)
        function.compile(signature)
        code = _CODE[function] = function.get_overload(signature)
    return code


def call(function: Any, *args: Any) -> Any:
    """Call the code that `bind` returns."""
    return bind(function, *args)(*args)


CACHE_LINE = 64
"""Bytes of a CPU cache line."""


def up_to(step: int, count: int) -> int:
    """Return the next multiple of `step` that is not below `count`."""
    return -(-count // step) * step
