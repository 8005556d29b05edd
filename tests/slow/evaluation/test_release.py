"""Players that ship: what is packed plays as the network of the run, and every player in run_archive/ is whole."""

import json
import shlex
import shutil
from contextlib import suppress

import numpy as np
import pytest

import games
from config import UserError, differences, from_json, to_json, with_overrides
from evaluation import release
from evaluation.release import pack, write_early_versions, write_levels
from games.own import digest
from initialise import Session
from interface.commands.levels import command_of
from interface.commands.train import Train
from loggers import read_metrics
from network.stored_network import began_with
from players.by_name import make_player
from players.levels import FILE, Level, find_level, read_levels
from storage import run_folders
from storage.atomic_files import DamagedData, Unwritable
from storage.run_folders import RunBusy, find_run, read_config, shipped_run
from storage.run_store import Store, game_of_row
from storage.verify import verify
from support.command_line import output_of
from support.systems import needs_posix
from support.tiny_runs import QUIET, boards, tiny, tree_of
from system import files

SHIPPED = sorted(path.parent for path in run_folders.SHIPPED.glob("*/*/config.json"))


@pytest.fixture
def packed(trained_place):
    """Return (a trained run, what was packed of its version 3)."""
    folder = run_folders.find_run("tictactoe")
    return folder, pack(folder, 3)


def test_what_is_packed_is_whole_and_answers_as_the_network_of_the_run(packed, capsys):
    folder, target = packed
    assert verify(target).damage == []
    code, out, err = output_of(capsys, "verify", "--game", "tictactoe", "--run", "0")
    assert (code, err) == (0, "") and out.startswith("the player of tictactoe that ships is undamaged: 4 iterations")
    assert read_config(target) == with_overrides(read_config(folder), backend="auto", precision="auto")
    (folder / "config.json").write_text(to_json(read_config(target)))  # evaluated alike
    game = games.make("tictactoe")
    planes = boards(game, 50)
    there, here = make_player("shipped", game), make_player("version0003", game)
    for a, b in zip(there.predict(planes), here.predict(planes), strict=True):
        np.testing.assert_array_equal(a, b)
    assert there.name == "shipped:version0003" and make_player("net:shipped", game).name.startswith("net:shipped")
    assert read_metrics(target / "metrics.jsonl") == read_metrics(folder / "metrics.jsonl") != []


def test_what_was_trained_on_a_gpu_is_evaluated_by_what_the_other_machine_has(trained_place):
    folder = run_folders.find_run("tictactoe")
    settings = with_overrides(read_config(folder), backend="keras", precision="bfloat16")
    (folder / "config.json").write_text(to_json(settings))
    assert read_config(pack(folder, 3)) == with_overrides(settings, backend="auto", precision="auto")


def test_what_is_packed_is_small_and_can_be_read_where_nothing_may_be_written(packed):
    _, target = packed
    store = Store(target / "run.db", read_only=True)
    assert (store.count_games(), store.sizes()["matches"], store.best()) == (0, 0, 3)
    assert [row[0] for row in store.versions()] == [3]
    before = tree_of(target)
    assert "run.db-wal" not in before and before == tree_of(target)
    store.close()
    names = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert names == {"config.json", "metrics.jsonl", "run.db", "run.mark", "models/version0003.npz"}


def test_a_second_player_takes_the_place_of_the_first(packed):
    folder, target = packed
    assert pack(folder, 1) == target
    assert [path.name for path in (target / "models").iterdir()] == ["version0001.npz"]
    assert make_player("shipped", games.make("tictactoe")).name == "shipped:version0001"


def test_a_player_stays_until_the_next_one_is_whole(packed, monkeypatch):
    folder, target = packed
    before = tree_of(target)
    with monkeypatch.context() as full:
        full.setattr(release, "write_metrics", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            pack(folder, 1)
    assert tree_of(target) == before and shipped_run("tictactoe") == target
    pack(folder, 1)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_a_player_stays_when_the_next_one_cannot_be_measured(packed, monkeypatch):
    folder, target = packed
    before = tree_of(target)
    with pytest.raises(KeyboardInterrupt), release.packed(folder, 1) as found:
        assert [path.name for path in (found / "models").iterdir()] == ["version0001.npz"]
        raise KeyboardInterrupt
    assert tree_of(target) == before and [path.name for path in target.parent.iterdir()] == [target.name]
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda *_, **__: None)  # who is killed puts nothing back
        with suppress(OSError), release.packed(folder, 1):
            raise OSError
    assert tree_of(target) != before
    pack(folder, 2)
    assert [path.name for path in target.parent.iterdir()] == [target.name], "the older one came back, then went"


def test_who_is_killed_while_the_older_player_is_thrown_away_keeps_the_new_one(packed, monkeypatch):
    folder, target = packed

    def killed(place, **_):
        if place.exists() and place != target.with_name(f".{target.name}.new"):
            next(place.glob("models/*")).unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as half:
        half.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            pack(folder, 1)
    assert [path.name for path in (target / "models").iterdir()] == ["version0001.npz"]
    with suppress(OSError), release.packed(folder, 2):
        raise OSError
    assert [path.name for path in (target / "models").iterdir()] == ["version0001.npz"], "not the half of the oldest"
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_a_second_process_that_ships_the_same_game_is_refused_and_changes_nothing(packed, capsys):
    folder, target = packed
    with release.packed(folder, 1):
        before = tree_of(target.parent)
        with pytest.raises(RunBusy, match="tictactoe: another process is replacing the player that ships"):
            pack(folder, 2)
        code, out, err = output_of(capsys, "ship", "--game", "tictactoe", "--version", "2", "--overwrite")
        assert (code, out, err.count("\n")) == (3, "", 1) and "another process is replacing" in err
        assert tree_of(target.parent) == before and (target.parent / ".run0001.lock").exists()
    assert [path.name for path in (target / "models").iterdir()] == ["version0001.npz"]
    assert [path.name for path in target.parent.iterdir()] == [target.name], "no lock is left behind"
    pack(folder, 2)


@needs_posix
def test_a_lock_that_its_last_owner_removed_meanwhile_locks_nothing(packed, monkeypatch):
    """The owner ends between this process's opening of the file and its locking it."""
    folder, target = packed
    lock = files.lock

    def late(descriptor):
        target.with_name(".run0001.lock").unlink()
        return lock(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(files, "lock", late)
        with pytest.raises(RunBusy):
            pack(folder, 1)
    assert [path.name for path in (target / "models").iterdir()] == ["version0003.npz"]


@needs_posix
@pytest.mark.parametrize("name", [".run0001.lock", ".run0001.new"])
def test_a_link_in_the_place_of_a_file_of_the_packing_is_not_followed(packed, tmp_path, name):
    folder, target = packed
    (tmp_path / "other").mkdir()
    target.with_name(name).symlink_to(tmp_path / "other")
    with pytest.raises(Unwritable):
        pack(folder, 1)
    assert list((tmp_path / "other").iterdir()) == []


def test_a_first_player_that_cannot_be_measured_does_not_stay(packed):
    folder, target = packed
    shutil.rmtree(target)
    with pytest.raises(KeyboardInterrupt), release.packed(folder, 1):
        raise KeyboardInterrupt
    assert not target.exists()


def test_the_command_replaces_a_player_only_when_told_to(packed, capsys):
    folder, target = packed
    before = tree_of(target)
    code, out, err = output_of(capsys, "ship", "--game", "tictactoe", "--version", "1")
    assert (code, out) == (2, "") and "--overwrite replaces it by run0001" in err and err.count("\n") == 1
    assert tree_of(target) == before
    few = ["--positions", "20", "--ladder-games", "2", "--level-games", "0", "--overwrite"]
    assert output_of(capsys, "ship", "--game", "tictactoe", "--version", "1", *few)[0] == 0
    assert make_player("shipped", games.make("tictactoe")).name == "shipped:version0001"


def test_early_versions_are_a_whole_run_with_games_of_each_version(trained_place, tmp_path):
    folder, target = run_folders.find_run("tictactoe"), tmp_path / "early" / "tictactoe" / "run0001"
    target.parent.mkdir(parents=True)
    write_early_versions(folder, [0, 1, 3], 2, target)
    assert verify(target).damage == []
    source, store = Store(folder / "run.db", read_only=True), Store(target / "run.db", read_only=True)
    assert [row.version for row in store.versions()] == [0, 1, 3] and store.get("finished") == "yes"
    assert read_metrics(target / "metrics.jsonl") == read_metrics(folder / "metrics.jsonl")[:3]
    kept = list(store.rows("games"))
    assert sorted(row[2] for row in kept) == [0, 0, 1, 1, 3, 3] and set(kept) <= set(source.rows("games"))
    assert all(game_of_row(row).visits[0].any() for row in kept), "none begins with random moves"
    source.close()
    store.close()
    game = games.make("tictactoe")
    planes = boards(game, 20)
    for version in (0, 3):
        there = make_player(f"run0001:version{version:04}", game, root=tmp_path / "early")
        here = make_player(f"version{version:04}", game)
        for a, b in zip(there.predict(planes), here.predict(planes), strict=True):
            np.testing.assert_allclose(a, b, atol=0.02)
    before = tree_of(target)
    make_player("run0001:best", game, root=tmp_path / "early")
    assert tree_of(target) == before, "reading writes nothing"
    path = folder / "models" / "version0001.npz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(DamagedData, match="version0001"):
        write_early_versions(folder, [0, 1, 3], 2, target)


def test_what_is_not_whole_does_not_ship(trained_place):
    folder = run_folders.find_run("tictactoe")
    with pytest.raises(UserError, match="expected a version from 0 to 4, got 9"):
        pack(folder, 9)
    path = folder / "models" / "version0002.npz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(DamagedData, match="version0002"):
        pack(folder, 2)
    assert shipped_run("tictactoe") is None


def test_a_run_begins_with_the_player_that_ships(packed, capsys):
    from support.command_line import SMALL

    rest = SMALL[SMALL.index("--episodes") :]
    begin = "--initial-run-number", "0", "--initial-model-version", "3"
    code, _, err = output_of(capsys, "--game", "tictactoe", *rest, "--iterations", "1", *begin)
    assert code == 0, err
    mine, theirs = read_config(find_run("tictactoe")), read_config(find_run("tictactoe", 0))
    assert mine.episodes == 16 != theirs.episodes and mine.hidden_cnn_layers == theirs.hidden_cnn_layers
    code, _, err = output_of(capsys, "--game", "tictactoe", *rest, *begin, "--hidden-cnn-layers", "4x3")
    assert code == 2 and "another network: hidden_cnn_layers: ['4x3'] expected" in err


@pytest.mark.parametrize(
    "config",
    [
        tiny(),
        tiny(game="gomoku(size=7)", proofs=False, minutes=2.5, episodes=1024),
        from_json(json.dumps({"forced_playouts": 2.0, "random_opening_plies": 30})),
    ],
)
def test_the_command_that_is_told_makes_the_same_settings(config):
    from interface.arguments import base_of, parse

    words = shlex.split(command_of(config))
    assert words[:3] == ["python", "main.py", "--new"]
    found = parse(Train, words[2:], Train(base_of(words[2:]))).config
    assert differences(config, found) == {}


# ---- levels


def test_levels_and_the_card_name_the_version_that_a_run_began_with(trained_place, capsys):
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 3}
    with Session.start(tiny(seed=1), console=QUIET, **begin) as session:
        folder = session.folder
    pack(folder, 0)
    code, out, _ = output_of(capsys, "levels", "--game", "tictactoe")
    words = "version 3 of run0001 of tictactoe"
    assert code == 0 and f"it began with the network of {words}, not from zero" in out.splitlines()[-1]
    code, out, _ = output_of(capsys, "levels", "--game", "tictactoe", "--json")
    assert code == 0 and json.loads(out)["began_with"] == words
    with Session.start(tiny(seed=2), console=QUIET, INITIAL_RUN_NUMBER=1, INITIAL_MEMORY_VERSION=3) as session:
        assert began_with(session.store) == "", "it took over games alone"


def test_a_level_is_measured_with_its_own_simulations_only(packed, capsys):
    write_levels(packed[1] / FILE, [Level("rollout:16", 0, 0.0, 1.0), Level("shipped", 8, 50.0, 9.0)], 2)
    for words in (["--sims", "9"], ["--ladder-sims", "9"]):
        code, _, err = output_of(capsys, "evaluate", "level:2", "--game", "tictactoe", *words)
        assert code == 2 and f"expected no {words[0]} with a level, which has 8 simulations" in err
    code, _, err = output_of(capsys, "explain", "--player", "level:2", "--game", "tictactoe", "--sims", "9")
    assert code == 2 and "expected no --sims with a level, which has 8 simulations" in err
    assert output_of(capsys, "explain", "--player", "level:2", "--game", "tictactoe")[0] == 0


def test_a_level_is_a_player_like_any_other(packed, capsys):
    _, target = packed
    levels = [Level("shipped", 24, 310.0, 40.0), Level("random", 0, -200.0, 30.0), Level("rollout:16", 0, 0.0, 0.0)]
    write_levels(target / FILE, levels, 100)
    game = games.make("tictactoe")
    assert [level.player for level in read_levels("tictactoe")] == ["random", "rollout:16", "shipped"]
    assert find_level("tictactoe", 3) == levels[0]
    assert make_player("level:3", game, sims=400).mcts_sims == 24
    assert make_player("level:2", game).name == "level 2 (Elo 0)"
    code, out, _ = output_of(capsys, "levels", "--game", "tictactoe")
    assert code == 0 and out.splitlines()[2] == "level:3  Elo 310 ±40 (shipped, 24 simulations)"
    assert out.splitlines()[3] == f"trained with these settings: {command_of(read_config(target))}"
    code, out, _ = output_of(capsys, "levels", "--game", "tictactoe", "--json")
    assert code == 0 and [row["player"] for row in json.loads(out)["levels"]] == ["random", "rollout:16", "shipped"]
    code, out, _ = output_of(capsys, "match", "level:1", "level:3", "--game", "tictactoe", "--games", "4", "--json")
    assert code == 0 and json.loads(out)["score"] <= 1
    for name in ("level:0", "level:4"):
        with pytest.raises(UserError, match=f"level:1 to level:3.*, got {name}"):
            make_player(name, game)


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "{}", '{"levels": [{}]}', '{"levels": [{"player": "random", "sims": 0, "elo": NaN, "error": 1}]}',
        '{"levels": [{"player": "level:1", "sims": 0, "elo": 0, "error": 1}]}', "[" * 100_000,
        '{"levels": [{"player": "GTP:sh", "sims": 0, "elo": 0, "error": 1}]}',
        '{"levels": [{"player": "gomocup:sh", "sims": 0, "elo": 0, "error": 1}]}',
        '{"levels": [{"player": "random+book:/x.json", "sims": 0, "elo": 0, "error": 1}]}',
        '{"levels": [{"player": "rollout:9", "sims": 0, "elo": 0, "error": 1, "temperature": 1}]}',
        '{"levels": [{"player": "net:shipped", "sims": 0, "elo": 0, "error": 1, "temperature": -1}]}',
        '{"levels": [{"player": "net:shipped", "sims": 0, "elo": 0, "error": 1, "temperature": 1, "slips": 2}]}',
        '{"levels": [{"player": "net:shipped", "sims": 0, "elo": 0, "error": 1, "slips": 0.5}]}',
        '{"levels": [{"player": "shipped", "sims": 9, "elo": 0, "error": 1, "temperature": 1, "slips": 0.5}]}',
        '{"levels": [{"player": "shipped", "sims": 0, "elo": 0, "error": 1}]}',
        '{"levels": [{"player": "random", "sims": 0, "elo": 0, "error": 1, "name": "<b>"}]}',
    ],
)  # fmt: skip
def test_a_bad_file_of_levels_is_told_in_one_line(packed, capsys, text):
    _, target = packed
    (target / "levels.json").write_text(text)
    code, out, err = output_of(capsys, "levels", "--game", "tictactoe")
    assert code == 2 and out == "" and err.count("\n") == 1 and "levels.json: expected levels of play" in err


def test_without_a_player_that_ships_there_are_no_levels(place, capsys):
    code, out, _ = output_of(capsys, "levels", "--game", "tictactoe")
    assert code == 0 and out == "no player of tictactoe ships with levels of play\n"
    with pytest.raises(UserError, match="none, for no player of it ships"):
        make_player("level:1", games.make("tictactoe"))
    code, _, err = output_of(capsys, "curves", "--game", "tictactoe", "--run", "0")
    assert code == 2 and "expected a player of tictactoe that ships (run 0), there is none" in err


# ---- what is there


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.parent.name)
def test_every_player_that_ships_is_whole_small_and_measured(folder):
    assert verify(folder).damage == []
    assert sum(path.stat().st_size for path in folder.rglob("*")) < 6e6
    spec = read_config(folder).game
    game = games.make(spec)
    assert shipped_run(spec) == folder
    store = Store(folder / "run.db", read_only=True)
    assert store.get("rules", "") == digest(game)
    store.close()
    told = json.loads((folder / "scoreboard.json").read_text())
    assert told["game"] == spec and told["ladder"]["games"]
    levels = read_levels(spec)
    elos = [level.elo for level in levels]
    least = 2 if spec == "tictactoe" else 4  # there all but the weakest players draw
    assert len(levels) >= least and elos == sorted(set(elos)) and levels[-1].player == "shipped"
    action, pi, value, _ = make_player("shipped", game, sims=16).act(game.start(), 0.0)
    assert action in game.start().allowedActions and pi.sum() == pytest.approx(1) and -1 <= value <= 1
