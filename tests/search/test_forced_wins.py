"""Wins by force, against a search in Python that tries everything."""

import numpy as np
import pytest

import games
from interface.commands.new_game import write_template
from search.solving.forced_wins import ForcedWins


def wins(state, side, plies):
    """Return whether a side wins within `plies` plies whatever the other plays."""
    if state.isEndGame:
        return state.value * state.playerTurn * side >= 1
    if plies == 0:
        return False
    parts = (wins(state.takeAction(a)[0], side, plies - 1) for a in state.allowedActions)
    return any(parts) if state.playerTurn == side else all(parts)


def positions(game, count, seed):
    """Return positions of random play that are not over."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        state = game.start()
        for _ in range(int(rng.integers(0, game.max_plies))):
            if state.isEndGame:
                break
            before, state = state, state.takeAction(int(rng.choice(state.allowedActions)))[0]
        found.append(before if state.isEndGame else state)
    return found


@pytest.mark.parametrize(
    "spec, plies", [("tictactoe", 5), ("connect4(rows=4,columns=5,n=3)", 5), ("gomoku(size=4,n=3)", 3),
                    ("othello(size=4)", 5), ("metasquares(size=3)", 3), ("hex(size=4)", 3)]
)  # fmt: skip
def test_a_win_by_force_is_found_exactly_where_there_is_one(spec, plies):
    game = games.make(spec)
    forced, answers = ForcedWins(game, plies), set()
    for state in positions(game, 40, 1):
        for within in range(1, plies + 1):
            expected = wins(state, state.playerTurn, within)
            assert forced.wins(state, within) is expected, (state, within)
            answers.add(expected)
        first = next((n for n in range(1, plies + 1, 2) if wins(state, state.playerTurn, n)), None)
        assert forced.length(state, plies) == first
        good = [a for a in state.allowedActions if wins(state.takeAction(a)[0], state.playerTurn, plies - 1)]
        assert forced.moves(state, plies) == good
        assert forced.loses(state, -state.playerTurn, plies - 1) is wins(state, -state.playerTurn, plies - 1)
    assert answers == {True, False}


def test_a_game_in_plain_python_is_searched_as_well(tmp_path):
    path, kind = write_template("mine", tmp_path)
    game = games.make(f"{path}:{kind}")
    forced = ForcedWins(game, 3)
    found = [(forced.wins(state, 3), wins(state, state.playerTurn, 3)) for state in positions(game, 20, 2)]
    assert all(got is expected for got, expected in found) and {got for got, _ in found} == {True, False}


def test_nothing_is_said_beyond_the_limit_of_positions():
    game = games.make("gomoku")
    assert ForcedWins(game, 5).wins(game.start(), 5, nodes=10) is None
    assert ForcedWins(game, 5).wins(game.start(), 1, nodes=10) is False
