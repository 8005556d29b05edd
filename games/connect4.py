"""Connect 4: any rows x columns x n in a row (default 6 x 7 x 4); an action is a column, named 1, 2, ... from the left.

Row: header, rows, columns, n, words per board, then three bit boards of 64-bit words, each two numbers, low half first:
the lowest cell of every column, stones of the first player, stones of the other; then zeros up to a cache line. A
column's cells are one bit each from below, with an empty one above them; the next column follows. Where a board is one
word, lines are found by shifts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from compiled import CACHE_LINE, compiled, inlined, rule, up_to
from config import UserError
from game import (
    ENCODE,
    EVALUATE,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    NO_WIN,
    NOT_TOLD,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLY,
    SAFE,
    SOLVE,
    WINNER,
    WINNING,
    Game,
    GameState,
    Grid,
    Parameter,
    Row,
    Rules,
    Value,
)
from games.boards import column_mirror, draw, get, has, hash_words, make_grid, ones, put, squash
from games.column_endings import SIZE, solved
from games.columns import completing, lined, not_losing
from games.endings import Endings, Solvable
from languages.translate import tr

PRESET = {"gumbel": 16, "mcts_sims": 24, "grow_sims": 0, "reuse": 3.0, "endgame": 20, "reanalyse_share": 0.1}
"""Settings of preset `laptop`: Gumbel search of few simulations; on boards of one word endings take less time than the
evaluations they replace. A literal: see training/presets.py."""

ROWS, COLUMNS, N, WORDS, BOTTOM = range(HEADER, HEADER + 5)


@inlined
def stones_of(row, player):
    """Return where the stones of a player begin in the row."""
    return BOTTOM + 2 * row[WORDS] if player == 1 else BOTTOM + 4 * row[WORDS]


@compiled
def place(row, r, c):
    """Return the bit of the cell in row r from the top, column c."""
    return c * (row[ROWS] + 1) + row[ROWS] - 1 - r


@compiled
def column_of(row, cells, c):
    """Return the cells in a column, shifted so that its lowest is bit 0."""
    return (cells >> np.uint64(c * (row[ROWS] + 1))) & ((np.uint64(1) << np.uint64(row[ROWS])) - np.uint64(1))


@compiled
def landing(row, c):
    """Return the row where a stone in column c would land; -1 when the column is full."""
    first, second = stones_of(row, 1), stones_of(row, -1)
    r, bit = row[ROWS] - 1, place(row, row[ROWS] - 1, c)
    while r >= 0 and has(row, first, bit) | has(row, second, bit):
        r, bit = r - 1, bit + 1
    return r


@compiled
def stones_from(row, stones, r, c, dr, dc):
    """Count a player's stones (at `stones`) in an unbroken line from (r, c) on, (r, c) itself excluded."""
    rows, columns = row[ROWS], row[COLUMNS]
    count = 0
    r, c = r + dr, c + dc
    while 0 <= r < rows and 0 <= c < columns and has(row, stones, place(row, r, c)):
        count += 1
        r, c = r + dr, c + dc
    return count


@compiled
def makes_line(row, player, r, c):
    """Return whether a player's stone at (r, c) would make a winning line."""
    need, at = row[N] - 1, stones_of(row, player)
    for dr, dc in ((1, 0), (0, 1), (1, 1), (1, -1)):
        if stones_from(row, at, r, c, dr, dc) + stones_from(row, at, r, c, -dr, -dc) >= need:
            return True
    return False


# ---- boards of one word (see columns.py)


@compiled
def free_of(row):
    """Return the cells where a stone may land: adding to a column's stones carries into the cell above them."""
    bottom = get(row, BOTTOM)
    taken = get(row, stones_of(row, 1)) | get(row, stones_of(row, -1))
    cells = bottom * ((np.uint64(1) << np.uint64(row[ROWS])) - np.uint64(1))
    return (taken + bottom) & cells


@compiled
def columns_of(row, cells, out):
    """Write the columns that have any of the cells, ascending; return how many. One value behind may change, too."""
    height, count = np.uint64(row[ROWS] + 1), np.uint64(0)
    column = (np.uint64(1) << np.uint64(row[ROWS])) - np.uint64(1)
    for c in range(row[COLUMNS]):
        out[count] = c
        count += np.uint64((cells & column) != 0)
        cells >>= height
    return np.int64(count)


@compiled
def winning_in_word(row):
    """Do the same as `winning`, on a board of one word."""
    height = row[ROWS] + 1
    points = free_of(row) & completing(get(row, stones_of(row, row[PLAYER])), height, row[N])
    for c in range(row[COLUMNS] if points else 0):
        if column_of(row, points, c):
            return c
    return NO_WIN


@compiled
def safe_in_word(row, out):
    """Do the same as `safe`, on a board of one word."""
    height = row[ROWS] + 1
    points = completing(get(row, stones_of(row, -row[PLAYER])), height, row[N])
    moves = not_losing(points, free_of(row), get(row, BOTTOM) << np.uint64(row[ROWS]))
    return columns_of(row, moves, out)


# ---- the rules


@rule(LEGAL)
def legal(row, out):
    if row[WORDS] == 1:
        return columns_of(row, free_of(row), out)
    first, second = stones_of(row, 1), stones_of(row, -1)
    count = 0
    for c in range(row[COLUMNS]):
        top = place(row, 0, c)
        if not has(row, first, top) | has(row, second, top):
            out[count] = c
            count += 1
    return count


@inlined
def drop_in_word(row, action):
    """Do the same as `play`, on a board of one word."""
    player, rows = row[PLAYER], row[ROWS]
    first, second = get(row, BOTTOM + 2), get(row, BOTTOM + 4)
    lowest = np.uint64(1) << np.uint64(action * (rows + 1))
    free = ((first | second) & (lowest * ((np.uint64(1) << np.uint64(rows)) - np.uint64(1)))) + lowest
    stones = free | (first if player == 1 else second)
    put(row, BOTTOM + 2 if player == 1 else BOTTOM + 4, stones)
    row[PLY] += 1
    row[LAST] = (rows - 1 - ones(free - lowest)) * row[COLUMNS] + action
    row[PLAYER] = -player
    won = lined(stones, rows + 1, row[N])
    row[WINNER] = player if won else 0
    row[OVER] = won != 0 or row[PLY] == rows * row[COLUMNS]


@rule(PLAY)
def play(row, action):
    if row[WORDS] == 1:
        drop_in_word(row, action)
        return
    player, r = row[PLAYER], landing(row, action)
    stones = stones_of(row, player)
    bit = place(row, r, action)
    row[stones + (bit >> 5)] |= np.int32(1) << (bit & 31)
    row[PLY] += 1
    row[LAST] = r * row[COLUMNS] + action
    if makes_line(row, player, r, action):
        row[OVER] = 1
        row[WINNER] = player
    elif row[PLY] == row[ROWS] * row[COLUMNS]:
        row[OVER] = 1
    row[PLAYER] = -player


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@inlined
def encode_word(row, out):
    """Do the same as `encode`, on a board of one word."""
    first, second = get(row, BOTTOM + 2), get(row, BOTTOM + 4)
    own, other = (first, second) if row[PLAYER] == 1 else (second, first)
    rows, columns, one = np.uint64(row[ROWS]), np.uint64(row[COLUMNS]), np.uint64(1)
    i = np.uint64(0)
    for r in range(rows):
        bit = rows - one - r
        for _ in range(columns):
            out[i], out[i + one], out[i + one + one] = (own >> bit) & one, (other >> bit) & one, 1
            i += one + one + one
            bit += rows + one


@rule(ENCODE)
def encode(row, out):
    """Write the planes: stones of the player to move, stones of the other, ones (so that the edge can be seen)."""
    if row[WORDS] == 1:
        encode_word(row, out)
        return
    own, other, step = stones_of(row, row[PLAYER]), stones_of(row, -row[PLAYER]), row[ROWS] + 1
    i, one = np.uint64(0), np.uint64(1)  # unsigned indices: no check for negative ones
    for r in range(row[ROWS]):
        bit = place(row, r, 0)
        for _ in range(row[COLUMNS]):
            out[i], out[i + one], out[i + one + one] = has(row, own, bit), has(row, other, bit), 1
            i += one + one + one
            bit += step


@rule(KEY)
def key(row):
    return hash_words(row, stones_of(row, 1), 2 * row[WORDS], row[PLAYER] + 1)


@rule(WINNING)
def winning(row):
    if row[WORDS] == 1:
        return winning_in_word(row)
    for c in range(row[COLUMNS]):
        r = landing(row, c)
        if r >= 0 and makes_line(row, row[PLAYER], r, c):
            return c
    return NO_WIN


@rule(SAFE)
def safe(row, out):
    """Write the moves after which the other cannot win: they block its win, and none lies right below one."""
    if row[WORDS] == 1:
        return safe_in_word(row, out)
    other, threats, only = -row[PLAYER], 0, 0
    for c in range(row[COLUMNS]):
        r = landing(row, c)
        if r >= 0 and makes_line(row, other, r, c):
            threats += 1
            only = c
    if threats > 1:
        return 0
    count = 0
    for c in range(row[COLUMNS]):
        r = landing(row, c)
        if r >= 0 and (threats == 0 or c == only) and not (r > 0 and makes_line(row, other, r - 1, c)):
            out[count] = c
            count += 1
    return count


@rule(SOLVE)
def solve(row, left):
    if row[WORDS] > 1 or left.shape[0] < SIZE:
        return NOT_TOLD
    if row[OVER]:
        return row[WINNER] * row[PLAYER]
    own, other = get(row, stones_of(row, row[PLAYER])), get(row, stones_of(row, -row[PLAYER]))
    return solved(own, other, get(row, BOTTOM), np.int64(row[ROWS]), np.int64(row[COLUMNS]), np.int64(row[N]), left)


@rule(EVALUATE)
def evaluate(row):
    """Return an estimate: lines still open to one player only, each with the square of its stones as weight.

    More lines run through the centre, so its cells count for more.
    """
    rows, columns, n = row[ROWS], row[COLUMNS], row[N]
    mine, theirs = stones_of(row, row[PLAYER]), stones_of(row, -row[PLAYER])
    lead = 0.0
    for r in range(rows):
        for c in range(columns):
            for d in range(4):
                dr, dc = 0 if d == 0 else 1, 1 if d < 2 else (0 if d == 2 else -1)
                last = c + (n - 1) * dc
                if r + (n - 1) * dr >= rows or not 0 <= last < columns:
                    continue
                own = other = 0
                for k in range(n):
                    bit = place(row, r + k * dr, c + k * dc)
                    own += has(row, mine, bit)
                    other += has(row, theirs, bit)
                if own == 0 or other == 0:
                    lead += (own - other) * (own + other)
    return squash(lead, 30.0)


MOST_CELLS = 400
_NUMBERS = re.compile(r"(?<!\S)([0-9]+)[.)]+")
_SCORED = re.compile(r"\s*([1-9]+)[ \t]+([+-]?[0-9]{1,2})\s*\Z")


def split_score(text: str) -> tuple[str, str]:
    """Return the moves of a line of digits and the score behind them: "44455554221 2" as solvers' test files have it.

    A score has a sign, or is shorter than the digits before it and at most 21; else all are moves and it is "".
    """
    found = _SCORED.match(text)
    if found is None or (found[2].isdigit() and (len(found[2]) >= len(found[1]) or int(found[2]) > 21)):
        return text, ""
    return found[1], found[2]


class Connect4(Game):
    """Drop a stone into a column; n in a row wins."""

    name = "connect4"
    plane_names = ("stones of the player to move", "stones of the other", "ones")
    policy_layout = "columns"
    look = "holes"
    rules = Rules(legal, play, outcome, encode, key, winning, safe=safe, solve=solve)
    evaluate = evaluate
    takes = (
        Parameter("rows", 6, 1, 100),
        Parameter("columns", 7, 1, MOST_CELLS),
        Parameter("n", 4, 2, MOST_CELLS),
    )
    solvable = Solvable(20)

    def __init__(self, **given: Value) -> None:
        """Make a game. `n`: how many in a row win."""
        rows, columns, n = self.take(given)
        if rows * columns > MOST_CELLS or n > max(rows, columns):
            raise UserError(
                f"connect4: expected at most {MOST_CELLS} cells and n up to the longer side, "
                f"got rows {rows}, columns {columns}, n {n}"
            )
        self.grid_shape = (rows, columns)
        self.input_shape = (rows, columns, 3)
        self.action_size = columns
        self.winning_line = n
        self.max_plies = rows * columns
        self.symmetries = column_mirror(rows, columns)
        words = -(-(rows + 1) * columns // 64)
        if words == 1:
            self.endings = Endings(self.max_plies, leaf=1024, root=65_536, room=SIZE - 2)
        self.start_row = np.zeros(up_to(CACHE_LINE // 4, BOTTOM + 6 * words), np.int32)
        self.start_row[[PLAYER, LAST, ROWS, COLUMNS, N, WORDS]] = 1, -1, rows, columns, n, words
        bits = np.zeros(64 * words, np.uint8)
        bits[: (rows + 1) * columns : rows + 1] = 1
        self.start_row[BOTTOM : BOTTOM + 2 * words] = np.packbits(bits, bitorder="little").view("<i4")

    @property
    def aim(self) -> str:
        return tr("Drop discs into columns. {n} in a row win: across, down or diagonally.", n=self.winning_line)

    @property
    def exact_solver(self) -> str:
        return "" if self.parameters else "bitbully"

    @property
    def openspiel_name(self) -> str | None:
        return None if self.parameters else "connect_four"

    def move_name(self, action: int) -> str:
        return str(action + 1)

    def parse_moves(self, text: str) -> list[int]:
        """Accept "4433" as well as "4 4 3 3", and a solver's score behind the moves, see `split_score`."""
        if self.grid_shape[1] <= 9:
            text, _ = split_score(text)
            numbers = _NUMBERS.findall(text)
            if [f"{i}" for i in range(1, len(numbers) + 1)] == numbers:  # of moves; 44.33 has none
                text = _NUMBERS.sub(" ", text)
            text = " ".join("".join(text.split()))
        return super().parse_moves(text)

    def left_out(self, text: str) -> str:
        score = split_score(text)[1] if self.grid_shape[1] <= 9 else ""
        return score and f"{score} behind the moves, which is a solver's score"

    def format_moves(self, actions: Sequence[int]) -> str:
        """Return "4433" where each column has one digit."""
        text = super().format_moves(actions)
        return text.replace(" ", "") if self.grid_shape[1] <= 9 else text

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each disc, from the top row down."""
        (rows, columns), words = self.grid_shape, int(row[WORDS])
        boards = row[BOTTOM + 2 * words : BOTTOM + 6 * words].astype("<i4").view(np.uint8).reshape(2, -1)
        bits = np.unpackbits(boards, axis=1, count=(rows + 1) * columns, bitorder="little").astype(np.int8)
        first, second = bits.reshape(2, columns, rows + 1)
        owners: np.ndarray = (first - second)[:, rows - 1 :: -1].T
        return owners

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        rows, columns = self.grid_shape
        return make_grid(self.owners(row), int(row[LAST]), ([""] * rows, [self.move_name(c) for c in range(columns)]))

    def render(self, row: Row) -> str:
        numbers = "".join(f"{self.move_name(c):^3}" for c in range(self.grid_shape[1]))
        return "\n".join([*draw(self.owners(row), int(row[LAST]), self.pieces), numbers])
