"""The games, one file each; `make(name)` finds the file by the name, so a new one needs no entry here.

Two more forms of a name lead elsewhere: "open_spiel:hex(board_size=5)" and "path/to/file.py:Class(size=5)". A range of
sizes, "gomoku(size=7..15)", makes the largest game, which knows the others (games/sizes.py).
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import re

from config import UserError, has_range
from game import Game

_SPEC = re.compile(r"(?P<name>[A-Za-z0-9_]+)(\((?P<inside>[^()]*)\))?\Z")
_FILE = re.compile(r"\.py\s*(:|\(|\Z)")
_LIBRARY = {
    "boards", "bounds", "chains", "column_endings", "columns", "console_turn", "defences", "endings", "fours",
    "go_playouts", "hex_lines", "line_of_moves", "line_words", "lines", "openspiel", "openspiel_probe",
    "othello_endings", "own", "plain", "renju", "sizes", "threats",
}  # fmt: skip


def names() -> list[str]:
    """Return the names of all games."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in _LIBRARY)


def make(spec: str, *, typed: bool = True) -> Game:
    """Return the game that a text names; raise `UserError` when there is none.

    Loading a game from your own file runs that file, and some games of OpenSpiel open one. With `typed=False`, for a
    text that came out of a file, both are refused.

    >>> make("connect4(rows=5,columns=6)").grid_shape
    (5, 6)
    """
    if has_range(spec):
        from games.sizes import several

        return several(spec, lambda name: make(name, typed=typed))
    if spec.strip().startswith("open_spiel:"):
        from games.openspiel import PREFIX, SpielGame, check_harmless

        inside = spec.strip().removeprefix(PREFIX).strip()
        if not typed:
            check_harmless(inside)
        return SpielGame(inside)
    if _FILE.search(spec):
        if not typed:
            raise UserError(f"expected the game to be named with --game, as its code is to be run: {spec[:100]!r}")
        from games.own import load

        return load(spec.strip())
    match = _SPEC.match(spec.strip())
    name = match["name"].lower() if match else spec.strip()[:60]
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1, cutoff=0.55)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        forms = "open_spiel:NAME or FILE.py:CLASS"
        raise UserError(f"expected a game out of {', '.join(names())}, {forms}, got {name[:60]!r}{hint}")
    module = importlib.import_module(f"{__name__}.{name}")
    own = (c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__)
    kind = next((c for c in own if issubclass(c, Game)), None)
    if kind is None:
        raise UserError(f"games/{name}.py: expected a class derived from Game or PlainGame, there is none")
    given = parameters_of(kind, match["inside"] or "" if match else "")
    game = kind(**given)
    if "parameters" not in vars(game):  # a game made from the template does not set it
        known = inspect.signature(kind).parameters
        game.parameters = {key: value for key, value in given.items() if value != known[key].default}
    return game


Parameter = int | float | str


def parameters_of(kind: type[Game], inside: str) -> dict[str, Parameter]:
    """Return the parameters in the brackets after a game's name, as keyword arguments for its constructor."""
    known = inspect.signature(kind).parameters
    found = {}
    for part in filter(None, (p.strip() for p in inside.split(","))):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.3)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            options = f"a parameter out of {', '.join(known)}" if known else "no parameters"
            raise UserError(f"{kind.name}: expected {options}, got {key[:40]!r}{hint}")
        if key in found:
            raise UserError(f"{kind.name}: expected {key} once, got it twice")
        found[key] = _parameter(kind.name, key, value, known[key].default)
    return found


_FORMS = {
    int: (r"[0-9]{1,4}\Z", "a whole number"),
    float: (r"-?[0-9]{1,3}(\.[0-9]{1,2})?\Z", "a number"),
    str: (r"[a-z][a-z0-9_-]{0,30}\Z", "a word"),
}


def _parameter(name: str, key: str, text: str, default: Parameter) -> Parameter:
    """Return the value of a parameter, with the type of its default."""
    kind = type(default)
    if kind not in _FORMS:
        raise UserError(f"{name}: expected a number or word as the default of {key}, got {kind.__name__}")
    form, words = _FORMS[kind]
    if not re.match(form, text):
        raise UserError(f"{name}: expected {words} for {key}, got {text[:40]!r}")
    return kind(text)
