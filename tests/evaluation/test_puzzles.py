"""Puzzles: how they are solved, written, graded and made; tests/slow/evaluation looks at those that ship."""

import functools
from concurrent.futures import ThreadPoolExecutor

import pytest

import games
from config import UserError
from evaluation import puzzles as module
from evaluation.openings import identity
from evaluation.puzzle_maker import Maker, PuzzleSource
from evaluation.puzzles import (
    DRAW,
    LEVELS,
    LOSES,
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
from support.puzzle_oracles import SPECS, values_after, wins


@functools.cache
def shipped(spec):
    """Return the puzzles of a game that ship."""
    return shipped_puzzles(games.make(spec))


# ---- attempts and files

FORK = Puzzle("tictactoe", (0, 8, 2), DRAW, 0, (1, 7, 4), 1, ((Refutation(LOSES, (1,)),),))


def test_a_puzzle_is_solved_move_by_move():
    game = games.make("connect4")
    puzzle = next(p for p in shipped("connect4") if p.asked >= 3)
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
    two = next(p for p in shipped("tictactoe") if p.kind == WIN)
    attempt = Attempt(two)
    while not attempt.solved:
        side, legal = attempt.state.playerTurn, attempt.state.allowedActions
        ends = [a for a in legal if wins(attempt.state.takeAction(a)[0], side)]
        assert attempt.answer(ends[-1] if ends else attempt.wanted).right


@pytest.mark.parametrize("spec", SPECS)
def test_a_puzzle_is_the_same_after_writing_and_reading(spec):
    game = games.make(spec)
    assert [from_json(as_json(p, game), game) for p in shipped(spec)] == shipped(spec)


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
    monkeypatch.setattr("evaluation.puzzle_maker.shipped_puzzles", lambda game: shipped("tictactoe")[:2])
    source = PuzzleSource(game)
    assert source.get(source.shipped + 101) is None and source._more is None, "over a hundred are not made for one"
    assert source.shipped == 2 and source.get(2) == shipped("tictactoe")[1]
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
