"""The host's file is a regular one of a sensible size, or refused in one line."""

import pytest

from config import UserError
from plugins.littlego.turn import read_given
from support.strange_files import HOW, in_time, put
from support.systems import needs_posix


@needs_posix
@pytest.mark.parametrize("how", HOW)
def test_an_input_that_is_no_file_is_refused_and_not_waited_for(tmp_path, how):
    path = tmp_path / f"{how}.txt"
    put(path, how)
    with in_time(), pytest.raises(UserError, match=f"{path.stem}|/dev/zero") as raised:
        read_given(path)
    assert "\n" not in str(raised.value)
