"""A process whose children may be killed: each runs the real loop with a network of numpy, so it starts at once.

Started by `Nursery`; TensorFlow is never loaded here, and no thread runs when a child is forked.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GAME = "tictactoe"


class Linear:
    """A network of one layer; its answers are exact sums, so that no batch can change a bit of them."""

    def __init__(self, config, game):
        self.config = config
        rng = np.random.default_rng(config.seed)
        self.weights = [rng.normal(0, 0.3, (int(np.prod(game.input_shape)), 1 + game.action_size)).astype(np.float32)]
        self.moments = [np.zeros_like(self.weights[0])]

    def get_weights(self):
        return [w.copy() for w in self.weights]

    def set_weights(self, weights):
        self.weights = [w.copy() for w in weights]

    def get_optimizer(self):
        return [m.copy() for m in self.moments]

    def set_optimizer(self, arrays):
        self.moments = [a.copy() for a in arrays]

    def fit(self, batches, steps, *, epochs=1, rate=None, report=None):
        for step in range(steps):
            planes, value, policy = batches(step)
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

    def printWeightAverages(self, log):
        pass

    def draw(self, path):
        pass


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
    """Let sessions of this process use the network of numpy, and keep every game by itself."""
    import backends
    import initialise
    import stages

    initialise._build = Linear
    backends.make_predictor = lambda model, **options: Answers(model)
    stages.measure_raw = lambda *_: 1000.0
    stages.COMMIT_SECONDS = 0.0


def live(root, changes):
    """Start the run of a folder or go on with it, to its end."""
    from initialise import Session
    from main import train
    from runs import unfinished_run
    from tiny import QUIET, tiny

    folder = unfinished_run(GAME, root)
    config = tiny(**{"iterations": 3, "episodes": 8, "eval_episodes": 4, "eval_every": 1, "promotion": "threshold",
                     "scoring_threshold": 1.0, "min_memory": 10, **changes})  # fmt: skip
    session = Session.open(folder, config, console=QUIET) if folder else Session.start(config, root=root, console=QUIET)
    with session:
        train(session)


def commit(path, log):
    """Add three games in a transaction, again and again, and note outside when one is done."""
    from selfplay import GameRecord
    from storage import Store

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
    import failpoints

    child = os.fork()
    if not child:
        code = 1
        try:
            os.environ[failpoints.VARIABLE] = fail
            work()
            code = 0
        except BaseException as error:
            code = getattr(error, "exit_code", 1)
            if code == 1:
                import traceback

                traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    if ready is not None:
        while not ready():
            time.sleep(0.0005)
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def state(root):
    from runs import runs_of
    from storage import Store

    store = Store(runs_of(GAME, root)[-1] / "run.db", read_only=True)
    try:
        return store.state_digest()
    finally:
        store.close()


def passes(work):
    """Return {point: how often it is passed} of work done in this process: after it everything is compiled."""
    import failpoints

    counts, before = {}, failpoints._reach
    os.environ[failpoints.VARIABLE] = "counting"
    failpoints._reach = lambda point, wanted: counts.update({point: counts.get(point, 0) + 1})
    try:
        work()
    finally:
        failpoints._reach = before
        del os.environ[failpoints.VARIABLE]
    return counts


def answer(asked):
    root = Path(asked["root"])
    if asked["what"] == "passes":
        with tempfile.TemporaryDirectory() as elsewhere:
            live(Path(elsewhere), asked["changes"])  # what a machine does once (caches on disk) is not counted
        return {"passes": passes(lambda: live(root, asked["changes"])), "state": state(root)}
    if asked["what"] == "live":
        return {"code": forked(lambda: live(root, asked["changes"]), fail=asked["fail"])}
    if asked["what"] == "state":
        return {"state": state(root)}
    return {"codes": commit_and_kill(root, asked["count"], random.Random(asked["seed"]))}


def commit_and_kill(root, count, rng):
    """Let children commit, each killed at a random moment after its first commits."""
    codes, log = [], root / "log"
    log.touch()
    for _ in range(count):
        before = log.stat().st_size
        codes.append(forked(lambda: commit(root / "run.db", log), after=rng.uniform(0.0, 0.015),
                            ready=lambda before=before: log.stat().st_size > before))  # fmt: skip
    return codes


class Nursery:
    """The process as a test sees it."""

    def __enter__(self):
        here = Path(__file__).parent
        environment = {**os.environ, "PYTHONPATH": f"{here.parent}{os.pathsep}{here}"}
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         env=environment, text=True)  # fmt: skip
        return self

    def ask(self, what, root, **more):
        asked = {"what": what, "root": str(root), "changes": {}, "fail": "", **more}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


if __name__ == "__main__":
    without_tensorflow()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
