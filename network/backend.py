"""Which library Keras computes with, chosen before Keras loads; which of them have trained a run."""

from __future__ import annotations

import os
from importlib.util import find_spec

from config import UserError
from storage.run_store import Store
from system.place import requirements

BACKENDS = ("tensorflow", "jax", "torch")


def chosen_backend() -> str:
    """Return the back end that KERAS_BACKEND names, or else the first of BACKENDS that is installed.

    Raises `UserError` when it names another one, or one that is not installed; `ModuleNotFoundError` without Keras.
    `keras.json` has no say.
    """
    if find_spec("keras") is None:
        raise ModuleNotFoundError("No module named 'keras'", name="keras")
    named = os.environ.get("KERAS_BACKEND", "")
    if named and named not in BACKENDS:
        raise UserError(f"KERAS_BACKEND: expected tensorflow, jax or torch, got {named[:50]!r}")
    found = [name for name in ((named,) if named else BACKENDS) if find_spec(name) is not None]
    if not found:
        what = f"KERAS_BACKEND: {named} is" if named else "tensorflow, jax and torch are"
        raise UserError(f"{what} not installed; `pip install -r {requirements(requirements_file(named))}`")
    return found[0]


def requirements_file(name: str) -> str:
    """Return the file of packages for a back end."""
    return f"requirements-{name}.txt" if name in BACKENDS[1:] else "requirements.txt"


def trained_by(store: Store) -> str:
    """Return the back ends that have trained a run, e.g. "tensorflow, jax from version 4"; "" if none has."""
    return str(store.get("backend") or ("tensorflow" if len(store.versions()) > 1 else ""))


def with_backend(history: str, name: str, version: int) -> str:
    """Return the history of a run whose next version is trained by a back end.

    >>> with_backend("tensorflow", "jax", 4), with_backend("", "torch", 1), with_backend("torch", "torch", 2)
    ('tensorflow, jax from version 4', 'torch', 'torch')
    """
    if not history:
        return name
    return history if last_of(history) == name else f"{history}, {name} from version {version}"


def last_of(history: str) -> str:
    """Return the back end that trained the newest version.

    >>> last_of("tensorflow, jax from version 4")
    'jax'
    """
    return history.split(", ")[-1].split(" ")[0]
