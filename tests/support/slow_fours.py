"""Wins by continuous fours in plain Python, slowly: what the compiled search of games/fours.py must find as well.

Stones are a list of 1, -1 and 0. Nothing is shared with the compiled rules but the points forbidden to Black in renju,
which are the game's own legal moves.
"""

from __future__ import annotations

import random

import numpy as np

from config import UserError


class SlowFours:
    """Searches all lines of fours on a board, one size and rule of gomoku."""

    def __init__(self, game):
        self.game, self.size, self.n, self.rule = game, game.grid_shape[0], game.winning_line, game.rule
        self.known = {}

    def makes_line(self, stones, player, point):
        """Return whether a stone of a player on a point makes a winning line."""
        row, column = divmod(point, self.size)
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            length = 1
            for sign in (1, -1):
                r, c = row + sign * dr, column + sign * dc
                while 0 <= r < self.size and 0 <= c < self.size and stones[r * self.size + c] == player:
                    length, r, c = length + 1, r + sign * dr, c + sign * dc
            exact = self.rule == "exact" or (self.rule == "renju" and player == 1)
            if length == self.n or (length > self.n and not exact):
                return True
        return False

    def winning_points(self, stones, player):
        return [p for p, stone in enumerate(stones) if stone == 0 and self.makes_line(stones, player, p)]

    def near(self, point):
        """Return the points on the lines through a point within n - 1 steps."""
        row, column = divmod(point, self.size)
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for k in range(1 - self.n, self.n):
                r, c = row + k * dr, column + k * dc
                if k and 0 <= r < self.size and 0 <= c < self.size:
                    yield r * self.size + c

    def legal(self, stones, player):
        """Return the legal moves; all free points but in renju for Black."""
        if self.rule != "renju" or player != 1:
            return {p for p, stone in enumerate(stones) if stone == 0}
        try:
            return set(self.game.set_up(np.array(stones).reshape(self.size, self.size), 1).allowedActions)
        except UserError:  # a line stands already
            return set()

    def wins(self, stones, player, plies):
        """Return whether the player to move wins by fours within `plies` plies, the winning move included."""
        stones = list(stones)
        if self.winning_points(stones, player):
            return plies >= 1
        return self._wins(stones, player, plies, self.winning_points(stones, -player))

    def _wins(self, stones, player, plies, must):
        """`wins` for a player without a move that wins at once; must: the points where the other would win at once."""
        if plies < 3 or len(must) > 1:
            return False
        key = (tuple(stones), player, plies)
        if key not in self.known:
            self.known[key] = any(
                self.four_wins(stones, player, point, plies)
                for point in sorted(must or [p for p, stone in enumerate(stones) if stone == 0])
            )
        return self.known[key]

    def four_wins(self, stones, player, point, plies):
        """Return whether a move is a four that wins within `plies` plies."""
        stones = list(stones)
        stones[point] = player
        wins = {p for p in self.near(point) if stones[p] == 0 and self.makes_line(stones, player, p)}
        stones[point] = 0
        if not wins or point not in self.legal(stones, player):
            return False
        stones[point] = player
        replies = self.legal(stones, -player)
        if not replies:
            return False  # a draw
        if len(wins) > 1 or not wins & replies:
            return True
        (reply,) = wins
        stones[reply] = -player
        return self._wins(stones, player, plies - 2, self.winning_points(stones, -player))

    def wins_after(self, stones, player, move, plies):
        """Return whether `player` wins by fours within `plies` plies once the other has made a move."""
        stones = list(stones)
        stones[move] = -player
        return self.wins(stones, player, plies)


def crowded_board(rng: random.Random, size: int, stones: int, spread: int) -> np.ndarray:
    """Return a board with stones of both colours by turns, each near another, [size, size] in {1, -1, 0}."""
    board, player = np.zeros((size, size), int), 1
    board[size // 2, size // 2] = -1
    for _ in range(stones):
        row, column = rng.choice(np.argwhere(board != 0).tolist())
        r, c = row + rng.randint(-spread, spread), column + rng.randint(-spread, spread)
        if 0 <= r < size and 0 <= c < size and board[r, c] == 0:
            board[r, c], player = player, -player
    return board
