"""Folders that this user cannot read, as another user's are; the tests may be run by one who can read all."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def lock(monkeypatch):
    """Return what takes a folder away: the system refuses it, and what is in it, to whoever asks."""
    taken = []

    def refused(path):
        place = Path(path) if isinstance(path, str | os.PathLike) else Path()
        return any(place == folder or folder in place.parents for folder in taken)

    def guarded(name, inside):
        real = getattr(os, name)

        def call(path=".", *rest, **options):
            if refused(path) and not (inside and Path(path) in taken):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *rest, **options)

        monkeypatch.setattr(os, name, call)

    for name, inside in (("stat", True), ("listdir", False), ("scandir", False), ("open", False)):
        guarded(name, inside)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **how: not refused(path) and access(path, mode, **how))
    return taken.append
