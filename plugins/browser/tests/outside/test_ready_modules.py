"""A module that ships is made once more: the same bytes, or with another numba or linker the same answers."""

import gzip
import shutil

import pytest

import games
from config import UserError
from plugins.browser import ready
from plugins.browser.engine import functions_of
from plugins.browser.module import link, linker
from plugins.browser.tests.outside import test_engine_in_node as in_node


def no_linker():
    try:
        return "" if linker() else ""
    except UserError as error:
        return str(error)


pytestmark = [
    pytest.mark.skipif(bool(no_linker()), reason=no_linker()),
    pytest.mark.skipif(not shutil.which("node"), reason="needs node"),
]


def test_it_is_what_the_sources_make(monkeypatch, tmp_path):
    parts = functions_of(games.make("hex"))
    ships = gzip.decompress(ready.ready_file("hex", parts).read_bytes())
    made = link(parts)
    if made != ships:
        monkeypatch.setattr(ready, "unpacked", lambda path: made)
        played = in_node.Played("hex(size=9)", tmp_path)
        assert played.data.wasm == made
        in_node.test_the_visits_are_those_of_the_program(played)
        in_node.test_random_games_end_as_they_do_here(played)
