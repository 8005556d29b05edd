"""Workers for tests: they play made-up games in no time, and fail when they are told to."""

import os
import signal
import time

import numpy as np

from search.evaluation_cache import NotFinite
from storage.game_record import GameRecord
from training.selfplay import Counts
from training.worker_messages import Expected


def game_of(index, seed, weights="net"):
    """Return the game that follows from a seed and a network's name."""
    rng = np.random.default_rng([seed, len(weights)])
    length = int(rng.integers(3, 9))
    visits = rng.integers(0, 50, (length, 4)).astype(np.uint16)
    values = rng.uniform(-1, 1, length).astype(np.float32)
    return GameRecord(index, rng.integers(0, 4, length).astype(np.int16), visits, values, float(rng.integers(-1, 2)))


def expected(board=""):
    """Return what these games have to be: there are no rules."""
    return Expected(4, 8, lambda record: "")


class Workman:
    """Plays one game after the other; settings: pace (seconds a game), and what goes wrong at which game."""

    def __init__(self, settings):
        self.settings, self.weights, self.played = settings, "", 0

    def load(self, weights, sha256, iteration):
        self.weights = weights

    def counts(self):
        return Counts(10 * self.played, 0, 0, self.played, self.played, 8, 0.0)

    def play(self, todo, stop, together):
        while not stop() and todo:
            index, seed = todo.popleft()
            time.sleep(self.settings.get("pace", 0.0))
            self.trouble(index)
            self.played += 1
            yield game_of(index, seed, self.weights)

    def trouble(self, index):
        if self.once(index, "freezes"):
            os.kill(os.getpid(), signal.SIGSTOP)
        if self.once(index, "fails_once"):
            raise RuntimeError("only once")
        if index in self.settings.get("raises", ()):
            raise RuntimeError(f"game {index} is broken")
        if index in self.settings.get("not_finite", ()):
            raise NotFinite("the answers are NaN")
        if index in self.settings.get("dies", ()):
            os.kill(os.getpid(), signal.SIGKILL)
        if index in self.settings.get("hungry", ()):
            import resource

            limit = 1 << 30
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            np.ones(1 << 30)

    def once(self, index, what):
        """Whether something is to happen at a game, the first time only: a file remembers."""
        if index not in self.settings.get(what, ()):
            return False
        mark = os.path.join(self.settings["folder"], f"{what}{index}")
        if os.path.exists(mark):
            return False
        open(mark, "x").close()
        return True


class Lease:
    """A `stop` of a pool: makes the silence of the worker that froze at a game so long that its lease is over.

    With a short lease a busy machine would make the others' silence too long as well.
    """

    def __init__(self, pool, folder, game):
        self._pool, self._mark, self._game = pool, os.path.join(folder, f"freezes{game}"), game
        self.frozen = None
        """The worker's handle."""

    def __call__(self):
        for place in self._pool._places:
            held = any(self._game in task.missing for task in place.tasks.values())
            if self.frozen is None and held and os.path.exists(self._mark):
                self.frozen = place.handle
            if self.frozen is not None and place.handle is self.frozen:
                place.silent = self._pool._lease + 1
        return False


def workman(settings):
    return Workman(settings)


def never_ready(settings):
    raise ImportError("no module named wood")


def mistaken(settings):
    from config import UserError

    raise UserError("expected a saw, got none")
