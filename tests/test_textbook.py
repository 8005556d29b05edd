"""The compiled search equals textbook.py visit by visit, on every form of game.

The network's values are multiples of a power of two (`searching.Projection`): then sums are exact and their order
cannot matter.
"""

import numpy as np
import pytest

import games
from support.board_drawings import play
from support.search_cases import GAMES, POSITIONS, Projection, numbers, rooted
from textbook import MCTS as Textbook


def textbook_numbers(node):
    return {edge.action: edge.stats for edge in node.edges}


def assert_equal_trees(mcts, book):
    fast = mcts.tree
    assert set(fast) == set(book.tree)
    for state_id, node in book.tree.items():
        assert numbers(fast[state_id]) == textbook_numbers(node), f"\n{node.state}"
        assert fast[state_id].Q == node.Q, f"\n{node.state}"


@pytest.mark.parametrize("fpu", [0.25, -1.0])
@pytest.mark.parametrize("name, moves", POSITIONS)
def test_search_equals_the_textbook_after_every_visit(name, moves, fpu):
    game, state = GAMES[name], play(GAMES[name], moves)
    predictor = Projection(game)
    mcts, book = rooted(game, state, fpu_reduction=fpu), Textbook(state, fpu=fpu)
    assert book.simulate(predictor) == [], "the root has to be expanded first"
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
        assert [edge.action for edge in breadcrumbs] == [edge.action for edge in book.simulate(predictor)]
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


@pytest.mark.parametrize(
    "spec",
    ["gomoku(size=6)", "gomoku(size=6,rule=renju)", "go(size=4)", "go(size=3,ko=superko)", "littlego",
     "othello(size=6)", "metasquares(size=5)", "metasquares(size=5,rule=race)", "hex(size=4,swap=yes)",
     "open_spiel:dots_and_boxes"],
)  # fmt: skip
def test_search_of_any_game_equals_the_textbook_from_its_start_and_near_its_end(spec):
    if spec.startswith("open_spiel"):
        pytest.importorskip("pyspiel", reason="a game of OpenSpiel")
    game = games.make(spec)
    predictor, rng = Projection(game), np.random.default_rng(0)
    line = [game.start()]
    while not line[-1].isEndGame:
        line.append(line[-1].takeAction(int(rng.choice(line[-1].allowedActions)))[0])
    for state in (line[0], line[len(line) // 2], line[-5]):
        mcts, book = rooted(game, state), Textbook(state)
        book.simulate(predictor)
        mcts.search(predictor, 60)
        while book.root.total < 60:
            book.simulate(predictor)
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
