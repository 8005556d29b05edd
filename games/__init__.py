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
from functools import cache

from config import UserError, has_range
from game import Game
from games.parameters import read_parameters, unusual

_SPEC = re.compile(r"(?P<name>[A-Za-z0-9_]+)(\((?P<inside>[^()]*)\))?\Z")
_FILE = re.compile(r"\.py\s*(:|\(|\Z)")
BY_SGF_NUMBER = {1: "go", 4: "gomoku", 11: "hex"}
"""{`Game.sgf_number`: the game that a file of it means}."""
_LIBRARY = {
    "boards", "chains", "column_endings", "columns", "defences", "endings", "fours", "go_playouts",
    "hex_lines", "line_of_moves", "line_words", "lines", "openspiel", "openspiel_probe", "othello_endings",
    "own", "parameters", "plain", "renju", "returned_values", "sgf_words", "sizes", "threats", "titles",
}  # fmt: skip


def names() -> list[str]:
    """Return the names of all games."""
    return list(_names_in(tuple(__path__), frozenset(_LIBRARY)))


@cache
def _names_in(folders: tuple[str, ...], others: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(m.name for m in pkgutil.iter_modules(folders) if m.name not in others))


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
    given = read_parameters(kind, match["inside"] or "" if match else "")
    game = kind(**given)
    if "parameters" not in vars(game):  # a game made from the template does not set it
        game.parameters = unusual(kind, given)
    return game
