"""A tree without room for another position ends the search with what was found, watched or not."""

import logging

import numpy as np
import pytest

import games
from agent import Agent
from funcs import playMatches
from memory import Memory
from players.alphabeta import AlphaBetaPlayer
from search import many_trees
from search.trace import SearchLog
from support.search_cases import plain_search
from support.tiny_runs import jobs, tiny
from training.selfplay import SelfPlay


def flat(planes):
    return np.zeros(len(planes), np.float32), np.zeros((len(planes), 7), np.float32)


@pytest.mark.parametrize("capacity", [2, 9, 40])
def test_a_full_tree_ends_a_search_with_what_was_found(monkeypatch, capacity):
    monkeypatch.setattr(many_trees, "capacity_for", lambda sims, leaves: capacity)
    game, log = games.make("connect4"), logging.getLogger("full")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    log.setLevel(logging.INFO)
    found = []
    for observer in (None, SearchLog(log)):
        agent = Agent("full", game, flat, mcts_sims=64, leaves=1, observer=observer)
        agent.new_games(1)
        agent.new_game(0, 7)
        decision = agent.act_many([0], [game.start()], [0.0])[0]
        found.append((decision.visits.tolist(), decision.action))
    assert found[0] == found[1] and 0 < sum(found[0][0]) < 64


def test_a_tree_without_room_for_any_visit_says_so(monkeypatch):
    monkeypatch.setattr(many_trees, "capacity_for", lambda sims, leaves: 1)
    observer = SearchLog(logging.getLogger("full"))
    agent = Agent("full", games.make("connect4"), flat, mcts_sims=8, leaves=1, observer=observer)
    with pytest.raises(many_trees.TreeFull, match="the tree is full"):
        agent.think(agent.game.start())


@pytest.mark.parametrize("capacity", [2, 9, 40])
def test_self_play_goes_on_with_what_was_found(monkeypatch, capacity):
    monkeypatch.setattr(many_trees, "capacity_for", lambda sims, leaves: capacity)
    game = games.make("connect4")
    records = list(SelfPlay(game, tiny(games_in_flight=4, mcts_sims=64, full_search_share=1.0)).play(flat, jobs(12)))
    assert sorted(r.index for r in records) == list(range(12))
    for record in records:
        state = game.start()
        for move in record.moves:
            state = state.takeAction(int(move))[0]
        assert state.isEndGame and record.visits[0].any()
        assert capacity > 9 or record.visits[0].sum() < 64


@pytest.mark.parametrize("options", [{"depth": 1}, {"seconds": 0.01}])
def test_games_against_who_plays_one_at_a_time_are_learned_from_too(options):
    game, learned = games.make("connect4"), []
    memory = Memory(game, 1000)
    agent = Agent("net", game, flat, plain_search(proofs=True), mcts_sims=20)
    other = AlphaBetaPlayer(game, **options)
    playMatches(game, agent, other, 4, logging.getLogger("full"), 0, memory, opening_plies=2)
    for record in memory.stmemory:
        own = record.visits.sum(axis=1)
        learned.append(int((own > 0).sum()))
        assert set(own[own > 0].tolist()) <= set(range(1, 21 + 20)) and np.isfinite(record.values).all()
    assert min(learned) >= 2 and memory.commit_ltmemory() == sum(learned)
