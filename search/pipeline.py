"""Searches many trees at once: runs the phases of search/simulate.py for every tree in turn until all need the network.

While one tree waits for memory the others compute, which makes the search fast (see `run_to_leaves`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import at, compiled, shared, types
from search.evaluation_cache import NOT_FINITE, keep
from search.expand import expand
from search.reroot import make_room
from search.simulate import (
    EXPAND,
    LEAF,
    SELECT,
    backup,
    enter_child,
    finish_simulation,
    make_child_position,
    make_root_priors,
    select_child,
    start_simulation,
)
from search.speed.bound_arguments import unpack
from search.speed.prefetch import AHEAD, prefetch_edges, prefetch_path, prefetch_steps
from search.tables import WAITING, row_index


@compiled
def run_to_leaves(f, rules, puct, cache, count):
    """Simulate in the slots f.active[:count], which are at their roots, until each needs the network or is done.

    `ended` of a slot says how it ended: LEAF (it waits for the network), DONE or BLOCKED. f.active is overwritten.

    The slots are in four queues by their next phase: select an edge (f.active), make a child's position (f.making),
    enter the child (f.entering), finish the simulation (f.finishing). Each round serves every queue once. The memory
    that a slot needs in the next round is prefetched at the end of this one and arrives while other slots compute. The
    same code runs for many slots in a row, which the CPU predicts well.
    """
    selecting, making, entering, finishing = f.active, f.making, f.entering, f.finishing
    to_make = to_enter = np.int64(0)
    while count + to_make + to_enter > 0:
        to_finish = np.int64(0)
        for i in range(to_enter):
            slot = np.int64(at(entering, i))
            if enter_child(f, rules, cache, slot) == SELECT:
                selecting[np.uint64(count)] = slot
                count += 1
            else:
                finishing[np.uint64(to_finish)] = slot
                to_finish += 1
        for i in range(to_make):
            slot = np.int64(at(making, i))
            make_child_position(f, rules, cache, slot)
            entering[np.uint64(i)] = slot
        to_enter, to_make, n = to_make, np.int64(0), np.int64(0)
        for i in range(min(AHEAD, count)):
            prefetch_edges(f, at(f.slots, at(selecting, i)).leaf)
        for i in range(count):
            if i + AHEAD < count:
                prefetch_edges(f, at(f.slots, at(selecting, i + AHEAD)).leaf)
            slot = np.int64(at(selecting, i))
            phase = select_child(f, puct, slot)
            if phase == SELECT:
                selecting[np.uint64(n)] = slot
                n += 1
            elif phase == EXPAND:
                making[np.uint64(to_make)] = slot
                to_make += 1
            else:
                finishing[np.uint64(to_finish)] = slot
                to_finish += 1
        for i in range(to_finish):
            slot = np.int64(at(finishing, i))
            if finish_simulation(f, rules, puct, cache, slot) and start_simulation(f, rules, slot):
                selecting[np.uint64(n)] = slot
                n += 1
        count = n


def shared_run(f: Any, rules: Any, puct: Any, cache: Any) -> Any:
    """Return `run_to_leaves` as a function that compiled code is passed."""
    return shared(run_to_leaves, types.void, f, rules, puct, cache, 0)


@compiled
def expand_and_backup(f, puct, cache, waiting, count, values, logits):
    """Expand the leaves of the slots waiting[:count] with their evaluations, cache these, and back up the values."""
    for k in range(min(2 * AHEAD, count)):
        prefetch_steps(f, at(waiting, k))
    for k in range(min(AHEAD, count)):
        prefetch_path(f, cache, np.int64(at(waiting, k)))
    for k in range(count):
        if k + 2 * AHEAD < count:
            prefetch_steps(f, at(waiting, k + 2 * AHEAD))
        if k + AHEAD < count:
            prefetch_path(f, cache, np.int64(at(waiting, k + AHEAD)))
        slot = np.int64(at(waiting, k))
        w, answer, value = at(f.slots, slot), logits[np.uint64(k)], at(values, k)
        node = at(f.nodes, w.leaf)
        if node.status == WAITING:
            if expand(f, np.int64(w.leaf), value, answer):
                keep(cache, node.key, value, answer)
            else:
                cache.counts[NOT_FINITE] += 1
            if w.depth == 0:
                make_root_priors(f, np.int64(w.tree))
        backup(f, puct, slot, node.value, node.player)


@compiled
def search_step(bound, count, which):
    """Process `count` evaluations for the slots in `waiting`, then search the trees `which` until each needs the
    network.

    Writes planes[k] and waiting[k] for each position to be evaluated and returns their number; 0 = every tree is done.
    Up to L leaves of a tree wait for the network at once. bound: (forest, rules, puct, cache, `shared_run`, waiting,
    values [B], logits [B, action_size], planes [B, ...] flat).
    """
    f, rules, puct, cache, run, waiting, values, logits, planes = unpack(bound)
    leaves = f.leaves
    expand_and_backup(f, puct, cache, waiting, count, values, logits)
    n = 0
    for i in range(which.shape[0]):
        f.trees[which[i]].pending = 0
        make_room(f, which[i])
    for leaf in range(leaves):
        count = 0
        for i in range(which.shape[0]):
            slot = np.int64(which[i] * leaves + leaf)
            if f.trees[which[i]].pending == leaf and start_simulation(f, rules, slot):
                f.active[count] = slot
                count += 1
        run(f, rules, puct, cache, np.int64(count))
        for i in range(which.shape[0]):
            t = which[i]
            slot = t * leaves + leaf
            if f.trees[t].pending == leaf and f.slots[slot].ended == LEAF:
                rules.encode(f.rows[row_index(f, t, f.slots[slot].leaf)], planes[n])
                waiting[n] = slot
                n += 1
                f.trees[t].pending += 1
    return n
