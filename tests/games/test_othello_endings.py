"""Othello's endings are solved: exact scores against plain alpha-beta over lists, and what a search makes of them."""

import numpy as np
import pytest

import games
from compiled import call
from config import SearchSettings
from game import GIVEN_UP, NOT_TOLD
from games.endings import Endings
from games.othello import score_of_row, solve
from games.othello_endings import ENTRY, LEFT, MOST_MOVES, MOVES, PLACES, QUESTION, SIZE, TABLE, TOO_LONG
from MCTS import MCTS
from search.solving import work_space
from search.solving.endgame_solver import ROOT, make_line
from support.corridor import Corridor, CorridorState
from support.search_cases import Projection, always, continued, value_of, values_after

STEPS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]


def turned(cells, size, player, point):
    """Return the discs that a disc turns over, of cells in a list, 1 and -1 for the players."""
    found = []
    for dr, dc in STEPS:
        r, c, line = point // size + dr, point % size + dc, []
        while 0 <= r < size and 0 <= c < size and cells[r * size + c] == -player:
            line.append(r * size + c)
            r, c = r + dr, c + dc
        if 0 <= r < size and 0 <= c < size and cells[r * size + c] == player:
            found += line
    return found


def plain_score(cells, size, player, alpha, beta, passed=False):
    """Return the player's discs less the other's after best play, by alpha-beta with nothing else."""
    best, moved = -99, False
    for point in [i for i, cell in enumerate(cells) if not cell]:
        if discs := turned(cells, size, player, point):
            moved, after = True, list(cells)
            for i in (point, *discs):
                after[i] = player
            best = max(best, -plain_score(after, size, -player, -beta, -max(alpha, best)))
            if best >= beta:
                return best
    if moved:
        return best
    return sum(cells) * player if passed else -plain_score(cells, size, -player, -beta, -alpha, True)


def endings(size, empty, count, seed):
    """Return positions of random games with `empty` empty points."""
    game, rng, found = games.make(f"othello(size={size})"), np.random.default_rng(seed), []
    while len(found) < count:
        state = game.start()
        while not state.isEndGame and (state.owners == 0).sum() > empty:
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if not state.isEndGame:
            found.append(state)
    return found


def work(positions=10**8):
    made = np.zeros(SIZE, np.int32)
    made[LEFT], made[QUESTION] = positions, 1
    return made


def score(state, alpha=-64, beta=64, positions=10**8):
    return int(call(score_of_row, state.row, alpha, beta, work(positions)))


def value(state):
    """Return who wins, for the player to move: 1, 0 or -1, with a work space of its own."""
    return state.value if state.isEndGame else float(np.sign(score(state)))


CASES = [(8, 1, 30), (8, 4, 30), (8, 7, 12), (8, 8, 8), (6, 5, 30), (6, 8, 8), (4, 7, 30), (4, 8, 20)]


@pytest.mark.parametrize("size, empty, count", CASES)
def test_a_score_is_that_of_plain_alpha_beta(size, empty, count):
    for state in endings(size, empty, count, seed=size + empty):
        cells = state.owners.ravel().tolist()
        right = plain_score(cells, size, state.playerTurn, -99, 99)
        assert score(state) == right, f"\n{state}"
        assert np.sign(score(state, -1, 1)) == np.sign(right)
        for alpha in (right - 1, right, right + 3):
            bound = score(state, alpha, alpha + 1)
            assert bound <= alpha if right <= alpha else bound > alpha, "a null window says on which side the score is"
        assert solve(state.row, work()) == np.sign(right)


def test_four_by_four_is_solved_from_the_start():
    game = games.make("othello(size=4)")
    assert score(game.start()) == 3 - 11 and solve(game.start().row, work()) == -1


def test_a_score_of_more_points_is_that_of_the_moves():
    """With the table and its entries from other windows: a position is worth what its best move is."""
    for state in endings(8, 12, 15, seed=3):
        room, found = work(), []
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            sign = 1 if after.playerTurn == state.playerTurn else -1
            found.append(sign * int(call(score_of_row, after.row, -64, 64, room)))
        assert int(call(score_of_row, state.row, -64, 64, room)) == max(found) == score(state)


def test_what_takes_more_positions_is_given_up_and_the_limit_counts_from_the_position_alone():
    game, states = games.make("othello"), endings(8, 11, 12, seed=4)
    found = []
    for order in (states, states[::-1]):
        line, values = make_line(game, 12), []
        for number, state in enumerate(order):
            line.left[LEFT], line.left[QUESTION] = 40, number + 1
            values.append((int(game.rules.solve(state.row, line.left)), int(line.left[LEFT])))
        found.append(values)
    assert found[0] == found[1][::-1]
    assert {GIVEN_UP} < {known for known, _ in found[0]}
    assert score(states[0], positions=2) == TOO_LONG


def test_without_work_space_or_on_larger_boards_the_other_rules_are_used():
    small, large = games.make("othello"), games.make("othello(size=10)")
    assert small.rules.solve(small.start().row, np.ones(2, np.int32)) == NOT_TOLD
    assert large.rules.solve(large.start().row, work()) == NOT_TOLD and large.endings is None
    solver = MCTS(large, SearchSettings(endgame=14), sims=4).forest.solver
    assert (solver.leaf_ply, solver.root_ply) == (large.max_plies, large.max_plies)


def test_the_table_and_the_moves_of_each_number_of_empty_points_have_a_place_of_their_own():
    assert MOST_MOVES >= 60 and TABLE == MOVES + 61 * MOST_MOVES and SIZE == TABLE + ENTRY * PLACES
    assert TABLE % ENTRY == 0, "an entry is in one cache line"


# ---- what a search makes of it


def searched(game, state, sims, endgame=12, limit=None, network=None):
    mcts = MCTS(game, SearchSettings(endgame=endgame), sims=max(sims, 20))
    if limit is not None:
        mcts.forest.solver.line.limits[ROOT] = limit
    mcts.set_root(state)
    mcts.search(network or Projection(game), sims)
    return mcts


def keeping(state):
    """Return the moves that keep the value, and the value."""
    worth = {}
    for action in state.allowedActions:
        after = state.takeAction(action)[0]
        worth[action] = value(after) * after.playerTurn * state.playerTurn
    return {action for action in worth if worth[action] == max(worth.values())}, max(worth.values())


@pytest.mark.parametrize("size", [6, 8])
def test_more_simulations_never_play_worse_where_an_ending_is_solved(size):
    values = set()
    for state in endings(size, 12, 25, seed=5):
        best, worth = keeping(state)
        for sims in (1, 40, 200):
            mcts = searched(state.game, state, sims)
            assert mcts.root.proven == worth and mcts.decide(0, 0.0)[0] in best, f"{sims}\n{state}"
        values.add(worth)
    assert {-1.0, 1.0} <= values


def test_the_setting_says_when_and_zero_means_never():
    game = games.make("othello")
    solver = MCTS(game, SearchSettings(endgame=14), sims=4).forest.solver
    assert (solver.leaf_ply, solver.root_ply) == (60 - 14, 60 - 14 - 6)
    for settings in (SearchSettings(endgame=0), SearchSettings(endgame=14, proofs=False)):
        solver = MCTS(game, settings, sims=4).forest.solver
        assert (solver.leaf_ply, solver.root_ply) == (game.max_plies, game.max_plies)
    state = endings(8, 9, 1, seed=6)[0]
    assert searched(game, state, 5, endgame=0).root.proven is None
    assert searched(game, state, 5, endgame=9).root.proven is not None


def test_leaves_are_solved_and_what_a_search_proves_with_them_is_right():
    game, solved = games.make("othello"), 0
    for state in endings(8, 14, 6, seed=7):
        mcts = searched(game, state, 200, endgame=10, limit=0)
        for node in mcts.tree.values():
            if node.proven is not None:
                assert node.proven == value(node.state), f"\n{node.state}"
            solved += node._row["late"] == 1 and node.proven is not None
    assert solved > 50


@pytest.mark.parametrize("before", [0, 30])
def test_of_a_root_that_takes_too_long_the_moves_that_are_known_to_lose_are_not_searched(before, monkeypatch):
    game, found = games.make("othello"), 0
    plain = MCTS(game, SearchSettings(endgame=0), sims=60)
    monkeypatch.setattr(work_space, "first_solved", lambda game, plies: (game.max_plies, 0))  # only roots are solved
    solving = MCTS(game, SearchSettings(endgame=12), sims=60)
    solving.forest.solver.line.limits[:] = 1, 150, 30
    for state in endings(8, 12, 25, seed=8):
        plain.plant(state)
        if before:
            plain.search(Projection(game), before)
        visits = {action: edge.stats["N"] for action, edge in plain.root.edges}
        mcts = continued(solving, plain)
        mcts.forest.nodes["late"] = 0
        mcts.search(Projection(game), 60)
        if mcts.root.proven is not None:
            continue
        known = {action: edge for action, edge in mcts.root.edges if edge.proven is not None}
        for action, edge in known.items():
            after = state.takeAction(action)[0]
            assert edge.proven == value(after) * after.playerTurn * state.playerTurn
            assert edge.proven == 0.0 or edge.stats["N"] <= max(visits.get(action, 0), before > 0)
        chosen = mcts.decide(0, 0.0)[0]
        assert chosen not in known or known[chosen].proven == 0.0
        assert mcts.root.visits == sum(edge.stats["N"] for _, edge in mcts.root.edges) == 60
        if before == 0:
            assert sum(edge.stats["P"] for _, edge in mcts.root.edges) == pytest.approx(1.0, abs=1e-5)
        found += -1.0 in [edge.proven for edge in known.values()]
    assert found >= 3, found


class Leads(CorridorState):
    """Corridor where points are counted but only who is ahead matters."""

    @property
    def value(self):
        return float(np.sign(self.score[0] - self.score[1])) if self.isEndGame else 0.0


class Counted(Corridor):
    state_class = Leads
    endings = Endings(8)


def test_a_game_of_ones_own_that_points_decide_may_have_its_endings_solved():
    game, known, proven = Counted(), {}, set()
    rng = np.random.default_rng(9)
    for _ in range(60):
        state = game.start()
        while not state.isEndGame and state.cells.count(0) > 3:
            state = state.takeAction(int(rng.choice(list(state.allowedActions))))[0]
        if state.isEndGame:
            continue
        mcts = searched(game, state, 12, endgame=8, network=always(0.0, np.zeros(game.action_size)))
        assert mcts.root.proven == value_of(state, known)
        values = values_after(state, known)
        assert values[mcts.decide(0, 0.0)[0]] == max(values.values())
        proven.add(mcts.root.proven)
    assert proven == {-1.0, 0.0, 1.0}
