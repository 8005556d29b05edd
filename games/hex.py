"""Hex (Hein 1942, Nash 1948) on a rhombus of hexagons: the player who joins the two edges of his own wins.

The first player joins the top to the bottom, the other the left to the right. Points are named `a1` (top left) to
`k11`, letters for columns; each row is drawn half a point further right than the one above, so b1 touches a1, c1, a2
and b2. A draw is impossible: on a full board exactly one player has joined his edges. An action is a point in row order
from the top left.

With `swap=yes` the second player's first move may be `swap`, the action after the last point: the stone on the board
becomes his, mirrored on the long diagonal (a3 to c1), so that it is worth to him what it was worth to the first player
("swap pieces"; players and their edges stay as they are).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiled import compiled, rule
from game import (
    ARRANGE,
    ENCODE,
    EVALUATE,
    KEY,
    LAST,
    LEGAL,
    NO_WIN,
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
    edge_names,
    kept_hash,
    make_grid,
    mix64,
    point_name,
    point_symmetries,
    squash,
    toggle,
)
from games.hex_lines import (
    BLOCKS,
    FAR,
    HASH,
    LINES,
    NEAR,
    SIZE,
    STONES,
    SWAP,
    WAYS,
    add_stone,
    block,
    edge,
    free_points,
    missing,
    room,
    spread,
    winning_point,
)
from languages.translate import tr

PRESET = {
    "episodes": 256, "gumbel": 16, "mcts_sims": 24, "fast_sims": 16, "grow_sims": 0, "reuse": 3.0,
    "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
    "turns_until_tau0": 12, "random_opening_plies": 8, "opening_plies": 2, "games_in_flight": 128, "cache_size": 0,
}  # fmt: skip
"""Settings of preset `laptop`: Gumbel search of every move, few simulations. A literal: see training/presets.py."""

SPELLINGS = ("swap", "swap-pieces")
"""How people and programs write the swap; the first is ours."""
PLANES = 8


@compiled
def may_swap(row):
    """Return whether the player to move may swap."""
    return row[SWAP] == 1 and row[PLY] == 1 and row[PLAYER] == -1


@rule(LEGAL)
def legal(row, out):
    if row[OVER]:
        return 0
    size = row[SIZE]
    point = count = 0
    for r in range(size):
        line = free_points(row, r)
        for _ in range(size):  # no branch: the CPU cannot predict which points are free
            out[count] = point
            count += line & 1
            line >>= 1
            point += 1
    if may_swap(row):
        out[count] = size * size
        count += 1
    return count


@compiled
def put_stone(row, player, r, c):
    """Put a stone of a player on a free point; the game is over if it joins his edges."""
    toggle(row, HASH, r * row[SIZE] + c, player + 1)
    if add_stone(row, player, r, c):
        row[OVER] = 1
        row[WINNER] = player


@compiled
def swap_stone(row):
    """Turn the only stone, one of the first player, into one of the other on the mirrored point."""
    size = row[SIZE]
    for r in range(size):
        if row[block(row, 1, STONES) + r] == 0:
            continue
        c = 0
        while not row[block(row, 1, STONES) + r] >> c & 1:
            c += 1
        for which in (STONES, NEAR, FAR):
            row[block(row, 1, which) + r] = 0
        toggle(row, HASH, r * size + c, 2)
        put_stone(row, np.int64(-1), np.int64(c), np.int64(r))
        row[LAST] = c * size + r
        return


@compiled
def make_move(row, action):
    size, player = row[SIZE], np.int64(row[PLAYER])
    if action == size * size:
        swap_stone(row)
    else:
        r = np.int64(np.int32(action) // size)
        put_stone(row, player, r, action - r * size)
        row[LAST] = action
    row[PLY] += 1
    row[PLAYER] = -player


@rule(PLAY)
def play(row, action):
    make_move(row, action)


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    """Write the planes.

    Stones of the player to move, of the other; those of them joined to one of their edges; the edges of the player to
    move, of the other; whether a swap is possible; ones. Edges, not colours: all that a player's colour means.
    """
    size, player, swap = row[SIZE], np.int64(row[PLAYER]), may_swap(row)
    i = 0
    for r in range(size):
        for side in range(2):
            who = player if side == 0 else -player
            stones = row[block(row, who, STONES) + r]
            joined = row[block(row, who, NEAR) + r] | row[block(row, who, FAR) + r]
            edges = edge(row, who, NEAR, r) | edge(row, who, FAR, r)
            for c in range(size):
                at = i + PLANES * c + side
                out[at] = stones >> c & 1
                out[at + 2] = joined >> c & 1
                out[at + 4] = edges >> c & 1
        for _ in range(size):
            out[i + 6] = swap
            out[i + 7] = 1
            i += PLANES


@rule(KEY)
def key(row):
    """Return the key; whether a swap is possible follows from the stones and the player to move."""
    return kept_hash(row, HASH, row[PLAYER] + 1)


@rule(WINNING)
def winning(row):
    return winning_point(row, np.int64(row[PLAYER]), np.int64(0))


@rule(SAFE)
def safe(row, out):
    """Write the move that takes the other's only winning point."""
    other = -np.int64(row[PLAYER])
    point = winning_point(row, other, np.int64(0))
    if point == NO_WIN:
        return NOT_TOLD
    if winning_point(row, other, point + 1) != NO_WIN:
        return 0
    out[0] = point
    return 1


@rule(ARRANGE)
def arranged(row, cells, player):
    """Refuse positions that are won already."""
    size, stones, first = np.int64(row[SIZE]), 0, 0
    for i in range(size * size):
        if cells[i] != 0:
            put_stone(row, np.int64(cells[i]), i // size, i % size)
            stones += 1
            first += cells[i] == 1
    row[PLAYER] = player
    row[PLY] = stones + (row[SWAP] == 1 and stones == 1 and first == 0)  # an own stone is not swapped
    return row[OVER] == 0


@rule(PLAYOUT)
def playout(row, seed):
    """Fill the board at random, both sides in turn; who joins his edges on it also wins when play ends at once."""
    size = row[SIZE]
    points = size * size
    if may_swap(row) and draw_below(mix64(seed), points) == 0:  # one of the free points and the swap
        make_move(row, np.int64(points))
    player = row[PLAYER]
    left = 0
    for r in range(size):
        line = free_points(row, r)
        while line != 0:
            line &= line - 1
            left += 1
    wanted = (left + 1) // 2 if player == 1 else left // 2
    own, joined = block(row, 1, STONES), room(row)
    for r in range(size):
        line = free_points(row, r)
        for c in range(size):
            if line >> c & 1:
                seed += np.uint64(1)
                if draw_below(mix64(seed), left) < wanted:
                    row[own + r] |= 1 << c
                    wanted -= 1
                left -= 1
        row[joined + r] = 0
    row[joined] = row[own]
    spread(row, joined, own)
    return 1 if row[joined + size - 1] != 0 else -1


@rule(EVALUATE)
def evaluate(row):
    """Return an estimate from the stones that each side lacks to join its edges; to be on move is half a stone."""
    lead, player = 0.5, np.int64(row[PLAYER])
    for start in (NEAR, FAR):
        lead += (missing(row, -player, start) - missing(row, player, start)) / (2 * WAYS)
    return squash(lead, 2.0)


class Hex(Game):
    """Join your two edges by a chain of stones."""

    name = "hex"
    plane_names = (
        "stones of the player to move", "stones of the other", "stones of the player to move joined to an edge of his",
        "stones of the other joined to an edge of his", "edges of the player to move", "edges of the other",
        "a swap is possible", "ones",
    )  # fmt: skip
    look = "hexagons"
    sgf_number = 11
    own_vertices = True
    rules = Rules(legal, play, outcome, encode, key, winning, playout, safe)
    start_row: Row
    evaluate = evaluate
    arranged = arranged
    takes = Parameter("size", 11, 3, 19), Parameter("swap", "no", words=("no", "yes"))

    def __init__(self, **given: Value) -> None:
        size, swap = self.take(given)
        swaps = swap == "yes"
        self.grid_shape = (size, size)
        self.input_shape = (size, size, PLANES)
        self.action_size = self.max_plies = size * size + swaps
        forms = point_symmetries(size, size, extra_actions=int(swaps))
        # the mirrors on the diagonals exchange the players' edges; the planes show edges, not colours
        self.symmetries, self.exchanges = [forms[2]], [forms[3], forms[6]]
        self.start_row = np.zeros(LINES + BLOCKS * (size + 2), np.int32)
        self.start_row[[PLAYER, LAST, SIZE, SWAP]] = 1, -1, size, swaps

    def set_up(self, board: np.ndarray, player: int) -> GameState:
        """Return the position with stones [size, size] in {1, -1, 0}; raise `UserError` when it is won already."""
        return self.set_up_by_rule(
            board, player, "expected a position set up in which nobody has won, got one with joined edges"
        )

    @property
    def aim(self) -> str:
        edges = tr("Join your two edges by a chain: who begins joins top to bottom, the other left to right.")
        swap = tr("In place of a first move, the second player may take over the first stone.")
        return f"{edges} {swap}" if self.parameters.get("swap") else edges

    @property
    def openspiel_name(self) -> str:
        return f"hex(board_size={self.grid_shape[0]},swap={bool(self.start_row[SWAP])})"

    def move_name(self, action: int) -> str:
        size = self.grid_shape[0]
        return SPELLINGS[0] if action == size * size else point_name(action, size, size, from_top=True)

    def parse_move(self, text: str) -> int:
        """Accept `swap-pieces`, as other programs write it, where a swap is a move."""
        word = text.strip().lower()
        return super().parse_move(SPELLINGS[0] if word in SPELLINGS else text)

    def named_by_sgf(self, size: str, komi: str, rules: str, points: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        swaps = any(text.lower().startswith("swap") for text in (rules, *points[:2]))
        return {"size": size, "swap": "yes" if swaps else "no"}, []

    def vertex(self, action: int) -> str:
        return SPELLINGS[1] if action == self.grid_shape[0] ** 2 else self.move_name(action)

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each stone."""
        size = self.grid_shape[0]
        lines = row[LINES:].reshape(BLOCKS, size + 2)[:, 1:-1]
        first, second = (lines[which, :, None] >> np.arange(size) & 1 for which in (0, 3))
        owners: np.ndarray = (first - second).astype(np.int8)
        return owners

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        return make_grid(self.owners(row), int(row[LAST]), edge_names(*self.grid_shape, from_top=True), [self._edges])

    @property
    def _edges(self) -> str:
        return f"{self.pieces[1]}: top to bottom, {self.pieces[-1]}: left to right"

    def render(self, row: Row) -> str:
        """Return the board, each row half a point further right than the one above."""
        size, last = self.grid_shape[0], int(row[LAST])
        lines = ["   " + "".join(f" {letter}" for letter in LETTERS[:size])]
        for r, stones in enumerate(self.owners(row)):
            text = "".join(f" {self.pieces[int(stone)]}" for stone in stones) + " "
            if last // size == r and last >= 0:
                at = 2 * (last % size)
                text = f"{text[:at]}[{text[at + 1]}]{text[at + 3:]}"
            lines.append(" " * r + f"{r + 1:>2} {text}".rstrip())
        return "\n".join([*lines, self._edges])
