"""The rules of the search that are easily broken in silence, one by one; what a search finds and shows."""

import numpy as np
import pytest

from MCTS import MCTS, Node
from search.choose_move import choose
from support.board_drawings import play
from support.corridor import Corridor, CorridorState
from support.search_cases import (
    GAMES,
    POSITIONS,
    Projection,
    always,
    assert_books_balance,
    drawn,
    numbers,
    rooted,
)

# ---- the first descent follows the prior


@pytest.mark.parametrize("fpu", [0.25, -1.0])
@pytest.mark.parametrize("favourite", range(7))
def test_first_descent_follows_the_prior(favourite, fpu):
    mcts = rooted(GAMES["connect4"], fpu_reduction=fpu)
    mcts.search(always(0.0, np.arange(7) == favourite), 1)
    assert mcts.visit_counts().tolist() == [int(a == favourite) for a in range(7)]


def test_equal_priors_go_to_the_first_move():
    mcts = rooted(GAMES["connect4"])
    mcts.search(always(0.0, np.zeros(7)), 1)
    assert mcts.visit_counts().tolist() == [1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("favourite, expected", [(3, [1, 0, 0, 1, 0, 0, 0]), (0, [2, 0, 0, 0, 0, 0, 0])])
def test_an_unvisited_move_and_a_visited_one_with_the_same_score_go_to_the_first(favourite, expected):
    """Twice the prior, visited once, is worth as much as the prior of a move not yet visited."""
    mcts = rooted(GAMES["connect4"], fpu_reduction=-1.0)
    mcts.search(always(0.0, np.where(np.arange(7) == favourite, 0.0, -np.log(2))), 2)
    priors = [edge.stats["P"] for _, edge in mcts.root.edges]
    assert priors[favourite] == 2 * priors[6]
    assert mcts.visit_counts().tolist() == expected


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


@pytest.mark.parametrize("alpha, concentration", [(0.001, 0.001), (0.3, 0.3), (3.0, 3.0), (0.0, 10.83 / 7)])
def test_noise_has_the_mean_and_the_variance_of_a_dirichlet_distribution(alpha, concentration):
    trees = 3000
    mcts = MCTS(GAMES["connect4"], trees=trees, sims=1, seed=2)
    for t in range(trees):
        mcts.plant(GAMES["connect4"].start(), tree=t)
        mcts.add_noise(alpha, tree=t)
    nu = mcts.forest.noise
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
    mcts.search(always(0.0, np.zeros(7)), 400)
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
        edges = [mcts.forest.moves["action"][choose(mcts.forest, 0, tau)] for _ in range(4000)]
        expected = counts ** (1 / tau) / (counts ** (1 / tau)).sum()
        assert np.bincount(edges, minlength=7) / 4000 == pytest.approx(expected, abs=0.03)
    assert {int(mcts.forest.moves["action"][choose(mcts.forest, 0, 0.0)]) for _ in range(50)} == {int(counts.argmax())}


def test_without_tau_equally_visited_moves_are_chosen_at_random():
    mcts = rooted(GAMES["connect4"])
    mcts.search(always(0.0, np.zeros(7)), 7)
    assert mcts.visit_counts().tolist() == [1] * 7
    assert {int(mcts.forest.moves["action"][choose(mcts.forest, 0, 0.0)]) for _ in range(200)} == set(range(7))


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
