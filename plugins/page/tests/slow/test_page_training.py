"""What is shown of runs: those at work, names of curves that fit, games that pass filters."""

import os
import shutil
import xml.etree.ElementTree as ET

import pytest

from plugins.page import runs_shown
from plugins.page.charts import LETTER, WIDTH, Point, curve_svg
from plugins.page.run_reader import Listed, list_games, standing, time_left
from plugins.page.runs_shown import facts_of, games_of, live, passing, words_of
from plugins.page.training_process import Trainer
from plugins.page.web_players import Roster
from storage import run_folders
from training.presets import PRESETS, preset, preset_for

SVG = "{http://www.w3.org/2000/svg}"


def names_of(svg):
    return [(float(e.get("x")), float(e.get("y")), e.text) for e in ET.fromstring(svg).iter(f"{SVG}text")
            if e.get("class") == "name"]  # fmt: skip


@pytest.mark.parametrize("count, length", [(1, 10), (3, 24), (6, 40), (2, 200)])
def test_names_of_curves_stay_inside_and_apart(count, length):
    runs = {f"{i}{'n' * (length - 1)}": [Point(1, 2.0), Point(2, 3.0)] for i in range(count)}
    svg = curve_svg("Loss", runs)
    placed = names_of(svg)
    assert len(placed) == count and all(x + LETTER * len(text) <= WIDTH + 1 for x, _, text in placed)
    assert all(text == name or (text.endswith("…") and len(text) > 40)
               for (_, _, text), name in zip(placed, runs, strict=True))  # fmt: skip
    for (x, y, text), (x1, y1, _) in zip(placed, placed[1:], strict=False):
        assert y1 > y or x1 >= x + LETTER * len(text)
    height = float(ET.fromstring(svg).get("viewBox").split()[3])
    top = min(float(e.get("y")) for e in ET.fromstring(svg).iter(f"{SVG}text") if e.get("text-anchor") == "end")
    assert top > max(y for _, y, _ in placed) and height > 200, "the numbers of the axis begin below the names"


def test_a_place_on_the_axis_is_marked_and_the_axis_has_a_name():
    svg = curve_svg("x", {"value": [Point(0, 0.5), Point(10, 1.0)]}, over="version", here=5)
    assert svg.count('class="here"') == 1 and "<title>value, version 10: 1</title>" in svg
    assert 'class="here"' not in curve_svg("x", {"": [Point(0, 0.5)]}, here=5)


def test_games_pass_by_result_length_and_version():
    found = [Listed(i, "self-play", result, list(range(length)), 1, versions) for i, (result, length, versions) in
             enumerate([(1.0, 5, (1,)), (-1.0, 6, (2,)), (0.0, 9, (1, 2)), (1.0, 7, (12,))])]  # fmt: skip

    def numbers(*filters, **more):
        return [game.number for game in passing(found, *filters, **more)]

    assert numbers("", None) == [0, 1, 2, 3]
    assert (numbers("1", None), numbers("-1", None), numbers("0", None)) == ([0, 3], [1], [2])
    assert numbers("", 1) == [0, 2] and numbers("", 2) == [1, 2] and numbers("1", 12) == [3]
    assert numbers("", None, least=6) == [1, 2, 3] and numbers("", None, most=6) == [0, 1]
    assert numbers("1", None, least=6, most=7) == [3] and numbers("", 3) == []


def test_a_run_lists_all_its_games_the_newest_first(trained, monkeypatch):
    game, every = list_games(trained, 0, "self-play")
    by_iteration = [listed for i in (1, 2, 3, 4) for listed in list_games(trained, i, "self-play")[1]]
    assert sorted(every) == sorted(by_iteration) and every[0].iteration == 4
    assert {listed.versions for listed in every} == {(0,), (1,), (2,), (3,)}, "version n - 1 played iteration n"
    monkeypatch.setattr("plugins.page.run_reader.MOST_LISTED", 5)
    assert list_games(trained, 0, "self-play")[1] == every[:5]
    matches = list_games(trained, 0, "tournament")[1]
    assert matches and all(" began, against " in listed.who and len(listed.versions) == 2 for listed in matches)


def test_a_game_with_a_move_that_cannot_be_is_shown_as_such(trained, monkeypatch):
    monkeypatch.setattr(run_folders, "RUNS", trained.parent.parent)
    game, every = list_games(trained, 1, "self-play")
    wrong = [every[0]._replace(moves=[4, 4])]
    monkeypatch.setattr(runs_shown, "list_games", lambda *_, **__: (game, wrong))
    (shown,) = games_of("tictactoe/run0001", 1, "self-play", Roster())["games"]
    assert "illegal" in shown["error"] and shown["cells"] == [0] * 9


def test_a_run_that_ships_without_its_games_counts_none(trained):
    now = standing(trained)
    assert facts_of(now._replace(games=0))["games"] == 0, "a run that has not begun"
    assert now.games > 0 and facts_of(now)["games"] == now.games
    assert "games" not in facts_of(now, ships=True), "only some of its games come with it"


def test_runs_at_work_are_those_with_a_process(trained, tmp_path, monkeypatch):
    folders = {}
    for name in ("run0001", "run0002", "shipped/run0003"):
        folders[name] = tmp_path / name
        shutil.copytree(trained, folders[name])
    me, trainer = os.getpid(), Trainer()
    for place in ("runs_shown", "run_reader"):
        monkeypatch.setattr(f"plugins.page.{place}.owner", lambda folder: None if folder.name == "run0001" else me)
    found = {name: live(name, folder, trainer) for name, folder in folders.items()}
    assert [name for name, one in found.items() if one] == ["run0002"]
    assert found["run0002"]["minutes"] > 0 and found["run0002"]["evaluations_per_second"] > 0
    now = standing(folders["run0002"])
    assert now.process == me and words_of(now, True) == "finished after 4 iterations"
    working = now._replace(finished=False, stage="retrain", share=0.25, seconds_left=90.0)
    assert words_of(working, True).startswith("iteration 5: retraining 25 %, about ")
    assert words_of(working, False).endswith(f" (process {me}, not of this page)")
    assert words_of(working._replace(process=None), False) == "waiting, 4 iterations done"
    assert trainer.at_work() == []


def test_the_time_to_go_is_that_of_the_latest_iterations():
    config = preset("tiny", iterations=10)
    assert time_left(config, 4, 400.0, [10.0, 10.0, 10.0]) == 60.0, "the first ones compiled, and searched less"
    assert time_left(config, 0, 0.0, []) is None
    limited = preset("tiny", iterations=1000, minutes=2)
    assert time_left(limited, 4, 100.0, [10.0]) == 20.0 and time_left(limited, 0, 0.0, []) == 120.0


def test_the_preset_that_suits_a_game_is_one():
    for game in ("tictactoe", "connect4", "gomoku(size=8)", "my.py:Game"):
        assert preset_for(game) in PRESETS
    assert preset(preset_for("tictactoe")).game == "tictactoe"
