"""The modules that ship are those that the sources make, and pages are made with them, without a linker."""

import pytest

import games
from compiled import compiled, types
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


@pytest.mark.parametrize("spec", shipped_games())
def test_a_player_that_ships_needs_no_linker(no_linker, spec):
    made = page_parts("shipped", games.make(spec))
    assert made.wasm.startswith(b"\0asm")
    assert made.facts["ownership"] == (spec.split("(")[0] == "go")


def test_a_page_is_written_without_a_linker(no_linker, tmp_path):
    path = tmp_path / "page.html"
    assert run(["shipped", "--game", "tictactoe", "-o", str(path)]) == 0
    assert 100_000 < path.stat().st_size < 1_000_000


STEP = 1


@compiled
def deep(n):
    return n + STEP


def outer(n):
    """Return the number after the next."""
    return deep(n) + 1


NUMBER = types.int64(types.int64)


def digest(function=outer, signature=NUMBER):
    return ready.digest({"outer": Part(function, signature)})


def test_a_digest_changes_with_all_that_a_module_is_made_from(monkeypatch):
    before = digest()
    assert before == digest() != digest(signature=types.int32(types.int32))
    assert before != ready.digest({"other": Part(outer, NUMBER)})
    monkeypatch.setitem(globals(), "STEP", 2)
    assert digest() != before
    monkeypatch.setitem(globals(), "STEP", 1)
    assert digest() == before
    monkeypatch.setitem(globals(), "deep", compiled(lambda n: n - STEP))
    assert digest() != before


def test_a_digest_is_of_code_alone(tmp_path):
    """Comments, documentation and the names of the program's package, which an installed program has, are left out."""
    texts = (
        'def double(n):\n    """Return it."""\n    from game import LAST\n    return 2 * n\n',
        "# a comment\n\ndef double(n):\n    from alphazero_keras.game import LAST\n\n    return 2*n  # twice\n",
        "def double(n):\n    return 3 * n\n",
    )
    found = []
    for i, text in enumerate(texts):
        path = tmp_path / f"{i}.py"
        path.write_text(text)
        space = {"__name__": "double"}
        exec(compile(text, str(path), "exec"), space)
        found.append(digest(space["double"]))
    assert found[0] == found[1] != found[2]


def test_a_module_is_made_once(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(ready, "link", lambda parts: made.append(1) or b"\0asm")
    monkeypatch.setattr(ready.cache_folder, "FOLDER", tmp_path)
    for _ in range(2):
        assert ready.module_of({"outer": Part(outer, NUMBER)}) == b"\0asm"
    assert made == [1]
