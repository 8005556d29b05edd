"""Domineering on 5 x 5, solved by plain search through the rules of examples/domineering.py."""

from support.gallery import make, value


def test_the_second_player_wins_on_a_board_of_five():
    """Breuker, Uiterwijk, van den Herik 2000, "Solving 8 x 8 Domineering"."""
    assert value(make("domineering", "size=5").start()) == -1
