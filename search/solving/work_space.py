"""What the solver has among a search's tables: its settings, room for a line of play, the game's own searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiling.records import record
from config import SearchSettings
from game import Game
from games.endings import first_solved
from search.solving.endgame_solver import LineOfPlay, make_line, shared_solver
from search.solving.forced import no_forced_win


@record
class Solver(NamedTuple):
    """Settings and work space of the solver, for all trees of a search."""

    proofs: bool
    """Whether proofs are carried up a path."""
    look_ahead: int
    """Plies of look-ahead at a new position: 0, 1 or 2."""
    forced_wins: int
    """Which wins by force are searched (`SearchSettings.forced_wins`)."""
    leaf_ply: int
    root_ply: int
    """The plies from which on leaves and roots are solved."""
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
    leaf_ply, root_ply = first_solved(game, search.endgame if search.proofs else 0)
    forced_wins = search.forced_wins if looks and search.look_ahead > 1 else 0
    line = make_line(game, search.endgame)
    return Solver(
        proofs=search.proofs,
        look_ahead=search.look_ahead if looks else 0,
        forced_wins=forced_wins,
        leaf_ply=leaf_ply,
        root_ply=root_ply,
        line=line,
        solve=shared_solver(game.rules, line),
        forced=game.forced if forced_wins and game.forced else no_forced_win,  # a rule in use is compiled
        room=np.zeros(game.forced_room, np.int32),
    )
