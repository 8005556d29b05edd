"""Makes the wheel: the program as one package, alphazero_keras, with its players and the files that its modules read.

Hatchling calls this for `pip install .`. Why and how imports are rewritten: system/import_names.py. Texts that name the
command `python main.py` name `alphazero` in the wheel.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from system.import_names import own_names, with_prefix  # noqa: E402

PACKAGE = "alphazero_keras"
LEFT_OUT = {"tests", "benchmarks", "docs", "distribution", "conftest", "conftest.py", "__pycache__"}
"""Folders and files that the program does not need, wherever they are."""
RUNS = ("run_archive", "early_versions")
"""Folders of runs that ship: players, and early versions to look at."""
MORE = (*RUNS, "requirements*.txt")
"""What is needed of the top folder apart from modules: runs, and the lists of packages."""


class Package(BuildHookInterface[Any]):
    """Puts the package into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError(
                "expected `pip install .`: installed in place, config.py, game.py and others would be in the way of "
                "every program of this Python; in a checkout `python main.py` runs without being installed"
            )
        self._folder = tempfile.mkdtemp()
        write_package(ROOT, Path(self._folder))
        build_data["force_include"][self._folder] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder)


def write_package(root: Path, target: Path) -> None:
    """Write a checkout's program as a package into a folder."""
    names = own_names(root) - LEFT_OUT
    for path in files(root, names):
        place = path.relative_to(root)
        if place.parts[0] == PACKAGE:
            place = place.relative_to(PACKAGE)
        content = path.read_bytes()
        if path.suffix == ".py":
            content = with_prefix(content, names, f"{PACKAGE}.", str(path))
        if path.suffix in (".py", ".txt", ".json") and place.parts[0] not in RUNS:
            content = content.replace(b"python main.py", b"alphazero")
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_bytes(content)


def files(root: Path, names: set[str]) -> list[Path]:
    """Return the program's files: modules at the top, all of the folders of modules, and MORE.

    In a git checkout only what git knows is meant: a game of your own may lie beside it.
    """
    found = [root / f"{name}.py" for name in names]
    for folder in (*names, PACKAGE):
        found += (root / folder).rglob("*")
    for pattern in MORE:
        for path in root.glob(pattern):
            found += path.rglob("*") if path.is_dir() else [path]
    found = [path for path in found if path.is_file() and not LEFT_OUT.intersection(path.relative_to(root).parts)]
    if (root / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False)
        known = {root / name for name in listed.stdout.decode().split("\0")}
        found = [path for path in found if path in known] if listed.returncode == 0 else found
    return sorted(found)
