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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from config import UserError
from game import ENCODE, EVALUATE, KEY, LEGAL, OUTCOME, PLAY, PLAYOUT, SAFE, SOLVE, WINNING, Game
from games.bounds import check_facts, check_start
from games.parameters import read_parameters, unusual
from system.import_names import own_file_spec
from system.reading import TEXT_BYTES, read_limited

T = TypeVar("T")
_SPEC = re.compile(r"(?P<file>.+\.py)\s*(?::\s*(?:(?P<kind>\w+)\s*)?)?(\((?P<inside>[^()]*)\))?\Z")
_KINDS = {"legal": LEGAL, "play": PLAY, "outcome": OUTCOME, "encode": ENCODE, "key": KEY, "winning": WINNING,
          "playout": PLAYOUT, "safe": SAFE, "solve": SOLVE, "evaluate": EVALUATE}  # fmt: skip
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
    game = guarded(path, lambda: kind(**given))
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


def _check_rules(path: Path, game: Game) -> None:
    """Refuse rules and a start row of the wrong type: compiled code reads addresses only and would misread them."""
    rules = game.rules._asdict() if game.rules is not None else {}
    for name, rule in {**rules, "evaluate": game.evaluate}.items():
        kind = getattr(rule, "_sig", getattr(rule, "signature", None))  # of a cfunc, or of a rule in plain Python
        compiles = rule is None or kind == _KINDS[name] and guarded(path, partial(hasattr, rule, "address"))
        if not compiles:
            sign = name.upper()
            raise UserError(f"{path.name}: expected {name} to be made by @rule({sign}), see game.{sign}")
    row = game.start_row
    if not (isinstance(row, np.ndarray) and row.dtype == np.int32 and row.ndim == 1 and row.flags.c_contiguous):
        raise UserError(f"{path.name}: expected start_row to be an array [row_size] of np.int32")


def digest(game: Game) -> str:
    """Return the sha256 of the file of your own game, "" for any other game."""
    if not game.origin:
        return ""
    return hashlib.sha256(_source(Path(game.origin.rpartition(":")[0]))).hexdigest()


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


def _module(path: Path, kind: Kind) -> ModuleType:
    """Return the module of a file; it is run again only when the file has changed."""
    try:
        text = _source(path)
    except OSError as error:
        raise UserError(f"expected a file with a {kind.what}, got {path} ({error.strerror})") from None
    name = f"own_{path.stem}_{hashlib.sha256(bytes(path) + text).hexdigest()[:16]}"
    if name not in sys.modules:
        found = own_file_spec(name, path)
        if found is None or found.loader is None:
            raise UserError(f"expected a file of Python, got {path}")
        module = sys.modules[name] = importlib.util.module_from_spec(found)
        try:
            guarded(path, lambda: found.loader.exec_module(module), kind)  # type: ignore[union-attr]
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def guarded(path: Path, work: Callable[[], T], kind: Kind = GAME) -> T:
    """Run code of a user's file; turn an error in it into one line with its place."""
    try:
        return work()
    except UserError:
        raise
    except NotImplementedError:
        raise UserError(f"{path.name}: expected {kind.unwritten} to be written, it is not (see {kind.guide})") from None
    except (Exception, SystemExit) as error:
        raise UserError(f"{path.name}{_place(path, error)}: {type(error).__name__}: {_line(error)}") from error


def told(error: BaseException) -> str:
    """Return an error from the code of a user's file as one line with its place, "" for any other error."""
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or "")
        if name.startswith("own_") and (place := _place(path, error)):
            return f"{path.name}{place}: {type(error).__name__}: {_line(error)}"
    return ""


def _line(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return " ".join(_STEPS.sub("", text).split())[:200]


def _place(path: Path, error: BaseException) -> str:
    """Return the innermost line of the file in an error's traceback, or the one that cannot be compiled."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno}"
    if (found := getattr(error, "loc", None)) is not None and getattr(found, "filename", "") == str(path):
        return f", line {found.line}"  # of numba
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""
