"""The look ahead: moves that win at once prove a position, moves that lose at once are left out, never too many."""

import logging

import numpy as np
import pytest

import games
from agent import Agent
from interface.explain import explain
from search.solving.proofs import LOSS
from search.trace import SearchLog
from support.board_drawings import play
from support.search_cases import GAMES, Projection, always, plain_search, rooted, value_of
from support.tiny_runs import tiny
from training.selfplay import SelfPlay, game_seed

AHEAD = {"proofs": True, "look_ahead": 2}


def searched(game, state, sims, network=None, **options):
    mcts = rooted(game, state, **{**AHEAD, **options})
    mcts.search(network or Projection(game), sims)
    return mcts


def hating(game, actions):
    """A network to which these moves are the last to think of."""
    logits = np.zeros(game.action_size)
    logits[list(actions)] = -20
    return always(0.0, logits)


@pytest.mark.parametrize("spec, moves", [("connect4", "1 7 1 7 1"), ("gomoku", "a1 e5 b1 e6 c1 e7 d1")])
def test_a_threat_is_stopped_at_the_first_visit_whatever_the_network_thinks(spec, moves):
    game = games.make(spec)
    state = play(game, moves)
    block = game.parse_move("1" if spec == "connect4" else "e1")
    mcts = searched(game, state, 2, hating(game, [block]))
    root = mcts.root
    assert [action for action, _ in root.edges] == list(state.allowedActions)
    for action, edge in root.edges:
        assert edge.proven == (None if action == block else -1.0), game.move_name(action)
        assert (edge.stats["N"] > 0) == (action == block)
        assert edge.stats["P"] == (1.0 if action == block else 0.0)
    agent = Agent("blocks", game, hating(game, [block]), plain_search(**AHEAD), mcts_sims=1)
    assert agent.act(state, 0)[0] == block
    plain = searched(game, state, 2, hating(game, [block]), look_ahead=1)
    assert dict(plain.root.edges)[block].stats["N"] == 0, "one ply does not see it"


def test_where_every_move_loses_at_once_the_node_is_proven_and_as_root_the_network_chooses():
    game = games.make("connect4")
    before = play(game, "4 4 5 5")
    lost = before.takeAction(game.parse_move("3"))[0]
    mcts = searched(game, before, 200)
    assert mcts.root.proven == 1.0, "three in a row with both ends free"
    child = dict(mcts.root.edges)[2].outNode
    assert child.proven == -1.0 and child.visits == 0, "nobody was asked"
    mcts.set_root(lost)
    assert mcts.root.proven == -1.0 and mcts.root.isLeaf()
    network = Projection(game)
    assert mcts.search(network, 50) == 1
    assert mcts.root.proven == -1.0 and mcts.root.visits == 0 and not mcts.root.isLeaf()
    priors = np.array([edge.stats["P"] for _, edge in mcts.root.edges])
    assert all(edge.proven == -1.0 for _, edge in mcts.root.edges) and len(set(priors)) == 7
    assert mcts.decide(0, 0.0)[0] == priors.argmax()
    drawn = np.bincount([mcts.decide(0, 1.0)[0] for _ in range(3000)], minlength=7) / 3000
    assert drawn == pytest.approx(priors, abs=0.04)
    for observer in (None, SearchLog(logging.getLogger("lost"))):
        agent = Agent("lost", game, network, plain_search(**AHEAD), mcts_sims=50, observer=observer)
        action, pi, value, _ = agent.act(lost, 0)
        assert action == priors.argmax() and pi == pytest.approx(priors) and value == -1.0


def test_a_lost_position_is_taught_as_the_network_sees_it_and_its_value_as_lost():
    game = games.make("connect4")
    network, found = Projection(game), 0
    config = tiny(mcts_sims=40, full_search_share=1.0, proofs=True, look_ahead=2)
    for record in SelfPlay(game, config).play(network, [(i, game_seed("run", 1, i)) for i in range(60)]):
        state = game.start()
        for action, visits, value in zip(record.moves, record.visits, record.values, strict=True):
            mcts = rooted(game, state, **AHEAD)
            if mcts.root.proven == -1.0:
                mcts.search(network, 1)
                wanted = {a: max(1, round(10_000 * edge.stats["P"])) for a, edge in mcts.root.edges}
                if visits.sum() > 9_000:  # else it was known from the search before, with visits
                    assert value == -1.0 and {a: int(n) for a, n in enumerate(visits) if n} == wanted
                    found += 1
            state = state.takeAction(int(action))[0]
    assert found > 20


SMALL = ["connect4(rows=4,columns=4,n=3)", "gomoku(size=3,n=3)", "connect4(rows=3,columns=5,n=3)"]


@pytest.mark.parametrize("spec", SMALL)
def test_what_is_proven_with_a_look_ahead_is_what_perfect_play_gives(spec):
    game, known, rng, proven = games.make(spec), {}, np.random.default_rng(0), set()
    for _ in range(60):
        state = game.start()
        for _ in range(int(rng.integers(game.max_plies))):
            if not state.isEndGame:
                state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if state.isEndGame:
            continue
        mcts = searched(game, state, 60)
        for node in mcts.tree.values():
            if node.proven is not None:
                proven.add(node.proven)
                assert node.proven == value_of(node.state, known), f"\n{node.state}"
    assert {-1.0, 1.0} <= proven


def test_it_leaves_positions_as_they_are_where_nothing_is_at_stake():
    game = games.make("connect4")
    near, far = (searched(game, game.start(), 12, look_ahead=plies) for plies in (1, 2))
    assert (near.visit_counts() == far.visit_counts()).all()
    deep = [searched(game, game.start(), 800, look_ahead=plies) for plies in (1, 2)]
    assert (deep[0].visit_counts() != deep[1].visit_counts()).any()


@pytest.mark.parametrize("spec", ["connect4", "gomoku(size=6,n=4)"])
def test_trees_stay_whole_when_the_root_moves_through_nodes_with_moves_left_out(spec):
    game, rng, left_out = games.make(spec), np.random.default_rng(3), 0
    for _ in range(6):
        state = game.start()
        mcts = rooted(game, state, **AHEAD)
        while not state.isEndGame:
            mcts.set_root(state)
            mcts.search(Projection(game), 40)
            for node in mcts.tree.values():
                if node.edges:
                    assert node.visits == sum(edge.stats["N"] for _, edge in node.edges)
                    assert [action for action, _ in node.edges] == list(node.state.allowedActions)
                    assert sum(edge.stats["P"] for _, edge in node.edges) == pytest.approx(1, abs=1e-5)
                    left_out += any(edge.proven == -1 and not edge.stats["N"] for _, edge in node.edges)
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
    assert left_out > 20


def test_self_play_teaches_the_only_move_without_searching_it():
    game, taught = games.make("connect4"), 0
    selfplay = SelfPlay(game, tiny(full_search_share=1.0, mcts_sims=40, proofs=True, look_ahead=2))
    out = np.zeros(game.action_size, np.int32)
    for record in selfplay.play(Projection(game), [(i, game_seed("run", 1, i)) for i in range(30)]):
        state = game.start()
        for move, visits in zip(record.moves, record.visits, strict=True):
            if visits.any() and game.rules.winning(state.row) < 0 and game.rules.safe(state.row, out) == 1:
                taught += 1
                assert np.flatnonzero(visits).tolist() == [out[0]] == [move]
            if len(state.allowedActions) == 1:
                assert not visits.any()
            state = state.takeAction(int(move))[0]
    assert taught > 20


def test_walks_pass_through_a_forced_move_and_ask_where_there_is_a_choice():
    game = games.make("connect4")
    state = play(game, "1 7 1 7 1")
    network = Projection(game)
    mcts = searched(game, state, 30, network)
    root = mcts.root
    assert root.forced and root.visits == 30
    block = next(edge for _, edge in root.edges if edge.stats["N"])
    assert block.stats["N"] == 30 and not block.outNode.forced
    assert root.value == root.Q == pytest.approx(block.stats["Q"])
    asked = [node for node in mcts.tree.values() if node.edges and not node.forced]
    forced = [node for node in mcts.tree.values() if node.forced]
    assert network.rows == len(asked) and len(forced) > 1
    for node in forced:
        searched_moves = [edge for _, edge in node.edges if edge.proven is None or edge.stats["N"]]
        assert len(searched_moves) == 1 and searched_moves[0].stats["N"] == node.visits
    for node in asked:
        total = node.value + sum(edge.stats["W"] for _, edge in node.edges)
        assert node.Q == pytest.approx(total / (1 + node.visits)) or node.proven is not None


def test_explain_tells_the_networks_own_opinion_of_a_forced_position():
    game = games.make("connect4")
    agent = Agent("explains", game, Projection(game), plain_search(**AHEAD), mcts_sims=40)
    state = play(game, "1 7 1 7 1")
    told = explain(agent, state)
    value, priors, _ = agent.get_preds(state)
    assert told["network_value"] == pytest.approx(value) and told["search_value"] == pytest.approx(agent.MCTS.root.Q)
    for move in told["moves"]:
        assert move["P"] == pytest.approx(priors[move["action"]])
        assert move["proven"] == ("" if move["move"] == "1" else "lost")


def test_where_all_visited_moves_are_lost_and_the_network_gives_the_others_nothing_one_of_these_is_played():
    """A prior can be exactly 0 in float32, where a logit lies far below the others."""
    mcts = rooted(GAMES["tictactoe"])
    mcts.search(Projection(GAMES["tictactoe"]), 4)
    f = mcts.forest
    root = f.nodes[f.trees[0]["root"]]
    first, last = root["first"] + root["materialised"], root["first"] + root["count"]
    assert first < last
    f.moves["proven"][root["first"] : first] = LOSS
    f.moves["P"][first:last] = 0.0
    assert {mcts.decide(0, 1.0).action for _ in range(200)} == set(f.moves["action"][first:last].tolist())
