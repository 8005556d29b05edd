"""WebAssembly modules that are ready: those that ship, in the folder ready/, and those that were made here before.

A module is found by a digest of all that it is made from: the sources of the compiled functions that it holds, without
comments, the values that they name, and the types of the tables. It is the same digest in every version of Python and
of numba, and in the program when it is installed. Neither the size of a board nor a network is a part of it.
"""

from __future__ import annotations

import ast
import gzip
import inspect
import io
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from compiling import cache_folder
from compiling.made_from import made_from, named_in
from compiling.numba_import import numba
from compiling.records import RecordType
from plugins.browser.module import Part, link
from storage.atomic_files import replacing
from system.place import HERE, PREFIX
from system.reading import LINES_BYTES, TEXT_BYTES, read_limited
from system.syntax import syntax_of

FOLDER = Path(__file__).parent / "ready"
MAKERS = "compiled.py", "compiling/functions.py", "compiling/records.py", "plugins/browser/module.py"
"""Files that decide how functions become a module."""
OTHERS = "llvmlite", "numba", "numpy"
"""Packages whose functions are known by their names."""


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
    return made_from((*_makers(), *kinds), _described)[:16]


@cache
def _makers() -> list[Any]:
    return [_plain(syntax_of(read_limited(HERE / name, TEXT_BYTES))) for name in MAKERS]


def _described(function: FunctionType) -> Iterator[Any]:
    """Yield what stands for a function: its source and the values that it names."""
    if function.__module__.split(".")[0] in OTHERS:
        return
    yield function.__defaults__
    for cell in function.__closure__ or ():
        yield _inside(cell.cell_contents)
    code = function.__code__
    node = _functions_of(code.co_filename).get(code.co_firstlineno)
    yield code.co_code if node is None else _plain(node)  # without a source, as in a notebook, no module ships
    names = sorted({name for code in _codes(code) for name in code.co_names})
    for name in names:
        if name in function.__globals__:
            yield name
    yield from map(_inside, named_in(names, function.__globals__))


def _codes(code: Any) -> Iterator[Any]:
    yield code
    for inner in code.co_consts:
        if inspect.iscode(inner):
            yield from _codes(inner)


def _inside(value: Any) -> Any:
    """Return the function of an intrinsic, the words of a type, a module's name, and any other value as it is."""
    if isinstance(value, ModuleType):
        return value.__name__.removeprefix(PREFIX)
    if isinstance(value, numba.types.Type):
        return _kind(value)
    return getattr(value, "_defn", value)


@cache
def _functions_of(file: str) -> dict[int, ast.AST]:
    """Return the functions of a file by their first lines, which are those of their decorators."""
    found: dict[int, ast.AST] = {}
    if Path(file).is_file():
        for node in ast.walk(syntax_of(read_limited(Path(file), TEXT_BYTES))):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
                found.setdefault(first, node)
    return found


@cache
def _plain(node: ast.AST) -> str:
    """Return a source without comments, documentation, imports (which name a package once it is installed) and texts
    with values in them, which Python's versions write in different ways."""
    return ast.unparse(_Plain().visit(node))


class _Plain(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)] or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_Import(self, node: ast.Import) -> None:  # noqa: N802
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:  # noqa: N802
        return None

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:  # noqa: N802
        return ast.Constant("")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


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
