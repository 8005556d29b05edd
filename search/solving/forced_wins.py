"""Wins by force within a number of plies: the attacker has a good move at each turn, whatever the other side plays.

The search is the one of endgame_solver.py, with a limit of plies, and asks one question only. Where the rules tell
winning and safe moves, a side in danger has only the moves that avert it, so that threats are followed fast.
"""

from __future__ import annotations

import numpy as np

from compiled import call, compiled
from game import GIVEN_UP, NOT_TOLD, PLAYER, Game, GameState
from games.plain import PlainGame
from games.returned_values import check_rules, is_over
from search.solving.endgame_solver import COUNT, KILLER, POINTS, TRIED, look_at, make_line
from search.solving.forced import AT_ROOT, ForcedSearch
from search.tables import copy_row

NOT_WON, WON, OPEN = 0, 1, 3
"""What is known of the attacker's chance in a position; GIVEN_UP: not known within the limit of positions."""
NODES = 3_000_000
"""Default limit of positions for one question: a few seconds."""


@compiled
def first_look(line, rules, outcome, d, attacker, plies):
    """Return what is known of the position at depth d without playing on, else OPEN with its moves listed."""
    row, left = line.rows[d], plies - d
    mine = row[PLAYER] == attacker
    if is_over(rules, row, outcome, line.bounds):
        return WON if outcome[0] == (1.0 if mine else -1.0) else NOT_WON
    value = look_at(line, rules, outcome, d)
    if value == 1:
        return WON if mine and left >= 1 else NOT_WON
    if value == -1:  # no move averts the other's win
        return WON if not mine and left >= 2 else NOT_WON
    if value == POINTS or left <= 0 or (mine and left == 1 and rules.winning(row) != NOT_TOLD):
        return NOT_WON
    line.counts[d, TRIED] = 0
    return OPEN


@compiled
def force(line, rules, outcome, plies):
    """Return whether the player to move in line.rows[0] wins by force within `plies` plies: WON, NOT_WON or GIVEN_UP.

    GIVEN_UP when that takes more positions than line.left.
    """
    attacker = line.rows[0, PLAYER]
    for i in range(line.counts.shape[0]):
        line.counts[i, KILLER] = -1
    value = first_look(line, rules, outcome, np.int64(0), attacker, plies)
    d = 0 if value == OPEN else -1
    while d >= 0:
        now, mine = line.counts[d], line.rows[d, PLAYER] == attacker
        if value != OPEN and mine == (value == WON):  # the move tried last decides
            now[KILLER] = line.moves[d, now[TRIED] - 1]
            d -= 1
            continue
        if now[TRIED] == now[COUNT]:
            value = NOT_WON if mine else WON
            d -= 1
            continue
        if line.left[0] <= 0:
            return GIVEN_UP
        line.left[0] -= 1
        copy_row(line.rows, d + 1, line.rows[d])
        rules.play(line.rows[d + 1], line.moves[d, now[TRIED]])
        now[TRIED] += 1
        value = first_look(line, rules, outcome, d + 1, attacker, plies)
        if value == OPEN:
            d += 1
    return value


class ForcedWins:
    """Finds wins by force in one game. Only one thread may use it."""

    def __init__(self, game: Game, plies: int) -> None:
        """Make the work space; plies: the longest win that is asked for."""
        if game.rules is None or game.start_row is None:
            raise TypeError(f"{game.name} has no rules")
        self.game, self._rules = game, game.rules
        self._line, self._outcome = make_line(game, plies + 1), np.zeros(1, np.float32)
        if isinstance(game, PlainGame):
            game.searches.add(self)

    def used_rows(self) -> np.ndarray:
        """Return the rows of the positions on the line, [n, row_size]."""
        return self._line.rows

    def wins(self, state: GameState, plies: int, *, nodes: int = NODES) -> bool | None:
        """Return whether the player to move wins by force within `plies` plies; None: not known within `nodes`."""
        if isinstance(self.game, PlainGame):
            self.game.tidy()
        self._line.rows[0], self._line.left[0] = self.game.row_of(state), nodes
        value = call(force, self._line, self._rules, self._outcome, plies)
        check_rules(self.game, self._line.bounds)
        return None if value == GIVEN_UP else bool(value == WON)

    def loses(self, state: GameState, side: int, plies: int, *, nodes: int = NODES) -> bool | None:
        """Return whether `side` wins by force within `plies` plies of a position, whoever is to move there."""
        if state.isEndGame:
            return state.value * state.playerTurn * side >= 1.0
        if state.playerTurn == side:
            return self.wins(state, plies, nodes=nodes)
        unknown = False
        for action in state.allowedActions if plies > 0 else ():
            won = self.loses(state.takeAction(action)[0], side, plies - 1, nodes=nodes)
            if won is False:
                return False
            unknown |= won is None
        return None if unknown else plies > 0

    def length(self, state: GameState, most: int, *, nodes: int = NODES) -> int | None:
        """Return the plies of the fastest win by force of the player to move, None if there is none within `most`."""
        for plies in range(1, most + 1, 2):
            if (won := self.wins(state, plies, nodes=nodes)) is not False:
                return plies if won else None
        return None

    def moves(self, state: GameState, plies: int, *, nodes: int = NODES) -> list[int] | None:
        """Return the moves after which the player to move still wins within `plies` plies, the move included.

        None: not known of one of them within `nodes`.
        """
        found = []
        for action in state.allowedActions:
            won = self.loses(state.takeAction(action)[0], state.playerTurn, plies - 1, nodes=nodes)
            if won is None:
                return None
            found += [int(action)] * won
        return found


def win_length(game: Game, state: GameState, most: int = 9, *, nodes: int = 200_000) -> int | None:
    """Return the plies of a win by force of the player to move, the fastest found; None where none is found.

    Asks the game's own search too (`Game.forced`), whose wins may be longer than `most`.
    """
    if game.rules is None or not game.won_by_a_move or state.isEndGame:
        return None
    wins = ForcedWins(game, most)
    if wins.length(state, 1):
        return 1
    found = ForcedSearch(game)(state, AT_ROOT)
    return found.plies or wins.length(state, most, nodes=nodes)
