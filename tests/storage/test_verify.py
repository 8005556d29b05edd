"""Verify and its like: nobody's rules are run because a run names them, and a run at work is not taken for damaged."""

import json
import shutil

import numpy as np
import pytest

import games
from config import UserError, to_json
from players.by_name import run_folder
from storage.atomic_files import DamagedData, arrays_to_bytes, sha256
from storage.checkpoints import read_weights
from storage.game_record import GameRecord
from storage.recover import recover
from storage.run_folders import NOTHING, game_folder, game_of, read_config, settings_fault, with_remedy
from storage.run_store import Store
from storage.verify import verify
from support.command_line import output_of
from support.tiny_runs import tree_of
from training.presets import preset

MOVES = np.array([0, 3, 1, 4, 2], np.int16)
RECORD = GameRecord(0, MOVES, np.zeros((5, 9), np.uint16), np.zeros(5, np.float32), 1.0)


def begin(root, **changes):
    """Return the folder of a run of tic-tac-toe that knows one network, and its store."""
    folder = root / "tictactoe" / "run0001"
    (folder / "models").mkdir(parents=True)
    config = preset("tiny", **changes)
    (folder / "config.json").write_text(to_json(config))
    store, data = Store(folder / "run.db", create=True), arrays_to_bytes([np.zeros(3, np.float32)])
    (folder / "models" / "version0000.npz").write_bytes(data)
    with store.transaction():
        store.put("config", to_json(config))
        for key, value in {"best": "0", "run": "tictactoe/0", "game": "tictactoe", "model": "{}"}.items():
            store.put(key, value)
        store.add_version(0, 0, "version0000.npz", sha256(data), {}, "")
    return folder, store


def work(store):
    """Commit an iteration of two games, as a run does."""
    iteration = store.iterations_done() + 1
    with store.transaction():
        store.add_games(iteration, 0, [RECORD, RECORD._replace(index=1)])
        store.finish(iteration, "self-play", {"games": 2})
        store.finish(iteration, "iteration", {"best_version": 0, "total_seconds": 0.0})


def between(monkeypatch, name, store, after=True):
    """Let the run commit after, or before, each call of a function that reads."""
    method = getattr(Store, name)

    def reading(self, *args):
        if self is not store and not after:
            work(store)
        found = method(self, *args)
        if self is not store and after:
            work(store)
        return found

    monkeypatch.setattr(Store, name, reading)


EARLY = ("read_mark", True), ("read_mark", False), ("sizes", False)
"""Before the first row is read."""


@pytest.mark.parametrize("name", ["checked", "sizes", "read_mark", "get", "count_games", "iterations_done"])
@pytest.mark.parametrize("after", [True, False])
def test_a_run_that_commits_while_it_is_read_is_whole(tmp_path, monkeypatch, name, after):
    folder, store = begin(tmp_path)
    work(store)
    between(monkeypatch, name, store, after)
    report = verify(folder)
    assert report.damage == [] and report.state and report.games == 2 * report.iterations
    assert report.iterations == (2 if (name, after) in EARLY else 1), "the mark is read first, then all of one moment"
    assert store.iterations_done() > 1
    store.close()


def test_what_is_read_together_is_of_one_moment_and_the_next_of_the_next(tmp_path):
    folder, store = begin(tmp_path)
    reader = Store(folder / "run.db", read_only=True)
    with reader.reading():
        before = reader.count_games()
        work(store)
        assert reader.count_games() == before == 0
    assert reader.count_games() == 2
    with pytest.raises(ZeroDivisionError), reader.reading():
        raise ZeroDivisionError
    reader.close()
    store.close()


def test_a_mark_without_a_run_is_told(tmp_path):
    folder, store = begin(tmp_path)
    store.close()
    mark = json.loads((folder / "run.mark").read_text())
    del mark["run"]
    (folder / "run.mark").write_text(json.dumps(mark))
    assert verify(folder).damage == ["run.db: run.mark: expected that of this database, got another run's"]


@pytest.fixture
def strange(tmp_path):
    """Return a run whose settings, those of somebody else, name a file of rules that must not be run."""
    (tmp_path / "g.py").write_text(f"open({str(tmp_path / 'done')!r}, 'w')\n")
    folder, store = begin(tmp_path / "runs", game=f"{tmp_path / 'g.py'}:G")
    store.close()
    return folder


def test_rules_that_somebodys_settings_name_are_not_run(strange, tmp_path):
    words = "config.json: expected the game of the folder tictactoe, got '"
    before = tree_of(tmp_path)
    (line,) = verify(strange).damage
    assert words in line and line.endswith("g.py:G'") and line.isprintable()
    with pytest.raises(UserError) as raised:
        recover(strange)
    assert str(raised.value) == line and not isinstance(raised.value, DamagedData)
    after = tree_of(tmp_path)
    after.pop("runs/tictactoe/run0001/lock")
    assert after == before, "nothing was run or written"


@pytest.mark.parametrize("named, kept", [
    ("connect4", "tictactoe"), ("nonsense", "tictactoe"), ("open_spiel:efg_game(filename=/etc/passwd)", "hex"),
    ("open_spiel:hex(string_rep=x)", "open-spiel-hex"), ("x.py", "x"),
])  # fmt: skip
def test_a_run_in_the_folder_of_another_game_is_refused(tmp_path, named, kept):
    with pytest.raises(UserError, match=f"expected the game of the folder {kept}, got '"):
        game_of(tmp_path / kept / "run0001", preset("tiny", game=named))


def test_a_run_in_the_folder_of_its_game_is_read_however_the_game_is_named(tmp_path):
    (tmp_path / "nim.py").write_text("from games.tictactoe import TicTacToe\n\n\nclass Nim(TicTacToe):\n    pass\n")
    own = games.make(f"{tmp_path / 'nim.py'}:Nim").spec
    for named, spec in (("tictactoe", "tictactoe"), (" Connect4( rows=6 )", "connect4"), (own, own)):
        assert game_of(tmp_path / game_folder(spec) / "run0001", preset("tiny", game=named)).spec == spec


WRONG = {"game": "connect4"}, {"game": None}, {"hidden_cnn_layers": ["16x3"]}, {"hidden_cnn_layers": None}, {"seed": 7}
"""What config.json has in place of the run's own settings; None: it lacks them."""


def misdescribe(folder, **wrong):
    """Put other settings into a run's config.json."""
    path = folder / "config.json"
    values = {**json.loads(path.read_text()), **wrong}
    path.write_text(json.dumps({name: value for name, value in values.items() if value is not None}))


@pytest.mark.parametrize("wrong", WRONG)
def test_settings_that_are_not_the_run_s_are_damage_and_come_back_from_the_database(tmp_path, wrong):
    folder, store = begin(tmp_path)
    store.close()
    right = read_config(folder)
    misdescribe(folder, **wrong)
    (line,) = verify(folder).damage
    assert str(folder / "config.json") in line and line.endswith("takes them from run.db")
    found = recover(folder)
    assert any(each.startswith("config.json: has other settings") for each in found.lost) or "game" in wrong
    assert read_config(folder.with_name(found.run)) == right
    assert verify(folder.with_name(found.run)).damage == []


def test_settings_that_may_change_are_no_damage(tmp_path):
    folder, store = begin(tmp_path)
    store.close()
    misdescribe(folder, iterations=99, cpuct=2.0)
    assert verify(folder).damage == [] and settings_fault(folder, None) == ""


def test_a_network_is_not_blamed_for_settings_that_are_not_the_run_s(tmp_path):
    folder, store = begin(tmp_path)
    misdescribe(folder, hidden_cnn_layers=["16x3"])
    with pytest.raises(UserError, match=r"config.json: hidden_cnn_layers: the run has .*, got .*takes them from run"):
        read_weights(folder, store, 0, [(4,)])
    store.close()


@pytest.mark.parametrize("wrong", WRONG[:2])
def test_a_run_whose_settings_name_another_game_is_not_passed_over_for_one_that_ships(place, tmp_path, wrong):
    folder, store = begin(tmp_path / "runs")
    store.close()
    shutil.copytree(folder, tmp_path / "shipped" / "tictactoe" / "run0001")
    misdescribe(folder, **wrong)
    with pytest.raises(UserError, match=r"config.json: expected the game of the folder tictactoe, got 'connect4';"):
        run_folder(games.make("tictactoe"), None)


def test_settings_are_looked_for_in_the_database_only_where_it_has_them(tmp_path):
    folder, store = begin(tmp_path)
    store.close()
    for content in ("{", "\udcff"):
        (folder / "config.json").write_text(content, errors="surrogateescape")
        with pytest.raises(UserError, match="or `python main.py recover` with this --game and --run takes them from"):
            read_config(folder)
    for name in ("run.db", "run.db-wal", "run.db-shm"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(UserError, match="; mend it there$"):
        read_config(folder)


def drop_database(folder):
    for name in ("run.db", "run.db-wal", "run.db-shm"):
        (folder / name).unlink(missing_ok=True)


def folder_for_database(folder):
    drop_database(folder)
    (folder / "run.db").mkdir()


def garbage_for_database(folder):
    drop_database(folder)
    (folder / "run.db").write_bytes(bytes(range(256)) * 64)


def file_for_networks(folder):
    shutil.rmtree(folder / "models")
    (folder / "models").write_text("")


BEYOND = drop_database, folder_for_database, garbage_for_database, file_for_networks


@pytest.mark.parametrize("damage", BEYOND)
def test_where_nothing_can_be_recovered_no_message_sends_to_recover(place, tmp_path, capsys, damage):
    folder, store = begin(tmp_path / "runs")
    store.close()
    damage(folder)
    code, out, _ = output_of(capsys, "verify", "--game", "tictactoe")
    assert code == 4 and out.endswith(f"\n{NOTHING}\n") and "python main.py recover" not in out
    error = with_remedy(DamagedData("run.db: damaged"), folder)
    assert str(error) == f"run.db: damaged; {NOTHING}" and str(with_remedy(error, folder)) == str(error)
    code, out, err = output_of(capsys, "recover", "--game", "tictactoe")
    assert (code, out) == (4, "") and NOTHING in err and "Traceback" not in err
    assert [path.name for path in folder.parent.iterdir()] == ["run0001"]


def test_settings_that_are_nowhere_are_named_as_what_recover_needs(place, tmp_path, capsys):
    folder, store = begin(tmp_path / "runs")
    (folder / "config.json").write_text("{")
    with store.transaction():
        store.put("config", "{")
    store.close()
    words = "neither it nor run.db has them; put them there, and the rest can be recovered\n"
    code, out, _ = output_of(capsys, "verify", "--game", "tictactoe")
    assert code == 4 and out.endswith(words) and "python main.py recover" not in out
    code, out, err = output_of(capsys, "recover", "--game", "tictactoe")
    assert (code, out) == (4, "") and err.endswith(words)


def test_where_a_network_is_left_messages_name_recover(place, tmp_path, capsys):
    folder, store = begin(tmp_path / "runs")
    store.close()
    misdescribe(folder, seed=7)
    advice = "`python main.py recover --game 'tictactoe' --run 1` saves its undamaged part"
    code, out, _ = output_of(capsys, "verify", "--game", "tictactoe")
    assert code == 4 and out.endswith(f"\n{advice}\n")
    assert str(with_remedy(DamagedData("run.db: damaged"), folder)) == f"run.db: damaged; {advice}"
    assert output_of(capsys, "recover", "--game", "tictactoe")[0] == 0
