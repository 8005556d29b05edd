"""The model cards of the players that ship."""

import json
import shutil

import pytest

from config import UserError
from evaluation.model_card import CARD, model_card, write_card
from storage.atomic_files import DamagedData
from storage.run_folders import SHIPPED
from storage.run_store import Store

FOLDERS = sorted(SHIPPED.glob("*/run0001"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_every_player_that_ships_has_the_card_that_its_files_give(folder):
    assert (folder / CARD).read_text(encoding="utf-8") == model_card(folder), "`python main.py ship --cards` writes it"


def test_a_card_has_the_figures_of_the_scoreboard_and_the_levels(tmp_path):
    folder = shutil.copytree(SHIPPED / "connect4" / "run0001", tmp_path / "run0001")
    board = json.loads((folder / "scoreboard.json").read_text())
    board["exact"]["players"][0]["kept"] |= {"share": 0.123, "low": 0.1, "high": 0.15}
    board["exact"]["players"][-1]["stages"][0] |= {"positions": 0, "share": None, "low": None, "high": None}
    (folder / "scoreboard.json").write_text(json.dumps(board))
    text = write_card(folder).read_text()
    assert "| network alone | 12.3 % [10.0, 15.0] |" in text
    assert "Weakest at plies 12-23: " in text, "a stage without positions is left out"
    level = json.loads((folder / "levels.json").read_text())["levels"][-1]
    assert f"| Master | `shipped` | {level['sims']} |  |  | {level['elo']:.0f} ±{level['error']:.0f} |" in text
    made = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert f"{sum(line['self_play_games'] for line in made):,} games against itself" in text


def test_a_network_that_was_trained_elsewhere_has_a_card(tmp_path, monkeypatch):
    folder = shutil.copytree(SHIPPED / "tictactoe" / "run0001", tmp_path / "run0001")
    newest = Store.newest
    monkeypatch.setattr(Store, "newest", lambda store: newest(store)._replace(version=0, iteration=0))
    text = model_card(folder)
    assert "# tictactoe: version 0" in text and "| data | 0 games against itself |" in text


def _scoreboard(folder, change):
    board = json.loads((folder / "scoreboard.json").read_text())
    change(board)
    (folder / "scoreboard.json").write_text(json.dumps(board))


@pytest.mark.parametrize(
    "file, damage, said",
    [
        ("scoreboard.json", lambda f: (f / "scoreboard.json").unlink(), "expected a scoreboard"),
        ("scoreboard.json", lambda f: (f / "scoreboard.json").write_bytes(b"{"), "expected a scoreboard in JSON"),
        ("scoreboard.json", lambda f: (f / "scoreboard.json").write_text("[1]"), "expected a scoreboard with exact"),
        ("scoreboard.json", lambda f: _scoreboard(f, lambda b: b.pop("ladder")), "expected a scoreboard with ladder"),
        ("scoreboard.json", lambda f: _scoreboard(f, lambda b: b.update(ladder=3)), "another ladder"),
        (
            "scoreboard.json",
            lambda f: _scoreboard(f, lambda b: b["exact"]["players"][1]["kept"].update(share="all")),
            r"another exact\.players\[1\]\.kept\.share",
        ),
        ("levels.json", lambda f: (f / "levels.json").write_text('{"levels": [{}]}'), "expected levels of play"),
        (
            "metrics.jsonl",
            lambda f: (f / "metrics.jsonl").write_text('{"iteration": 1, "total_seconds": "ten"}\n'),
            "line 1: expected a number of total_seconds",
        ),
    ],
)
def test_a_damaged_file_of_a_player_is_named_in_one_line(tmp_path, file, damage, said):
    folder = shutil.copytree(SHIPPED / "tictactoe" / "run0001", tmp_path / "run0001")
    damage(folder)
    with pytest.raises((DamagedData, UserError), match=said) as error:
        model_card(folder)
    assert str(folder / file) in str(error.value) and "\n" not in str(error.value)


def test_shares_of_all_positions_have_no_interval_and_a_player_without_fault_no_weakest_stage():
    text = model_card(SHIPPED / "tictactoe" / "run0001")
    assert "all 431 positions whose moves differ in value, up to symmetry" in text and "95 % interval:" not in text
    assert "100.0 % |" in text and "Weakest" not in text
