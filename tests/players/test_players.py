"""Players without a network: their moves are those that they promise, and each name makes one."""

import logging

import numpy as np
import pytest

import games
from compiled import compiled
from config import UserError
from funcs import playMatches
from players.by_name import make_player
from players.network_alone import PolicyPlayer
from players.rollout import RolloutPlayer, leaves_stone
from players.simple import RandomPlayer
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


def little_go(drawing, ply):
    """Return the position of a drawing (X Black, O White), so many moves after the start."""
    cells = np.array([" -XO".index(c) for c in drawing.split()]).reshape(5, 5)
    board = np.select([cells == 2, cells == 3], [1, -1], 0)
    game = games.make("littlego")
    return game, game.position(np.zeros_like(board), board, 1 if ply % 2 == 0 else -1, ply)


CORNER = """
- X - - -
- O - - -
- - - - -
- - - - -
- - - - -
"""


@pytest.mark.parametrize(
    "ply, point, left", [(20, "a5", False), (21, "a5", True), (23, "a5", True), (21, "c5", False), (20, "c4", False)]
)
def test_a_stone_left_with_one_liberty_is_known(ply, point, left):
    game, state = little_go(CORNER, ply)
    assert leaves_stone(game, state, game.parse_move(point)) is left


def test_before_the_last_two_moves_of_each_side_nothing_is_said_and_a_pass_is_no_stone():
    game, state = little_go(CORNER, 19)
    assert not leaves_stone(game, state, game.parse_move("a5"))
    game, state = little_go(CORNER, 21)
    assert not leaves_stone(game, state, 25)


NARROW = """
X X X X X
X X X X X
- X X X -
O O O O O
- O O O -
"""


def test_a_rollout_player_of_littlego_passes_rather_than_leave_a_stone_to_be_taken():
    game, state = little_go(NARROW, 20)
    assert [game.move_name(a) for a in state.allowedActions] == ["a3", "e3", "pass"]  # each takes a liberty of two
    ruled, free = (RolloutPlayer(game, sims=2, end_rule=rule) for rule in (True, False))
    seeds = range(24)
    passed = [[chosen(player, state, seed) for seed in seeds].count("pass") for player in (ruled, free)]
    assert passed[0] >= 20 and passed[1] <= 14, "all but where the search has seen the stone win"
    state = little_go(NARROW, 18)[1]
    assert {chosen(ruled, state, seed) for seed in seeds} > {"a3"}


def test_the_end_rule_does_not_overrule_what_a_search_has_found():
    game = games.make("littlego")
    moves = game.parse_moves("b3 b2 c3 a3 d5 c4 e4 c5 d4 a4 d3 b5 b4 pass a5 b1 c1 d2 d1 a1")
    state = game.start()
    for action in moves:
        state = state.takeAction(action)[0]
    values = Minimax(game).solve_moves(state)
    assert values[game.parse_move("a2")] > values[game.parse_move("pass")]
    ruled, free = (RolloutPlayer(game, sims=400, end_rule=rule) for rule in (True, False))
    for seed in range(6):
        assert chosen(ruled, state, seed) == chosen(free, state, seed)


def test_the_end_rule_never_takes_a_pass_that_is_proven_to_lose():
    game, rng, refused = games.make("littlego"), np.random.default_rng(12), 0
    player, passing = RolloutPlayer(game, sims=60), game.parse_move("pass")
    for seed in range(400):
        state = game.start()
        for ply in range(20 + seed % 2):
            moves = [a for a in state.allowedActions if a != passing]
            state = state.takeAction(passing if ply == 19 + seed % 2 or not moves else int(rng.choice(moves)))[0]
            if state.isEndGame:
                break
        if state.isEndGame:
            continue
        action, root = chosen_action(player, state, seed), player.trees(0)[0].root
        last = dict(root.edges).get(passing)
        if root.proven is None and last is not None and last.proven == -1.0:
            assert action != passing
            kept = player.trees(0)[0].decide(0, 0.0).action
            refused += leaves_stone(game, state, kept)
    assert refused, "or the rule would not have passed"


def chosen_action(player, state, seed):
    player.new_games(1)
    player.new_game(0, seed)
    return player.act_many([0], [state], [0.0])[0].action


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
        ("gpt:gnugo", "gtp:gnugo"),
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
