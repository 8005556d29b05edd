"""Words of a review for people, at the console and on the page."""

from __future__ import annotations

from languages.translate import tr

TEXTS = (
    "won", "drawn", "lost", "1 inaccuracy", "1 mistake", "1 blunder", "{count} inaccuracies", "{count} mistakes",
    "{count} blunders",
)  # fmt: skip
ONE = {"inaccuracy": "1 inaccuracy", "mistake": "1 mistake", "blunder": "1 blunder"}
MANY = {"inaccuracy": "{count} inaccuracies", "mistake": "{count} mistakes", "blunder": "{count} blunders"}
EXACT = {1: "won", 0: "drawn", -1: "lost"}


def counted(counts: dict[str, int], lost_throughout: bool = False) -> str:
    """Return how many marks of each kind, in words; or that there was nothing to mark, since every move lost.

    >>> counted({"inaccuracy": 0, "mistake": 1, "blunder": 2})
    '1 mistake, 2 blunders'
    """
    if lost_throughout:
        return tr("no move could save the game")
    found = [tr(ONE[mark]) if n == 1 else tr(MANY[mark], count=n) for mark, n in counts.items() if n]
    return tr(", ").join(found) or tr("no mistakes")


def percent(share: float) -> str:
    """Return a percentage without decimals; 0 and 100 only where it is exactly that.

    >>> percent(99.6), percent(100.0), percent(0.2)
    ('99', '100', '1')
    """
    return f"{share:.0f}" if share in (0.0, 100.0) else f"{min(max(share, 1.0), 99.0):.0f}"


def exactly(value: float) -> str:
    """Return an exact value in a word."""
    return tr(EXACT[round(value)])


def source(exact: int, count: int, player: str, sims: int) -> str:
    """Return where the values of `count` moves come from, of which a solver or a proof knew `exact`."""
    if exact == count:
        return tr("All values are exact.")
    return tr("{exact} of {count} moves are judged exactly, the others by {player}, {sims} simulations.",
              exact=exact, count=count, player=player, sims=sims)  # fmt: skip
