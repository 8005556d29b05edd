"""The plugins of the core: folders of plugins/ that add commands, options and players. The core runs without them.

A folder plugins/NAME/ says in its plugin.py, as `PLUGIN`, what it adds. The places are texts, so that nothing is
imported before it is used, and the core imports no plugin by its name. To leave one out, delete its folder.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from system.place import PREFIX

NOTHING: Mapping[str, Any] = MappingProxyType({})


class NewCommand(NamedTuple):
    """A command that a plugin adds; its code is commands/<command>.py of the plugin's folder."""

    group: str
    """Purpose under which the help lists it."""
    about: str
    """What it does, in a few words."""


class NewPlayer(NamedTuple):
    """A kind of player that a plugin adds: all names that begin with its head and a colon."""

    example: str
    """Such a name, for help and hints."""
    make: str
    """"module:function" in the plugin's folder: (game, the name after its head and colon) -> Player."""


class Plugin(NamedTuple):
    """What a plugin adds to the core."""

    about: str
    """What it is, in a sentence."""
    extra: str = ""
    """The optional requirement in pyproject.toml that it needs; "" = none."""
    needs: tuple[str, ...] = ()
    """Other plugins that it uses."""
    commands: Mapping[str, NewCommand] = NOTHING
    """{command: what it is}"""
    options: Mapping[str, str] = NOTHING
    """{command of the core: "module:Class"}: a dataclass of options that the command has as well. Its methods replace
    those of the command's own dataclass with the same name: so a pool of workers is added to training."""
    players: Mapping[str, NewPlayer] = NOTHING
    """{head of a player's name, before a colon: what it is}"""
    end_of_move: Mapping[str, str] = NOTHING
    """{game: "module:function"}: a rule for the end of a rollout player's move (`players.rollout.EndOfMove`)."""
    pictures: str = ""
    """"module:function": (GameState) -> SVG, which draws a position in a notebook."""
    notebook: Mapping[str, str] = NOTHING
    """{view of a notebook: "module:name"}: what takes the place of a plain one (interface/notebook/views.py)."""


@cache
def plugins() -> dict[str, Plugin]:
    """Return {folder: what it adds} of the plugins that are there, in alphabetical order."""
    try:
        room = import_module(f"{PREFIX}plugins")
    except ModuleNotFoundError:
        return {}
    names = sorted(found.name for found in pkgutil.iter_modules(room.__path__) if found.ispkg)
    return {name: import_module(f"{PREFIX}plugins.{name}.plugin").PLUGIN for name in names}


def module(plugin: str, place: str) -> ModuleType:
    """Import a module of a plugin: "commands.serve" of "page"."""
    return import_module(f"{PREFIX}plugins.{plugin}.{place}")


def load(plugin: str, place: str) -> Any:
    """Return what "module:name" names in a plugin."""
    where, _, name = place.partition(":")
    return getattr(module(plugin, where), name)
