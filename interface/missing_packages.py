"""What requirements-play.txt does without: which package an error is about, and how to install it."""

from __future__ import annotations

PACKAGES = {"keras": "requirements.txt", "tensorflow": "requirements.txt", "matplotlib": "requirements.txt",
            "nicegui": "requirements-web.txt", "uvicorn": "requirements-web.txt"}  # fmt: skip
"""{package: the file to install it with}"""


def lacking(error: BaseException | None) -> str:
    """Return the package out of PACKAGES for whose absence an error was raised, else ""."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__
    name = (error.name or "").split(".")[0] if error is not None else ""
    return name if name in PACKAGES else ""
