"""Go: any size from 2 to 19, area scoring, simple or positional superko, suicide or none.

An action is a point in row order from the top left, then the pass; names are Go's: `d4`, `pass`. Two passes in a row
end the game, and so does the last ply: then the board is scored as it is, every stone on it alive. A record may go on
after two passes, see `Go.resumed`. The row is that of `games.chains`.
"""

from __future__ import annotations

import numpy as np

from compiled import rule
from config import UserError
from game import (
    ENCODE,
    EVALUATE,
    KEY,
    LAST,
    LEGAL,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLAYOUT,
    PLY,
    WINNER,
    Game,
    GameState,
    Grid,
    Row,
    Rules,
)
from games.boards import GO_LETTERS, draw_named, edge_names, make_grid, point_name, point_symmetries, squash
from games.chains import (
    BORDER,
    CAP,
    CELLS,
    KO,
    KOMI,
    PASSED,
    SIZE,
    STONES_ONLY,
    areas,
    barred_point,
    colours,
    encode_stones,
    legal_actions,
    play_action,
    points,
    position_key,
    put_stone,
    spread,
    start_row,
    step,
)
from games.go_playouts import random_game
from languages.translate import tr

PRESET = {
    "episodes": 256, "gumbel": 16, "mcts_sims": 24, "fast_sims": 16, "grow_sims": 0, "reuse": 3.0,
    "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
    "random_opening_plies": 15, "turns_until_tau0": 10,
}  # fmt: skip
"""Settings of preset `laptop`: Gumbel search of every move, few simulations. A literal: see training/presets.py."""

PLANES = 8


@rule(LEGAL)
def legal(row, out):
    return legal_actions(row, out)


@rule(PLAY)
def play(row, action):
    play_action(row, action)


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    """Write the planes: those of `encode_stones`, points barred by ko, a pass ends the game, Black to move, ones."""
    encode_stones(row, out, 8)
    size, i = np.int64(row[SIZE]), 4
    for r in range(1, size + 1):
        for p in range(r * (size + 1) + 1, (r + 1) * (size + 1)):
            out[i] = barred_point(row, p)
            out[i + 1] = row[PASSED]
            out[i + 2] = row[PLAYER] == 1
            out[i + 3] = 1
            i += 8


@rule(KEY)
def key(row):
    return position_key(row)


@rule(EVALUATE)
def evaluate(row):
    """Return an estimate from partial area and liberties.

    Stones, empty points next to one colour only (half where stones alone count), komi, and a quarter for each point on
    which a colour has a liberty.
    """
    size = row[SIZE]
    width, territory = size + 1, 0.5 if row[STONES_ONLY] else 1.0
    lead = -0.5 * row[KOMI]
    for r in range(1, size + 1):
        for at in range(CELLS + r * width + 1, CELLS + r * width + size + 1):
            if row[at] != 0:
                lead += 1.0 if row[at] > 0 else -1.0
                continue
            black = white = False
            for d in range(4):
                stone = row[at + step(width, d)]
                black |= 0 < stone < BORDER
                white |= stone < 0
            lead += (0.25 + (0.0 if black and white else territory)) * (np.float64(black) - np.float64(white))
    return squash(lead * row[PLAYER], np.float64(size))


@rule(PLAYOUT)
def playout(row, seed):
    return random_game(row, seed)


class Go(Game):
    """Surround more of the board than the other."""

    name = "go"
    plane_names: tuple[str, ...] = (
        "stones of the player to move", "stones of the other",
        "stones of the player to move with one liberty", "stones of the other with one liberty",
        "points barred by ko", "a pass ends the game", "Black to move", "ones",
    )  # fmt: skip
    won_by_a_move = False
    look = "points"
    sgf_number = 1
    rules = Rules(legal, play, outcome, encode, key, playout=playout)
    start_row: Row
    evaluate = evaluate

    def __init__(
        self, size: int = 5, komi: float = 2.5, ko: str = "simple", suicide: str = "no", plies: int = 0
    ) -> None:
        """Make a game. `komi`: points White gets; `plies`: the ply at which the board is scored at the latest, 0 = 2
        size^2.

        `ko="superko"`: no board may ever come back. `suicide="yes"`: a chain of two or more stones may take its own
        last liberty; a single stone may never, as it would leave the board as it was.
        """
        longest = 2 * size * size
        if not 2 <= size <= 19:
            raise UserError(f"go: expected a size from 2 to 19, got {size}")
        if 2 * komi != int(2 * komi) or abs(komi) > size * size + 0.5:
            raise UserError(f"go: expected a komi in steps of 0.5 of at most {size * size}.5, got {komi:g}")
        for what, value, words in (("ko", ko, ("simple", "superko")), ("suicide", suicide, ("no", "yes"))):
            if value not in words:
                raise UserError(f"go: expected {what} to be one of {', '.join(words)}, got {value!r}")
        if not 0 <= plies <= 2 * longest:
            raise UserError(f"go: expected plies from 1 to {2 * longest} for size {size}, or 0, got {plies}")
        komi += 0.0  # a zero has no sign
        defaults = {"size": 5, "komi": 2.5, "ko": "simple", "suicide": "no", "plies": 0}
        given: dict[str, int | float | str] = {
            "size": size, "komi": komi, "ko": ko, "suicide": suicide, "plies": 0 if plies == longest else plies
        }  # fmt: skip
        self.parameters = {k: v for k, v in given.items() if v != defaults[k]}
        self.komi = komi
        self.grid_shape = (size, size)
        self.input_shape = (size, size, PLANES)
        self.action_size = size * size + 1
        self.max_plies = plies or longest
        self.symmetries = point_symmetries(size, size, extra_actions=1)
        self.start_row = start_row(size, komi, self.max_plies, superko=ko == "superko", suicide=suicide == "yes")

    @property
    def aim(self) -> str:
        return tr(
            "Surround points; stones without a free point next to them are taken. The larger area wins, and White gets "
            "{komi} points. Two passes end the game.", komi=f"{self.komi:g}",
        )  # fmt: skip

    def score(self, row: Row) -> tuple[float, float]:
        """Return the points on the board as it is, of the player to move and of the other; White's with komi."""
        row = row.copy()
        spread(row)
        black, white = float(points(row, 1)), float(points(row, -1)) + row[KOMI] / 2
        return (black, white) if row[PLAYER] == 1 else (white, black)

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each point as it is counted: stones, and empty regions that touch one colour only."""
        row = row.copy()
        spread(row)
        return areas(row)

    def set_up(self, board: np.ndarray, player: int) -> GameState:
        """Return the position with stones [size, size] in {1, -1, 0}; raise `UserError` if a chain has no liberty."""
        row, size = self.start_row.copy(), self.grid_shape[0]
        for action in np.flatnonzero(board):
            row[PLAYER] = board.flat[action]
            put_stone(row, (action // size + 1) * (size + 1) + action % size + 1)
        if not np.array_equal(colours(row), board):
            raise UserError("expected stones set up of which every chain has a liberty")
        row[[PLAYER, KO]] = player, 0
        return self.state_of(row)

    def resumed(self, state: GameState) -> GameState | None:
        """Return the position in which play continues after two passes, as servers and the AGA's rules allow.

        None when the board was scored because of the number of moves.
        """
        row = self.row_of(state).copy()
        if row[PLY] >= row[CAP]:
            return None
        row[[OVER, WINNER, PASSED]] = 0
        return self.state_of(row)

    def move_name(self, action: int) -> str:
        size = self.grid_shape[0]
        return "pass" if action == size * size else point_name(action, size, size, letters=GO_LETTERS)

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        notes = ["passed"] * self._passed(row)
        return make_grid(colours(row), int(row[LAST]), edge_names(*self.grid_shape, letters=GO_LETTERS), notes)

    def render(self, row: Row) -> str:
        lines = draw_named(colours(row), int(row[LAST]), self.pieces, letters=GO_LETTERS)
        return "\n".join(lines + ["   passed"] * self._passed(row))

    def _passed(self, row: Row) -> bool:
        return bool(row[LAST] == self.action_size - 1)
