"""What games are called on screen: `connect4` is "Connect 4"."""

from __future__ import annotations

import re

from languages.translate import tr

TITLES = {
    "connect4": "Connect 4", "go": "Go", "gomoku": "Gomoku", "hex": "Hex", "littlego": "Little-Go",
    "metasquares": "MetaSquares", "othello": "Othello", "tictactoe": "Tic-tac-toe",
}  # fmt: skip
SIZES = {"go": 5, "gomoku": 9, "hex": 11, "metasquares": 11, "othello": 8}
"""Sizes of the games whose spec names one, where it names none."""
TEXTS = ("Connect 4", "Go", "Gomoku", "Hex", "Little-Go", "MetaSquares", "Othello", "Tic-tac-toe")


def title_of(spec: str) -> str:
    """Return the displayed name of a game; games without a title are called by their spec.

    >>> title_of("gomoku(rule=renju,size=15)"), title_of("connect4(rows=5)"), title_of("go(size=7..9)")
    ('Gomoku 15x15 (rule=renju)', 'Connect 4 (rows=5)', 'Go 7x7..9x9')
    >>> title_of("go")
    'Go 5x5'
    """
    name, _, inside = spec.partition("(")
    if name not in TITLES:
        return spec
    given = dict(part.split("=", 1) for part in inside.rstrip(")").split(",") if "=" in part)
    sizes = [f"{size}x{size}" for size in given.pop("size", str(SIZES.get(name, ""))).split("..") if size]
    others = ", ".join(f"{key}={value}" for key, value in given.items())
    return " ".join(filter(None, (tr(TITLES[name]), "..".join(sizes), others and f"({others})")))


def titled(specs: list[str]) -> dict[str, str]:
    """Return {spec: displayed name}: the boards of a game next to each other, the smallest first; games in their order.

    >>> list(titled(["hex(size=9)", "go", "hex"]).values())
    ['Hex 9x9', 'Hex 11x11', 'Go 5x5']
    """
    order = [spec.partition("(")[0] for spec in specs]
    titles = {spec: title_of(spec) for spec in specs}

    def place(spec: str) -> tuple[int, int, str]:
        size = re.search(r"\d+(?=x\d)", titles[spec])
        return order.index(spec.partition("(")[0]), int(size[0]) if size else 0, titles[spec]

    return {spec: titles[spec] for spec in sorted(titles, key=place)}
