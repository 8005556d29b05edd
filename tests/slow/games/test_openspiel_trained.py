"""A game of OpenSpiel is trained, gone on with and played."""

import json

from interface.cli import run  # noqa: E402
from loggers import read_metrics  # noqa: E402
from support.command_line import SMALL  # noqa: E402


def test_a_game_is_learned_gone_on_with_and_played(place, capsys):
    game = ["--game", "open_spiel:dots_and_boxes(num_cols=1)"]
    assert run([*game, *SMALL, "--episodes", "8", "--iterations", "1"]) == 0
    folder = place / "open-spiel-dots-and-boxes-num-cols-1" / "run0001"
    assert json.loads((folder / "config.json").read_text())["game"] == game[1]
    assert run([*game, "--run", "1", "--iterations", "2"]) == 0
    lines = read_metrics(folder / "metrics.jsonl")
    assert [line["iteration"] for line in lines] == [1, 2] and lines[1]["self_play_games"] == 8
    capsys.readouterr()
    assert run(["match", "best", "uct:20", *game, "--games", "4", "--sims", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 4
    assert run(["match", "best", "random", "--game", "open_spiel:dots_and_boxes(num_cols=3)"]) == 2
    assert "expected a trained run of open_spiel:dots_and_boxes(num_cols=3)" in capsys.readouterr().err
