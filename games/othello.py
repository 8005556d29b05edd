"""Othello on even boards from 4 x 4 to 16 x 16; an action is a point in row order from the top left, then a pass.

A player who cannot move passes, which is then the only legal action; when neither can move the game ends, and more
discs win. Row: header, size, log2 of the stride, words per board, then four boards of 64-bit words, each two numbers,
low half first: discs of the first player, discs of the other, moves of the player to move, all points. Point (r, c) is
bit `r * stride + c`; the stride is 8 up to size 8, then 16, so that a board of size 8 is one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from compiled import compiled, inlined, rule
from config import UserError
from game import (
    ARRANGE,
    COUNT,
    ENCODE,
    EVALUATE,
    GIVEN_UP,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    NOT_TOLD,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLY,
    SOLVE,
    WINNER,
    Game,
    GameState,
    Grid,
    Parameter,
    Row,
    Rules,
    Value,
)
from games.boards import (
    draw_named,
    edge_names,
    get,
    has,
    hash_words,
    lowest,
    make_grid,
    ones,
    point_name,
    point_symmetries,
    put,
    squash,
)
from games.endings import Endings, Solvable
from games.othello_endings import SIZE as WORK
from games.othello_endings import TOO_LONG, moved, score_in
from languages.translate import tr

PRESET = {
    "episodes": 256, "gumbel": 16, "mcts_sims": 24, "fast_sims": 16, "grow_sims": 0, "reuse": 3.0,
    "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
    "random_opening_plies": 20, "cache_size": 0, "endgame": 10,
}  # fmt: skip
"""Settings of preset `laptop`: Gumbel search of every move, few simulations. A literal: see training/presets.py."""

SIZE, LOG, WORDS, BOARDS = HEADER, HEADER + 1, HEADER + 2, HEADER + 3
FIRST, SECOND, MOVES, POINTS = 0, 1, 2, 3


@compiled
def board(row, number):
    """Return where a board begins in the row."""
    return BOARDS + 2 * row[WORDS] * number


@compiled
def discs_of(row, player):
    """Return where a player's board of discs begins in the row."""
    return board(row, FIRST) if player == 1 else board(row, SECOND)


@compiled
def count(row, at):
    """Return how many points of a board are set."""
    total = 0
    for w in range(row[WORDS]):
        total += ones(get(row, at + 2 * w))
    return total


@inlined
def run_of(start, through, shift, up):
    """Return `start` in `through` and the bits after it without a gap, doubling the length (Kogge, Stone 1973)."""
    run = start & through
    run |= through & moved(run, shift, up)
    through &= moved(through, shift, up)
    run |= through & moved(run, 2 * shift, up)
    through &= moved(through, 2 * shift, up)
    if shift < 16:  # with shift >= 16 a word has four rows at most
        run |= through & moved(run, 4 * shift, up)
    if shift == 1:
        through &= moved(through, 4 * shift, up)
        run |= through & moved(run, 8 * shift, up)
    return run


@inlined
def add_moves(row, own, other, stride, inner, up):
    """Add the points from which, in four directions, a line of the other's discs leads to an own disc.

    `inner` leaves out the columns at the edges, where lines across columns end. A line between rows may continue in the
    next word.
    """
    words, moves, points = row[WORDS], board(row, MOVES), board(row, POINTS)
    a, b, c = stride - 1, stride, stride + 1
    mine = run_a = run_b = run_c = np.uint64(0)
    for i in range(words):
        w = 2 * (i if up else words - 1 - i)
        over_a, from_a = moved(run_a, 64 - a, not up), moved(mine, 64 - a, not up)
        over_b, from_b = moved(run_b, 64 - b, not up), moved(mine, 64 - b, not up)
        over_c, from_c = moved(run_c, 64 - c, not up), moved(mine, 64 - c, not up)
        mine, theirs = get(row, own + w), get(row, other + w)
        run = run_of(moved(mine, 1, up), theirs & inner, 1, up)
        run_a = run_of(moved(mine, a, up) | from_a | over_a, theirs & inner, a, up)
        run_b = run_of(moved(mine, b, up) | from_b | over_b, theirs, b, up)
        run_c = run_of(moved(mine, c, up) | from_c | over_c, theirs & inner, c, up)
        found = moved(run, 1, up) | moved(run_a, a, up) | moved(run_b, b, up) | moved(run_c, c, up)
        free = get(row, points + w) & ~(mine | theirs)
        put(row, moves + w, get(row, moves + w) | free & (found | over_a | over_b | over_c))


@compiled
def find_moves(row, player):
    """Write the board of moves of a player; return whether there are any."""
    own, other, moves = discs_of(row, player), discs_of(row, -player), board(row, MOVES)
    for i in range(moves, moves + 2 * row[WORDS]):
        row[i] = 0
    if row[LOG] == 3:  # literals, so that the shifts are constants in the machine code
        add_moves(row, own, other, 8, np.uint64(0x7E7E7E7E7E7E7E7E), True)
        add_moves(row, own, other, 8, np.uint64(0x7E7E7E7E7E7E7E7E), False)
    else:
        add_moves(row, own, other, 16, np.uint64(0x7FFE7FFE7FFE7FFE), True)
        add_moves(row, own, other, 16, np.uint64(0x7FFE7FFE7FFE7FFE), False)
    for i in range(moves, moves + 2 * row[WORDS]):
        if row[i] != 0:
            return True
    return False


@inlined
def enclosed(disc, mine, through, shift, up):
    run = run_of(moved(disc, shift, up), through, shift, up)
    return run if moved(run, shift, up) & mine else np.uint64(0)


@compiled
def put_disc_in_word(row, own, other, bit):
    """Do the same as `put_disc`, on a board of one word and without branches: games are 1.6 times as fast."""
    disc = np.uint64(1) << np.uint64(bit)
    mine, theirs = get(row, own), get(row, other)
    inner = theirs & np.uint64(0x7E7E7E7E7E7E7E7E)
    turned = enclosed(disc, mine, inner, 1, True) | enclosed(disc, mine, inner, 1, False)
    turned |= enclosed(disc, mine, inner, 7, True) | enclosed(disc, mine, inner, 7, False)
    turned |= enclosed(disc, mine, theirs, 8, True) | enclosed(disc, mine, theirs, 8, False)
    turned |= enclosed(disc, mine, inner, 9, True) | enclosed(disc, mine, inner, 9, False)
    put(row, own, mine | turned | disc)
    put(row, other, theirs ^ turned)


@compiled
def put_disc(row, own, other, r, c):
    """Put a disc and turn over the other's discs in all directions between it and the next own disc."""
    size, log = row[SIZE], row[LOG]
    start = (r << log) | c
    for dr in range(-1, 2):
        for dc in range(-1, 2):
            step = (dr << log) + dc
            rr, cc, bit = r + dr, c + dc, start + step
            while 0 <= rr < size and 0 <= cc < size and has(row, other, bit):
                rr, cc, bit = rr + dr, cc + dc, bit + step
            if bit == start + step or not (0 <= rr < size and 0 <= cc < size and has(row, own, bit)):
                continue
            while bit != start + step:
                bit -= step
                row[own + (bit >> 5)] ^= 1 << (bit & 31)
                row[other + (bit >> 5)] ^= 1 << (bit & 31)
    row[own + (start >> 5)] |= 1 << (start & 31)


@rule(LEGAL)
def legal(row, out):
    if row[OVER]:
        return 0
    size, log, moves, n = row[SIZE], row[LOG], board(row, MOVES), 0
    for w in range(row[WORDS]):
        word = get(row, moves + 2 * w)
        while word:
            bit = 64 * w + lowest(word)
            out[n] = (bit >> log) * size + (bit & ((1 << log) - 1))
            n += 1
            word &= word - np.uint64(1)
    if n == 0:
        out[0] = size * size
        n = 1
    return n


@rule(PLAY)
def play(row, action):
    player, size = row[PLAYER], row[SIZE]
    own, other = discs_of(row, player), discs_of(row, -player)
    row[PLY] += 1
    row[LAST] = action
    row[PLAYER] = -player
    if action < size * size:
        r = np.int32(action) // size
        c = np.int32(action) - r * size
        if row[WORDS] == 1:
            put_disc_in_word(row, own, other, (r << row[LOG]) | c)
        else:
            put_disc(row, own, other, r, c)
    if find_moves(row, -player):
        return
    if not find_moves(row, player):
        row[OVER] = 1
        lead = count(row, own) - count(row, other)
        row[WINNER] = player * ((lead > 0) - (lead < 0))
    for i in range(board(row, MOVES), board(row, POINTS)):
        row[i] = 0


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    """Write the planes: discs of the player to move, discs of the other, moves of the player to move, ones."""
    size, log, i = row[SIZE], row[LOG], 0
    own, other, moves = discs_of(row, row[PLAYER]), discs_of(row, -row[PLAYER]), board(row, MOVES)
    for r in range(size):
        for c in range(size):
            bit = (r << log) | c
            out[i] = has(row, own, bit)
            out[i + 1] = has(row, other, bit)
            out[i + 2] = has(row, moves, bit)
            out[i + 3] = 1
            i += 4


@rule(KEY)
def key(row):
    return hash_words(row, board(row, FIRST), 2 * row[WORDS], row[PLAYER] + 1)


@compiled
def score_of_row(row, alpha, beta, work):
    """Return the score of a position on a board of one word, see `othello_endings.score_in`."""
    own, other = get(row, discs_of(row, row[PLAYER])), get(row, discs_of(row, -row[PLAYER]))
    return score_in(own, other, get(row, board(row, POINTS)), np.int64(row[SIZE]), alpha, beta, work)


@rule(SOLVE)
def solve(row, left):
    if row[WORDS] > 1 or left.shape[0] < WORK:
        return NOT_TOLD
    score = score_of_row(row, np.int64(-1), np.int64(1), left)
    return GIVEN_UP if score == TOO_LONG else np.int64((score > 0) - (score < 0))


@rule(COUNT)
def counted(row, out):
    out[0], out[1] = count(row, board(row, FIRST)), count(row, board(row, SECOND))


@rule(ARRANGE)
def arranged(row, cells, player):
    """Refuse positions in which nobody can move."""
    size, log, discs = np.int64(row[SIZE]), row[LOG], 0
    for i in range(BOARDS, board(row, MOVES)):
        row[i] = 0
    for i in range(size * size):
        if cells[i] != 0:
            bit = (i // size << log) + i % size
            row[discs_of(row, cells[i]) + (bit >> 5)] |= 1 << (bit & 31)
            discs += 1
    row[PLAYER], row[LAST], row[PLY] = player, -1, max(discs - 4, 0)
    if find_moves(row, row[PLAYER]):
        return 1
    some = find_moves(row, -row[PLAYER])
    for i in range(board(row, MOVES), board(row, POINTS)):  # a pass is forced
        row[i] = 0
    return some


@rule(EVALUATE)
def evaluate(row):
    """Return an estimate from mobility and corners.

    The number of moves above or below half the side, and a corner like eight moves. The other's moves are not known
    here, but among positions of the same depth they are not needed.
    """
    edge = row[SIZE] - 1
    own, other = discs_of(row, row[PLAYER]), discs_of(row, -row[PLAYER])
    lead = count(row, board(row, MOVES)) - 0.5 * row[SIZE]
    for i in range(4):
        corner = ((edge if i & 1 else 0) << row[LOG]) | (edge if i & 2 else 0)
        lead += 8.0 * (has(row, own, corner) - has(row, other, corner))
    return squash(lead, 15.0)


_PASS = r"(?:pass|ps|pa|--+)(?=[a-z][0-9]|pass|[\s,]|\Z)"
_TOKEN = re.compile(rf"{_PASS}|[a-z][0-9]+|[^\s,]+?(?=pass|[a-z][0-9]|[\s,]|\Z)")
_NUMBER = re.compile(r"(?<![a-z0-9])[0-9]+[.)]+")  # of a move, before it


class Othello(Game):
    """Enclose the other's discs to turn them over; more discs win."""

    name = "othello"
    plane_names = ("discs of the player to move", "discs of the other", "moves of the player to move", "ones")
    won_by_a_move = False
    rows_from_top = True
    rules = Rules(legal, play, outcome, encode, key, solve=solve)
    evaluate = evaluate
    counted = counted
    arranged = arranged
    takes = (Parameter("size", 8, 4, 16, 2),)

    def __init__(self, **given: Value) -> None:
        (size,) = self.take(given)
        self.solvable = Solvable(14, end=size * size - 4)
        self.grid_shape = (size, size)
        self.input_shape = (size, size, 4)
        self.action_size = size * size + 1
        # all points but four are filled, with at most one pass between two discs
        self.max_plies = 2 * (size * size - 4) - 1
        # those that keep the four discs of the start: the diagonals and the half turn
        self.symmetries = [point_symmetries(size, size, 1)[i] for i in (2, 3, 6)]
        self.start_row = _start_row(size)
        if size <= 8:  # a board of one word
            self.endings = Endings(size * size - 4, leaf=1_000, root=100_000, move=1_000, earlier=6, room=WORK - 2)

    def set_up(self, board: np.ndarray, player: int) -> GameState:
        """Return the position with discs [size, size] in {1, -1, 0}; raise `UserError` when nobody can move."""
        return self.set_up_by_rule(
            board, player, "expected a position in which somebody can move, got a finished game"
        )

    def score(self, row: Row) -> tuple[float, float]:
        """Return the discs of the player to move and of the other."""
        cells = self.owners(row) * row[PLAYER]
        return float((cells == 1).sum()), float((cells == -1).sum())

    def points_in_words(self, state: GameState, side: int) -> str:
        discs = int((self.owners(self.row_of(state)) == side).sum())
        return tr("1 disc") if discs == 1 else tr("{count} discs", count=discs)

    @property
    def aim(self) -> str:
        return tr("Enclose discs of the other side in a line to turn them over. More discs at the end win.")

    @property
    def openspiel_name(self) -> str | None:
        return None if self.parameters else "othello"

    def move_name(self, action: int) -> str:
        size = self.grid_shape[0]
        return "pass" if action == size * size else point_name(action, size, size, from_top=True)

    def parse_moves(self, text: str) -> list[int]:
        """Accept "F5D6C3", "f5 d6 c3" and "1. f5 d6 2. c3"; a pass is `pass`, `ps`, `pa` or `--`.

        Forced passes may be left out, except for one at the end. Raise `UserError` with the number of the move in the
        text that cannot be read or played.
        """
        state, actions, forced = self.start(), [], self.action_size - 1
        for number, word in enumerate(_TOKEN.findall(_NUMBER.sub(" ", text.lower())), 1):
            try:
                action = forced if re.fullmatch(_PASS, word) else self.parse_move(word)
                if state.allowedActions == [forced] and action != forced:
                    actions.append(forced)
                    state = state.takeAction(forced)[0]
                actions.append(action)
                state = state.takeAction(action)[0]
            except UserError as error:
                raise UserError(f"move {number}: {error}") from None
        return actions

    def format_moves(self, actions: Sequence[int]) -> str:
        """Return "f5d6c3" without passes, except for one at the end."""
        passed = self.action_size - 1
        return "".join(self.move_name(a) for i, a in enumerate(actions) if a != passed or i == len(actions) - 1)

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        return make_grid(self.owners(row), int(row[LAST]), edge_names(*self.grid_shape, from_top=True))

    def render(self, row: Row) -> str:
        return "\n".join(draw_named(self.owners(row), int(row[LAST]), self.pieces, from_top=True))

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each disc."""
        size, log = int(row[SIZE]), int(row[LOG])
        boards = row[BOARDS:].reshape(4, -1).view(np.uint32)
        bits = (np.arange(size)[:, None] << log) + np.arange(size)
        set_bits = (boards[:, bits >> 5] >> (bits & 31)) & 1
        owners: np.ndarray = set_bits[FIRST].astype(np.int8) - set_bits[SECOND].astype(np.int8)
        return owners


def _start_row(size: int) -> Row:
    log = 3 if size <= 8 else 4
    words = (size << log) + 63 >> 6
    row = np.zeros(BOARDS + 8 * words, np.int32)
    row[[PLAYER, LAST, SIZE, LOG, WORDS]] = 1, -1, size, log, words
    low, high = size // 2 - 1, size // 2
    boards = {
        FIRST: [(low, high), (high, low)],
        SECOND: [(low, low), (high, high)],
        POINTS: [(r, c) for r in range(size) for c in range(size)],
        MOVES: [(low - 1, low), (low, low - 1), (high, high + 1), (high + 1, high)],
    }
    view = row[BOARDS:].view(np.uint32).reshape(4, -1)
    for number, points in boards.items():
        for r, c in points:
            view[number, (r << log) + c >> 5] |= np.uint32(1 << ((r << log) + c & 31))
    return row
