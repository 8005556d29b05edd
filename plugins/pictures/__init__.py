"""Boards and search trees as SVG, for the page and notebooks."""

from __future__ import annotations

from pathlib import Path


def drawing_asset(name: str) -> str:
    """Return the text of "board.css" or "board.js", which a page needs whose boards people click on."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
