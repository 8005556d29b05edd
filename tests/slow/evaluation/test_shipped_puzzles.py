"""Every puzzle that ships has one right move, and its lines are right. Oracles: BitBully about one move at a time,
negamax over the rules in Python, and for gomoku a search of threats on sets of points. For Hex and Go, which
none of these solves: plugins/laboratory/tests/slow/test_hex_puzzles.py and test_go_puzzles.py."""

import functools

import numpy as np
import pytest

import games
from evaluation import puzzles as module
from evaluation.openings import identity
from evaluation.puzzles import (
    DRAW,
    DRAWS,
    FAST,
    HOLDS,
    LEVELS,
    LOSES,
    ONLY,
    SETS,
    SLOW,
    WIN,
    shipped_puzzles,
)
from games.line_of_moves import after_moves
from support.puzzle_oracles import SPECS, values_after, wins

FOUND = {spec: shipped_puzzles(games.make(spec)) for spec in SPECS}
EACH = [(spec, n) for spec in SPECS for n in range(len(FOUND[spec]))]
PROVEN = ("gomoku", "hex", "go")
"""Games whose puzzles are checked otherwise."""


def shown(spec, n):
    game, puzzle = games.make(spec), FOUND[spec][n]
    return game, puzzle, after_moves(game, puzzle.moves)


@functools.cache
def solver():
    """Return BitBully's solver: to make one takes as long as hundreds of its answers."""
    import bitbully

    return bitbully.BitBully(opening_book=None)


def value_by_bitbully(moves, action):
    bitbully = pytest.importorskip("bitbully", reason="needs bitbully: pip install bitbully")
    game = games.make("connect4")
    after, value, over = after_moves(game, moves).takeAction(action)
    if over:
        return -value
    board = bitbully.Board()
    assert all(board.play(int(move)) for move in (*moves, action))
    return -np.sign(solver().mtdf(board))


class Five:
    """Gomoku on sets of points as bits."""

    def __init__(self, state, size):
        cells = [(p, word.strip("[]")) for p, word in enumerate(
            word for line in state.render().splitlines()[:size] for word in line.split()[1:])]  # fmt: skip
        kinds = {1: "X", -1: "O"}
        self.own, self.other = (sum(1 << p for p, w in cells if w == kinds[s * state.playerTurn]) for s in (1, -1))
        self.all = (1 << size * size) - 1
        self.rows = [
            sum(1 << (r + i * dr) * size + c + i * dc for i in range(5))
            for r in range(size) for c in range(size) for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
            if r + 4 * dr < size and 0 <= c + 4 * dc < size
        ]  # fmt: skip
        self.winning, self.wins = functools.cache(self.winning), functools.cache(self.wins)

    def winning(self, own, other):
        """Return the points that make five in a row."""
        return self.filling(own, other, 4)

    def filling(self, own, other, stones):
        """Return the free points of the rows with this number of own stones and none of the other side."""
        return functools.reduce(
            int.__or__, (w & ~own for w in self.rows if not w & other and (w & own).bit_count() == stones), 0
        )

    def wins(self, own, other, count):
        """Return whether who is to move wins by force within `count` own moves."""
        if self.winning(own, other) or count == 1:
            return bool(self.winning(own, other))
        points = self.points(own, other, 5 - count, 5 - count)
        if count == 2:  # the first of two moves has to make four in a row
            fours = self.filling(own, other, 3)
            points = [p for p in points if p & fours]
        return any(self.wins_with(own, other, p, count) for p in points)

    def points(self, own, other, mine, theirs):
        """Return the points that do not let the other side win at once, of those that matter and one that does not.

        A point matters in a row of five with nothing of the other side and at least `mine` own stones, or with nothing
        own and at least `theirs` of the other's: with the moves that are left, no other row becomes five for who wins
        by force, or four for who defends.
        """
        danger = self.winning(other, own)
        if danger:
            free = danger if danger.bit_count() == 1 else 0
        else:
            matters = 0
            for w in self.rows:
                if not w & other and (w & own).bit_count() >= mine or not w & own and (w & other).bit_count() >= theirs:
                    matters |= w
            free = self.all & ~(own | other)
            others = free & ~matters
            free = free & matters | others & -others
        return [1 << i for i in range(self.all.bit_length()) if free >> i & 1]

    def wins_with(self, own, other, point, count):
        """Return whether a move, which does not win at once, wins by force within `count` own moves, itself one."""
        own |= point
        threats = self.winning(own, other)
        if threats.bit_count() > 1:
            return True
        if threats or not self.wins(own, other, count - 1):  # it must threaten, or a pass would refute it
            return bool(threats) and self.wins(own, other | threats, count - 1)
        replies = self.points(other, own, 5 - count, 6 - count)
        return all(self.wins(own, other | reply, count - 1) for reply in replies)


def values_of(spec, moves):
    """Return {legal move: its value} after moves, by the game's oracle."""
    state = after_moves(games.make(spec), moves)
    return {a: value_by_bitbully(moves, a) for a in state.allowedActions} if spec == "connect4" else values_after(state)


def test_each_game_has_puzzles_of_several_levels_and_no_two_alike():
    assert sorted(path.name for path in SETS.iterdir()) == sorted(module.set_file(spec).name for spec in SPECS)
    for spec in SPECS:
        game, found = games.make(spec), FOUND[spec]
        assert len(found) >= 12, spec
        assert len({puzzle.level for puzzle in found}) >= 2
        assert found == sorted(found, key=lambda p: LEVELS.index(p.level)), "the easiest come first"
        assert len({identity(game, after_moves(game, p.moves)) for p in found}) == len(found)
        assert module.set_file(spec).stat().st_size < 20_000


@pytest.mark.parametrize("spec, n", [(spec, n) for spec, n in EACH if spec.split("(")[0] not in PROVEN])
def test_a_puzzle_of_a_solved_game_has_one_right_move_at_each_step(spec, n):
    game, puzzle, state = shown(spec, n)
    assert puzzle.kind in (WIN, ONLY, DRAW)
    best = 0 if puzzle.kind == DRAW else 1
    for step in range(0, puzzle.asked, 2):
        moves = (*puzzle.moves, *puzzle.line[:step])
        state, found = after_moves(game, moves), values_of(spec, moves)
        right = [a for a, value in found.items() if value >= best]
        ends = [a for a in right if wins(state.takeAction(a)[0], state.playerTurn)]
        assert right == [puzzle.line[step]] or (step > 0 and puzzle.line[step] in ends)
        for action in set(found) - set(ends) - {puzzle.line[step]}:
            why = puzzle.refutation(step // 2, action)
            assert why.outcome == {-1: LOSES, 0: DRAWS, 1: SLOW}[int(found[action])], game.move_name(action)


@pytest.mark.parametrize("spec, n", [(spec, n) for spec, n in EACH if "gomoku" in spec])
def test_a_puzzle_of_gomoku_has_one_move_that_wins_by_force(spec, n):
    game, puzzle, _ = shown(spec, n)
    assert puzzle.kind == FAST
    for step in range(0, puzzle.asked, 2):
        state = after_moves(game, (*puzzle.moves, *puzzle.line[:step]))
        five, left = Five(state, game.grid_shape[0]), puzzle.length - step // 2
        at_once = five.winning(five.own, five.other)
        if left == 1:
            assert at_once >> puzzle.line[step] & 1
            continue
        assert not at_once
        points = five.points(five.own, five.other, 5 - left, 5 - left)
        right = [p for p in points if five.wins_with(five.own, five.other, p, left)]
        assert right == [1 << puzzle.line[step]]
        for action in set(state.allowedActions) - {puzzle.line[step]}:
            why = puzzle.refutation(step // 2, action)
            own, other = five.own | 1 << action, five.other
            if why.outcome == HOLDS and why.line:
                assert not five.wins(own, other | 1 << why.line[0], left - 1), game.move_name(action)


@pytest.mark.parametrize("spec, n", EACH)
def test_the_lines_of_a_puzzle_are_legal_and_end_as_they_say(spec, n):
    game, puzzle, state = shown(spec, n)
    side, end = state.playerTurn, after_moves(game, (*puzzle.moves, *puzzle.line))
    if puzzle.kind in (WIN, FAST):
        assert len(puzzle.line) <= puzzle.plies and wins(end, side)
    for step, refutations in enumerate(puzzle.refutations):
        before = after_moves(game, (*puzzle.moves, *puzzle.line[: 2 * step]))
        for action in set(before.allowedActions) - {puzzle.line[2 * step]}:
            if wins(before.takeAction(action)[0], side):  # at the end of a win any will do
                assert step == puzzle.asked // 2 > 0
                continue
            why = puzzle.refutation(step, action)
            end = after_moves(game, (*puzzle.moves, *puzzle.line[: 2 * step], action, *why.line))
            assert not wins(end, side) and (why.outcome != SLOW or step == puzzle.asked // 2)
            assert not (why.outcome == DRAWS and wins(end, -side))
        assert sum(not r.moves for r in refutations) <= 1
