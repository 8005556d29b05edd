"""The command `levels`, of the players that ship."""

import json
import re

import pytest

from network.stored_network import BEGAN
from storage.run_folders import SHIPPED, read_config
from storage.run_store import Store
from support.command_line import output_of

FOLDERS = sorted(SHIPPED.glob("*/run0001"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_a_command_that_trains_such_a_player_comes_with_what_its_run_began_with(folder, capsys):
    """The settings alone begin from zero, and make a weaker player than the one that they are said to have made."""
    store = Store(folder / "run.db", read_only=True)
    began = store.get(BEGAN) == "given"
    store.close()
    game = read_config(folder).game
    code, out, _ = output_of(capsys, "levels", "--game", game)
    assert code == 0
    last = out.splitlines()[-2:] if began else out.splitlines()[-1:]
    assert last[0].startswith("trained with these settings: python main.py --new ")
    assert not began or re.match("it began with the network of (another run|version .*), not from zero", last[1])
    code, out, _ = output_of(capsys, "levels", "--game", game, "--json")
    assert code == 0 and (json.loads(out)["began_with"] is not None) == began


def test_on_a_terminal_no_line_is_wider_and_the_command_is_the_same(capsys, monkeypatch):
    words = ["levels", "--game", "gomoku(size=15,rule=renju)"]
    whole = output_of(capsys, *words)[1].splitlines()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    out = output_of(capsys, *words)[1]
    assert max(map(len, whole)) > 100 and max(map(len, out.splitlines())) <= 80
    assert " ".join(out.replace("\\\n", " ").split()) == " ".join(" ".join(whole).split())
