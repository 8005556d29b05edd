"""What this program is on this machine: a digest of its sources, its commit, and the packages that it computes with."""

from __future__ import annotations

import hashlib
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from system.place import HERE, PREFIX


def sources_digest(here: Path = HERE) -> str:
    """Return a sha256 of the program's Python files, those of tests and benchmarks excepted."""
    rooms = [path.parent for path in here.glob("*/__init__.py")]
    found = [path for place in (here.glob("*.py"), *(room.rglob("*.py") for room in rooms)) for path in place]
    found = [path for path in found if "tests" not in path.relative_to(here).parts and path.name != "conftest.py"]
    digest = hashlib.sha256()
    for path in sorted(found, key=lambda path: path.relative_to(here).as_posix()):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(here).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def commit(here: Path = HERE) -> str:
    """Return the commit that is checked out, for people; "" where git does not say, or the program is installed."""
    if PREFIX:
        return ""  # git would tell of the project around it
    try:
        answer = subprocess.run(
            ["git", "-C", str(here), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, encoding="utf-8",
            timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()


def packages(*names: str) -> dict[str, str]:
    """Return {name: version} of packages, "" for one that is not installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found
