"""Command lines that are shown are those that a shell reads."""

import shlex

import pytest

from support.systems import needs_posix
from system.shell import quoted


@needs_posix
@pytest.mark.parametrize("word", ["connect4(rows=5)", "it's mine.py:Mine", "''", 'a "b" $c `d` \\\\'])
def test_a_quoted_word_is_read_by_a_shell_as_it_is(word):
    assert shlex.split(f"check {quoted(word)}") == ["check", word]
