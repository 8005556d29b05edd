"""The compiled part of self-play: every tree plays its own game, move after move, until it needs an evaluation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiled import compiled, inlined, prefetch
from compiling.records import record
from config import Config, SelfPlaySettings
from games.returned_values import BROKEN, LENGTH, START, break_rule, is_over, random_move
from search.choose_move import choose
from search.evaluation_cache import NOT_FINITE
from search.gumbel import choose_gumbel, draw_gumbel
from search.noise import apply_root_temperature, draw_noise
from search.pipeline import expand_and_backup
from search.random_numbers import uniform
from search.reroot import advance_root, make_child, plant
from search.simulate import LEAF, root_value, start_simulation
from search.solving.proofs import UNPROVEN
from search.speed.bound_arguments import unpack
from search.tables import EXPANDED, GUMBEL, NO_ROOM, PASSED, TERMINAL, UNVISITED, copy_row, materialise_edge, row_index
from training.policy_target import write_target

CERTAIN = 1.0 - 2.0**-24
"""The largest value of a search that has not proven it: the largest float32 below 1."""


@record
class GamesInFlight(NamedTuple):
    """The games in flight, one for each of T trees, and S record buffers for their moves."""

    walking: np.ndarray
    """[T] int32: room for a list of trees, such as those still playing"""
    ply: np.ndarray
    """[T] int32"""
    full: np.ndarray
    """[T] int32: whether the present search is a full one"""
    buffer: np.ndarray
    """[T] int32: the record buffer of the tree's game"""
    moves: np.ndarray
    """[S, max_plies] int16"""
    visits: np.ndarray
    """[S, max_plies, action_size] uint16"""
    values: np.ndarray
    """[S, max_plies] float32"""
    length: np.ndarray
    """[S] int32: number of moves of a finished game"""
    result: np.ndarray
    """[S] float32: for player 1"""
    over: np.ndarray
    """[T] int32: the trees whose games ended in the last step"""
    begin: np.ndarray
    """[T] int32: trees in which the next step begins games"""
    seeds: np.ndarray
    """[T] uint64: seeds of these games"""
    buffers: np.ndarray
    """[T] int32: record buffers of these games"""


@record
class CompiledSettings(NamedTuple):
    """How games are played; the names are those of `Config`."""

    sims: int
    fast_sims: int
    full_share: float
    turns_until_tau0: int
    alpha: float
    random_share: float
    random_plies: int
    full_after_opening: bool
    gumbel: int
    temperature: float


def budgets(play: SelfPlaySettings, iteration: int) -> tuple[int, int]:
    """Return the simulations of a full and of a fast search of self-play in an iteration (from 1)."""
    share = min(0.25 + 0.75 * (iteration - 1) / play.grow_sims, 1.0) if play.grow_sims else 1.0
    sims, fast = (max(round(share * n), 1) for n in (play.mcts_sims, play.fast_sims))
    return sims, min(fast, sims)


def compiled_settings(config: Config) -> CompiledSettings:
    """Return the settings that compiled code needs, with the grown budgets of full and fast searches."""
    play = config.selfplay
    return CompiledSettings(
        *budgets(play, play.grow_sims + 1),
        float(play.full_search_share),
        play.turns_until_tau0,
        float(config.search.alpha),
        float(play.random_opening_share),
        play.random_opening_plies,
        play.full_after_opening,
        play.gumbel,
        float(play.root_temperature),
    )


@compiled
def soften_root(f, settings, t, ply):
    """Give the root's priors the temperature of this ply, if there is one (`root_temperature`).

    A root without priors takes it when it is expanded.
    """
    if settings.temperature == 1.0:
        return
    tree = f.trees[t]
    share = 0.4 + 0.6 * 0.5 ** (ply / max(settings.turns_until_tau0, 1))
    tree.temperature = 1.0 + share * (settings.temperature - 1.0)
    if f.nodes[tree.root].status == EXPANDED:
        apply_root_temperature(f, t)


@compiled
def begin_move(f, flight, settings, t, first):
    """Choose a full or a fast search (playout-cap randomisation, KataGo 3.1); a forced move is not searched.

    A forced move is stored for training only where the network evaluates such positions: where simulations do not pass
    through them, or where other moves are legal but lose at once. `first` makes the search a full one.
    """
    tree = f.trees[t]
    full = uniform(tree) < settings.full_share or first
    tree.budget = settings.sims if full else settings.fast_sims
    if f.nodes[tree.root].count == 1:
        full = full and (f.solver.look_ahead < 2 or f.nodes[tree.root].legal > 1)
        tree.budget = 1
    flight.full[t] = full
    if full and settings.gumbel > 0:
        draw_gumbel(f, t, settings.gumbel)
    elif full:
        draw_noise(f, t, settings.alpha)
        soften_root(f, settings, t, flight.ply[t])


@compiled
def end_move(f, rules, puct, flight, settings, t):
    """Record the search, play the chosen move, keep the subtree; begin the next move or finish the game."""
    tree = f.trees[t]
    ply, buffer = flight.ply[t], flight.buffer[t]
    if ply >= flight.moves.shape[1] or f.nodes[tree.root].status == TERMINAL:  # a broken rule, the game is not used
        break_rule(f.bounds, LENGTH if ply > 0 else START)
        flight.result[buffer], flight.length[buffer] = 0.0, ply
        return True
    target = flight.visits[buffer, ply]
    if flight.full[t]:
        write_target(f, puct, t, target)
    else:
        for a in range(target.shape[0]):
            target[a] = 0
    value = root_value(f, t)
    if f.nodes[tree.root].proven == UNPROVEN:  # bfloat16 may say exactly 1, which is stored of a proof only
        value = min(max(value, -CERTAIN), CERTAIN)
    flight.values[buffer, ply] = value
    e = choose_gumbel(f, t) if tree.noisy == GUMBEL else np.int64(-1)
    if e < 0:
        e = materialise_edge(f, f.nodes[tree.root], choose(f, t, 1.0 if ply < settings.turns_until_tau0 else 0.0))
    flight.moves[buffer, ply] = f.moves[e].action
    flight.ply[t] = ply + 1
    after = np.int64(f.edges[e].child)
    if after == UNVISITED:  # every move tried is proven to lose
        after = np.int64(make_child(f, rules, t, tree.root, e))
    if after < 0:  # the tree is full: a new one begins with the position that `make_child` left in the free row
        plant(f, rules, t, f.rows[t * (f.capacity + 1) + tree.nodes])
        after = np.int64(tree.root)
    child = f.nodes[after]
    if child.status == TERMINAL:
        flight.result[buffer] = child.value if child.player == 1 else -child.value
        flight.length[buffer] = ply + 1
        return True
    if settings.gumbel > 0:
        plant(f, rules, t, f.rows[row_index(f, t, after)])
    else:
        advance_root(f, t, after, max(settings.sims - child.total, 0) + PASSED)
        if tree.nodes + settings.sims - f.nodes[tree.root].total >= f.capacity:
            plant(f, rules, t, f.rows[row_index(f, t, tree.root)])
    begin_move(f, flight, settings, t, False)
    return False


@compiled
def opening_plies(tree, settings):
    """Draw the number of random opening moves of a tree's game; the tree's `rng` is the game's seed."""
    if settings.random_plies > 0 and uniform(tree) < settings.random_share:
        return 1 + np.int64(uniform(tree) * settings.random_plies)
    return np.int64(0)


@compiled
def draw_openings(trees, settings, seeds, plies):
    """Write the number of random opening moves of the games of these seeds into plies; trees: [1] TREE to draw with."""
    for i in range(seeds.shape[0]):
        trees[0].rng = seeds[i]
        plies[i] = opening_plies(trees[0], settings)


@inlined
def record_unsearched(flight, t, action):
    """Record a move that was played without a search."""
    buffer, ply = flight.buffer[t], flight.ply[t]
    for a in range(flight.visits.shape[2]):
        flight.visits[buffer, ply, a] = 0
    flight.values[buffer, ply] = 0.0
    flight.moves[buffer, ply] = action
    flight.ply[t] = ply + 1


@compiled
def random_opening(f, rules, flight, t, plies):
    """Play random moves from the root of tree t; they are recorded as moves without a search.

    A move that would end the game is not played, and the opening ends before it.
    """
    tree = f.trees[t]
    index = t * (f.capacity + 1)
    now, room = f.rows[index], f.rows[index + 1]
    for _ in range(plies):
        copy_row(f.rows, index + 1, now)
        action = random_move(rules, room, f.legal, uniform(tree), f.bounds)
        if action < 0 or flight.ply[t] >= flight.moves.shape[1]:
            break
        rules.play(room, action)
        if is_over(rules, room, f.outcome, f.bounds):
            break
        record_unsearched(flight, t, action)
        copy_row(f.rows, index, room)
    plant(f, rules, t, now)


@compiled
def start_game(f, rules, flight, settings, t, i, row):
    """Begin game i of those to begin, in tree t."""
    f.trees[t].rng = flight.seeds[i]
    flight.buffer[t] = flight.buffers[i]
    plant(f, rules, t, row)
    flight.ply[t] = 0
    plies = opening_plies(f.trees[t], settings)
    if plies > 0:
        random_opening(f, rules, flight, t, plies)
    begin_move(f, flight, settings, t, plies > 0 and settings.full_after_opening)


@inlined
def advance_to_next_search(f, rules, puct, flight, settings, t):
    """Play the searched moves of tree t until another search has begun; return False if the game is over instead."""
    while not start_simulation(f, rules, t):
        if end_move(f, rules, puct, flight, settings, t):
            return False
    return True


@compiled
def request_size(n, piece):
    """Return how many of n positions are evaluated now; the others wait.

    All of them, unless the network takes multiples of `piece` and the games shall end together: then a multiple of
    `piece`, which needs no padding, for about two thirds of the games. Those with the fewest plies go first and catch
    up, so batches stay full for longer: less than a piece costs as much as a full one.
    """
    if piece == 0 or n <= piece:
        return n
    return max((4 * n + 3 * piece) // (6 * piece), 1) * piece


@compiled
def least_advanced_first(flight, asked, n):
    """Sort the trees of asked[:n] by the number of plies played, fewest first."""
    room = flight.walking
    for i in range(n):
        room[i] = asked[i]
    count, ply = 0, 0
    while count < n:
        following = 1 << 30
        for i in range(n):
            here = flight.ply[room[i]]
            if here == ply:
                asked[count] = room[i]
                count += 1
            elif here > ply:
                following = min(following, here)
        ply = following


@compiled
def selfplay_step(bound, answers, waiting, starts, piece):
    """Advance all games until each needs an evaluation or is over.

    Expands the first `answers` trees in `asked` with their evaluations, begins games in the first `starts` trees of
    flight.begin, then plays in all of these. `waiting` more trees follow in `asked`; they have no evaluation yet.
    `request_size` decides which positions are evaluated now: planes[i] and asked[i] are written for each, then the
    trees that wait; trees whose games ended are written to flight.over. Returns (number evaluated now, number waiting,
    number ended, not 0 where `ManyTrees.check_errors` raises an error: the games that ended in this step then do not
    count). bound: (forest, rules, puct, cache, `shared_run`, flight, settings, row of the game's start, asked, values,
    logits, planes).
    """
    f, rules, puct, cache, run, flight, settings, row, asked, values, logits, planes = unpack(bound)
    expand_and_backup(f, puct, cache, asked, answers, values, logits)
    walking = flight.walking
    for i in range(answers):
        walking[i] = asked[i]
    for i in range(waiting):
        asked[i] = asked[answers + i]
    for i in range(starts):
        walking[answers + i] = flight.begin[i]
        start_game(f, rules, flight, settings, np.int64(flight.begin[i]), np.int64(i), row)
    n, over, left = waiting, 0, answers + starts
    for i in range(left):
        prefetch(f.nodes, f.trees[walking[i]].root)
    while left > 0:
        count = 0
        for i in range(left):
            t = np.int64(walking[i])
            if advance_to_next_search(f, rules, puct, flight, settings, t):
                walking[count] = f.active[count] = t
                count += 1
            else:
                flight.over[over] = t
                over += 1
        run(f, rules, puct, cache, np.int64(count))
        left = 0
        for i in range(count):
            t = walking[i]
            if f.slots[t].ended == LEAF:
                asked[n] = t
                n += 1
            else:
                if f.slots[t].leaf == NO_ROOM:  # the move is chosen by what the search has found so far
                    f.trees[t].budget = 0
                walking[left] = t
                left += 1
    now = request_size(n, piece)
    if now < n:
        least_advanced_first(flight, asked, n)
    for i in range(now):
        rules.encode(f.rows[row_index(f, np.int64(asked[i]), f.slots[asked[i]].leaf)], planes[i])
    return now, n - now, over, cache.counts[NOT_FINITE] + f.bounds[BROKEN]
