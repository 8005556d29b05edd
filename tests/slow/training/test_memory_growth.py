"""What a run of days may not do: hold on to memory with each answer, new version, training, or line of log."""

from pathlib import Path

import keras
import numpy as np
import pytest

from loggers import MEGABYTE, close_log, open_log, trace
from memory import Batch
from network.choose_predictor import make_predictor, openvino_installed
from storage.atomic_files import Unwritable
from support.small_networks import make
from support.tiny_runs import boards, left_behind, trained_looking

pytestmark = pytest.mark.keras

BACKENDS = ["keras", *(["openvino"] if openvino_installed() else [])]


def small(**settings):
    return make("connect4", hidden_cnn_layers=("8x3",) * 2, **settings)


@pytest.mark.parametrize("backend", BACKENDS)
def test_six_thousand_answers_leave_nothing_behind(backend):
    model = small()
    predictor, planes = make_predictor(model, backend=backend), boards(model.game, 1)

    def ask(times):
        for _ in range(times):
            predictor(planes)

    ask(500)
    assert left_behind(lambda: ask(6000), MEGABYTE) < MEGABYTE
    if backend == "keras":
        assert predictor._function.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_hundred_versions_leave_nothing_behind_and_are_traced_once(backend):
    model = small()
    versions = [trained_looking(model, seed) for seed in (0, 1)]
    predictor, planes = make_predictor(model, backend=backend, smallest=32), boards(model.game, 8)

    def swap(times):
        for i in range(times):
            predictor.load(versions[i % 2])
            predictor(planes)

    swap(20)
    assert left_behind(lambda: swap(200), MEGABYTE) < MEGABYTE
    if backend == "keras":
        assert predictor._function.experimental_get_tracing_count() == 1


def test_a_hundred_trainings_use_one_compiled_function_and_leave_nothing_behind(monkeypatch):
    compiled, traced = [], []
    monkeypatch.setattr(keras.Model, "compile", counted(keras.Model.compile, compiled))
    monkeypatch.setattr(keras.Model, "train_step", counted(keras.Model.train_step, traced))
    model = small()
    rng, size = np.random.default_rng(0), model.game.action_size
    planes = boards(model.game, 32)

    def sample(step):
        policy = rng.dirichlet(np.ones(size), 32).astype(np.float32)
        return Batch(planes, rng.uniform(-1, 1, 32).astype(np.float32), policy)

    def fit(times):
        for _ in range(times):
            model.fit(sample, 1)

    fit(30)
    function = model.model.train_function
    assert left_behind(lambda: fit(100), MEGABYTE) < MEGABYTE
    assert model.model.train_function is function and len(compiled) == 1
    assert len(traced) == 1, "nothing is made within the first step, which would have it traced a second time"


def counted(function, calls):
    def wrapped(*args, **options):
        calls.append(1)
        return function(*args, **options)

    return wrapped


def test_the_measure_of_what_is_left_behind_finds_a_leak_of_two_kilobytes_an_answer():
    kept = []
    leak = left_behind(lambda: kept.extend(b"x" * 2048 + bytes([i % 256]) for i in range(6000)), MEGABYTE)
    assert leak >= MEGABYTE and len(kept) == 24_000


def test_a_log_is_bounded_in_size(tmp_path):
    log = open_log(tmp_path / "x.log", megabytes=1)
    for i in range(4000):
        log.info("%d %s", i, "x" * 1000)
    close_log(log)
    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files] == ["x.log", "x.log.1"] and sum(f.stat().st_size for f in files) <= 2 * MEGABYTE
    assert "3999 x" in files[0].read_text()[-1100:], "the newest lines are those that are kept"


def test_a_trace_is_whole_replaces_the_one_before_and_tells_when_it_cannot_be(tmp_path):
    path = tmp_path / "x.log"
    path.write_text("of before")
    with pytest.raises(KeyboardInterrupt), trace(path) as log:
        log.info("x")
        raise KeyboardInterrupt
    assert path.read_text() == "of before", "until all is said"
    with trace(path) as log:
        for i in range(3000):
            log.info("%d %s", i, "x" * 1000)
    lines = path.read_text().splitlines()
    assert [int(line.split()[2]) for line in lines] == [*range(3000)] and [*tmp_path.iterdir()] == [path]
    full = Path("/dev/full")
    if full.exists():
        with pytest.raises(Unwritable) as raised, trace(full) as log:
            log.info("x")
        assert str(raised.value).count("/dev/full: cannot be written (No space left on device)") == 1
