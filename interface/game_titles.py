"""What games are called on screen: `connect4` is "Connect 4"."""

from __future__ import annotations

from languages.translate import tr

TITLES = {
    "connect4": "Connect 4", "go": "Go", "gomoku": "Gomoku", "hex": "Hex", "littlego": "Little-Go",
    "metasquares": "MetaSquares", "othello": "Othello", "tictactoe": "Tic-tac-toe",
}  # fmt: skip
TEXTS = ("Connect 4", "Go", "Gomoku", "Hex", "Little-Go", "MetaSquares", "Othello", "Tic-tac-toe")


def title_of(spec: str) -> str:
    """Return the displayed name of a game; games without a title are called by their spec.

    >>> title_of("gomoku(rule=renju,size=15)")
    'Gomoku (rule=renju, size=15)'
    """
    name, _, inside = spec.partition("(")
    if name not in TITLES:
        return spec
    return tr(TITLES[name]) + (f" ({inside.rstrip(')').replace(',', ', ')})" if inside else "")


def titled(specs: list[str]) -> dict[str, str]:
    """Return {spec: displayed name}, in their order."""
    return {spec: title_of(spec) for spec in specs}
