"""A tree without room for another position drops what is far from its main lines, watched or not."""

import logging

import numpy as np
import pytest

import games
from agent import Agent
from compiled import up_to
from funcs import playMatches
from memory import Memory
from players.alphabeta import AlphaBetaPlayer
from search import many_trees
from search.trace import SearchLog
from support.board_drawings import play
from support.search_cases import Projection, plain_search, rooted
from support.tiny_runs import jobs, tiny
from training.selfplay import SelfPlay


def flat(planes):
    return np.zeros(len(planes), np.float32), np.zeros((len(planes), 7), np.float32)


@pytest.mark.parametrize("capacity", [2, 9, 40])
def test_a_search_in_a_full_tree_makes_its_visits_watched_or_not(monkeypatch, capacity):
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
    assert found[0] == found[1] and sum(found[0][0]) == 64


def used(mcts):
    """Return the bytes of the rows that a tree uses, and of its hash table."""
    f, tree = mcts.forest, mcts.forest.trees[0]
    node = f.nodes.itemsize + f.rows[0].nbytes + f.remap[:, 0].nbytes
    return int(tree["nodes"]) * node + int(tree["edges"]) * (f.edges.itemsize + f.moves.itemsize) + f.table.nbytes


def assert_sound(mcts):
    """Every node has the visits of its edges and a value, and can be reached."""
    reached = {mcts.root.id}
    for node in mcts.tree.values():
        assert node.visits == sum(edge.stats["N"] for _, edge in node.edges) and -1 <= node.Q <= 1
        reached |= {edge.outNode.id for _, edge in node.edges if edge.outNode is not None}
    assert reached == mcts.tree.keys()


@pytest.mark.parametrize("leaves", [1, 8])
@pytest.mark.parametrize("name", ["connect4", "gomoku(size=9)"])
def test_a_tree_keeps_to_its_bytes_and_to_the_value_of_one_with_room(name, leaves, caplog):
    game = games.make(name)
    most = 400 * 24 * up_to(8, game.action_size)
    large, small = (rooted(game, sims=3000, leaves=leaves, most=limit) for limit in (None, most))
    for sims in range(500, 3001, 500):
        for mcts in (large, small):
            mcts.search(Projection(game), sims)
        assert small.root.visits == sims and used(small) <= most < used(large)
        assert_sound(small)
    assert small.dropped() > 400 and large.dropped() == 0 and abs(small.root.Q - large.root.Q) < 0.1
    assert caplog.messages == [
        f"a search of {game.spec} fills its room of {most / 2**20:.1f} MiB: what is far from its main lines is dropped"
    ]
    best = max(small.root.edges, key=lambda edge: edge[1].stats["N"])[1]
    kept = best.outNode.visits
    small.set_root(best.outNode.state, sims=3000)
    assert small.root.visits == kept > 100
    small.search(Projection(game), 3000)
    assert small.root.visits == 3000 and used(small) <= most
    assert_sound(small)


@pytest.mark.parametrize("leaves", [1, 8])
def test_a_full_tree_finds_a_win_that_is_five_plies_away(leaves):
    game = games.make("connect4")
    state = play(game, "4 1 5 1")
    mcts = rooted(game, state, sims=5000, leaves=leaves, most=300 * 24 * 8)
    mcts.search(flat, 5000)
    assert mcts.dropped() > 50 and game.move_name(int(mcts.visit_counts().argmax())) in "36" and mcts.root.Q > 0.8


def test_what_a_full_tree_proves_is_true():
    game, rng, proven = games.make("tictactoe"), np.random.default_rng(3), 0
    for _ in range(40):
        state = play(game, " ".join(rng.permutation(["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"])[:3]))
        small, large = (
            rooted(game, state, proofs=True, sims=5000, most=limit, cache_size=0) for limit in (6_000, None)
        )
        for mcts in (small, large):
            mcts.search(Projection(game), 5000)
        if None not in (small.root.proven, large.root.proven):
            assert small.root.proven == large.root.proven
            proven += small.dropped() > 0
    assert proven > 9


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
