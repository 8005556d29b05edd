"""A machine of a cluster plays by the rules of the run's machine only: by all files of your own game."""

import pytest

import games
from config import UserError
from games.own import digest
from plugins.cluster.player import make_cluster_player
from support.own_games import changed
from training.worker_messages import pack


def test_a_machine_with_another_helper_refuses_to_play(snort, desk, monkeypatch):
    monkeypatch.setattr("system.processes.count_on", lambda cores: None)  # of this process
    changed(snort, ("import numpy as np\n", "import numpy as np\n\nimport near\n"))
    (desk / "near.py").write_text("SIZE = 5\n")
    game = games.make("snort.py:Snort(size=3)")
    head = {"kind": "match", "game": game.spec, "rules": digest(game), "cores": 1}
    assert make_cluster_player({"settings": pack(head)})
    (desk / "near.py").write_text("SIZE = 4\n")
    with pytest.raises(UserError, match="expected the rules that the run's machine has, got others; copy its files"):
        make_cluster_player({"settings": pack(head)})
