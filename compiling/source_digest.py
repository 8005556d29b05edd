"""A digest of functions by their sources, for compiled code that ships.

It is made of the sources of the functions and of all that they call, without comments, and of the values that they
name. It is the same in every version of Python, and in the program when it is installed; `made_from`, whose digest is
of bytecode, is quicker and holds for one version of Python alone. Of a function that is not what its file says now,
such as one of a notebook, or of a file that was changed since it was loaded, it is of the bytecode too.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from compiling.made_from import codes_in, described, made_from, named_in
from compiling.numba_import import numba
from system.place import HERE, PREFIX
from system.reading import TEXT_BYTES, read_limited
from system.syntax import syntax_of

OTHERS = "llvmlite", "numba", "numpy"
"""Packages whose functions are known by their names."""


def source_digest(what: tuple[Any, ...], makers: Sequence[str], words: Callable[[Any], str] = str) -> str:
    """Return the digest of functions and values, and of the files that decide how code is made of functions.

    words: returns a numba type in words.
    """
    return made_from((*map(_file, makers), *what), partial(_described, words))


@cache
def _file(name: str) -> str:
    return _plain(syntax_of(read_limited(HERE / name, TEXT_BYTES)))


def _described(words: Callable[[Any], str], function: FunctionType) -> Iterator[Any]:
    """Yield what stands for a function: its source and the values that it names."""
    if function.__module__.split(".")[0] in OTHERS:
        return
    code = function.__code__
    source = _functions_of(function.__module__).get(code.co_firstlineno)
    if source is None or source.code != code:
        yield from described(function)
        return
    yield function.__defaults__
    for cell in function.__closure__ or ():
        yield _inside(cell.cell_contents, words)
    yield _plain(source.node)
    names = sorted({name for each in codes_in(code) for name in each.co_names})
    for name in names:
        if name in function.__globals__:
            yield name
    for value in named_in(names, function.__globals__):
        yield _inside(value, words)


def _inside(value: Any, words: Callable[[Any], str]) -> Any:
    """Return the function of an intrinsic, the words of a type, a module's name, and any other value as it is."""
    if isinstance(value, ModuleType):
        return value.__name__.removeprefix(PREFIX)
    if isinstance(value, numba.types.Type):
        return words(value)
    return getattr(value, "_defn", value)


class _Source(NamedTuple):
    """A function as a file has it."""

    node: ast.AST
    code: CodeType


@cache
def _functions_of(module: str) -> dict[int, _Source]:
    """Return the functions of a module's file by their first lines, which are those of their decorators; none where two
    begin in one line."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    loader = getattr(spec, "loader", None)
    if spec is None or not isinstance(loader, SourceFileLoader):
        return {}
    try:
        whole = loader.get_code(spec.name)
        tree = syntax_of(read_limited(Path(loader.path), TEXT_BYTES), loader.path)
    except (OSError, ImportError, SyntaxError, ValueError):  # the file is gone, or half written
        return {}
    nodes: dict[int, list[ast.AST]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            nodes[first].append(node)
    known = {code.co_firstlineno: code for code in codes_in(whole) if code is not whole} if whole else {}
    return {line: _Source(found[0], known[line]) for line, found in nodes.items() if len(found) == 1 and line in known}


@cache
def _plain(node: ast.AST) -> str:
    """Return a source without comments, documentation, imports (which name a package once it is installed) and texts
    with values in them, which Python's versions write in different ways."""
    return ast.unparse(_Plain().visit(copy.deepcopy(node)))


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
