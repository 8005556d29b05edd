"""Gomoku: n in a row on a square board (default 9 x 9, five); an action is a point in row order from the top, `a9` ...

Rules (`rule=`), with Black as the first player:
- `freestyle`: n or more in a row win, for both.
- `exact`: exactly n win, for both; a longer line counts for nothing.
- `renju`: Black wins with exactly five. Overlines, double-fours and double-threes are forbidden to Black, so they are
  not among the legal moves, unless the same stone makes five. White wins with five or more. The definitions are those
  of the Renju International Federation, section 9: a three counts only if one more stone makes it a straight four and
  that stone makes no five and is not itself forbidden, by the same rule applied recursively. Openings are free.
A full board is a draw. So is a renju position where every free point is forbidden to Black: the federation's rules let
both players pass there, and two passes are a draw.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiled import compiled, rule
from config import UserError
from game import (
    ARRANGE,
    ENCODE,
    EVALUATE,
    FORBIDDEN_POINT,
    FORCED,
    KEY,
    LAST,
    LEGAL,
    NO_WIN,
    NOT_PLAYED,
    NOT_TOLD,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLAYOUT,
    PLY,
    SAFE,
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
from games.boards import (
    LETTERS,
    draw_below,
    draw_named,
    edge_names,
    kept_hash,
    make_grid,
    mix64,
    point_name,
    point_symmetries,
    squash,
    toggle,
)
from games.lines import (
    BLACK,
    FORBIDDEN,
    FREE,
    HASH,
    LINES,
    PAD,
    RENJU,
    RULE,
    SIZE,
    WHITE,
    N,
    block,
    winning_point,
    wins,
)
from games.renju import DEPTH, forbid
from games.threats import find_forced, room_for_threats
from languages.translate import tr

PRESET = {
    "episodes": 256, "gumbel": 16, "mcts_sims": 24, "fast_sims": 16, "grow_sims": 0, "reuse": 3.0,
    "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
    "turns_until_tau0": 16, "random_opening_plies": 12, "opening_plies": 2, "games_in_flight": 128, "cache_size": 0,
}  # fmt: skip
"""Settings of preset `laptop`: Gumbel search of every move, few simulations. A literal: see training/presets.py."""

RULES = ("freestyle", "exact", "renju")
_KNOWN_AS = {**{rule: rule for rule in RULES}, "standard": "exact"}
LARGEST = 22
"""Lines of the largest board: a line with its padding, shifted by five points, fits 32 bits (see `games.lines`)."""


def rule_named(word: str) -> str:
    """Return the rule that a file or another program names, "" where it is not known here.

    >>> rule_named("Standard"), rule_named("caro")
    ('exact', '')
    """
    return _KNOWN_AS.get(word.strip().lower(), "")


@rule(LEGAL)
def legal(row, out):
    size = row[SIZE]
    free, forbidden = block(row, FREE), block(row, FORBIDDEN)
    point = count = 0
    for r in range(size):
        line = (row[free + r] & ~row[forbidden + r]) >> PAD
        for _ in range(size):  # no branch: the CPU cannot predict which points are free
            out[count] = point
            count += line & 1
            line >>= 1
            point += 1
    return count


@compiled
def put_stone(row, action):
    """Put a stone of the player to move on a point."""
    size, player = row[SIZE], row[PLAYER]
    r = np.int32(action) // size
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


@rule(PLAY)
def play(row, action):
    put_stone(row, action)


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    """Write the planes: stones of the player to move, stones of the other, the last stone, Black to move, ones."""
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


@rule(KEY)
def key(row):
    """Return the key; the last stone is part of it because the network sees it."""
    return kept_hash(row, HASH, 2 * (row[LAST] + 1) + (row[PLAYER] == 1))


@rule(WINNING)
def winning(row):
    return winning_point(row, row[PLAYER], 0)


@rule(SAFE)
def safe(row, out):
    """Write the moves that block the other's immediate wins."""
    point = winning_point(row, -row[PLAYER], 0)
    if point == NO_WIN:
        return NOT_TOLD
    size = row[SIZE]
    r = point // size
    if row[block(row, FORBIDDEN) + r] >> (PAD + point - r * size) & 1:
        return 0
    if winning_point(row, -row[PLAYER], point + 1) != NO_WIN:
        return 0
    out[0] = point
    return 1


@rule(PLAYOUT)
def playout(row, seed):
    """Play a random game, drawing points until one is free.

    NOT_PLAYED in renju, where the few legal points at the end may take many draws.
    """
    size = row[SIZE]
    if row[RULE] == RENJU:
        return NOT_PLAYED
    while row[OVER] == 0:
        seed += np.uint64(1)
        action = draw_below(mix64(seed), size * size)
        r = action // size
        if row[block(row, FREE) + r] >> (PAD + action - r * size) & 1:
            put_stone(row, action)
    return row[WINNER]


@rule(ARRANGE)
def arranged(row, cells, player):
    """Refuse positions that are won already."""
    size, stones = np.int64(row[SIZE]), 0
    for i in range(size * size):
        if cells[i] != 0:
            r, bit = i // size, np.int32(1 << (PAD + i % size))
            row[block(row, BLACK if cells[i] == 1 else WHITE) + r] |= bit
            row[block(row, FREE) + r] ^= bit
            toggle(row, HASH, i, cells[i] + 1)
            stones += 1
    for i in range(size * size):
        if cells[i] != 0 and wins(row, cells[i], i // size, i % size):
            return 0
    row[PLAYER], row[PLY] = player, stones
    row[OVER] = stones == size * size or (row[RULE] == RENJU and player == 1 and not forbid(row))
    return 1


@rule(EVALUATE)
def evaluate(row):
    """Return an estimate: lines of n still open to one player only, each worth four times as much per stone."""
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


@rule(FORCED)
def forced(row, effort, room, out):
    return find_forced(row, effort, room, out)


class Gomoku(Game):
    """Put a stone on a point; n in a row wins."""

    name = "gomoku"
    plane_names = ("stones of the player to move", "stones of the other", "the last stone", "Black to move", "ones")
    look = "points"
    sgf_number = 4
    rules = Rules(legal, play, outcome, encode, key, winning, playout, safe)
    evaluate = evaluate
    arranged = arranged
    takes = (
        Parameter("size", 9, 3, LARGEST),
        Parameter("n", 5, 2, LARGEST),
        Parameter("rule", "freestyle", words=RULES),
    )

    def __init__(self, **given: Value) -> None:
        """Make a game. `n`: how many in a row win."""
        size, n, self.rule = self.take(given)
        if n > size:
            raise UserError(f"gomoku: expected n up to size, got size={size}, n={n}")
        if self.rule == "renju" and n != 5:
            raise UserError(f"gomoku: expected n=5 with rule=renju, got n={n}")
        self.grid_shape = (size, size)
        self.input_shape = (size, size, 5)
        self.action_size = size * size
        self.winning_line = n
        self.max_plies = size * size
        self.symmetries = point_symmetries(size, size)
        if 3 <= n <= PAD:  # as far as the padding of lines reaches
            self.forced, self.forced_room = forced, room_for_threats(size)
        self.start_row = np.zeros(LINES + 4 * (PAD + size) + (DEPTH if self.rule == "renju" else 0), np.int32)
        self.start_row[[PLAYER, LAST, SIZE, N, RULE]] = 1, -1, size, self.winning_line, RULES.index(self.rule)
        self._lines(self.start_row, FREE)[:] = ((1 << size) - 1) << PAD

    def _lines(self, row: Row, which: int) -> Row:
        """Return a view of a block's lines."""
        size = self.grid_shape[0]
        start = LINES + PAD + which * (size + PAD)
        return row[start : start + size]

    def set_up(self, board: np.ndarray, player: int) -> GameState:
        """Return the position with stones [size, size] in {1, -1, 0}; raise `UserError` when it is won already."""
        return self.set_up_by_rule(
            board, player, "expected a position set up in which nobody has won, got one with a winning line"
        )

    def named_by_sgf(self, size: str, komi: str, rules: str, points: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """Most words for rules are about differences that we do not make: with these, the game is freestyle."""
        notes = [] if size else ["the file states no size: 9 is used"]
        known = rule_named(rules)
        if rules and not known:
            notes.append(f"RU[{rules[:40]}] is kept, but not known here: the game is read as freestyle")
        named = {"size": size} if size else {}
        return {**named, "rule": known or "freestyle"}, notes

    def sgf_rules_note(self, rules: str) -> str:
        return "" if rule_named(rules) == self.rule else super().sgf_rules_note(rules)

    @property
    def aim(self) -> str:
        if self.rule == "renju":
            return tr("Five stones in a row win. Black, who begins, may not make six, two fours or two threes at once.")
        if self.rule == "exact":
            return tr("Exactly {n} stones in a row win: across, down or diagonally.", n=self.winning_line)
        return tr("{n} stones in a row win: across, down or diagonally.", n=self.winning_line)

    @property
    def openspiel_name(self) -> str | None:
        if self.rule != "freestyle":
            return None
        return f"gomoku(size={self.grid_shape[0]},connect={self.winning_line})"

    def move_name(self, action: int) -> str:
        return point_name(action, *self.grid_shape)

    def parse_move(self, text: str) -> int:
        word, size = text.strip().lower(), self.grid_shape[0]
        if 2 <= len(word) <= 3 and word.isascii() and word[1:].isdigit() and word[1] != "0":
            column, number = LETTERS.find(word[0]), int(word[1:])
            if 0 <= column < size and number <= size:
                return (size - number) * size + column
        raise UserError(f"expected a move such as {self.move_name(0)!r}, got {text[:40]!r}")

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each stone."""
        owners: np.ndarray = self._points(row, BLACK) - self._points(row, WHITE)
        return owners

    def _points(self, row: Row, which: int) -> np.ndarray:
        """Return the points of a block, [size, size] of 0 and 1."""
        points: np.ndarray = self._lines(row, which)[:, None] >> PAD + np.arange(self.grid_shape[0]) & 1
        return points.astype(np.int8)

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        return make_grid(self._marked(row), int(row[LAST]), edge_names(*self.grid_shape))

    def render(self, row: Row) -> str:
        """Return the board; a point forbidden to the player to move is a `*`."""
        return "\n".join(draw_named(self._marked(row), int(row[LAST]), {**self.pieces, FORBIDDEN_POINT: "*"}))

    def _marked(self, row: Row) -> np.ndarray:
        """Return the stones, and the points that are forbidden to the player to move."""
        marked: np.ndarray = self.owners(row) + FORBIDDEN_POINT * self._points(row, FORBIDDEN)
        return marked
