"""The modules that ship are those that the sources make, and pages are made with them, without a linker."""

import pytest

import games
from compiled import types
from plugins.browser import ready
from plugins.browser.commands.export_page import run
from plugins.browser.engine import functions_of
from plugins.browser.module import Part
from plugins.browser.player import page_parts
from plugins.browser.site import shipped_games


@pytest.fixture
def no_linker(monkeypatch, tmp_path):
    def link(parts):
        raise AssertionError("made once more")

    monkeypatch.setattr(ready, "link", link)
    monkeypatch.setattr(ready.cache_folder, "FOLDER", tmp_path)


def test_what_ships_is_of_these_sources():
    """Where it is not: `python distribution/make_ready.py`."""
    wanted = {ready.ready_file(name, functions_of(games.make(name))) for name in games.names()}
    assert set(ready.FOLDER.iterdir()) == wanted
    assert sum(path.stat().st_size for path in wanted) < 500_000
    assert not [path.name for path in wanted if b".py" in ready.unpacked(path)], "files of the computer that made them"


@pytest.mark.parametrize("spec", shipped_games())
def test_a_player_that_ships_needs_no_linker(no_linker, spec):
    made = page_parts("shipped", games.make(spec))
    assert made.wasm.startswith(b"\0asm")
    assert made.facts["ownership"] == (spec.split("(")[0] == "go")


def test_a_page_is_written_without_a_linker(no_linker, tmp_path):
    path = tmp_path / "page.html"
    assert run(["shipped", "--game", "tictactoe", "-o", str(path)]) == 0
    assert 100_000 < path.stat().st_size < 1_000_000


def outer(n):
    return n + 1


NUMBER = types.int64(types.int64)


def test_a_digest_is_of_names_types_and_functions():
    before = ready.digest({"outer": Part(outer, NUMBER)})
    assert before == ready.digest({"outer": Part(outer, NUMBER)})
    others = {"other": Part(outer, NUMBER)}, {"outer": Part(outer, types.int32(types.int32))}
    assert before not in map(ready.digest, others)
    assert before != ready.digest({"outer": Part(lambda n: n + 2, NUMBER)})


def test_a_module_is_made_once(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(ready, "link", lambda parts: made.append(1) or b"\0asm")
    monkeypatch.setattr(ready.cache_folder, "FOLDER", tmp_path)
    for _ in range(2):
        assert ready.module_of({"outer": Part(outer, NUMBER)}) == b"\0asm"
    assert made == [1]
