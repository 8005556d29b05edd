"""Programs of the Gomocup protocol as players: a good one plays by the rules, a bad one loses its own game."""

import gc
import logging
import sys
import time
from pathlib import Path

import pytest

import games
from config import UserError
from evaluation.match import play_batch
from funcs import playMatches
from players.by_name import make_player, one_at_a_time
from players.simple import RandomPlayer
from plugins.engines.programs import gomocup
from plugins.engines.programs.child_program import ChildProgram, EngineFailed
from plugins.engines.programs.gomocup import GomocupPlayer

BRAIN = Path(__file__).with_name("fake_brain.py")
MAIN = Path(__file__).parents[3] / "main.py"
LOG = logging.Logger("test")
SMALL = "gomoku(size=5)"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(gomocup, "QUIET", 0.01)


def fake(game, mode, note="", options="turn=60s:"):
    return GomocupPlayer(game, f"{options}{sys.executable} {BRAIN} {mode} {note}", seconds=600.0)


@pytest.mark.parametrize("mode", ["good", "chats", "suggests"])
def test_a_good_program_plays_whole_games(mode, caplog):
    game = games.make(SMALL)
    result = playMatches(game, fake(game, mode), RandomPlayer(game), 4, LOG, 0, opening_plies=2)
    assert "loses" not in caplog.text and sum(result.scores.values()) == 4


@pytest.mark.parametrize(
    "mode, told",
    [
        ("hangs", "no answer within"),
        ("floods", "at most 65,536 bytes"),
        ("dies", "ended without an answer"),
        ("garbage", "illegal move '[31mwhat?'"),
        ("talks", "answered too much"),
        ("refuses", "no answer within 5 s, after 'ERROR cannot think'"),
        ("unknown", "no answer within 5 s, after 'UNKNOWN'"),
        ("same_point", "illegal move '0,0'"),
        ("outside", "illegal move '99,0'"),
    ],
)
def test_a_bad_program_loses_every_game_by_rule_and_it_is_told_why(mode, told, caplog, monkeypatch):
    game = games.make(SMALL)
    silent = mode in ("hangs", "refuses", "unknown")
    monkeypatch.setattr(gomocup, "GRACE", 0.0 if silent else 600.0)
    seconds = {"hangs": 0.5, "refuses": 5, "unknown": 5}.get(mode, 60)  # whose words are heard, has time to say them
    engine = fake(game, mode, options=f"turn={seconds}s:")
    with caplog.at_level(logging.WARNING):
        result = playMatches(game, engine, RandomPlayer(game), 2, LOG, 0)
    assert result.scores["random"] == 2 and result.scores[engine.name] == 0
    assert result.forfeits == {engine.name: 2, "random": 0}
    assert caplog.text.count("loses its game by rule") == 2 and told in caplog.text and "\x1b" not in caplog.text


@pytest.mark.parametrize("mode", ["knows_no_info", "answers_late"])
def test_a_program_that_refuses_info_is_noted_once_and_loses_nothing_by_it(mode, caplog):
    game = games.make(SMALL)
    engine, other = fake(game, mode), RandomPlayer(game)
    with caplog.at_level(logging.WARNING):
        played = play_batch(game, (engine, other), [(0, [], True), (1, [], False)], seed=1)
    assert all(not g.forfeit and len(g.moves) > 8 for g in played) and "loses" not in caplog.text
    assert caplog.text.count("refuses an INFO") == 1


def test_info_waits_until_a_program_is_quiet(monkeypatch):
    """It may still be ending the search for its last move: here it talks four times after it."""
    player, did = fake(games.make(SMALL), "good"), []
    brain, parts = player._games[0].engine, iter([b"MESSAGE x\n"] * 3 + [b"UNKNOWN\n", None])
    brain._heard = time.monotonic()

    def read(seconds):
        did.append(("wait", seconds > 0))
        return next(parts)

    monkeypatch.setattr(gomocup, "QUIET", 60.0)
    monkeypatch.setattr(gomocup, "LOUDEST", 600.0)
    monkeypatch.setattr(brain._answers, "read", read)
    monkeypatch.setattr(brain, "send", lambda *lines, **options: did.append(lines))
    brain.inform(["time_left 1"])
    assert did == [("wait", True)] * 5 + [("INFO time_left 1\r",)]


def test_a_program_that_is_never_quiet_is_told_all_the_same(monkeypatch):
    player, did = fake(games.make(SMALL), "good"), []
    brain = player._games[0].engine
    monkeypatch.setattr(brain._answers, "read", lambda seconds: b"MESSAGE x\n")
    monkeypatch.setattr(brain, "send", lambda *lines, **options: did.append(lines))
    brain.inform(["time_left 1"])
    assert did == [("INFO time_left 1\r",)] and len(brain._late) == 0


def test_a_program_that_has_ended_is_said_to_have_ended_whatever_is_sent_to_it():
    program = ChildProgram([sys.executable, "-c", ""], seconds=60, start=60, goodbye=b"", logger=LOG)
    program._process.wait(60)
    with pytest.raises(EngineFailed, match="ended without an answer"):
        program.send("START 9")
    program.kill()


def test_the_program_is_told_size_rule_time_and_all_moves(tmp_path):
    game, note = games.make("gomoku(rule=renju,size=15)"), tmp_path / "note"
    player, other = fake(game, "good", note, "turn=2.5s:"), RandomPlayer(game)
    [played] = play_batch(game, (player, other), [(0, [112, 0, 14], False)], seed=1)
    player.new_game(0, 0)
    player.act(game.start(), 0.0)
    del player
    gc.collect()
    lines = [line.strip() for line in note.read_text().splitlines()]
    assert lines[:6] == ["START 15", "INFO timeout_turn 2500", "INFO timeout_match 0", "INFO max_memory 0",
                         "INFO game_type 1", "INFO rule 4"]  # fmt: skip
    board = lines.index("BOARD")
    assert lines[board : board + 4] == ["BOARD", "7,7,2", "0,0,1", "14,0,2"]
    turns = [line for line in lines if line.startswith("TURN")]
    x, y = played.moves[4] % 15, played.moves[4] // 15
    assert turns[0] == f"TURN {x},{y}" and lines[-2] == "BEGIN" and lines[-1] == "END"


@pytest.mark.parametrize(
    "command, words",
    [
        ("", "such as gomocup:PROGRAM"),
        ("no-such-program-here", "there is no 'no-such-program-here'"),
        (f"{sys.executable} {BRAIN} absent", "START 5"),
        (f"{sys.executable} {BRAIN} small", "refused: 'ERROR size'"),
        ("turn=0s:x", "such as gomocup:turn=300s:COMMAND"),
        ("turn=1s:turn=2s:x", "such as gomocup:turn=300s:COMMAND"),
    ],
)
def test_a_program_that_cannot_be_used_is_refused_in_one_line(command, words):
    with pytest.raises(UserError) as error:
        make_player(f"gomocup:{command}", games.make(SMALL))
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["go", "gomoku(n=4)", "tictactoe"])
def test_other_games_have_no_such_programs(spec):
    with pytest.raises(UserError, match="five in a row"):
        make_player("gomocup:python", games.make(spec))


def test_its_games_are_played_one_after_the_other():
    assert one_at_a_time("gomocup:x") and one_at_a_time("GTP:x") and not one_at_a_time("best")


def test_our_own_engine_is_such_a_program(caplog):
    game = games.make(SMALL)
    player = GomocupPlayer(game, f"start=600s:turn=600s:{sys.executable} {MAIN} gomocup rollout:20", seconds=600.0)
    result = playMatches(game, player, RandomPlayer(game), 2, LOG, 0, opening_plies=1)
    assert "loses" not in caplog.text and sum(result.scores.values()) == 2
