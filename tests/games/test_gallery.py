"""The games of examples/: they keep the contract, and their rules are those of OpenSpiel or of what is known."""

import re

import numpy as np
import pytest

from evaluation.game_contract import check
from support.gallery import GALLERY, make, value

FILES = sorted(path.name for path in GALLERY.glob("*.py"))
SMALLER = {"nim": "heaps=3", "domineering": "size=4", "breakthrough": "size=5", "dots_and_boxes": "boxes=2"}


def test_the_gallery_is_listed():
    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    assert len(FILES) == 5 and [name for name in FILES if f"({name})" not in text] == []


@pytest.mark.parametrize("name", FILES)
def test_a_game_of_the_gallery_keeps_the_contract(name):
    name = name.removesuffix(".py")
    assert check(make(name), games=4) == []
    if name in SMALLER:
        assert check(make(name, SMALLER[name]), games=20) == []


# ---- what is known of them


def test_nim_is_lost_where_the_heaps_have_no_xor():
    game = make("nim", "heaps=3")
    state_class = type(game.start())
    for heaps in np.ndindex(2, 4, 6):
        for player in (1, -1):
            lost = np.bitwise_xor.reduce(heaps) == 0
            assert value(state_class(game, heaps, player)) == (-1 if lost else 1), heaps


@pytest.mark.parametrize("size, wanted", [(2, 1), (3, 1), (4, 1)])
def test_domineering_is_won_by_who_is_known_to_win(size, wanted):
    """Breuker, Uiterwijk, van den Herik 2000, "Solving 8 x 8 Domineering", of square boards; 5 x 5 is a slow test."""
    assert value(make("domineering", f"size={size}").start()) == wanted


def test_a_mirrored_domino_is_a_domino():
    game = make("domineering", "size=3")
    assert [[game.move_name(a) for a in form.actions[[0, 6]]] for form in game.symmetries] == [
        ["a2|", "a1-"],
        ["c3|", "b3-"],
        ["c2|", "b1-"],
    ]


def test_dots_and_boxes_a_box_gives_another_move():
    state = make("dots_and_boxes", "boxes=1").start()
    for move in ("b3", "a2", "c2"):
        state = state.takeAction(state.game.parse_move(move))[0]
    assert state.playerTurn == -1
    after, outcome, done = state.takeAction(state.game.parse_move("b1"))
    assert (after.playerTurn, outcome, done, after.score) == (-1, 1.0, True, (1.0, 0.0))


def test_ultimate_tictactoe_sends_to_a_board_and_frees_where_that_is_closed():
    """O wins the first small board by a8 b8 c8; then g6 sends him to that board, which is closed."""
    state, boards = make("ultimate_tictactoe").start(), []
    for move in "a9 b8 d6 a8 a6 c8 g6".split():
        state = state.takeAction(state.game.parse_move(move))[0]
        boards.append(state.board)
    assert boards == [0, 4, 0, 3, 0, 5, None] and state.results[0] == -1
    open_points = {state.game.move_name(action) for action in state.allowedActions}
    assert len(open_points) == 81 - 9 - 3 and {"c9", "a7"}.isdisjoint(open_points)


# ---- equal to OpenSpiel


def cell(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def nim_action(game, spiel, state, action):
    heap, taken = divmod(action, 7)
    return [next(a for a in spiel.legal_actions() if cell(spiel.action_to_string(a)) == [heap + 1, taken + 1])]


def line_action(game, spiel, state, action):
    """OpenSpiel's lines are (h, row of dots, column of boxes) and (v, row of boxes, column of dots)."""
    r, c = divmod(action, game.grid_shape[1])
    wanted = ["v" if r % 2 else "h", str(r // 2), str(c // 2)]
    words = {a: re.findall(r"[hv]\b|\d+", spiel.action_to_string(a))[-3:] for a in spiel.legal_actions()}
    return [next(a for a, found in words.items() if found == wanted)]


def pawn_action(game, spiel, state, action):
    """OpenSpiel's first player has the upper rows and goes down: the board is turned upside down."""
    to, size = game.target(action, state.playerTurn), game.size
    squares = [f"{'abcdefgh'[i % size]}{i // size + 1}" for i in (action // 3, to)]
    return [next(a for a in spiel.legal_actions() if spiel.action_to_string(a).rstrip("*") == "".join(squares))]


def ultimate_action(game, spiel, state, action):
    """OpenSpiel first asks for the board where any is free."""
    r, c = divmod(action, 9)
    board, cell = r // 3 * 3 + c // 3, r % 3 * 3 + c % 3
    return [board, cell] if state.board is None else [cell]


@pytest.mark.parametrize(
    "name, inside, other, translate",
    [
        ("nim", "", "nim(pile_sizes=1;3;5;7,is_misere=False)", nim_action),
        ("dots_and_boxes", "", "dots_and_boxes(num_rows=3,num_cols=3)", line_action),
        ("breakthrough", "", "breakthrough(rows=6,columns=6)", pawn_action),
        ("ultimate_tictactoe", "", "ultimate_tic_tac_toe", ultimate_action),
    ],
)
def test_games_equal_openspiels(name, inside, other, translate):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel's rules")
    game, rng = make(name, inside), np.random.default_rng(0)
    for _ in range(15):
        state, spiel = game.start(), pyspiel.load_game(other).new_initial_state()
        while not state.isEndGame:
            assert not spiel.is_terminal()
            assert spiel.current_player() == (0 if state.playerTurn == 1 else 1)
            free = name == "ultimate_tictactoe" and state.board is None
            assert free or len(spiel.legal_actions()) == len(state.allowedActions)
            action = int(rng.choice(state.allowedActions))
            for one in translate(game, spiel, state, action):
                spiel.apply_action(one)
            state = state.takeAction(action)[0]
        assert spiel.is_terminal() and spiel.returns()[0] == state.value * state.playerTurn
