"""What a run of days may not do: hold on to memory with each answer, new version, training, or line of log."""

import numpy as np
import pytest

from backends import make_predictor, openvino_installed
from loggers import MEGABYTE, close_log, open_log
from memory import Batch
from networks import make
from tiny import boards, trained_looking, used_memory

BACKENDS = ["keras", *(["openvino"] if openvino_installed() else [])]


def small(**settings):
    return make("connect4", hidden_cnn_layers=("8x3",) * 2, **settings)


@pytest.mark.parametrize("backend", BACKENDS)
def test_twenty_thousand_answers_cost_no_memory(backend):
    """Goal 3 MiB; the room is for what the allocator does on a busy machine."""
    model = small()
    predictor, planes = make_predictor(model, backend=backend), boards(model.game, 8)
    for _ in range(500):
        predictor(planes)
    before = used_memory()
    for _ in range(2500):
        predictor(planes)
    assert used_memory() - before < 4 * MEGABYTE


@pytest.mark.parametrize("backend, room", [("keras", 2), ("openvino", 8)])
def test_two_hundred_versions_cost_no_memory(backend, room):
    if backend not in BACKENDS:
        pytest.skip("OpenVINO is not installed")
    model = small()
    versions = [trained_looking(model, seed) for seed in (0, 1)]
    predictor, planes = make_predictor(model, backend=backend, smallest=32), boards(model.game, 8)

    def swap(times):
        for i in range(times):
            predictor.load(versions[i % 2])
            predictor(planes)

    swap(30)
    before = used_memory()
    swap(200)
    assert used_memory() - before < room * MEGABYTE


def test_twenty_trainings_use_one_compiled_function_and_no_more_memory():
    model = small()
    rng, size = np.random.default_rng(0), model.game.action_size
    planes = boards(model.game, 32)

    def sample(step):
        policy = rng.dirichlet(np.ones(size), 32).astype(np.float32)
        return Batch(planes, rng.uniform(-1, 1, 32).astype(np.float32), policy)

    for _ in range(4):
        model.fit(sample, 5)
    function, before = model.model.train_function, used_memory()
    for _ in range(20):
        model.fit(sample, 5)
    assert model.model.train_function is function
    assert used_memory() - before < 16 * MEGABYTE


def test_a_log_is_bounded_in_size(tmp_path):
    log = open_log(tmp_path / "x.log", megabytes=1, copies=1)
    for i in range(4000):
        log.info("%d %s", i, "x" * 1000)
    close_log(log)
    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files] == ["x.log", "x.log.1"] and sum(f.stat().st_size for f in files) <= 2 * MEGABYTE
    assert "3999 x" in files[0].read_text()[-1100:], "the newest lines are those that are kept"
