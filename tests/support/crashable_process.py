"""A process whose children may be killed: each runs the real loop with a network of numpy, so it starts at once.

Started by `Nursery`, on request in name spaces of its own where it may mount small disks; TensorFlow is never loaded
here, and no thread runs when a child is forked.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

GAME = "tictactoe"


class Linear:
    """A network of one layer; its answers are exact sums, so that no batch can change a bit of them."""

    layers = ()  # known: nothing is converted

    def __init__(self, config, game, *, typed=True):
        self.config = config
        rng = np.random.default_rng(config.seed)
        self.weights = [rng.normal(0, 0.3, (int(np.prod(game.input_shape)), 1 + game.action_size)).astype(np.float32)]
        self.moments = [np.zeros_like(self.weights[0])]

    def get_weights(self):
        return [w.copy() for w in self.weights]

    shapes = property(lambda self: [w.shape for w in self.weights])

    def set_weights(self, weights):
        self.weights = [w.copy() for w in weights]

    def get_optimizer(self):
        return [m.copy() for m in self.moments]

    def optimizer_layouts(self):
        shapes = [m.shape for m in self.moments]
        return [shapes, shapes + [w.shape for w in self.weights]]

    def set_optimizer(self, arrays):
        self.moments = [a.copy() for a in arrays]

    def fit(self, batches, steps, *, rate=None, report=None):
        for step in range(steps):
            planes, value, policy, _ = batches(step)
            x = planes.reshape(len(planes), -1).astype(np.float32)
            wanted = np.concatenate([value[:, None], np.maximum(policy, 0)], axis=1)
            error = np.tanh(x @ self.weights[0]) - wanted
            self.moments[0] = (0.9 * self.moments[0] + x.T @ error / len(x)).astype(np.float32)
            self.weights[0] = (self.weights[0] - 10 * rate(step) * self.moments[0]).astype(np.float32)
            if report is not None:
                report(step + 1)
        if not np.isfinite(self.weights[0]).all():
            raise ArithmeticError("training gave numbers that are not finite")
        loss = float((error**2).mean())
        return {"loss": loss, "value_loss": loss, "policy_loss": loss}

    printWeightAverages = drawing = staticmethod(lambda *_: b"")  # noqa: N815


class Answers:
    """What a `Linear` answers."""

    name = "numpy"

    def __init__(self, model, **options):
        self.load(model.get_weights())

    def load(self, weights):
        self._weights = np.round(weights[0].astype(np.float64) * 4096) / 4096

    def __call__(self, planes):
        sums = planes.reshape(len(planes), -1).astype(np.float64) @ self._weights
        return np.tanh(sums[:, 0]).astype(np.float32), sums[:, 1:].astype(np.float32)


def without_tensorflow():
    """Let sessions of this process use the network of numpy, and keep every game by itself. Load all, once for all."""
    import initialise
    from interface.commands import train  # noqa: F401
    from model import Residual_CNN  # noqa: F401
    from network import choose_predictor
    from training import estimate, stages

    initialise._build = Linear
    estimate.budget_text = lambda session: ""
    choose_predictor.make_predictor = lambda model, **options: Answers(model)
    stages.measure_raw = lambda *_, **__: 1000.0
    stages.COMMIT_SECONDS = 0.0


def short(changes):
    """Return the settings of a run of less than a second."""
    from support.tiny_runs import tiny

    return tiny(**{"iterations": 3, "episodes": 8, "eval_episodes": 4, "eval_every": 1, "promotion": "threshold",
                   "scoring_threshold": 1.0, "min_memory": 10, **changes})  # fmt: skip


def live(root, changes):
    """Start the run of a folder or go on with it, to its end."""
    from initialise import Session
    from main import train
    from storage.run_folders import unfinished_run
    from support.tiny_runs import QUIET

    folder = unfinished_run(GAME, root)
    config = short(changes)
    session = Session.open(folder, config, console=QUIET) if folder else Session.start(config, root=root, console=QUIET)
    with session:
        train(session)


def command(root, changes):
    """The same by the command line, its errors and signals with it; raise `SystemExit` with its code."""
    import initialise
    from config import differences
    from interface.cli import run
    from storage import run_folders
    from training.presets import preset

    initialise.RUNS = run_folders.RUNS = root
    argv = ["train", "--preset", "tiny", "--json"]
    for name, (_, value) in differences(preset("tiny"), short(changes)).items():
        argv += [f"--{name.replace('_', '-')}", *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    raise SystemExit(run(argv))


def interrupted(point, number, signals, swallowed=False):
    """Let signals come to this process when it passes a point for the so-manieth time."""
    from storage import fault_injection

    passed = []

    def reach(name, wanted):
        passed.extend([name] if name == point else [])
        if name == point and len(passed) == number:
            try:
                for which in signals:
                    os.kill(os.getpid(), which)
            except KeyboardInterrupt as error:
                if swallowed:  # as libraries do that are interrupted while they are imported
                    raise ImportError("initialization failed") from error
                raise

    fault_injection._reach = reach


def usurped(root, changes, point, number):
    """Do `live`; at a pass of a point the run's folder is moved, and another run, killed at work, takes its name."""
    from storage import fault_injection

    def reach(name, wanted, passed=[]):  # noqa: B006
        passed.extend([name] if name == point else [])
        if name == point and len(passed) == number:
            fault_injection._reach = killing
            (root / GAME / "run0001").rename(root / "away")
            forked(lambda: live(root, changes), fail="game.after:13")

    killing, fault_injection._reach = fault_injection._reach, reach
    live(root, changes)


def note_rows(path):
    """Note each game and match game in a file when it is handed over to be kept."""
    from storage.run_store import Store

    add_games, add_match, file = Store.add_games, Store.add_match, open(path, "a", buffering=1)  # noqa: SIM115

    def games(self, iteration, version, records):
        file.writelines(f"game {iteration} {g.index}\n" for g in records)
        add_games(self, iteration, version, records)

    def match(self, iteration, index, row):
        file.write(f"match {iteration} {index}\n")
        add_match(self, iteration, index, row)

    Store.add_games, Store.add_match = games, match


def save(folder, log):
    """Save one version after the other, and note outside when one is known."""
    from storage import checkpoints
    from storage.run_store import Store

    store = Store(folder / "run.db")
    number = len(store.versions())
    acknowledged = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        arrays = [np.random.default_rng(number).normal(size=(64, 256)).astype(np.float32)]
        with store.transaction("retrain"):
            checkpoints.save(store, number, number, {}, arrays, arrays)
        os.write(acknowledged, f"{number}\n".encode())
        number += 1


def commit(path, log):
    """Add three games in a transaction, again and again, and note outside when one is done."""
    from storage.game_record import GameRecord
    from storage.run_store import Store

    store = Store(path)
    number = store.count_games() // 3
    acknowledged = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        moves, visits, values = np.arange(9, dtype=np.int16), np.ones((9, 9), np.uint16), np.zeros(9, np.float32)
        games = [GameRecord(i, moves, visits, values, 0.0) for i in range(3)]
        with store.transaction("game"):
            store.add_games(number, 0, games)
        os.write(acknowledged, f"{number}\n".encode())
        number += 1


def forked(work, *, ready=None, after=0.0, fail=""):
    """Do some work in a child, killed so many seconds after `ready` is true; return its exit status."""
    from storage import fault_injection

    child = os.fork()
    if not child:
        code = 1
        try:
            os.environ[fault_injection.VARIABLE] = fail or "none"
            work()
            code = 0
        except BaseException as error:
            code = error.code if isinstance(error, SystemExit) else getattr(error, "exit_code", 1)
            if code == 1:
                import traceback

                traceback.print_exc()
            elif not isinstance(error, SystemExit):
                print(error, file=sys.stderr)
        finally:
            with suppress(ValueError):  # the program may have closed it
                sys.stderr.flush()
            os._exit(code)
    if ready is not None:
        while not ready():
            time.sleep(0.0005)
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def state(root):
    from storage.run_store import Store

    store = Store(newest_run(root) / "run.db", read_only=True)
    try:
        return store.state_digest()
    finally:
        store.close()


def passes(work):
    """Return {point: how often it is passed} of work done in this process: after it everything is compiled."""
    from storage import fault_injection

    counts, before = {}, fault_injection._reach
    os.environ[fault_injection.VARIABLE] = "counting"
    fault_injection._reach = lambda point, wanted: counts.update({point: counts.get(point, 0) + 1})
    try:
        work()
    finally:
        fault_injection._reach = before
        del os.environ[fault_injection.VARIABLE]
    return counts


def answer(asked):
    root = Path(asked["root"])
    if asked["what"] == "passes":
        with tempfile.TemporaryDirectory() as elsewhere:
            live(Path(elsewhere), asked["changes"])  # what a machine does once (caches on disk) is not counted
        return {"passes": passes(lambda: live(root, asked["changes"])), "state": state(root)}
    if asked["what"] in ("live", "command"):
        return begin({"live": live, "command": command}[asked["what"]], root, asked)
    if asked["what"] == "usurped":
        return begin(lambda *args: usurped(*args, *asked["moment"]), root, asked)
    if asked["what"] == "mount":  # a disk of its own, or the same with other options
        again = "remount," if os.path.ismount(root) else ""
        subprocess.run(["mount", "-t", "tmpfs", "-o", again + asked["options"], "tmpfs", str(root)], check=True)
        return {}
    if asked["what"] == "files":
        return {"files": sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())}
    if asked["what"] == "verify":
        from storage.verify import verify

        folder = newest_run(root)
        return {"damage": verify(folder).damage, "left": sorted(path.name for path in folder.rglob(".*.tmp"))}
    if asked["what"] == "state":
        return {"state": state(root)}
    work = {"commits": lambda log: commit(root / "run.db", log), "saves": lambda log: save(root, log)}[asked["what"]]
    return {"codes": kill_again_and_again(work, root, asked["count"], random.Random(asked["seed"]))}


def begin(work, root, asked):
    """Let a child do some work; return its exit code and what it said to its error stream."""
    import initialise

    def as_asked():
        initialise.RESERVE = asked["reserve"]
        ours, theirs = os.pipe()
        os.close(ours)
        os.dup2(theirs if asked["unread"] else os.open(os.devnull, os.O_WRONLY), 1)
        if asked["limit"]:
            import resource  # here, as Windows has none
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["limit"], asked["limit"]))
        if asked["noting"]:
            note_rows(asked["noting"])
        if asked["signals"]:
            interrupted(*asked["signals"])
        work(root, asked["changes"])

    with tempfile.TemporaryFile() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            code = forked(as_asked, fail=asked["fail"])
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return {"code": code, "said": text}


def newest_run(root):
    from storage.run_folders import runs_of

    return runs_of(GAME, root)[-1]


def kill_again_and_again(work, root, count, rng):
    """Let children work, each killed at a random moment after it has noted something."""
    codes, log = [], root / "log"
    log.touch()
    for _ in range(count):
        before = log.stat().st_size
        codes.append(forked(lambda: work(log), after=rng.uniform(0.0, 0.015),
                            ready=lambda before=before: log.stat().st_size > before))  # fmt: skip
    return codes


def mounts():
    """Return the command that lets a process mount disks that no other one sees, [] where the system forbids it."""
    for way in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if shutil.which("unshare") and subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0:
            return way
    return []


class Nursery:
    """The process as a test sees it. way: a command to start it with."""

    def __init__(self, way=()):
        self._way = way

    def __enter__(self):
        here = Path(__file__).parents[1]
        environment = {**os.environ, "PYTHONPATH": f"{here.parent}{os.pathsep}{here}"}
        argv, pipe = [*self._way, sys.executable, __file__], subprocess.PIPE
        self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, env=environment, text=True)
        return self

    def ask(self, what, root, **more):
        defaults = {"changes": {}, "fail": "", "reserve": 64 << 20, "limit": 0, "signals": None, "noting": "",
                    "unread": False}  # fmt: skip
        asked = {"what": what, "root": str(root), **defaults, **more}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def finish(self, root, **how):
        """Let a run go on to its end, look whether it is whole, return its state."""
        found = self.ask("live", root, **how)
        assert found["code"] == 0, found
        assert self.ask("verify", root) == {"damage": [], "left": []}
        return self.ask("state", root)["state"]

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


if __name__ == "__main__":
    without_tensorflow()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
