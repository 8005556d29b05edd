"""A range of sizes in a game's name: which games it makes, and where their boards lie in the largest one."""

import numpy as np
import pytest

import games
from config import SettingsError, UserError, has_range
from games.sizes import OUTSIDE, Frame, families, family, other_sizes, others
from storage.run_folders import game_folder
from training.presets import preset


@pytest.mark.parametrize(
    "spec, name, sizes",
    [
        ("gomoku(size=5..7)", "gomoku(size=5..7)", ["gomoku(size=5)", "gomoku(size=6)", "gomoku(size=7)"]),
        (" gomoku( n=4 , size = 8..9 )", "gomoku(n=4,size=8..9)", ["gomoku(n=4,size=8)", "gomoku(n=4)"]),
        ("othello(size=6..10)", "othello(size=6..10)", ["othello(size=6)", "othello", "othello(size=10)"]),
        ("go(size=9..9,komi=7)", "go(komi=7,size=9..9)", ["go(komi=7,size=9)"]),
        ("connect4(rows=5..6,columns=7)", "connect4(rows=5..6)", ["connect4(rows=5)", "connect4"]),
        ("connect4(columns=6..7,rows=5..6)", "connect4(columns=6..7,rows=5..6)",
         ["connect4(columns=6,rows=5)", "connect4(columns=6)", "connect4(rows=5)", "connect4"]),
    ],
)  # fmt: skip
def test_a_range_makes_the_largest_game_which_knows_all_sizes(spec, name, sizes):
    game = games.make(spec)
    assert game.spec == name == games.make(name).spec and [each.spec for each in game.sizes] == sizes
    assert game.input_shape == game.sizes[-1].input_shape and not game.sizes[-1].sizes


@pytest.mark.parametrize(
    "spec, said",
    [
        ("gomoku(n=4..5)", "expected a range of size, rows, columns such as size=7..15, got n=4..5"),
        ("gomoku(size=9..7)", "expected a range of size, rows, columns such as size=7..15, got size=9..7"),
        ("gomoku(size=3..7)", "gomoku: expected n up to size, got size=3, n=5"),
        ("gomoku(size=7..23)", "gomoku: expected size from 3 to 22, got 23"),
        ("othello(size=7..9)", "othello: expected size from 4 to 16 in steps of 2, got 9"),
        ("tictactoe(size=3..4)", "expected no parameters, got 'size'"),
        ("connect4(rows=1..9,columns=1..9)", "expected at most 64 sizes, got more"),
        ("gomoku(size=7..)", "expected a whole number for size, got '7..'"),
    ],
)
def test_what_is_no_range_of_sizes_is_told_in_one_line(spec, said):
    with pytest.raises(UserError) as error:
        games.make(spec)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_path_with_two_dots_is_no_range():
    assert not has_range("../mine.py:Mine(size=5)") and has_range("../mine.py:Mine(size=5..7)")


def test_ranges_of_a_game_have_one_folder_and_a_run_goes_on_with_another_one():
    assert family("go(komi=7,size=5..9)") == "go(komi=7,size=many)" and family("go(size=9)") == "go(size=9)"
    assert game_folder("gomoku(size=5..7)") == game_folder("gomoku(size=7..15)") == "gomoku-size-many"
    assert game_folder("gomoku(size=5)") == "gomoku-size-5"
    assert other_sizes("game", "gomoku(size=5..7)", "gomoku(size=7..15)")
    others_ = ("game", "gomoku(size=7)"), ("game", "gomoku(size=7..9,rule=renju)"), ("seed", "gomoku(size=7..9)")
    for name, new in others_:
        assert not other_sizes(name, "gomoku(size=5..7)", new)
    assert families(games.make("connect4(n=5)")) == [
        "connect4(columns=many,n=5,rows=many)", "connect4(n=5,rows=many)", "connect4(columns=many,n=5)"
    ]  # fmt: skip


def test_a_preset_of_a_range_has_the_network_for_it():
    assert preset("laptop", game="gomoku(size=5..7)").many_sizes and not preset("laptop", game="gomoku").many_sizes
    with pytest.raises(SettingsError, match="size_ratio"):
        preset("laptop", game="gomoku(size=5..7)", size_ratio=0.0)


@pytest.mark.parametrize("spec", ["gomoku(size=5..7)", "go(size=3..5)", "othello(size=4..8)",
                                  "connect4(rows=4..5,columns=4..6)"])  # fmt: skip
def test_every_view_of_a_board_in_the_frame_is_that_view_of_the_board_alone(spec):
    game, rng = games.make(spec), np.random.default_rng(0)
    frame, (rows, columns, depth) = Frame(game), game.input_shape
    for number, each in enumerate(game.sizes):
        high, wide = each.grid_shape
        planes = rng.integers(0, 2, (1, *each.input_shape)).astype(np.uint8)
        visits = rng.integers(1, 9, (1, each.action_size)).astype(np.uint16)
        large, moves = frame.planes(number, planes.reshape(1, -1)), frame.visits(number, visits, 65535)
        found = frame.masks[number].reshape(rows, columns)
        assert found[:high, :wide].all() and found.sum() == high * wide
        assert frame.views[number] == 1 + len(each.symmetries)
        for form, (board, pi) in enumerate(each.identities(planes[0], visits[0])):
            view = frame.first[number] + form
            seen = large.reshape(-1, depth)[frame.grids[view]].reshape(rows, columns, depth)
            assert (seen[:high, :wide] == board).all() and not seen[high:].any() and not seen[:, wide:].any()
            turned = moves[0][frame.actions[view]]
            passes = others(each)
            if each.policy_layout == "columns":
                mine = turned[:wide]
            else:
                points = turned[: rows * columns].reshape(rows, columns)[:high, :wide].ravel()
                mine = np.concatenate([points, turned[len(turned) - passes :]])
            assert (mine == pi).all() and (turned == 65535).sum() == game.action_size - each.action_size


def test_outside_a_board_nobody_owns_a_point():
    game = games.make("gomoku(size=5..6)")
    owners = Frame(game).owners(0, np.ones((1, 25), np.int8)).reshape(6, 6)
    assert (owners[:5, :5] == 1).all() and (owners == OUTSIDE).sum() == 11


def test_an_ordinary_game_is_its_own_frame():
    game = games.make("connect4")
    frame, planes = Frame(game), np.ones((2, 126), np.uint8)
    assert frame.planes(0, planes).base is planes or frame.planes(0, planes) is planes
    for mine, theirs in zip((frame.grids, frame.actions), game.views(), strict=True):
        assert (mine == theirs).all()
    assert frame.number("") == 0 and Frame(games.make("gomoku(size=5..6)")).number("gomoku(size=7)") == -1
