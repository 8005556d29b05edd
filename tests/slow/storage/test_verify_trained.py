"""Verify and recover on a trained run: odd rows, settings of somebody else, settings that are lost."""

import json

import pytest

from config import UserError
from initialise import Session
from storage.recover import recover
from storage.run_folders import find_run, read_config
from storage.run_store import Store
from storage.verify import verify
from support.command_line import output_of
from support.tiny_runs import QUIET, tiny


def test_a_run_whose_settings_name_a_file_of_rules_runs_none_of_it(trained_place, tmp_path, capsys):
    (tmp_path / "g.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    path = trained_place / "tictactoe" / "run0001" / "config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "game": f"{tmp_path / 'g.py'}:G"}))
    for argv in (("--game", "tictactoe", "--run", "1"), ("verify", "--game", "tictactoe")):
        code, out, err = output_of(capsys, *argv)
        assert code in (2, 4) and "expected the game of the folder tictactoe" in out + err
    with pytest.raises(UserError, match="expected the game of the folder"):
        Session.open(path.parent, console=QUIET)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("table, row, words", [
    ("matches", (1, "x", 1, 0, "", 1, 1.0, "a1 b1"), "match game x of iteration 1: has no numbers"),
    ("matches", ("q", 0, 1, 0, "", 1, 1.0, "a1 b1"), "match game 0 of iteration q: has no numbers"),
    ("matches", (2, 999, 1, 0, "", 1, "won", "a1 b1"), "match game 999 of iteration 2: does not name"),
    ("matches", (2, 999, 1, 0, "", "yes", 1.0, "a1 b1"), "match game 999 of iteration 2: does not name"),
    ("games", ("abc", 0, 0, -1.0, b"", b"", b"", 0), "game 0 of iteration abc: has no numbers"),
    ("stages", ("q", "self-play", '{"games": 1}'), "stages q: expected what self-play ended with"),
])  # fmt: skip
def test_a_row_of_odd_types_with_a_right_checksum_is_named_and_dropped(root, table, row, words):
    folder = find_run("tictactoe", root=root)
    state = verify(folder).state
    store = Store(folder / "run.db")
    with store.transaction():
        store.insert(table, [row])
    store.close()
    assert any(words in line for line in verify(folder).damage)
    found = recover(folder)
    assert len(found.lost) == 1 and verify(folder.with_name(found.run)).state == state


def test_settings_that_cannot_be_read_are_taken_from_the_database(root):
    folder = find_run("tictactoe", root=root)
    (folder / "config.json").write_text("{bad")
    found = recover(folder)
    new = folder.with_name(found.run)
    assert found.lost == ["config.json: cannot be read; the settings in the database take its place"]
    assert verify(new).damage == [] and read_config(new) == tiny()
