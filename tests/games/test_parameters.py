"""Parameters of games: declared by a class, or the arguments of its constructor."""

import pytest

import games
from config import UserError
from game import Game, Parameter
from games.hex import Hex
from games.parameters import parameters_of, read_parameters, unusual, values_of
from games.plain import PlainGame
from games.sizes import families


class Declared(Game):
    name = "declared"
    takes = Parameter("size", 6, 2, 10, 2), Parameter("komi", 0.5, -3, 3, 0.5), Parameter("rule", "a", words=("a", "b"))

    def __init__(self, **given):
        self.values = self.take(given)


class OwnHex(Hex):
    """Hex with a swap, of a user: a plain constructor, whose arguments are what it takes."""

    def __init__(self, size: int = 7) -> None:
        super().__init__(size=size, swap="yes")


class WithoutArguments(PlainGame):
    name = "plain"


def test_declared_values_come_in_order_and_only_unusual_ones_are_in_the_name():
    game = Declared(rule="b", size=4)
    assert game.values == (4, 0.5, "b") and game.spec == "declared(rule=b,size=4)"
    assert Declared(size=6, komi=0.5).spec == "declared" and Declared(komi=-1).spec == "declared(komi=-1)"
    assert values_of(game) == {"size": 4, "komi": 0.5, "rule": "b"}
    assert families(game) == ["declared(rule=b,size=many)"]


def test_values_have_the_type_of_the_default():
    values = Declared(size=4.0, komi=1).values
    assert values == (4, 1.0, "a") and [type(value) for value in values] == [int, float, str]
    assert str(Declared(komi=-0.0).values[1]) == "0.0"


@pytest.mark.parametrize(
    "given, message",
    [
        ({"size": 12}, "declared: expected size from 2 to 10 in steps of 2, got 12"),
        ({"size": 5}, "declared: expected size from 2 to 10 in steps of 2, got 5"),
        ({"size": "4"}, "declared: expected size from 2 to 10 in steps of 2, got 4"),
        ({"komi": 0.25}, "declared: expected komi from -3 to 3 in steps of 0.5, got 0.25"),
        ({"komi": float("nan")}, "declared: expected komi from -3 to 3 in steps of 0.5, got nan"),
        ({"rule": "c"}, "declared: expected rule out of a, b, got 'c'"),
        ({"rule": 1}, "declared: expected rule out of a, b, got 1"),
    ],
)
def test_an_impossible_value_is_refused_in_one_line(given, message):
    with pytest.raises(UserError) as caught:
        Declared(**given)
    assert str(caught.value) == message


def test_an_unknown_parameter_is_a_fault_of_the_program_and_in_a_name_one_of_the_person():
    with pytest.raises(TypeError, match="declared: unknown parameters sise"):
        Declared(sise=4)
    with pytest.raises(UserError, match="declared: expected a parameter out of size, komi, rule, got 'sise'; did you"):
        read_parameters(Declared, "sise=4")
    assert read_parameters(Declared, " size = 4, komi=-1.5") == {"size": 4, "komi": -1.5}


def test_a_class_with_a_constructor_of_its_own_takes_its_arguments():
    assert [(each.name, each.default) for each in parameters_of(OwnHex)] == [("size", 7)]
    assert read_parameters(OwnHex, "size=5") == {"size": 5} and unusual(OwnHex, {"size": 7}) == {}
    assert OwnHex(size=5).action_size == 26 and parameters_of(WithoutArguments) == ()
    with pytest.raises(UserError, match="hex: expected a parameter out of size, got 'swap'"):
        read_parameters(OwnHex, "swap=no")


@pytest.mark.parametrize("name", games.names())
def test_what_a_game_declares_makes_it_again(name):
    game = games.make(name)
    assert not game.parameters and values_of(game) == {each.name: each.default for each in type(game).takes}
    for each in type(game).takes:
        for value in each.words or (each.low, each.high):
            text = value if each.words else f"{value:g}"
            try:
                other = games.make(f"{name}({each.name}={text})")
            except UserError:  # not with the defaults of the others: a board of 400 columns, a komi of 361.5 points
                continue
            assert values_of(other)[each.name] == value and games.make(other.spec).spec == other.spec


def test_games_say_what_files_and_programs_ask():
    assert {number: games.make(name).sgf_number for number, name in games.BY_SGF_NUMBER.items()} == {1: 1, 4: 4, 11: 11}
    go, hexes = games.make("go"), games.make("hex(swap=yes)")
    assert go.named_by_sgf("9", "6.5", "tromp-taylor", [])[0]["ko"] == "superko"
    assert hexes.named_by_sgf("11", "", "", ["a1", "swap-pieces"])[0] == {"size": "11", "swap": "yes"}
    assert hexes.own_vertices and hexes.vertex(121) == "swap-pieces" and hexes.turned(hexes.start()) is None
    turned = go.turned(go.start().takeAction(25)[0])
    assert turned.playerTurn == 1 and not turned.takeAction(25)[2]  # nobody has passed
    longer = go.longer()
    assert (longer.spec, longer.max_plies) == ("go", 100) and games.make("littlego").longer().max_plies == 24
    assert games.make("connect4").left_out("4444 -1") == "-1 behind the moves, which is a solver's score"
    assert go.left_out("d4 1") == ""
