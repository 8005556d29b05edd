"""Many trees at once: each simulates until it needs the network, their memory accesses overlapped."""

from __future__ import annotations

import numpy as np

from compiled import at, compiled
from search.evaluation_cache import cache_place
from search.expand import expand
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
def run_to_leaves(f, rules, rule, cache, count):  # type: ignore[no-untyped-def]
    """Simulate in each of the slots f.active[:count], which have begun, until it asks the network or there is no more.

    Finished games and remembered positions are dealt with on the way. `ended` of each says how it did: LEAF (which
    waits for its answer), DONE or BLOCKED. f.active is used up. All walks take a step in turn, each game at its own
    pace, so that the memory for one arrives while the others compute: a child's parent's position and the row for its
    own are asked for a turn before it is made; the places in the tables of keys and the rows of the node, a turn before
    it is looked for; then what the cache knows of it. Those that do the same come one after the other, which a
    processor foresees.
    """
    walking, making, seeking, ending = f.active, f.making, f.seeking, f.ending
    make = seek = np.int64(0)
    while count + make + seek > 0:
        ended = np.int64(0)
        for i in range(seek):
            slot = np.int64(at(seeking, i))
            if enter_child(f, rules, cache, slot) == SELECT:
                walking[np.uint64(count)] = slot
                count += 1
            else:
                ending[np.uint64(ended)] = slot
                ended += 1
        for i in range(make):
            slot = np.int64(at(making, i))
            make_child_position(f, rules, cache, slot)
            seeking[np.uint64(i)] = slot
        seek, make, n = make, np.int64(0), np.int64(0)
        for i in range(min(AHEAD, count)):
            prefetch_edges(f, at(f.slots, at(walking, i)).leaf)
        for i in range(count):
            if i + AHEAD < count:
                prefetch_edges(f, at(f.slots, at(walking, i + AHEAD)).leaf)
            slot = np.int64(at(walking, i))
            phase = select_child(f, rule, slot)
            if phase == SELECT:
                walking[np.uint64(n)] = slot
                n += 1
            elif phase == EXPAND:
                making[np.uint64(make)] = slot
                make += 1
            else:
                ending[np.uint64(ended)] = slot
                ended += 1
        for i in range(ended):
            slot = np.int64(at(ending, i))
            if finish_simulation(f, rules, rule, cache, slot) and start_simulation(f, rules, slot):
                walking[np.uint64(n)] = slot
                n += 1
        count = n


@compiled
def expand_and_backup(f, rule, cache, asked, count, values, logits):  # type: ignore[no-untyped-def]
    """Take the network's answers for the leaves in the air at the slots asked[:count]."""
    for k in range(min(2 * AHEAD, count)):
        prefetch_steps(f, at(asked, k))
    for k in range(min(AHEAD, count)):
        prefetch_path(f, cache, np.int64(at(asked, k)))
    for k in range(count):
        if k + 2 * AHEAD < count:
            prefetch_steps(f, at(asked, k + 2 * AHEAD))
        if k + AHEAD < count:
            prefetch_path(f, cache, np.int64(at(asked, k + AHEAD)))
        slot = np.int64(at(asked, k))
        w, answer, value = at(f.slots, slot), logits[np.uint64(k)], at(values, k)
        node = at(f.nodes, w.leaf)
        if node.status == WAITING:
            place = cache_place(cache, node.key)
            if expand(f, np.int64(w.leaf), value, answer):
                actions, kept = answer.shape[0], cache.numbers[place]
                for a in range(actions):
                    kept[np.uint64(a)] = at(answer, a)
                kept[np.uint64(actions)] = value
                cache.keys[place] = node.key
            else:
                cache.counts[3] += 1
            if w.depth == 0:
                make_root_priors(f, np.int64(w.tree))
        backup(f, rule, slot, node.value, node.player)


@compiled
def search_step(bound, count, which):  # type: ignore[no-untyped-def]
    """Take `count` answers for the slots in `asked`, then walk the trees in `which` until each needs the network.

    Writes planes[k] and asked[k] for each new question and returns their number; 0 = every tree is done.
    Up to L leaves of a tree may be in the air. held: (forest, rules, rule, cache, asked, values [B], logits [B,
    action_size], planes [B, ...] flat).
    """
    f, rules, rule, cache, asked, values, logits, planes = unpack(bound)
    leaves = f.leaves
    expand_and_backup(f, rule, cache, asked, count, values, logits)
    n = 0
    for i in range(which.shape[0]):
        f.trees[which[i]].pending = 0
    for leaf in range(leaves):
        count = 0
        for i in range(which.shape[0]):
            slot = np.int64(which[i] * leaves + leaf)
            if f.trees[which[i]].pending == leaf and start_simulation(f, rules, slot):
                f.active[count] = slot
                count += 1
        run_to_leaves(f, rules, rule, cache, np.int64(count))
        for i in range(which.shape[0]):
            t = which[i]
            slot = t * leaves + leaf
            if f.trees[t].pending == leaf and f.slots[slot].ended == LEAF:
                rules.encode(f.rows[row_index(f, t, f.slots[slot].leaf)], planes[n])
                asked[n] = slot
                n += 1
                f.trees[t].pending += 1
    return n
