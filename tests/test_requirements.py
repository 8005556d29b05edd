"""What is installed beside the program: every package with a lowest and a highest version, listed once."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from config import VERSION

HERE = Path(__file__).parent.parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
MADE = runpy.run_path(str(HERE / "distribution" / "requirements.py"))["requirements"](PROJECT)


def unbounded(lines):
    """Return the lines that would let any later or any earlier release in."""
    lines = [line.split(";")[0].strip() for line in lines]
    return [line for line in lines if not line.startswith(f"{PROJECT['name']}[") and not bounded(line)]


def bounded(line):
    return re.fullmatch(r"[A-Za-z0-9_-]+(\[[a-z]+\])?>=[0-9.]+,<[0-9.]+", line)


@pytest.mark.parametrize("name", ["dependencies", *EXTRAS])
def test_every_package_is_bounded_on_both_sides(name):
    assert unbounded(EXTRAS.get(name) or PROJECT[name]) == []


@pytest.mark.parametrize("line", ["numpy", "numpy>=2", "numpy<3", "numpy==2.1", "ray[default]", "http://x/y.whl"])
def test_a_package_without_bounds_is_found(line):
    assert unbounded(["keras>=3,<4", line]) == [line]


@pytest.mark.parametrize(
    "lines, package, wanted",
    [(PROJECT["dependencies"], "keras", (3, 15, 1)), (EXTRAS["cluster"], r"ray\[default\]", (2, 60))],
    ids=["keras", "ray"],
)
def test_a_package_is_new_enough_to_be_without_the_known_holes(lines, package, wanted):
    lowest = re.search(rf"^{package}>=([0-9.]+)", "\n".join(lines), re.MULTILINE)[1]
    assert tuple(map(int, lowest.split("."))) >= wanted


def test_the_requirements_files_are_made_from_pyproject():
    found = {path.name: path.read_text() for path in HERE.glob("requirements*.txt")}
    assert found == MADE, "`python distribution/requirements.py` makes them"


def packages(name):
    """Return the packages that a requirements file names itself."""
    lines = [line.replace('"', "'") for line in MADE[name].splitlines()]
    return sorted(line for line in lines if not line.startswith(("#", "-r ")))


def test_each_file_has_what_it_is_for():
    whole = [*PROJECT["dependencies"], *EXTRAS["notebook"]]
    assert packages("requirements.txt") == sorted(whole)
    rest = [line for line in whole if not line.startswith(("tensorflow", "jax"))]
    for name in ("jax", "torch"):
        assert packages(f"requirements-{name}.txt") == sorted([*EXTRAS[name], *rest])
    for name in ("web", "cluster"):
        assert packages(f"requirements-{name}.txt") == sorted(EXTRAS[name])
    play = packages("requirements-play.txt")
    assert len(play) == 4 and set(play) < set(whole)
    assert not [line for line in play if line.startswith(("tensorflow", "keras", "matplotlib", "notebook"))]
    extras = "web", "jax", "cluster", "onnx", "browser", "tensorboard", "site", "sweep"
    needed = {line for name in extras for line in EXTRAS[name]}
    needed |= {line for line in EXTRAS["dev"] if bounded(line.split(";")[0].strip())}
    assert packages("requirements-dev.txt") == sorted(needed)


def test_the_version_is_the_programs():
    assert PROJECT["version"] == VERSION
