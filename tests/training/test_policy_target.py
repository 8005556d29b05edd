"""What self-play teaches: proofs make targets exact, forced playouts are left out, averages of weights play."""


import numpy as np
import pytest

import games
from agent import Agent
from compiled import call
from search.many_trees import ManyTrees
from support.board_drawings import play
from support.search_cases import GAMES, Projection, plain_search, value_of, values_after
from support.tiny_runs import tiny
from training.policy_target import write_target
from training.selfplay import SelfPlay, game_seed


def positions_taught(game, **changes):
    """Yield (state, visits, search's value) of each position searched in full."""
    selfplay = SelfPlay(game, tiny(full_search_share=1.0, **changes))
    network = Projection(game)

    def unsure(planes):
        values, logits = network(planes)
        return values / 2, logits

    for record in selfplay.play(unsure, [(i, game_seed("run", 1, i)) for i in range(60)]):
        state = game.start()
        for move, visits, value in zip(record.moves, record.visits, record.values, strict=True):
            if visits.any():
                yield state, visits, float(value)
            state = state.takeAction(int(move))[0]


# ---- proofs


@pytest.mark.parametrize("name", ["tictactoe", "connect4(rows=3,columns=4,n=3)"])
def test_with_proofs_a_value_that_is_exact_is_that_of_perfect_play_and_its_moves_keep_it(name):
    game, known, exact, lost_moves = games.make(name), {}, 0, 0
    for state, visits, value in positions_taught(game, mcts_sims=60, proofs=True):
        after = values_after(state, known)
        taught = set(np.flatnonzero(visits))
        if abs(value) == 1.0:
            exact += 1
            assert value == value_of(state, known), f"\n{state}"
            assert {after[a] for a in taught} == {value}, f"\n{state}"
        elif len(set(after.values())) > 1 and -1 in after.values():
            lost_moves += 1
    assert exact > 50 and lost_moves > 10


def test_with_proofs_no_move_into_a_loss_in_one_is_taught_where_another_move_is_not_lost():
    game, seen = GAMES["connect4"], 0
    for state, visits, value in positions_taught(game, mcts_sims=100, proofs=True, look_ahead=2):
        replies = {}
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            replies[action] = any(after.takeAction(a)[0].value == -1 for a in after.allowedActions)
        if any(replies.values()) and value > -1:
            seen += 1
            assert not any(replies[a] for a in np.flatnonzero(visits)), f"\n{state}"
    assert seen > 30


def test_an_agent_with_proofs_plays_a_win_that_its_network_hates_and_says_that_it_is_won():
    game = GAMES["connect4"]
    state = play(game, "1 7 1 7 1 6")

    def hates(planes):
        logits = np.tile(np.array([-9, 3, 3, 3, 3, 3, 3], np.float32), (len(planes), 1))
        return np.zeros(len(planes), np.float32), logits

    agent = Agent("proving", game, hates, plain_search(proofs=True, look_ahead=2), mcts_sims=400)
    action, pi, value, _ = agent.act(state, 0)
    assert action == 0 and pi[0] == 1 and value == 1.0
    assert agent.MCTS.root.proven == 1.0
    agent.new_games(1)
    agent.new_game(0, 1)
    assert agent.act_many([0], [state], [0.0])[0].action == 0


def test_steps_one_by_one_prove_what_the_compiled_search_proves():
    game = GAMES["tictactoe"]
    for moves in ("a1 b1 b2 c3", "a1 b1 b2 c3 a3", "a1 b2 c3 a3 c1 b1 b3"):
        state = play(game, moves)
        whole = Agent("whole", game, Projection(game), plain_search(proofs=True), mcts_sims=2000, leaves=1)
        whole.think(state)
        steps = Agent("steps", game, Projection(game), plain_search(proofs=True), mcts_sims=2000, leaves=1)
        steps.buildMCTS(state)
        while steps.MCTS.root.visits < whole.MCTS.root.visits:
            steps.simulate()
        assert steps.MCTS.root.proven == whole.MCTS.root.proven == value_of(state, {})
        assert (steps.MCTS.visit_counts() == whole.MCTS.visit_counts()).all()


# ---- forced playouts


def visits_of_the_first_search(**changes):
    """Return the target of the start of Connect 4 under a network with one opinion: the centre, and all is even."""
    game = GAMES["connect4"]

    def network(planes):
        logits = np.tile(np.array([0, 0, 0, 3, 0, 0, 0], np.float32), (len(planes), 1))
        return np.zeros(len(planes), np.float32), logits

    found = []
    settings = {"mcts_sims": 200, "full_search_share": 1.0, "proofs": False, "random_opening_share": 0.0}
    selfplay = SelfPlay(game, tiny(**{**settings, **changes}))
    for record in selfplay.play(network, [(i, game_seed("run", 1, i)) for i in range(16)]):
        found.append(record.visits[0])
    return np.array(found, float)


def test_the_target_of_a_search_without_noise_has_all_its_visits():
    game = GAMES["connect4"]
    trees = ManyTrees(game, plain_search(forced_playouts=2.0), sims=200, cache_size=0)
    trees.set_root(game.start())
    trees.search(Projection(game), 200)
    target = np.zeros(game.action_size, np.uint16)
    call(write_target, trees.forest, trees.puct, 0, target)
    assert (target == trees.visit_counts()).all() and (target == 1).any()


def test_forced_playouts_are_left_out_of_the_target_of_moves_that_the_search_did_not_want():
    plain = visits_of_the_first_search()
    forced = visits_of_the_first_search(forced_playouts=2.0)
    share = [v[:, 3].sum() / v.sum() for v in (plain, forced)]
    assert share[1] > share[0], "what noise and force made is taken out again"
    assert (plain.sum(axis=1) == 200).all() and (forced.sum(axis=1) < 200).all()


def test_forced_playouts_make_a_search_look_at_every_move_that_noise_names():
    game = GAMES["connect4"]
    from MCTS import MCTS

    def network(planes):
        values = np.zeros(len(planes), np.float32)
        return values, np.tile(np.array([0, 0, 0, 6, 0, 0, 0], np.float32), (len(planes), 1))

    for seed in range(5):
        mcts = MCTS(game, plain_search(epsilon=0.25, forced_playouts=2.0), seed=seed)
        mcts.plant(game.start())
        mcts.search(network, 1)
        mcts.add_noise(0.0)
        mcts.search(network, 400)
        for _, edge in mcts.root.edges:
            p = 0.75 * edge.stats["P"] + 0.25 * edge.nu
            assert edge.stats["N"] >= int((2.0 * p * 399) ** 0.5) or edge.stats["N"] == 0
        assert sum(edge.stats["N"] > 0 for _, edge in mcts.root.edges) >= 6


# ---- the running average of the weights
