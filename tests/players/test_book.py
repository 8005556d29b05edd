"""Opening books: made, gone on with, read with suspicion, used in every orientation."""

import json

import numpy as np
import pytest

import games
from agent import RESIGN, Agent
from config import PLAIN_SEARCH, UserError
from evaluation.match import play_alone
from players.book import Book, BookPlayer, after_line, extend, find_book, load_book, positions_to_know
from players.by_name import make_player
from players.simple import RandomPlayer
from support.board_drawings import play
from support.command_line import output_of
from support.corridor import Corridor
from support.search_cases import Projection


class Cornered(RandomPlayer):
    """Plays the first legal move and counts how often it is asked."""

    asked = 0

    def choose(self, state, rng):
        self.asked += 1
        return int(state.allowedActions[0]), 0.0


@pytest.mark.parametrize("spec, plies", [("tictactoe", 9), ("tictactoe", 3), ("connect4", 3), ("littlego", 2)])
def test_a_book_knows_every_position_that_its_user_can_meet(spec, plies, tmp_path):
    game = games.make(spec)
    book, player, rng = Book(game, "x"), Cornered(game), np.random.default_rng(0)
    extend(book, player, plies, tmp_path / "x.json")
    assert player.asked == len(book) and list(positions_to_know(book, plies)) == []
    for role in (1, -1) * 30:
        state, ply = game.start(), 0
        while ply < plies and not state.isEndGame:
            if state.playerTurn == role:
                action = book.reply(state)
                assert action in state.allowedActions
            else:
                action = int(rng.choice(state.allowedActions))
            state, ply = state.takeAction(action)[0], ply + 1


def test_no_position_is_searched_twice_turned_or_mirrored(tmp_path):
    game = games.make("tictactoe")
    book, player = Book(game, "x"), Cornered(game)
    extend(book, player, 2, tmp_path / "x.json")
    assert player.asked == 4  # the start; a corner, an edge, the centre
    for corner, reply in (("a3", book.reply(play(game, "a3"))), ("c1", book.reply(play(game, "c1")))):
        assert reply is not None and game.move_name(reply) != corner


def test_replies_are_turned_with_the_board():
    game = games.make("tictactoe")
    book = Book(game, "x")
    book.add(game.parse_moves("a3"), game.parse_move("b3"))
    found = {c: game.move_name(book.reply(play(game, c))) for c in ("a3", "c3", "a1", "c1")}
    assert found["a3"] == "b3"
    beside = {"a3": {"b3", "a2"}, "c3": {"b3", "c2"}, "a1": {"b1", "a2"}, "c1": {"b1", "c2"}}
    assert all(found[corner] in beside[corner] for corner in found)
    assert book.reply(play(game, "b3")) is None


def test_a_book_that_was_interrupted_is_gone_on_with(tmp_path, monkeypatch):
    game, path = games.make("tictactoe"), tmp_path / "book.json"
    whole = Book(game, "x")
    extend(whole, Cornered(game), 4, tmp_path / "whole.json")
    cut, player = Book(game, "x"), Cornered(game)

    def stop(count):
        if count == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extend(cut, player, 4, path, report=stop)
    again = load_book(path, game)
    assert len(again) == 7
    extend(again, player, 4, path)
    assert player.asked == len(whole) and path.read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["book.json", "whole.json"]


def test_a_player_that_gives_up_ends_the_book_with_what_was_found(tmp_path):
    class Resigning(Cornered):
        def act_many(self, slots, states, taus):
            found = super().act_many(slots, states, taus)
            return [d._replace(action=RESIGN) if self.asked > 2 else d for d in found]

    game, path = games.make("tictactoe"), tmp_path / "book.json"
    book, player = Book(game, "x"), Resigning(game)
    with pytest.raises(UserError, match=r"book.json: expected a move of random after \w\d.*, it gave up; 2 positions"):
        extend(book, player, 4, path)
    assert len(book) == 2 and load_book(path, game).lines == book.lines
    with pytest.raises(UserError, match="after the start, it gave up; 0 positions"):
        extend(Book(game, "x"), player, 1, tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists()


def test_a_player_uses_its_book_and_thinks_only_outside_it(tmp_path):
    game = games.make("tictactoe")
    book, inner = Book(game, "x"), Cornered(game)
    book.add([], game.parse_move("c1"))
    player = BookPlayer(inner, book)
    player.new_games(2)
    for slot in (0, 1):
        player.new_game(slot, 0)
    found = player.act_many([0, 1], [play(game, "b2"), game.start()], [0.0, 0.0])
    assert [game.move_name(d.action) for d in found] == ["a3", "c1"] and inner.asked == 1
    assert game.move_name(player.act(game.start(), 0.0)[0]) == "c1" and inner.asked == 1
    assert player.name == "random+book"


def test_a_game_of_a_network_with_a_book_is_the_same_after_others():
    game = games.make("connect4(rows=4,columns=5)")
    agent = Agent("net", game, Projection(game), PLAIN_SEARCH, mcts_sims=40, leaves=8, rng=np.random.default_rng(0))
    players = BookPlayer(agent, Book(game, "x")), RandomPlayer(game)
    first, _, again = (play_alone(game, players, (index, [], True), seed=1) for index in (0, 1, 0))
    assert again.moves == first.moves and np.array_equal(again.record.visits, first.record.visits)


def test_a_plain_game_has_books_too(tmp_path):
    game, path = Corridor(), tmp_path / "book.json"
    book = Book(game, "x")
    extend(book, Cornered(game), 3, path)
    for line in load_book(path, game).lines:
        assert book.reply(after_line(game, line)) is not None


def test_the_command_makes_a_book_that_match_and_names_can_use(tmp_path, capsys):
    path = tmp_path / "b.json"
    argv = ["book", "--game", "tictactoe", "--player", "rollout:100", "--plies", "2", "-o", str(path)]
    code, out, err = output_of(capsys, *argv)
    assert (code, err) == (0, "") and out == f"{path}: 4 positions of tictactoe by rollout:100\n"
    made = path.read_bytes()
    assert output_of(capsys, *argv)[0] == 0 and path.read_bytes() == made
    code, out, err = output_of(
        capsys, "match", f"rollout:50+book:{path}", "greedy", "--game", "tictactoe", "--games", "4", "--json"
    )
    assert (code, err) == (0, "") and json.loads(out)["player1"] == "rollout:50+book:b.json"
    code, _, err = output_of(capsys, *argv[:4], "rollout:200", *argv[5:])
    assert code == 2 and "replies of rollout:100" in err and path.read_bytes() == made


def test_the_book_that_comes_with_little_go_is_read_and_used():
    game = games.make("littlego")
    book = find_book(game, None)
    assert len(book) > 5 and list(positions_to_know(book, 2)) == []
    assert make_player("random+book", game).act(game.start(), 0.0)[0] == book.reply(game.start())


GOOD = {"game": "tictactoe", "player": "x", "positions": {"": "b2", "b2": "a3"}}


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "in JSON"),
        (b"\xff\xfe", "in JSON"),
        (b"[" * 100_000, "in JSON"),
        (b"[1, 2]", "game, player and positions"),
        ({**GOOD, "more": 1}, "game, player and positions"),
        ({**GOOD, "game": 7}, "game, player and positions"),
        ({**GOOD, "game": "connect4"}, "a book of tictactoe, got one of connect4"),
        ({**GOOD, "game": "/tmp/evil.py:Game"}, "named with --game"),
        ({**GOOD, "positions": [["", "b2"]]}, "positions: expected"),
        ({**GOOD, "positions": {"": 4}}, "position 1: expected"),
        ({**GOOD, "positions": {"": "z9"}}, "position 1: expected a move"),
        ({**GOOD, "positions": {"": "b2", "b2": "b2"}}, "position 2: illegal move b2"),
        ({**GOOD, "positions": {"b2 b2": "a3"}}, "position 1: illegal move b2"),
        ({**GOOD, "positions": {"a3 a2 b3 b2 c3": "a1"}}, "position 1: illegal move"),
        ({**GOOD, "positions": {"b2 " * 5000: "a3"}}, "position 1: expected"),
        ({**GOOD, "player": "x" * 2_000_000}, "at most 1,000,000 bytes"),
    ],
)
def test_a_book_from_anybody_is_checked_by_the_rules(data, words, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    with pytest.raises(UserError) as error:
        load_book(path, games.make("tictactoe"))
    assert words in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name, words", [("greedy+book", "no opening book for tictactoe"), ("greedy+book:/no/file.json", "there is none")]
)
def test_a_book_that_is_not_there_is_told(name, words):
    with pytest.raises(UserError, match=words):
        make_player(name, games.make("tictactoe"))


@pytest.mark.parametrize(
    "argv, words",
    [
        (["-o", "x.txt"], "ends in .json"),
        (["-o", "/no/such/folder/x.json"], "folder that is there"),
        (["-o", "x.json", "--plies", "0"], "plies: expected"),
        (["-o", "x.json", "--player", "human"], "no human"),
        (["-o", "x.json", "--player", "rolout:5"], "did you mean"),
        ([], "expected output"),
    ],
)
def test_wrong_arguments_of_the_command_are_told_in_one_line(argv, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = output_of(capsys, "book", "--game", "tictactoe", *argv)
    assert (code, out) == (2, "") and words in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_people_with_a_book_are_people(capsys, tmp_path):
    path = tmp_path / "c.json"
    for argv in (("evaluate", "human+book", "--game", "littlego"),
                 ("book", "--output", str(path), "--player", "human+book", "--game", "littlego")):  # fmt: skip
        code, out, err = output_of(capsys, *argv)
        assert (code, out) == (2, "") and err.startswith("error: expected a player")
    assert not path.exists()


def test_a_network_with_a_book_is_not_measured_at_several_numbers_of_simulations(capsys):
    code, _, err = output_of(capsys, "evaluate", "shipped+book", "--game", "littlego")
    assert code == 2 and "expected a network without a book" in err


def test_a_name_of_a_game_that_is_far_too_long_costs_no_time(tmp_path):
    values = {"game": "a.py" + " " * 900_000 + "x", "player": "", "positions": {}}
    (tmp_path / "a.json").write_text(json.dumps(values))
    with pytest.raises(UserError, match="expected the name of a game, got one of 900,005 characters"):
        load_book(tmp_path / "a.json", games.make("tictactoe"))


def test_a_book_does_not_grow_beyond_what_is_read(tmp_path, monkeypatch):
    game, path = games.make("tictactoe"), tmp_path / "x.json"
    monkeypatch.setattr("players.book.LIMIT", 300)
    with pytest.raises(UserError, match="expected at most 300 bytes; take fewer --plies"):
        extend(Book(game, "x"), Cornered(game), 9, path)
    assert len(load_book(path, game)) > 3, "what was written before can be read"
