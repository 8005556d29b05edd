"""Makes the requirements*.txt of a checkout, which runs without being installed, from the lists in pyproject.toml.

    python distribution/requirements.py
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLAY = "numpy", "numba", "portalocker", "openvino"
"""The part of the dependencies that play needs: no TensorFlow, no Keras, no drawing of curves."""
PAGE = "starlette", "uvicorn"
"""The part of the extra for the page that its server needs."""
BACK_ENDS = "tensorflow", "jax", "torch"
MADE = "Made from pyproject.toml by `python distribution/requirements.py`."


def requirements(project: dict) -> dict[str, str]:
    """Return {file name: its text} for the project table of pyproject.toml."""
    extras = {name: expanded(lines, project) for name, lines in project["optional-dependencies"].items()}
    page = [line for line in extras["web"] if package(line) in PAGE]
    whole = [*project["dependencies"], *extras["notebook"]]
    rest = [line for line in whole if package(line) not in BACK_ENDS]
    texts = {
        "requirements.txt": ("The product. OpenVINO is optional: without it compiled Keras answers.", whole),
        "requirements-play.txt": ("What play needs, a part of requirements.txt (`./play.sh`).",
                                  [line for line in whole if package(line) in PLAY]),
        "requirements-jax.txt": ("The product with JAX instead of TensorFlow: it needs no other setting, or "
                                 "KERAS_BACKEND=jax where both are installed.", [*extras["jax"], *rest]),
        "requirements-torch.txt": ("The product with Torch instead of TensorFlow. KERAS_BACKEND=torch is needed only "
                                   "where both are installed.", [*extras["torch"], *rest]),
        "requirements-web.txt": ("The product with its browser page (`python main.py serve`) and, in a notebook, the "
                                 "board to click on.", ["-r requirements.txt", *extras["web"]]),
        "requirements-page.txt": ("What the page needs to play (`./play.sh --page`).",
                                  ["-r requirements-play.txt", *page]),
        "requirements-cluster.txt": ("What a machine of a cluster needs (docs/cluster.md); its head has "
                                     "requirements.txt as well.", ["-r requirements-play.txt", *extras["cluster"]]),
        "requirements-dev.txt": ("The product and its tests, oracles included.",
                                 ["-r requirements.txt", *(line for line in extras["dev"] if line not in whole)]),
    }
    found = {name: "\n".join((f"# {what}", f"# {MADE}", *lines, "")) for name, (what, lines) in texts.items()}
    return {name: text.replace("'", '"') for name, text in found.items()}


def expanded(lines: list[str], project: dict) -> list[str]:
    """Return the packages of an extra; another extra of this project is replaced by its packages."""
    found = []
    for line in lines:
        own = re.fullmatch(rf"{project['name']}\[([a-z,]+)\]", line)
        names = own[1].split(",") if own else []
        found += [package for name in names for package in project["optional-dependencies"][name]] if own else [line]
    return found


def package(line: str) -> str:
    return re.match("[a-z_-]+", line)[0]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, text in requirements(project).items():
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
