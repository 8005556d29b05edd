"""What is installed beside the program: every package with a lowest and a highest version."""

import re
import tomllib
from pathlib import Path

import pytest

from config import VERSION

FILES = sorted(Path(__file__).parent.parent.glob("requirements*.txt"))


def unbounded(text):
    """Return the lines that would let any later or any earlier release in."""
    lines = [line.split("#")[0].split(";")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("-r ") and not bounded(line)]


def bounded(line):
    return re.fullmatch(r"[A-Za-z0-9_-]+(\[[a-z]+\])?>=[0-9.]+,<[0-9.]+", line)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_package_is_bounded_on_both_sides(path):
    assert unbounded(path.read_text()) == []


@pytest.mark.parametrize(
    "name, package, wanted",
    [("requirements.txt", "keras", (3, 15, 1)), ("requirements-cluster.txt", r"ray\[default\]", (2, 60))],
    ids=["keras", "ray"],
)
def test_a_package_is_new_enough_to_be_without_the_known_holes(name, package, wanted):
    text = next(path for path in FILES if path.name == name).read_text()
    lowest = re.search(rf"^{package}>=([0-9.]+)", text, re.MULTILINE)[1]
    assert tuple(map(int, lowest.split("."))) >= wanted


@pytest.mark.parametrize("line", ["numpy", "numpy>=2", "numpy<3", "numpy==2.1", "ray[default]", "numpy>=2 # <3", "http://x/y.whl"])
def test_a_package_without_bounds_is_found(line):
    assert unbounded(f"# all\n-r other.txt\nkeras>=3,<4\n{line}\n") == [line.split("#")[0].strip()]


def packages(name):
    """Return the packages that a requirements file names itself."""
    text = (FILES[0].parent / name).read_text()
    lines = [line.split("#")[0].strip().replace('"', "'") for line in text.splitlines()]
    return sorted(line for line in lines if line and not line.startswith("-r "))


def test_pyproject_names_the_same_packages_and_the_version():
    project = tomllib.loads((FILES[0].parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert sorted(project["dependencies"]) == packages("requirements.txt")
    assert sorted(extras["web"]) == packages("requirements-web.txt")
    assert sorted(extras["cluster"]) == packages("requirements-cluster.txt")
    assert sorted(extras["dev"]) == packages("requirements-dev.txt")
    assert project["version"] == VERSION


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_the_other_back_ends_take_the_place_of_tensorflow(name):
    extra = tomllib.loads((FILES[0].parent / "pyproject.toml").read_text())["project"]["optional-dependencies"][name]
    rest = [line for line in packages("requirements.txt") if not line.startswith(("tensorflow", "jax"))]
    assert packages(f"requirements-{name}.txt") == sorted([*extra, *rest])


def test_what_play_needs_is_a_part_of_what_training_needs_with_the_same_bounds():
    play, whole = packages("requirements-play.txt"), packages("requirements.txt")
    assert set(play) <= set(whole)
    assert not [line for line in play if line.startswith(("tensorflow", "keras", "matplotlib", "notebook"))]
