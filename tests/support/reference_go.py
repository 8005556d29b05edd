"""Go in plain Python, slow and short, as an oracle: a board is a tuple of 1, -1, 0, and chains are found by filling."""

from functools import cache, lru_cache


@cache
def neighbours(size, p):
    r, c = divmod(p, size)
    around = [(r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c)]
    return [i * size + j for i, j in around if 0 <= i < size and 0 <= j < size]


def region(board, size, p):
    """Return the points connected with p that are of its colour, and the points around them."""
    inside, around, todo = {p}, set(), [p]
    while todo:
        for q in neighbours(size, todo.pop()):
            if board[q] == board[p] and q not in inside:
                inside.add(q)
                todo.append(q)
            elif board[q] != board[p]:
                around.add(q)
    return inside, around


def without_dead(board, size, colour):
    """Return the board without those chains of a colour that have no liberty."""
    dead = set()
    for p, stone in enumerate(board):
        if stone == colour:
            chain, around = region(board, size, p)
            if all(board[q] for q in around):
                dead |= chain
    return tuple(0 if p in dead else stone for p, stone in enumerate(board))


@lru_cache(10_000)
def placed(board, size, p, colour):
    """Return (board after a stone, whether the stone itself was taken off): first others die, then one's own."""
    board = board[:p] + (colour,) + board[p + 1 :]
    board = without_dead(without_dead(board, size, -colour), size, colour)
    return board, board[p] == 0


def area(board, size, colour):
    """Count stones of a colour and the empty points from which no other stone can be reached."""
    owned = sum(stone == colour for stone in board)
    for p, stone in enumerate(board):
        if stone == 0:
            owned += {board[q] for q in region(board, size, p)[1]} == {colour}
    return owned


class PlainGo:
    """A game that is changed by each move."""

    def __init__(self, size, komi, superko=False, suicide=False):
        self.size, self.komi, self.superko, self.suicide = size, komi, superko, suicide
        self.board = (0,) * size**2
        self.boards = [self.board]
        """Boards after each ply."""
        self.player = 1
        self.passes = 0

    def is_legal(self, p):
        if self.board[p]:
            return False
        after, suicide = placed(self.board, self.size, p, self.player)
        if after == self.board or suicide and not self.suicide:
            return False
        return after not in (self.boards if self.superko else self.boards[-2:-1])

    def legal(self):
        return [p for p in range(self.size**2) if self.is_legal(p)] + [self.size**2]

    def play(self, action):
        self.passes = self.passes + 1 if action == self.size**2 else 0
        if not self.passes:
            self.board = placed(self.board, self.size, action, self.player)[0]
        self.boards.append(self.board)
        self.player = -self.player

    def lead(self):
        """Return by how much Black leads."""
        return area(self.board, self.size, 1) - area(self.board, self.size, -1) - self.komi
