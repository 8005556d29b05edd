"""Processes, their signals and limits: what POSIX offers, and what stands in for it elsewhere (Windows)."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

ENDINGS = tuple(getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, n))
"""Signals that request the end of a process: Ctrl-C, `kill`, and Ctrl-Break, which Windows has."""
_KILL = getattr(signal, "SIGKILL", None)
ROUNDS = 10
"""Most times that what a killed process started is looked for: it may just be starting more."""
ASKS_ONLY_GROUPS = hasattr(signal, "CTRL_BREAK_EVENT")
"""Whether `interrupt` reaches only a process of its own group."""
KILLED = 1 if _KILL is None else -_KILL
"""Exit code of a process that was killed."""


def heeded() -> tuple[int, ...]:
    """Return the `ENDINGS` that end this process; the others its parent ignores, as a shell's `&` in a script does."""
    return tuple(number for number in ENDINGS if signal.getsignal(number) is not signal.SIG_IGN)


def user() -> int | None:
    """Return the number of the user whose rights this process has, None where users have no numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None


# ---- limits


def address_space_left() -> int | None:
    """Return the bytes of address space that `ulimit -v` leaves this process, None where there is no limit."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        used = 0
    return max(limit - used, 0)


def limits_files() -> bool:
    """Return whether the size of the files that a process writes can be limited."""
    try:
        import resource
    except ImportError:
        return False
    return hasattr(resource, "RLIMIT_FSIZE")


def limit_files(size: int) -> None:
    """Let this process write files of at most `size` bytes, where `limits_files`."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


# ---- processors

_counted_on: int | None = None


def processors() -> list[int]:
    """Return the numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))[:_counted_on]
    return list(range(os.cpu_count() or 1))[:_counted_on]


def count_on(number: int) -> None:
    """Let `processors` return at most `number` from now on: others use the rest. The system may still choose which."""
    global _counted_on
    _counted_on = number


def keep_to(numbers: list[int]) -> None:
    """Let this process use these processors only, where that can be chosen."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, numbers)


# ---- other processes


def exists(process: int) -> bool | None:
    """Return whether there is a process of this number, None where that is unknown. Nothing is sent to it."""
    if sys.platform == "win32":  # os.kill would end it
        import ctypes

        kernel, running = ctypes.windll.kernel32, ctypes.c_ulong()
        handle = kernel.OpenProcess(0x1000, False, process)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return bool(kernel.GetLastError() == 5)  # ERROR_ACCESS_DENIED: it is another user's
        known = kernel.GetExitCodeProcess(handle, ctypes.byref(running))
        kernel.CloseHandle(handle)
        return bool(known and running.value == 259)  # STILL_ACTIVE
    if _KILL is None:
        return None
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def command_of(process: int) -> bytes:
    """Return the command line of a process; raise `OSError` where it is unknown."""
    with open(f"/proc/{process}/cmdline", "rb") as file:
        return file.read(1 << 20)


def started(process: int) -> float:
    """Return the time when a process was started, by the system's clock; raise `OSError` if it is unknown."""
    with open(f"/proc/{process}/stat", "rb") as file:
        ticks = int(file.read(1 << 20).rpartition(b")")[2].split()[19])
    return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))


def age() -> float | None:
    """Return the seconds since this process began, the start of Python included; None if the system reports none."""
    try:
        return time.time() - started(os.getpid())
    except (OSError, AttributeError, ValueError, IndexError):
        return None


def own_group() -> dict[str, Any]:
    """Return the arguments of `Popen` for a process that Ctrl-C at this one's terminal does not reach."""
    return {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}  # a new process group


def marked() -> tuple[str, dict[str, str]]:
    """Return (mark, environment): a process started with it, and all that it starts, has the mark in its own."""
    mark = f"ALPHAZERO_STARTED_{uuid.uuid4().hex}"
    return mark, {**os.environ, mark: "1"}


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Request the end of a process of its own group, which may ignore Ctrl-C; on Windows by Ctrl-Break."""
    with suppress(ProcessLookupError):
        process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))


def kill_group(process: subprocess.Popen[bytes], mark: str = "") -> None:
    """Kill a process of its own group, and all that it started as far as the system knows it.

    mark: that of its environment (`marked`). What it started has the same, also where that left the group.
    """
    if hasattr(os, "killpg") and _KILL is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, _KILL)
        for _ in range(ROUNDS if mark else 0):
            if not (left := [number for number in _marked(mark) if number != os.getpid()]):
                break
            for number in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, _KILL)
        return
    if sys.platform == "win32" and process.poll() is None:
        import subprocess

        with suppress(OSError):
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    process.kill()


def _marked(mark: str) -> list[int]:
    """Return the numbers of the processes with a mark in their environment, where the system has /proc."""
    found, words = [], f"{mark}=1".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is another user's
            if words in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return found


def freeze(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Stop a process for some time; return whether the system can do that."""
    if not hasattr(signal, "SIGSTOP"):
        return False
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)
    return True


# ---- this process


def die() -> None:
    """End this process at once, like a loss of power."""
    if _KILL is not None:
        os.kill(os.getpid(), _KILL)
    os._exit(KILLED)


def interrupt_self() -> None:
    """Do what Ctrl-C does, from any thread."""
    if _KILL is not None:  # it also ends a wait of the main thread
        os.kill(os.getpid(), signal.SIGINT)
    else:  # os.kill would end the process
        import _thread

        _thread.interrupt_main()


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Start processes that never see Ctrl-C: it goes to all processes of a terminal, and the driver decides.

    Where signals cannot be held back, the new process calls `ignore_interrupts` as its first act.
    Python's own helper process is started first: the code that starts it lets interrupts through afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C and Ctrl-Break from now on, in a process that was started while they could not be held back."""
    if not hasattr(signal, "pthread_sigmask"):
        for number in ENDINGS:
            if number != signal.SIGTERM:
                signal.signal(number, signal.SIG_IGN)


def others_write(place: Path) -> bool:
    """Return whether a user other than this one and root can put files in a folder's place, or into it.

    False where users have no numbers: Python does not read the rights that such a system keeps.
    """
    import stat

    if user() is None:
        return False
    found = place.stat()
    everyone = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX
    return bool(everyone) or found.st_uid not in (0, user())


def owns(place: Path) -> bool:
    """Return whether a folder is this user's; True where users have no numbers."""
    return user() is None or place.stat().st_uid == user()
