"""A digest of all that a function's machine code is made from: its code, and what it calls and names, wherever it is.

numba takes the functions that are called, and the values of names outside the function, into the machine code. Its own
key is the function's file and code alone, so it would go on using code with old functions of a second file in it, or
with numbers that were read from a file of data.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from compiling.numba_import import numba


def made_from(what: Any, describe: Callable[[FunctionType], Iterator[Any]] | None = None) -> str:
    """Return the digest of a function, or of a tuple of functions and values; it is the same in each process.

    describe: yields what stands for a function, instead of its bytecode and the values that it names.

    >>> step = 1
    >>> def after(n): return n + step
    >>> old = made_from(after)
    >>> step = 2
    >>> made_from(after) == old
    False
    """
    digest = hashlib.sha256()
    for part in _parts(what, set(), describe or described):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _parts(value: Any, seen: set[FunctionType], describe: Callable[[FunctionType], Iterator[Any]]) -> Iterator[bytes]:
    """Yield the bytes of a value; of a function that was met before only its name."""
    value = getattr(value, "py_func", getattr(value, "_pyfunc", value))  # of a compiled function, or of a rule
    yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, (bool, int, float, complex, str, bytes, np.generic, type(None))):
        yield repr(value).encode()
    elif isinstance(value, numba.types.Type):
        yield str(value).encode()
    elif isinstance(value, enum.Enum):
        yield repr((value.name, value.value)).encode()
    elif isinstance(value, np.dtype):
        yield repr(value).encode()
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes() if value.dtype != object else b""
    elif isinstance(value, tuple):
        for part in value:
            yield from _parts(part, seen, describe)
    elif isinstance(value, FunctionType):
        yield value.__qualname__.encode()
        if value not in seen:
            seen.add(value)
            for part in describe(value):
                yield from _parts(part, seen, describe)
    elif isinstance(value, (type, ModuleType)):
        yield getattr(value, "__qualname__", value.__name__).encode()
        yield repr(getattr(value, "_fields", ())).encode()
        if isinstance(value, enum.EnumMeta):
            yield repr([(member.name, member.value) for member in value]).encode()


def described(function: FunctionType) -> Iterator[Any]:
    """Yield the code of a function, its defaults, and the value of each name that it may mean."""
    yield function.__defaults__
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    for code in codes_in(function.__code__):
        yield code.co_code
        for constant in code.co_consts:
            if not isinstance(constant, CodeType):
                yield repr(sorted(constant, key=repr) if isinstance(constant, frozenset) else constant)
        yield code.co_names
        yield from named_in(code.co_names, function.__globals__)


def named_in(names: Sequence[str], known: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the value of each name that a function may mean, None where there is none."""
    for name in names:
        yield known.get(name)
    modules = [v for name in names if isinstance(v := known.get(name), ModuleType)]
    while modules:  # `rules.step(row)` names both, and a module may be in a package
        module = modules.pop()
        found = [vars(module).get(name) for name in names]  # what it would only load or warn of is no code of ours
        yield from (v for v in found if not isinstance(v, ModuleType))
        modules += [v for v in found if isinstance(v, ModuleType) and v.__name__.startswith(f"{module.__name__}.")]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and that of the functions within it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes_in(inner)
