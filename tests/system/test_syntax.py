"""Syntax trees that are built in several threads at once."""

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from system.place import HERE
from system.syntax import ATTEMPTS, syntax_of


@pytest.fixture
def interrupted():
    """Let threads take turns in the midst of a tree: a collection of garbage comes there, and runs this."""

    def pause(phase, info):
        time.sleep(0.0001)

    before = gc.get_threshold()
    gc.callbacks.append(pause)
    gc.set_threshold(300, 10**6, 10**6)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(pause)


def test_threads_that_build_trees_at_once_each_get_theirs(interrupted):
    """Python 3.11.7 raised a SystemError in such threads, and a page of the server was an error 500."""
    sources = [(HERE / name).read_text(encoding="utf-8") for name in ("game.py", "memory.py", "loggers.py")]
    expected = [ast.dump(ast.parse(source)) for source in sources]
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: [ast.dump(syntax_of(source)) for source in sources], range(3)):
            assert found == expected


def test_a_tree_that_met_one_of_a_library_is_built_again(monkeypatch):
    parse, met = ast.parse, iter([True, True, False])

    def at_the_same_time(source, file):
        if next(met):
            raise SystemError("AST constructor recursion depth mismatch (before=51, after=68)")
        return parse(source, file)

    monkeypatch.setattr(ast, "parse", at_the_same_time)
    assert ast.dump(syntax_of("x = 1")) == ast.dump(parse("x = 1"))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    met = iter([True] * (ATTEMPTS + 1))
    with pytest.raises(SystemError):
        syntax_of("x = 1")
    with pytest.raises(SyntaxError, match="mine.py"):
        monkeypatch.undo()
        syntax_of("x = = 1", "mine.py")
