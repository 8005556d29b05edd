"""Which package an error is about that is not installed, and how to install it."""

from __future__ import annotations

NEEDED = dict.fromkeys(("numpy", "numba", "llvmlite", "portalocker"), "requirements.txt")
"""{package that no command does without: the file to install it with}"""
PACKAGES = {
    "keras": "requirements.txt",
    "tensorflow": "requirements.txt",
    "matplotlib": "requirements.txt",
    "starlette": "requirements-web.txt",
    "uvicorn": "requirements-web.txt",
}
"""The same of packages that requirements-play.txt does without."""


def lacking(error: BaseException | None, among: dict[str, str] = PACKAGES) -> str:
    """Return the package for whose absence an error was raised, out of some, else ""."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__
    name = (error.name or "").split(".")[0] if error is not None else ""
    return name if name in among else ""
