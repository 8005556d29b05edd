"""The host of the Little-Go course in plain Python, written from its rules alone: boards are lists of lists."""

import copy

import numpy as np

import games
from game import PLY

BLACK, WHITE, KOMI, MOVES = 1, 2, 2.5, 24
GAME = games.make("littlego")


def friends(board, i, j):
    """Return the chain of (i, j) and whether it has a liberty."""
    chain, todo, free = [(i, j)], [(i, j)], False
    while todo:
        a, b = todo.pop()
        for c, d in ((a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)):
            if not (0 <= c < 5 and 0 <= d < 5) or (c, d) in chain:
                continue
            if board[c][d] == 0:
                free = True
            elif board[c][d] == board[i][j]:
                chain.append((c, d))
                todo.append((c, d))
    return chain, free


def after(board, i, j, colour):
    """Return the board after a stone and the taking of the other's chains."""
    new = copy.deepcopy(board)
    new[i][j] = colour
    for a in range(5):
        for b in range(5):
            if new[a][b] == 3 - colour and not friends(new, a, b)[1]:
                for c, d in friends(new, a, b)[0]:
                    new[c][d] = 3  # taken off when all are found
    return [[0 if stone == 3 else stone for stone in line] for line in new]


class Host:
    """Judges moves and keeps the two boards that a program is shown."""

    def __init__(self):
        self.before = [[0] * 5 for _ in range(5)]
        self.board = [[0] * 5 for _ in range(5)]
        self.colour, self.moves, self.over = BLACK, 0, False

    def allows(self, move):
        """Tell whether "i,j" or "PASS" is a move that does not lose at once."""
        if move == "PASS":
            return True
        i, j = (int(word) for word in move.split(","))
        if not (0 <= i < 5 and 0 <= j < 5) or self.board[i][j]:
            return False
        new = after(self.board, i, j, self.colour)
        return friends(new, i, j)[1] and new != self.before

    def legal(self):
        points = [f"{i},{j}" for i in range(5) for j in range(5)]
        return [move for move in points if self.allows(move)] + ["PASS"]

    def play(self, move):
        if move == "PASS":
            self.over = self.before == self.board
            self.before = copy.deepcopy(self.board)
        else:
            i, j = (int(word) for word in move.split(","))
            self.before, self.board = self.board, after(self.board, i, j, self.colour)
        self.moves += 1
        self.over |= self.moves == MOVES
        self.colour = 3 - self.colour

    def lead(self):
        """Return by how much Black leads."""
        stones = [stone for line in self.board for stone in line]
        return stones.count(BLACK) - stones.count(WHITE) - KOMI

    def text(self):
        lines = ["".join(map(str, line)) for line in self.before + self.board]
        return "\n".join([str(self.colour), *lines]) + "\n"


def name(action):
    return "PASS" if action == 25 else f"{action // 5},{action % 5}"


def random_games(count, seed, passing=0.03):
    """Yield (host, state, next action) of each ply of random games, then the end with None."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        host, state = Host(), GAME.start()
        while not state.isEndGame:
            points = state.allowedActions[:-1]
            passes = not points or state.row[PLY] > 0 and rng.random() < passing
            action = 25 if passes else int(rng.choice(points))
            yield host, state, action
            host.play(name(action))
            state = state.takeAction(action)[0]
        yield host, state, None
