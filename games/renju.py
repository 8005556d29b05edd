"""Points that renju forbids to Black: overlines, double-fours, double-threes (defined as in `games.gomoku`)."""

from __future__ import annotations

import numpy as np

from compiled import compiled
from games.lines import BLACK, FORBIDDEN, FREE, PAD, SIZE, block

ALLOWED, DOUBLE_THREE, DOUBLE_FOUR, OVERLINE, FIVE = 0, 1, 2, 3, 4
"""What a black stone on a point would make."""
DEPTH = 32
"""Largest depth of threes that depend on one another; deeper ones count as forbidden."""


@compiled
def window(row, base, r, c, d):
    """Return eleven points of a line in direction d as bits, (r, c) being bit 5."""
    if d == 0:
        return row[base + r] >> c & 0x7FF
    bits = 0
    for k in range(11):
        bits |= (row[base + r + k - 5] >> (PAD + c + (d - 2) * (k - 5)) & 1) << k
    return bits


@compiled
def run(stones):
    """Return the length of the unbroken row through bit 5 of a window."""
    length = 1
    at = 6
    while stones >> at & 1:
        length += 1
        at += 1
    at = 4
    while at >= 0 and stones >> at & 1:
        length += 1
        at -= 1
    return length


@compiled
def fours(stones, free):
    """Count the fours through bit 5 of a window: one more stone makes exactly five."""
    count = gaps = 0
    for s in range(1, 6):
        gap = 31 << s & ~stones
        if gap & (gap - 1) == 0 and gap & free and not stones & (0b1000001 << (s - 1)):
            count += 1
            gaps |= gap
    return count - 1 if gaps & (gaps >> 5) else count  # a straight four is one four with two gaps


@compiled
def straight_fours(stones, free):
    """Return the free points of a window where one more stone makes a straight four through bit 5."""
    found = 0
    for s in range(2, 6):
        gap = 15 << s & ~stones
        ends = 0b100001 << (s - 1)
        if gap & (gap - 1) == 0 and gap & free and free & ends == ends and not stones & (0b10000001 << (s - 2)):
            found |= gap
    return found


@compiled
def flip(row, r, c):
    """Put a black stone on the free point (r, c), or remove it again."""
    bit = np.int32(1 << (PAD + c))
    row[block(row, BLACK) + r] ^= bit
    row[block(row, FREE) + r] ^= bit


@compiled
def shape(row, r, c):
    """Return what the black stone on (r, c) makes, DOUBLE_THREE only if all stones that its threes need are allowed."""
    longest = count = threes = 0
    for d in range(4):
        stones, free = window(row, block(row, BLACK), r, c, d), window(row, block(row, FREE), r, c, d)
        length = run(stones)
        if length == 5:
            return FIVE
        longest = max(longest, length)
        count += fours(stones, free)
        threes += straight_fours(stones, free) != 0
    if longest > 5:
        return OVERLINE
    if count > 1:
        return DOUBLE_FOUR
    return DOUBLE_THREE if threes > 1 else ALLOWED


@compiled
def verdict(row, r, c):
    """Return what a black stone on the free point (r, c) would make; the board is unchanged afterwards.

    A three counts only if the stone that completes it is allowed, which is the same question again. The open questions
    are a stack in the row (numba cannot cache a recursive function on disk): point, next place to check (nine for each
    direction), threes found so far.
    """
    size = row[SIZE]
    stack = block(row, FORBIDDEN) + size - 1
    flip(row, r, c)
    found = shape(row, r, c)
    if found != DOUBLE_THREE:
        flip(row, r, c)
        return found
    depth = 1
    row[stack + 1] = (r * size + c) << 8
    while depth > 0:
        task = row[stack + depth]
        point, at, threes = task >> 8, task >> 2 & 63, task & 3
        r, c = point // size, point % size
        if threes > 1 or at == 36:
            found = DOUBLE_THREE if threes > 1 else ALLOWED
            flip(row, r, c)
            row[stack + depth] = 0
            depth -= 1
        else:
            d = at // 9
            k, found = next_stone(row, r, c, d, at % 9)
            row[stack + depth] = point << 8 | (9 * d + k + 1) << 2 | threes
            if found == DOUBLE_THREE and depth < DEPTH:
                r, c = r + (k - 4 if d > 0 else 0), c + (k - 4) * (1 if d == 0 else d - 2)
                flip(row, r, c)
                depth += 1
                row[stack + depth] = (r * size + c) << 8
                continue
        if found == ALLOWED and depth > 0:  # a three is found: count it and check the next direction
            task = row[stack + depth]
            at = (task >> 2 & 63) + 8
            row[stack + depth] = task >> 8 << 8 | at // 9 * 9 << 2 | (task & 3) + 1
    return found


@compiled
def next_stone(row, r, c, d, k):
    """Return the first place from k on (0-8) where a stone makes a straight four in direction d, and what it makes.

    If there is none: 8 and FIVE.
    """
    points = straight_fours(window(row, block(row, BLACK), r, c, d), window(row, block(row, FREE), r, c, d))
    while k < 9:
        if points >> (k + 1) & 1:
            rr, cc = r + (k - 4 if d > 0 else 0), c + (k - 4) * (1 if d == 0 else d - 2)
            flip(row, rr, cc)
            found = shape(row, rr, cc)
            flip(row, rr, cc)
            return k, found
        k += 1
    return 8, FIVE


@compiled
def crowded(row, r):
    """Return the points (bits) of line r that may be forbidden.

    A forbidden point has two black stones within four points in two directions, or four in one.
    """
    black = block(row, BLACK)
    once = twice = many = 0
    for d in range(4):
        one = two = three = four = 0
        for k in range(-4, 5):
            if k != 0:
                line = row[black + (r if d == 0 else r + k)] << 4
                seen = line >> (4 + (k if d == 0 else (d - 2) * k))
                four |= three & seen
                three |= two & seen
                two |= one & seen
                one |= seen
        many |= four
        twice |= once & two
        once |= two
    return (twice | many) & row[block(row, FREE) + r]


@compiled
def forbid(row):
    """Write which points are forbidden to Black; return whether any free point is allowed."""
    some = False
    for r in range(row[SIZE]):
        hot = crowded(row, r)
        line = 0
        for c in range(row[SIZE]):
            bit = 1 << (PAD + c)
            if hot & bit and ALLOWED < verdict(row, r, c) < FIVE:
                line |= bit
        row[block(row, FORBIDDEN) + r] = line
        some = some or (row[block(row, FREE) + r] & ~line) != 0
    return some
