"""The teacher: which moves lose value, and what it says of them."""

from types import SimpleNamespace

import numpy as np
import pytest

import games
from agent import Agent
from evaluation.teacher import LOSS, Teacher
from games.line_of_moves import after_moves
from interface.explain import describe
from interface.puzzle_words import lesson as words
from support.search_cases import Projection, plain_search


def lesson(spec, moves, move, thinker=None):
    game = games.make(spec)
    state = after_moves(game, game.parse_moves(moves))
    found = Teacher(game, thinker).lesson(state, game.parse_move(move))
    return found, words(game, found) if found else ""


def test_a_losing_move_of_a_solved_game_is_exact():
    found, text = lesson("tictactoe", "a1", "a2")
    assert found.exact and found.solved and (found.before, found.after) == (0, -1)
    assert games.make("tictactoe").format_moves(found.better) == "b2"
    assert text.startswith("a2 loses: the reply ") and text.endswith("b2 keeps the draw.")


def test_a_move_that_keeps_the_value_is_not_held():
    assert lesson("tictactoe", "a1", "b2") == (None, "")
    assert lesson("tictactoe", "", "b2") == (None, "")


def test_connect4_is_judged_by_its_solver():
    pytest.importorskip("bitbully", reason="needs bitbully: pip install bitbully")
    found, text = lesson("connect4", "4444", "1")
    assert (found.before, found.after, found.better) == (1, -1, (3,))
    assert text == "1 loses: the reply 2 wins. 4 wins."
    assert lesson("connect4", "4444", "4")[0] is None


def test_a_missed_win_by_force_is_named_where_no_solver_reaches_the_end():
    found, text = lesson("gomoku", "e5 d4 e6 a1 e7 b7", "f6")
    assert found.exact and not found.solved and (found.before, found.after) == (1, 0)
    assert text == "f6 misses the win. e8 or e4 wins."
    assert lesson("gomoku", "e5 d4 e6 a1 e7 b7", "e8")[0] is None


def test_a_move_that_allows_a_win_by_force_is_named_with_what_averts_it():
    found, text = lesson("gomoku", "e5 d4 e6 a1 e7", "a9")
    assert found.exact and found.after == -1 and "loses: the reply" in text and text.endswith("averts that.")
    for action in found.better:
        assert games.make("gomoku").move_name(action) in ("e8", "e9", "e4", "e3")
    assert lesson("gomoku", "e5 d4 e6 a1 e7", "e8")[0] is None


class Search:
    """A search with an opinion: the value of each position for who began, by the moves that lead to it."""

    def __init__(self, values):
        self.values = values

    def think(self, state, sims, stop):
        edges = []
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            value = self.values.get(after.id, 0.0) * state.playerTurn
            edges.append((action, SimpleNamespace(stats={"N": 10 + 10 * value, "Q": value})))
        line = [max(edges, key=lambda edge: edge[1].stats["N"])[0]] if edges else []
        tree = SimpleNamespace(principal_variation=lambda node, length: line)
        return SimpleNamespace(edges=edges, Q=self.values.get(state.id, 0.0) * state.playerTurn, mcts=tree, proven=None)


@pytest.mark.parametrize("loss, held", [(LOSS + 0.05, True), (LOSS - 0.05, False)])
def test_elsewhere_a_search_must_find_the_loss_large(loss, held):
    game = games.make("go")
    good, bad = (game.start().takeAction(game.parse_move(move))[0] for move in ("c3", "a1"))
    thinker = Search({good.id: 0.6, bad.id: 0.6 - loss})
    found, text = lesson("go", "", "a1", thinker)
    assert (found is not None) is held
    if held:
        assert not found.exact and "your chances fall from 80 % to" in text and text.endswith("c3 looks better.")
    assert lesson("go", "", "c3", thinker)[0] is None, "the best move"


def test_a_move_proven_to_lose_is_best_nowhere_however_many_visits_it_had_before():
    game, rng, found = games.make("tictactoe"), np.random.default_rng(5), 0
    rules = plain_search(proofs=True, look_ahead=2)
    for seed in range(100):
        state = game.start()
        for _ in range(rng.integers(4)):
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        agent = Agent("x", game, Projection(game, seed), rules, mcts_sims=120)
        root = agent.think(state)
        moves = describe(root, "x")["moves"]
        assert root.proven == -1.0 or moves[0]["proven"] != "lost"
        most = max(moves, key=lambda move: move["N"])
        if root.proven is None and most["proven"] == "lost":
            found += 1
            lessons = [
                Teacher(game, Agent("x", game, Projection(game, seed), rules))._by_search(state, action, lambda: False)
                for action in state.allowedActions
            ]
            assert all(most["action"] not in lesson.better for lesson in lessons if lesson)
    assert found, "it happens: a move is proven to lose after most of its visits"


def test_without_a_search_nothing_is_said_of_what_is_not_known():
    assert lesson("go", "", "a1")[0] is None
