"""What the page reads of a run never waits for a pipe or a device, and reads nothing large whole."""

import tracemalloc

import pytest

from config import UserError
from plugins.page.run_reader import log_tail, metrics, owner
from support.run_states import copied
from support.strange_files import HOW, in_time, put
from support.systems import needs_posix

pytestmark = needs_posix


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["metrics.jsonl", "lock", "logs/logger_main.log"])
def test_a_strange_file_in_a_run_is_not_waited_for(begun, tmp_path, name, how):
    folder, ended = copied(begun, tmp_path), []
    put(folder / name, how)
    tracemalloc.start()
    with in_time():
        for read in (owner, metrics, log_tail):
            try:
                ended.append(read(folder))
            except UserError as error:
                assert "\n" not in str(error)
                ended.append(None)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(ended) == 3 and most < 64 << 20
