"""Which tests run, and what they share: one tiny run, trained once and copied for each test that changes it.

A test's folder says how much it costs. In a folder slow/ are trainings, processes and Keras; in a folder outside/ what
needs another program: a browser, Ray, node, KaTrain, GNU Go. All others are fast, and they alone run by default;
`--all` adds the others, and so does naming one of these folders or a file in it. The mark `keras` of a file lets its
sessions train by Keras; others train in NumPy.
"""

import gc
import json
import os
import shutil
import signal
from contextlib import contextmanager, nullcontext
from pathlib import Path

import portalocker
import pytest

pytest.register_assert_rewrite("support")  # before its modules are imported

from storage.run_folders import runs_of  # noqa: E402
from support.compile_first import compile_all  # noqa: E402
from support.crashable_process import GAME, Nursery, mounts  # noqa: E402
from support.locked_folders import lock  # noqa: E402, F401
from support.own_games import desk, failing, snort  # noqa: E402, F401
from support.tiny_runs import QUIET, tiny  # noqa: E402
from system.collector import alone_here  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Solved positions are kept in a folder of the tests, not in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """Return f(name, make): the folder `name` that all processes of the tests share, filled once by make(folder)."""
    top = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        top = top.parent

    def folder_of(name, make):
        folder, done = top / name, top / f"{name}.done"
        with portalocker.Lock(top / f"{name}.lock", timeout=600):
            if not done.exists():
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return folder_of


@contextmanager
def learning_in_numpy():
    """Let the sessions of this process train in NumPy, as Keras takes most of the time to load and to trace a step."""
    from support.numpy_training.numpy_model import make_network

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("initialise._build", make_network)
        yield


@pytest.fixture(scope="module", autouse=True)
def way_to_learn(request):
    """Return how sessions train, "numpy" or "keras": in files marked `keras`, whose subject is what learns."""
    keras = request.node.get_closest_marker("keras") or not set(COSTLY) & set(request.path.parts)
    with nullcontext() if keras else learning_in_numpy():
        yield "keras" if keras else "numpy"


def train_in(root, iterations=None):
    """Begin the tiny run in a folder of runs and train it."""
    from initialise import Session
    from main import train

    with Session.start(tiny(), root=root, console=QUIET) as session:
        train(session, iterations=iterations)


@pytest.fixture(scope="module")
def trained(shared, way_to_learn):
    """Return the folder of a finished run of four iterations; nobody may change it."""
    return runs_of(GAME, shared(f"trained_by_{way_to_learn}", train_in))[-1]


@pytest.fixture(scope="module")
def begun(shared, way_to_learn):
    """Return the folder of the same run after its first iteration; nobody may change it."""
    return runs_of(GAME, shared(f"begun_by_{way_to_learn}", lambda root: train_in(root, iterations=1)))[-1]


@pytest.fixture(scope="session")
def nursery():
    """Return a process whose children run the loop with a network of numpy: they may be killed, their disks be full."""
    if not hasattr(os, "fork"):
        pytest.skip("needs what only POSIX has: a process that forks")
    with Nursery(mounts()) as found:
        yield found


@pytest.fixture(scope="session")
def finished(nursery, shared):
    """Return (folder, state) of a run of the nursery that nobody disturbed; nobody may change it."""
    root = shared("finished", lambda root: (root / "state").write_text(json.dumps(nursery.finish(root))))
    return runs_of(GAME, root)[-1], json.loads((root / "state").read_text())


@pytest.fixture
def root(trained, tmp_path):
    """Return a folder of runs with a copy of the trained run as run0001."""
    shutil.copytree(trained.parent.parent, tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Runs are kept in a folder of the test."""
    import initialise
    from storage import run_folders

    for module in (run_folders, initialise):
        monkeypatch.setattr(module, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(run_folders, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(run_folders, "EARLY", tmp_path / "early")
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def trained_place(place, trained):
    """Return the same with a copy of the trained run in it."""
    shutil.copytree(trained.parent.parent, place, dirs_exist_ok=True)
    return place


@pytest.fixture
def unchecked(monkeypatch):
    """Leave out the short check before your own game is played: its faults then show during a game."""
    monkeypatch.setattr("evaluation.game_contract.checked", lambda game: game)


MODELS = {}


@pytest.fixture
def quick(monkeypatch):
    """Let sessions in a row share one network: what it compiled stays, its numbers are made new."""
    import initialise
    from config import to_json, with_overrides
    from training import stages

    build = initialise._build

    def once(config, game, *, typed=True):
        key = build.__module__, to_json(with_overrides(config, iterations=1, episodes=1, learning_rate=1.0))
        if key not in MODELS:
            model = build(config, game, typed=typed)
            MODELS[key] = model, model.get_weights(), model.get_optimizer()
        model, weights, optimizer = MODELS[key]
        model.set_weights(weights)
        model.set_optimizer(optimizer)
        return model

    monkeypatch.setattr(initialise, "_build", once)
    monkeypatch.setattr(stages, "measure_raw", lambda *_, **__: 1000.0)


@pytest.fixture(scope="module", params=["batch", "fixed"])
def network(request):
    """Return a network of Connect 4 with weights that look trained."""
    from support.small_networks import make
    from support.tiny_runs import trained_looking

    model = make("connect4", normalisation=request.param, hidden_cnn_layers=("16x3",) * 3)
    model.set_weights(trained_looking(model))
    return model


COSTLY = ("slow", "outside")
"""Names of folders whose tests are left out by default, and the marks of these tests."""
LONGEST = (
    "test_experiment", "test_cluster", "test_kills", "test_journeys", "test_backends", "test_engine_in_node",
    "test_browser_page", "test_wheel", "test_program", "test_textbook_loop", "test_browsers", "test_backend_change",
    "test_notebook", "test_notebook_of_the_core", "test_guides", "test_exports", "test_many_sizes_run",
    "test_many_sizes", "test_shipped_puzzles", "test_stored_network", "test_other_system", "test_environment_variables",
    "test_sweep_command", "test_serve", "test_model", "test_extra_heads", "test_session", "test_memory_growth",
    "test_page_preparing", "test_ready_modules", "test_record_command", "test_lag", "test_reanalysis",
    "test_scoreboard", "test_workers", "test_net2net", "test_predictors", "test_play_without_keras",
    "test_commands_of_runs", "test_stops", "test_disk", "test_crash_images", "test_recover", "test_release",
    "test_track", "test_export_network", "test_resume", "test_analysis_server", "test_openspiel", "test_othello",
    "test_go", "test_fours", "test_hostile_games", "test_fuzz", "test_level_games", "test_endgame", "test_review",
    "test_gomoku", "test_new_game",
)  # fmt: skip
"""Files that take longest; they come first, so that no core waits for another at the end."""


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the tests in folders slow/ and outside/ as well")


def pytest_configure(config):
    """Where several processes are to run the tests, compile first what each of them would.

    Programs that tests start heed Ctrl-C, also where a script runs the tests in its background. What is loaded while
    tests are collected stays: Python need not look through it for what could be freed.
    """
    gc.disable()
    alone_here()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        compile_all()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give files to processes; one process more than cores is for those that wait."""
    from support.lanes import Lanes

    return Lanes(config, log) if config.option.dist == "loadfile" else None


def pytest_ignore_collect(collection_path, config):
    """Leave out a costly folder that nobody named: its files are not even imported."""
    if collection_path.name in COSTLY and collection_path.is_dir() and not config.option.all:
        named = [Path(config.invocation_params.dir, argument.split("::")[0]).resolve() for argument in config.args]
        if not any(collection_path == path or collection_path in path.parents for path in named):
            return True
    return None


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    for item in items:
        for folder in COSTLY:
            if folder in item.path.relative_to(Path(__file__).parent).parts:
                item.add_marker(folder)
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
