"""What the page reads of runs: of damaged ones, of a stranger's, of random openings; and what it offers to choose."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import games
from config import UserError, to_json
from games.own import digest
from players.simple import RandomPlayer
from plugins.page import runs_shown, training_process, web_players
from plugins.page.run_reader import (
    _game,
    game_spec,
    iterations,
    list_games,
    match_game,
    newest_game,
    standing,
    stored_game,
)
from plugins.page.runs_shown import all_curves
from plugins.page.training_process import Trainer
from plugins.page.web_players import Roster
from storage import run_folders
from storage.game_record import IMPORTED, GameRecord
from storage.run_folders import game_folder
from storage.run_store import Store
from support.systems import needs_posix
from support.tiny_runs import tiny

OWN = "import games.tictactoe\nopen({!r}, 'w').close()\nclass Mine(games.tictactoe.TicTacToe): pass\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of a run of tic-tac-toe: a version, games of iteration 1, a tournament's game."""
    monkeypatch.setattr(run_folders, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(run_folders, "SHIPPED", tmp_path / "none")
    monkeypatch.setattr(run_folders, "EARLY", tmp_path / "none")
    found = tmp_path / "runs" / "tictactoe" / "run0001"
    found.mkdir(parents=True)
    finish_simulation(found, "tictactoe")
    visits = np.zeros((6, 9), np.uint16)
    visits[2, 4] = visits[3, 5] = 8
    values = np.array([0, 0, 0, 0.5, 0, 0.25], np.float32)
    moves = np.array([0, 3, 1, 4, 8, 5], np.int16)
    store = Store(found / "run.db", create=True)
    with store.transaction():
        store.put("best", "0")
        store.add_version(0, 0, "version0000", "0" * 64, {}, "")
        store.add_games(1, 0, [GameRecord(i, moves, visits, values, -1.0) for i in (0, 1, IMPORTED)])
        store.add_match(1, 0, (1, 0, "", True, 1.0, "a3 b3"))
    store.close()
    return found


def finish_simulation(folder, spec):
    (folder / "config.json").write_text(to_json(replace(tiny(), game=spec)))


def damage(folder, change):
    db = sqlite3.connect(folder / "run.db")
    db.execute(change)
    db.commit()
    db.close()


DAMAGES = [
    "UPDATE versions SET file = 'other'", "DROP TABLE versions", "UPDATE meta SET value = 'x'", "DROP TABLE meta",
    "DROP TABLE games", None,
]  # fmt: skip


@pytest.mark.parametrize("change", DAMAGES)
def test_a_damaged_run_is_named_and_the_others_go_on(folder, change):
    other = folder.with_name("run0002")
    shutil.copytree(folder, other)
    if change is None:
        (other / "run.db").write_bytes(b"SQLite format 3\0" + bytes(5000))
    else:
        damage(other, change)
    names = web_players.Roster().players("tictactoe")
    assert "run0001:best" in names and "run0002:best" not in names
    with pytest.raises(UserError, match=r"\Atictactoe/run0002: this run cannot be read \(.+\)\Z"):
        standing(other)
        newest_game(other)
    assert standing(folder).best == 0 and iterations(folder) == [1]


@pytest.mark.parametrize("change", ["moves = x'0102ff'", "moves = x'00000000'", "vals = x'00'", "visits = x'ffffff'"])
def test_a_damaged_game_is_told_of(folder, change):
    damage(folder, f"UPDATE games SET {change}")
    for read in (newest_game, lambda f: stored_game(f, 1, 0), lambda f: list_games(f, 1, "self-play")):
        with pytest.raises(UserError, match="this run cannot be read"):
            read(folder)


def test_the_moves_of_a_random_opening_have_no_value_and_the_others_have(folder):
    assert stored_game(folder, 1, 0).values == {2: 0.0, 3: -0.5, 4: 0.0, 5: -0.25}


def test_games_from_elsewhere_are_not_played_here(folder):
    store = Store(folder / "run.db")
    with store.transaction():
        moves = np.array([0, 3, 1, 4, 2], np.int16)
        for index in (0, IMPORTED, IMPORTED + 1):
            record = GameRecord(index, moves, np.zeros((5, 9), np.uint16), np.zeros(5, np.float32), 1.0)
            store.add_games(2, 0, [record])
        store.finish(1, "iteration", {})
    store.close()
    assert standing(folder).share == pytest.approx(1 / tiny().episodes)


def test_a_tournaments_game_has_no_date_of_today(folder):
    record = match_game(folder, 1, 0).record
    assert record.date == "" and record.players == ("version 1", "version 0") and record.moves == [0, 1]


def test_a_game_of_a_file_is_run_only_when_it_was_named(folder, tmp_path):
    own, ran = tmp_path / "mine.py", tmp_path / "ran"
    own.write_text(OWN.format(str(ran)))
    spec = f"{own}:Mine"
    finish_simulation(folder, spec)
    with pytest.raises(UserError, match="tictactoe/run0001: .*expected a game of tictactoe"):
        newest_game(folder, named=(spec,))
    moved = folder.parent.with_name(game_folder(spec)) / folder.name
    shutil.copytree(folder, moved)
    assert spec not in web_players.Roster(("connect4",)).games()
    for read in (newest_game, lambda f: stored_game(f, 1, 0), lambda f: match_game(f, 1, 0)):
        with pytest.raises(UserError, match="to be named with --game"):
            read(moved)
    assert not ran.exists()
    assert game_spec(moved, (spec,)) == spec and spec in web_players.Roster((spec,)).games()
    assert newest_game(moved, named=(spec,)).record.moves[0] == 0 and ran.exists()


def test_of_runs_beside_each_other_one_that_cannot_be_drawn_is_named_and_left_out(folder, tmp_path):
    whole = {"iteration": 1, "version": 1, "best_version": 0, "retrain_policy_loss": 1.5}
    drawn = all_curves({"<a>": [whole], "<b>": [whole | {"score_matches": 7}]})
    left, curves = drawn[0], drawn[1:]
    assert "&lt;b&gt;: its metrics.jsonl cannot be drawn" in left["svg"]
    assert any('class="dot"' in curve["svg"] for curve in curves) and "<b>" not in "".join(c["svg"] for c in drawn)


def test_a_run_is_at_work_only_while_the_process_that_took_it_lives(folder):
    program = [sys.executable, "-c", "print(flush=True); input()"]
    process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()  # before it runs, the system may not know its command line yet
    try:
        lock = folder / "lock"
        lock.write_text(str(process.pid))
        assert standing(folder).process == process.pid
        os.utime(lock, (time.time() - 60,) * 2)
        assert standing(folder).process is None, "another one has the number since"
    finally:
        process.communicate()
    lock.write_text(str(process.pid))
    assert standing(folder).process is None


@needs_posix
def test_a_training_that_is_killed_says_by_what(monkeypatch):
    told = "import os\nprint('{\"iteration\": 1}', flush=True)\nos.kill(os.getpid(), {})"
    for code, words in (("9", "signal 9, as where there is too little memory"), ("6", "signal 6; `Resume`")):
        found = training_process.Trainer()
        command = [sys.executable, "-c", told.replace("{})", f"{code})")]
        monkeypatch.setattr(training_process, "COMMAND", command)
        found.start("tictactoe", [])
        found._at_work["tictactoe"][0].wait()
        assert words in found.error("tictactoe")
        found.stop_all()


def test_a_network_that_has_learned_nothing_is_not_the_strongest_where_another_is_there(folder, monkeypatch):
    roster = web_players.Roster(("tictactoe",))
    assert roster.strongest("tictactoe") == "run0001:best", "better than rollouts to look into"
    shipped = folder.parent.parent.parent / "shipped" / "tictactoe" / "run0001"
    shutil.copytree(folder, shipped)
    store = Store(shipped / "run.db")
    with store.transaction():
        store.put("best", "3")
        store.add_version(3, 1, "version0003", "0" * 64, {}, "")
    store.close()
    monkeypatch.setattr(run_folders, "SHIPPED", shipped.parent.parent)
    assert roster.strongest("tictactoe") == "shipped/run0001:best"


def test_only_searches_are_looked_into_and_a_clock_is_offered_to_who_knows_one():
    for name in ("person", "random", "greedy", "uct", "solver", "alphabeta", "level:1"):
        assert not web_players.is_search(name)
    assert all(map(web_players.is_search, ("rollout", "run0001:best", "shipped/run0001:best")))
    with pytest.raises(UserError, match="a number of simulations"):
        web_players.Roster().make("uct", games.make("tictactoe"), "10s")


def test_a_game_is_found_by_its_settings_in_any_order(folder):
    roster = web_players.Roster(("connect4",))
    assert roster.find("gomoku(size=15,rule=renju)").spec == "gomoku(rule=renju,size=15)"
    assert roster.find("gomoku(size=8..10)").spec == "gomoku(size=10)", "of several sizes the largest"
    for wrong in ("nonsense", "evil.py:Game"):
        with pytest.raises(UserError):
            roster.find(wrong)


def test_seconds_are_not_cut_short_by_a_small_tree():
    asked = []

    class Twin:
        def twin(self, game, sims, seconds=float("inf"), tree_bytes=None):
            asked.append((sims, seconds, tree_bytes))
            return RandomPlayer(game)

    roster = web_players.Roster()
    roster._network = lambda name, game: Twin()
    for level in ("10s", "400"):
        roster.make("run0001:best", games.make("connect4"), level)
    (most, seconds, room), by_simulations = asked
    assert most > 400_000 and seconds == 10 and room >= 2**27 and by_simulations == (400, float("inf"), None)


@pytest.mark.parametrize("table, column", [("games", 1), ("games", 3), ("matches", 1), ("matches", 6)])
def test_a_number_of_a_stranger_s_run_is_no_piece_of_the_page(folder, table, column):
    """The row has a right checksum, which whoever writes a run can make."""
    script = '"><img src=x onerror=alert(1)>'
    store = Store(folder / "run.db")
    row = [*next(iter(store.rows(table)))]
    row[1], row[column] = 99, script
    with store.transaction():
        store.insert(table, [tuple(row)])
    assert script in [row[column] for row, right in store.checked(table) if right]
    store.close()
    with pytest.raises(UserError, match="cannot be read"):
        runs_shown.games_of("tictactoe/run0001", 1, "self-play" if table == "games" else "tournament", Roster())


def test_games_of_others_are_listed_as_such(folder):
    game, found = list_games(folder, 1, "self-play")
    assert [listed.who for listed in found] == ["self-play", "self-play", "imported"]
    shown = runs_shown.games_of("tictactoe/run0001", 1, "self-play", Roster())["games"]
    assert shown[2]["who"] == "iteration 1, game 0: imported"


NO_NUMBERS = [
    '{"iteration": 2, "x": ' + "[" * 200_000, '{"iteration": 2, "self_play_plies": 1' + "0" * 400 + "}",
    '{"iteration": 2, "score_positions": "x", "score_kept": 0.5}',
]  # fmt: skip


@pytest.mark.parametrize("line", NO_NUMBERS)
def test_a_line_of_numbers_that_is_none_is_left_out_or_told(folder, line):
    (folder / "metrics.jsonl").write_text('{"iteration": 1, "self_play_plies": 8}\n' + line)
    try:
        assert "<svg" in runs_shown.one_run("tictactoe/run0001", "", Roster(), Trainer())["curves"][0]["svg"]
    except UserError as error:
        assert str(error).startswith("tictactoe/run0001: this run cannot be read")


def test_a_network_of_a_deleted_run_does_not_play_for_the_run_that_has_its_name(folder, monkeypatch):
    monkeypatch.setattr(web_players, "Agent", type("Network", (), {"predictor": None}))
    monkeypatch.setattr(web_players, "make_player", lambda *args, **options: web_players.Agent())
    roster, game = web_players.Roster(), games.make("tictactoe")
    first = roster._network("run0001:best", game)
    assert roster._network("run0001:best", game) is roster._network("run0001:version0000", game) is first
    store = Store(folder / "run.db")
    (row,) = [row for row, _ in store.checked("versions")]
    with store.transaction():
        store.insert("versions", [(*row[:3], "1" * 64, *row[4:])], "INSERT OR REPLACE")
    store.close()
    assert roster._network("run0001:best", game) is not first


def test_a_search_of_alpha_beta_is_stopped_on_the_way():
    player, asked = web_players.Roster().make("alphabeta", games.make("gomoku(rule=renju,size=15)"), "6"), []
    answer = []

    def stop():
        asked.append(1)
        return len(asked) > 3

    thread = threading.Thread(
        target=lambda: answer.append(web_players.choose(player, "", player.game.start(), [], stop)), daemon=True
    )
    thread.start()
    thread.join(60)
    assert answer == [None] and len(asked) > 3


def test_the_page_shows_a_game_by_its_rules_as_they_are_now(tmp_path):
    own, near = tmp_path / "mine.py", tmp_path / "near.py"
    own.write_text("from near import LINES\n" + OWN.format(str(tmp_path / "ran")))
    near.write_text("LINES = 3\n")
    first = games.make(f"{own}:Mine")
    folder = tmp_path / game_folder(first.spec) / "run0001"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(to_json(tiny(game=first.spec)))
    assert digest(_game(folder, (first.spec,))) == digest(first)
    near.write_text("LINES = 4\n")
    assert digest(_game(folder, (first.spec,))) == digest(games.make(first.spec)) != digest(first)


def test_the_page_shows_the_runs_that_can_be_read(folder, lock, caplog):
    runs = folder.parents[1]
    (folder / "config.json").write_text(to_json(tiny()))
    (runs / "lost+found").mkdir()
    shutil.copytree(folder, folder.parent / "run0002")
    assert list(web_players.named_runs()) == ["tictactoe/run0002", "tictactoe/run0001"]
    lock(runs / "lost+found")
    lock(folder.parent / "run0002")
    for _ in range(2):
        assert list(web_players.named_runs()) == ["tictactoe/run0001"]
    assert len(caplog.records) == 2, "a line for each, once"


def test_the_sizes_of_a_training_suit_its_minutes():
    def games(minutes):
        return dict(runs_shown.options("connect4", minutes)["estimate"])["games an iteration"]

    assert games(None) == "1,024" and int(games(1)) < 1000
