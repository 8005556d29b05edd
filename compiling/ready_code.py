"""Code that ships: functions as LLVM's code, so that a first start need not compile them from Python.

Three quarters of the time to compile go into numba's way from Python to LLVM's code. That code is taken here before
LLVM optimises it as a whole, when nothing in it depends on the processor or on Python's version; what it depends on is
in the digest by which it is found. Where the program starts for the first time it is optimised, and kept like other
machine code. Where none fits (other sources, another numba, another system) functions are compiled.

`python distribution/make_ready_code.py` makes the files of the folder ready/ (write_ready_code.py): a line of JSON, and
LLVM's bitcode.
"""

from __future__ import annotations

import gzip
import json
import platform
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from compiling.kept_code import KeptCode
from compiling.numba_import import llvmlite, numba
from compiling.source_digest import source_digest
from system.place import PREFIX
from system.reading import TEXT_BYTES, read_limited

SYSTEM = f"numba-{numba.__version__}-{sys.platform}-{platform.machine().lower()}"
FOLDER = Path(__file__).parent / "ready" / SYSTEM
"""The files for this version of numba and this kind of system."""
SHIPS = FOLDER.is_dir()
"""Whether there are any."""
READING = "alphazero:reading"
"""The event of numba's kind while machine code is made of code that ships."""
MAKERS = (
    "compiled.py",
    "compiling/functions.py",
    "compiling/ready_code.py",
    "compiling/records.py",
    "compiling/write_ready_code.py",
)
"""Files that decide how functions become code."""


class ReadyCode(KeptCode):
    """A function's machine code on disk, at first made of the code that ships."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        kept = super().load_overload(sig, target_context)
        function = self._py_func
        if kept is not None or _name(function) not in _names(FOLDER):
            return kept
        path = ready_file(function, sig)
        if not path.is_file():
            return None
        with numba.core.event.trigger_event(READING):
            made = unpacked(path, function, sig, target_context)
        if made is not None:
            self.save_overload(sig, made)
        return made


def _name(function: FunctionType) -> str:
    name = f"{function.__module__}.{function.__qualname__}".removeprefix(PREFIX)
    return name.replace("<", "").replace(">", "")


@cache
def _names(folder: Path) -> frozenset[str]:
    """Return the names of the functions in a folder, so that no digest is made of others."""
    return frozenset(path.name.rpartition("-")[0] for path in folder.iterdir()) if folder.is_dir() else frozenset()


def ready_file(function: FunctionType, signature: Any) -> Path:
    """Return where the code of a function lies for arguments of these types."""
    offsets = tuple(sorted(numba._dynfunc._impl_info.items()))  # of Python's objects, from where their header ends
    made_for = _name(function), str(signature), llvmlite.__version__, offsets, function
    return FOLDER / f"{_name(function)}-{source_digest(made_for, MAKERS)[:16]}.gz"


def unpacked(path: Path, function: FunctionType, signature: Any, context: Any) -> Any:
    """Return what numba would return of a function that it compiled, or None where the file is damaged."""
    try:
        head, _, bitcode = gzip.decompress(read_limited(path, TEXT_BYTES)).partition(b"\n")
        facts = json.loads(head)
        module = llvmlite.binding.parse_bitcode(bitcode)
    except (OSError, EOFError, ValueError, RuntimeError, zlib.error):  # damaged: the function is compiled instead
        return None
    context.refresh()
    arguments = tuple(getattr(signature, "args", signature))
    returns = _returned(facts["returns"])
    description = numba.core.funcdesc.PythonFunctionDescriptor(
        native=True,
        modname=function.__module__,
        qualname=function.__qualname__,
        unique_name=function.__qualname__,
        doc="",
        typemap=None,
        restype=returns,
        calltypes=None,
        args=function.__code__.co_varnames[: len(arguments)],
        kws=(),
        mangler=lambda *_, **__: facts["function"],
        argtypes=arguments,
        env_name=facts["environment"],
    )
    environment = numba.core.environment.Environment.from_fndesc(description)
    called = description.llvm_func_name, description.llvm_cpython_wrapper_name, description.llvm_cfunc_wrapper_name
    library = _optimised(context.codegen(), facts["library"], module, called)
    return numba.core.compiler.compile_result(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, description, environment),
        type_annotation="",
        signature=numba.core.typing.signature(returns, *arguments),
        objectmode=False,
        lifted=(),
        fndesc=description,
        library=library,
        environment=environment,
        reload_init=(),
        referenced_envs=(),
    )


def _returned(words: str | list[str]) -> Any:
    """Return the type that a file names."""
    if isinstance(words, list):
        return numba.types.BaseTuple.from_types([getattr(numba.types, each) for each in words])
    return getattr(numba.types, words)


def _optimised(target: Any, name: str, module: Any, called: Sequence[str]) -> Any:
    """Return a library of this code, optimised for this processor; no other code can call any function but `called`."""
    library = target.create_library(name)
    library.enable_object_caching()
    library._final_module = module
    module.name = name
    library._optimize_final_module()
    for each in module.functions:  # not before: LLVM would take functions into others that it does not when it compiles
        if not each.is_declaration and each.name not in called:
            each.linkage = "internal"
    module.verify()
    library._finalize_final_module()
    return library
