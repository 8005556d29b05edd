"""The match command: different games, what they prove, when it stops, games saved and shown again."""

import json
import re

import numpy as np
import pytest

import funcs
import games
from agent import Player, Resigned
from config import Config, UserError
from evaluation import match, rating
from evaluation.match import contest
from evaluation.promotion import judge_sprt, sprt, tournament
from interface.commands import match as match_command
from players.by_name import make_player
from players.simple import RandomPlayer
from storage import game_files
from storage.game_files import load_game
from support.command_line import output_of
from support.match_players import Drawn, Luck, Spy
from support.search_cases import GAMES
from system.shell import join

GAME = GAMES["tictactoe"]


def played(capsys, *argv):
    """Return (exit code, result) of a match."""
    code, out, err = output_of(capsys, "match", *argv, "--json")
    assert err == "" and out.count("\n") == 1
    return code, json.loads(out)


def test_the_command_that_shows_a_game_can_be_copied_whatever_the_file_is_called(capsys):
    match_command._tell({"words": [], "games": 2}, match_command.Match("random", "random", save="my games.jsonl"), 2)
    assert f"replay {join(['my games.jsonl'])} --game-number 1`" in capsys.readouterr().out
    match_command._tell({"words": [], "games": 2}, match_command.Match("random", "random", save="-x.jsonl"), 2)
    assert "replay ./-x.jsonl --game-number 1`" in capsys.readouterr().out


# ---- which games are played


@pytest.mark.parametrize("names", [("alike", "alike"), ("rollout:40", "rollout:80")])
def test_two_hundred_games_of_connect4_are_of_two_hundred_kinds(names):
    game, found = GAMES["connect4"], []

    class First(RandomPlayer):
        """Knows no chance: plays the first legal move."""

        def act(self, state, tau):
            action = state.allowedActions[0]
            return action, np.eye(game.action_size)[action], 0.0, 0.0

        act_many = Player.act_many

    players = (First(game), First(game)) if names[0] == "alike" else tuple(make_player(n, game) for n in names)
    contest(game, players, 200, seed=1, opening_plies=2, keep=found.extend)
    assert [g.index for g in found] == list(range(200))
    assert len({(g.first_began, *g.moves) for g in found}) == 200
    assert len({tuple(g.moves) for g in found}) >= (100 if names[0] == "alike" else 151), "alike: colours make no odds"
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert one.opening == other.opening and (one.first_began, other.first_began) == (True, False)


def test_a_match_depends_on_its_seed_and_not_on_how_many_games_run_side_by_side():
    found = []
    for seed, side_by_side, every in ((1, 64, 64), (1, 3, 16), (1, 1, 2), (2, 64, 64)):
        lines = []
        players = make_player("rollout:20", GAME), RandomPlayer(GAME)
        players[1].at_once = side_by_side
        contest(GAME, players, 20, seed=seed, opening_plies=1, keep=lines.extend, every=every)
        found.append([(g.index, g.moves) for g in lines])
    assert found[0] == found[1] == found[2] != found[3]


def test_a_game_with_few_openings_is_played_as_often_as_it_differs():
    game, found = games.make("connect4(rows=2,columns=2,n=2)"), []
    scores = contest(game, (Spy("A", game), Spy("B", game)), 100, seed=0, opening_plies=2, keep=found.extend)
    assert len(scores) == len(found) == 4, "two positions that are no mirror images, two colours"


@pytest.mark.parametrize("person, shown", [(False, [1, 2, 3, 4]), (True, [])])
def test_games_one_after_the_other_are_counted_too_but_not_at_a_persons_prompt(person, shown):
    players, done = (RandomPlayer(GAME), RandomPlayer(GAME)), []
    players[1].at_once, players[1].is_person = 1, person
    contest(GAME, players, 4, seed=0, opening_plies=2, every=2, report=done.append)
    assert done == shown


# ---- what is decided


NOBODY = Spy("A", GAME), Spy("B", GAME)


@pytest.fixture
def gates(monkeypatch):
    """Return f(count, mean, draws) -> share of tournaments by chance that promote, all by `tournament` itself."""
    monkeypatch.setattr(match, "openings", lambda game, count, **options: [[]] * count)

    def run(count, mean, draws):
        monkeypatch.setattr(match, "play_batch", Luck(7, mean, draws))
        return np.mean([tournament(GAME, *NOBODY, Config(), seed=0).promoted for _ in range(count)])

    return run


@pytest.mark.parametrize("draws", [0.0, 0.5])
def test_of_a_thousand_gates_between_equal_players_fewer_than_five_in_a_hundred_promote(gates, draws):
    assert gates(1000, 0.5, draws) < 0.05


@pytest.mark.parametrize("draws", [0.0, 0.5])
def test_of_a_thousand_gates_between_sixty_and_forty_over_ninety_in_a_hundred_promote(gates, draws):
    assert gates(1000, 0.6, draws) > 0.9


@pytest.mark.parametrize("won, promoted", [(213, True), (208, False)])
def test_who_is_better_by_less_than_was_asked_for_is_promoted_when_all_games_say_so(won, promoted):
    """The sequential test is undecided in both: 53.25 and 52 % of 400 games, half of all games drawn."""
    pairs = [[1.0, 0.5]] * (won - 200) + [[0.0, 1.0], [0.5, 0.5]] * 40 + [[1.0, 0.5], [0.0, 0.5]] * 30
    pairs += [[0.5, 0.5]] * (200 - len(pairs) - (won - 200)) + [[1.0, 0.5]] * (won - 200)
    scores = [score for pair in pairs for score in pair]
    assert len(scores) == 400 and sum(scores) == won and sprt(scores, 0.5, 0.55).accepted is None
    assert judge_sprt(scores, 0.55, False) is None
    verdict = judge_sprt(scores, 0.55, True)
    assert verdict.promoted is promoted and ("promoted after all games" in verdict.words) is promoted


def test_a_match_and_the_gate_of_a_tournament_stop_at_the_same_game(monkeypatch):
    monkeypatch.setattr(match, "openings", lambda game, count, **options: [[]] * count)
    for seed in range(20):
        monkeypatch.setattr(match, "play_batch", Luck(seed, 0.6, 0.2))
        verdict = tournament(GAME, *NOBODY, Config(), seed=0)
        monkeypatch.setattr(match, "play_batch", Luck(seed, 0.6, 0.2))
        scores = contest(
            GAME, NOBODY, 400, seed=0, opening_plies=0, every=32,
            over=lambda scores: sprt(scores, 0.5, 0.55).accepted is not None,
        )  # fmt: skip
        assert rating.rate(scores) == verdict.score
        assert judge_sprt(scores, 0.55, True) == verdict


def test_games_are_played_side_by_side_beyond_the_one_that_decides(monkeypatch):
    monkeypatch.setattr(match, "openings", lambda game, count, **options: [[]] * count)
    monkeypatch.setattr(match, "play_batch", Luck(0, 0.6, 0.2))
    kept, looks = [], []

    def over(scores):
        looks.append(len(scores))
        return len(scores) == 96

    scores = contest(GAME, NOBODY, 400, seed=0, opening_plies=0, every=32, batch=64, over=over, keep=kept.extend)
    assert looks == [32, 64, 96] and len(scores) == 96 and len(kept) == 128
    known = {game.index: game.score for game in kept}
    looks.clear()
    again = contest(GAME, NOBODY, 400, seed=0, opening_plies=0, every=32, batch=64, over=over, known=known)
    assert again == scores, "a tournament that goes on counts no other games"
    looks.clear()
    contest(GAME, NOBODY, 70, seed=0, opening_plies=0, every=32, batch=64, over=lambda s: bool(looks.append(len(s))))
    assert looks == [32, 64, 70]


def test_a_match_of_draws_only_is_never_a_win(capsys, monkeypatch):
    game = Drawn()
    monkeypatch.setattr(games, "make", lambda spec: game)
    code, found = played(capsys, "random", "random", "--games", "60", "--sprt")
    assert code == 0 and found["sprt"]["accepted"] in (0.5, None) and found["elo"] == 0
    assert found["elo_low"] < 0 < found["elo_high"] and found["draws"] == found["games"]


# ---- the command


def test_a_sequential_match_stops_early_and_says_what_it_accepts(capsys):
    argv = ["rollout:100", "random", "--game", "tictactoe", "--games", "400", "--sprt", "--sprt-elo", "0", "100"]
    code, found = played(capsys, *argv)
    assert code == 0 and found["games"] < 400 and found["score"] > 0.64
    assert found["sprt"]["accepted"] == pytest.approx(0.64, abs=0.001) and found["sprt"]["evidence"] > 2.9
    words = output_of(capsys, "match", *argv)[1]
    assert "sequential test: accepts a score of 0.640 against one of 0.500" in words


def test_the_result_by_colour_adds_up(capsys):
    _, found = played(capsys, "rollout:30", "random", "--game", "connect4", "--games", "40", "--opening-plies", "4")
    first, second = found["as_first"], found["as_second"]
    assert sum(first.values()) == sum(second.values()) == 20
    for name in ("wins", "draws", "losses"):
        assert first[name] + second[name] == found[name]
    assert found["first_wins"] == first["wins"] + second["losses"] and not found["stopped"]
    assert found["second_wins"] == first["losses"] + second["wins"] and found["different_games"] > 35


def test_games_are_saved_as_they_end_and_shown_again(capsys, tmp_path):
    file = tmp_path / "games.jsonl"
    argv = ["rollout:20", "random", "--game", "connect4(rows=4,columns=5)", "--games", "6", "--save", str(file)]
    code, found = played(capsys, *argv)
    records = [load_game(file, i) for i in range(1, 7)]
    assert code == 0 and len(file.read_text().splitlines()) == 6
    assert [r.players for r in records] == [("rollout:20", "random"), ("random", "rollout:20")] * 3
    scores = [(r.result if i % 2 == 0 else -r.result) / 2 + 0.5 for i, r in enumerate(records)]
    assert np.mean(scores) == pytest.approx(found["score"])
    code, out, _ = output_of(capsys, "replay", str(file), "--game-number", "5", "--save", str(tmp_path / "one.txt"))
    moves = [records[4].game.move_name(a) for a in records[4].moves]
    assert code == 0 and all(f"\n{i}. {'XO'[(i - 1) % 2]} {move}\n" in out for i, move in enumerate(moves, 1))
    state = records[4].game.start()
    for action in records[4].moves:
        state = state.takeAction(action)[0]
        assert state.render() in out
    assert re.search(r"\n(.* won|a draw|.*a draw)\nsaved in \S+one.txt\n\Z", out)
    code, shown, _ = output_of(capsys, "replay", str(tmp_path / "one.txt"), "--game", "connect4(rows=4,columns=5)")
    assert code == 0 and shown.split("\n", 1)[1].split("\n\n")[:3] == out.split("\n", 1)[1].split("\n\n")[:3]


def test_games_saved_are_not_written_over_unless_told_to(capsys, tmp_path):
    file = tmp_path / "games.jsonl"
    argv = ["match", "random", "random", "--game", "tictactoe", "--games", "2", "--save", str(file)]
    assert output_of(capsys, *argv)[0] == 0
    before = file.read_bytes()
    code, _, err = output_of(capsys, *argv)
    assert code == 2 and "--overwrite" in err and file.read_bytes() == before
    assert output_of(capsys, *argv, "--overwrite")[0] == 0 and file.read_text().count("\n") == 2


@pytest.mark.parametrize("writes", [0, 1])
def test_a_disk_that_is_full_costs_no_game_that_was_saved(capsys, tmp_path, monkeypatch, writes):
    """It is full at the first games, or at the second ones: 64 of 100 are on the disk then."""
    file, argv = tmp_path / "games.jsonl", ["match", "random", "random", "--game", "connect4", "--save"]
    assert output_of(capsys, *argv, str(file), "--games", "2")[0] == 0
    before, first = file.read_bytes(), game_files.write_file

    def full(*_):
        raise OSError(28, "No space left on device")

    def write(path, data):
        (first if writes and b"moves" in data else full)(path, data)
        monkeypatch.setattr(game_files.os, "open", full)

    monkeypatch.setattr(game_files, "write_file", write)
    code, out, err = output_of(capsys, *argv, str(file), "--games", "100", "--overwrite")
    assert code == 5 and err.endswith("games.jsonl: cannot be written (No space left on device)\n"), err
    assert f"the first 64 games are in {file}" in out if writes else "games are in" not in out
    assert len(file.read_text().splitlines()) == 64 if writes else file.read_bytes() == before


def test_ctrl_c_reports_what_was_played_and_keeps_it(capsys, tmp_path, monkeypatch):
    file, play, calls = tmp_path / "games.jsonl", funcs.play_batch, []

    def stopping(*args, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return play(*args, **options)

    monkeypatch.setattr(match, "play_batch", stopping)
    argv = ["random", "random", "--game", "connect4", "--games", "400", "--save", str(file)]
    code, found = played(capsys, *argv)
    assert code == 130 and found["games"] == 128 == len(file.read_text().splitlines()) and found["stopped"]
    calls[:] = [1, 1]
    code, out, err = output_of(capsys, "match", *argv, "--overwrite")
    assert (code, out) == (130, "") and "nothing to report" in err


REFUSED = [
    (["match", "random", "random", "--games", "3"], "games: expected an even number"),
    (["match", "random", "random", "--sprt-elo", "0", "9"], "expected --sprt together with"),
    (["match", "random", "random", "--sprt", "--sprt-elo", "9", "0"], "sprt_elo: expected two rising numbers"),
    (["match", "random", "random", "--sprt", "--sprt-score", "0.5", "nan"], "sprt_score: expected two rising"),
    (["match", "random", "random", "--sprt", "--sprt-score", "0", "1"], "sprt_score: expected two rising"),
    (["match", "random", "random", "--sprt", "--sprt-score", "0.5", "0.6", "--sprt-elo", "0", "9"], "got both"),
    (["match", "random", "random", "--save", "games.json"], "ends in .jsonl or .sgf, got 'games.json'"),
    (["match", "random", "random", "--save", "/no/such/folder/games.jsonl"], "cannot be written"),
    (["replay", "none.jsonl"], "none.jsonl: expected a file, there is none"),
    (["replay", "none.json"], "expected a file, there is none"),
    (["replay", "x.json", "--game-number", "2"], "expected game 1, the only one"),
]


@pytest.mark.parametrize("argv, words", REFUSED, ids=lambda v: v[-1] if isinstance(v, list) else "")
def test_what_cannot_be_is_refused_in_one_line(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = output_of(capsys, *argv)
    assert code == 2 and out == "" and words in err and err.count("\n") == 1 and list(tmp_path.iterdir()) == []


def test_a_damaged_line_of_a_file_of_games_harms_no_other(tmp_path):
    file = tmp_path / "games.jsonl"
    good = '{"game": "tictactoe", "moves": ["b2"], "result": null}\n'
    file.write_text(good + "[" * 50_000 + "\n" + good + '{"game": "tictactoe", "mo')
    assert load_game(file, 1).moves == load_game(file, 3).moves == [4]
    for number, words in ((2, "expected JSON"), (4, "expected JSON"), (5, "expected a game from 1 to 4")):
        with pytest.raises(UserError, match=words):
            load_game(file, number)
    file.write_text("x" * 3_000_000)
    for number in (1, 2, 3):
        with pytest.raises(UserError, match="games.jsonl: expected"):
            load_game(file, number)


def test_a_player_that_gives_up_in_act_loses_that_game_whatever_is_played_beside_it():
    class GivesUp(Player):
        def act(self, state, tau):
            if len(state.allowedActions) < 7:
                raise Resigned
            return int(state.allowedActions[0]), np.zeros(9), 0.0, 0.0

    game = games.make("tictactoe")
    scores = contest(game, (GivesUp("gives up", game), RandomPlayer(game)), total=8, opening_plies=0, seed=0,
                     over=lambda scores: False)  # fmt: skip
    assert scores and set(scores) == {0.0}
