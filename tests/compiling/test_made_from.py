"""The digest of what a function's machine code is made from changes with everything that numba takes into it."""

import enum
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from compiled import compiled
from compiling.made_from import made_from

SOURCE = """
import numpy as np
from compiled import compiled
import rules
STEP, TABLE, FAR = 1, np.arange(3), (1, 2.5)

@compiled
def inner(n):
    return n + STEP + 7

@compiled
def middle(n):
    return inner(n) + TABLE[n]

def outer(n, by=1):
    return middle(n) + rules.far(n) + FAR[0]
"""
FAR = "from compiled import compiled\n\n@compiled\ndef far(n):\n    {}\n"


@pytest.fixture
def outer(tmp_path, monkeypatch):
    """Return what returns the function of a source, run as a module of a file."""

    def made(text=SOURCE, far="return n"):
        for name, source in (("rules", FAR.format(far)), ("whole", text)):
            path = tmp_path / f"{name}.py"
            path.write_text(source)
            module = ModuleType(name)
            module.__file__ = str(path)
            monkeypatch.setitem(sys.modules, name, module)
            exec(compile(source, str(path), "exec"), vars(module))
        return module.outer

    return made


def test_the_same_source_has_the_same_digest(outer):
    assert made_from(outer()) == made_from(outer())


@pytest.mark.parametrize(
    "old, new",
    [
        ("n + STEP + 7", "n + STEP + 8"),
        ("n + STEP + 7", "n - STEP + 7"),
        ("STEP, TABLE, FAR = 1,", "STEP, TABLE, FAR = 2,"),
        ("np.arange(3)", "np.arange(3) * 2"),
        ("np.arange(3)", "np.arange(3).astype(np.float64)"),
        ("(1, 2.5)", "(1, 3.5)"),
        ("by=1", "by=2"),
        ("inner(n) + TABLE[n]", "TABLE[n]"),
    ],
)
def test_a_change_anywhere_changes_it(outer, old, new):
    assert old in SOURCE
    assert made_from(outer(SOURCE.replace(old, new))) != made_from(outer())


def test_a_function_of_a_module_counts(outer):
    assert made_from(outer(far="return n + 1")) != made_from(outer())


def test_closures_enumerations_and_functions_that_call_each_other():
    def maker(step):
        return lambda n: n + step

    assert made_from(maker(1)) != made_from(maker(2))
    numbers = {"A": 1}

    def marked():
        space = {"Sign": enum.IntEnum("Sign", numbers)}
        exec("def f(n): return n + Sign.A", space)
        return made_from(space["f"])

    first = marked()
    numbers["A"] = 2
    assert marked() != first


@compiled
def even(n):
    return n == 0 or odd(n - 1)


@compiled
def odd(n):
    return n != 0 and even(n - 1)


def test_functions_may_call_each_other():
    assert len(made_from(even.py_func)) == 64 and made_from(even.py_func) != made_from(odd.py_func)


def test_other_processes_find_the_same():
    """Sets of words have another order in each process."""
    code = (
        "from compiling.made_from import made_from\n"
        "from training.selfplay_step import selfplay_step\n"
        "def f(n): return n in {'a', 'b', 'c', 'd', 'e'}\n"
        "print(made_from(f), made_from(selfplay_step.py_func))"
    )
    root = Path(__file__).parents[2]
    done = {
        subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(done) == 1 and [len(part) for part in done.pop().split()] == [64, 64]
