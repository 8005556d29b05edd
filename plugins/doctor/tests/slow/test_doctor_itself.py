"""The doctor's own health: no false verdicts on healthy runs, and an end whatever it examines."""

import json
import os

import pytest

import games
from config import with_overrides
from plugins.doctor import history, installation, learning
from plugins.doctor.examination import Patient, examine, random_game
from support.command_line import output_of
from support.corridor import Corridor
from training.presets import preset

pytestmark = pytest.mark.keras


@pytest.mark.parametrize("spec", ["tictactoe", "hex(size=3..4)"])
def test_a_network_of_many_sizes_is_found_healthy(tmp_path, spec):
    patient = Patient(games.make(spec), with_overrides(preset("tiny"), game=spec, many_sizes=True), tmp_path)
    checks = {name: learning.CHECKS[name] for name in ("symmetries", "overfitting")}
    for finding in examine(checks, patient):
        assert finding.good, str(finding)


class Endless(Corridor):
    """A game whose author has forgotten the end."""

    max_plies = property(lambda self: 7, lambda self, value: None)


def test_a_game_that_never_ends_is_named_and_waited_for_no_longer_than_its_plies(tmp_path, monkeypatch):
    game = Endless()
    monkeypatch.setattr(type(game.start()), "isEndGame", property(lambda self: False, lambda self, value: None))
    monkeypatch.setattr(type(game.start()), "allowedActions", property(lambda self: [0], lambda self, value: None))
    assert len(random_game(game, 0)) == 8
    patient = Patient(game, preset("tiny"), tmp_path)
    (finding,) = examine({"rules": learning.rules}, patient)
    assert patient.positions and not finding.good


def test_damage_is_told_as_json_as_well(trained_place, capsys, monkeypatch):
    """With a policy loss that does not fall, and no database from which to count the legal moves."""
    monkeypatch.setattr(installation, "CHECKS", {})
    monkeypatch.setattr(learning, "CHECKS", {})
    folder = trained_place / "tictactoe" / "run0001"
    lines = [{"iteration": i, "retrain_policy_loss": 2.2} for i in range(1, 13)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "run.db").write_bytes(b"no database")
    code, out, _ = output_of(capsys, "doctor", "--game", "tictactoe", "--json")
    assert code == 4 and json.loads(out)["wrong"] == ["files", "policy loss"]


@pytest.mark.parametrize("line", ['{"retrain_loss": NaN}', '{"iteration": [1]}', '{"iteration": "2"}', "{}", "[1]"])
def test_a_line_of_the_metrics_without_an_iteration_is_named_by_their_check_alone(trained_place, line):
    file = trained_place / "tictactoe" / "run0001" / "metrics.jsonl"
    file.write_text(file.read_text() + line + "\n")
    wrong = [finding for finding in examine(history.CHECKS, history.read_history(file.parent)) if not finding.good]
    assert [(each.name, each.measured) for each in wrong] == [("metrics", "1 lines that are no iteration's")]


def test_a_loss_that_is_no_number_does_not_stop_the_check_of_losses(trained_place):
    file = trained_place / "tictactoe" / "run0001" / "metrics.jsonl"
    file.write_text(file.read_text().replace('"retrain_loss": ', '"retrain_loss": "about ", "was": '))
    assert all(finding.good for finding in examine(history.CHECKS, history.read_history(file.parent)))


def test_the_remedy_for_a_folder_that_cannot_be_written_is_not_to_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    found = installation.disk(Patient(games.make("tictactoe"), preset("tiny"), tmp_path))
    assert not found.good and "make room" not in found.remedy and "ALPHAZERO_RUNS=FOLDER" in found.remedy


def test_openvino_is_not_missed_where_the_settings_name_another_library(tmp_path, monkeypatch):
    monkeypatch.setattr(installation, "openvino_installed", lambda: False)
    patient = Patient(games.make("tictactoe"), preset("tiny", backend="onnxruntime"), tmp_path)
    assert installation.openvino(patient).good
