"""What JavaScript calls: the search's own functions on one tree, and the network. Compiled for WebAssembly only.

Each entry takes the engine, an address, and small numbers. What it returns beside a number lies in the engine's arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from compiled import compiled, types
from game import NO_WIN, NOT_TOLD, PLAYER
from players.tempered import LEAST, MOST
from plugins.browser.forward import evaluate, foresee, widen
from search.branches import write_branches
from search.choose_move import choose, worth
from search.expand import make_priors
from search.gumbel import choose_gumbel, draw_gumbel
from search.pipeline import expand_and_backup, search_step
from search.random_numbers import uniform
from search.reroot import clear_tree, plant, re_root
from search.simulate import revert_visit, root_value
from search.solving.proofs import LOSS, UNPROVEN, keeps_proof, proven_value
from search.tables import GUMBEL

WAITING, EVALUATIONS, OVER, RESULT, TO_MOVE, LEGAL_MOVES = range(6)
"""Numbers in `state`: leaves that wait for the network, evaluations so far, and of the position: whether it is over,
who won (1, -1, 0), who is to move, number of legal moves."""
VALUE, RAW = range(2)
"""Numbers in `values`: the search's value of the root and the network's own, for the player to move."""
LONGEST = 32
"""Most moves of a main line."""


# ---- the position


@compiled
def start_game(e):
    for i in range(e.row.shape[0]):
        e.row[i] = e.first[i]
    look(e)


@compiled
def arrange(e, player):
    """Begin the game with the stones in `cells` and return 1; 0: no such position is played from, nothing changes."""
    for i in range(e.row.shape[0]):
        e.other[i] = e.start[i]
    if e.arranged(e.other, e.cells, np.int64(player)) == 0 or e.rules.outcome(e.other, e.outcome):
        return 0
    for i in range(e.row.shape[0]):
        e.first[i] = e.other[i]
    start_game(e)
    return 1


@compiled
def arrange_nothing(e):
    """Begin the game as its rules say."""
    for i in range(e.row.shape[0]):
        e.first[i] = e.start[i]
    start_game(e)


@compiled
def look(e):
    """Write what is known of the position: planes, legal moves, whether it is over."""
    row, state = e.row, e.state
    e.rules.encode(row, e.planes[0])
    over = e.rules.outcome(row, e.outcome)
    state[OVER], state[TO_MOVE] = over, row[PLAYER]
    value = e.outcome[0] * row[PLAYER] if over else np.float32(0.0)
    state[RESULT] = 1 if value > 0.0 else -1 if value < 0.0 else 0
    state[LEGAL_MOVES] = 0 if over else e.rules.legal(row, e.legal)


@compiled
def play_move(e, action):
    """Play a move and return 1; 0: it is not legal, and nothing changes."""
    for i in range(e.state[LEGAL_MOVES]):
        if e.legal[i] == action:
            e.rules.play(e.row, np.int64(action))
            look(e)
            return 1
    return 0


# ---- the search


@compiled
def let_go(e):
    """Take back the visit of a leaf that waits for the network."""
    for k in range(e.state[WAITING]):
        revert_visit(e.forest, e.puct, np.int64(e.waiting[k]))
    e.state[WAITING] = 0


@compiled
def search_here(e, visits, fresh):
    """Make the position the root, with its subtree unless `fresh`; return the visits that it has."""
    let_go(e)
    if fresh:
        clear_tree(e.forest, np.int64(0))
        plant(e.forest, e.rules, np.int64(0), e.row)
    else:
        re_root(e.forest, e.rules, np.int64(0), e.row, np.int64(visits))
    return e.forest.nodes[e.forest.trees[0].root].total


@compiled
def ask(e, visits):
    """Search until the root has `visits` visits or the network is needed; return 1 if it is, `planes` then wait."""
    e.forest.trees[0].budget = visits
    e.state[WAITING] = search_step(e.bound, np.int64(e.state[WAITING]), e.which)
    return e.state[WAITING]


@compiled
def answer(e):
    """Let the network answer what `ask` asks, and back its value up."""
    e.answers[0] = evaluate(e.network, e.planes[0], e.logits[0])
    expand_and_backup(e.forest, e.puct, e.cache, e.waiting, np.int64(e.state[WAITING]), e.answers, e.logits)
    e.state[WAITING] = 0
    e.state[EVALUATIONS] += 1


@compiled
def think(e, visits, evaluations):
    """Search until the root has `visits` visits, or for `evaluations` evaluations; return 1 when nothing is left."""
    for _ in range(evaluations):
        if ask(e, visits) == 0:
            return 1
        answer(e)
    return 0


@compiled
def with_gumbel(e, moves):
    """Draw Gumbel numbers for the root's moves, of which at most `moves` are considered."""
    draw_gumbel(e.forest, np.int64(0), np.int64(moves))


@compiled
def clear_answers(e):
    """Forget the evaluations of earlier searches."""
    for i in range(e.cache.keys.shape[0]):
        e.cache.keys[i] = 0


@compiled
def visits_of_root(e):
    return e.forest.nodes[e.forest.trees[0].root].total


# ---- what was found


@compiled
def look_at_root(e):
    """Write what is known of the root's moves by action, the root's value and the network's own.

    visits, priors, Q, proofs, and `own`, the network's own value of the position after a move that was visited.
    """
    f = e.forest
    index = np.int64(f.trees[0].root)
    make_priors(f, index)
    node = f.nodes[index]
    for a in range(e.visits.shape[0]):
        e.visits[a], e.priors[a], e.q[a], e.own[a], e.proofs[a] = 0, 0.0, math.nan, math.nan, UNPROVEN
    for i in range(node.legal):
        move = f.moves[node.first + i]
        a = move.action
        e.priors[a] = move.P
        e.proofs[a] = LOSS if i >= node.count or node.proven == LOSS else UNPROVEN
        if i < node.materialised:
            edge = f.edges[node.first + i]
            e.visits[a], e.proofs[a] = edge.N, move.proven
            if edge.N > 0:
                e.q[a] = edge.W / edge.N
                if edge.child >= 0:
                    child = f.nodes[edge.child]
                    e.own[a] = child.value if child.player == node.player else -child.value
        if e.proofs[a] != UNPROVEN:
            e.q[a] = e.own[a] = proven_value(e.proofs[a])
    e.values[VALUE], e.values[RAW] = root_value(f, np.int64(0)), node.value
    return node.proven


@compiled
def favourite(e):
    """Return the root's best move: that with the most visits, without visits the likeliest; the lowest of equals."""
    f = e.forest
    node = f.nodes[f.trees[0].root]
    best, most = np.int64(-1), 0.0
    for by_prior in range(2):
        count = node.materialised if by_prior == 0 else node.count
        for i in range(count):
            a, weight = np.int64(f.moves[node.first + i].action), worth(f, node, node.first + i, by_prior == 1)
            if weight > most or (weight == most and best >= 0 and a < best):
                best, most = a, weight
        if best >= 0:
            return best
    return np.int64(f.moves[node.first].action) if node.legal > 0 else best


@compiled
def line_after(e, action):
    """Write the moves that the search expects after a move of the root, that move first; return how many."""
    f = e.forest
    index, count, wanted = np.int64(f.trees[0].root), 0, np.int64(action)
    while count < LONGEST and index >= 0:
        node, best, most = f.nodes[index], np.int64(-1), 0
        for i in range(node.materialised):
            edge, move = f.edges[node.first + i], f.moves[node.first + i]
            if wanted >= 0:
                if move.action == wanted:
                    best = np.int64(i)
            elif edge.N > most and keeps_proof(f, node, node.first + i):
                best, most = np.int64(i), edge.N
        if best < 0 or f.edges[node.first + best].N == 0:
            break
        e.line[count] = f.moves[node.first + best].action
        count, wanted, index = count + 1, np.int64(-1), np.int64(f.edges[node.first + best].child)
    return count


@compiled
def list_branches(e):
    """Write the most visited moves of the tree into `branches` and `worths`; return how many."""
    return write_branches(e.forest, np.int64(0), e.branches, e.worths)


@compiled
def judge(e):
    """Let the network judge the position without a search: logits in `logits`, its value in `values`."""
    let_go(e)
    look(e)
    e.values[RAW] = evaluate(e.network, e.planes[0], e.logits[0])


# ---- the choice of a move


@compiled
def seed(e, low, high):
    e.forest.trees[0].rng = np.uint64(np.uint32(low)) | np.uint64(np.uint32(high)) << np.uint64(32)


@compiled
def choose_move(e, temperature):
    """Return the move to play after a search, as an agent does; with Gumbel numbers by these."""
    f = e.forest
    if f.trees[0].noisy == GUMBEL:
        best = choose_gumbel(f, np.int64(0))
        if best >= 0:
            return np.int64(f.moves[best].action)
    return np.int64(f.moves[choose(f, np.int64(0), np.float64(temperature))].action)


@compiled
def draw(e, temperature):
    """Return an action drawn from the weights in `odds`, see `players.tempered.draw_odds`."""
    top, total, last = 0.0, 0.0, np.int64(-1)
    for a in range(e.odds.shape[0]):
        top = max(top, e.odds[a])
    for a in range(e.odds.shape[0]):
        share = (e.odds[a] / top) ** (1.0 / temperature)
        e.odds[a] = share if share >= LEAST else 0.0
        total += e.odds[a]
    x = uniform(e.forest.trees[0]) * total
    for a in range(e.odds.shape[0]):
        if e.odds[a] > 0.0:
            last = np.int64(a)
            x -= e.odds[a]
            if x < 0.0:
                return last
    return last


@compiled
def draw_by_visits(e, temperature):
    """Return a move drawn from the search's visits as a level's player does; see `TemperedPlayer`."""
    look_at_root(e)
    f = e.forest
    node = f.nodes[f.trees[0].root]
    some = False
    for a in range(e.odds.shape[0]):
        e.odds[a] = 0.0
    for i in range(node.materialised):
        if keeps_proof(f, node, node.first + i):
            e.odds[f.moves[node.first + i].action] = f.edges[node.first + i].N
            some |= f.edges[node.first + i].N > 0
    return draw(e, np.float64(temperature)) if some else choose_move(e, 0.0)


@compiled
def draw_by_priors(e, temperature, slips):
    """Return a move drawn from the network's priors without a search; a win at once is taken, if drawing is wanted.

    slips: share of moves that are drawn from all that are allowed.
    """
    judge(e)
    count, top = e.state[LEGAL_MOVES], -np.inf
    best = np.int64(e.legal[0])
    for i in range(count):
        logit = e.logits[0][e.legal[i]]
        if logit > top:
            best, top = np.int64(e.legal[i]), np.float64(logit)
    if temperature <= 0.0:
        return best
    win = winning_move(e)
    if win != NO_WIN:
        return win
    if slips > 0.0 and uniform(e.forest.trees[0]) < slips:
        return np.int64(e.legal[np.int64(uniform(e.forest.trees[0]) * count)])
    for a in range(e.odds.shape[0]):
        e.odds[a] = 0.0
    for i in range(count):
        better = 0
        for k in range(count):
            better += e.logits[0][e.legal[k]] > e.logits[0][e.legal[i]]
        if better < MOST:
            e.odds[e.legal[i]] = math.exp(np.float64(e.logits[0][e.legal[i]]) - top)
    return draw(e, np.float64(temperature))


@compiled
def winning_move(e):
    """Return a move that wins at once in a game that is won by a move, or NO_WIN."""
    named = np.int64(e.rules.winning(e.row))
    if named != NOT_TOLD or not e.won_by_a_move:
        return np.int64(NO_WIN) if named == NOT_TOLD else named
    for i in range(e.state[LEGAL_MOVES]):
        for k in range(e.row.shape[0]):
            e.other[k] = e.row[k]
        e.rules.play(e.other, np.int64(e.legal[i]))
        if e.rules.outcome(e.other, e.outcome) and e.outcome[0] * e.other[PLAYER] == e.row[PLAYER]:
            return np.int64(e.legal[i])
    return np.int64(NO_WIN)


@compiled
def widen_weights(e):
    widen(e.network)


_i, _f, _none = types.int32, types.float64, types.void


@compiled
def count_points(e):
    """Write the points of both players, and who owns each point, into `points`."""
    for i in range(e.row.shape[0]):
        e.other[i] = e.row[i]
    e.counted(e.other, e.points)


@compiled
def foresee_owners(e):
    """Write who will own each point into `territory`, 1 for the player who began; return 1 if the network says so."""
    judge(e)
    if not foresee(e.network, e.planes[0], e.territory):
        return 0
    for i in range(e.territory.shape[0]):
        e.territory[i] *= e.row[PLAYER]
    return 1


@compiled
def count_stones(e):
    """Count a board with the stones in `cells` as `count_points` does, and return 1; 0: there is no such board."""
    for i in range(e.row.shape[0]):
        e.other[i] = e.start[i]
    if e.arranged(e.other, e.cells, np.int64(1)) == 0:
        return 0
    e.counted(e.other, e.points)
    return 1


def signatures(engine: Any) -> dict[Any, Any]:
    """Return {entry: its signature} for an engine of this type."""
    counts = {count_points: _none(engine)} if "counted" in engine.places else {}
    sets_up = {arrange: _i(engine, _i), arrange_nothing: _none(engine)} if "arranged" in engine.places else {}
    owns = {foresee_owners: _i(engine)} if "territory" in engine.places else {}
    counts_stones = {count_stones: _i(engine)} if owns and sets_up else {}
    return {
        **counts,
        **sets_up,
        **owns,
        **counts_stones,
        start_game: _none(engine),
        look: _none(engine),
        play_move: _i(engine, _i),
        search_here: _i(engine, _i, _i),
        think: _i(engine, _i, _i),
        ask: _i(engine, _i),
        answer: _none(engine),
        with_gumbel: _none(engine, _i),
        visits_of_root: _i(engine),
        clear_answers: _none(engine),
        look_at_root: _i(engine),
        favourite: _i(engine),
        line_after: _i(engine, _i),
        list_branches: _i(engine),
        judge: _none(engine),
        seed: _none(engine, _i, _i),
        choose_move: _i(engine, _f),
        draw_by_visits: _i(engine, _f),
        draw_by_priors: _i(engine, _f, _f),
        widen_weights: _none(engine),
    }
