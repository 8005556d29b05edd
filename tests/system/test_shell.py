"""Command lines that are shown are those that a shell reads."""

import shlex

import pytest

from support.systems import needs_posix
from system.shell import continued, quoted


@needs_posix
@pytest.mark.parametrize("word", ["connect4(rows=5)", "it's mine.py:Mine", "''", 'a "b" $c `d` \\\\'])
def test_a_quoted_word_is_read_by_a_shell_as_it_is(word):
    assert shlex.split(f"check {quoted(word)}") == ["check", word]


@needs_posix
def test_a_long_command_goes_over_several_lines_that_a_shell_reads_as_one():
    line = "python main.py --new --game 'gomoku(size=7..15)' --network '/a b/n.py:Net' --minutes 960"
    assert continued(line, None) == continued(line, 100) == line
    found = continued(line, 40)
    assert all(len(each) <= 40 for each in found.splitlines()) and found.count(" \\\n  ") == 2
    assert shlex.split(found.replace("\\\n", "")) == shlex.split(line)
