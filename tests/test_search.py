"""The search: equal to the textbook visit by visit, and the rules of DESIGN.md that are easily broken in silence."""

import numpy as np
import pytest
from corridor import PASS, Corridor, CorridorState
from textbook import Textbook

import games
import kernels as k
from config import UserError
from MCTS import MCTS, Edge, Node

GAMES = {"connect4": games.make("connect4"), "tictactoe": games.make("tictactoe"), "corridor": Corridor()}
POSITIONS = [
    ("connect4", ""),
    ("connect4", "4 4 4 4 4 2 5 5"),
    ("connect4", "1 1 1 1 1 1 2 2 2 2 2 2 4 3 3 3 3 3 3"),
    ("tictactoe", ""),
    ("tictactoe", "b2 a3 c1"),
    ("corridor", ""),
    ("corridor", "b2 c1 pass"),
]


class Projection:
    """A deterministic network: whole numbers projected from the planes, so that no batch can change a bit.

    Values are multiples of 1/128 and logits of 1/8, so equal ones occur.
    """

    def __init__(self, game, seed=0):
        inputs = int(np.prod(game.input_shape))
        self.weights = np.random.default_rng(seed).integers(-1000, 1000, (inputs, 1 + game.action_size))
        self.rows = 0

    def __call__(self, planes):
        self.rows += len(planes)
        sums = planes.reshape(len(planes), -1).astype(np.int64) @ self.weights
        value, logits = (sums[:, 0] % 257 - 128) / 128, (sums[:, 1:] % 49 - 24) / 8
        return value.astype(np.float32), logits.astype(np.float32)


def uniform(planes, action_size=7):
    """A network that knows nothing of Connect 4."""
    return np.zeros(len(planes), np.float32), np.zeros((len(planes), action_size), np.float32)


def always(value, logits):
    """A network with one answer."""
    logits = np.asarray(logits, np.float32)
    return lambda planes: (np.full(len(planes), value, np.float32), np.tile(logits, (len(planes), 1)))


def play(game, moves):
    state = game.start()
    for action in game.parse_moves(moves):
        state = state.takeAction(action)[0]
    return state


def drawn(game, text):
    """Return the position of a drawing; who began is to move when both have equally many stones."""
    cells = [" -XO".index(mark) for mark in text.split()]
    row = game.start_row.copy()
    row[-len(cells) :] = [{1: 0, 2: 1, 3: -1}[cell] for cell in cells]
    row[k.PLAYER] = 1 if cells.count(2) == cells.count(3) else -1
    return game.state_of(row)


def rooted(game, state=None, **options):
    mcts = MCTS(game, **{"sims": 400, **options})
    mcts.set_root(state or game.start())
    return mcts


def numbers(node):
    """What equal nodes have in common: every edge's N, W, Q, P."""
    return {action: edge.stats for action, edge in node.edges}


def textbook_numbers(node):
    return {edge.action: edge.stats for edge in node.edges}


def assert_equal_trees(mcts, book):
    fast = mcts.tree
    assert set(fast) == set(book.tree)
    for state_id, node in book.tree.items():
        assert numbers(fast[state_id]) == textbook_numbers(node), f"\n{node.state}"
        assert fast[state_id].Q == node.Q, f"\n{node.state}"


def assert_books_balance(mcts):
    """Every visit of a node came along an edge, and every value went back along it: nothing lost, nothing left over."""
    N, W = {}, {}
    for node in mcts.tree.values():
        assert node.visits == sum(edge.stats["N"] for _, edge in node.edges)
        for _, edge in node.edges:
            child = edge.outNode
            if child is not None:
                sign = 1 if edge.playerTurn == child.playerTurn else -1
                N[child.index] = N.get(child.index, 0) + edge.stats["N"]
                W[child.index] = W.get(child.index, 0.0) + sign * edge.stats["W"]
            else:
                assert (edge.stats["N"], edge.stats["W"]) == (0, 0.0)
    for node in mcts.tree.values():
        total = node.value + sum(edge.stats["W"] for _, edge in node.edges)
        assert node.Q == total / (1 + node.visits)
        if node == mcts.root:
            continue
        visits, sum_of_values = N.get(node.index, 0), W.get(node.index, 0.0)
        if node.state.isEndGame:
            assert sum_of_values == visits * node.value
        elif node.isLeaf():
            assert (visits, sum_of_values) == (0, 0.0)
        else:
            assert (visits, sum_of_values) == (1 + node.visits, total)


# ---- equal to the textbook


@pytest.mark.parametrize("fpu", [0.25, -1.0])
@pytest.mark.parametrize("name, moves", POSITIONS)
def test_search_equals_the_textbook_after_every_visit(name, moves, fpu):
    game, state = GAMES[name], play(GAMES[name], moves)
    predictor = Projection(game)
    mcts, book = rooted(game, state, fpu_reduction=fpu), Textbook(state, fpu=fpu)
    book.simulate(predictor)
    for sims in range(1, 121):
        mcts.search(predictor, sims)
        book.simulate(predictor)
        assert numbers(mcts.root) == textbook_numbers(book.root), f"after {sims} visits of\n{state}"
        assert len(mcts) == len(book.tree)
    assert_equal_trees(mcts, book)


@pytest.mark.parametrize("name, moves", POSITIONS)
def test_steps_equal_the_textbook_after_every_visit(name, moves):
    game, state = GAMES[name], play(GAMES[name], moves)
    predictor = Projection(game, seed=1)
    mcts, book = rooted(game, state), Textbook(state)
    for _ in range(100):
        leaf, value, done, breadcrumbs = mcts.moveToLeaf()
        assert leaf.isLeaf()
        if not done:
            values, logits = predictor(leaf.state.planes()[None])
            value = float(values[0])
            mcts.expand(leaf, value, logits[0])
        mcts.backFill(leaf, value, breadcrumbs)
        assert [edge.action for edge in breadcrumbs] == book.simulate(predictor)
        assert numbers(mcts.root) == textbook_numbers(book.root)
        assert len(mcts) == len(book.tree)
    assert_equal_trees(mcts, book)


@pytest.mark.parametrize("name, moves", [POSITIONS[1], POSITIONS[4], POSITIONS[6]])
def test_search_with_noise_equals_the_textbook_after_every_visit(name, moves):
    game, state = GAMES[name], play(GAMES[name], moves)
    predictor = Projection(game)
    mcts, book = rooted(game, state, epsilon=0.4, seed=5), Textbook(state, epsilon=0.4)
    mcts.search(predictor, 0)
    book.simulate(predictor)
    mcts.add_noise(0.5)
    for (_, edge), twin in zip(mcts.root.edges, book.root.edges, strict=True):
        twin.nu = edge.nu
    book.noisy = True
    for sims in range(1, 121):
        mcts.search(predictor, sims)
        book.simulate(predictor)
        assert numbers(mcts.root) == textbook_numbers(book.root), f"after {sims} visits"
    assert_equal_trees(mcts, book)


@pytest.mark.parametrize("name, moves", POSITIONS)
def test_a_tree_kept_from_move_to_move_equals_the_textbook(name, moves):
    game, state = GAMES[name], play(GAMES[name], moves)
    predictor = Projection(game)
    mcts, book = rooted(game, state), Textbook(state)
    book.simulate(predictor)
    while not state.isEndGame:
        mcts.search(predictor, 60)
        while book.root.total < 60:
            book.simulate(predictor)
        assert_equal_trees(mcts, book)
        state = state.takeAction(int(mcts.visit_counts().argmax()))[0]
        assert mcts.set_root(state, sims=60), "a visited move is known"
        book.changeRootMCTS(state)
        assert_equal_trees(mcts, book)


def test_the_textbook_differs_when_a_number_of_the_rule_does():
    """The comparison sees small differences."""
    game = GAMES["connect4"]
    predictor, found = Projection(game), []
    for options in ({}, {"cpuct": 1.26}, {"fpu": 0.27}):
        book = Textbook(game.start(), **options)
        for _ in range(121):
            book.simulate(predictor)
        found.append(textbook_numbers(book.root))
    assert found[0] != found[1] and found[0] != found[2]


# ---- the first descent follows the prior


@pytest.mark.parametrize("fpu", [0.25, -1.0])
@pytest.mark.parametrize("favourite", range(7))
def test_first_descent_follows_the_prior(favourite, fpu):
    mcts = rooted(GAMES["connect4"], fpu_reduction=fpu)
    mcts.search(always(0.0, np.arange(7) == favourite), 1)
    assert mcts.visit_counts().tolist() == [int(a == favourite) for a in range(7)]


def test_equal_priors_go_to_the_first_move():
    mcts = rooted(GAMES["connect4"])
    mcts.search(uniform, 1)
    assert mcts.visit_counts().tolist() == [1, 0, 0, 0, 0, 0, 0]


# ---- noise


def noise(mcts):
    return [edge.nu for _, edge in mcts.root.edges]


def test_noise_is_over_legal_moves_sums_to_one_and_stays_for_the_search():
    state = play(GAMES["connect4"], "1 1 1 1 1 1")
    mcts = rooted(GAMES["connect4"], state)
    predictor = Projection(GAMES["connect4"])
    mcts.search(predictor, 1)
    mcts.add_noise(0.3)
    drawn_noise = noise(mcts)
    assert [action for action, _ in mcts.root.edges] == [1, 2, 3, 4, 5, 6]
    assert min(drawn_noise) > 0 and sum(drawn_noise) == pytest.approx(1, abs=1e-6)
    mcts.search(predictor, 200)
    assert noise(mcts) == drawn_noise
    assert all(
        edge.nu == 0 for _, child in mcts.root.edges if child.outNode for _, edge in child.outNode.edges
    )


def test_noise_changes_the_search_but_is_never_written_into_the_prior():
    priors, visits = [], []
    for noisy in (False, True):
        mcts = rooted(GAMES["connect4"], epsilon=1.0)
        predictor = Projection(GAMES["connect4"])
        mcts.search(predictor, 0)
        if noisy:
            mcts.add_noise(0.1)
        mcts.search(predictor, 100)
        priors.append([edge.stats["P"] for _, edge in mcts.root.edges])
        visits.append(mcts.visit_counts().tolist())
    assert priors[0] == priors[1]
    assert visits[0] != visits[1]


def test_noise_can_be_drawn_before_the_root_is_evaluated():
    counts = []
    for early in (False, True):
        mcts = rooted(GAMES["connect4"])
        if early:
            mcts.add_noise(0.3)
        mcts.search(Projection(GAMES["connect4"]), 0)
        if not early:
            mcts.add_noise(0.3)
        mcts.search(Projection(GAMES["connect4"]), 100)
        counts.append(mcts.visit_counts().tolist())
    assert counts[0] == counts[1]


def test_noise_ends_with_the_root_it_was_drawn_for():
    game, found = GAMES["connect4"], []
    for noisy in (False, True):
        mcts = rooted(game, epsilon=1.0)
        mcts.search(Projection(game), 50)
        if noisy:
            mcts.add_noise(0.1)
        assert mcts.set_root(game.start().takeAction(3)[0])
        mcts.search(Projection(game), 100)
        found.append(numbers(mcts.root))
    assert found[0] == found[1]


def test_noise_ends_when_the_same_root_is_set_again():
    game = GAMES["connect4"]
    quiet, noisy = rooted(game), rooted(game, epsilon=1.0)
    noisy.search(Projection(game), 0)
    noisy.add_noise(0.1)
    noisy.set_root(game.start())
    for mcts in (quiet, noisy):
        mcts.search(Projection(game), 100)
    assert numbers(noisy.root) == numbers(quiet.root)


@pytest.mark.parametrize("alpha, concentration", [(0.3, 0.3), (3.0, 3.0), (0.0, 10.83 / 7)])
def test_noise_has_the_mean_and_the_variance_of_a_dirichlet_distribution(alpha, concentration):
    trees = 3000
    mcts = MCTS(GAMES["connect4"], trees=trees, sims=1, seed=2)
    for t in range(trees):
        mcts.plant(GAMES["connect4"].start(), tree=t)
        mcts.add_noise(alpha, tree=t)
    capacity = mcts.forest.edges.shape[0] // trees
    nu = mcts.forest.edges["nu"].reshape(trees, capacity)[:, :7]
    assert nu.mean(axis=0) == pytest.approx(np.full(7, 1 / 7), abs=0.02)
    assert nu.var() == pytest.approx(1 / 7 * (1 - 1 / 7) / (7 * concentration + 1), rel=0.05)


# ---- the masked softmax


def priors_of(logits, moves="1 1 1 1 1 1"):
    mcts = rooted(GAMES["connect4"], play(GAMES["connect4"], moves))
    mcts.search(always(0.0, logits), 0)
    return {action: edge.stats["P"] for action, edge in mcts.root.edges}


@pytest.mark.parametrize("illegal", [1e30, -1e30, np.inf, np.nan])
def test_the_logit_of_an_illegal_move_has_no_effect(illegal):
    priors = priors_of([illegal, 1, 2, 3, 4, 5, 6])
    assert list(priors) == [1, 2, 3, 4, 5, 6]
    assert priors == priors_of([0, 1, 2, 3, 4, 5, 6])


def test_priors_are_the_softmax_of_the_legal_logits():
    odds = np.exp([1.0, 2, 3, 4, 5, 6])
    assert list(priors_of([9, 1, 2, 3, 4, 5, 6]).values()) == pytest.approx(odds / odds.sum(), rel=1e-6)
    assert sum(priors_of([9, 1, 2, 3, 4, 5, 6]).values()) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("shift", [1e4, -1e4])
def test_large_logits_do_not_overflow(shift):
    priors = list(priors_of(np.arange(7) + np.float32(shift)).values())
    assert priors == list(priors_of(np.arange(7)).values())


def test_far_apart_logits_give_zero_and_one():
    assert list(priors_of([0, 3e38, 0, -3e38, 0, 0, 0]).values()) == [1, 0, 0, 0, 0, 0]


# ---- the sign of a value


@pytest.mark.parametrize("move, W", [("a2", 0.5), ("d1", 0.5), ("b2", -0.5), ("pass", -0.5)])
def test_a_value_keeps_its_sign_when_the_same_player_moves_again(move, W):
    """A stone at an end of a lane gives another turn, so the value after it is for the same player."""
    game = Corridor()
    action = game.parse_move(move)
    mcts = rooted(game)
    mcts.search(always(0.5, 50 * (np.arange(9) == action)), 1)
    assert dict(mcts.root.edges)[action].stats["W"] == W


def test_a_result_counts_for_the_player_who_made_the_last_move():
    """X (to move) fills the board with a run of 3 to 2, and would have had another turn: the value is X's."""
    game = Corridor()
    state = CorridorState(game, cells=(0, 1, 1, -1, -1, -1, 1, -1))
    assert str(state).splitlines()[:2] == ["2  -  X  X  O ", "1  O  O  X  O "]
    mcts = rooted(game, state)
    mcts.search(always(0.0, np.zeros(9)), 2)
    assert mcts.root.edges[0][1].stats["W"] == 0.25
    assert mcts.root.edges[0][1].outNode.playerTurn == 1


@pytest.mark.parametrize("name, moves", POSITIONS)
def test_books_balance_in_every_node(name, moves):
    mcts = rooted(GAMES[name], play(GAMES[name], moves))
    mcts.search(Projection(GAMES[name], seed=3), 300)
    assert mcts.root.visits == 300
    assert_books_balance(mcts)


# ---- pruning


def reachable(node):
    found, new = {node.id: node}, [node]
    while new:
        for _, edge in new.pop().edges:
            child = edge.outNode
            if child is not None and child.id not in found:
                found[child.id] = child
                new.append(child)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_after_set_root_only_reachable_nodes_remain_with_the_numbers_they_had(name):
    game = GAMES[name]
    mcts = rooted(game)
    mcts.search(Projection(game), 300)
    child = max((edge for _, edge in mcts.root.edges), key=lambda edge: edge.stats["N"]).outNode
    before = {state_id: (numbers(node), node.value, node.Q) for state_id, node in reachable(child).items()}
    gone = [node.state for state_id, node in mcts.tree.items() if state_id not in before]
    assert mcts.set_root(child.state) and gone
    after = {state_id: (numbers(node), node.value, node.Q) for state_id, node in mcts.tree.items()}
    assert after == before
    assert len(mcts) == len(before) == len(reachable(mcts.root))
    assert not any(state in mcts for state in gone)
    assert all(node.state in mcts for node in mcts.tree.values())


def walk(mcts, moves):
    """Return the node at the end of a line from the root."""
    node = mcts.root
    for action in mcts.game.parse_moves(moves):
        node = dict(node.edges)[action].outNode
    return node


def test_transpositions_share_a_node_and_survive_pruning():
    game = GAMES["tictactoe"]
    mcts = rooted(game, sims=1000)
    mcts.search(always(0.0, np.zeros(9)), 1000)
    shared = walk(mcts, "a3 b2 c3")
    assert shared == walk(mcts, "c3 b2 a3") and shared.visits > 0
    before = numbers(shared)
    mcts.set_root(play(game, "c3"))
    assert numbers(walk(mcts, "b2 a3")) == before
    assert play(game, "a3") not in mcts and play(game, "a3 b2") not in mcts


def test_an_unknown_root_starts_an_empty_tree():
    game = GAMES["connect4"]
    mcts = rooted(game)
    mcts.search(Projection(game), 10)
    assert not mcts.set_root(play(game, "1 2 3 4 5 6 7 1 2 3"))
    assert len(mcts) == 1 and mcts.root.isLeaf() and mcts.visit_counts().sum() == 0


def test_kept_visits_count_towards_the_visits_asked_for():
    game = GAMES["connect4"]
    mcts, predictor = rooted(game), Projection(game)
    mcts.search(predictor, 200)
    move = int(mcts.visit_counts().argmax())
    kept = int(mcts.visit_counts().max()) - 1
    mcts.set_root(game.start().takeAction(move)[0])
    assert mcts.root.visits == kept
    assert mcts.search(predictor, kept) == 0
    assert mcts.search(predictor, kept + 1) <= 1
    assert mcts.visit_counts().sum() == kept + 1


# ---- what is read off the tree


def test_statistics_are_python_numbers_not_arrays():
    mcts = rooted(GAMES["connect4"])
    mcts.search(Projection(GAMES["connect4"]), 50)
    for _, edge in mcts.root.edges:
        assert {name: type(value) for name, value in edge.stats.items()} == {
            "N": int,
            "W": float,
            "Q": float,
            "P": float,
        }
        assert type(edge.action) is int and edge.inNode == mcts.root
    assert type(mcts.root.Q) is float and type(mcts.root.value) is float and type(mcts.root_value()) is float


def test_the_root_value_is_the_mean_of_the_network_and_all_visits():
    mcts = rooted(GAMES["connect4"])
    mcts.search(Projection(GAMES["connect4"]), 50)
    stats = [edge.stats for _, edge in mcts.root.edges]
    assert mcts.root_value() == mcts.root.Q == (mcts.root.value + sum(s["W"] for s in stats)) / 51
    assert mcts.visit_counts().tolist() == [s["N"] for s in stats]


def test_the_principal_variation_is_the_most_visited_line():
    game = GAMES["connect4"]
    mcts = rooted(game, drawn(game, MATES["connect4: win"][1]))
    mcts.search(uniform, 400)
    assert mcts.principal_variation() == [3], "the win ends it"


def test_a_node_added_by_hand_is_found_again():
    mcts = rooted(GAMES["connect4"])
    state = play(GAMES["connect4"], "4 4")
    assert state not in mcts
    node = mcts.addNode(state)
    assert isinstance(node, Node) and node.state.id == state.id and node.isLeaf() and state in mcts
    assert mcts.addNode(state) == node and len(mcts) == 2


def test_moves_are_chosen_by_visits_to_the_power_of_one_over_tau():
    mcts = rooted(GAMES["connect4"], seed=4)
    mcts.search(Projection(GAMES["connect4"], seed=2), 100)
    counts = mcts.visit_counts()
    for tau in (1.0, 0.5):
        edges = [Edge(mcts, k.choose(mcts.forest, 0, tau)).action for _ in range(4000)]
        expected = counts ** (1 / tau) / (counts ** (1 / tau)).sum()
        assert np.bincount(edges, minlength=7) / 4000 == pytest.approx(expected, abs=0.03)
    assert {Edge(mcts, k.choose(mcts.forest, 0, 0.0)).action for _ in range(50)} == {int(counts.argmax())}


def test_without_tau_equally_visited_moves_are_chosen_at_random():
    mcts = rooted(GAMES["connect4"])
    mcts.search(always(0.0, np.zeros(7)), 7)
    assert mcts.visit_counts().tolist() == [1] * 7
    assert {Edge(mcts, k.choose(mcts.forest, 0, 0.0)).action for _ in range(200)} == set(range(7))


# ---- many trees, many leaves, the cache


def everything(mcts, tree=0):
    """{state id: numbers} of one tree of a forest."""
    first, count = tree * mcts.capacity, int(mcts.forest.trees[tree]["nodes"])
    nodes = [Node(mcts, i) for i in range(first, first + count)]
    return {node.id: (numbers(node), node.Q) for node in nodes}


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
    mcts = rooted(game)
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


@pytest.mark.parametrize("leaves", [1, 8])
@pytest.mark.parametrize("name", GAMES)
def test_a_full_tree_ends_the_search_and_stays_sound(name, leaves):
    game = GAMES[name]
    mcts = rooted(game, sims=20, leaves=leaves)
    mcts.search(Projection(game), 5000)
    assert mcts.capacity - 8 <= len(mcts) <= mcts.capacity and 0 < mcts.root.visits < 5000
    assert_books_balance(mcts)
    child = max((edge for _, edge in mcts.root.edges), key=lambda edge: edge.stats["N"]).outNode.state
    mcts.set_root(child)
    mcts.search(Projection(game), 10)
    assert mcts.root.visits >= 10 and mcts.root.id == child.id


def test_steps_in_a_full_tree_raise_and_take_their_visits_back():
    game = GAMES["connect4"]
    mcts = rooted(game, sims=1)
    mcts.search(Projection(game), 5000)
    before = everything(mcts)
    with pytest.raises(MemoryError, match="the tree is full .5 nodes."):
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


# ---- finds what is there


MATES = {
    "connect4: win": ("4", """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        O  -  -  -  -  -  -
        X  X  X  -  O  O  -"""),
    "connect4: win of the second player": ("2", """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  O  -  -  -  -  -
        X  O  -  -  X  -  -
        X  O  -  -  X  X  -"""),
    "connect4: block": ("4", """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        X  -  -  -  -  -  -
        O  O  O  -  X  X  -"""),
    "connect4: block of the second player": ("6", """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  X  -
        -  -  -  -  -  X  -
        -  -  O  O  -  X  -"""),
    "tictactoe: win": ("c2", """
        O  -  O
        X  X  -
        -  -  -"""),
    "tictactoe: win of the second player": ("c1", """
        O  X  X
        X  O  -
        -  -  -"""),
    "tictactoe: block": ("c2", """
        X  -  -
        O  O  -
        -  -  X"""),
    "tictactoe: block of the second player": ("a1", """
        X  O  -
        X  -  -
        -  -  -"""),
}  # fmt: skip


@pytest.mark.parametrize("leaves", [1, 8])
@pytest.mark.parametrize("case", MATES)
def test_a_win_or_a_block_in_one_is_found_without_any_knowledge(case, leaves):
    game, (move, board) = GAMES[case.split(":")[0]], MATES[case]
    mcts = rooted(game, drawn(game, board), leaves=leaves)
    mcts.search(always(0.0, np.zeros(game.action_size)), 400)
    assert game.move_name(int(mcts.visit_counts().argmax())) == move, f"{mcts.root.edges}\n{mcts.root.state}"
    assert mcts.root_value() > 0.5 or "win" not in case


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
    with pytest.raises((ValueError, UserError)):
        MCTS(GAMES["connect4"]).search(uniform, 10)
