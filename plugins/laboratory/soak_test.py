"""Runs the real program among faults and counts what is lost: kills, freezes, a full disk, damaged files.

Every process is started by the same command. What it had committed when it ended is acknowledged: that must be in the
finished run, once and unchanged, and the run must be in the same state as one that nothing disturbed.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from config import UserError
from storage.atomic_files import DamagedData
from storage.database import row_digest
from storage.fault_injection import VARIABLE
from storage.recover import recover
from storage.run_folders import runs_of
from storage.run_store import Store
from storage.verify import verify
from system import processes
from system.place import HERE, START
from system.reading import LINES_BYTES, MODEL_BYTES, TEXT_BYTES, read_limited

GAME = "tictactoe"
SETTINGS = [
    "--preset", "tiny", "--iterations", "5", "--episodes", "24", "--mcts-sims", "12", "--fast-sims", "6",
    "--games-in-flight", "16", "--memory-size", "150", "--min-memory", "50", "--batch-size", "32",
    "--hidden-cnn-layers", "8x3", "8x3", "--value-units", "8", "--eval-every", "2", "--eval-episodes", "8",
    "--eval-sims", "8", "--warmup-steps", "3", "--cache-size", "1024", "--precision", "float32", "--json",
]  # fmt: skip
POINTS = (
    "start", "game", "self-play", "retrain", "match", "tournament", "promote", "iteration", "model", "fit.step", "mark",
)  # fmt: skip
KINDS = {
    "kill at a point": 6, "kill at some time": 4, "freeze": 1, "interrupt": 2, "terminate": 1, "no space": 2,
    "a limit on files": 1, "a second process": 1, "damaged network": 1, "damaged optimizer": 1,
    "log cut": 1, "log gone": 1, "no settings": 1, "damaged database": 1,
}  # fmt: skip
"""Relative frequency of each fault, once all have been seen."""
if not processes.limits_files():
    KINDS.pop("a limit on files")
if processes.ASKS_ONLY_GROUPS:
    for kind in ("freeze", "interrupt", "terminate"):
        KINDS.pop(kind)
LONGEST = 1800.0
"""Seconds that a process is given to end by itself."""
Key = tuple[str, int, int]


class Soaked(NamedTuple):
    """The faults, and their effects."""

    minutes: float
    processes: int
    runs: int
    """Runs that were finished among the faults, and compared with the undisturbed one."""
    faults: int
    kills: int
    kinds: dict[str, int]
    acknowledged: int
    """Games, match games and versions that had been committed when a process ended."""
    missing: int
    """The number of these that are missing in the finished run, or changed."""
    state_equal: bool
    surprises: list[str]
    """Processes that ended in an unexpected way."""


class Soak:
    """One soak in a folder of its own."""

    def __init__(self, root: Path, *, seed: int = 0, say: Callable[[str], None] = lambda text: None) -> None:
        self._root, self._say, self._rng = root, say, random.Random(seed)
        self._kinds: Counter[str] = Counter()
        self._kills = self._processes = self._runs = self._seen = self._missing = 0
        self._acknowledged: dict[Key, bytes] = {}
        self._equal, self._state = True, ""
        self._surprises: list[str] = []

    def run(self, minutes: float) -> Soaked:
        """Disturb the program for `minutes`, end the run in progress, and compare."""
        began = time.monotonic()
        if self._await(self._start("undisturbed"), {0}):
            raise UserError(f"expected a run that nothing disturbs to end well: {self._surprises[0]}")
        self._state = verify(self._folder("undisturbed")).state
        self._say(f"undisturbed: state {self._state[:16]}, {time.monotonic() - began:.0f} s")
        first = self._rng.sample([*KINDS], len(KINDS))
        while time.monotonic() - began < 60 * minutes:
            kind = first.pop() if first else self._rng.choices([*KINDS], [*KINDS.values()])[0]
            self._disturb(kind)
            self._look()
        while not self._finished():
            self._await(self._start("soaked"), {0})
            self._look()
        return Soaked(
            round((time.monotonic() - began) / 60, 2), self._processes, self._runs, sum(self._kinds.values()),
            self._kills, dict(sorted(self._kinds.items())), self._seen, self._missing,
            self._equal and bool(self._state), self._surprises,
        )  # fmt: skip

    # ---- processes

    def _folder(self, place: str) -> Path:
        """Return the folder of the run in progress, the newest."""
        return runs_of(GAME, self._root / place)[-1]

    def _start(self, place: str, fail: str = "", limit: int = 0) -> subprocess.Popen[bytes]:
        self._processes += 1
        environment = {k: v for k, v in os.environ.items() if k != VARIABLE}
        environment["ALPHAZERO_RUNS"] = str(self._root / place)
        if fail:
            environment[VARIABLE] = fail

        return subprocess.Popen(
            [*START, "train", *SETTINGS], env=environment, cwd=HERE,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self._root / "stderr.txt", "wb"),
            preexec_fn=partial(processes.limit_files, limit) if limit else None,
        )  # fmt: skip

    def _await(self, process: subprocess.Popen[bytes], expected: set[int]) -> int:
        """Wait for a process; record an end that was not expected."""
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            self._surprises.append(f"a process had not ended after {LONGEST:.0f} s")
        said = read_limited(self._root / "stderr.txt", LINES_BYTES).decode(errors="replace")
        if code not in expected or "Traceback" in said:
            last = said.strip().splitlines()[-1:] or [""]
            self._surprises.append(f"exit code {code} where {sorted(expected)} was expected: {last[0][:300]}")
        return code

    def _disturb(self, kind: str) -> None:
        """Do one fault to one process."""
        rng, dead = self._rng, {processes.KILLED, 0}
        if kind == "kill at a point":
            point = rng.choice(POINTS)
            fail = f"{point}*:{rng.randint(1, 12)}" if rng.random() < 0.7 else f"*:{rng.randint(1, 150)}"
            code = self._await(self._start("soaked", fail), dead)
            self._kills += code == processes.KILLED
        elif kind in ("no space", "a limit on files"):
            point = rng.choice(("game", "model", "iteration", "mark"))
            fail = f"{point}*:{rng.randint(1, 6)}:full" if kind == "no space" else ""
            limit = rng.randint(33_000, 90_000) if kind == "a limit on files" else 0
            code = self._await(self._start("soaked", fail, limit), {0, 5})
        elif kind in ("kill at some time", "freeze", "interrupt", "terminate", "a second process"):
            code = self._during(kind)
        else:
            code = self._damage(kind)
        self._kinds[kind] += 1
        self._say(f"{kind}: exit code {code}; {self._missing} missing, {len(self._surprises)} surprises")

    def _during(self, kind: str) -> int:
        """Disturb a process at a random time of its life."""
        process = self._start("soaked")
        try:
            process.wait(self._rng.uniform(0.2, 14.0))
        except subprocess.TimeoutExpired:
            if kind == "kill at some time":
                process.kill()
                self._kills += 1
            elif kind == "freeze":
                processes.freeze(process, self._rng.uniform(0.5, 3.0))
            elif kind == "a second process":
                held = any(self._busy(p) for p in runs_of(GAME, self._root / "soaked")[-1:])
                if held:
                    self._await(self._start("soaked"), {0, 3})
            else:
                process.send_signal(signal.SIGINT if kind == "interrupt" else signal.SIGTERM)
        early = {-signal.SIGINT, -signal.SIGTERM, 1}  # before the first line of the program has run
        requested = kind in ("interrupt", "terminate")
        return self._await(process, {0, 130, *early} if requested else {0, processes.KILLED})

    def _busy(self, folder: Path) -> bool:
        owner = read_limited(folder / "lock", TEXT_BYTES).decode() if (folder / "lock").exists() else ""
        return owner.isdigit() and processes.exists(int(owner)) is not False

    # ---- damage

    def _damage(self, kind: str) -> int:
        """Damage a file of a run that was killed at work; the run is refused and recovered, or resumes by itself."""
        point = self._rng.choice(("game", "iteration", "match", "mark"))
        process = self._start("soaked", f"{point}*:{self._rng.randint(2, 9)}")
        self._kills += self._await(process, {0, processes.KILLED}) != 0
        self._look()
        if not runs_of(GAME, self._root / "soaked") or self._finished():
            return 0
        folder = self._folder("soaked")
        if kind in ("log cut", "log gone", "no settings"):
            log, settings = folder / "run.db-wal", folder / "config.json"
            if kind == "log cut" and log.exists():
                os.truncate(log, log.stat().st_size // 2)
            elif kind == "log gone":
                log.unlink(missing_ok=True)
            elif kind == "no settings":
                settings.unlink(missing_ok=True)
            return self._await(self._start("soaked"), {0})
        if kind == "damaged database":
            return self._without_database(folder)
        newest = sorted((folder / "models").glob("version*" if kind == "damaged network" else "optimizer*"))[-1]
        data = bytearray(read_limited(newest, MODEL_BYTES))
        data[self._rng.randrange(len(data))] ^= 1 << self._rng.randrange(8)
        newest.write_bytes(data)
        code = self._await(self._start("soaked"), {0, 4})
        if code == 4:  # the optimizer's state before it was lost with an earlier one
            recover(folder)
        return code

    def _without_database(self, folder: Path) -> int:
        """Damage a copy of the run so that it cannot resume: it is refused, and what `recover` saves is undamaged."""
        copy = self._root / "damaged" / GAME / folder.name
        shutil.rmtree(self._root / "damaged", ignore_errors=True)
        shutil.copytree(folder, copy)
        for log in copy.glob("run.db-*"):
            log.unlink()
        size = (copy / "run.db").stat().st_size
        os.truncate(copy / "run.db", self._rng.choice((0, size // 2)))
        code = self._await(self._start("damaged"), {4})
        if size and (copy / "run.db").stat().st_size:
            try:
                saved = copy.with_name(recover(copy).run)
            except DamagedData:  # the cut took all rows of networks
                return code
            self._surprises += [f"recovered: {line}" for line in verify(saved).damage]
        return code

    # ---- books

    def _look(self) -> None:
        """Record what is committed now; check and remove a run that is finished."""
        found = runs_of(GAME, self._root / "soaked")
        if not found:
            return
        store = Store(found[-1] / "run.db", read_only=True)
        try:
            rows: set[Key] = set()
            for table in ("games", "matches", "versions"):
                for row in store.rows(table):
                    key = (table, *row[:2])
                    rows.add(key)
                    digest = row_digest(table, row[:5] if table == "versions" else row)
                    if self._acknowledged.setdefault(key, digest) != digest:
                        self._missing += 1
                        self._surprises.append(f"{key} is another one than before")
            finished = store.get("finished") == "yes"
        finally:
            store.close()
        if finished:
            self._runs += 1
            self._seen += len(self._acknowledged)
            self._missing += sum(key not in rows for key in self._acknowledged)
            report = verify(found[-1])
            self._surprises += report.damage
            self._equal = self._equal and report.state == self._state
            self._say(f"run {self._runs} finished: state {'equal' if report.state == self._state else 'DIFFERENT'}")
            self._acknowledged.clear()
            shutil.rmtree(self._root / "soaked")

    def _finished(self) -> bool:
        """Return whether no run is in progress."""
        return not runs_of(GAME, self._root / "soaked")
