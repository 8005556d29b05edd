"""Writes the code that ships, for ready_code.py, while functions are compiled."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest.mock import patch

from compiling.kept_code import KeptCode
from compiling.numba_import import numba
from compiling.ready_code import ReadyCode, ready_file

CPUCallConv = numba.core.callconv.CPUCallConv
codegen = numba.core.codegen


@contextmanager
def writing() -> Iterator[set[Path]]:
    """Write the code of what is compiled in a block, and compile all; yield the set of files, which grows."""
    written: set[Path] = set()
    optimise, keep = codegen.CPUCodeLibrary._optimize_final_module, ReadyCode.save_overload
    place = CPUCallConv.build_excinfo_struct

    def optimised(library: Any) -> None:
        library.unoptimised = library._final_module.as_bitcode()
        optimise(library)

    def kept(code: ReadyCode, signature: Any, made: Any) -> None:
        keep(code, signature, made)  # which finishes the code of a rule
        path = ready_file(code._py_func, signature)
        path.write_bytes(packed(code._py_func, made, code_of(made).unoptimised))
        written.add(path)

    def placeless(convention: Any, error: Any, args: Any, _: Any, name: Any) -> Any:
        """Leave out where an error is raised: a path of the computer on which the code is made."""
        return place(convention, error, args, None, name)

    with (
        patch.object(codegen.JITCodeLibrary, "_optimize_final_module", optimised),
        patch.object(CPUCallConv, "build_excinfo_struct", placeless),
        patch.object(ReadyCode, "save_overload", kept),
        patch.object(ReadyCode, "load_overload", KeptCode.load_overload),
    ):
        yield written


def code_of(made: Any) -> Any:
    """Return the code of a function that numba compiled, in all forms that it has of it."""
    return made._asdict()["library"]


def packed(function: FunctionType, made: Any, bitcode: bytes) -> bytes:
    """Return the content of the file of a function that was compiled.

    made: numba's result; bitcode: its code before it was optimised as a whole. Raises `ValueError` if that holds for
    this process only.
    """
    code, objects = code_of(made), any(each.consts for each in made._find_referenced_environments())
    if objects or code.has_dynamic_globals or made.reload_init or made.lifted:
        raise ValueError(f"{function.__qualname__}: expected code without Python's objects and without addresses")
    returns = made.signature.return_type
    facts = {
        "library": code.name,
        "function": made.fndesc.mangled_name,
        "environment": made.fndesc.env_name,
        "returns": [str(each) for each in returns] if isinstance(returns, numba.types.BaseTuple) else str(returns),
    }
    return gzip.compress(json.dumps(facts).encode() + b"\n" + bitcode, 9, mtime=0)
