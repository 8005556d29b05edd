"""Positions near the end of a game are solved, rightly or not at all, and what a search does with that."""

import logging

import numpy as np
import pytest

import games
from agent import Agent
from compiled import call
from game import GIVEN_UP, NOT_TOLD, PLY, solve_not_told
from games.endings import Endings
from interface.explain import explain
from players.solver import BitbullyScores
from search.solving.endgame_solver import make_line, solve
from search.trace import SearchLog
from support.board_drawings import play
from support.corridor import Corridor, CorridorState
from support.search_cases import Projection, always, plain_search, rooted, value_of, values_after, walk
from support.tiny_runs import tiny
from training.policy_target import write_target
from training.presets import preset
from training.selfplay import SelfPlay, game_seed

FEW = Endings(0).leaf
LATE = {"proofs": True, "look_ahead": 2, "endgame": 12}
HARD = "1276751141173661277627536", "7626663562115324374373317"
"""Connect 4 with 17 empty cells where one move wins, in the end (bitbully: move 3, move 5; the others do not)."""


class Signs(CorridorState):
    """Corridor where it counts only who is ahead."""

    @property
    def value(self):
        return float(np.sign(self.score[0] - self.score[1])) if self.isEndGame else 0.0


class Decided(Corridor):
    state_class = Signs


def solved(game, state, positions, plies=None):
    line = make_line(game, game.max_plies if plies is None else plies)
    line.rows[0] = game.row_of(state)
    line.left[0] = positions
    return call(solve, line, game.rules, np.zeros(1, np.float32))


def test_what_is_given_up_depends_on_the_position_alone():
    """Not on what was solved in the same place before: else a game would depend on the games beside it."""
    game = games.make("connect4")
    line, outcome, told = make_line(game, 14), np.zeros(1, np.float32), []
    states = contested(game, 60, 5, 28)
    for order in (states, states[::-1]):
        values = []
        for state in order:
            line.rows[0], line.left[:2] = game.row_of(state), (60, line.left[1] + 1)  # a new question
            values.append((call(solve, line, game.rules, outcome), int(line.left[0])))
        told.append(values)
    assert told[0] == told[1][::-1]
    assert 5 < sum(value == GIVEN_UP for value, _ in told[0]) < 55


def drawn_positions(game, count, seed, least=0):
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        state, plies = game.start(), int(rng.integers(least, game.max_plies))
        for _ in range(plies):
            if not state.isEndGame:
                state = state.takeAction(int(rng.choice(list(state.allowedActions))))[0]
        found.append(state)
    return found


def contested(game, count, seed, plies):
    """Return positions after so many random plies of players who neither miss a win nor allow one at once."""
    rng, found, out = np.random.default_rng(seed), [], np.zeros(game.action_size, np.int32)
    while len(found) < count:
        state = game.start()
        while state.row[PLY] < plies and game.rules.winning(state.row) < 0:
            safe = game.rules.safe(state.row, out)
            if not safe:
                break
            state = state.takeAction(int(rng.choice(out[:safe] if safe > 0 else list(state.allowedActions))))[0]
        if state.row[PLY] == plies and game.rules.winning(state.row) < 0:
            found.append(state)
    return found


SMALL = {
    "connect4(rows=4,columns=4,n=3)": 0, "connect4(rows=3,columns=5,n=3)": 0, "connect4(rows=1,columns=9,n=3)": 0,
    "gomoku(size=3,n=3)": 0, "tictactoe": 0, "decided": 5,
}  # fmt: skip


@pytest.mark.parametrize("spec", SMALL)
def test_a_solved_value_is_that_of_perfect_play(spec):
    game, known, values = Decided() if spec == "decided" else games.make(spec), {}, set()
    for state in drawn_positions(game, 60, seed=1, least=SMALL[spec]):
        right = value_of(state, known)
        assert solved(game, state, 10**7) == right, f"\n{state}"
        assert solved(game, state, FEW) in (right, GIVEN_UP), f"\n{state}"
        values.add(right)
    assert {-1.0, 1.0} <= values


BOARDS = {
    "connect4": 13, "connect4(rows=8,columns=6)": 12, "connect4(rows=5,columns=6,n=3)": 30,
    "connect4(rows=9,columns=4,n=5)": 12, "connect4(rows=1,columns=9,n=2)": 9, "connect4(rows=15,columns=4,n=5)": 12,
    "connect4(rows=4,columns=4)": 16, "connect4(rows=7,columns=8,n=5)": 14, "connect4(rows=1,columns=32,n=5)": 14,
}  # fmt: skip
"""Games that solve themselves, and how many plies before their latest end."""


@pytest.mark.parametrize("spec", BOARDS)
def test_what_a_game_solves_itself_is_what_its_other_rules_give(spec):
    game, values = games.make(spec), set()
    plain, outcome = game.rules._replace(solve=solve_not_told), np.zeros(1, np.float32)
    for state in drawn_positions(game, 150, seed=8, least=game.max_plies - BOARDS[spec]):
        line = make_line(game, game.max_plies)
        line.rows[0], line.left[0] = state.row, 10**8
        right = call(solve, line, plain, outcome)
        assert solved(game, state, 10**8) == right, f"\n{state}"
        assert solved(game, state, 30) in (right, GIVEN_UP)
        values.add(right)
    assert {-1, 1} <= values


def test_connect_4_with_twenty_empty_cells_is_solved_as_by_another_solver():
    pytest.importorskip("bitbully", reason="needs bitbully: pip install bitbully")
    game, given_up = games.make("connect4"), 0
    states = contested(game, 150, seed=10, plies=22)
    scores = BitbullyScores("bitbully")
    right = [int(np.sign(max(scores.scores(state).values()))) for state in states]
    for state, value in zip(states, right, strict=True):
        found = solved(game, state, game.endings.leaf)
        assert found in (value, GIVEN_UP) and solved(game, state, 10**6) == value, f"\n{state}"
        given_up += found == GIVEN_UP
    assert set(right) == {-1, 0, 1} and 10 < given_up < 100, given_up


def test_without_work_space_connect_4_is_solved_by_the_other_rules():
    game, right = games.make("connect4"), 0
    for state in contested(game, 10, seed=11, plies=32):
        assert game.rules.solve(state.row, np.array([1000, 0], np.int32)) == NOT_TOLD
        line, whole = make_line(game, 12)._replace(left=np.zeros(2, np.int32)), solved(game, state, 10**6)
        line.rows[0], line.left[0] = state.row, 10**6
        right += call(solve, line, game.rules, np.zeros(1, np.float32)) == whole != GIVEN_UP
    assert right == 10


def test_a_column_as_high_as_a_word_can_be_played_and_solved():
    game = games.make("connect4(rows=63,columns=1)")
    state = game.start()
    while not state.isEndGame:
        assert list(state.allowedActions) == [0] and solved(game, state, 100) == 0
        state = state.takeAction(0)[0]
    assert state.row[PLY] == 63


def test_a_board_of_several_words_is_solved_by_the_other_rules():
    game = games.make("connect4(rows=10,columns=7)")
    assert game.rules.solve(game.start().row, np.ones(1, np.int32)) == NOT_TOLD
    state = drawn_positions(game, 1, seed=9, least=69)[0]
    assert solved(game, state, 10**6) == (state.value if state.isEndGame else 0)


def test_what_takes_more_positions_or_moves_than_there_is_room_for_is_given_up():
    game = games.make("tictactoe")
    assert solved(game, game.start(), FEW) == GIVEN_UP and solved(game, game.start(), 10**6) == 0
    assert solved(game, game.start(), 10**6, plies=3) == GIVEN_UP
    state = play(game, "a1 b2 c3 a2")
    assert solved(game, state, 2) == GIVEN_UP != solved(game, state, FEW)


def test_results_between_lost_and_won_prove_nothing():
    game, counts = Corridor(), {True: 0, False: 0}
    for state in drawn_positions(game, 150, seed=2, least=6):
        if state.isEndGame:
            whole = state.value in (-1.0, 0.0, 1.0)
            assert solved(game, state, 10**6) == (state.value if whole else GIVEN_UP)
            counts[whole] += 1
    assert min(counts.values()) > 5
    assert solved(game, play(game, "b2 c1 b1 c2 a1 a2"), 10**6) == GIVEN_UP


@pytest.mark.parametrize("spec", ["connect4(rows=4,columns=4,n=3)", "gomoku(size=3,n=3)"])
def test_what_a_search_proves_with_it_is_what_perfect_play_gives(spec):
    game, known, asked = games.make(spec), {}, {0: 0, 12: 0}
    for state in drawn_positions(game, 40, seed=3):
        if state.isEndGame:
            continue
        for endgame in asked:
            network = Projection(game)
            mcts = rooted(game, state, **{**LATE, "endgame": endgame})
            mcts.search(network, 60)
            asked[endgame] += network.rows
            for node in mcts.tree.values():
                assert node.proven in (None, value_of(node.state, known)), f"\n{node.state}"
            if mcts.root.proven is not None:
                values = values_after(state, known)
                assert values[mcts.decide(0, 0.0)[0]] == max(values.values())
    assert asked[12] < asked[0] / 2, "what is solved is not asked"


@pytest.mark.parametrize("line", HARD)
def test_a_win_far_ahead_is_found_whatever_the_network_thinks(line):
    game = games.make("connect4")
    state = play(game, line)
    best, found = game.parse_move("35"[HARD.index(line)]), {}
    for endgame in (0, 12):
        mcts = rooted(game, state, **{**LATE, "endgame": endgame, "sims": 2000})
        mcts.search(always(0.0, -1.0 * (np.arange(7) == best)), 2000)
        found[endgame] = mcts.root.proven, mcts.decide(0, 0.0)[0]
    assert found[12] == (1.0, best) and found[0][0] is None


def roots(game, endgame, count, seed, least):
    """Yield searches of drawn positions near the end that were solved, and the values of their moves."""
    known, network = {}, Projection(game)
    for state in drawn_positions(game, count, seed, least):
        if not state.isEndGame and game.rules.winning(state.row) < 0:
            mcts = rooted(game, state, **{**LATE, "endgame": endgame})
            network.rows = 0
            mcts.search(network, 50)
            yield mcts, values_after(state, known), network.rows


def test_of_a_root_near_the_end_all_moves_are_known_and_nothing_is_asked():
    game, proven = games.make("connect4(rows=4,columns=5)"), set()
    for mcts, values, asked in roots(game, 10, 80, seed=4, least=10):
        root, best = mcts.root, max(values.values())
        assert root.proven == best == mcts.root_value()
        assert asked == 0 or best == -1.0, "priors are for those that are lost"
        if best > -1.0:
            assert {action: edge.proven for action, edge in root.edges} == values
            chosen = {mcts.decide(0, 1.0)[0] for _ in range(60)}
            assert chosen == {a for a, value in values.items() if value == best}, "each that keeps it and no other"
        proven.add(best)
    assert proven == {-1.0, 0.0, 1.0}


def test_a_solved_position_that_becomes_the_root_has_its_moves_solved():
    game = games.make("connect4")
    state = play(game, HARD[0])
    mcts = rooted(game, state, **LATE)
    mcts.search(always(0.0, np.zeros(7)), 200)
    late = [node for node in mcts.tree.values() if node._row["late"] and node.isLeaf() and node.proven is not None]
    assert {node.proven for node in late} == {-1.0, 1.0, 0.0}
    for after, known in [(node.state, node.proven) for node in late[:40]]:
        again = rooted(game, state, **LATE)
        again.search(always(0.0, np.zeros(7)), 200)
        again.set_root(after)
        assert again.root.isLeaf() and again.root.visits == 0
        again.search(always(0.0, np.zeros(7)), 100)
        assert again.root.proven == known == again.root_value() and not again.root.isLeaf()
        chosen = after.takeAction(again.decide(0, 0.0)[0])[0]
        assert -solved(game, chosen, 10**6) == known


def test_a_root_that_was_searched_before_is_solved_too():
    game, kept, passed, lost, fresh = games.make("connect4"), 0, 0, 0, 0
    for state in contested(game, 60, seed=5, plies=20):
        options = {**LATE, "endgame": game.max_plies - int(state.row[PLY]) - 1}  # it is too early for the root itself
        mcts = rooted(game, state, **options)
        mcts.search(Projection(game), 60)
        met = [node for node in mcts.tree.values() if not node.isLeaf() and node.proven is None and node != mcts.root]
        for after in [node.state for node in met if node._row["late"] or node.forced][:2]:
            again = rooted(game, state, **options)
            again.search(Projection(game), 60)
            assert again.set_root(after)
            before = again.root.visits
            again.search(Projection(game), max(before, 1))
            right = solved(game, after, 10**7)
            assert again.root.proven == right and before <= again.root.visits
            assert -solved(game, after.takeAction(again.decide(0, 0.0)[0])[0], 10**7) == right
            assert again.root.visits == sum(edge.stats["N"] for _, edge in again.root.edges)
            if right == -1:
                told = np.zeros(7, np.uint16)
                call(write_target, again.forest, again.puct, 0, told)
                priors = {action: edge.stats["P"] for action, edge in again.root.edges}
                assert {a: told[a] / told.sum() for a in priors} == pytest.approx(priors, abs=1e-3)
                assert told[[a for a in range(7) if a not in priors]].sum() == 0
                chosen = {again.decide(0, 0.0)[0] for _ in range(20)}
                if before == 0:
                    assert chosen == {max(priors, key=priors.get)}, "nothing was visited: the priors choose"
                lost, fresh = lost + (before > 0), fresh + (before == 0 and len(priors) > 1)
            kept, passed = kept + (before > 0), passed + again.root.forced
    assert kept >= 5 and passed > 0 and lost > 0 and fresh > 0, (kept, passed, lost, fresh)


def test_a_win_is_known_although_another_move_takes_too_long():
    game, found = games.make("gomoku(size=6,n=4)"), 0
    for state in contested(game, 30, seed=6, plies=23):
        values = [(solved(game, state.takeAction(a)[0], 400), a) for a in state.allowedActions]
        if (-1, GIVEN_UP) != (min(values)[0], max(values)[0]):
            continue
        mcts = rooted(game, state, **{**LATE, "endgame": 14})
        mcts.search(Projection(game), 1)
        if any(edge.proven is None for _, edge in mcts.root.edges):
            chosen = state.takeAction(mcts.decide(0, 0.0)[0])[0]
            assert mcts.root.proven == 1.0 and solved(game, chosen, 10**7) == -1
            found += 1
    assert found >= 3, found


def test_explain_shows_what_is_known_and_what_the_network_thinks():
    game = games.make("connect4(rows=4,columns=5)")
    network, known, drawn = Projection(game), {}, 0
    agent = Agent("late", game, network, plain_search(**{**LATE, "endgame": 10}), mcts_sims=50)
    for state in drawn_positions(game, 60, seed=7, least=10):
        if state.isEndGame or len(state.allowedActions) < 2 or game.rules.winning(state.row) >= 0:
            continue
        told = explain(agent, state)
        value, logits = network(state.planes()[None])
        assert told["network_value"] == pytest.approx(float(value[0]))
        if told["proven"] == "drawn" and not agent.MCTS.root.forced:
            assert {m["action"]: m["V"] for m in told["moves"]} == values_after(state, known)
            priors = np.exp(logits[0][list(state.allowedActions)] - logits.max())
            assert [m["P"] for m in sorted(told["moves"], key=lambda m: m["action"])] == pytest.approx(
                list(priors / priors.sum()), abs=1e-4
            )
            drawn += 1
    assert drawn > 3


def test_a_logged_search_is_the_same():
    game = games.make("connect4")
    for plies, line in ((12, HARD[0]), (12, HARD[1]), (17, HARD[0])):
        state, found = play(game, line), []
        for observer in (None, SearchLog(logging.getLogger("endgame"))):
            search = plain_search(**{**LATE, "endgame": plies})
            agent = Agent("late", game, Projection(game), search, mcts_sims=150, leaves=1, observer=observer)
            action, pi, value, _ = agent.act(state, 0)
            found.append((action, list(pi), value))
        assert found[0] == found[1]


def test_self_play_ends_as_perfect_play_would_once_a_value_is_known():
    game, known, checked = games.make("connect4(rows=4,columns=5)"), {}, 0
    config = tiny(mcts_sims=60, full_search_share=1.0, look_ahead=2, endgame=12, turns_until_tau0=0)
    for record in SelfPlay(game, config).play(Projection(game), [(i, game_seed("late", 1, i)) for i in range(40)]):
        for state, _, _, value in walk(game, record):
            if abs(value) == 1.0 and state.row[PLY] >= 8:
                assert value == value_of(state, known)
                assert record.result == value * state.playerTurn, "what is won is not given away"
                checked += 1
    assert checked > 50


def test_presets():
    assert preset("laptop").endgame == 20 and preset("laptop", game="gomoku").endgame == 12
    assert preset("classic").endgame == preset("tiny").endgame == 0
