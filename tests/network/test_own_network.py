"""A network of one's own is named by its file, tested, kept by its run and found again; a strange run runs no file."""

import json
import re

import numpy as np
import pytest

import games
from config import Config, SettingsError, UserError, from_json, to_json
from initialise import Session
from interface.cli import run
from interface.commands import train as train_command
from model import Gen_Model, Residual_CNN, make_network
from network.network_contract import faults_of
from network.own_network import full_name, lies_elsewhere, remember
from network.stored_network import StoredNetwork, layers_of
from players.by_name import make_player
from storage.run_folders import network_facts, read_config
from support.systems import needs_tensorflow
from support.tiny_runs import QUIET, boards, tiny

SMALL = """
import keras
from model import Gen_Model

class Small(Gen_Model):
    def _build(self, dtype):
        board = keras.Input({shape}, dtype="uint8", name="planes")
        x = keras.layers.Flatten(dtype=dtype)(keras.layers.Rescaling(1.0, dtype=dtype)(board))
        x = keras.layers.Dense(16, activation="relu", dtype=dtype)(x)
        value = keras.layers.Dense({values}, activation={activation}, dtype="float32", name="value_head")(x)
        policy = keras.layers.Dense({logits}, dtype="float32", name={policy})(x)
        return keras.Model(board, [value, policy])
"""
RIGHT = {
    "shape": "self.game.input_shape",
    "values": "1",
    "activation": '"tanh"',
    "logits": "self.game.action_size",
    "policy": '"policy_head"',
}


def write(path, **changes):
    path.write_text(SMALL.format(**{**RIGHT, **changes}))
    return f"{path}:Small"


@pytest.fixture
def spec(tmp_path):
    return write(tmp_path / "nets.py")


def test_the_class_in_the_file_is_the_network_whether_the_class_is_named_or_not(spec, tmp_path, monkeypatch):
    game = games.make("tictactoe")
    assert type(make_network(tiny(), game)) is Residual_CNN
    made = make_network(tiny(network=spec), game)
    assert type(made).__name__ == "Small" and isinstance(made, Gen_Model) and layers_of(made) is None
    monkeypatch.chdir(tmp_path)
    assert full_name("nets.py:Small") == full_name("./nets.py : Small") == spec
    assert type(made) is type(make_network(tiny(network="nets.py"), game))
    assert faults_of(made) == []


def test_a_network_that_draws_random_numbers_in_training_plays_as_any_other(tmp_path):
    drops = "        x = keras.layers.Dropout(0.5)(x)\n        value ="
    (tmp_path / "noisy.py").write_text(SMALL.format(**RIGHT).replace("        value =", drops))
    made = make_network(tiny(network=f"{tmp_path / 'noisy.py'}"), games.make("tictactoe"))
    assert len(made.model.variables) > len(made.model.weights), "it has a seed"
    assert faults_of(made) == []


@pytest.mark.parametrize(
    "name, message",
    [
        ("none.py:Small", r"expected a file with a network, got .*none.py \(No such file or directory\)"),
        ("nets.py:Smal", "nets.py: expected a network out of Small, got 'Smal'; did you mean 'Small'?"),
        ("nets.py:keras", "nets.py: expected a class derived from Gen_Model, got keras"),
        ("empty.py", "expected a network, there is no class derived from Gen_Model in empty.py"),
        ("raises.py", "raises.py, line 2: ZeroDivisionError: division by zero"),
        ("unwritten.py", "unwritten.py: expected _build to be written, it is not"),
        ("Small", "network: expected FILE.py:CLASS, got 'Small'"),
    ],
)
def test_a_wrong_name_or_file_is_one_line(name, message, spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "raises.py").write_text("\n1 / 0\n")
    (tmp_path / "unwritten.py").write_text("from model import Gen_Model\n\nclass Own(Gen_Model):\n    pass\n")
    with pytest.raises(UserError, match=message) as caught:
        make_network(tiny(network=name), games.make("tictactoe"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"policy": '"moves"'}, "Small: expected the outputs value_head, policy_head .*, got value_head, moves"),
        ({"values": "2"}, r"Small: expected value_head \[B, 1\], got \[B, 2\]"),
        ({"logits": "10"}, r"Small: expected policy_head \[B, 9\], got \[B, 10\]"),
        ({"shape": "(3, 3, 5)"}, r"Small: expected one input, planes \[B, 3, 3, 3\], got \[B, 3, 3, 5\]"),
        ({"shape": "(3, 3, 3), batch_size=2"}, r"expected one input, planes \[B, 3, 3, 3\], got \[2, 3, 3, 3\]"),
    ],
)
def test_wrong_inputs_and_outputs_are_one_line(changes, message, tmp_path):
    spec = write(tmp_path / "nets.py", **changes)
    with pytest.raises(UserError, match=message):
        make_network(tiny(network=spec), games.make("tictactoe"))


def test_a_network_for_many_sizes_says_that_it_takes_one_more_plane_in_training(spec):
    with pytest.raises(UserError, match="_build_for_training takes one more plane than _build"):
        make_network(tiny(network=spec, many_sizes=True), games.make("tictactoe"))


def test_the_check_finds_what_only_evaluating_shows(tmp_path):
    game = games.make("tictactoe")
    spec = write(tmp_path / "large.py", activation="lambda x: 2.0 + 0 * x")
    found = faults_of(make_network(tiny(network=spec), game))
    assert any(line.startswith("value_head: expected values in [-1, 1], got") for line in found)
    mixed = "        x = x - keras.ops.mean(x, axis=0)\n        value ="
    (tmp_path / "mixing.py").write_text(SMALL.format(**RIGHT).replace("        value =", mixed))
    found = faults_of(make_network(tiny(network=f"{tmp_path / 'mixing.py'}"), game))
    assert any("expected the same alone and in a batch" in line for line in found)


def test_weights_that_are_no_numbers_after_training_are_a_fault_that_names_them(tmp_path, capsys):
    """A relu may hide a NaN: what the network says is then finite, and so are its losses."""
    path = tmp_path / "nan.py"
    path.write_text(SMALL.format(**RIGHT).replace("Rescaling(1.0", "Rescaling(float('nan')"))
    assert run(["check", "tictactoe", "--network", str(path)]) == 4
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("expected training to lower the loss: training gave ") and "not finite: " in line
    assert "nan" in line or "kernel" in line


def test_the_check_finds_probabilities_in_place_of_logits(tmp_path):
    spec = write(tmp_path / "nets.py", policy='"policy_head", activation="softmax"')
    (fault,) = faults_of(make_network(tiny(network=spec), games.make("tictactoe")))
    assert fault == "policy_head: expected logits, got probabilities, which add up to 1: leave the softmax out"


def test_the_check_finds_a_value_that_nothing_bounds(tmp_path):
    spec = write(tmp_path / "nets.py", activation="lambda x: 0.2 * x")
    (fault,) = faults_of(make_network(tiny(network=spec), games.make("tictactoe")))
    assert re.fullmatch(r"value_head: expected values in \[-1, 1\], as of tanh, got [\d.]+ with larger weights", fault)


def test_the_command_checks_a_network(spec, tmp_path, capsys):
    assert run(["check", "tictactoe", "--network", spec]) == 0
    assert "no fault in a network of" in capsys.readouterr().out
    wrong = write(tmp_path / "large.py", activation="lambda x: 2.0 + 0 * x")
    assert run(["check", "tictactoe", "--network", wrong, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["faults"]


# ---- in a run


def test_a_run_keeps_its_network_resumes_with_it_and_lets_its_file_be_moved(place, tmp_path, monkeypatch):
    write(tmp_path / "nets.py")
    monkeypatch.chdir(tmp_path)
    with Session.start(tiny(network="nets.py:Small"), console=QUIET) as session:
        expected = session.model.predict(boards(session.game, 8))
    folder = session.folder
    assert read_config(folder).network == f"{tmp_path / 'nets.py'}:Small"
    monkeypatch.chdir("/")
    with Session.open(folder, console=QUIET) as session:
        assert type(session.model).__name__ == "Small"
        assert all(map(np.array_equal, session.model.predict(boards(session.game, 8)), expected))
    (tmp_path / "there").mkdir()
    (tmp_path / "nets.py").rename(tmp_path / "there" / "nets.py")
    moved = f"{tmp_path / 'there' / 'nets.py'}:Small"
    with Session.open(folder, console=QUIET) as session, pytest.raises(UserError, match="expected a file with a netw"):
        assert session.model
    options = ["--game", "tictactoe", "--run", "1", "--network", moved]
    monkeypatch.setattr(train_command, "_work", lambda session, *_, **__: type(session.model).__name__ != "Small")
    assert run(["train", *options]) == 0
    assert read_config(folder).network == moved
    with pytest.raises(UserError, match="network: the run has .*, got None"):
        Session.open(folder, tiny(), console=QUIET)
    with pytest.raises(UserError, match="cannot change while a run lives"):
        Session.open(folder, tiny(network="nets.py:Other"), console=QUIET)


@pytest.mark.parametrize("backend", ["auto", "keras"])
def test_the_file_of_a_run_from_others_is_not_run(place, spec, tmp_path, backend):
    (tmp_path / "evil.py").write_text("raise SystemExit('it was run')")
    settings = to_json(tiny(network=f"{tmp_path / 'evil.py'}:Small", backend=backend))
    with Session.start(tiny(network=spec), console=QUIET) as session, session.store.transaction("test"):
        session.store.put("config", settings)
    (session.folder / "config.json").write_text(settings)
    refused = "expected --network .*evil.py:Small, as its code is to be run"
    with Session.open(session.folder, console=QUIET) as opened, pytest.raises(UserError, match=refused):
        assert opened.model
    if backend == "keras":
        with pytest.raises(UserError, match=refused):
            make_player("current", games.make("tictactoe"))


@needs_tensorflow
def test_play_needs_no_file(place, spec, tmp_path):
    with Session.start(tiny(network=spec), console=QUIET):
        pass
    (tmp_path / "nets.py").unlink()
    model = make_player("current", games.make("tictactoe")).model
    assert isinstance(model, StoredNetwork) and model.layers is None


def test_a_new_run_begins_with_the_network_of_its_own_kind_alone(place, spec):
    with Session.start(tiny(network=spec), console=QUIET) as session:
        theirs = session.model.get_weights()
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 0}
    with Session.start(tiny(network=spec, seed=9), console=QUIET, **begin) as session:
        assert all(map(np.array_equal, session.model.get_weights(), theirs))
    with pytest.raises(UserError, match="run0001 has another network: network: None expected, nets.py:Small came"):
        Session.start(tiny(), console=QUIET, **begin)


def test_a_config_json_of_before_opens_and_a_wrong_value_is_refused():
    values = json.loads(to_json(tiny()))
    assert values.pop("network") is None
    assert from_json(json.dumps(values)) == tiny()
    with pytest.raises(SettingsError, match="network: expected FILE.py:CLASS, a network of your own, got 3"):
        Config(network=3)
    assert "network" not in network_facts(tiny(), games.make("tictactoe"))


def test_a_moved_file_is_the_same_class_in_a_file_of_the_same_name(place):
    assert lies_elsewhere("/a/nets.py:Small", "/b/nets.py:Small")
    assert not lies_elsewhere("/a/nets.py:Small", "/a/nets.py:Other") and not lies_elsewhere("/a/nets.py", None)
    remember("/a/nets.py:Small")
    remember("/a/nets.py:Small")
    assert (place / "networks.txt").read_text() == "/a/nets.py:Small\n"
