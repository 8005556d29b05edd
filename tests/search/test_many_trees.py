"""Many trees, many leaves in the air, the evaluation cache, a full tree, errors in the middle of a search."""

import numpy as np
import pytest

import games
from agent import Agent
from compiled import call
from MCTS import MCTS, Node
from search.reroot import drop_unvisited_edges
from search.solving.proofs import LOSS, UNPROVEN
from support.board_drawings import play
from support.corridor import Corridor, CorridorState
from support.search_cases import (
    GAMES,
    POSITIONS,
    Projection,
    assert_books_balance,
    everything,
    rooted,
)

# ---- many trees, many leaves, the cache


@pytest.mark.parametrize("name", GAMES)
def test_many_trees_side_by_side_equal_the_same_trees_alone(name):
    game = GAMES[name]
    states = [game.start().takeAction(action)[0] for action in game.start().allowedActions[:6]]
    many = MCTS(game, trees=6, sims=200)
    alone = [MCTS(game, sims=200) for _ in states]
    for t, (mcts, state) in enumerate(zip(alone, states, strict=True)):
        mcts.forest.trees["rng"] = many.forest.trees["rng"][t]
        for forest, tree in ((mcts, 0), (many, t)):
            forest.set_root(state, tree=tree)
            forest.add_noise(0.5, tree=tree)
    many.search(Projection(game), 100, trees=range(6))
    many.search(Projection(game), 150, trees=[4, 1])
    for t, mcts in enumerate(alone):
        mcts.search(Projection(game), 150 if t in (4, 1) else 100)
        assert everything(many, t) == everything(mcts), f"tree {t}"
        assert (many.visit_counts(t) == mcts.visit_counts()).all() and many.root_value(t) == mcts.root_value()


def test_moving_the_root_of_one_tree_leaves_the_others_alone():
    game = GAMES["connect4"]
    many = MCTS(game, trees=3, sims=200)
    for t in range(3):
        many.set_root(game.start().takeAction(t)[0], tree=t)
    many.search(Projection(game), 100, trees=range(3))
    before = [everything(many, t) for t in range(3)]
    root = Node(many, many.forest.trees[1]["root"])
    most_visited = max((edge for _, edge in root.edges), key=lambda edge: edge.stats["N"])
    many.set_root(most_visited.outNode.state, tree=1)
    assert everything(many, 0) == before[0] and everything(many, 2) == before[2]
    assert everything(many, 1).items() < before[1].items()


@pytest.mark.parametrize("name", GAMES)
def test_the_evaluation_cache_saves_questions_and_changes_no_visit(name):
    game = GAMES[name]
    found, asked = [], []
    for size in (0, 1 << 14):
        mcts, predictor = rooted(game, cache_size=size), Projection(game)
        for state in (game.start(), game.start().takeAction(0)[0], game.start()):
            mcts.plant(state)
            assert mcts.search(predictor, 100) <= 101
            found.append(everything(mcts))
        asked.append(predictor.rows)
    assert found[:3] == found[3:]
    assert found[0] == found[2]
    assert asked[1] < asked[0], "the third search asks nothing new"


def test_a_remembered_search_asks_nothing_until_the_cache_is_cleared():
    game = GAMES["connect4"]
    mcts = rooted(game, cache_size=1 << 20)  # no two positions have one place
    first = mcts.search(Projection(game), 100)
    visits = mcts.visit_counts().tolist()
    mcts.plant(game.start())
    assert first > 50 and mcts.search(Projection(game, seed=1), 100) == 0
    assert mcts.visit_counts().tolist() == visits, "old answers are used while the cache holds them"
    mcts.clear_cache()
    mcts.plant(game.start())
    assert mcts.search(Projection(game, seed=1), 100) > 50
    assert mcts.visit_counts().tolist() != visits


@pytest.mark.parametrize("name, moves", POSITIONS)
def test_virtual_loss_is_given_back(name, moves):
    game, batches = GAMES[name], []
    predictor = Projection(game)
    mcts = rooted(game, play(game, moves), leaves=8)

    def seen(planes):
        batches.append(len({board.tobytes() for board in planes}))
        assert batches[-1] == len(planes), "no position is asked for twice at once"
        return predictor(planes)

    mcts.search(seen, 203)
    assert 1 < max(batches) <= 8
    assert mcts.visit_counts().sum() == mcts.root.visits == 203
    assert_books_balance(mcts)


def test_a_stopped_search_can_go_on_as_if_nothing_had_happened():
    game = GAMES["connect4"]
    for leaves in (1, 4):
        whole, parts = (rooted(game, leaves=leaves) for _ in range(2))
        stops = iter([False, False, True])
        assert parts.search(Projection(game), 100, stop=lambda: next(stops)) <= 3 * leaves  # noqa: B023
        assert 0 < parts.root.visits < 100
        assert_books_balance(parts)
        parts.search(Projection(game), 100)
        whole.search(Projection(game), 100)
        assert leaves > 1 or everything(parts) == everything(whole)


@pytest.mark.parametrize("sims", [4, 32])
def test_a_tree_with_room_for_a_search_has_it_too_for_positions_that_visits_pass_through(sims):
    game = GAMES["connect4"]
    agent = Agent("", game, Projection(game), mcts_sims=sims)
    searched = 0
    for asked in (sims, 2 * sims):  # as many as the first tables would hold where nothing is passed through
        for index in range(20):
            agent.mcts_sims, state = asked, game.start()
            agent.new_games(1)
            agent.new_game(0, index)
            while not state.isEndGame:
                (decision,) = agent.act_many([0], [state], [1.0])
                trees = agent._games.trees
                root = Node(trees, trees.forest.trees[0]["root"])
                assert root.proven is not None or root.visits >= asked, f"{root.visits} of {asked}\n{state}"
                searched += root.proven is None
                state = state.takeAction(decision.action)[0]
    assert searched > 100


def test_steps_in_a_full_tree_raise_and_take_their_visits_back():
    game = GAMES["connect4"]
    mcts = rooted(game, sims=1)
    mcts.search(Projection(game), 5000)
    before = everything(mcts)
    with pytest.raises(MemoryError, match="the tree is full .68 nodes."):
        while True:
            leaf, value, done, breadcrumbs = mcts.moveToLeaf()
            mcts.expand(leaf, 0.0, np.zeros(7))
            before = None
    assert before is None or everything(mcts) == before
    with pytest.raises(MemoryError):
        for action in range(7):
            mcts.addNode(play(game, f"{action + 1} 1 2 3"))


def test_a_search_of_a_finished_game_asks_nothing():
    game = GAMES["connect4"]
    state = play(game, "1122334")
    mcts = rooted(game, state)
    assert mcts.search(Projection(game), 50) == 0
    assert mcts.visit_counts().sum() == 0 and mcts.root.value == mcts.root_value() == -1.0
    leaf, value, done, breadcrumbs = mcts.moveToLeaf()
    assert (leaf == mcts.root, value, done, breadcrumbs) == (True, -1.0, True, [])


# ---- errors


class Failing(Corridor):
    """Corridor whose positions fail in one member once three stones stand."""

    def __init__(self, member, error):
        def fail(state, *args):
            if self.armed and sum(map(abs, state.cells)) == 3:
                raise error
            return original(state, *args)

        found = getattr(CorridorState, member)
        original = found.fget if isinstance(found, property) else found
        self.state_class = type(
            "FailingState", (CorridorState,), {member: property(fail) if found is not original else fail}
        )
        self.armed = True
        super().__init__()


MEMBERS = ["takeAction", "allowedActions", "isEndGame", "value", "planes", "id"]


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("in a rule"), KeyboardInterrupt()], ids=["error", "Ctrl-C"]
)
@pytest.mark.parametrize("member", MEMBERS)
def test_an_error_in_a_plain_rule_comes_out_of_the_search_and_leaves_nothing_wrong(member, error):
    game = Failing(member, error)
    mcts = rooted(game)
    with pytest.raises(type(error)) as raised:
        mcts.search(Projection(game), 400)
    assert raised.value is error
    game.armed = False
    mcts.set_root(game.start())
    mcts.search(Projection(game), 100)
    healthy = rooted(Corridor())
    healthy.search(Projection(game), 100)
    assert everything(mcts) == everything(healthy)


@pytest.mark.parametrize("member", MEMBERS[:4])
def test_an_error_in_a_plain_rule_comes_out_of_the_steps(member):
    error = ZeroDivisionError("in a rule")
    game = Failing(member, error)
    mcts = rooted(game)
    with pytest.raises(ZeroDivisionError) as raised:
        for _ in range(400):
            leaf, value, done, breadcrumbs = mcts.moveToLeaf()
            if not done:
                mcts.expand(leaf, 0.0, np.zeros(9))
            mcts.backFill(leaf, value, breadcrumbs)
    assert raised.value is error


@pytest.mark.parametrize("leaves", [1, 8])
def test_an_error_of_the_network_leaves_no_visit_half_made(leaves):
    game = GAMES["connect4"]
    mcts, predictor = rooted(game, leaves=leaves), Projection(game)

    def interrupted(planes):
        if predictor.rows > 40:
            raise KeyboardInterrupt
        return predictor(planes)

    with pytest.raises(KeyboardInterrupt):
        mcts.search(interrupted, 100)
    assert_books_balance(mcts)
    mcts.search(predictor, 100)
    assert mcts.root.visits == 100
    assert_books_balance(mcts)


def test_a_search_before_there_is_a_root_is_refused():
    with pytest.raises(ValueError, match="expected a root"):
        MCTS(GAMES["connect4"]).search(Projection(GAMES["connect4"]), 10)


@pytest.mark.parametrize("value, logit", [(np.nan, 0.0), (np.inf, 0.0), (0.0, np.nan), (0.0, np.inf)])
def test_an_answer_that_is_not_finite_is_an_error_and_not_a_move(value, logit):
    game = games.make("connect4")
    mcts = MCTS(game, sims=20, cache_size=64)
    mcts.plant(game.start())
    calls = []

    def predictor(planes):
        calls.append(len(planes))
        bad = len(calls) == 5
        logits = np.zeros((len(planes), 7), np.float32)
        logits[:, 2] = logit if bad else 0
        return np.full(len(planes), value if bad else 0, np.float32), logits

    with pytest.raises(ArithmeticError, match="finite"):
        mcts.search(predictor, 20)
    mcts.plant(game.start())
    calls.append(0)
    mcts.search(predictor, 20)
    assert mcts.visit_counts().sum() == 20


def test_an_edge_that_is_closed_takes_no_proof_of_another_along():
    """Behind an edge without a visit, which noise opened, may stand one that is proven."""
    mcts = rooted(GAMES["connect4"])
    mcts.search(Projection(GAMES["connect4"]), 40)
    f, node = mcts.forest, mcts.root
    first = int(node._row["first"])
    opened = int((f.edges["N"][first : first + int(node._row["materialised"])] > 0).sum())
    assert opened > 2 and f.edges["N"][first : first + opened].all()
    f.nodes["materialised"][node.index] = opened
    f.edges["N"][first + 1], f.moves["proven"][first + opened - 1] = 0, LOSS
    closed, proven = int(f.moves["action"][first + 1]), int(f.moves["action"][first + opened - 1])
    call(drop_unvisited_edges, f, node.index)
    told = {int(m["action"]): int(m["proven"]) for m in f.moves[first : first + 7]}
    assert node._row["materialised"] == opened - 1 and f.moves["action"][first + opened - 1] == closed
    assert told == {**dict.fromkeys(range(7), UNPROVEN), proven: LOSS}
