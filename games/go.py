"""Go: any size from 2 to 19, area scoring, simple or positional superko, suicide or none.

An action is a point in row order from the top left, then the pass; names are Go's: `d4`, `pass`. Two passes in a row
end the game, and so does the last ply: then the board is scored as it is, every stone on it alive. A record may go on
after two passes, see `Go.resumed`. The row is that of `games.chains`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from compiled import rule
from config import UserError
from game import (
    ARRANGE,
    COUNT,
    ENCODE,
    EVALUATE,
    FORBIDDEN_POINT,
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
    CompiledState,
    Game,
    GameState,
    Grid,
    Parameter,
    Row,
    Rules,
    Value,
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
    SLOTS,
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
from games.endings import Solvable
from games.go_playouts import random_game
from games.sgf_words import go_rules_of, komi_of
from languages.translate import tr

PRESET = {
    "episodes": 256, "gumbel": 16, "mcts_sims": 24, "fast_sims": 16, "grow_sims": 0, "reuse": 3.0,
    "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
    "random_opening_plies": 15, "turns_until_tau0": 10,
}  # fmt: skip
"""Settings of preset `laptop`: Gumbel search of every move, few simulations. A literal: see training/presets.py."""

PLANES = 8
SOLVABLE = {3: Solvable(18), 4: Solvable(20, most=1500), 5: Solvable(16, most=500)}
"""{size: positions that alpha-beta solves}"""
LONGEST = 4
"""Moves for each point of the board in a game for programs, which know no end before two passes."""


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


@rule(COUNT)
def counted(row, out):
    spread(row)
    out[0], out[1] = points(row, 1), points(row, -1) + row[KOMI] / 2
    size, i = np.int64(row[SIZE]), 2
    rings = CELLS + (size + 2) * (size + 1) + 1
    for r in range(1, size + 1):
        for p in range(r * (size + 1) + 1, (r + 1) * (size + 1)):
            stone, note = row[CELLS + p], row[rings + p]
            out[i] = 0.0
            if stone != 0:
                out[i] = 1.0 if stone > 0 else -1.0
            elif row[STONES_ONLY] == 0 and note in (1, 2):
                out[i] = 1.0 if note == 1 else -1.0
            i += 1


@rule(ARRANGE)
def arranged(row, cells, player):
    """Refuse chains without a liberty, which are taken off the board."""
    size = np.int64(row[SIZE])
    for i in range(size * size):
        if cells[i] != 0:
            row[PLAYER] = cells[i]
            put_stone(row, (i // size + 1) * (size + 1) + i % size + 1)
    row[PLAYER], row[KO] = player, 0
    for i in range(size * size):
        if np.sign(row[CELLS + (i // size + 1) * (size + 1) + i % size + 1]) != cells[i]:
            return 0
    return 1


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
    scored_by_area = True
    sgf_number = 1
    rules = Rules(legal, play, outcome, encode, key, playout=playout)
    start_row: Row
    evaluate = evaluate
    counted = counted
    arranged = arranged
    takes: tuple[Parameter, ...] = (
        Parameter("size", 5, 2, 19),
        Parameter("komi", 2.5, -361.5, 361.5, 0.5),
        Parameter("ko", "simple", words=("simple", "superko")),
        Parameter("suicide", "no", words=("no", "yes")),
        Parameter("plies", 0, 0, 4 * 361),
    )

    def __init__(self, **given: Value) -> None:
        """Make a game. `komi`: points White gets; `plies`: the ply at which the board is scored at the latest, 0 = 2
        size^2.

        `ko="superko"`: no board may ever come back. `suicide="yes"`: a chain of two or more stones may take its own
        last liberty; a single stone may never, as it would leave the board as it was.
        """
        size, komi, ko, suicide, plies = self.take(given)
        longest = 2 * size * size
        if abs(komi) > size * size + 0.5:
            most = f"{size * size}.5"
            raise UserError(f"go: expected a komi from -{most} to {most} for size {size}, got {komi:g}")
        if plies > 2 * longest:
            raise UserError(f"go: expected plies from 1 to {2 * longest} for size {size}, or 0, got {plies}")
        if plies == longest:
            del self.parameters["plies"]
        self._lay_out(size, komi, plies or longest, superko=ko == "superko", suicide=suicide == "yes")
        self.solvable = SOLVABLE.get(size)

    def _lay_out(self, size: int, komi: float, plies: int, *, superko: bool = False, suicide: bool = False) -> None:
        self.komi = komi
        self.grid_shape = (size, size)
        self.input_shape = (size, size, PLANES)
        self.action_size = size * size + 1
        self.max_plies = plies
        self.symmetries = point_symmetries(size, size, extra_actions=1)
        self.start_row = start_row(size, komi, plies, superko=superko, suicide=suicide)

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
        return self.set_up_by_rule(board, player, "expected stones set up of which every chain has a liberty")

    def white_points(self, state: GameState) -> float:
        return float(state.row[KOMI]) / 2 if isinstance(state, CompiledState) else super().white_points(state)

    def rewarded(self, state: GameState, points: float) -> GameState:
        row = self.row_of(state).copy()
        row[KOMI] = round(2 * ((self.komi or 0.0) + points))
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

    def turned(self, state: GameState) -> GameState:
        """Return the position with the other player to move, without a ko and as if nobody had passed."""
        row = self.row_of(state).copy()
        row[[PLAYER, KO, PASSED]] = -row[PLAYER], 0, 0
        return self.state_of(row)

    def longer(self) -> Go:
        if "plies" in self.parameters or self.start_row[SLOTS]:
            return self  # with superko a row has no room for more boards of the past
        found, size = copy.copy(self), self.grid_shape[0]
        found.max_plies, found.start_row = LONGEST * size * size, self.start_row.copy()
        found.start_row[CAP] = found.max_plies
        return found

    def points_in_words(self, state: GameState, side: int) -> str:
        """Return the points and what they are made of: stones, territory and komi."""
        row = self.row_of(state)
        stones, owned = int((colours(row) == side).sum()), int((self.owners(row) == side).sum())
        komi = state.score[state.playerTurn != side] - owned
        parts = [tr("1 stone") if stones == 1 else tr("{count} stones", count=stones)]
        parts.append(tr("{count} territory", count=owned - stones))
        if komi:
            parts.append(tr("{points} komi", points=f"{komi:g}"))
        return f"{super().points_in_words(state, side)} ({', '.join(parts)})"

    def named_by_sgf(self, size: str, komi: str, rules: str, points: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        area = int(size) ** 2
        (value, note), (named, differs) = komi_of(komi, area), go_rules_of(rules)
        found = {"size": size, "komi": f"{value:g}", **named}
        if len(points) > 2 * area and named.get("ko") == "superko":  # such a game has no `longer` one
            found["plies"] = str(LONGEST * area)
        return found, [line for line in (note, differs) if line]

    def sgf_rules_note(self, rules: str) -> str:
        return go_rules_of(rules, superko=self.parameters.get("ko") == "superko")[1]

    @property
    def openspiel_name(self) -> str | None:
        """OpenSpiel's Go scores a repeated board as a draw at once, where ours continues to the last ply.

        All other rules are the same.
        """
        if self.parameters.keys() & {"ko", "suicide"}:
            return None
        return f"go(board_size={self.grid_shape[0]},komi={self.komi},max_game_length={self.max_plies})"

    def openspiel_actions(self) -> np.ndarray:
        """OpenSpiel counts points from the bottom left."""
        points = np.arange(self.action_size - 1).reshape(self.grid_shape)
        return np.append(points[::-1].ravel(), self.action_size - 1)

    def move_name(self, action: int) -> str:
        size = self.grid_shape[0]
        return "pass" if action == size * size else point_name(action, size, size, letters=GO_LETTERS)

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        notes, cells = ["passed"] * self._passed(row), colours(row)
        if cells.any() and not state.isEndGame:  # on an empty board all points are free
            forbidden = cells == 0
            forbidden.flat[[a for a in state.allowedActions if a < cells.size]] = False
            cells[forbidden] = FORBIDDEN_POINT
        return make_grid(cells, int(row[LAST]), edge_names(*self.grid_shape, letters=GO_LETTERS), notes)

    def render(self, row: Row) -> str:
        lines = draw_named(colours(row), int(row[LAST]), self.pieces, letters=GO_LETTERS)
        return "\n".join(lines + ["   passed"] * self._passed(row))

    def _passed(self, row: Row) -> bool:
        return bool(row[LAST] == self.action_size - 1)
