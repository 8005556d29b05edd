"""Finds puzzles: games of weak against strong players, and in each a position with exactly one right move.

What is right is known by a solver (BitBully, or alpha-beta to the end), or by a search for wins by force where the end
is too far away. The puzzles of a game depend on the seed alone.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from agent import Agent, Player
from config import UserError
from evaluation.openings import identity
from evaluation.puzzles import (
    DRAW,
    DRAWS,
    FAST,
    HOLDS,
    LOSES,
    ONLY,
    SLOW,
    WIN,
    Puzzle,
    Refutation,
    graded,
    shipped_puzzles,
)
from game import PLY, Game, GameState
from games.line_of_moves import after_moves
from players.by_name import make_player
from players.solver import AlphaBetaScores, BitbullyScores, NodeLimit, known_to_bitbully
from search.solving.forced_wins import ForcedWins

LONGEST = 7
"""Plies of the longest win by force that is looked for."""
LIMIT = NodeLimit(20_000, 3_000)
"""Positions of alpha-beta for one position."""
NODES = 150_000
"""Positions of the search for a win by force, for one question."""
SHOWN = 5
"""Plies of a line that shows why a move is wrong."""
LEAST = 3
"""Fewest legal moves of a puzzle."""
MORE = 1_000_003
"""Seed of the puzzles that are made after those that ship."""
GIVE_UP = 200
"""After this many games without a puzzle there are no more."""
FAR = 13
"""Where a solver sees to the end of the game: plies of the longest win, or loss, that a puzzle is about."""
EARLIEST = 6
"""Moves before the earliest puzzle there."""
AHEAD = 100
"""Most puzzles that are made for one: each takes seconds, and all before it come first."""
STONES = 21
"""Stones of a player on a full board of Connect 4."""
PANEL = ("greedy", "rollout:16", "rollout:64", "rollout:256")
"""Weak players; each tries a puzzle TRIES times."""
TRIES = 3
SIMS = 50
"""Simulations of a network among them."""
SEATS = ("greedy", "rollout:50", "rollout:1000")
"""Players of the games that puzzles are taken from."""
BLUNDERS = 0.1
"""Share of random moves in these games."""


class Solver(Protocol):
    """What knows the exact values of moves."""

    def scores(self, state: GameState) -> dict[int, float] | None:
        """Return {action: score for the player to move}, whose sign is its value; None where that is not known."""
        ...


Stop = Callable[[], bool]
"""Called repeatedly; True ends the work early."""


def never() -> bool:
    """Return False: nothing ends the work."""
    return False


class Maker:
    """Makes puzzles of one game. Only one thread may use it."""

    def __init__(
        self,
        game: Game,
        *,
        seats: Sequence[str] = SEATS,
        panel: Sequence[str] = PANEL,
        solver: Solver | None = None,
    ) -> None:
        """Make a maker; seats: players of the games, panel: those that try the puzzles.

        solver: another one than ours; among moves of the same value the one with the larger score is shown.

        Raises `UserError` if the game has no solver here: Connect 4 needs BitBully.
        """
        if game.rules is None:
            raise UserError(f"expected a game with rules that can be searched, got {game.spec}")
        self.game = game
        self.forced = ForcedWins(game, LONGEST)
        self._counted = known_to_bitbully(game) and solver is None
        """Whether the solver's scores say how many plies away the end is."""
        self._distant = self._counted or solver is not None
        """Whether the solver answers at any distance from the end."""
        if self._counted:
            solver = BitbullyScores("puzzles of connect4 need the solver bitbully")
        self._exact: Solver = solver or AlphaBetaScores(game, LIMIT, table=1 << 18)
        self._seats = [make_player(name, game, sims=SIMS) for name in seats]
        self._panel = [make_player(name, game, sims=SIMS) for name in panel]
        self._known: dict[object, dict[int, float] | None] = {}

    # ---- where puzzles come from

    def puzzles(self, seed: int, *, stop: Stop = never) -> Iterator[Puzzle | None]:
        """Yield puzzles, without end unless the game has no more: no two alike, turned or mirrored.

        Yields None when `stop()` is true; the next one is then what it would have been.
        """
        seen: set[bytes] = set()
        number = in_vain = 0
        while in_vain <= GIVE_UP:
            rng = np.random.default_rng([seed, number])
            puzzle = self._of_game(self._play(rng), rng, seen, stop)
            if puzzle is None and stop():
                yield None
                continue
            number, in_vain = number + 1, 0 if puzzle else in_vain + 1
            if puzzle:
                yield self.grade(puzzle, seed)

    def _play(self, rng: np.random.Generator) -> list[int]:
        """Return the moves of a game between two players of different strength, with a random opening."""
        pair = [self._seats[i] for i in rng.choice(len(self._seats), 2, replace=False)]
        state, opening = self.game.start(), int(rng.integers(0, 5))
        moves: list[int] = []
        for player in pair:
            _begin(player, int(rng.integers(2**31)))
        while not state.isEndGame:
            if len(moves) < opening or rng.random() < BLUNDERS:
                action = int(rng.choice(state.allowedActions))
            else:
                action = int(pair[state.playerTurn == 1].act(state, 0.0)[0])
            moves.append(action)
            state = state.takeAction(action)[0]
        return moves

    def _of_game(self, moves: list[int], rng: np.random.Generator, seen: set[bytes], stop: Stop
                 ) -> Puzzle | None:  # fmt: skip
        """Return a puzzle out of a game, whose position is in none of `seen`."""
        self._known.clear()
        for ply in rng.permutation(self._plies(moves)).tolist():
            if stop():
                return None
            state = after_moves(self.game, moves[:ply])
            if len(state.allowedActions) < LEAST or (key := identity(self.game, state)) in seen:
                continue
            if puzzle := self.make(tuple(moves[:ply]), state):
                seen.add(key)
                return puzzle
        return None

    def _plies(self, moves: list[int]) -> range:
        """Return the plies of a game whose positions are worth a look."""
        if self._distant or self.game.won_by_a_move:
            last = len(moves) if self._distant else max(self.game.action_size * 2 // 3, 10)  # later boards are full
            return range(EARLIEST if self._distant else 0, min(last, len(moves)))
        first = len(moves)
        while first > 0 and self.scores(after_moves(self.game, moves[: first - 1])) is not None:
            first -= 1
        return range(first, len(moves))

    # ---- a puzzle

    def scores(self, state: GameState) -> dict[int, float] | None:
        """Return {action: exact score for the player to move}; None where the end is too far away."""
        if state.id not in self._known:
            self._known[state.id] = None if state.isEndGame else self._exact.scores(state)
        return self._known[state.id]

    def make(self, moves: tuple[int, ...], state: GameState) -> Puzzle | None:
        """Return the puzzle of a position, without its grade; None if it has more right moves than one, or none."""
        plies = self.forced.length(state, LONGEST, nodes=NODES) if self.game.won_by_a_move else None
        if plies == 1:
            return None
        near = self._distant or not self.game.won_by_a_move or len(state.allowedActions) < 12
        scores = self.scores(state) if near else None
        if scores is None:
            return self._tactics(moves, state, FAST, plies) if plies and not near else None
        values = {action: np.sign(score) for action, score in scores.items()}
        best = max(values.values())
        keeping = [action for action, value in values.items() if value == best]
        if len(keeping) != 1 or best < 0:
            return None
        if plies and best > 0:
            return self._tactics(moves, state, WIN, plies)
        if self._counted and any(_distance(state, s) > FAR for s in scores.values() if s > 0 or s < 0 == best):
            return None
        line = (keeping[0], *self.best_line(state.takeAction(keeping[0])[0], SHOWN))
        wrong = self._refuted(state, keeping[0], ONLY, 0)
        return Puzzle(self.game.spec, moves, DRAW if best == 0 else ONLY, 0, line, 1, (wrong,))

    def _right(self, state: GameState, kind: str, plies: int) -> list[int]:
        """Return the right moves of a position with a win by force within `plies` plies."""
        if kind == FAST:
            return self.forced.moves(state, plies, nodes=NODES) or []
        scores = self.scores(state) or {}
        return [action for action, score in scores.items() if score > 0]

    def _tactics(self, moves: tuple[int, ...], state: GameState, kind: str, plies: int) -> Puzzle | None:
        """Return the puzzle of a win by force; its moves are asked as long as there is one right move."""
        line: list[int] = []
        refutations, asked, left, unique = [], 0, plies, True
        while left > 0:
            right = self._right(state, kind, left)
            unique = unique and (left == 1 or len(right) == 1)
            action = right[0] if len(right) == 1 else self._fastest(state, left)
            if not line and not unique or action is None:
                return None
            if unique:
                refutations.append(self._refuted(state, action, kind, left))
                asked = len(line) + 1
            line.append(action)
            state, left = state.takeAction(action)[0], left - 2
            if left <= 0 or state.isEndGame:
                break
            reply = self._defence(state, kind, left)
            line.append(reply)
            state = state.takeAction(reply)[0]
        return Puzzle(self.game.spec, moves, kind, plies, tuple(line), asked, tuple(refutations))

    def _fastest(self, state: GameState, most: int) -> int | None:
        """Return the first move of the fastest win by force."""
        plies = self.forced.length(state, most, nodes=NODES)
        return next(iter(self.forced.moves(state, plies, nodes=NODES) or []), None) if plies else None

    def _defence(self, state: GameState, kind: str, left: int) -> int:
        """Return the reply that makes a win by force within `left` plies longest, and its next move clear.

        Of several such it is one that takes the point of a win: where nothing helps, people block.
        """
        follows: dict[int, tuple[int, list[int]]] = {}
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            plies = 0 if after.isEndGame else self.forced.length(after, left, nodes=NODES) or left
            follows[action] = plies, self._right(after, kind, left if plies > 1 else 1) if plies else []
        wins = Counter(itertools.chain.from_iterable(right for _, right in follows.values()))

        def worth(action: int) -> tuple[int, bool, int]:
            plies, right = follows[action]
            return plies, plies > 1 and len(right) == 1, wins[action]

        return int(max(state.allowedActions, key=worth))

    # ---- lines that show why

    def best_line(self, state: GameState, plies: int) -> tuple[int, ...]:
        """Return best play as far as it is known, at most `plies` moves."""
        line: list[int] = []
        while len(line) < plies and not state.isEndGame:
            action = self._best(state, plies - len(line))
            if action is None:
                break
            line.append(action)
            state = state.takeAction(action)[0]
        return tuple(line)

    def _best(self, state: GameState, left: int) -> int | None:
        if self.game.won_by_a_move:
            action = self._fastest(state, left)
            if action is not None:
                return action
        scores = self.scores(state)
        if scores is None:
            return None
        best = max(scores.values())
        among = [action for action, score in scores.items() if score == best]
        if self.game.won_by_a_move and best < 0 and len(among) > 1:  # of losing moves one that averts the threat
            return max(among, key=lambda a: self.forced.length(state.takeAction(a)[0], left) or left)
        return among[0]

    def _refuted(self, state: GameState, right: int, kind: str, left: int) -> tuple[Refutation, ...]:
        """Return what answers each wrong move; left: plies of the win by force, 0 if there is none."""
        found: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        for action in state.allowedActions:
            after, side = state.takeAction(action)[0], state.playerTurn
            if action != right and not (left == 1 and after.isEndGame and after.value * after.playerTurn * side >= 1):
                used = [right, *(line[0] for outcome, line in found if outcome == HOLDS and line)]
                why = self._missed(side, after, left, used) if kind == FAST else self._worse(state, action, after)
                found.setdefault(why, []).append(int(action))
        largest = max(found, key=lambda why: len(found[why]), default=None)
        return tuple(Refutation(*why, () if why == largest else tuple(moves)) for why, moves in found.items())

    def _worse(self, state: GameState, action: int, after: GameState) -> tuple[str, tuple[int, ...]]:
        """Return (outcome, line) of a wrong move where values are exact."""
        score = (self.scores(state) or {})[action]
        if score > 0:  # at the end of a win
            return SLOW, ()
        return LOSES if score < 0 else DRAWS, self.best_line(after, SHOWN)

    def _missed(self, side: int, after: GameState, left: int, used: list[int]) -> tuple[str, tuple[int, ...]]:
        """Return (outcome, line) of a move that misses a win by force; used: replies that come first."""
        lost = self._losing(after) if not after.isEndGame and after.playerTurn != side else ()
        if lost:
            return LOSES, lost
        if left == 1:
            return SLOW, ()
        for reply in [r for r in used if r in after.allowedActions] + list(after.allowedActions):
            if self.forced.loses(after.takeAction(reply)[0], side, left - 2, nodes=NODES) is False:
                return HOLDS, (int(reply),)
        return HOLDS, ()

    def _losing(self, state: GameState) -> tuple[int, ...]:
        """Return a win by force of the player to move, both sides at their best; () if there is none."""
        line: list[int] = []
        while not state.isEndGame:
            left = SHOWN - len(line)
            action = self._fastest(state, left) if left > 0 else None
            if action is None:
                return ()
            line.append(action)
            state = state.takeAction(action)[0]
            if not state.isEndGame:
                line.append(self._defence(state, FAST, left - 2) if left > 2 else int(state.allowedActions[0]))
                state = state.takeAction(line[-1])[0]
        return tuple(line)

    # ---- how hard it is

    def grade(self, puzzle: Puzzle, seed: int) -> Puzzle:
        """Return a puzzle with the share of weak players that miss it, and its level."""
        state, missed = after_moves(self.game, puzzle.moves), []
        for player, number in itertools.product(self._panel, range(TRIES)):
            if number and isinstance(player, Agent):
                continue
            _begin(player, int(np.random.default_rng([seed, number]).integers(2**31)))
            missed.append(player.act(state, 0.0)[0] != puzzle.line[0])
        return graded(puzzle, float(np.mean(missed)))


class PuzzleSource:
    """The numbered puzzles of a game: those that ship from 1 on, then such as are made when they are first needed.

    Safe to use from several threads: while one makes puzzles, the others wait for those that they need.
    """

    def __init__(self, game: Game) -> None:
        """Read the puzzles that ship."""
        self.game = game
        self._found = shipped_puzzles(game)
        self.shipped = len(self._found)
        self._lock = threading.Lock()
        self._stop: Stop = never
        """Of the call that makes puzzles now."""
        self._more: Iterator[Puzzle | None] | None = None

    def get(self, number: int, *, stop: Stop = never) -> Puzzle | None:
        """Return a puzzle; None if the game has no more, it is too far ahead (AHEAD), or `stop()` became true.

        May take a minute after the last that ships. Raises `UserError` if a game needs a solver for more that is not
        installed.
        """
        if len(self._found) < number <= len(self._found) + AHEAD:
            with self._lock:
                self._stop = stop
                self._make(number)
        return self._found[number - 1] if len(self._found) >= number else None

    def _make(self, number: int) -> None:
        """Make puzzles until there are `number`, or the game has no more."""
        if self._more is None:
            self._more = Maker(self.game).puzzles(MORE, stop=lambda: self._stop())
        known = {self._identity(puzzle) for puzzle in self._found}
        while len(self._found) < number and (puzzle := next(self._more, None)) is not None:
            if self._identity(puzzle) not in known:
                self._found.append(puzzle)

    def _identity(self, puzzle: Puzzle) -> bytes:
        return identity(self.game, after_moves(self.game, puzzle.moves))

    def following(self, number: int, level: str = "", *, stop: Stop = never) -> int | None:
        """Return the number of the first puzzle after `number` that has a level, "" = any; None if there is none."""
        for found in range(number + 1, max(number, self.shipped) + AHEAD + 1):
            puzzle = self.get(found, stop=stop)
            if puzzle is None or not level or puzzle.level == level:
                return found if puzzle else None
        return None


def _distance(state: GameState, score: float) -> int:
    """Return the plies to the end that a score of BitBully means for the player to move; not of a draw."""
    ply = int(state.row[PLY])  # type: ignore[attr-defined]
    own, other = ply // 2, (ply + 1) // 2  # stones so far: who is to move has as many as the other, or one fewer
    return 2 * (STONES + 1 - int(score) - own) - 1 if score > 0 else 2 * (STONES + 1 + int(score) - other)


def _begin(player: Player, seed: int) -> None:
    player.new_games(1)
    player.new_game(0, seed)
