"""The parameters of a game: those that its class declares (`Game.takes`), else the arguments of its constructor."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping

from config import UserError
from game import Game, Parameter, Value

_FORMS = {
    int: (r"[0-9]{1,4}\Z", "a whole number"),
    float: (r"-?[0-9]{1,3}(\.[0-9]{1,2})?\Z", "a number"),
    str: (r"[a-z][a-z0-9_-]{0,30}\Z", "a word"),
}


def parameters_of(kind: type[Game]) -> tuple[Parameter, ...]:
    """Return what a game's class takes. A class with a constructor of its own that declares nothing has its arguments.

    >>> from games.othello import Othello
    >>> parameters_of(Othello)
    (Parameter(name='size', default=8, low=4, high=16, step=2, words=()),)
    """
    nearest = next(each for each in kind.__mro__ if "takes" in vars(each) or "__init__" in vars(each))
    if "takes" in vars(nearest):
        return kind.takes
    return tuple(Parameter(name, each.default) for name, each in inspect.signature(kind).parameters.items())


def values_of(game: Game) -> dict[str, Value]:
    """Return all parameters of a game, those with their default value too."""
    return {each.name: game.parameters.get(each.name, each.default) for each in parameters_of(type(game))}


def unusual(kind: type[Game], given: Mapping[str, Value]) -> dict[str, Value]:
    """Return those of the given parameters that are not the default, as `Game.parameters` has them."""
    defaults = {each.name: each.default for each in parameters_of(kind)}
    return {name: value for name, value in given.items() if value != defaults[name]}


def read_parameters(kind: type[Game], inside: str) -> dict[str, Value]:
    """Return the parameters in the brackets after a game's name, as keyword arguments for its constructor."""
    known = {each.name: each for each in parameters_of(kind)}
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
        found[key] = _read(kind.name, known[key], value)
    return found


def _read(game: str, parameter: Parameter, text: str) -> Value:
    """Return the value of a parameter, with the type of its default."""
    kind = type(parameter.default)
    if kind not in _FORMS:
        raise UserError(f"{game}: expected a number or word as the default of {parameter.name}, got {kind.__name__}")
    form, words = _FORMS[kind]
    if not re.match(form, text):
        raise UserError(f"{game}: expected {words} for {parameter.name}, got {text[:40]!r}")
    return kind(text)
