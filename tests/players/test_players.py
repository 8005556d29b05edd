"""Players without a network: their moves are those that they promise, and each name makes one."""

import logging

import numpy as np
import pytest

import games
from agent import Player, Resigned
from compiled import compiled
from config import UserError
from evaluation.match import contest
from funcs import playMatches
from players.by_name import make_player
from players.network_alone import PolicyPlayer
from players.simple import RandomPlayer, SimplePlayer
from players.uct import spiel_name
from search.alphabeta import Minimax
from support.board_drawings import play
from support.corridor import Corridor


@compiled
def call_evaluate(evaluate, row):
    return evaluate(row)


LOG = logging.Logger("test")


def chosen(player, state, seed=0):
    player.new_games(1)
    player.new_game(0, seed)
    return player.game.move_name(player.act_many([0], [state], [0.0])[0].action)


def perfect_games(spec, name, count):
    """Return the scores of a player by name against exact play and against chance, both colours."""
    game = games.make(spec)
    player = make_player(name, game)
    return [
        score
        for other in ("solver", "random")
        for score in playMatches(game, player, make_player(other, game), count, LOG, 0).points[player.name]
    ]


@pytest.mark.parametrize("name, count", [("rollout:5000", 10), ("uct:5000", 10), ("alphabeta:9", 10)])
def test_with_enough_search_tictactoe_is_never_lost(name, count):
    if name.startswith("uct"):
        pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    scores = perfect_games("tictactoe", name, count)
    assert len(scores) == 2 * count and min(scores) >= 0.5


def test_connect4_is_opened_in_the_centre():
    game = games.make("connect4")
    assert [chosen(make_player("rollout:5000", game), game.start(), seed) for seed in range(3)] == ["4"] * 3


@pytest.mark.parametrize("name", ["greedy", "alphabeta:2", "alphabeta:0.2s", "rollout:1000"])
@pytest.mark.parametrize(
    "spec, moves, best",
    [
        ("connect4", "1 7 1 7 1 6", "1"),
        ("connect4", "1 7 1 7 2 7", "7"),
        ("tictactoe", "b2 a3 b3", "b1"),
        ("gomoku(size=7)", "d4 a1 d5 b1 d6 c1 a7 d1", "e1"),
    ],
)
def test_a_win_is_taken_and_a_threat_met(name, spec, moves, best):
    game = games.make(spec)
    assert chosen(make_player(name, game), play(game, moves)) == best


@pytest.mark.parametrize("name", ["greedy", "alphabeta:3"])
def test_a_game_in_plain_python_is_played_as_well(name):
    game = Corridor()
    player = make_player(name, game)
    scores = playMatches(game, player, RandomPlayer(game), 20, LOG, 0).points[player.name]
    assert np.mean(scores) > 0.7


@pytest.mark.parametrize("name", ["greedy", "alphabeta:2", "solver", "random"])
def test_moves_follow_from_the_seed_and_differ_between_seeds(name):
    game = games.make("tictactoe")
    moves = [chosen(make_player(name, game), game.start(), seed) for seed in range(6)]
    assert moves == [chosen(make_player(name, game), game.start(), seed) for seed in range(6)]
    assert len(set(moves)) > 1


@pytest.mark.parametrize(
    "spec", ["connect4", "gomoku(size=7)", "go(size=4)", "littlego", "othello(size=6)", "hex(size=5)"]
)
def test_greedy_with_the_games_estimate_beats_chance(spec):
    game = games.make(spec)
    scores = playMatches(game, make_player("greedy", game), RandomPlayer(game), 20, LOG, 0).points["greedy"]
    assert np.mean(scores) > 0.75


@pytest.mark.parametrize(
    "spec", ["connect4", "gomoku(size=7)", "go", "littlego", "othello", "metasquares(size=6)", "hex(size=6)"]
)
def test_an_estimate_is_within_bounds_changes_no_row_and_is_the_same_turned_or_mirrored(spec):
    game, rng, found = games.make(spec), np.random.default_rng(1), set()
    inverse = [np.argsort(s.actions) for s in game.symmetries]
    for _ in range(5):
        twins = [game.start() for _ in range(1 + len(inverse))]
        while True:
            action = int(rng.choice(twins[0].allowedActions))
            moves = [action, *(int(turned[action]) for turned in inverse)]
            twins = [state.takeAction(move)[0] for state, move in zip(twins, moves, strict=True)]
            if twins[0].isEndGame:
                break
            rows = [state.row.copy() for state in twins]
            values = [call_evaluate(game.evaluate, row) for row in rows]
            assert values == pytest.approx([values[0]] * len(values)) and abs(values[0]) < 1
            assert all((row == state.row).all() for row, state in zip(rows, twins, strict=True))
            found.add(round(values[0], 3))
    assert len(found) > 10


def test_the_solver_of_connect4_keeps_every_value():
    pytest.importorskip("bitbully", reason="bitbully is not installed")
    game, minimax = games.make("connect4"), Minimax(games.make("connect4"))
    player, rng, checked = make_player("solver", game), np.random.default_rng(3), 0
    while checked < 8:
        state = game.start()
        while state.row[1] < 26 and not state.isEndGame:
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if state.isEndGame:
            continue
        values = minimax.solve_moves(state)
        player.new_game(0, checked)
        action, _, value, _ = player.act(state, 0.0)
        assert (values[action], value) == (max(values.values()), max(values.values()))
        checked += 1


def test_a_game_too_large_for_the_solver_is_refused():
    with pytest.raises(UserError, match="3,000,000 positions, got gomoku"):
        make_player("solver", games.make("gomoku"))


class FixedAgent:
    """Stands for a network whose logits are known."""

    name = "run0001:version0001"

    def __init__(self, game, logits):
        self.game, self.logits = game, logits

    def predict(self, planes):
        return np.full(len(planes), 0.25), np.tile(self.logits, (len(planes), 1))


def test_a_network_without_search_plays_its_most_probable_legal_move():
    game = games.make("tictactoe")
    player = PolicyPlayer(FixedAgent(game, np.array([9.0, 1, 0, 0, 8, 0, 0, 0, 3])))
    state = play(game, "a3")
    player.new_games(2)
    for slot in (0, 1):
        player.new_game(slot, slot)
    for decision in player.act_many([0, 1], [state, play(game, "a3 b2")], [0.0, 0.0]):
        assert decision.value == 0.25 and decision.visits[0] == 0 and decision.visits.sum() == pytest.approx(1)
    assert [d.action for d in player.act_many([0, 1], [state, play(game, "a3 b2")], [0.0, 0.0])] == [4, 8]
    drawn = {player.act_many([0], [state], [10.0])[0].action for _ in range(60)}
    assert 4 < len(drawn) and 0 not in drawn


# ---- the end rule of Little-Go


def test_a_game_of_ones_own_is_not_openspiels_whatever_its_name():
    game = games.make("gomoku")
    assert spiel_name(game) == "gomoku(size=9,connect=5)"
    game.origin = "mine.py:Gomoku"
    assert spiel_name(game) is None


def test_what_is_known_whole_is_used_however_many_plies_are_asked_for():
    """As in games of more plies than the table has numbers for depths."""
    game = games.make("connect4(rows=4,columns=4)")

    def nodes(depth):
        found = Minimax(game)
        order = found._start(play(game, "1 2 3 4 1 2"), None)
        assert found._deepen(order, depth, lambda: True, 2**62, 0)
        return int(found._stack.now[0]["nodes"])

    assert nodes(300) == nodes(200)


# ---- names


@pytest.mark.parametrize(
    "name, spec, shown",
    [
        ("alphabeta:3", "othello", "alphabeta:3"),
        ("AlphaBeta:1.5s", "tictactoe", "alphabeta:1.5s"),
        ("greedy", "go", "greedy"),
        ("solver", "tictactoe", "solver"),
        ("rollout:2s", "go", "rollout:2s"),
        ("human", "go", "human"),
    ],
)
def test_names_of_players(name, spec, shown):
    assert make_player(name, games.make(spec)).name == shown


@pytest.mark.parametrize(
    "name, near",
    [
        ("rolout:500", "rollout:5000"),
        ("alphabta", "alphabeta:6"),
        ("alpha-beta:4", "alphabeta:6"),
        ("solvr", "solver"),
        ("bset", "best"),
        ("net:bst", "net:best"),
        ("versio0003", "version0007"),
        ("greedi", "greedy"),
    ],
)
def test_a_wrong_name_is_told_the_nearest_form(name, near):
    with pytest.raises(UserError) as error:
        make_player(name, games.make("tictactoe"))
    assert str(error.value).startswith(f"did you mean {near!r}?") and len(str(error.value)) <= 200
    assert "docs/play.md" in str(error.value)


@pytest.mark.parametrize(
    "name", ["alphabeta:0", "alphabeta:61", "alphabeta:", "alphabeta:0s", "uct:2s", "net:", "+book", "greedy+"]
)
def test_other_names_are_refused(name):
    with pytest.raises(UserError):
        make_player(name, games.make("tictactoe"))


# ---- OpenSpiel's


@pytest.mark.parametrize(
    "spec", ["gomoku(size=7)", "gomoku(size=5,n=4)", "othello", "go(size=4,komi=0.5)", "go(size=5)", "hex(size=5)",
             "hex(size=4,swap=yes)"]
)
def test_moves_of_openspiels_player_are_those_of_our_board(spec):
    pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game = games.make(spec)
    player, rng = make_player("uct:2", game), np.random.default_rng(1)
    for seed in range(6):
        player.new_game(0, seed)
        state = game.start()
        while not state.isEndGame:
            theirs = player._tables[0][1]
            if theirs.is_terminal():  # a board came again
                break
            assert sorted(player._ours[theirs.legal_actions()]) == list(state.allowedActions)
            action = player.act(state, 0.0)[0] if rng.random() < 0.2 else int(rng.choice(state.allowedActions))
            player.observe(0, action)
            state = state.takeAction(action)[0]
        else:
            first = player._tables[0][1].returns()[0]
            assert first == state.value * state.playerTurn


@pytest.mark.parametrize("spec", ["gomoku(rule=renju)", "go(ko=superko)", "littlego", "metasquares", "othello(size=6)"])
def test_games_that_openspiel_plays_otherwise_are_refused(spec):
    with pytest.raises(UserError, match="for the player uct"):
        make_player("uct:10", games.make(spec))


# ---- a player of your own


def nothing(state):
    pass


def misnamed(state):
    return state.no_such_move


def out_of_range(state):
    return [][state.playerTurn]


def resigning(state):
    raise Resigned


def own_player(game, answer):
    """Return a player whose `choose` is a function of the position."""

    class Own(SimplePlayer):
        def choose(self, state, rng):
            return answer(state)

    return Own("own", game)


WANTED = (
    "own: expected `choose` to return a legal action, and a value of the position from -1 to 1 for the player to move"
)


WRONG = [
    nothing,
    lambda state: 4,
    lambda state: (999, 0.0),
    lambda state: (4.0, 0.0),
    lambda state: ("b2", 0.0),
    lambda state: (4, float("nan")),
    lambda state: (4, 5.0),
    lambda state: (4, None),
    lambda state: (True, 0.0),
    lambda state: (4, 0.0, 0.0),
    lambda state: "b2",
]


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_no_move_with_a_value_is_refused_in_one_line(answer):
    game = games.make("tictactoe")
    player, start = own_player(game, answer), game.start()
    for work in (lambda: player.act(start, 0.0), lambda: contest(game, (player, RandomPlayer(game)), 2, seed=0)):
        with pytest.raises(UserError) as caught:
            work()
        assert str(caught.value).startswith(f"{WANTED}, got ") and "\n" not in str(caught.value)


ERRORS = [
    (misnamed, "AttributeError: 'CompiledState' object has no attribute 'no_such_move'"),
    (out_of_range, "IndexError: list index out of range"),
]


@pytest.mark.parametrize("answer, words", ERRORS)
def test_an_error_in_a_player_of_ones_own_is_one_line_with_its_place(answer, words):
    game = games.make("tictactoe")
    with pytest.raises(UserError) as caught:
        own_player(game, answer).act(game.start(), 0.0)
    line = answer.__code__.co_firstlineno + 1
    assert str(caught.value) == f"test_players.py, line {line}: {words} (in `choose` of the player own)"


def test_a_player_without_choose_or_with_another_one_says_so():
    game = games.make("tictactoe")
    # the base class has no `choose` of its own: what it raises has to say what is missing
    with pytest.raises(UserError, match=r"NotImplementedError: write choose\(state, rng\), see docs/add_a_player.md"):
        SimplePlayer("own", game).act(game.start(), 0.0)
    shorter = type("Shorter", (SimplePlayer,), {"choose": lambda self: (4, 0.0)})
    with pytest.raises(UserError, match=r"test_players.py: TypeError: .*takes 1 positional argument but 3 were given"):
        shorter("own", game).act(game.start(), 0.0)


def test_a_player_of_ones_own_may_resign_and_may_answer_in_numpy_numbers():
    game = games.make("tictactoe")
    assert contest(game, (own_player(game, resigning), RandomPlayer(game)), 4, seed=0) == [0.0] * 4
    with pytest.raises(Resigned):
        own_player(game, resigning).act(game.start(), 0.0)
    plain = own_player(game, lambda state: [np.int32(state.allowedActions[0]), np.float32(0.5)])
    assert plain.act(game.start(), 0.0)[2] == 0.5


@pytest.mark.parametrize("action", [9, -2, 4, 4.0, None, "b2"])
def test_a_move_that_a_plain_player_may_not_play_is_named_with_the_player(action):
    class Careless(Player):
        def act(self, state, tau):
            return action, np.zeros(9), 0.0, 0.0

    game = games.make("tictactoe")
    with pytest.raises(UserError, match=r"^careless: illegal move .* \((legal: |the game)") as caught:
        contest(game, (Careless("careless", game), RandomPlayer(game)), 2, seed=0)
    assert "\n" not in str(caught.value)
