"""The runs of an experiment: each a process of `main.py`, made exactly once, however often the experiment is killed.

Blocks: a seed's runs of all variants follow each other, in an order that rotates from seed to seed, so that what
changes on the machine in the course of hours meets all variants alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from config import UserError
from loggers import METRICS, read_metrics
from plugins.experiment.plan import Plan, Variant
from storage.run_folders import make_private, require_free, runs_of
from storage.run_store import Store
from system import processes
from system.place import HERE, PREFIX
from system.reading import LINES_BYTES, read_limited
from system.shell import join

CHILD = Path(__file__).with_name("child.py")
PATIENCE = 15.0
"""Seconds that a run has to end after Ctrl-C, and that a run of a start that was killed has."""


class Job(NamedTuple):
    """One run."""

    seed: int
    number: int
    """The variant's, in the plan."""
    variant: Variant
    root: Path
    """Its folder of runs, which holds this one only."""
    game: str

    @property
    def name(self) -> str:
        return f"seed {self.seed}, {self.variant.name}"

    @property
    def folders(self) -> list[Path]:
        """The folders of its parts that have begun."""
        return runs_of(self.game, self.root)

    @property
    def folder(self) -> Path | None:
        """The folder of the run, of its newest part; None if it has not begun."""
        return next(reversed(self.folders), None)

    def finished(self) -> bool:
        folders = self.folders
        return len(folders) == self.variant.parts and _finished(folders[-1])

    def metrics(self) -> list[dict[str, Any]]:
        """Return the lines of its metrics.jsonl, of all parts; versions are named in those of the newest one."""
        found: list[dict[str, Any]] = []
        for folder in self.folders:
            before = found[-1]["total_seconds"] if found else 0.0
            for line in found:
                line.pop("version", None)
            lines = read_metrics(folder / METRICS)
            found += [{**line, "total_seconds": line["total_seconds"] + before} for line in lines]
        return found

    def environment(self) -> dict[str, str]:
        """Return the environment in which its runs are found, and no other's."""
        return {**os.environ, "ALPHAZERO_RUNS": str(self.root)}

    def program(self) -> tuple[str, str]:
        """Return (the folder of its code, what stands before the names of its modules)."""
        return (self.variant.checkout, "") if self.variant.checkout else (str(HERE), PREFIX)


def _finished(folder: Path) -> bool:
    """Return whether a run has ended."""
    if not (folder / "run.db").exists():
        return False
    store = Store(folder / "run.db", read_only=True)
    try:
        return store.get("finished") == "yes"
    finally:
        store.close()


def jobs(plan: Plan, folder: Path) -> list[Job]:
    """Return the runs in the order in which they begin."""
    found, count = [], len(plan.variants)
    for block, seed in enumerate(plan.seed_numbers()):
        for place in range(count):
            number = (place + block) % count
            variant = plan.variants[number]
            root = (folder / "runs" / f"seed{seed}" / f"variant{number}").absolute()
            found.append(Job(seed, number, variant, root, plan.game_of(variant)))
    return found


def run_all(plan: Plan, todo: list[Job], say: Callable[[str], None]) -> None:
    """Make the runs that are not finished, side by side where there are processors for several.

    Ctrl-C ends them at their next commit; all of it resumes with the same call.
    """
    todo = [job for job in todo if not job.finished()]
    if not todo:
        return
    _prepare(todo, say)
    places = _places(plan.cores)
    at_work: dict[int, tuple[Job, subprocess.Popen[bytes]]] = {}
    done, count = 0, len(todo)
    try:
        while todo or at_work:
            for place in range(len(places)):
                if place not in at_work and todo:
                    job = todo.pop(0)
                    at_work[place] = job, _start(plan, job, places[place])
            time.sleep(0.1)
            for place, (job, process) in list(at_work.items()):
                if process.poll() is None:
                    continue
                del at_work[place]
                _require_finished(job, process)
                if not job.finished():  # its next part
                    todo.insert(0, job)
                    continue
                done += 1
                lines = job.metrics()
                games, minutes = sum(m.get("self_play_games", 0) for m in lines), lines[-1]["total_seconds"] / 60
                say(f"  run {done} of {count}: {job.name}: {minutes:.1f} minutes, {games:,} games")
    finally:
        _end([process for _, process in at_work.values()])


def _places(cores: int) -> list[list[int]]:
    """Return the processors of each of the runs that go on side by side."""
    numbers = processes.processors()
    groups = [numbers[i : i + cores] for i in range(0, len(numbers), cores)]
    return [group for group in groups if len(group) == cores] or [numbers]


def _prepare(todo: list[Job], say: Callable[[str], None]) -> None:
    """Compile what the runs need, so that no run pays for what another one finds compiled."""
    for here, prefix, game in sorted({(*job.program(), job.game) for job in todo}):
        say(f"compiling ahead: {game}" + (f" in {here}" if here != str(HERE) else ""))
        start = [sys.executable, "-P", "-m", "alphazero_keras"] if prefix else [sys.executable, f"{here}/main.py"]
        done = subprocess.run([*start, "prepare", "--game", game], capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it ended without a word"]
            raise UserError(f"`{join([*start[1:], 'prepare', '--game', game])}` failed: {said[0][:300]}")


def _start(plan: Plan, job: Job, numbers: list[int]) -> subprocess.Popen[bytes]:
    folders = job.folders
    if folders:
        _wait_until_free(folders[-1])
    if not folders:
        part, which = 0, ["--new"]
    elif _finished(folders[-1]):
        part, which = len(folders), ["--new", *_continuing(folders[-1])]
    else:
        part, which = len(folders) - 1, ["--run", str(int(folders[-1].name[3:]))]
    here, prefix = job.program()
    make_private(job.root)
    words = [here, prefix, str(plan.cores if plan.minutes else 0), ",".join(map(str, numbers)), "train"]
    with open(job.root / "output.log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-P", str(CHILD), *words, *plan.arguments(job.variant, job.seed, part), *which],
            env=job.environment(),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            **processes.own_group(),
        )


def _continuing(folder: Path) -> list[str]:
    """Return the options of `train` for a run that begins with the network and the games of another."""
    store = Store(folder / "run.db", read_only=True)
    try:
        version, iteration = store.newest().version, store.iterations_done()
    finally:
        store.close()
    words = {"run-number": int(folder.name[3:]), "model-version": version, "memory-version": iteration}
    return [word for name, number in words.items() for word in (f"--initial-{name}", str(number))]


def _wait_until_free(folder: Path) -> None:
    """Wait for the process of a start that was killed, which ends by itself."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(UserError):
            return require_free(folder)
        time.sleep(0.1)
    require_free(folder)


def _require_finished(job: Job, process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode == 0 and job.folder is not None and _finished(job.folder):
        return
    log = job.root / "output.log"
    said = read_limited(log, LINES_BYTES).decode(errors="replace").strip().splitlines()
    last = next((line for line in reversed(said) if line.startswith("error:")), said[-1] if said else "")
    how = f"exit code {process.returncode}" if process.returncode else "it stopped before its end"
    raise UserError(
        f"{job.name}: {how}: {last.removeprefix('error: ')[:300]}; all of it is in {log}, and the same "
        "command resumes the experiment"
    )


def _end(left: list[subprocess.Popen[bytes]]) -> None:
    """End the runs at work at their next commit."""
    for process in left:
        processes.interrupt(process)
    end = time.monotonic() + PATIENCE
    for process in left:
        try:
            process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            processes.kill_group(process)
            process.wait()
