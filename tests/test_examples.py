"""The examples in docstrings give what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    file.relative_to(ROOT)
    for file in (*ROOT.glob("*.py"), *ROOT.glob("*/**/*.py"))
    if file.parent == ROOT or (ROOT / file.relative_to(ROOT).parts[0] / "__init__.py").exists()
    if ">>> " in file.read_text(encoding="utf-8")
)


def test_there_are_examples():
    assert len(FILES) >= 10


@pytest.mark.parametrize("file", FILES, ids=str)
def test_the_examples_of_a_file_hold(file):
    parts = file.parent.parts + (() if file.stem == "__init__" else (file.stem,))
    found = doctest.testmod(importlib.import_module(".".join(parts)))
    assert found.attempted and not found.failed
