"""Names of this program's modules in import statements: `game` in a checkout, `alphazero_keras.game` installed.

In a checkout the modules lie at the top and are imported as `game` or `games.plain`. Installed like that they would be
in everybody's way: many a program has a config.py or a game.py of its own. So all of them are in one package, and the
import statements are rewritten: those of the program when the package is made (distribution/hatch_build.py), those of a
game of your own when its file is loaded. A hook in Python's import system would need no rewriting, but it would serve
these names to every other module of the process, too.
"""

from __future__ import annotations

import ast
import codecs
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

from system.place import HERE, PREFIX


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
    for node in ast.walk(ast.parse(source, file)):
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
    """Loads your own file, whose imports mean this program's modules.

    It is compiled each time: kept bytecode is taken for the file's when both are of one second and one size.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        return self.source_to_code(with_prefix(source, own_names(), PREFIX, path) if PREFIX else source, path)


def own_file_spec(name: str, path: Path) -> ModuleSpec | None:
    """Return how your own file is loaded as the module `name`, whose imports mean this program's modules."""
    return spec_from_file_location(name, path, loader=_Loader(name, str(path)))
