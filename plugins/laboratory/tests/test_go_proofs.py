"""The prover of Go: the rules of games/go.py in other words, Benson's theorem, known values, and alpha-beta's."""

import numpy as np
import pytest

import games
from compiled import call
from config import UserError
from game import PLY
from games.line_of_moves import after_moves
from plugins.laboratory.go_proofs import (
    ONE,
    OPEN,
    PASS,
    GoProver,
    ProvenScores,
    area,
    barred_after,
    list_moves,
    safe,
    taken,
)
from search.alphabeta import Minimax


def points_of(prover, word):
    """Return the points of a word, 0 at the top left."""
    return {i for i, bit in enumerate(prover.bits) if int(word) >> int(bit) & 1}


def random_states(game, seed, count):
    """Return the positions of random games, passes now and then."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        state = game.start()
        while not state.isEndGame:
            found.append(state)
            legal = state.allowedActions
            state = state.takeAction(int(legal[-1] if rng.random() < 0.03 else rng.choice(legal)))[0]
    return found


@pytest.mark.parametrize("size", [2, 5, 7])
def test_moves_captures_and_kos_are_those_of_the_game(size):
    game = games.make(f"go(size={size},komi=0.5)")
    prover, room, seen = GoProver(game), np.zeros(64, np.int64), set()
    for state in random_states(game, size, 800):
        own, other, barred = prover.position(state)
        count = call(list_moves, own, other, barred, room, np.int64(PASS + 1), prover.board)
        moves = {int(move & 255) for move in room[:count]}
        legal = {int(prover.bits[a]): a for a in state.allowedActions[:-1]}
        assert moves == set(legal)
        for bit in moves:
            stone = ONE << np.uint64(bit)
            dead = np.uint64(call(taken, stone, own | stone, other, prover.board))
            bars = call(barred_after, stone, dead, own | stone, other & ~dead, prover.board)
            after = state.takeAction(legal[bit])[0]
            assert prover.position(after) == (other & ~dead, own | stone, bars)
            seen.add((int(dead).bit_count() > 1, bool(bars)))
    assert size == 2 or {(True, False), (False, True), (False, False)} <= seen


@pytest.mark.parametrize("size", [3, 5])
def test_points_are_those_of_the_game(size):
    game = games.make(f"go(size={size},komi=0.5)")
    prover = GoProver(game)
    for state in random_states(game, size, 300):
        own, other, _ = prover.position(state)
        komi = 0.5 * (state.playerTurn == -1)
        assert call(area, own, other, prover.board) + komi == state.score[0]
        assert call(area, other, own, prover.board) + 0.5 - komi == state.score[1]


def neighbours(point, size):
    r, c = divmod(point, size)
    return {
        (r + i) * size + c + j for i, j in ((-1, 0), (1, 0), (0, -1), (0, 1)) if 0 <= r + i < size and 0 <= c + j < size
    }


def chain_and_liberties(stones, occupied, point, size):
    chain, free, todo = set(), set(), [point]
    while todo:
        at = todo.pop()
        if at in stones and at not in chain:
            chain.add(at)
            todo += neighbours(at, size)
        elif at not in occupied:
            free.add(at)
    return frozenset(chain), free


def never_taken(own, other, size):
    """Return the stones of a side that are never taken while it only passes: all sequences of the other's moves."""
    seen, todo, lasting = set(), [(frozenset(own), frozenset(other))], frozenset(own)
    while todo:
        position = todo.pop()
        if position in seen:
            continue
        seen.add(position)
        mine, theirs = position
        lasting &= mine
        for point in set(range(size * size)) - mine - theirs:
            stones = theirs | {point}
            dead = frozenset().union(
                *(
                    chain
                    for q in neighbours(point, size) & mine
                    for chain, free in [chain_and_liberties(mine, mine | stones, q, size)]
                    if not free
                )
            )
            left = mine - dead
            if chain_and_liberties(stones, left | stones, point, size)[1]:  # a suicide is no move
                todo.append((left, stones))
    return lasting


@pytest.mark.parametrize("size, least, count", [(3, 2, 150), (4, 9, 120)])
def test_the_stones_that_live_are_those_that_no_sequence_of_moves_takes(size, least, count):
    prover, lived, died = GoProver(games.make(f"go(size={size},komi=0.5)")), 0, 0
    states = [s for s in random_states(prover.game, 5, 40 * count) if len(s.allowedActions) <= size * size + 1 - least]
    for state in states[:: len(states) // count]:
        own, other, _ = prover.position(state)
        stays = points_of(prover, call(safe, own, other, prover.board))
        mine, theirs = points_of(prover, own), points_of(prover, other)
        lasting = never_taken(mine, theirs, size)
        assert stays & mine == lasting
        for eye in stays - mine:
            assert eye not in theirs and neighbours(eye, size) <= lasting
        lived, died = lived + bool(lasting), died + (lasting != mine)
    assert lived > 10 and died > 10


@pytest.mark.parametrize("spec, least", [("go(size=3,komi=2.5)", 5), ("go(size=4,komi=1.5)", 22)])
def test_what_is_proven_is_what_alpha_beta_finds_to_the_last_ply(spec, least):
    game = games.make(spec)
    scores, minimax, known = ProvenScores(game, 300_000), Minimax(game, table=1 << 16), {1: 0, -1: 0}
    states = [s for s in random_states(game, 11, 1500) if s.row[PLY] >= least]
    for state in states[:: len(states) // 60]:
        found, exact = scores.scores(state), minimax.solve_moves(state, nodes=2_000_000)
        if found is None or exact is None:
            continue
        assert {a: np.sign(score) for a, score in found.items()} == exact
        for value in exact.values():
            known[int(value)] += 1
    assert min(known.values()) > 20


@pytest.mark.parametrize("komi, winning", [(8.5, [4]), (2.5, [1, 3, 4, 5, 7]), (-8.5, [1, 3, 4, 5, 7])])
def test_first_stones_of_3x3_have_their_known_values(komi, winning):
    """The centre wins by nine, a side by three, a corner loses all (Sensei's Library; van der Werf 2004)."""
    game = games.make(f"go(size=3,komi={komi},plies=36)")
    prover = GoProver(game)
    for action in range(9):
        state = after_moves(game, [action])
        found = next((r for d in range(24) if (r := prover.proven(state, d, 10_000_000)) != OPEN), OPEN)
        assert (found == -1) == (action in winning), action


def test_points_for_a_handicap_count_whatever_was_proven_before():
    game = games.make("go(size=3,komi=0.5)")
    prover, plain, generous = GoProver(game), GoProver(game), GoProver(game)
    states = [state for state in random_states(game, 4, 400) if state.row[PLY] >= 4][:120]
    found = [(prover.proven(s, 12), prover.proven(game.rewarded(s, 7.0), 12)) for s in states]
    assert found == [(plain.proven(s, 12), generous.proven(game.rewarded(s, 7.0), 12)) for s in states]
    assert sum(one != other for one, other in found) > 5


def test_too_little_is_no_proof():
    game = games.make("go(size=4,komi=0.5)")
    assert GoProver(game).proven(game.start(), 10, 1000) == OPEN
    assert ProvenScores(game, 1000).scores(game.start()) is None


@pytest.mark.parametrize("spec", ["go(size=9)", "go(komi=7)", "go(ko=superko)", "go(suicide=yes)", "littlego"])
def test_other_rules_are_refused(spec):
    with pytest.raises(UserError, match="expected go of at most 7x7"):
        GoProver(games.make(spec))
