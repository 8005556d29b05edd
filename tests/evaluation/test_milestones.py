"""Probes hold what they say, by rules written here; milestones are the versions from which on they are passed."""

import functools

import numpy as np
import pytest

import games
from config import UserError
from evaluation.milestones import (
    FEWEST,
    REACHED,
    chosen_versions,
    in_words,
    milestones,
    network_of,
    probes,
    shares,
    stopping_moves,
    winning_moves,
)
from evaluation.solved_positions import Solved
from search.alphabeta import Minimax
from support.command_line import output_of

LINES = {"tictactoe": 3, "connect4(columns=5,n=3,rows=4)": 3, "gomoku(n=4,size=6)": 4}


@functools.cache
def known(spec):
    """Return the probes of a game, found once: that takes seconds."""
    return probes(games.make(spec))


@pytest.fixture(scope="module", params=LINES)
def asked(request):
    """Return (game, {kind: positions}) of a small game."""
    game = games.make(request.param)
    return game, {probe.kind: probe.positions for probe in known(request.param)}


def in_a_row(stones, count):
    """Return whether stones, a set of (row, column), hold `count` in a line."""
    ways = (0, 1), (1, 0), (1, 1), (1, -1)
    return any(all((r + i * a, c + i * b) in stones for i in range(count)) for r, c in stones for a, b in ways)


def wins_of(game, own, other):
    """Return the moves with which `own` wins at once, by the rules of games in a row."""
    rows, columns = game.grid_shape
    taken = own | other
    found = set()
    for action in range(game.action_size):
        if game.policy_layout == "columns":
            free = [r for r in range(rows) if (r, action) not in taken]
            place = (free[-1], action) if free else None
        else:
            place = divmod(action, columns) if divmod(action, columns) not in taken else None
        if place and in_a_row(own | {place}, LINES[game.spec]):
            found.add(action)
    return found


def sides(state):
    """Return the stones of the player to move and of the other, as sets of (row, column)."""
    planes = state.planes()
    return tuple({(int(r), int(c)) for r, c in np.argwhere(planes[..., side])} for side in (0, 1))


def test_a_win_in_one_is_a_win_and_the_other_moves_are_none(asked):
    game, found = asked
    assert len(found["win"]) >= FEWEST
    for position in found["win"]:
        assert position.keeping == wins_of(game, *sides(position.state)), f"\n{position.state}"
        assert 0 < len(position.keeping) < len(position.state.allowedActions)


def test_the_move_that_stops_a_win_is_the_only_one_that_does(asked):
    game, found = asked
    for position in found["stop"]:
        own, other = sides(position.state)
        assert not wins_of(game, own, other)
        stops = set()
        for action in position.state.allowedActions:
            after = position.state.takeAction(action)[0]
            if not wins_of(game, *sides(after)):
                stops.add(action)
        assert position.keeping == stops and len(stops) == 1, f"\n{position.state}"


def test_a_win_in_three_is_what_alpha_beta_proves_in_three_plies(asked):
    game, found = asked
    search = Minimax(game)
    for position in found.get("three", [])[:12]:
        for action in position.state.allowedActions:
            after = position.state.takeAction(action)[0]
            search.clear()
            lost = not after.isEndGame and search.search(after, depth=2).value == -1
            assert (action in position.keeping) == lost, f"\n{position.state}\n{action}"
    assert "three" in found or game.spec != "tictactoe"


def test_in_tic_tac_toe_the_answer_to_the_corner_is_the_centre():
    found = {probe.kind: probe.positions for probe in known("tictactoe")}
    answers = {p.moves[0]: p.keeping for p in found["reply"]}
    assert answers[0] == {4} and set(answers) == {0, 1, 4} and answers[4] == {0, 2, 6, 8}
    assert len(found["solved"]) == 60


def test_positions_are_the_same_in_every_run_and_no_two_are_alike():
    game = games.make("tictactoe")
    first, second = ({probe.kind: [p.moves for p in probe.positions] for probe in found}
                     for found in (known("tictactoe"), probes(game)))  # fmt: skip
    assert first == second
    for positions in first.values():
        boards = [bytes(at(game, moves).planes()) for moves in positions]
        assert len(set(boards)) == len(boards)


def at(game, moves):
    state = game.start()
    for move in moves:
        state = state.takeAction(move)[0]
    return state


def test_a_game_that_is_not_won_by_a_move_has_what_its_solver_knows_only():
    kinds = [probe.kind for probe in probes(games.make("othello(size=4)"))]
    assert kinds == ["reply", "solved"]


def test_moves_of_a_drawn_board():
    """X X - / O O - / - - -, X to move; and before O's second stone."""
    game = games.make("tictactoe")
    assert winning_moves(at(game, [0, 3, 1, 4])) == {2} and stopping_moves(at(game, [0, 3, 1, 4])) == set()
    assert winning_moves(at(game, [0, 3, 1])) == set() and stopping_moves(at(game, [0, 3, 1])) == {2}


class Told:
    """A network that prefers some moves."""

    def __init__(self, game, positions, right):
        self.answers = {}
        for position in positions:
            wrong = sorted(set(position.scores) - position.keeping)
            self.answers[position.planes.tobytes()] = min(position.keeping) if right(position) else wrong[0]
        self.size = game.action_size

    def predict(self, planes):
        rows = np.zeros((len(planes), self.size))
        for row, position in zip(rows, planes, strict=True):
            row[self.answers[position.tobytes()]] = 1.0
        return np.zeros(len(planes)), rows


def test_a_share_is_that_of_right_moves():
    game = games.make("tictactoe")
    (probe,) = [probe for probe in known("tictactoe") if probe.kind == "win"]
    half = set(map(id, probe.positions[::2]))
    assert shares(Told(game, probe.positions, lambda p: True), [probe]) == {"win": 1.0}
    assert shares(Told(game, probe.positions, lambda p: False), [probe]) == {"win": 0.0}
    assert shares(Told(game, probe.positions, lambda p: id(p) in half), [probe]) == {"win": pytest.approx(0.5)}
    assert isinstance(probe.positions[0], Solved) and shares(None, []) == {}


def test_a_milestone_is_the_first_version_from_which_on_the_probe_is_passed():
    line = {"win": 0.2, "stop": REACHED}
    assert milestones({}) == [] and milestones({7: line}) == [], "nine of ten is not more than nine of ten"
    found = {0: {"win": 0.95, "stop": 0.1}, 5: {"win": 0.5, "stop": 0.91}, 10: {"win": 0.92, "stop": 0.99}}
    held = milestones(found)
    assert held == [(5, "stop"), (10, "win")]
    assert in_words(held[1], 0) == "version 10 wins at once when it can"
    assert in_words(held[0], 5) == "version 5 already stops the other's win in one"
    assert milestones({**found, 11: {"win": 0.99, "stop": 0.5}}) == [(10, "win")]


def test_versions_are_closer_together_at_the_start():
    assert chosen_versions([3]) == [3] and chosen_versions([]) == []
    assert chosen_versions(list(range(40))) == list(range(40))
    many = chosen_versions(list(range(1000)), 40)
    assert many[0] == 0 and many[-1] == 999 and len(many) <= 40
    steps = np.diff(many)
    assert (np.diff(steps[2:]) >= -1).all() and steps[-1] > 10 * steps[0]
    assert chosen_versions(list(range(50)), 1) == [49]


def test_a_run_that_is_not_there_is_an_error_in_one_line(place, capsys):
    code, out, err = output_of(capsys, "milestones", "--game", "tictactoe", "--run", "7")
    assert code == 2 and out == "" and err.startswith("error: ") and err.count("\n") == 1
    with pytest.raises(UserError):
        network_of(place / "tictactoe" / "run0007", 0, games.make("tictactoe"))
