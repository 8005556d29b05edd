"""Loads your own game from a file by its path (`python main.py new-game` writes one to begin with).

Loading a file runs it: name only files that you trust. `class_in` and `guarded` serve your own networks as well.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.machinery
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from config import UserError
from game import ARRANGE, COUNT, ENCODE, EVALUATE, KEY, LEGAL, OUTCOME, PLAY, PLAYOUT, SAFE, SOLVE, WINNING, Game
from games.parameters import read_parameters, unusual
from games.returned_values import check_facts, check_start
from system.files_read import files_read
from system.import_names import OWN, files_beside, files_elsewhere, own_file_spec
from system.reading import TEXT_BYTES, open_regular, read_limited

T = TypeVar("T")
_SPEC = re.compile(r"(?P<file>.+\.py)\s*(?::\s*(?:(?P<kind>\w+)\s*)?)?(\((?P<inside>[^()]*)\))?\Z")
_KINDS = {
    "legal": LEGAL,
    "play": PLAY,
    "outcome": OUTCOME,
    "encode": ENCODE,
    "key": KEY,
    "winning": WINNING,
    "playout": PLAYOUT,
    "safe": SAFE,
    "solve": SOLVE,
    "evaluate": EVALUATE,
    "counted": COUNT,
    "arranged": ARRANGE,
}
_STEPS = re.compile(r"Failed in nopython mode pipeline \(step: [^)]*\)")  # of numba, before what is wrong
_FACTS = ("grid_shape", "input_shape", "action_size", "max_plies", "rules", "start_row")


class Kind(NamedTuple):
    """What a user's file has to hold."""

    base: type
    what: str
    """In words, e.g. "game"."""
    bases: str
    """From what it may be derived, in words."""
    unwritten: str
    """The function that it cannot do without."""
    guide: str


GAME = Kind(Game, "game", "Game or PlainGame", "start()", "docs/add_a_game.md")


def load(spec: str) -> Game:
    """Return the game that "file.py:Class(size=5)" names; raise `UserError` with one line when that fails."""
    match = _SPEC.match(spec)
    if not match:
        raise UserError(f"expected a game such as file.py:Class or file.py:Class(size=5), got {spec[:60]!r}")
    path = path_of(match["file"], GAME.what)
    kind = class_in(path, match["kind"] or "", GAME)
    if not hasattr(kind, "name"):
        kind.name = kind.__name__.lower()
    given = read_parameters(kind, match["inside"] or "")
    with files_read() as read:
        game = _made(path, kind, given)
    game.rests_on = _rests_on(path, kind.__module__, read)
    return game


def _made(path: Path, kind: Any, given: dict[str, Any]) -> Game:
    """Return the game of a class with these parameters, checked."""
    game: Game = guarded(path, lambda: kind(**given))
    game.origin = f"{path}:{kind.__name__}"
    game.parameters = unusual(kind, given)
    if not hasattr(game, "symmetries"):
        game.symmetries = []
    missing = [fact for fact in _FACTS if getattr(game, fact, None) is None]
    if missing:
        hint = "; derive it from games.plain.PlainGame" if "rules" in missing else ""
        raise UserError(f"{path.name}: expected {kind.__name__} to have {', '.join(missing)}{hint}")
    _check_rules(path, game)
    guarded(path, lambda: check_facts(game))
    guarded(path, lambda: check_start(game))
    return game


def _rests_on(path: Path, module: str, read: set[Path]) -> dict[str, str]:
    """Return {name: sha256} of all files that a game rests on, by their names from the folder of its file.

    Files elsewhere go by their own names, wherever they lie on another machine; those of one name are joined.
    """
    known, near = _RESTS_ON[module], path.parent
    found: dict[str, list[str]] = {}
    for file, content in (known | _contents(read - known.keys())).items():
        name = file.relative_to(near).as_posix() if file.is_relative_to(near) else file.name
        found.setdefault(name, []).append(content)
    return {name: " ".join(sorted(contents)) for name, contents in found.items()}


def _check_rules(path: Path, game: Game) -> None:
    """Refuse rules and a start row of the wrong type: compiled code reads addresses only and would misread them."""
    rules = game.rules._asdict() if game.rules is not None else {}
    for name, rule in {**rules, "evaluate": game.evaluate, "counted": game.counted, "arranged": game.arranged}.items():
        kind = getattr(rule, "_sig", getattr(rule, "signature", None))  # of a cfunc, or of a rule in plain Python
        sign = {"counted": "COUNT", "arranged": "ARRANGE"}.get(name, name.upper())
        if kind == _KINDS[name] and (function := getattr(rule, "__wrapped__", None)):
            _check_arguments(path, name, sign, function, len(kind.args))
        compiles = rule is None or kind == _KINDS[name] and guarded(path, partial(hasattr, rule, "address"))
        if not compiles:
            raise UserError(f"{path.name}: expected {name} to be made by @rule({sign}), see game.{sign}")
    row = game.start_row
    if not (isinstance(row, np.ndarray) and row.dtype == np.int32 and row.ndim == 1 and row.flags.c_contiguous):
        raise UserError(f"{path.name}: expected start_row to be an array [row_size] of np.int32")


def _check_arguments(path: Path, name: str, sign: str, function: Any, count: int) -> None:
    """Refuse a rule whose signature has another number of arguments than its function."""
    taken = ", ".join(inspect.signature(function).parameters)
    if len(inspect.signature(function).parameters) != count:
        place = f"{path.name}, line {function.__code__.co_firstlineno}"
        arguments = f"{count} arguments" if count > 1 else "1 argument"
        raise UserError(f"{place}: expected {name} to take {arguments}, see game.{sign}, got {name}({taken})")


def digest(game: Game) -> str:
    """Return a sha256 of the files of your own game as they were when it was loaded, "" for any other game."""
    files = {name: content for one in (*game.sizes, game) for name, content in one.rests_on.items()}
    if len(files) <= 1:
        return "".join(files.values())  # of one file: the digest that runs of earlier releases hold
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()


def _source(path: Path) -> bytes:
    """Return the text of a file of rules; raise `OSError` if it cannot be read."""
    return read_limited(path, TEXT_BYTES)


def lies_elsewhere(spec: str, game: Game) -> bool:
    """Return whether a name means this game of your own, apart from the folder of its file; nothing is run."""
    if not game.origin:
        return False
    named, mine = _SPEC.match(spec), _SPEC.match(game.spec)
    if not (named and mine):
        return False
    same = all(named[part] == mine[part] for part in ("kind", "inside"))
    return same and re.split(r"[/\\]", named["file"])[-1] == Path(mine["file"]).name


def path_of(file: str, what: str) -> Path:
    """Return the whole path of a user's file with a game or a network; it need not exist."""
    try:
        return Path(file).expanduser().resolve()
    except FileNotFoundError:
        raise UserError(f"expected a file with a {what}, got {file[:100]!r}: the working folder is gone") from None
    except RuntimeError as error:  # ~somebody, or a ring of links
        raise UserError(f"expected a file with a {what}, got {file[:100]!r} ({error})") from None


def class_in(path: Path, name: str, kind: Kind) -> Any:
    """Return a class of a user's file, which is run; without a name the only one of its kind there.

    Raises `UserError` with one line when that fails.
    """
    module = _module(path, kind)
    own = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__]
    known = {c.__name__: c for c in own if issubclass(c, kind.base)}
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name in known:
        return known[name]
    if name and name in vars(module):
        raise UserError(f"{path.name}: expected a class derived from {kind.bases}, got {name}")
    if not known:
        raise UserError(f"expected a {kind.what}, there is no class derived from {kind.bases} in {path.name}")
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.55)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UserError(f"{path.name}: expected a {kind.what} out of {', '.join(known)}, got {name[:40]!r}{hint}")


_RESTS_ON: dict[str, dict[Path, str]] = {}
"""{name of a module: {file: sha256}}: your own file, and what it read or imported when it was run."""


def _module(path: Path, kind: Kind) -> ModuleType:
    """Return the module of a file; it is run again only when the file has changed, or another one that it rests on."""
    try:
        text = _source(path)
    except OSError as error:
        raise UserError(f"expected a file with a {kind.what}, got {path} ({error.strerror})") from None
    for each, files in list(_RESTS_ON.items()):
        if any(_content(file) != content for file, content in files.items()):
            _forget(each)
    beside = _contents(files_beside(path))
    whole = repr((str(path), text, {file: beside[file] for file in beside if file != path})).encode()
    stem = re.sub(r"\W", "_", path.stem)  # imports within it are written with the name
    name = f"{OWN}{stem}_{hashlib.sha256(whole).hexdigest()[:16]}"
    if name not in sys.modules:
        found = own_file_spec(name, path)
        if found is None or found.loader is None:
            raise UserError(f"expected a file of Python, got {path}")
        module = sys.modules[name] = importlib.util.module_from_spec(found)
        try:
            with files_read() as read:
                guarded(path, lambda: found.loader.exec_module(module), kind)  # type: ignore[union-attr]
        except BaseException:
            _forget(name)
            raise
        _RESTS_ON[name] = _contents([*files_elsewhere([*beside]), *read]) | beside
    return sys.modules[name]


def _forget(name: str) -> None:
    """Let your own module, its parts and all modules that it rests on be loaded again, as these import each other."""
    files = _RESTS_ON.pop(name, {})
    for other, module in list(sys.modules.items()):
        whole = other.partition(".")[0]
        if whole == name or not whole.startswith(OWN) and Path(getattr(module, "__file__", None) or "") in files:
            del sys.modules[other]


def _contents(files: Iterable[Path]) -> dict[Path, str]:
    return {file: _content(file) for file in files}


def _content(file: Path) -> str:
    """Return the sha256 of a file, "" if it cannot be read."""
    try:
        with open_regular(file) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()  # type: ignore[arg-type]
    except OSError:
        return ""


def guarded(path: Path, work: Callable[[], T], kind: Kind = GAME) -> T:
    """Run code of a user's file; turn an error in it into one line with its place."""
    try:
        return work()
    except UserError:
        raise
    except NotImplementedError:
        raise UserError(f"{path.name}: expected {kind.unwritten} to be written, it is not (see {kind.guide})") from None
    except (Exception, SystemExit) as error:
        place = _place(error, files_beside(path)) or path.name
        raise UserError(f"{place}: {type(error).__name__}: {_line(error)}") from error


def line_of(error: BaseException) -> str:
    """Return an error from the code of a user's file as one line with its place, "" for any other error."""
    place = _place(error, ())
    return f"{place}: {type(error).__name__}: {_line(error)}" if place else ""


def _line(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return " ".join(_STEPS.sub("", text).split())[:200]


def _place(error: BaseException, files: Iterable[Path]) -> str:
    """Return the innermost line of your own files in an error's traceback, or the one that cannot be compiled.

    files: some that need not be loaded.
    """
    own = {str(file) for file in files}
    own |= {str(getattr(m, "__file__", "")) for name, m in list(sys.modules.items()) if name.startswith(OWN)}
    lines: list[tuple[str, int | None]] = [
        (frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
    ]
    if (found := getattr(error, "loc", None)) is not None:  # of numba
        lines.append((getattr(found, "filename", ""), found.line))
    if isinstance(error, SyntaxError):
        lines.append((error.filename or "", error.lineno))
    return next((f"{Path(file).name}, line {line}" for file, line in reversed(lines) if file in own), "")
