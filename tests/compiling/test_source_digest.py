"""The digest of sources changes with all that code is made from, and with nothing else."""

import enum
import importlib
import shutil
import sys
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

import compiling.source_digest as source_digest_module
from compiled import compiled
from compiling.source_digest import source_digest


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


STEP = 1


@compiled
def deep(n):
    return n + STEP


def outer(n):
    """Return the number after the next."""
    return deep(n) + 1


def digest(*what, makers=()):
    return source_digest(what or (outer,), makers)


def test_it_changes_with_what_a_function_calls_and_names(monkeypatch):
    before = digest()
    assert before == digest() != digest(outer, "of another signature")
    monkeypatch.setitem(globals(), "STEP", 2)
    assert digest() != before
    monkeypatch.setitem(globals(), "STEP", 1)
    assert digest() == before
    monkeypatch.setitem(globals(), "deep", compiled(lambda n: n - STEP))
    assert digest() != before


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Return what writes a module and returns its function `made`."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)  # two files written in one second
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name).made

    yield load
    source_digest_module._functions_of.cache_clear()


def test_it_is_of_code_alone(loaded):
    """Comments, documentation and the names of the program's package, which an installed program has, are left out."""
    texts = (
        'def made(n):\n    """Return it."""\n    from game import LAST\n    return 2 * n\n',
        "# a comment\n\ndef made(n):\n    from alphazero_keras.game import LAST\n\n    return 2*n  # twice\n",
        "def made(n):\n    return 3 * n\n",
    )
    found = []
    for i, text in enumerate(texts):
        made = loaded(f"made_of_text_{i}", text)
        made.__module__, name = "one", made.__module__  # the name of a module does not count
        sys.modules["one"] = sys.modules[name]
        source_digest_module._functions_of.cache_clear()
        found.append(digest(made))
        del sys.modules["one"]
    assert found[0] == found[1] != found[2]


def test_a_function_that_is_not_what_its_file_says_has_another_digest(loaded):
    """A file is changed while a process runs, which loads it again or not."""
    one = loaded("changed", "def made(n):\n    return 2 * n\n")
    before = digest(one)
    again = loaded("changed", "def made(n):\n    return 3 * n\n")
    assert before != digest(again)
    assert before == digest(one), "what was loaded before is still what it was"
    source_digest_module._functions_of.cache_clear()  # as in a process that begins now, with the file of now
    assert len({before, digest(one), digest(again)}) == 3


def test_functions_without_a_source_and_two_in_one_line_have_digests_of_their_own():
    one, two = (lambda n: n + 1), (lambda n: n + 2)
    assert digest(one) != digest(two)
    texts = ("def made(n): return 2 * n", "def made(n): return 3 * n")
    spaces = [{"__name__": "made"} for _ in texts]
    for text, space in zip(texts, spaces, strict=True):
        exec(text, space)
    assert digest(spaces[0]["made"]) != digest(spaces[1]["made"])


OTHERS = (
    (np.dtype([("a", np.int32)]), np.dtype([("b", np.int32)])),
    (np.arange(3), np.arange(1, 4)),
    (NamedTuple("Pair", [("a", int)]), NamedTuple("Pair", [("b", int)])),
    (Colour.RED, Colour.BLUE),
    ((1, (2, 3)), (1, (2, 4))),
)
"""Pairs of values that differ."""


@pytest.mark.parametrize("values", OTHERS, ids=lambda pair: type(pair[0]).__name__)
def test_a_value_that_a_function_names_counts(values, loaded):
    made = loaded("naming", "def made(n):\n    return n, VALUE\n")
    digests = []
    for value in values:
        made.__globals__["VALUE"] = value
        digests.append(digest(made))
    assert digests[0] != digests[1]


def test_closures_defaults_and_attributes_of_modules_count(loaded):
    def closed(step):
        return lambda n: n + step

    assert digest(closed(1)) != digest(closed(2)) and digest(closed(1)) == digest(closed(1))

    def given(n, step=1):
        return n + step

    before = digest(given)
    given.__defaults__ = (2,)
    assert digest(given) != before
    made = loaded("calling", "def made(n):\n    return rules.step(n)\n")
    rules = ModuleType("rules")
    digests = []
    for step in (outer, digest):
        rules.step = step
        made.__globals__["rules"] = rules
        digests.append(digest(made))
    assert digests[0] != digests[1]


def test_it_changes_with_the_files_that_make_code(tmp_path, monkeypatch):
    monkeypatch.setattr(source_digest_module, "HERE", tmp_path)
    digests = []
    for text in ("A = 1\n", "A = 1  # a comment\n", "A = 2\n"):
        (tmp_path / "maker.py").write_text(text)
        source_digest_module._file.cache_clear()
        digests.append(digest(makers=["maker.py"]))
    source_digest_module._file.cache_clear()
    assert digests[0] == digests[1] != digests[2]


def test_types_are_in_the_words_of_the_caller(loaded):
    made = loaded("typed", "from compiled import types\n\nKIND = types.int64\n\n\ndef made(n):\n    return n, KIND\n")
    assert source_digest((made,), (), str) == source_digest((made,), ())
    assert source_digest((made,), (), str) != source_digest((made,), (), lambda kind: "a number")
