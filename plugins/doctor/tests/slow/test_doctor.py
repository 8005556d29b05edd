"""The doctor: a planted fault of each kind is named, and what is healthy is left alone."""

import dataclasses
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import games
import model as model_module
from agent import Agent
from config import UserError, to_json
from MCTS import MCTS
from memory import Memory
from plugins.doctor import history, installation, learning
from plugins.doctor.examination import Patient, examine
from search import simulate
from storage.run_folders import NOTHING
from support.corridor import Corridor
from support.tiny_runs import tiny
from training.presets import preset
from training.selfplay import SelfPlay

pytestmark = pytest.mark.keras


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    return Patient(games.make("tictactoe"), preset("tiny"), tmp_path_factory.mktemp("runs"))


def found(checks, name, subject):
    (finding,) = examine({name: checks.CHECKS[name]}, subject)
    assert finding.name == name and finding.measured and (finding.good or finding.expected and finding.remedy)
    return finding


def wrong(checks, name, subject, words):
    finding = found(checks, name, subject)
    assert not finding.good and words in finding.measured, finding
    assert finding.remedy in str(finding) and name in str(finding)


def test_what_the_doctor_makes_up_suits_a_run_with_extra_heads(tmp_path, monkeypatch):
    config = preset("tiny", ownership_weight=1.0, soft_policy_weight=1.0)
    patient = Patient(games.make("tictactoe"), config, tmp_path)
    monkeypatch.setattr(installation, "measure_raw", lambda *_, **__: 1e9)
    for checks in (learning, installation):
        for finding in examine(checks.CHECKS, patient):
            assert finding.good, str(finding)


# ---- the installation


def test_every_check_of_a_healthy_installation_is_content(patient, monkeypatch):
    monkeypatch.setattr(installation, "measure_raw", lambda *_, **__: 1e9)
    for finding in examine(installation.CHECKS, patient):
        assert finding.good, str(finding)


def set_(monkeypatch, name, value):
    monkeypatch.setattr(installation, name, value)


def full_disk(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(2**40, 2**40, 2**20))


def other_answers(monkeypatch):
    make = installation.make_predictor

    def skewed(*args, **options):
        predictor = make(*args, **options)
        return lambda planes: (predictor(planes)[0] + 0.01, predictor(planes)[1])

    set_(monkeypatch, "make_predictor", skewed)


PLANTED = [
    ("python", "3.", lambda m: set_(m, "PYTHON", ((3, 5), (3, 6)))),
    ("libraries", "numba 0.1", lambda m: set_(m, "installed_version", lambda name: "0.1")),
    ("libraries", "keras (not installed)", lambda m: set_(m, "installed_version", lambda name: None)),
    ("openvino", "not installed", lambda m: set_(m, "openvino_installed", lambda: False)),
    ("openvino", "1.0e-02 in values", other_answers),
    ("compiled code", "cannot be written", lambda m: m.setattr("compiling.cache_folder.FOLDER", Path("/proc/nowhere"))),
    ("memory", "0.0 GiB free", lambda m: set_(m, "free_memory", lambda: 1000)),
    ("disk", "0.0 GiB free", full_disk),
    ("gpu", "2 in the machine, 0 used", lambda m: set_(m, "nvidia_cards", lambda: 2)),
    ("network speed", "0 % of the rate", lambda m: set_(m, "measure_raw", lambda *_, **__: 1.0)),
]


@pytest.mark.parametrize("name, words, plant", PLANTED, ids=[f"{p[0]}: {p[1]}" for p in PLANTED])
def test_a_fault_of_the_installation_is_named(patient, monkeypatch, name, words, plant):
    plant(monkeypatch)
    wrong(installation, name, patient, words)


def test_what_is_set_outside_is_listed_by_name_and_is_no_fault(patient, monkeypatch):
    keras = pytest.importorskip("keras")
    monkeypatch.setattr("compiling.environment.ENVIRONMENT", {"KERAS_BACKEND": "jax"})
    monkeypatch.setenv("OMP_NUM_THREADS", "secret")
    keras.config.set_image_data_format("channels_first")
    try:
        finding = found(installation, "environment", patient)
    finally:
        keras.config.set_image_data_format("channels_last")
    assert finding.good and "secret" not in finding.measured
    words = "replaced or removed: KERAS_BACKEND; .*image_data_format channels_first; left as they are: .*OMP_NUM"
    assert re.search(words, finding.measured)


def test_bfloat16_on_a_processor_without_it_is_named(patient, monkeypatch):
    monkeypatch.setattr(installation, "native_bfloat16", lambda: False)
    assert found(installation, "processor", patient).good
    slow = Patient(patient.game, preset("tiny", precision="bfloat16"), patient.folder)
    wrong(installation, "processor", slow, "not in hardware")


def test_a_check_that_breaks_is_a_finding_of_its_own(patient):
    def broken(patient):
        raise ImportError("libcuda.so.1: cannot open\nmore")

    (finding,) = examine({"broken": broken}, patient)
    assert not finding.good and finding.measured == "ImportError: libcuda.so.1: cannot open"


def test_operations_are_those_of_a_convolution_written_out():
    weights = [np.zeros((3, 3, 2, 4)), np.zeros(4), np.zeros((5, 7))]
    assert installation.operations(weights, (6, 7)) == 2 * (6 * 7 * 3 * 3 * 2 * 4 + 5 * 7)


# ---- learning


@pytest.mark.parametrize("game", [games.make("tictactoe"), games.make("connect4"), Corridor()], ids=lambda g: g.name)
@pytest.mark.parametrize("name", [name for name in learning.CHECKS if name != "overfitting"])
def test_learning_is_found_healthy_in_every_form_of_game(patient, game, name):
    finding = found(learning, name, Patient(game, patient.config, patient.folder))
    assert finding.good, str(finding)


def test_a_network_that_learns_a_batch_by_heart_is_healthy_and_one_with_a_wild_rate_is_not(patient, monkeypatch):
    before = [w.copy() for w in patient.model.get_weights()]
    assert found(learning, "overfitting", patient).good
    fit = patient.model.fit
    monkeypatch.setattr(patient.model, "fit", lambda batches, steps: fit(batches, 20, rate=lambda step: 1e3))
    assert not found(learning, "overfitting", patient).good
    for one, other in zip(before, patient.model.get_weights(), strict=True):
        assert (one == other).all(), "the network is left as it was"


def loss_over_all(target, logits):
    odds = np.exp(logits - logits.max(1, keepdims=True))
    return -(np.maximum(target, 0) * np.log(odds / odds.sum(1, keepdims=True) + 1e-30)).sum(1)


def loss_over_visited(target, logits):
    return model_module_loss(np.where(target > 0, target, -1.0).astype(np.float32), logits)


model_module_loss = model_module.softmax_cross_entropy_with_logits


def all_moves(self, state):
    values, logits = self.predict(state.planes()[None])
    odds = np.exp(logits[0] - logits[0].max())
    return float(values[0]), odds / odds.sum(), list(state.allowedActions)


def negated_leaf(self, leaf, value, done, breadcrumbs, *, real=Agent.evaluateLeaf):
    value, breadcrumbs = real(self, leaf, value, done, breadcrumbs)
    return -value, breadcrumbs


def negated_answers(self, predictor, sims, *args, real=MCTS.search, **options):
    return real(self, lambda planes: (-predictor(planes)[0], predictor(planes)[1]), sims, *args, **options)


def by_parity(self, leaf, value, breadcrumbs):
    """Fill back as if turns alternated."""
    depth = len(breadcrumbs)
    self.forest.steps["edge"][:depth] = [edge.index for edge in breadcrumbs]
    self.forest.steps["player"][:depth] = [leaf.playerTurn * (-1) ** (depth - i) for i in range(depth)]
    self.forest.slots["depth"][0] = depth
    simulate.backup(self.forest, self.puct, 0, float(value), leaf.playerTurn)


def noise_into_p(self, alpha, *, tree=0, real=MCTS.add_noise):
    real(self, alpha, tree=tree)
    for _, edge in self.root.edges:
        self.forest.moves["P"][edge.index] += 0.25 * (edge.nu - self.forest.moves["P"][edge.index])


def always_noisy(self, *args, real=Agent.__init__, **options):
    real(self, *args, **{**options, "noisy": True})


def policy_not_turned(self, positions, form, *args, real=Memory.batch):
    return real(self, positions, form, *args)._replace(policy=real(self, positions, 0 * form, *args).policy)


def owners_not_turned(self, positions, form, *args, real=Memory.batch):
    return real(self, positions, form, *args)._replace(owners=real(self, positions, 0 * form, *args).owners)


def result_of_who_began(self, record, *, real=Memory.positions):
    found = real(self, record)
    return found._replace(result=np.full_like(found.result, record.result))


class Quiet(SelfPlay):
    def play(self, *args, **options):
        yield from super().play(*args, **options)
        self.workers[0].mcts.forest.noise[:] = 0


class Written(SelfPlay):
    def play(self, *args, **options):
        yield from super().play(*args, **options)
        forest = self.workers[0].mcts.forest
        forest.moves["P"] = np.random.default_rng(0).random(len(forest.moves))


LOSS = "softmax_cross_entropy_with_logits"
FAULTS = [
    ("mask", "logits of illegal moves", (model_module, LOSS, loss_over_all)),
    ("mask", "leaves out legal moves", (model_module, LOSS, loss_over_visited)),
    ("mask", "to illegal moves", (Agent, "get_preds", all_moves)),
    ("signs", "step by step", (Agent, "evaluateLeaf", negated_leaf)),
    ("signs", "whole search", (MCTS, "search", negated_answers)),
    ("signs", "strip, step by step", (MCTS, "backFill", by_parity)),
    ("noise", "written into P", (MCTS, "add_noise", noise_into_p)),
    ("noise", "not learning searches with noise", (Agent, "__init__", always_noisy)),
    ("noise", "self-play searches without noise", (learning, "SelfPlay", Quiet)),
    ("noise", "self-play writes noise into P", (learning, "SelfPlay", Written)),
    ("symmetries", "not for the player to move", (Memory, "positions", result_of_who_began)),
    ("symmetries", "the policy is another position's", (Memory, "batch", policy_not_turned)),
    ("symmetries", "belong to others than at the game's end", (Memory, "batch", owners_not_turned)),
]


@pytest.mark.parametrize("name, words, fault", FAULTS, ids=[f"{f[0]}: {f[1]}" for f in FAULTS])
def test_a_fault_on_the_way_to_the_targets_is_named(patient, monkeypatch, name, words, fault):
    monkeypatch.setattr(*fault)
    wrong(learning, name, patient, words)


def test_a_game_that_breaks_its_contract_is_named(patient):
    class Long(Corridor):
        max_plies = property(lambda self: 3, lambda self, value: None)

    wrong(learning, "rules", Patient(Long(), patient.config, patient.folder), "at most 3 plies")


# ---- a run


@pytest.fixture(scope="module")
def young(trained):
    return history.read_history(trained)


@pytest.fixture(scope="module")
def old(young):
    """The same run grown up: thirty iterations of falling losses, six tournaments."""
    lines = [
        {"iteration": i, "retrain_loss": 1 + 1 / i, "retrain_value_loss": 0.2 + 0.6 / i,
         "retrain_policy_loss": 1 + 1 / i, "self_play_memory": min(5 * i, 150), "tournament_played": 8 * (i % 5 == 0),
         "tournament_promoted": i == 5}
        for i in range(1, 31)
    ]  # fmt: skip
    return dataclasses.replace(young, lines=lines, iterations=30)


@pytest.mark.parametrize("age", ["young", "old"])
def test_a_healthy_run_gives_no_finding(age, request):
    for finding in examine(history.CHECKS, request.getfixturevalue(age)):
        assert finding.good, str(finding)


def test_a_run_without_an_iteration_gives_no_finding(young):
    empty = dataclasses.replace(young, lines=[], iterations=0, records=[], answers=None)
    for finding in examine(history.CHECKS, empty):
        assert finding.good, str(finding)


def with_metrics(run, **changes):
    """Return a run with metrics made anew: {name: f(iteration)}."""
    lines = [{**line, **{name: f(line["iteration"]) for name, f in changes.items()}} for line in run.lines]
    return dataclasses.replace(run, lines=lines)


def with_games(run, **changes):
    return dataclasses.replace(run, records=[record._replace(**changes) for record in run.records])


def one_move_visited(run):
    def only_most(visits):
        return np.where(np.arange(visits.shape[1]) == visits.argmax(1)[:, None], visits, 0)

    return dataclasses.replace(run, records=[r._replace(visits=only_most(r.visits)) for r in run.records])


def pessimistic(run):
    """Return a run whose searches say 0.3 less than they did, for who is to move."""

    def lower(record):
        values = record.values
        return record._replace(values=np.where(np.abs(values) < 1, np.clip(values - 0.3, -0.99, 0.99), values))

    return dataclasses.replace(run, records=[lower(record) for record in run.records])


def asked(value, logits):
    return lambda run: dataclasses.replace(run, answers=(np.full(50, value), np.tile(logits, (50, 1))))


ILL = [
    ("metrics", "iterations missing: 7", lambda r: dataclasses.replace(r, lines=r.lines[:6] + r.lines[7:])),
    ("metrics", "2 lines that are no", lambda r: dataclasses.replace(r, unreadable=2)),
    ("metrics", "twice", lambda r: dataclasses.replace(r, lines=r.lines + r.lines[-1:])),
    ("finite losses", "iteration 9", lambda r: with_metrics(r, retrain_loss=lambda i: 1.0 if i < 9 else float("nan"))),
    ("learning rate", "at its best", lambda r: with_metrics(r, retrain_loss=lambda i: 1 + 0.1 * i)),
    ("value loss", "now", lambda r: with_metrics(r, retrain_value_loss=lambda i: 1.0)),
    ("policy loss", "now", lambda r: with_metrics(r, retrain_policy_loss=lambda i: 1.9)),
    ("entropy", "0.0 %", one_move_visited),
    ("draws only", "100 %", lambda r: with_games(r, result=0.0)),
    ("one side wins", "the player who began won 100 %", lambda r: with_games(r, result=1.0)),
    ("one side wins", "the other side won 100 %", lambda r: with_games(r, result=-1.0)),
    ("duplicate games", "different", lambda r: with_games(r, moves=r.records[0].moves)),
    ("game length", "100 %", lambda r: with_games(r, moves=np.arange(9, dtype=np.int16))),
    ("search values", "off the results", pessimistic),
    ("memory", "40 positions", lambda r: with_metrics(r, self_play_memory=lambda i: 40)),
    ("memory", "training needs 50", lambda r: with_metrics(r, self_play_memory=lambda i: 0.1 * i)),
    ("promotions", "0 of 6", lambda r: with_metrics(r, tournament_promoted=lambda i: False)),
    ("network", "not finite", asked(np.nan, np.zeros(9))),
    ("network", "+- 0.000", asked(0.3, np.arange(9.0))),
    ("files", "DamagedData", lambda r: dataclasses.replace(r, fault="DamagedData: x")),
]


@pytest.mark.parametrize("name, words, plant", ILL, ids=[f"{i[0]}: {i[1]}" for i in ILL])
def test_a_fault_of_a_run_is_named(old, name, words, plant):
    wrong(history, name, plant(old), words)


def test_a_policy_that_is_level_but_better_than_a_guess_is_healthy(old):
    level = with_metrics(old, retrain_policy_loss=lambda i: 1.2)
    assert found(history, "policy loss", level).good


def test_games_that_fill_the_board_by_nature_are_not_too_long(old, monkeypatch):
    ill = with_games(old, moves=np.arange(9, dtype=np.int16))
    monkeypatch.setattr(history, "random_game", lambda game, seed: [None] * 10)
    assert found(history, "game length", ill).good


@pytest.mark.parametrize("damage", ["no database", "half a database", "other weights", "no weights", "other layers"])
def test_damaged_files_of_a_run_are_named_and_left_alone(trained, tmp_path, damage):
    folder = shutil.copytree(trained, tmp_path / "tictactoe" / trained.name)
    newest = sorted((folder / "models").glob("version*.npz"))[-1]
    if damage == "no database":
        (folder / "run.db").unlink()
    elif damage == "half a database":
        (folder / "run.db").write_bytes((folder / "run.db").read_bytes()[:5000])
    elif damage == "other weights":
        newest.write_bytes(newest.read_bytes()[:-9] + b"123456789")
    elif damage == "no weights":
        newest.unlink()
    else:
        (folder / "config.json").write_text(to_json(tiny(hidden_cnn_layers=("16x3",))))
    run = history.read_history(folder)
    wrong(history, "files", run, "")
    helps = NOTHING if "database" in damage else "`python main.py recover --game 'tictactoe' --run 1` saves"
    assert helps in found(history, "files", run).remedy
    assert not found(history, "network", run).checked, "it was trained, and there are games to evaluate it on"
    read = "database" not in damage
    for name in ("entropy", "draws only", "one side wins", "duplicate games", "game length"):
        assert found(history, name, run).checked == read


# ---- the command


def test_the_small_network_is_told_nothing_that_would_make_a_healthy_one_look_ill(tmp_path):
    game = games.make("tictactoe")
    small = Patient(game, preset("tiny", weight_average=0.999, full_search_share=0.01), tmp_path).small
    assert small.weight_average == 0.0 and small.full_search_share == 1.0


def test_a_network_that_cannot_be_built_here_is_no_damage(trained, monkeypatch):
    def refused(*args, **options):
        raise UserError("expected --network mine.py:Mine, as its code is to be run")

    monkeypatch.setattr("model.make_network", refused)
    run = history.read_history(trained)
    assert found(history, "files", run).good
    asked = found(history, "network", run)
    assert asked.good and not asked.checked and "not checked (expected --network mine.py:Mine" in asked.measured


def test_what_could_not_be_checked_is_said_last(monkeypatch, capsys, tmp_path):
    from plugins.doctor.commands import doctor
    from plugins.doctor.examination import Finding

    findings = [Finding("a", True, "well", "", ""), Finding("b", True, "not checked", "", "", False)]
    monkeypatch.setattr(doctor, "_findings", lambda args: [("part", finding) for finding in findings])
    assert doctor.run([]) == 0
    out = capsys.readouterr().out
    assert "  ok     a: well\n  -      b: not checked\nall is well; not checked here: b\n" in out
