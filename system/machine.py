"""The machine as the system describes it. What a system does not report is None, "" or 0."""

from __future__ import annotations

import mmap
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

MEMORY = Path("/proc/meminfo")
GROUPS = Path("/sys/fs/cgroup")
LIMITS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
"""Linux's files of a container's limit and of the bytes it uses, and the name of those it can give up: version 2, 1."""
QUOTAS = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
"""Linux's files of the time of processors that a container may use in a period: both in one, or one for each."""
IDLE, WAITING = 3, 4
"""Places of the time without work in a line of /proc/stat."""
NO_LIMIT = 1 << 60
"""Version 1 writes a number near the largest one where there is no limit."""


def processor_flags() -> str:
    """Return the processor's flags as Linux lists them; "" on another system."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return ""


def processor_name() -> str:
    """Return the processor's name as the system gives it, "" if it gives none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = (line.partition(":")[2].strip() for line in file if line.startswith("model name"))
            return next(names, platform.processor())
    except OSError:
        return platform.processor()


def free_memory() -> int | None:
    """Return the bytes of memory that a new process can have, also in a container; None if nothing reports them."""
    found = []
    with suppress(OSError, StopIteration), open(MEMORY, encoding="ascii") as file:
        found.append(next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable")))
    for limit, used, cached in LIMITS:
        with suppress(OSError, ValueError):  # there is no such file, or it says "max"
            most, now = (int((GROUPS / name).read_text(encoding="ascii")) for name in (limit, used))
            facts = (GROUPS / limit).with_name("memory.stat").read_text(encoding="ascii").splitlines()
            spare = next((int(line.split()[1]) for line in facts if line.startswith(cached + " ")), 0)
            if most < NO_LIMIT:
                found.append(max(0, most - now + spare))
    return min(found, default=None)


def processor_quota() -> int | None:
    """Return how many processors a container may use at once, rounded up; None without such a limit."""
    found = []
    for names in QUOTAS:
        with suppress(OSError, ValueError):  # there is no such file, or it says "max"
            quota, period = (int(word) for name in names for word in (GROUPS / name).read_text("ascii").split())
            if quota > 0 < period:  # version 1 writes -1 where there is none
                found.append(-(-quota // period))
    return min(found, default=None)


def worked_seconds() -> float | None:
    """Return the seconds that the cores of this process have worked so far, for it and for others; None if unknown."""
    try:
        own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        with open("/proc/stat", encoding="ascii") as file:
            lines = [line.split() for line in file]
    except (AttributeError, OSError):
        return None
    cores = [[int(count) for count in words[1:9]] for words in lines if words[0] in own]
    return sum(sum(counts) - counts[IDLE] - counts[WAITING] for counts in cores) / os.sysconf("SC_CLK_TCK")


def nvidia_cards() -> int:
    """Return the number of NVIDIA cards that the system shows; 0 where it lists none."""
    return len(list(Path("/proc/driver/nvidia/gpus").glob("*"))) or len(list(Path("/dev").glob("nvidia[0-9]*")))


def gpu_driver() -> bool:
    """Return False where no driver of a GPU is found that libraries of networks use."""
    if sys.platform == "linux":
        return nvidia_cards() > 0 or Path("/dev/kfd").exists() or Path("/dev/dxg").exists()
    from ctypes.util import find_library  # slow to load

    return find_library("nvcuda" if sys.platform == "win32" else "cuda") is not None


def memory_used() -> int | None:
    """Return the bytes of memory that this process uses, None if the system does not report them."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except (OSError, IndexError, ValueError):
        return None
