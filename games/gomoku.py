"""Gomoku: n in a row on a square board (default 9 x 9, five); an action is a point in row order from the top, `a9` ...

Rules (`rule=`), Black being who begins:
- `freestyle`: n or more in a row win, for both.
- `exact`: exactly n win, for both; a longer line counts for nothing.
- `renju`: Black wins with exactly five; overlines, double-fours and double-threes are forbidden to Black, that is, not
  among the legal moves, unless the same stone makes five. White wins with five or more. The definitions are those of
  the Renju International Federation, section 9: a three counts only if one more stone makes it a straight four and that
  stone makes no five and is not itself forbidden, which is asked again of it, and so on. Openings are free.
A full board is a draw. So is a renju position where every free point is forbidden to Black: the federation's rules let
both players pass there, and two passes are a draw.

Row: header, size, n, rule, hash (2), then four blocks of one word a line of the board, a bit a column (see PAD):
Black's stones, White's stones, free points, points forbidden to the player to move. In renju then DEPTH words of room.
"""

from __future__ import annotations

import numpy as np
from numba import cfunc

from compiled import compiled
from config import UserError
from game import ENCODE, EVALUATE, HEADER, KEY, LAST, LEGAL, OUTCOME, OVER, PLAY, PLAYER, PLY, WINNER, Game, Row, Rules
from games.boards import LETTERS, draw_named, kept_hash, point_name, point_symmetries, squash, toggle

SIZE, N, RULE, HASH, LINES = HEADER, HEADER + 1, HEADER + 2, HEADER + 3, HEADER + 5
BLACK, WHITE, FREE, FORBIDDEN = 0, 1, 2, 3
PAD = 5
"""Empty lines round each block, and empty bits below column 0: looking five points past the edge finds nothing."""
RULES = ("freestyle", "exact", "renju")
FREESTYLE, EXACT, RENJU = 0, 1, 2
ALLOWED, DOUBLE_THREE, DOUBLE_FOUR, OVERLINE, FIVE = 0, 1, 2, 3, 4
"""What a stone of Black on a point would be."""
DEPTH = 32
"""Threes that hang on one another; deeper ones count as forbidden."""


@compiled
def block(row, which):  # type: ignore[no-untyped-def]
    """Return where the first line of a block is in the row."""
    return LINES + PAD + which * (row[SIZE] + PAD)


@compiled
def reach(row, base, r, c, dr, dc):  # type: ignore[no-untyped-def]
    """Count the stones that stand in a line without a gap from (r, c) on, itself left out."""
    length = 0
    while row[base + r + dr] >> (PAD + c + dc) & 1:
        length += 1
        r += dr
        c += dc
    return length


@compiled
def wins(row, player, r, c):  # type: ignore[no-untyped-def]
    """Tell whether the stone that a player put on (r, c) makes a line that wins."""
    base = block(row, BLACK if player == 1 else WHITE)
    n = row[N]
    longer = row[RULE] == FREESTYLE or (row[RULE] == RENJU and player == -1)
    for d in range(4):
        dr = 0 if d == 0 else 1
        dc = 1 if d == 0 else d - 2
        length = 1 + reach(row, base, r, c, dr, dc) + reach(row, base, r, c, -dr, -dc)
        if length == n or (longer and length > n):
            return True
    return False


@compiled
def window(row, base, r, c, d):  # type: ignore[no-untyped-def]
    """Return eleven points of a line in direction d as bits, (r, c) being bit 5."""
    if d == 0:
        return row[base + r] >> c & 0x7FF
    bits = 0
    for k in range(11):
        bits |= (row[base + r + k - 5] >> (PAD + c + (d - 2) * (k - 5)) & 1) << k
    return bits


@compiled
def run(stones):  # type: ignore[no-untyped-def]
    """Return the length of the unbroken row through bit 5 of a window."""
    length = 1
    at = 6
    while stones >> at & 1:
        length += 1
        at += 1
    at = 4
    while at >= 0 and stones >> at & 1:
        length += 1
        at -= 1
    return length


@compiled
def fours(stones, free):  # type: ignore[no-untyped-def]
    """Count the fours through bit 5 of a window: one more stone makes exactly five."""
    count = gaps = 0
    for s in range(1, 6):
        gap = 31 << s & ~stones
        if gap & (gap - 1) == 0 and gap & free and not stones & (0b1000001 << (s - 1)):
            count += 1
            gaps |= gap
    return count - 1 if gaps & (gaps >> 5) else count  # a straight four is one four with two ends


@compiled
def straight_fours(stones, free):  # type: ignore[no-untyped-def]
    """Return the free points of a window where one more stone makes a straight four through bit 5."""
    found = 0
    for s in range(2, 6):
        gap = 15 << s & ~stones
        ends = 0b100001 << (s - 1)
        if gap & (gap - 1) == 0 and gap & free and free & ends == ends and not stones & (0b10000001 << (s - 2)):
            found |= gap
    return found


@compiled
def flip(row, r, c):  # type: ignore[no-untyped-def]
    """Put a black stone on the free point (r, c), or take it off again."""
    bit = np.int32(1 << (PAD + c))
    row[block(row, BLACK) + r] ^= bit
    row[block(row, FREE) + r] ^= bit


@compiled
def shape(row, r, c):  # type: ignore[no-untyped-def]
    """Return what the black stone on (r, c) is, DOUBLE_THREE only if all stones that its threes need are allowed."""
    longest = count = threes = 0
    for d in range(4):
        stones, free = window(row, block(row, BLACK), r, c, d), window(row, block(row, FREE), r, c, d)
        length = run(stones)
        if length == 5:
            return FIVE
        longest = max(longest, length)
        count += fours(stones, free)
        threes += straight_fours(stones, free) != 0
    if longest > 5:
        return OVERLINE
    if count > 1:
        return DOUBLE_FOUR
    return DOUBLE_THREE if threes > 1 else ALLOWED


@compiled
def verdict(row, r, c):  # type: ignore[no-untyped-def]
    """Return what a black stone on the free point (r, c) would be; the board is as before afterwards.

    A question about a three asks the same about the stone that it needs. The questions not yet answered are a stack
    in the row (numba cannot keep a recursive function on disk): point, next place to look at (nine for each direction),
    threes found so far.
    """
    size = row[SIZE]
    stack = block(row, FORBIDDEN) + size - 1
    flip(row, r, c)
    found = shape(row, r, c)
    if found != DOUBLE_THREE:
        flip(row, r, c)
        return found
    depth = 1
    row[stack + 1] = (r * size + c) << 8
    while depth > 0:
        task = row[stack + depth]
        point, at, threes = task >> 8, task >> 2 & 63, task & 3
        r, c = point // size, point % size
        if threes > 1 or at == 36:
            found = DOUBLE_THREE if threes > 1 else ALLOWED
            flip(row, r, c)
            row[stack + depth] = 0
            depth -= 1
        else:
            d = at // 9
            k, found = next_stone(row, r, c, d, at % 9)
            row[stack + depth] = point << 8 | (9 * d + k + 1) << 2 | threes
            if found == DOUBLE_THREE and depth < DEPTH:
                r, c = r + (k - 4 if d > 0 else 0), c + (k - 4) * (1 if d == 0 else d - 2)
                flip(row, r, c)
                depth += 1
                row[stack + depth] = (r * size + c) << 8
                continue
        if found == ALLOWED and depth > 0:  # a three: one more, and on with the next direction
            task = row[stack + depth]
            at = (task >> 2 & 63) + 8
            row[stack + depth] = task >> 8 << 8 | at // 9 * 9 << 2 | (task & 3) + 1
    return found


@compiled
def next_stone(row, r, c, d, k):  # type: ignore[no-untyped-def]
    """Return the first place from k on (0-8) where a stone makes a straight four in direction d, and its shape.

    Without one: 8 and FIVE.
    """
    points = straight_fours(window(row, block(row, BLACK), r, c, d), window(row, block(row, FREE), r, c, d))
    while k < 9:
        if points >> (k + 1) & 1:
            rr, cc = r + (k - 4 if d > 0 else 0), c + (k - 4) * (1 if d == 0 else d - 2)
            flip(row, rr, cc)
            found = shape(row, rr, cc)
            flip(row, rr, cc)
            return k, found
        k += 1
    return 8, FIVE


@compiled
def crowded(row, r):  # type: ignore[no-untyped-def]
    """Return the points (bits) of line r where a fault is not out of the question.

    Each takes two black stones within four points in two directions, or four in one.
    """
    black = block(row, BLACK)
    once = twice = many = 0
    for d in range(4):
        one = two = three = four = 0
        for k in range(-4, 5):
            if k != 0:
                line = row[black + (r if d == 0 else r + k)] << 4
                seen = line >> (4 + (k if d == 0 else (d - 2) * k))
                four |= three & seen
                three |= two & seen
                two |= one & seen
                one |= seen
        many |= four
        twice |= once & two
        once |= two
    return (twice | many) & row[block(row, FREE) + r]


@compiled
def forbid(row):  # type: ignore[no-untyped-def]
    """Write which points are forbidden to Black; tell whether a free one is left."""
    some = False
    for r in range(row[SIZE]):
        hot = crowded(row, r)
        line = 0
        for c in range(row[SIZE]):
            bit = 1 << (PAD + c)
            if hot & bit and ALLOWED < verdict(row, r, c) < FIVE:
                line |= bit
        row[block(row, FORBIDDEN) + r] = line
        some = some or (row[block(row, FREE) + r] & ~line) != 0
    return some


@cfunc(LEGAL, cache=True)
def legal(row, out):  # type: ignore[no-untyped-def]
    size = row[SIZE]
    free, forbidden = block(row, FREE), block(row, FORBIDDEN)
    point = count = 0
    for r in range(size):
        line = (row[free + r] & ~row[forbidden + r]) >> PAD
        for _ in range(size):  # without a branch: which points are free cannot be predicted
            out[count] = point
            count += line & 1
            line >>= 1
            point += 1
    return count


@cfunc(PLAY, cache=True)
def play(row, action):  # type: ignore[no-untyped-def]
    size, player = row[SIZE], row[PLAYER]
    r = action // size
    c = action - r * size
    bit = np.int32(1 << (PAD + c))
    row[block(row, BLACK if player == 1 else WHITE) + r] |= bit
    row[block(row, FREE) + r] ^= bit
    toggle(row, HASH, action, player + 1)
    row[PLY] += 1
    row[LAST] = action
    row[PLAYER] = -player
    if wins(row, player, r, c):
        row[OVER] = 1
        row[WINNER] = player
    elif row[PLY] == size * size:
        row[OVER] = 1
    elif row[RULE] == RENJU and player == -1:
        row[OVER] = not forbid(row)
    elif row[RULE] == RENJU:
        for line in range(size):
            row[block(row, FORBIDDEN) + line] = 0


@cfunc(OUTCOME, cache=True)
def outcome(row, out):  # type: ignore[no-untyped-def]
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@cfunc(ENCODE, cache=True)
def encode(row, out):  # type: ignore[no-untyped-def]
    """Planes: stones of the player to move, stones of the other, the last stone, whether Black is to move, ones."""
    size = row[SIZE]
    black = row[PLAYER] == 1
    mine, theirs = block(row, BLACK if black else WHITE), block(row, WHITE if black else BLACK)
    i = 0
    for r in range(size):
        own, other = row[mine + r] >> PAD, row[theirs + r] >> PAD
        for c in range(size):
            out[i] = own >> c & 1
            out[i + 1] = other >> c & 1
            out[i + 2] = 0
            out[i + 3] = black
            out[i + 4] = 1
            i += 5
    if row[LAST] >= 0:
        out[5 * row[LAST] + 2] = 1


@cfunc(KEY, cache=True)
def key(row):  # type: ignore[no-untyped-def]
    """The last stone is seen by the network, so it is part of the position."""
    return kept_hash(row, HASH, 2 * (row[LAST] + 1) + (row[PLAYER] == 1))


@cfunc(EVALUATE, cache=True)
def evaluate(row):  # type: ignore[no-untyped-def]
    """Lines of n still open to one player only, each four times as much with every stone more."""
    size, n = row[SIZE], row[N]
    mine = block(row, BLACK if row[PLAYER] == 1 else WHITE)
    theirs = block(row, WHITE if row[PLAYER] == 1 else BLACK)
    lead = 0.0
    for r in range(size):
        for c in range(size):
            for d in range(4):
                dr, dc = 0 if d == 0 else 1, 1 if d == 0 else d - 2
                if r + (n - 1) * dr >= size or not 0 <= c + (n - 1) * dc < size:
                    continue
                own = other = 0
                for k in range(n):
                    bit = PAD + c + k * dc
                    own += row[mine + r + k * dr] >> bit & 1
                    other += row[theirs + r + k * dr] >> bit & 1
                if own == 0 or other == 0:
                    lead += (1 << 2 * own) - (1 << 2 * other)
    return squash(lead, 200.0)


class Gomoku(Game):
    """Put a stone on a point; n in a row wins."""

    name = "gomoku"
    look = "points"
    sgf_number = 4
    rules = Rules(legal, play, outcome, encode, key)
    evaluate = evaluate

    def __init__(self, size: int = 9, n: int = 5, rule: str = "freestyle") -> None:
        if rule not in RULES:
            raise UserError(f"gomoku: expected a rule out of {', '.join(RULES)}, got {rule[:40]!r}")
        if not (3 <= size <= 19 and 2 <= n <= size):
            raise UserError(f"gomoku: expected size 3 to 19 and n from 2 to size, got size={size}, n={n}")
        if rule == "renju" and n != 5:
            raise UserError(f"gomoku: expected n=5 with rule=renju, got n={n}")
        given: dict[str, int | float | str] = {"size": size, "n": n, "rule": rule}
        defaults = {"size": 9, "n": 5, "rule": "freestyle"}
        self.parameters = {k: v for k, v in given.items() if v != defaults[k]}
        self.grid_shape = (size, size)
        self.input_shape = (size, size, 5)
        self.action_size = size * size
        self.winning_line = n
        self.max_plies = size * size
        self.symmetries = point_symmetries(size, size)
        self.start_row = np.zeros(LINES + 4 * (PAD + size) + (DEPTH if rule == "renju" else 0), np.int32)
        self.start_row[[PLAYER, LAST, SIZE, N, RULE]] = 1, -1, size, n, RULES.index(rule)
        self._lines(self.start_row, FREE)[:] = ((1 << size) - 1) << PAD

    def _lines(self, row: Row, which: int) -> Row:
        """Return a view of a block's lines."""
        size = self.grid_shape[0]
        start = LINES + PAD + which * (size + PAD)
        return row[start : start + size]

    def move_name(self, action: int) -> str:
        return point_name(action, *self.grid_shape)

    def parse_move(self, text: str) -> int:
        word, size = text.strip().lower(), self.grid_shape[0]
        if 2 <= len(word) <= 3 and word.isascii() and word[1:].isdigit() and word[1] != "0":
            column, number = LETTERS.find(word[0]), int(word[1:])
            if 0 <= column < size and number <= size:
                return (size - number) * size + column
        raise UserError(f"expected a move such as {self.move_name(0)!r}, got {text[:40]!r}")

    def render(self, row: Row) -> str:
        """Return the board; a point that is forbidden to the player to move is a `*`."""
        columns = PAD + np.arange(self.grid_shape[0])
        black, white, _, forbidden = (self._lines(row, which)[:, None] >> columns & 1 for which in range(4))
        cells = black - white + 2 * forbidden
        return "\n".join(draw_named(cells, int(row[LAST]), {**self.pieces, 2: "*"}))
