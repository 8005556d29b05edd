"""The output of a run: log files, metrics.jsonl, and a live console. Nothing is opened at import."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, NamedTuple

from storage.atomic_files import DamagedData, Unwritable, private, replacing, unwritable
from storage.run_files import RunFiles
from storage.run_folders import RUN, SHIPPED
from system.reading import LINES_BYTES, read_limited
from system.terminal import LiveLine, harmless, has_colours, redraws, width_of

MEGABYTE = 1 << 20
METRICS = "metrics.jsonl"
COUNTED = "version", "best_version", "self_play_games", "total_seconds"
"""What is computed with wherever the lines are read; other figures are looked at only where they are numbers."""
HEADING_EVERY = 20
"""Lines of a table under one heading."""


class Loggers(NamedTuple):
    """The logs of a run, each a file in its logs/ folder."""

    main: logging.Logger
    memory: logging.Logger
    tourney: logging.Logger
    model: logging.Logger
    mcts: logging.Logger | None
    """Every simulation of tournaments, only with --log-mcts; the newest 16 MB."""


def open_loggers(files: RunFiles, *, mcts: bool = False) -> Loggers:
    """Open logger_main, logger_memory, logger_tourney, logger_model, and on demand logger_mcts, in a run's logs/."""
    files.make_folder("logs")
    names = ("main", "memory", "tourney", "model", *(("mcts",) if mcts else ()))
    opened = {name: open_log(files.folder / "logs" / f"logger_{name}.log", files=files) for name in names}
    return Loggers(**{"mcts": None, **opened})  # type: ignore[arg-type]


class _Handler(RotatingFileHandler):
    """A log file for the owner only. A line that cannot be written is dropped: the work does not depend on it."""

    def __init__(self, path: Path, files: RunFiles | None = None, **options: Any) -> None:
        """Log to a file; `files`: of the run, if the file is in its logs/."""
        super().__init__(path, encoding="utf-8", delay=True, **options)
        self._files, self._name = files, f"logs/{path.name}"

    def _open(self) -> Any:
        if self._files is None:
            return open(self.baseFilename, self.mode, encoding=self.encoding, opener=private)
        found = self._files.open(self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return open(found, self.mode, encoding=self.encoding)

    def doRollover(self) -> None:  # noqa: N802
        if self._files is None:
            return super().doRollover()
        if self.stream:
            self.stream.close()
        self._files.replace(self._name, f"{self._name}.1")
        self.stream = self._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        pass


class _Trace(_Handler):
    """A log that is the work itself: a line that cannot be written ends it. `named`: the file as errors call it."""

    named: Path

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        if not isinstance(error, Unwritable):  # the rotating handler calls this again for the error raised here
            error = unwritable(self.named, 0, getattr(error, "strerror", None) or str(error))
        raise error from None


@contextmanager
def trace(path: Path) -> Iterator[logging.Logger]:
    """Yield a logger that writes every line to a file; one that is there already is replaced at the end."""
    with replacing(path) if path.is_file() else nullcontext(path) as place:
        handler = _Trace(place, mode="w")
        handler.named = path
        logger = _opened(path, handler)
        try:
            yield logger
        except BaseException:
            with suppress(OSError):  # of the line that could not be written, which was raised already
                close_log(logger)
            raise
        close_log(logger)


def open_log(path: Path, *, megabytes: int = 8, files: RunFiles | None = None) -> logging.Logger:
    """Return a logger that writes to one file and keeps at most `megabytes` there and in one old copy.

    files: of the run, if the file is in its logs/.
    """
    return _opened(path, _Handler(path, files, maxBytes=megabytes * MEGABYTE, backupCount=1))


class _Harmless(logging.Formatter):
    """Lines that a terminal may show: a worker's words are in them."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


def _opened(path: Path, handler: _Handler) -> logging.Logger:
    logger = logging.Logger(f"alphazero.{path.name}")  # a new one: another run's log may have had this path
    handler.setFormatter(_Harmless("%(asctime)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    return logger


def close_log(logger: logging.Logger | None) -> None:
    """Close a logger's files."""
    for handler in list(logger.handlers) if logger else ():
        handler.close()
        logger.removeHandler(handler)  # type: ignore[union-attr]


def close_loggers(loggers: Loggers) -> None:
    """Close the logs of a run."""
    for logger in loggers:
        close_log(logger)


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Drop what native libraries write to the error stream; Python's own errors are raised as usual."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def write_metrics(files: RunFiles, lines: list[dict[str, Any]], size: int = 0) -> int:
    """Make a run's metrics.jsonl hold exactly these lines after its first `size` bytes; return its new size."""
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path = files.folder / METRICS
    if size:
        files.append(METRICS, data)
    elif path.is_symlink() or _bytes(path) != data:
        files.write(METRICS, data)
    return size + len(data)


def _bytes(path: Path) -> bytes | None:
    """Return the bytes of a metrics.jsonl, None if it cannot be read."""
    try:
        return read_limited(path, LINES_BYTES)
    except OSError:
        return None


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a metrics.jsonl, none if there is no file; a last line without its end is ignored.

    Raises `DamagedData` at a line without an iteration, or in which one of `COUNTED` is no number.
    """
    if not path.exists():
        return []
    if path.is_dir():
        raise DamagedData(f"{path}: expected a file, got a folder; remove it{written_again(path, ', and ')}")
    text = (_bytes(path) or b"").decode(errors="replace")
    try:
        return [_metrics_line(line, number) for number, line in enumerate(text.split("\n")[:-1], 1) if line]
    except ValueError as error:
        raise DamagedData(f"{path}: {error}{written_again(path)}") from None


def _metrics_line(text: str, number: int) -> dict[str, Any]:
    """Return a line of a metrics.jsonl; raise `ValueError` that says what is wrong with it."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected lines of JSON, got another ({str(error)[:80]})") from None
    if not isinstance(line, dict) or type(line.get("iteration")) is not int:
        raise ValueError(f"line {number}: expected an object with an iteration, got another")
    for name in COUNTED:
        if type(line.get(name, 0)) not in (int, float) or not math.isfinite(line.get(name, 0)):
            raise ValueError(f"line {number}: expected a number of {name}, got another")
    return line


def written_again(path: Path, joint: str = "; ") -> str:
    """Return what writes a run's metrics.jsonl again, "" where nothing does: of a player that ships, without run.db."""
    number = RUN.match(path.parent.name)
    if not number or SHIPPED in path.parents or not (path.parent / "run.db").is_file():
        return ""
    return f"{joint}`python main.py train` with this --game and --run {int(number[1])} writes it again from run.db"


class Console:
    """Shows progress to a person: a bar if the output is a terminal, else a line now and then."""

    def __init__(self, *, quiet: bool = False, every: float = 15.0) -> None:
        self._quiet, self._every = quiet, every
        self._live = not quiet and redraws(sys.stdout)
        self._rows = 0
        self.paces: dict[str, float] = {}
        """Seconds per step of each phase when it was last done from its first step to its last."""

    def say(self, text: str) -> None:
        """Print a line."""
        if not self._quiet:
            print(text, flush=True)

    @property
    def width(self) -> int:
        """Characters of a line."""
        return max(width_of(sys.stdout) - 1, 1)

    def row(self, text: str, heading: str, legend: str) -> None:
        """Print a line of a table; from time to time the heading before it, at first also the legend."""
        if self._rows == 0:
            self.say(textwrap.fill(legend, self.width))
        if self._rows % HEADING_EVERY == 0:
            self.say(f"\x1b[1m{heading}\x1b[0m" if has_colours(sys.stdout) else heading)
        self._rows += 1
        self.say(text)

    def warn(self, text: str) -> None:
        """Print a line that must not be missed: to the error stream if the console is quiet."""
        text = harmless(text)
        if self._quiet:
            print(text, file=sys.stderr, flush=True)
        else:
            self.say(text)

    @contextmanager
    def phase(self, name: str, total: int, done: int = 0) -> Iterator[Phase]:
        """Show a phase of `total` steps, of which `done` were done before, while the block runs."""
        phase = Phase(self, name, total, done, live=self._live, every=self._every)
        try:
            yield phase
        finally:
            phase.close()


class Phase:
    """One progress bar: steps done, time left, and facts such as speeds."""

    def __init__(self, console: Console, name: str, total: int, first: int, *, live: bool, every: float) -> None:
        self._console, self._name, self._total, self._every = console, name, max(total, 1), every
        self._began = self._shown = time.monotonic()
        self._live, self._line = live, LiveLine()
        self._done = self._first = first
        self._pace = console.paces.get(name)
        if live:
            self._line.show(self._text(self._began, {}, console.width))

    def update(self, done: int, **facts: Any) -> None:
        """Show how many steps are done."""
        now = time.monotonic()
        self._done = done
        if now - self._shown < (0.1 if self._live else self._every):
            return
        self._shown = now
        if self._live:
            self._line.show(self._text(now, facts, self._console.width))
        else:
            self._console.say(self._text(now, facts))

    def close(self) -> None:
        """End the bar; a phase that reached its end leaves its pace for the next one of its name."""
        if self._done >= self._total and not self._first:
            self._console.paces[self._name] = (time.monotonic() - self._began) / self._total
        if self._live:
            self._line.show("")

    def _text(self, now: float, facts: dict[str, Any], width: int = 10**6) -> str:
        """Return the bar; facts for which `width` characters leave no room are left out, the last ones first."""
        share, spent = min(self._done / self._total, 1.0), now - self._began
        steps, todo = self._done - self._first, max(self._total - self._done, 0)
        left = spent / steps * todo if steps > 0 else None
        if self._pace is not None:  # games in flight are not done: at first the last phase's pace estimates better
            usual = self._pace * (self._total - self._first) - spent
            left = share * (left or 0.0) + (1 - share) * max(usual, 0.0)
        expected = f"  {clock(left)} left" if left is not None else ""
        bar = "#" * int(20 * share) + "." * (20 - int(20 * share))
        text = f"  {self._name:<11}[{bar}] {self._done}/{self._total}{expected}"
        for name, value in facts.items():
            fact = f"  {name.replace('_', ' ')} {_short(value)}"
            if len(text) + len(fact) > width:
                break
            text += fact
        return text[:width]


def clock(seconds: float) -> str:
    """Return a time span for people.

    >>> clock(3725)
    '1:02:05'
    """
    s = int(seconds + 0.5)
    return f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}" if s >= 3600 else f"{s // 60}:{s % 60:02}"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
