"""Makes and caches compiled code: the decorators, and a cache folder that changes when any compiled source does.

numba keeps machine code next to its source file and checks only that file for changes, so a change in an inlined
function would leave old code in use in its callers. Here the cache folder is named after a hash of all such sources.
A game's own file is left out unless another file imports it: nothing else inlines its functions, so a change in it
recompiles only that game.

The kept files hold machine code in pickles, and whoever writes them decides what runs here. So the folder is the
user's alone, and each file ends with a digest of the rest: a damaged one is removed and its function compiled again.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from config import UserError
from system import processes

ENVIRONMENT: dict[str, str] = {}
"""Variables of the environment that this program replaced or removed, as they were."""


def take_over(*prefixes: str, keep: tuple[str, ...], **settings: str) -> None:
    """Remove variables from the environment by prefix and set others, before a library reads them.

    keep: prefixes of those that stay as they are.
    """
    for name in list(os.environ):
        if name.startswith(prefixes) and not name.startswith(keep) and os.environ[name] != settings.get(name):
            ENVIRONMENT[name] = os.environ.pop(name)
    os.environ.update(settings)


def need_address_space(gib: float, what: str) -> None:
    """Raise `UserError` where `ulimit -v` leaves less: libraries end the process when it is used up."""
    left = processes.address_space_left()
    if left is not None and left < gib * 2**30:
        needs = f"{what} needs {gib:.1f} GiB of address space, `ulimit -v` leaves {left / 2**30:.1f} GiB"
        raise UserError(f"not enough memory: {needs}")


def _take_numba_over() -> str:
    """Leave numba its own settings, whatever the environment says; return the folder that NUMBA_CACHE_DIR names."""
    if os.path.isfile(".numba_config.yaml"):
        raise UserError("expected no .numba_config.yaml in this folder: it changes how numba compiles this program")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise UserError("NUMBA_DISABLE_JIT: expected 0, as this program runs only compiled; unset it")
    take_over("NUMBA_", keep=("NUMBA_CACHE_DIR",))
    return os.environ.get("NUMBA_CACHE_DIR", "")


@contextmanager
def _absent(*packages: str) -> Iterator[None]:
    """Let a block find packages missing that are not yet loaded."""
    hidden = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


_WANTED = _take_numba_over()
need_address_space(1.1, "compiled code")

# The names that other modules need as well: numba has to be loaded here first.
from llvmlite import ir as ir  # noqa: E402
from numba import config as numba_config  # noqa: E402
from numba import typeof as typeof  # noqa: E402
from numba import types as types  # noqa: E402
from numba.core import ccallback, dispatcher  # noqa: E402
from numba.core import cgutils as cgutils  # noqa: E402
from numba.core import event as event  # noqa: E402
from numba.core.caching import (  # noqa: E402
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    IPythonCacheLocator,
)
from numba.core.imputils import lower_getattr_generic as lower_getattr_generic  # noqa: E402
from numba.core.typing.templates import AttributeTemplate as AttributeTemplate  # noqa: E402
from numba.core.typing.templates import infer_getattr as infer_getattr  # noqa: E402
from numba.extending import NativeValue as NativeValue  # noqa: E402
from numba.extending import intrinsic as intrinsic  # noqa: E402
from numba.extending import models as models  # noqa: E402
from numba.extending import register_model as register_model  # noqa: E402
from numba.extending import typeof_impl as typeof_impl  # noqa: E402
from numba.extending import unbox as unbox  # noqa: E402
from numba.np.arrayobj import populate_array as populate_array  # noqa: E402

from compiling.functions import CompiledFunction, Rule  # noqa: E402
from compiling.functions import Function as Function  # noqa: E402

with _absent("scipy.linalg", "cffi"):  # numba loads them for what compiled code here never uses, 0.15 s
    import numba.core.typing.cffi_utils
    import numba.np.arraymath  # noqa: F401

if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]  # loaded before, as in a notebook
    raise UserError("numba was loaded with NUMBA_DISABLE_JIT; this program runs only compiled: restart without it")

_HERE = Path(__file__).parent


def cache_folder(here: Path = _HERE, wanted: str = _WANTED) -> Path:
    """Return the folder for the machine code of the current sources; remove this checkout's older folders.

    It lies in the folder `wanted` if one is named, else in the checkout, else in the user's cache folder. Raises
    `UserError` when none of these can be written, or when another user could write there as well.
    """
    digest = hashlib.sha256()
    rooms = [path.parent for path in here.glob("*/__init__.py")]
    sources = sorted([*here.glob("*.py"), *(path for room in rooms for path in room.rglob("*.py"))])
    texts = {path: path.read_bytes() for path in sources}
    for path, text in texts.items():
        is_game = path.parent == here / "games"
        taken_in = not is_game or any(f"from games.{path.stem} ".encode() in t for t in texts.values())
        if taken_in and any(mark in text for mark in (b"@compiled", b"@inlined", b"@rule", b"@record", b"typeof_impl")):
            digest.update(text)
    place, reasons = hashlib.sha256(str(here.resolve()).encode()).hexdigest()[:8], []
    name = f"numba-{place}-{processes.user()}-{digest.hexdigest()[:16]}"
    for base in [Path(wanted).absolute()] if wanted else [here / "__pycache__", _users_cache()]:
        fault = _make_private(base / name, above=base != here / "__pycache__")
        if fault is None:
            for old in base.glob(f"numba-{place}-*"):
                if old.name != name and processes.owns(old):
                    shutil.rmtree(old, ignore_errors=True)
            return base / name
        reasons.append(fault)
    where = "NUMBA_CACHE_DIR" if wanted else "compiled code cannot be kept"
    raise UserError(f"{where}: {'; '.join(reasons)}; NUMBA_CACHE_DIR=FOLDER names a place for compiled code")


def _users_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named if os.path.isabs(named) else os.path.expanduser("~/.cache")) / "alphazero-keras"


def _make_private(folder: Path, *, above: bool) -> str | None:
    """Make a folder that only its owner can write; return why there is none, or None. `above`: check its parents too.

    The parents of a folder in the checkout are not checked: who can write there can change the program itself.
    """
    try:
        for parent in reversed(folder.parents):
            if above and not parent.exists():
                parent.mkdir(0o700, exist_ok=True)
        if not above:
            folder.parent.mkdir(exist_ok=True)
        open_to = next((p for p in (folder.resolve().parents if above else ()) if processes.others_write(p)), None)
        if open_to is not None:
            return f"{open_to} can be written by other users, who could put code there (chmod go-w)"
        if folder.is_dir() and not folder.is_symlink() and processes.others_write(folder) and processes.owns(folder):
            shutil.rmtree(folder, ignore_errors=True)  # what is in it could be anybody's
        folder.mkdir(0o700, exist_ok=True)
        if folder.is_symlink() or not processes.owns(folder) or processes.others_write(folder):
            return f"{folder} is not this user's alone"
        if not os.access(folder, os.W_OK):
            return f"{folder} cannot be written"
    except OSError as error:
        return f"{folder.parent} cannot be written ({error.strerror})"
    return None


FOLDER = cache_folder()
"""The folder that keeps machine code."""


class _InFolder:
    """Where a function's machine code is kept, whatever numba's own settings are."""

    _py_file: str

    def get_cache_path(self) -> str:
        return str(FOLDER / InTreeCacheLocator.get_suitable_cache_subpath(self._py_file))

    def ensure_cache_path(self) -> None:
        os.makedirs(self.get_cache_path(), exist_ok=True)


class _OfFile(_InFolder, InTreeCacheLocator):
    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        return cls(py_func, py_file) if os.path.exists(py_file) else None


class _OfCell(_InFolder, IPythonCacheLocator):
    """Of a function in a notebook's cell."""


class _CheckedFile(IndexDataCacheFile):
    """numba's files of a function, each followed by its digest, which unpickling ignores."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = io.BytesIO()
            yield content
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _remove_damaged(self, path: str) -> None:
        with open(path, "rb") as file:
            content = file.read()
        if hashlib.sha256(content[:-32]).digest() != content[-32:]:
            os.unlink(path)

    def _load_index(self) -> Any:
        if os.path.exists(self._index_path):
            self._remove_damaged(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self._remove_damaged(self._data_path(name))
        return super()._load_data(name)


class _Locations(CompileResultCacheImpl):
    _locator_classes = [_OfFile, _OfCell]


KEEPING = "alphazero:keeping"
"""The event of numba's kind while a function's machine code is made and written; compiling has ended then."""


class _Kept(FunctionCache):
    """A function's machine code on disk. What cannot be read is compiled again; what cannot be written is not kept."""

    _impl_class = _Locations

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with event.trigger_event(KEEPING):  # machine code is made here
                super().save_overload(sig, data)
        except OSError as error:
            _warn(f"{FOLDER} keeps no compiled code ({error.strerror}): every start compiles it again")


dispatcher.FunctionCache = ccallback.FunctionCache = _Kept  # type: ignore[attr-defined]


@cache
def _warn(text: str) -> None:
    logging.getLogger("alphazero.compiled").warning(text)


_OPTIONS = {
    "nopython": True, "nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True,
    "forceinline": False,
}  # fmt: skip
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
        _SHARED[function] = Rule(function.twin("shared"), result(*(typeof(a) for a in args)))
    return _SHARED[function]


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


_CODE: dict[Any, Callable[..., Any]] = {}


def bind(function: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled code of `function` for arguments of these types; later arguments are not checked.

    Finding the types of all tables costs up to 600 us a call, more than many a step. So the types are those of the
    first call, for every game and every size: contiguous arrays of the same dtype, numbers of the same kind.
    """
    code = _CODE.get(function)
    if code is None:
        signature = tuple(typeof(a) for a in args)
        entry = function.entry
        entry.compile(signature)
        code = _CODE[function] = entry.get_overload(signature)
    return code


def call(function: Any, *args: Any) -> Any:
    """Call the code that `bind` returns."""
    return bind(function, *args)(*args)


CACHE_LINE = 64
"""Bytes of a CPU cache line."""


def up_to(step: int, count: int) -> int:
    """Return the next multiple of `step` that is not below `count`."""
    return -(-count // step) * step
