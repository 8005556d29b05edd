"""What the solver has among a search's tables: settings, room for a line of play, the game's own searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiling.records import record
from config import SearchSettings
from game import Game
from games.endings import first_solved
from search.solving.endgame_solver import LineOfPlay, make_line, shared_solver
from search.solving.forced import no_forced_win

SETTINGS = np.dtype([(name, "i4") for name in ("prove", "ahead", "late", "late_root", "forced")])
"""prove: whether proofs are carried up a path; ahead: plies of look-ahead at a new position; late, late_root: the ply
from which on leaves and roots are solved; forced: which wins by force are searched (`SearchSettings.forced_wins`)."""


@record
class Solver(NamedTuple):
    """Settings and work space of the solver, for all trees of a search."""

    settings: np.ndarray
    """[1] SETTINGS"""
    line: LineOfPlay
    """Room for solving positions."""
    solve: Any
    """`endgame_solver.solve`"""
    forced: Any
    """`Game.forced`"""
    room: np.ndarray
    """[forced_room] int32: the work space of `forced`"""


def make_solver(game: Game, search: SearchSettings) -> Solver:
    """Return the solver of a game; what the settings or the game leave out is off."""
    looks = search.proofs and game.won_by_a_move
    settings = np.zeros(1, SETTINGS)
    settings["prove"] = search.proofs
    settings["ahead"] = search.look_ahead if looks else 0
    settings["late"], settings["late_root"] = first_solved(game, search.endgame if search.proofs else 0)
    settings["forced"] = search.forced_wins if looks and search.look_ahead > 1 else 0
    line = make_line(game, search.endgame)
    searches = settings["forced"][0] and game.forced  # a rule is compiled when its address is taken
    return Solver(
        settings=settings,
        line=line,
        solve=shared_solver(game.rules, line),
        forced=game.forced if searches else no_forced_win,
        room=np.zeros(game.forced_room, np.int32),
    )
