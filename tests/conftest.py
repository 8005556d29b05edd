"""Fixtures: one tiny run, trained once and copied for each test that changes it."""

import shutil

import pytest

from tiny import QUIET, tiny


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Return the folder of a finished run of four iterations; nobody may change it."""
    from initialise import Session
    from main import train

    root = tmp_path_factory.mktemp("trained")
    with Session.start(tiny(), root=root, console=QUIET) as session:
        train(session)
        return session.folder


@pytest.fixture(scope="session")
def begun(tmp_path_factory):
    """Return the folder of the same run after its first iteration; nobody may change it."""
    from initialise import Session
    from main import train

    with Session.start(tiny(), root=tmp_path_factory.mktemp("begun"), console=QUIET) as session:
        train(session, iterations=1)
        return session.folder


@pytest.fixture
def root(trained, tmp_path):
    """Return a folder of runs with a copy of the trained run as run0001."""
    shutil.copytree(trained.parent.parent, tmp_path / "runs")
    return tmp_path / "runs"
