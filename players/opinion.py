"""The value that a player gave with its move, if it gives any."""

from __future__ import annotations

from agent import Player
from players.book import BookPlayer


def opinion_of(player: Player, value: float) -> float | None:
    """Return the value that a player gave with its move; None if it gives none, where 0.0 fills the place.

    An opening book knows moves only; the player behind it may have values.
    """
    return None if not player.judges or (isinstance(player, BookPlayer) and value == 0.0) else value
