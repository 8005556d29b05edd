"""The fast back ends answer as Keras does."""

import itertools
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import games
from config import UserError, with_overrides
from games.sizes import largest_of
from network.choose_predictor import make_predictor, openvino_installed
from network.predictor import STEADY, TOLERANCE, cores, measure_raw, padded
from network.stored_network import StoredNetwork
from network.symmetric_predictor import AveragedPredictor
from players.by_name import make_player
from storage.run_folders import SHIPPED, read_config
from support.small_networks import make
from support.systems import needs_tensorflow
from support.tiny_runs import boards, trained_looking

needs_openvino = pytest.mark.skipif(
    not openvino_installed(), reason="openvino is not made for every platform; where it is, requirements.txt has it"
)
BACKENDS = [
    "keras",
    pytest.param("openvino", marks=needs_openvino),
]
EXACT = [pytest.param("keras", marks=needs_tensorflow), BACKENDS[1]]
"""Back ends whose answers are the same to the last bit in batches of any size: Keras on JAX differs by 1e-7."""


# ---- the back ends


def assert_close(found, expected, precision):
    (value, logits), (true_value, true_logits) = found, expected
    value_limit, logit_limit = TOLERANCE[precision]
    centred = [a - a.mean(axis=1, keepdims=True) for a in (logits, true_logits)]
    assert np.abs(value - true_value).max() <= value_limit
    assert np.abs(centred[0] - centred[1]).max() <= logit_limit


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_back_end_answers_as_keras_does_for_any_number_of_questions(network, backend):
    predictor = make_predictor(network, backend=backend)
    planes = boards(network.game, 130)
    expected = network.predict(planes)
    assert expected[0].std() > 0.1 and expected[1].std() > 0.3, "the answers differ from board to board"
    for count in (1, 7, 64, 130):
        value, logits = (np.array(a) for a in predictor(planes[:count]))
        assert value.shape == (count,) and logits.shape == (count, 7)
        assert_close((value, logits), [a[:count] for a in expected], "float32")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_back_end_answers_nearly_as_keras_does_in_bfloat16(backend):
    model = make("connect4", precision="bfloat16", hidden_cnn_layers=("16x3",) * 3)
    model.set_weights(trained_looking(model))
    planes = boards(model.game, 64)
    reference = make("connect4", hidden_cnn_layers=("16x3",) * 3)
    reference.set_weights(model.get_weights())
    expected = reference.predict(planes)
    assert_close(model.predict(planes), expected, "float32")
    assert_close(make_predictor(model, backend=backend)(planes), expected, "bfloat16")


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_depends_neither_on_the_other_questions_nor_on_its_place(network, backend):
    predictor = make_predictor(network, backend=backend)
    planes, rng = boards(network.game, 64), np.random.default_rng(0)
    value, logits = (np.array(a) for a in predictor(planes))
    order = rng.permutation(64)
    for found, expected in zip(predictor(planes[order]), (value[order], logits[order]), strict=True):
        assert np.array_equal(found, expected)
    some = np.where(np.arange(64)[:, None, None, None] < 40, planes, 1 - planes)
    assert padded(40) == padded(64)
    for questions in (some, planes[:40]):
        for found, expected in zip(predictor(questions), (value, logits), strict=True):
            assert np.array_equal(found[:40], expected[:40])


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("backend", EXACT)
def test_answers_in_batches_padded_to_the_steady_size_are_the_same_to_the_last_bit(backend, precision):
    """Otherwise games would depend on how many others are still being played beside them."""
    model = make("connect4", precision=precision)
    model.set_weights(trained_looking(model))
    planes = boards(model.game, 200)
    value, logits = (np.array(a) for a in make_predictor(model, backend=backend, smallest=STEADY)(planes))
    for streams in (1, cores()):  # with as many as cores, OpenVINO puts batches together from smaller ones
        predictor = make_predictor(model, backend=backend, streams=streams, smallest=STEADY)
        assert getattr(predictor, "piece", 0) == (STEADY if backend == "openvino" and streams == cores() else 0)
        for count in (1, 5, 33, 100, 130):
            for first in (0, 70):
                found = predictor(planes[first : first + count])
                for some, all_of_them in zip(found, (value, logits), strict=True):
                    assert np.array_equal(some, all_of_them[first : first + count]), count


@pytest.mark.parametrize("backend", BACKENDS)
def test_new_weights_change_the_answers_to_those_keras_gives_with_them(network, backend):
    predictor, planes = make_predictor(network, backend=backend), boards(network.game, 8)
    old, weights = network.get_weights(), trained_looking(network, seed=1)
    before = [np.array(a) for a in predictor(planes)]
    predictor.load(weights)
    after = [np.array(a) for a in predictor(planes)]
    try:
        network.set_weights(weights)
        assert_close(after, network.predict(planes), "float32")
    finally:
        network.set_weights(old)
    assert np.abs(after[0] - before[0]).max() > 0.1
    predictor.load(old)
    for found, expected in zip(predictor(planes), before, strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("backend", EXACT)
def test_new_versions_cost_no_new_compilation(network, backend):
    predictor, planes = make_predictor(network, backend=backend), boards(network.game, 8)
    versions = [trained_looking(network, seed) for seed in range(5)]
    answers, traced = [], None
    for i in range(15):
        predictor.load(versions[i % 5])
        answers.append(np.array(predictor(planes)[0]))
        traced = traced if i else traces(predictor)
    assert traces(predictor) == traced
    assert all(np.array_equal(answers[i], answers[i % 5]) for i in range(15))


def traces(predictor):
    """How often TensorFlow has traced a predictor's function; OpenVINO's is traced once, at the conversion."""
    function = getattr(predictor, "_function", None)
    return function.experimental_get_tracing_count() if function is not None else None


def test_two_threads_asking_at_once_get_their_own_answers(network):
    from concurrent.futures import ThreadPoolExecutor

    predictor = make_predictor(network, streams=2)
    planes = boards(network.game, 64)
    expected = [np.array(a) for a in predictor(planes)]

    def ask(part):
        first = 32 * part
        for _ in range(20):
            value, logits = predictor(planes[first : first + 32])
            for found, answer in zip((value, logits), expected, strict=True):
                np.testing.assert_allclose(found, answer[first : first + 32], atol=1e-4)
        return True

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, (0, 1))) == [True, True]


@needs_openvino
@pytest.mark.parametrize("streams, compiled", [(1, 1), (2, 2)])
def test_threads_that_ask_at_once_have_networks_of_their_own_and_later_ones_take_them_over(network, streams, compiled):
    from concurrent.futures import ThreadPoolExecutor

    predictor, planes, made = make_predictor(network, backend="openvino", streams=streams), boards(network.game, 8), []
    compile_one, meet = predictor._compile, threading.Barrier(2, timeout=600.0)
    predictor._compile = lambda size: made.append(size) or compile_one(size)

    def ask(_):
        meet.wait()
        answer = np.array(predictor(planes)[0])
        meet.wait()
        return answer

    answers = []
    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            answers += pool.map(ask, range(2))
    assert len(made) == compiled and len(predictor._requests) == 2
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


@needs_openvino
@needs_tensorflow
def test_a_conversion_starts_no_process_and_tells_nobody(monkeypatch):
    import os
    import socket
    import subprocess
    import sys

    def refused(*_, **__):
        raise AssertionError("a conversion is a matter of this process alone")

    monkeypatch.setattr(os, "fork", refused)
    monkeypatch.setattr(subprocess, "Popen", refused)
    monkeypatch.setattr(socket, "socket", refused)
    model = make()
    model.layers = None  # as of a network of one's own, which is converted
    make_predictor(model, backend="openvino")
    assert model.openvino_graph is not None and sys.modules.get("openvino_telemetry") is None


def test_a_back_end_that_is_not_there_is_named(network, monkeypatch):
    for library in ("openvino", "onnxruntime"):
        monkeypatch.setattr(f"network.choose_predictor.{library}_installed", lambda: False)
        with pytest.raises(UserError, match=f"pip install {library}"):
            make_predictor(network, backend=library)
    assert make_predictor(network).name.startswith("keras")


@pytest.mark.parametrize("fails, told", [({0}, "0"), (range(9), "[01]"), ({2}, "2")])
def test_what_a_predictor_raises_while_it_is_measured_is_raised_and_no_thread_waits_for_ever(monkeypatch, fails, told):
    calls = itertools.count()

    def predictor(planes):
        call = next(calls)
        if call in fails:
            raise RuntimeError(f"call {call} failed")

    monkeypatch.setattr(threading, "Barrier", partial(threading.Barrier, timeout=60.0))
    with pytest.raises(RuntimeError, match=f"^call {told} failed$"):
        measure_raw(predictor, (3, 3, 2), batch=4, threads=2, seconds=0.1)


# ---- means over symmetries


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "othello(size=4)"])
def test_an_averaged_answer_is_the_mean_over_all_ways_to_see_the_board(name):
    model = make(name)
    model.set_weights(trained_looking(model))
    game, inner = model.game, make_predictor(model, backend="keras")
    averaged, planes = AveragedPredictor(inner, game), boards(game, 20)
    value, logits = averaged(planes)
    assert value.shape == (20,) and logits.shape == (20, game.action_size)
    flat = planes.reshape(20, -1, planes.shape[-1])
    values, back = [inner(planes)[0].copy()], [inner(planes)[1].copy()]
    for s in game.symmetries:
        turned = flat[:, s.grid].reshape(planes.shape)
        one, many = (np.array(a) for a in inner(turned))
        values.append(one)
        back.append(np.zeros_like(many))
        back[-1][:, s.actions] = many
        for found, expected in zip(averaged(turned), (value, logits[:, s.actions]), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.std(values, axis=0).max() > 0.01, "the network itself sees them differently"
    np.testing.assert_allclose(value, np.mean(values, axis=0), atol=1e-5)
    np.testing.assert_allclose(logits, np.mean(back, axis=0), atol=1e-5)


def test_the_speed_of_the_network_counts_whole_batches_over_their_own_time():
    def predictor(planes):
        time.sleep(0.05)

    found = measure_raw(predictor, (3, 3, 2), batch=4, threads=2, seconds=0.11)
    assert 0 < found <= 2 * 4 / 0.05, "three batches take 0.15 seconds, not 0.11"


DROPPED = """
import gc, signal, sys, threading
sys.path.insert(0, "tests")
from network.choose_predictor import make_predictor
from support.small_networks import make
from support.tiny_runs import boards
model = make("tictactoe")
held = [make_predictor(model, backend="openvino")]
held[0](boards(model.game, 4))
thread = threading.Thread(target=lambda: (held.clear(), gc.collect()))
thread.start()
thread.join()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""


@needs_openvino
def test_ctrl_c_is_safe_after_another_thread_has_dropped_a_predictor():
    """OpenVINO would take the stack that signals of this thread are handled on."""
    here = Path(__file__).parents[3]
    found = subprocess.run([sys.executable, "-c", DROPPED], cwd=here, capture_output=True, text=True, timeout=900)
    assert (found.returncode, found.stdout) == (0, "interrupted\n"), found.stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_pooled_bias_adds_to_all_points_hides_none_of_them_in_bfloat16(backend):
    """The bias of each point is 10,000 times as large as what distinguishes the points."""
    model = make("go(size=5)", precision="bfloat16", global_pooling=True, hidden_cnn_layers=("16x3",) * 3)
    names = [name for name, _ in model.named_weights()]
    weights = [w / 4 if w.ndim == 2 else w for w in trained_looking(model)]
    weights[names.index("policy_bias/bias")] += np.float32(3000.0)
    model.set_weights(weights)
    planes = boards(model.game, 64)
    found, expected = (f(planes)[1][:, :25] for f in (make_predictor(model, backend=backend), model.predict))
    found, expected = (logits - logits.mean(axis=1, keepdims=True) for logits in (found, expected))
    assert expected.std() > 0.3
    assert np.abs(found - expected).max() <= TOLERANCE["bfloat16"][1]


@needs_openvino
@pytest.mark.parametrize("folder", sorted(SHIPPED.glob("*/run0001")), ids=lambda folder: folder.parent.name)
def test_a_player_that_ships_plays_in_bfloat16_what_it_plays_in_float32(folder):
    game = largest_of(games.make(read_config(folder).game))
    model = make_player("shipped", game, sims=1).model
    rng, states = np.random.default_rng(0), []
    while len(states) < 128:
        line = [game.start()]
        while not (after := line[-1].takeAction(int(rng.choice(line[-1].allowedActions)))[0]).isEndGame:
            line.append(after)
        states.append(line[int(rng.integers(len(line)))])
    best = []
    for precision in ("float32", "bfloat16"):
        network = StoredNetwork(with_overrides(model.config, precision=precision), game)
        network.set_weights(model.get_weights())
        _, logits = make_predictor(network, backend="openvino")(np.stack([state.planes() for state in states]))
        best.append([max(s.allowedActions, key=row.__getitem__) for s, row in zip(states, logits, strict=True)])
    assert np.mean(np.equal(*best)) >= 0.96
