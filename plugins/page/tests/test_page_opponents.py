"""The opponents on the page, the strongest analyst, and the words of a result, without a browser."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

import games
from config import to_json
from plugins.page import web_players
from plugins.page.table import Table
from plugins.page.web_players import Roster, measured
from storage import run_folders
from storage.game_files import PERSON, Record
from storage.run_store import Store
from support.tiny_runs import tiny

pytest.importorskip("nicegui", reason="the tiles are a part of the page")
from plugins.page.opponents import NAMES, fitted, opponents, spread  # noqa: E402
from plugins.page.result_panel import headline, how, points, result_html  # noqa: E402
from plugins.page.search_view import Inside  # noqa: E402
from plugins.page.share import link  # noqa: E402


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Return a folder for the shipped player of a game, and where runs are looked for."""
    for module in (run_folders, web_players):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "shipped")
        monkeypatch.setattr(module, "RUNS", tmp_path / "runs")
    folder = tmp_path / "shipped" / "tictactoe" / "run0001"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(to_json(replace(tiny(), game="tictactoe")))
    return folder


def level(player, elo, error=20.0, **more):
    return {"player": player, "sims": 0, "elo": elo, "error": error, **more}


# ---- tiles


def test_opponents_are_the_levels_with_their_measured_elo(shipped):
    levels = [level("rollout:64", 300.4), level("random", -250.0), level("rollout:16", 0.0, 0.0)]
    (shipped / "levels.json").write_text(json.dumps({"levels": levels}))
    found = opponents("tictactoe")
    assert [one.seat for one in found] == ["level:1", "level:2", "level:3"]
    assert [one.name for one in found] == [NAMES[0], NAMES[3], NAMES[-1]]
    assert [one.strength for one in found] == ["Elo −250 ±20", "Elo 0", "Elo 300 ±20"]


def test_of_many_levels_those_furthest_apart_are_opponents(shipped):
    levels = [level(f"rollout:{2**i}", 100.0 * i + (95.0 if i % 2 else 0.0)) for i in range(12)]
    (shipped / "levels.json").write_text(json.dumps({"levels": levels}))
    found = opponents("tictactoe")
    assert [one.name for one in found] == list(NAMES)
    assert found[0].seat == "level:1" and found[-1].seat == "level:12"
    assert len({one.seat for one in found}) == len(NAMES)


@pytest.mark.parametrize(
    "elos, most, kept", [([], 3, []), ([1], 3, [0]), ([0, 1], 2, [0, 1]), ([0, 1, 2, 9], 3, [0, 2, 3])]
)
def test_levels_are_thinned_out_where_they_are_close(elos, most, kept):
    assert spread(elos, most) == kept


def test_a_game_without_levels_has_opponents_that_nobody_measured(shipped):
    for text in (None, "{"):
        if text:
            (shipped / "levels.json").write_text(text)
        found = opponents("tictactoe")
        assert [one.seat for one in found] == ["random", "rollout", "rollout", "rollout"]
        assert [int(one.budget) for one in found[1:]] == sorted(int(one.budget) for one in found[1:])
        assert {one.strength for one in found} == {"not measured"}


@pytest.mark.parametrize("step, result, following", [(1, 1.0, 2), (1, -1.0, 0), (1, 0.0, 1), (0, -1.0, 0), (3, 1.0, 3)])
def test_what_fits_moves_one_step_after_a_game(step, result, following):
    assert fitted(step, result, 4) == following


# ---- the analyst


@pytest.fixture
def two_runs(shipped, tmp_path):
    """Return (the shipped player's folder, that of a newer run), both with a learned version, and a way to measure."""
    store = Store(shipped / "run.db", create=True)
    with store.transaction():
        store.put("best", "3")
        store.add_version(3, 1, "version0003", "0" * 64, {}, "")
    store.close()
    own = tmp_path / "runs" / "tictactoe" / "run0001"
    shutil.copytree(shipped, own)
    return shipped, own


def scored(folder, *lines):
    rows = [{"iteration": i, "version": v, "best_version": b, "score_elo": elo, "score_elo_error": error}
            for i, (v, b, elo, error) in enumerate(lines, 1)]  # fmt: skip
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_what_ships_is_the_analyst_whatever_was_trained_since(two_runs):
    assert Roster().strongest("tictactoe") == "shipped/run0001:best", "nothing was measured"
    shipped, own = two_runs
    scored(own, (3, 3, 900.0, 10.0))
    assert Roster().strongest("tictactoe") == "shipped/run0001:best", "only one was measured"
    scored(shipped, (3, 3, 800.0, 80.0))
    scored(own, (3, 3, 890.0, 60.0))
    assert Roster().strongest("tictactoe") == "shipped/run0001:best", "90 Elo are within the errors, 100 together"
    scored(own, (3, 3, 910.0, 60.0))
    assert Roster().strongest("tictactoe") == "run0001:best", "110 are not"


def test_where_nothing_ships_the_measured_run_is_the_analyst_else_the_newest(two_runs):
    shipped, own = two_runs
    shutil.rmtree(shipped)
    newer = own.with_name("run0002")
    shutil.copytree(own, newer)
    assert Roster().strongest("tictactoe") == "run0002:best"
    scored(own, (3, 3, 100.0, 10.0))
    assert Roster().strongest("tictactoe") == "run0001:best"
    scored(newer, (3, 3, 200.0, 10.0))
    assert Roster().strongest("tictactoe") == "run0002:best"


def test_the_elo_of_a_run_is_that_of_its_best_version_where_it_was_measured(two_runs):
    _, own = two_runs
    assert measured(own)[0] == -float("inf")
    scored(own, (10, 10, 500.0, 40.0), (20, 10, 450.0, 30.0))
    assert measured(own) == (500.0, 40.0)
    scored(own, (10, 8, 500.0, 40.0), (20, 8, 450.0, 30.0))
    assert measured(own) == (450.0, 30.0), "the newest where the best was not"
    for wrong in ('"x"', "true", "1e999", "null"):
        line = f'{{"iteration": 1, "version": 3, "best_version": 3, "score_elo": {wrong}, "score_elo_error": 1}}'
        (own / "metrics.jsonl").write_text(line)
        assert measured(own)[0] == -float("inf")


def test_an_analyst_that_was_chosen_by_hand_is_named_as_such():
    panel = Inside(None)
    panel._chosen, panel._strongest = SimpleNamespace(), ("run0001:best", "run0001: best (version 3)")
    panel._name = "run0001:best"
    panel._say_chosen()
    assert not panel._chosen.visible
    panel._name = "rollout"
    panel._say_chosen()
    assert panel._chosen.visible and panel._chosen.text.endswith("the strongest is run0001: best (version 3).")


# ---- results


def played(spec, moves, **seats):
    table = Table(spec)
    table.seats = {1: seats.get("first", PERSON), -1: seats.get("second", PERSON)}
    table.load_text(moves)
    return table


def test_a_person_against_a_machine_is_told_who_won_and_two_people_which_side():
    assert headline(played("connect4", "4141414", second="random")) == "You win."
    assert headline(played("connect4", "4141414", first="random")) == "You lose."
    assert headline(played("connect4", "4141414")) == "Red wins."
    assert how(played("connect4", "4141414")) == "Red: 4 in a row."
    drawn = played("tictactoe", "b2 a1 c1 a3 a2 c2 b3 b1 c3")
    assert (headline(drawn), how(drawn)) == ("A draw.", "Nobody has 3 in a row.")


def test_a_game_given_up_or_lost_on_time_says_so():
    table = played("connect4", "44", second="random")
    table.resign(1)
    assert (headline(table), how(table)) == ("You lose.", "Red resigned.")
    table = played("go", "c3 d3")
    table.resign(-1, late=True)
    assert (headline(table), how(table), points(table)) == ("Black wins.", "White has no time left.", [])
    table.load(Record(games.make("connect4"), [3], 0.0, ("a", "b")))
    assert how(table) == "So says the file."


def test_go_counts_points_and_territory_and_komi():
    table = played("go", "c3 d3 c2 d2 c4 d4 c1 d1 c5 d5 pass pass")
    assert points(table) == [
        "Black: 15 points (5 stones, 10 territory)", "White: 12.5 points (5 stones, 5 territory, 2.5 komi)",
    ]  # fmt: skip
    assert "territory" in result_html(table)


def test_othello_counts_discs_and_metasquares_points():
    table = Table("othello(size=4)")
    while not table.state.isEndGame:
        table.play(table.state.allowedActions[0])
    told = points(table)
    counts = [sum(cell == side for cell in table.state.owners.flat) for side in (1, -1)]
    assert told == [f"Black: {counts[0]} discs", f"White: {counts[1]} discs"]
    table = Table("metasquares(size=4)")
    while not table.state.isEndGame:
        table.play(table.state.allowedActions[0])
    assert all(line.endswith(" points") for line in points(table)) and len(points(table)) == 2
    assert points(played("connect4", "4141414")) == [], "a row decides, not points"


def test_a_link_holds_the_position_shown_and_no_player():
    table = played("connect4", "4433", second="random")
    table.go(2)
    assert link(table, "analyse") == {"game": "connect4", "moves": "44", "mode": "analyse"}
