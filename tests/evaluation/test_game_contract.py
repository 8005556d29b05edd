"""`game_contract.check` passes every game that conforms and finds each kind of fault, planted one at a time."""

import numpy as np
import pytest
from numba import cfunc

import games
from evaluation.game_contract import check
from game import (
    ENCODE,
    EVALUATE,
    HEADER,
    KEY,
    NO_WIN,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLAYOUT,
    PLY,
    SAFE,
    SOLVE,
    WINNER,
    WINNING,
    Game,
    Symmetry,
)
from games.boards import hash_cells, kept_hash, point_symmetries
from games.chains import HASH, PASSED
from support.corridor import PASS, Corridor, CorridorState

CONFORMING = ["connect4", "connect4(rows=5,columns=6,n=3)", "tictactoe", "corridor"]


@pytest.mark.parametrize("spec", CONFORMING)
def test_check_finds_no_fault_in_a_game_that_conforms(spec):
    assert check(Corridor() if spec == "corridor" else games.make(spec)) == []


def spoiled(facts=None, **members):
    """Return Corridor with some members of its positions, and some of its own, replaced."""
    state = type("SpoiledState", (CorridorState,), members)
    return type("SpoiledCorridor", (Corridor,), {"state_class": state, **(facts or {})})()


def board_of(state):
    return np.reshape(state.cells, state.game.grid_shape).astype(np.int8)


def owned(told):
    """Return Corridor whose positions tell whose each point is."""
    return spoiled(owners=property(told))


def test_check_finds_no_fault_in_a_game_that_tells_whose_points_are():
    assert check(owned(board_of), games=5) == []


def always(value):
    """A fact that stays what it is, whatever the game sets."""
    return property(lambda game: value, lambda game, other: None)


def original(member):
    return getattr(CorridorState, member).fget


def accepts_anything(state, action):
    good = action in state.allowedActions
    return CorridorState.takeAction(state, action) if good else (state, state.value, state.isEndGame)


def raises_value_error(state, action):
    if action not in state.allowedActions:
        raise ValueError
    return CorridorState.takeAction(state, action)


def gives_the_turn_away(state, action):
    if action not in state.allowedActions:
        state.playerTurn = -state.playerTurn
    return CorridorState.takeAction(state, action)


def changes_itself(state, action):
    new = CorridorState.takeAction(state, action)
    state.cells = new[0].cells
    return new


def values_for_the_player_who_moved(state, action):
    new, value, done = CorridorState.takeAction(state, action)
    return new, -value, done


def fails_on_a_pass(state, action):
    if action == PASS:
        raise IndexError("list index out of range")
    return CorridorState.takeAction(state, action)


def without_the_pass(state):
    planes = CorridorState.planes(state)
    planes[:, :, 2] = 0
    return planes


class OneRowForAll(Corridor):
    def state_of(self, row):
        return self.start()


@cfunc(OUTCOME, cache=True)
def outcome_for_the_beginner(row, out):
    out[0] = row[WINNER]
    return row[OVER]


@cfunc(OUTCOME, cache=True)
def outcome_that_is_no_number(row, out):
    out[0] = np.nan
    return row[OVER]


@cfunc(EVALUATE, cache=True)
def as_good_as_won(row):
    return 1.0


@cfunc(WINNING, cache=True)
def no_win(row):
    return NO_WIN


@cfunc(SAFE, cache=True)
def nothing_is_safe(row, out):
    return 0


@cfunc(SOLVE, cache=True)
def always_drawn(row, left):
    return 0


@cfunc(PLAYOUT, cache=True)
def won_by_the_second(row, seed):
    return -1.0 if seed % 3 else 1.0


@cfunc(PLAYOUT, cache=True)
def worth_three(row, seed):
    return 3.0


@cfunc(KEY, cache=True)
def key_of_the_upper_cells(row):
    return hash_cells(row, HEADER, HEADER + 6, row[PLAYER] + 1)


@cfunc(PLAY, cache=True)
def marks_without_a_ply(row, action):
    row[HEADER + action] = row[PLAYER]
    row[PLAYER] = -row[PLAYER]


@cfunc(ENCODE, cache=True)
def encode_signed(row, out):
    for i in range(27):
        out[i] = row[HEADER + i // 3]


@cfunc(KEY, cache=True)
def key_without_the_end(row):
    return kept_hash(row, HASH, row[PLY] * 2 + row[PASSED])


def go_without_the_end_in_its_key():
    game = games.make("go(size=3)")
    game.rules = game.rules._replace(key=key_without_the_end)
    return game


def compiled_with(**rules):
    game = games.make("tictactoe")
    game.rules = game.rules._replace(**rules)
    return game


def estimated_as_won():
    game = games.make("tictactoe")
    game.evaluate = as_good_as_won
    return game


def turned_the_wrong_way():
    """The quarter turn's actions go the other way round than its points."""
    game = games.make("tictactoe")
    turn = game.symmetries[4]
    game.symmetries = [Symmetry(turn.grid, np.argsort(turn.actions))]
    return game


def mirror(grid, actions):
    return spoiled({"symmetries": always([Symmetry(np.array(grid), np.array(actions))])})


class Unsearchable(Game):
    """A game with positions but without rules that the search could call."""

    name, grid_shape, input_shape, action_size, max_plies = "corridor", (2, 4), (2, 4, 3), 9, 16
    symmetries = point_symmetries(2, 4, 1)

    def start(self):
        return CorridorState(self)


UPSIDE_DOWN = [4, 5, 6, 7, 0, 1, 2, 3]
SPOILED = {
    "legal moves in descending order": (
        "order of legal",
        lambda: spoiled(allowedActions=property(lambda s: original("allowedActions")(s)[::-1])),
    ),
    "a legal move outside the range": (
        "order of legal",
        lambda: spoiled(allowedActions=property(lambda s: [*original("allowedActions")(s), 9][-9:])),
    ),
    "legal moves after the end": (
        "number of legal",
        lambda: spoiled(allowedActions=property(lambda s: original("allowedActions")(s) or [PASS])),
    ),
    "illegal moves accepted": (
        "illegal action: expected UserError",
        lambda: spoiled(takeAction=accepts_anything),
    ),
    "illegal moves raise something else": ("illegal action", lambda: spoiled(takeAction=raises_value_error)),
    "illegal moves leave a trace": (
        "playerTurn after an illegal action",
        lambda: spoiled(takeAction=gives_the_turn_away),
    ),
    "takeAction changes the old position": (
        "planes of the old position after takeAction",
        lambda: spoiled(takeAction=changes_itself),
    ),
    "a value for the player who moved": (
        "value and done from takeAction",
        lambda: spoiled(takeAction=values_for_the_player_who_moved),
    ),
    "a value for the player who began": (
        "score: expected the sign",
        lambda: spoiled(value=property(lambda s: original("value")(s) * s.playerTurn)),
    ),
    "a value before the end": ("value: expected", lambda: spoiled(value=property(lambda s: 0.25))),
    "a value above 1": (
        "value: expected",
        lambda: spoiled(value=property(lambda s: 4 * original("value")(s))),
    ),
    "a value that is no float": (
        "value: expected",
        lambda: spoiled(value=property(lambda s: int(original("value")(s)))),
    ),
    "an id without the side to move": (
        "playerTurn where ids are equal",
        lambda: spoiled(id=property(lambda s: (s.cells, s.passes))),
    ),
    "an id without the pass": (
        "planes where ids are equal",
        lambda: spoiled(id=property(lambda s: (s.cells, s.playerTurn, s.isEndGame))),
    ),
    "an id and planes without the pass": (
        "isEndGame a move after ids are equal",
        lambda: spoiled(id=property(lambda s: (s.cells, s.playerTurn, s.isEndGame)), planes=without_the_pass),
    ),
    "an id that is new each time": (
        "id when the same moves are played again",
        lambda: spoiled(id=property(lambda s: s.__dict__.setdefault("new", object()))),
    ),
    "planes of floats": (
        "planes: expected uint8",
        lambda: spoiled(planes=lambda s: CorridorState.planes(s) * 1.0),
    ),
    "planes with twos": (
        "planes: expected only 0 and 1",
        lambda: spoiled(planes=lambda s: 2 * CorridorState.planes(s)),
    ),
    "planes of another shape": (
        "shape of planes",
        lambda: spoiled(planes=lambda s: CorridorState.planes(s)[:1]),
    ),
    "two moves of one name": ("move_name", lambda: spoiled({"move_name": lambda self, a: str(a // 2)})),
    "names read as another move": (
        "parse_move of each",
        lambda: spoiled({"parse_move": lambda self, text: 0}),
    ),
    "owners on another board": ("owners: expected", lambda: owned(lambda s: board_of(s).T)),
    "owners in a list": ("owners: expected", lambda: owned(lambda s: board_of(s).tolist())),
    "owners of other numbers": ("owners: expected", lambda: owned(lambda s: 2 * board_of(s))),
    "owners at the end only": ("owners: expected", lambda: owned(lambda s: board_of(s) if s.isEndGame else None)),
    "owners before the end only": ("owners: expected", lambda: owned(lambda s: None if s.isEndGame else board_of(s))),
    "owners that a mirror leaves where they are": (
        "owners under symmetry", lambda: owned(lambda s: np.eye(*board_of(s).shape, dtype=np.int8))
    ),
    "nothing drawn": ("render", lambda: spoiled(render=lambda s: "")),
    "the other player begins": (
        "the player who begins",
        lambda: spoiled({"start": lambda self: CorridorState(self, player=-1)}),
    ),
    "games longer than max_plies": ("length of a game", lambda: spoiled({"max_plies": always(5)})),
    "a layout without room for the board": (
        "action_size",
        lambda: spoiled({"grid_shape": always((3, 4))}),
    ),
    "a rule that raises": (
        "the rules: expected no exception, got IndexError",
        lambda: spoiled(takeAction=fails_on_a_pass),
    ),
    "rows that lose the position": ("planes after row_of and state_of", OneRowForAll),
    "a symmetry that is no permutation": ("actions of symmetry 0", lambda: mirror(UPSIDE_DOWN, [0] * 9)),
    "a symmetry of the points only": ("planes under symmetry 0", lambda: mirror(UPSIDE_DOWN, range(9))),
    "a symmetry of the moves only": ("planes under symmetry 0", lambda: mirror(range(8), [*UPSIDE_DOWN, 8])),
    "a symmetry turned the wrong way": ("planes under symmetry 0", turned_the_wrong_way),
    "a symmetry that the rules do not have": (
        "value under symmetry 0",
        lambda: spoiled(
            score=property(lambda s: (float(s.cells[0] == s.playerTurn), 0.0)),
            value=property(lambda s: s.score[0] if s.isEndGame else 0.0),
        ),
    ),
    "no rules for the search": ("rules", Unsearchable),
    "compiled: an outcome for the player who began": (
        "row (player, over, winner)",
        lambda: compiled_with(outcome=outcome_for_the_beginner),
    ),
    "compiled: a key that does not tell which pass ended the game": (
        "isEndGame where ids are equal",
        go_without_the_end_in_its_key,
    ),
    "compiled: a key that leaves out a row": (
        "planes where ids are equal",
        lambda: compiled_with(key=key_of_the_upper_cells),
    ),
    "compiled: a win that is not seen": (
        "the move that wins at once",
        lambda: compiled_with(winning=no_win),
    ),
    "compiled: moves that seem to lose": (
        "moves that do not lose at once",
        lambda: compiled_with(safe=nothing_is_safe),
    ),
    "compiled: endings that seem to be drawn": (
        "exact value",
        lambda: compiled_with(solve=always_drawn),
    ),
    "compiled: random games for the other player": (
        "mean result of playout",
        lambda: compiled_with(playout=won_by_the_second),
    ),
    "compiled: random games worth three": (
        "the rules: expected `playout` to return a value from -1 to 1",
        lambda: compiled_with(playout=worth_three),
    ),
    "compiled: plies that are not counted": (
        "plies in a row: expected 1, got 0",
        lambda: compiled_with(play=marks_without_a_ply),
    ),
    "compiled: an estimate of 1 before the end": (
        "evaluate: expected a number within (-1, 1), got 1.0",
        estimated_as_won,
    ),
    "compiled: planes with 255": (
        "planes: expected only 0 and 1",
        lambda: compiled_with(encode=encode_signed),
    ),
}


@pytest.mark.parametrize("fault", SPOILED)
def test_check_finds(fault):
    wanted, make_game = SPOILED[fault]
    found = check(make_game(), games=25)
    assert any(line.startswith(wanted) for line in found), found


def test_a_value_that_is_no_number_is_the_only_fault():
    (fault,) = check(compiled_with(outcome=outcome_that_is_no_number), games=5)
    assert fault.startswith("value: expected a float in [-1, 1], 0.0 before the end, got nan (after moves [")


def test_a_fault_says_what_was_expected_what_came_and_after_which_moves():
    (fault,) = check(spoiled({"max_plies": always(3)}), games=1, seed=3)
    assert fault.startswith("length of a game: expected at most 3 plies, got more (after moves [")
    moves = [int(word) for word in fault.split("[")[1].strip("])").split(",")]
    state = Corridor().start()
    for action in moves:
        state = state.takeAction(action)[0]
    assert len(moves) == 3 and not state.isEndGame
