"""The temperature of the root's priors in self-play: where it is used, how it falls, what it leaves alone."""

from collections import deque

import numpy as np
import pytest

import games
from compiled import call
from search.expand import make_priors
from search.noise import apply_root_temperature
from search.tables import EXPANDED
from support.search_cases import GAMES, Projection, always, rooted
from support.tiny_runs import tiny
from training.policy_target import write_target
from training.selfplay import SelfPlay, game_seed


def softmax(logits):
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


def priors_of(forest, index):
    """Return the moves of a node with an edge and their priors."""
    call(make_priors, forest, index)
    node = forest.nodes[index]
    where = slice(node["first"], node["first"] + node["count"])
    return forest.moves["action"][where].astype(int), forest.moves["P"][where]


def looks(game, **changes):
    """Yield (full search?, plies, the root's priors, the network's logits of its moves) at each question asked."""
    worker = SelfPlay(game, tiny(games_in_flight=2, look_ahead=0, **changes)).workers[0]
    answers, forest, table, n = Projection(game), worker.mcts.forest, worker._flight, 0
    starts = worker._take_games(deque((i, game_seed("run", 1, i)) for i in range(worker.trees)))
    while True:
        (n, _), starts = worker.step(n, starts), 0
        if n == 0:
            return
        for t in worker._requested[:n].tolist():
            root = int(forest.trees["root"][t])
            if forest.nodes["status"][root] == EXPANDED:
                planes = game.state_of(forest.rows[root + t].copy()).planes()[None]
                moves, priors = priors_of(forest, root)
                yield bool(table.full[t]), int(table.ply[t]), priors.copy(), answers(planes)[1][0, moves]
        asked = worker._planes[:n].reshape(n, *game.input_shape)
        worker._values[:n], worker._logits[:n] = answers(asked)


@pytest.mark.parametrize("name", ["connect4", "corridor"])
@pytest.mark.parametrize("cache", [0, 1 << 12])
def test_roots_of_full_searches_have_softer_priors_and_those_of_fast_ones_the_networks(name, cache):
    seen = {True: set(), False: set()}
    changes = {"full_search_share": 0.5, "turns_until_tau0": 3, "root_temperature": 2.0, "cache_size": cache}
    for full, ply, priors, logits in looks(GAMES[name], **changes):
        temperature = 1.4 + 0.6 * 0.5 ** (ply / 3) if full else 1.0
        assert priors == pytest.approx(softmax(logits / temperature), rel=1e-4), (full, ply)
        seen[full].add(ply)
    assert all(len(plies) > 2 for plies in seen.values())


def test_they_are_the_networks_unless_told():
    count = 0
    for _, _, priors, logits in looks(GAMES["connect4"], full_search_share=1.0):
        assert priors == pytest.approx(softmax(logits), rel=1e-5)
        count += 1
    assert count > 100


def test_only_the_root_is_softened():
    game = GAMES["connect4"]
    plain, soft = rooted(game, cpuct=1.25), rooted(game, cpuct=1.25)
    soft.forest.trees["temperature"][0] = 1.25
    for mcts in (plain, soft):
        mcts.search(Projection(game), sims=300)
    nodes = {mcts: {int(k): i for i, k in enumerate(mcts.forest.nodes["key"]) if k} for mcts in (plain, soft)}
    shared, root = nodes[plain].keys() & nodes[soft].keys(), int(soft.forest.nodes["key"][soft.forest.trees["root"][0]])
    assert len(shared) > 50
    for key in shared:
        one, other = (dict(zip(*priors_of(m.forest, nodes[m][key]), strict=True)) for m in (plain, soft))
        assert (one == other) == (key != root or not one)


def test_a_root_whose_answer_is_remembered_is_softened_too():
    game = GAMES["connect4"]
    mcts, network = rooted(game, cache_size=64), Projection(game)
    for state in (game.start(), game.start().takeAction(3)[0], game.start()):
        mcts.set_root(state)
        mcts.forest.trees["temperature"][0] = 1.25
        mcts.search(network, sims=1)
        moves, priors = priors_of(mcts.forest, int(mcts.forest.trees["root"][0]))
        assert priors == pytest.approx(softmax(Projection(game)(state.planes()[None])[1][0, moves] / 1.25), rel=1e-4)
    assert mcts.cache.counts[1] >= 1, "the third answer was remembered"


@pytest.mark.parametrize("temperature", [1.0, 1.25, 6.0])
def test_where_all_moves_lose_the_networks_own_priors_are_taught(temperature):
    game = games.make("gomoku(size=9)")
    state, logits = game.start(), np.random.default_rng(1).normal(0, 1.5, 81)
    for point in (0, 40, 1, 41, 17, 42, 35, 43):  # an open four: whatever is played, five comes next
        state = state.takeAction(point)[0]
    mcts = rooted(game, state, proofs=True, look_ahead=2)
    mcts.forest.trees["temperature"][0] = temperature
    mcts.search(always(0.0, logits), sims=1)
    assert mcts.root.proven == -1.0
    told = np.zeros(81, np.uint16)
    call(write_target, mcts.forest, mcts.puct, 0, told)
    moves = list(state.allowedActions)
    assert told[moves] / told.sum() == pytest.approx(softmax(logits[moves]), abs=1e-3)


@pytest.mark.parametrize("name", ["connect4", "gomoku(size=9)", "go(size=5)"])
def test_softened_priors_sum_to_one_and_keep_their_order(name):
    game = games.make(name)
    mcts = rooted(game)
    mcts.search(Projection(game), sims=1)
    root = int(mcts.forest.trees["root"][0])
    before = priors_of(mcts.forest, root)[1].copy()
    for temperature in (0.5, 1.25, 3.0):
        priors_of(mcts.forest, root)[1][:] = before
        mcts.forest.trees["temperature"][0] = temperature
        call(apply_root_temperature, mcts.forest, 0)
        after = priors_of(mcts.forest, root)[1]
        assert after.sum() == pytest.approx(1, abs=1e-5)
        assert np.array_equal(np.argsort(after, kind="stable"), np.argsort(before, kind="stable"))
        assert (after.max() < before.max()) == (temperature > 1)
