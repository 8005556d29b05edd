"""What the doctor reads of a run: no file is waited for, and nobody's rules are run because a run names them."""

import pytest

from config import UserError, to_json
from initialise import Session
from plugins.doctor.history import read_history
from storage.run_folders import find_run
from support.run_states import copied
from support.strange_files import HOW, in_time, put
from support.systems import needs_posix
from support.tiny_runs import QUIET, tiny, tree_of


@needs_posix
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["config.json", "run.mark", "metrics.jsonl", "models/version0001.npz"])
def test_a_strange_file_in_a_run_is_not_waited_for(begun, tmp_path, name, how):
    folder = copied(begun, tmp_path)
    put(folder / name, how)
    with in_time():
        try:
            read_history(folder)
        except UserError as error:
            assert "\n" not in str(error)


def test_rules_that_somebodys_settings_name_are_not_run(tmp_path, quick):
    with Session.start(tiny(), root=tmp_path / "runs", console=QUIET) as session:
        folder = session.folder
    (tmp_path / "g.py").write_text(f"open({str(tmp_path / 'done')!r}, 'w')\n")
    text = to_json(tiny()).replace('"tictactoe"', f'"{tmp_path / "g.py"}:G"')
    (folder / "config.json").write_text(text)
    before = tree_of(tmp_path)
    with pytest.raises(UserError, match=r"config\.json: expected the game of the folder tictactoe, got '"):
        read_history(find_run("tictactoe", root=tmp_path / "runs"))
    assert tree_of(tmp_path) == before, "nothing was run or written"
