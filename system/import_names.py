"""Names of this program's modules in import statements: `game` in a checkout, `alphazero_keras.game` installed.

In a checkout the modules lie at the top and are imported as `game` or `games.plain`. Installed like that they would be
in everybody's way: many a program has a config.py or a game.py of its own. So all of them are in one package, and the
import statements are rewritten: those of the program when the package is made (distribution/hatch_build.py), those of a
game of your own when its file is loaded. A hook in Python's import system would need no rewriting, but it would serve
these names to every other module of the process, too.

A game of your own may import modules that lie beside its file. These are loaded as parts of it, `own_NAME.helper`: so
two games may have a helper of one name, and a helper that was changed is loaded again with its game.
"""

from __future__ import annotations

import ast
import codecs
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader, all_suffixes
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

from system.place import HERE, PREFIX
from system.reading import TEXT_BYTES, read_limited
from system.syntax import syntax_of

OWN = "own_"
"""The beginning of the names of your own modules; no module of the program begins so."""
TOP = {
    "MCTS",
    "agent",
    "compiled",
    "compiling",
    "config",
    "console",
    "conftest",
    "evaluation",
    "funcs",
    "game",
    "games",
    "initialise",
    "interface",
    "languages",
    "loggers",
    "main",
    "memory",
    "model",
    "network",
    "players",
    "plugins",
    "search",
    "storage",
    "system",
    "textbook",
    "training",
}
"""What lies at the program's top in a checkout, where files of your own may lie beside it."""


def own_names(here: Path = HERE) -> set[str]:
    """Return the names of the modules and folders of modules at the program's top."""
    files = {path.stem for path in here.glob("*.py")} | {path.parent.name for path in here.glob("*/__init__.py")}
    return {name for name in files if not name.startswith("_")} - {"alphazero_keras"}


def with_prefix(source: bytes, names: set[str], prefix: str, file: str = "") -> bytes:
    r"""Return a source in which each import of one of these modules has the prefix; lines stay where they are.

    >>> with_prefix(b"import games.own, os\nfrom config import Config\n", {"games", "config"}, "a.")
    b'import a.games as games, a.games.own, os\nfrom a.config import Config\n'
    """
    source = source.removeprefix(codecs.BOM_UTF8)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    changes: list[tuple[int, int, str]] = []
    for node in ast.walk(syntax_of(source, file)):
        if isinstance(node, ast.ImportFrom) and not node.level and _top(node.module or "") in names:
            begin = starts[node.lineno - 1] + node.col_offset
            begin = source.index(_top(node.module or "").encode(), begin + len("from"))
            changes.append((begin, begin, prefix))
        for alias in node.names if isinstance(node, ast.Import) else ():
            if _top(alias.name) in names:
                begin = starts[alias.lineno - 1] + alias.col_offset
                end = starts[(alias.end_lineno or 0) - 1] + (alias.end_col_offset or 0)
                changes.append((begin, end, _imported(alias, prefix)))
    for begin, end, text in sorted(changes, reverse=True):
        source = source[:begin] + text.encode() + source[end:]
    return source


def _top(module: str) -> str:
    return module.partition(".")[0]


def _imported(alias: ast.alias, prefix: str) -> str:
    """Return what stands after `import` for one name, so that the same name is bound as before."""
    if alias.asname:
        return f"{prefix}{alias.name} as {alias.asname}"
    top = _top(alias.name)
    whole = f"{prefix}{top} as {top}"
    return whole if alias.name == top else f"{whole}, {prefix}{alias.name}"


class _Loader(SourceFileLoader):
    """Loads your own file, whose imports mean this program's modules and those that lie beside your game's file.

    It is compiled each time: kept bytecode is taken for the file's when both are of one second and one size.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        if PREFIX:
            source = with_prefix(source, own_names(), PREFIX, path)
        whole = fullname.partition(".")[0]
        folder = Path(sys.modules[whole].__path__[0])
        beside = {_top(name) for name in imported(syntax_of(source, path)) if is_beside(folder, name)}
        return self.source_to_code(with_prefix(source, beside, f"{whole}.", path) if beside else source, path)


class _Parts:
    """Finds the parts of your own files, whose names begin with that of the whole."""

    @staticmethod
    def find_spec(name: str, places: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(OWN) or places is None:
            return None
        files = (file for place in places for file in files_of(Path(place), name.rpartition(".")[2]))
        found = next((file for file in files if file.suffix == ".py"), None)
        return None if found is None else _spec(name, found, found.parent if found.stem == "__init__" else None)


def _spec(name: str, path: Path, parts: Path | None) -> ModuleSpec | None:
    places = None if parts is None else [str(parts)]
    loader = _Loader(name, str(path))
    return spec_from_file_location(name, path, loader=loader, submodule_search_locations=places)


def own_file_spec(name: str, path: Path) -> ModuleSpec | None:
    """Return how your own file is loaded as the module `name`, which begins with `OWN`."""
    if _Parts not in sys.meta_path:
        sys.meta_path.insert(0, _Parts)
    return _spec(name, path, path.parent)


# ---- what lies beside a file


def imported(tree: ast.AST, package: str = "") -> Iterator[str]:
    """Yield the names of all modules that a source may import; those that lie beside it by `from .` begin with a dot.

    package: the package that the source lies in.

    >>> list(imported(ast.parse("import a.b; from c import d; from . import e"), "p"))
    ['a', 'a.b', 'c', 'c.d', '.p', '.p.e']
    """
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        dot = ""
        if isinstance(node, ast.ImportFrom):
            dot = "." * bool(node.level)
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join(filter(None, [*above, node.module]))
            names = [f"{module}.{alias.name}".strip(".") for alias in node.names]
        for name in names:
            parts = name.split(".")
            yield from (dot + ".".join(parts[: count + 1]) for count in range(len(parts)))


def files_of(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files that are the module of this name in a folder: one, or none."""
    place = folder.joinpath(*name.split("."))
    ends = [f"/__init__{end}" for end in all_suffixes()] + all_suffixes()
    yield from (file for end in ends if (file := Path(f"{place}{end}")).is_file())


def is_beside(folder: Path, name: str) -> bool:
    """Return whether a name means a module in a folder: none of this program or of Python, which come first."""
    top = _top(name)
    taken = top in TOP or top in sys.stdlib_module_names or f"{top}." == PREFIX
    return bool(top) and not taken and any(file for each in (top, name) for file in files_of(folder, each))


def files_beside(path: Path) -> list[Path]:
    """Return a file, and after it all files in its folder that it imports, directly or through one of them.

    A file that cannot be read or is no Python is left to who loads it.
    """
    found, todo = [path], [(path, "")]
    for file, package in todo:
        for name in _imported_by(file, package):
            beside = name.startswith(".") or is_beside(path.parent, name)
            name = name.lstrip(".")
            for other in files_of(path.parent, name) if beside else ():
                if other not in found:
                    found.append(other)
                    todo.append((other, name if other.stem == "__init__" else name.rpartition(".")[0]))
    return found


def files_elsewhere(files: Sequence[Path]) -> list[Path]:
    """Return the files of modules that are loaded, that these files import, and that nobody installed.

    Such a module was found by `sys.path`: beside the program, or where PYTHONPATH leads.
    """
    found: list[Path] = []
    todo = [(file, "") for file in files]
    for file, package in todo:
        for name in _imported_by(file, package):
            module = sys.modules.get(name.lstrip("."))
            other = Path(getattr(module, "__file__", None) or "")
            if not other.name or other in found or other in files or _is_installed(_top(name.lstrip(".")), other):
                continue
            found.append(other)
            todo.append((other, getattr(module, "__package__", None) or ""))
    return found


def _is_installed(top: str, file: Path) -> bool:
    """Return whether a module is Python's, of a package that was installed, or of this program."""
    if top in sys.stdlib_module_names or top == "alphazero_keras" or {"site-packages", "dist-packages"} & {*file.parts}:
        return True
    return top in TOP and file.is_relative_to(HERE)


def _imported_by(file: Path, package: str) -> list[str]:
    try:
        return list(imported(syntax_of(read_limited(file, TEXT_BYTES), str(file)), package))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
