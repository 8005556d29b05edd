"""Every puzzle that ships has one right move, and its lines are right. Oracles: BitBully about one move at a time,
negamax over the rules in Python, and for gomoku a search of threats on sets of points."""

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import games
from config import UserError
from evaluation import puzzles as module
from evaluation.openings import identity
from evaluation.puzzle_maker import Maker, PuzzleSource
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
    Attempt,
    Puzzle,
    Refutation,
    as_json,
    from_json,
    graded,
    shipped_puzzles,
    write_set,
)
from games.line_of_moves import after_moves
from interface.commands.new_game import write_template

SPECS = ["tictactoe", "connect4", "gomoku", "othello(size=6)", "othello", "littlego", "metasquares(size=8)"]
FOUND = {spec: shipped_puzzles(games.make(spec)) for spec in SPECS}
EACH = [(spec, n) for spec in SPECS for n in range(len(FOUND[spec]))]


def shown(spec, n):
    game, puzzle = games.make(spec), FOUND[spec][n]
    return game, puzzle, after_moves(game, puzzle.moves)


def wins(state, side):
    return state.isEndGame and state.value * state.playerTurn * side >= 1


# ---- oracles


def at_least(state, side, goal, known):
    """Return whether a side gets `goal` (1 or 0) or more with best play of both: negamax with one question."""
    if state.isEndGame:
        return np.sign(state.value) * state.playerTurn * side >= goal
    if state.id not in known:
        parts = (at_least(state.takeAction(a)[0], side, goal, known) for a in state.allowedActions)
        known[state.id] = any(parts) if state.playerTurn == side else all(parts)
    return known[state.id]


def values_after(state):
    """Return {legal move: its value for who makes it, 1, 0 or -1}."""
    side, known = state.playerTurn, ({}, {})
    return {a: next((goal for goal in (1, 0) if at_least(state.takeAction(a)[0], side, goal, known[goal])), -1)
            for a in state.allowedActions}  # fmt: skip


def value_by_bitbully(moves, action):
    bitbully = pytest.importorskip("bitbully", reason="needs bitbully: pip install bitbully")
    game = games.make("connect4")
    after, value, over = after_moves(game, moves).takeAction(action)
    if over:
        return -value
    board = bitbully.Board()
    assert all(board.play(int(move)) for move in (*moves, action))
    return -np.sign(bitbully.BitBully(opening_book=None).mtdf(board))


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

    def winning(self, own, other):
        """Return the points that make five in a row."""
        return functools.reduce(
            int.__or__, (w & ~own for w in self.rows if not w & other and (w & own).bit_count() == 4), 0
        )

    def wins(self, own, other, count):
        """Return whether who is to move wins by force within `count` own moves."""
        if self.winning(own, other):
            return True
        return count > 1 and any(self.wins_with(own, other, p, count) for p in self.points(own, other))

    def points(self, own, other):
        """Return the points that do not let the other side win at once."""
        danger = self.winning(other, own)
        free = danger if danger else self.all & ~(own | other)
        return [1 << i for i in range(self.all.bit_length()) if free >> i & 1] if danger.bit_count() < 2 else []

    def wins_with(self, own, other, point, count):
        """Return whether a move, which does not win at once, wins by force within `count` own moves, itself one."""
        own |= point
        threats = self.winning(own, other)
        if threats.bit_count() > 1:
            return True
        if threats or not self.wins(own, other, count - 1):  # it must threaten, or a pass would refute it
            return bool(threats) and self.wins(own, other | threats, count - 1)
        return all(self.wins(own, other | reply, count - 1) for reply in self.points(other, own))


def values_of(spec, moves):
    """Return {legal move: its value} after moves, by the game's oracle."""
    state = after_moves(games.make(spec), moves)
    return {a: value_by_bitbully(moves, a) for a in state.allowedActions} if spec == "connect4" else values_after(state)


# ---- what ships


def test_each_game_has_puzzles_of_several_levels_and_no_two_alike():
    assert sorted(path.name for path in SETS.iterdir()) == sorted(module.set_file(spec).name for spec in SPECS)
    for spec in SPECS:
        game, found = games.make(spec), FOUND[spec]
        assert len(found) >= 12, spec
        assert len({puzzle.level for puzzle in found}) >= 2
        assert found == sorted(found, key=lambda p: LEVELS.index(p.level)), "the easiest come first"
        assert len({identity(game, after_moves(game, p.moves)) for p in found}) == len(found)
        assert module.set_file(spec).stat().st_size < 20_000


@pytest.mark.parametrize("spec, n", [(spec, n) for spec, n in EACH if spec != "gomoku"])
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


@pytest.mark.parametrize("n", range(len(FOUND["gomoku"])))
def test_a_puzzle_of_gomoku_has_one_move_that_wins_by_force(n):
    game, puzzle, _ = shown("gomoku", n)
    assert puzzle.kind == FAST
    for step in range(0, puzzle.asked, 2):
        state = after_moves(game, (*puzzle.moves, *puzzle.line[:step]))
        five, left = Five(state, 9), puzzle.length - step // 2
        at_once = five.winning(five.own, five.other)
        if left == 1:
            assert at_once >> puzzle.line[step] & 1
            continue
        assert not at_once
        points = five.points(five.own, five.other)
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


# ---- attempts and files

FORK = Puzzle("tictactoe", (0, 8, 2), DRAW, 0, (1, 7, 4), 1, ((Refutation(LOSES, (1,)),),))


def test_a_puzzle_is_solved_move_by_move():
    game = games.make("connect4")
    puzzle = next(p for p in FOUND["connect4"] if p.asked >= 3)
    attempt = Attempt(puzzle)
    answer = attempt.answer(puzzle.line[0])
    assert answer == (True, False, puzzle.line[1], None) and attempt.wanted == puzzle.line[2]
    assert attempt.state.id == after_moves(game, (*puzzle.moves, *puzzle.line[:2])).id
    for step in range(2, puzzle.asked, 2):
        answer = attempt.answer(puzzle.line[step])
    assert answer.solved and attempt.solved and attempt.clean
    with pytest.raises(UserError):
        attempt.answer(0)


def test_a_wrong_move_is_refuted_and_not_played():
    attempt = Attempt(FORK)
    before = attempt.state.id
    answer = attempt.answer(3)
    assert not answer.right and answer.refutation.line == (1,) and attempt.state.id == before and not attempt.clean
    with pytest.raises(UserError, match="illegal move"):
        attempt.answer(0)
    assert attempt.answer(1).solved and not attempt.clean


def test_a_win_at_once_is_right_whatever_the_line_says():
    two = next(p for p in FOUND["tictactoe"] if p.kind == WIN)
    attempt = Attempt(two)
    while not attempt.solved:
        side, legal = attempt.state.playerTurn, attempt.state.allowedActions
        ends = [a for a in legal if wins(attempt.state.takeAction(a)[0], side)]
        assert attempt.answer(ends[-1] if ends else attempt.wanted).right


@pytest.mark.parametrize("spec", SPECS)
def test_a_puzzle_is_the_same_after_writing_and_reading(spec):
    game = games.make(spec)
    assert [from_json(as_json(p, game), game) for p in FOUND[spec]] == FOUND[spec]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"game": "othello", "puzzles": []}',
                                  '{"game": "tictactoe", "puzzles": [{"moves": "a1"}]}'])  # fmt: skip
def test_a_bad_file_is_one_line(monkeypatch, tmp_path, text):
    monkeypatch.setattr(module, "SETS", tmp_path)
    (tmp_path / "tictactoe.json").write_text(text)
    with pytest.raises(UserError, match=r"expected puzzles"):
        shipped_puzzles(games.make("tictactoe"))


def test_a_line_that_is_no_game_is_refused(monkeypatch, tmp_path):
    game = games.make("tictactoe")
    monkeypatch.setattr(module, "SETS", tmp_path)
    text = write_set(game, [FORK])
    (tmp_path / "tictactoe.json").write_text(text)
    assert [p.line for p in shipped_puzzles(game)] == [FORK.line]
    wrong = text.replace('"line":"b3', '"line":"a3').replace('"line":"b1', '"line":"a1')
    (tmp_path / "tictactoe.json").write_text(wrong)
    with pytest.raises(UserError):
        shipped_puzzles(game)


def test_longer_wins_and_missed_moves_are_harder():
    order = [graded(FORK, share).level for share in (0.0, 0.5, 1.0)]
    assert [LEVELS.index(level) for level in order] == sorted(LEVELS.index(level) for level in order)
    assert order[0] == "easy" and order[-1] == "hard"


# ---- made when needed


def test_puzzles_depend_on_the_seed_alone():
    first, again, other = ([p for _, p in zip(range(4), Maker(games.make("tictactoe")).puzzles(s), strict=False)]
                           for s in (5, 5, 6))  # fmt: skip
    assert first == again and first != other
    for puzzle in first:
        state = after_moves(games.make("tictactoe"), puzzle.moves)
        values = values_after(state)
        assert [a for a, v in values.items() if v == max(values.values())] == [puzzle.line[0]]


def test_after_those_that_ship_others_are_made(monkeypatch):
    game = games.make("tictactoe")
    monkeypatch.setattr("evaluation.puzzle_maker.shipped_puzzles", lambda game: FOUND["tictactoe"][:2])
    source = PuzzleSource(game)
    assert source.get(source.shipped + 101) is None and source._more is None, "over a hundred are not made for one"
    assert source.shipped == 2 and source.get(2) == FOUND["tictactoe"][1]
    made = source.get(4)
    keys = [identity(game, after_moves(game, source.get(n).moves)) for n in (1, 2, 3, 4)]
    assert made is not None and len(set(keys)) == 4
    assert source.following(0, made.level) <= 4


def test_puzzles_that_were_stopped_are_made_when_they_are_needed_again(monkeypatch):
    monkeypatch.setattr("evaluation.puzzle_maker.shipped_puzzles", lambda game: [])
    made = [PuzzleSource(games.make("tictactoe")).get(n) for n in (1, 2, 3)]
    source = PuzzleSource(games.make("tictactoe"))
    for n, puzzle in enumerate(made, 1):
        assert source.get(n, stop=lambda: True) is None and source.following(n - 1, stop=lambda: True) is None
        assert source.get(n) == puzzle, "the one that it would have been"


def test_two_threads_may_need_new_puzzles_at_once(monkeypatch):
    monkeypatch.setattr("evaluation.puzzle_maker.shipped_puzzles", lambda game: [])
    source = PuzzleSource(games.make("tictactoe"))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(source.get, (3, 2, 3, 1)))
    assert [puzzle is not None for puzzle in found] == [True] * 4 and found[0] == found[2] == source.get(3)


def test_a_game_of_ones_own_has_puzzles_where_its_end_is_near(tmp_path):
    path, kind = write_template("mine", tmp_path)
    game = games.make(f"{path}:{kind}")
    puzzle = next(Maker(game).puzzles(1))
    state = after_moves(game, puzzle.moves)
    values = values_after(state)
    assert [a for a, v in values.items() if v == max(values.values())] == [puzzle.line[0]]
    assert shipped_puzzles(game) == []
