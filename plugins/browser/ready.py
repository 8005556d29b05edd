"""WebAssembly modules that are ready: those that ship, in the folder ready/, and those that were made here before.

A module is found by a digest of the sources of the functions that it holds and of the types of the tables. It is the
same digest in every version of Python and of numba, and in the program when it is installed. Neither the size of a
board nor a network is a part of it.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from compiling import cache_folder
from compiling.numba_import import numba
from compiling.records import RecordType
from compiling.source_digest import source_digest
from plugins.browser.module import Part, link
from storage.atomic_files import replacing
from system.reading import LINES_BYTES, TEXT_BYTES, read_limited

FOLDER = Path(__file__).parent / "ready"
MAKERS = "compiled.py", "compiling/functions.py", "compiling/records.py", "plugins/browser/module.py"
"""Files that decide how functions become a module."""


def module_of(parts: Mapping[str, Part]) -> bytes:
    """Return the module of these functions: the one that ships, the one that was made here before, or a new one."""
    wanted = digest(parts)
    ships = next(FOLDER.glob(f"*-{wanted}.wasm.gz"), None)
    if ships is not None:
        return unpacked(ships)
    kept = cache_folder.FOLDER / f"browser-{wanted}-{numba.__version__}.wasm.gz"
    if kept.exists():
        return unpacked(kept)
    made = link(parts)
    with replacing(kept) as trial:
        trial.write_bytes(packed(made))
    return made


def ready_file(name: str, parts: Mapping[str, Part]) -> Path:
    """Return where the module of a built-in game lies."""
    return FOLDER / f"{name}-{digest(parts)}.wasm.gz"


def packed(module: bytes) -> bytes:
    return gzip.compress(module, 9, mtime=0)


def unpacked(path: Path) -> bytes:
    with gzip.open(io.BytesIO(read_limited(path, TEXT_BYTES))) as file:
        return file.read(LINES_BYTES)


def digest(parts: Mapping[str, Any]) -> str:
    """Return the digest of a module's functions."""
    functions = [(name, part._sig.return_type, part._sig.args, part.__wrapped__) for name, part in parts.items()]
    kinds = [(name, *map(_kind, (result, *args)), function) for name, result, args, function in functions]
    return source_digest(tuple(kinds), MAKERS, _kind)[:16]


def _kind(kind: Any) -> str:
    """Return a type in words that do not depend on numba's version."""
    if isinstance(kind, RecordType):
        return f"{kind.title}({' '.join(f'{name}:{_kind(field)}' for name, field in kind.fields)})"
    if isinstance(kind, numba.types.Array):
        dtype = np.dtype(numba.np.numpy_support.as_dtype(kind.dtype))
        return f"{dtype.descr if dtype.fields else dtype.str}[{kind.ndim}]"
    if isinstance(kind, numba.types.FunctionType):
        signature = kind.signature
        return f"{_kind(signature.return_type)}({','.join(map(_kind, signature.args))})"
    return str(kind)
