"""Rollout players: what they prove is true, their visits balance, the same seed gives the same game."""

import functools
import itertools
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import games
from MCTS import Node
from players.by_name import make_player
from players.rollout import RolloutPlayer
from search.solving.proofs import DRAW, LOSS, UNPROVEN, WIN
from support.board_drawings import play
from support.command_line import output_of
from support.search_cases import GAMES


@functools.cache
def exact(state_id, state):
    """Return the value of a position for its player to move, by trying everything."""
    if state.isEndGame:
        return state.value
    best = -1.0
    for action in state.allowedActions:
        child = state.takeAction(action)[0]
        value = exact(child.id, child)
        best = max(best, value if child.playerTurn == state.playerTurn else -value)
    return best


def searched(game, state, sims, seed=0):
    player = RolloutPlayer(game, sims=sims)
    player.new_game(0, seed)
    return player, player.act_many([0], [state], [0.0])[0]


@pytest.mark.parametrize("moves", ["", "b2", "b2 a3", "a1 b2 c3"])
def test_whatever_is_proven_of_tictactoe_is_true(moves):
    game = games.make("tictactoe")
    player, decision = searched(game, play(game, moves), 3000)
    mcts = player.trees(0)[0]
    nodes = mcts.forest.nodes[: int(mcts.forest.trees[0]["nodes"])]
    assert {int(p) for p in nodes["proven"]} == {UNPROVEN, WIN, LOSS, DRAW}
    values = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}
    for i in np.flatnonzero(nodes["proven"] != UNPROVEN):
        state = Node(mcts, int(i)).state
        assert values[int(nodes[i]["proven"])] == exact(state.id, state), f"\n{state}"
    assert 0 < decision.visits.sum() <= 3000


@pytest.mark.parametrize("moves, best", [("1 7 1 7 1 6", "1"), ("1 7 1 7 2 7", "7")])
def test_a_win_is_taken_and_a_threat_met_in_connect4(moves, best):
    game = games.make("connect4")
    assert game.move_name(searched(game, play(game, moves), 2000)[1].action) == best


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seed_gives_the_same_visits_in_every_form_of_game(name):
    game = GAMES[name]
    found = [searched(game, game.start(), 150, seed=s)[1].visits.tolist() for s in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert sum(found[0]) == 150


def test_games_beside_each_other_do_not_disturb_one_another():
    game = games.make("connect4")
    player = RolloutPlayer(game, sims=200)
    for slot in range(5):
        player.new_game(slot, 10 + slot)
    states = [game.start().takeAction(a)[0] for a in range(5)]
    together = player.act_many(range(5), states, [0.0] * 5)
    for slot, state in enumerate(states):
        assert together[slot].visits.tolist() == searched(game, state, 200, seed=10 + slot)[1].visits.tolist()


def test_a_time_limit_ends_the_search_and_a_proven_win_ends_it_early(monkeypatch):
    game = games.make("connect4")
    monkeypatch.setattr("players.rollout.time", SimpleNamespace(monotonic=lambda: 0.0))  # a clock that stands still
    player = RolloutPlayer(game, seconds=60)
    action, visits, value, _ = player.act(play(game, "1 7 1 7 1 6"), 0.0)
    assert game.move_name(action) == "1" and any(mcts.root.proven == 1.0 for mcts in player.trees(0))
    monkeypatch.setattr("players.rollout.time", SimpleNamespace(monotonic=itertools.count().__next__))
    short = RolloutPlayer(game, seconds=9)
    assert 0 < short.act(game.start(), 0.0)[1].sum() < 10_000


def test_what_one_of_several_trees_proves_to_lose_is_not_played(monkeypatch):
    monkeypatch.setattr("players.rollout.cores", lambda: 2)
    game = games.make("connect4")
    player = RolloutPlayer(game, seconds=3600)
    player.stopped = lambda: all(mcts.root.visits > 500 for mcts in player.trees(0))
    state = game.start()
    player.act(state, 0.0)
    first, second = player.trees(0)
    assert first.forest.trees["rng"][0] != second.forest.trees["rng"][0]
    most, visits = player._decide(0, state, 0.0)[:2]
    assert visits[most] == visits.max()
    first.forest.moves["proven"][dict(first.root.edges)[most].index] = LOSS
    assert player._decide(0, state, 0.0).action != most
    assert make_player("rollout:1s", game).at_once == make_player("alphabeta:1s", game).at_once == 1


@pytest.mark.parametrize("name", ["rollout:50", "rollout:0.5s"])
def test_names_of_rollout_players(name):
    assert make_player(name, games.make("tictactoe")).name == name


@pytest.mark.parametrize("name", ["rollout:0", "rollout:", "rollout:-5", "rollout:0s", "rollout:5m", "rollout:1e5"])
def test_other_names_are_refused(name):
    with pytest.raises(games.UserError):
        make_player(name, games.make("tictactoe"))


@pytest.mark.parametrize("budget", [{"seconds": 60.0}, {"sims": 300_000}])
def test_an_interrupted_search_has_ended_when_the_interruption_goes_on(budget, monkeypatch):
    """Otherwise it would write into the tree of the next search."""
    player, threads = RolloutPlayer(games.make("connect4"), **budget), []
    join = threading.Thread.join

    def interrupted(thread, *rest):
        threads.append(thread)
        if len(threads) == 1:
            raise KeyboardInterrupt
        join(thread, *rest)

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    player.new_games(1)
    player.new_game(0, 0)
    with pytest.raises(KeyboardInterrupt):
        player.act_many([0], [player.game.start()], [0.0])
    assert len(threads) > 1 and not any(thread.is_alive() for thread in threads)


def test_a_tree_that_does_not_fit_into_memory_is_told_as_too_many_simulations(place, capsys, monkeypatch):
    def full(**wanted):
        raise MemoryError

    monkeypatch.setattr("search.tables.allocate", full)
    monkeypatch.setattr("players.rollout.room_for_trees", lambda: 2**50)
    code, out, err = output_of(capsys, "match", "rollout:9999999", "random", "--game", "tictactoe", "--games", "2")
    assert (code, out) == (2, "") and err.count("\n") == 1 and err.endswith("GiB; take fewer simulations\n"), err
    assert err.startswith("error: not enough memory: a tree of tictactoe for up to 30,000,062 positions needs 1")


def test_a_review_gets_the_simulations_that_it_wants_of_a_player_with_fewer():
    player, large = RolloutPlayer(GAMES["connect4"], sims=10), RolloutPlayer(GAMES["connect4"], sims=400)
    for each in (player, large):
        each.new_game(0, 5)
    start = GAMES["connect4"].start()
    assert player.think(start, 400).visits == large.think(start, 400).visits == 400
    assert player.trees(0)[0].visit_counts().tolist() == large.trees(0)[0].visit_counts().tolist()


@pytest.mark.parametrize("spec", ["connect4", "gomoku(size=15)", "littlego"])
def test_a_tree_under_a_time_limit_takes_no_more_than_its_memory(spec, monkeypatch):
    monkeypatch.setattr("players.rollout.TREES_BYTES", 2**20)
    monkeypatch.setattr("players.rollout.cores", lambda: 1)
    game = games.make(spec)
    player = RolloutPlayer(game, seconds=1e9)
    (tree,) = player.trees(0)
    player.stopped = lambda: tree.dropped() > 0 or tree.root.proven is not None
    player.new_game(0, 1)
    player.act_many([0], [game.start()], [0.0])
    f = tree.forest
    edges = int(f.trees["edges"][0]) + f.node_price * len(tree)
    assert tree.dropped() and edges * (f.edges.itemsize + f.moves.itemsize) <= 2**20
