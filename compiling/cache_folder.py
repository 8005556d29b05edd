"""The folder that keeps machine code, which changes when any compiled source does.

numba keeps machine code next to its source file and checks only that file for changes, so a change in an inlined
function would leave old code in use in its callers. Here the folder is named after a hash of all such sources. A
game's own file is left out unless another file imports it: nothing else inlines its functions, so a change in it
recompiles only that game (made_from.py).

The kept files hold machine code in pickles, and whoever writes them decides what runs here. So the folder is the
user's alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from config import UserError
from system import processes

ROOT = Path(__file__).parents[1]
"""The folder of the program: a checkout, or the package that is installed."""
MARKS = (b"@compiled", b"@inlined", b"@rule", b"@record", b"typeof_impl")
"""What the source of compiled code contains."""


def make_folder(root: Path, wanted: str) -> Path:
    """Return the folder for the machine code of the current sources; remove this checkout's older folders.

    It lies in the folder `wanted` if one is named, else in the checkout, else in the user's cache folder. Raises
    `UserError` when none of these can be written, or when another user could write there as well.
    """
    place = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:8]
    name = f"numba-{place}-{processes.user()}-{_digest(root)[:16]}"
    own = root / "__pycache__"
    reasons = []
    for base in [Path(wanted).absolute()] if wanted else [own, _users_cache()]:
        fault = _make_private(base / name, above=base != own)
        if fault is None:
            _remove_older(base, name, f"numba-{place}-{processes.user()}-*")
            return base / name
        reasons.append(fault)
    where = "NUMBA_CACHE_DIR" if wanted else "compiled code cannot be kept"
    raise UserError(f"{where}: {'; '.join(reasons)}; NUMBA_CACHE_DIR=FOLDER names a place for compiled code")


def _digest(root: Path) -> str:
    """Return a hash of the sources that compiled code is made from."""
    texts = {path: path.read_bytes() for path in _sources(root)}
    digest = hashlib.sha256()
    for path, text in texts.items():
        is_game = path.parent == root / "games"
        taken_in = not is_game or any(f"games.{path.stem} import".encode() in other for other in texts.values())
        if taken_in and any(mark in text for mark in MARKS):
            digest.update(text)
    return digest.hexdigest()


def _sources(root: Path) -> list[Path]:
    """Return the program's files: those of the root and of its packages, also of packages one folder further down.

    Tests are left out, and folders that are no packages: a checkout may hold an environment of Python.
    """
    packages = {path.parent for path in (*root.glob("*/__init__.py"), *root.glob("*/*/__init__.py"))}
    found = {*root.glob("*.py")}
    for package in packages:
        found.update(package.rglob("*.py"))
    return sorted(path for path in found if "tests" not in path.relative_to(root).parts)


def _users_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named if os.path.isabs(named) else os.path.expanduser("~/.cache")) / "alphazero-keras"


def _remove_older(base: Path, name: str, pattern: str) -> None:
    """Remove this user's folders of a pattern but the one of that name."""
    for old in base.glob(pattern):
        if old.name != name and processes.owns(old):
            shutil.rmtree(old, ignore_errors=True)


def _make_private(folder: Path, *, above: bool) -> str | None:
    """Make a folder that only its owner can write; return why there is none, or None. `above`: check its parents too.

    The parents of a folder in the checkout are not checked: who can write there can change the program itself.
    """
    try:
        for parent in reversed(folder.parents):
            if above and not parent.exists():
                parent.mkdir(0o700, exist_ok=True)
        if not above:
            folder.parent.mkdir(exist_ok=True)
        open_to = next((p for p in (folder.resolve().parents if above else ()) if processes.others_write(p)), None)
        if open_to is not None:
            return f"{open_to} can be written by other users, who could put code there (chmod go-w)"
        if folder.is_dir() and not folder.is_symlink() and processes.others_write(folder) and processes.owns(folder):
            shutil.rmtree(folder, ignore_errors=True)  # what is in it could be anybody's
        folder.mkdir(0o700, exist_ok=True)
        if folder.is_symlink() or not processes.owns(folder) or processes.others_write(folder):
            return f"{folder} is not this user's alone"
        if not os.access(folder, os.W_OK):
            return f"{folder} cannot be written"
    except OSError as error:
        return f"{folder.parent} cannot be written ({error.strerror})"
    return None


FOLDER = make_folder(ROOT, os.environ.get("NUMBA_CACHE_DIR", ""))
"""The folder that keeps this program's machine code."""
