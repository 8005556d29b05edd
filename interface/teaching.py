"""The teacher at the console: a bad move is taken back, with the reason."""

from __future__ import annotations

from collections.abc import Callable

from config import UserError
from evaluation.teacher import SIMS, Teacher, Thinker
from game import Game, GameState
from interface.puzzle_words import lesson
from languages.translate import tr
from players.by_name import make_player


def warner(game: Game) -> Callable[[GameState, int], str]:
    """Return a function of a position and a move: what is bad about it, "" if nothing is, or if it was said before."""
    teacher, said = Teacher(game, thinker_of(game)), set()

    def warn(state: GameState, action: int) -> str:
        found = None if (state.id, action) in said else teacher.lesson(state, action)
        if found is None:
            return ""
        said.add((state.id, action))
        return lesson(game, found) + "\n" + tr("Enter another move, or the same again to play it anyway.")

    return warn


def thinker_of(game: Game) -> Thinker:
    """Return the search whose opinion counts where nothing is known: the network that ships, or the best trained one,
    or rollouts."""
    for name in ("shipped", "best"):
        try:
            return make_player(name, game, sims=SIMS)  # type: ignore[return-value]
        except UserError:
            pass  # there is none
    return make_player("rollout:1000", game)  # type: ignore[return-value]
