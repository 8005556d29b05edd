"""Programs that speak GTP: a real one plays by the rules, a bad one loses its own game and harms nothing else."""

import gc
import itertools
import logging
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import games
from agent import Resigned
from config import UserError
from evaluation.match import play_batch
from funcs import playMatches
from interface.notebook.board import Board
from players.by_name import make_player
from players.simple import RandomPlayer
from plugins.engines import vertices
from plugins.engines.programs import child_program, gtp
from plugins.engines.programs.gtp import GTPPlayer, find_program
from support.systems import needs_posix

ENGINE = Path(__file__).with_name("fake_gtp_engine.py")
LOG = logging.Logger("test")
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system has no /proc")


def fake(game, mode, note="", seconds=600.0):
    return GTPPlayer(game, f"{sys.executable} {ENGINE} {mode} {note}", seconds=seconds)


def gone(pid):
    """Wait until a process is no more; a zombie counts as gone."""
    for _ in range(6000):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    "mode, told",
    [
        ("hangs", "no answer within"),
        ("floods", "at most 65,536 bytes"),
        ("dies", "ended without an answer"),
        ("garbage", "expected an answer"),
        ("wrong_number", "expected an answer with the number"),
        ("talks", "answered too much"),
        ("refuses", "refused: 'cannot think'"),
        ("same_point", "illegal move 'A1'"),
        ("outside", "illegal move 'Z25'"),
        ("nonsense", "illegal move"),
    ],
)
def test_a_bad_engine_loses_every_game_by_rule_and_it_is_told_why(mode, told, caplog, monkeypatch):
    game, ask = games.make("go(size=4)"), gtp.Engine.ask

    def impatient(engine, command, seconds=None, **options):  # with its moves: it has time to start
        engine._seconds = 0.5 if command.startswith("genmove") and mode == "hangs" else 600.0
        return ask(engine, command, seconds, **options)

    monkeypatch.setattr(gtp.Engine, "ask", impatient)
    engine, other = fake(game, mode), RandomPlayer(game)
    with caplog.at_level(logging.WARNING):
        result = playMatches(game, engine, other, 2, LOG, 0)
    assert result.scores == {engine.name: 0, "drawn": 0, "random": 2}
    assert caplog.text.count("loses its game by rule") == 2 and told in caplog.text
    assert "\x1b" not in caplog.text


@needs_proc
@pytest.mark.timeout(300)
def test_an_engine_that_does_not_read_what_it_is_sent_loses_within_its_time(caplog):
    """Its input is full, so that a write waits for ever."""
    game = games.make("go(size=4)")
    player = fake(game, "deaf")
    player.new_game(0, 0)
    pid, state = player._games[0].engine._process.pid, game.start()
    action = player.act(state, 0.0)[0]
    for move in (action, 0):
        player.observe(0, move)
        state = state.takeAction(move)[0]
    player._games[0].engine._seconds = 0.5
    with pytest.raises(Resigned):
        player.act(state, 0.0)
    assert player.forfeit(0) == "play white A4: does not read what it is sent, within 0.5 s" and gone(pid)
    assert "loses its game by rule: play white A4: does not read" in caplog.text


@needs_proc
@pytest.mark.timeout(300)
def test_an_engine_that_does_not_read_its_farewell_is_killed():
    player = fake(games.make("go(size=4)"), "deaf")
    player.new_game(0, 0)
    player.act(player.game.start(), 0.0)
    pid = player._games[0].engine._process.pid
    del player
    gc.collect()
    assert gone(pid)


def test_an_engine_that_gives_up_has_lost_without_a_warning(caplog):
    game = games.make("go(size=4)")
    result = playMatches(game, fake(game, "resigns"), RandomPlayer(game), 2, LOG, 0)
    assert result.scores["random"] == 2 and "loses" not in caplog.text
    assert set(result.forfeits.values()) == {0}


def test_an_engine_that_gives_up_on_a_notebook_board_has_lost():
    board = Board(fake(games.make("go(size=4)"), "resigns"))
    board.move("b2")
    assert board.over and not board.human_to_move and board.turn == "You win." and "resigns" in board.said
    assert board.move("c3").note == "the game is over" and len(board.moves) == 1
    assert board.hint().note == "the game is over" and "Legal" not in repr(board)
    board.undo()
    assert not board.over and board.moves == [] and board.human_to_move


def test_a_lost_engine_does_not_end_the_games_beside_it():
    game = games.make("go(size=3)")
    engine, other = fake(game, "passes"), RandomPlayer(game)
    bad = fake(game, "dies")
    good = play_batch(game, (engine, other), [(0, [4], False), (1, [0, 1], True)], seed=1)
    lost = play_batch(game, (bad, other), [(0, [4], False), (1, [], False)], seed=1)
    assert all(not g.record.result == 0 and len(g.moves) > 2 for g in good)
    assert [g.score for g in lost] == [0.0, 0.0] and [len(g.moves) for g in lost] == [1, 1]
    assert ["ended without an answer" in g.forfeit for g in (*good, *lost)] == [False, False, True, True]


def test_the_engine_is_told_size_komi_and_all_moves_in_its_own_coordinates(tmp_path):
    game, note = games.make("go(size=9,komi=6.5)"), tmp_path / "note"
    player = fake(game, "passes", note)
    player.new_game(0, 0)
    state = game.start()
    for name in ("j9", "a1", "pass", "d4"):
        action = game.parse_move(name)
        player.observe(0, action)
        state = state.takeAction(action)[0]
    action = player.act(state, 0.0)[0]
    assert game.move_name(action) == "pass"
    del player
    gc.collect()
    lines = [line.split(" ", 1)[-1].strip() for line in note.read_text().splitlines()]
    setup = ["boardsize 9", "komi 6.5", "clear_board", "clear_board"]
    played = ["play black J9", "play white A1", "play black pass", "play white D4"]
    assert [line.lower() for line in lines] == [line.lower() for line in [*setup, *played, "genmove black", "quit"]]


def test_points_of_gomoku_skip_the_letter_i():
    game = games.make("gomoku(size=15)")
    player = fake(game, "passes")
    assert player.vertex(game.parse_move("i15")) == "J15" and player.action("j15") == game.parse_move("i15")
    for action in range(game.action_size):
        assert player.action(player.vertex(action).lower()) == action
    assert [player.action(text) for text in ("I1", "P16", "A0", "pass", "", "A1 ", "A99")] == [None] * 7


@needs_posix
@pytest.mark.parametrize("mode", ["stubborn", "breeds", pytest.param("leaves", marks=needs_proc)])
def test_nothing_of_an_engine_is_left_behind(mode, tmp_path):
    game, note = games.make("go(size=3)"), tmp_path / "note"
    player = fake(game, mode, note)
    pids = [player._games[0].engine._process.pid]
    if mode != "stubborn":
        playMatches(game, player, RandomPlayer(game), 1, LOG, 0, goes_first=1)
        pids += [int(line.split()[1]) for line in note.read_text().splitlines() if line.startswith("child")]
        assert len(pids) == 2
    del player
    gc.collect()
    assert all(map(gone, pids))


@pytest.mark.parametrize(
    "command, words",
    [
        ("", "such as gtp:gnugo"),
        ("no-such-program-here --x", "there is no 'no-such-program-here'"),
        ('"unclosed', "No closing quotation"),
        (f"{sys.executable} {ENGINE} absent", "boardsize 3"),
        ("/etc/passwd", "there is no"),
    ],
)
def test_a_program_that_cannot_be_used_is_refused_in_one_line(command, words):
    with pytest.raises(UserError) as error:
        GTPPlayer(games.make("go(size=3)"), command)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_flood_of_empty_lines_does_not_stop_the_clock(monkeypatch):
    """With a clock of the test's own and a pipe that is never empty."""
    player, now, reads = fake(games.make("go(size=3)"), "passes", seconds=60.0), [0.0], []

    def flood(seconds):
        reads.append(seconds)
        assert len(reads) < 100
        return b"\n" * 4096

    def clock():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(player._games[0].engine._answers, "read", flood)
    monkeypatch.setattr(child_program, "time", SimpleNamespace(monotonic=clock))
    with pytest.raises(gtp.EngineFailed, match="no answer within 60 s"):
        player._games[0].engine.ask("genmove black")


def test_a_slow_start_has_a_limit_of_its_own_and_is_shown(monkeypatch, caplog):
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(child_program.PipeReader, "read", lambda self, seconds: None)
    monkeypatch.setattr(child_program, "time", SimpleNamespace(monotonic=clock))
    with caplog.at_level(logging.WARNING), pytest.raises(UserError, match="3: no answer within 60 s; gtp:start=300s"):
        GTPPlayer(games.make("go(size=3)"), f"{sys.executable} {ENGINE} mute")
    caplog.clear()
    began = now[0]
    with caplog.at_level(logging.WARNING), pytest.raises(UserError, match="boardsize 3: no answer within 300 s"):
        GTPPlayer(games.make("go(size=3)"), f"start=300s:{sys.executable} {ENGINE} mute")
    assert 300 <= now[0] - began < 310
    shown = [float(record.message.split()[-2]) for record in caplog.records]
    assert len(shown) > 20 and shown == sorted(shown) and 10 <= shown[0] < 15
    assert caplog.records[0].message.startswith(f"waiting for {Path(sys.executable).name} to start, 1")


def test_the_limit_for_the_start_is_not_that_of_a_move(monkeypatch):
    player = fake(games.make("go(size=3)"), "passes")
    limited = GTPPlayer(games.make("go(size=3)"), f"start=300s:{sys.executable} {ENGINE} passes", seconds=7.0)
    assert limited.name.startswith("gtp:start=300s:") and player.name.startswith(f"gtp:{sys.executable[:20]}")
    engine = limited._games[0].engine
    monkeypatch.setattr(child_program.PipeReader, "read", lambda self, seconds: None)
    monkeypatch.setattr(child_program, "time", SimpleNamespace(monotonic=itertools.count(0.0, 1.0).__next__))
    with pytest.raises(gtp.EngineFailed, match="genmove black: no answer within 7 s$"):
        engine.ask("genmove black")
    for wrong in ("start=0s:gnugo", "start=300:gnugo", "start=:gnugo", "start=1e9s:gnugo"):
        with pytest.raises(UserError, match="such as gtp:start=300s:COMMAND"):
            make_player(f"gtp:{wrong}", games.make("go(size=3)"))


def test_no_shell_reads_the_command_line(tmp_path):
    target = tmp_path / "made"
    assert find_program(f"{sys.executable} '; touch {target}' $HOME")[1:] == [f"; touch {target}", "$HOME"]
    with pytest.raises(UserError):
        GTPPlayer(games.make("go(size=3)"), f"{sys.executable} -c 0 ; touch {target}")
    assert not target.exists()
    assert find_program(f'"{sys.executable} --x"') == find_program(f"{sys.executable} --x")
    assert find_program(f'"{sys.executable}" "a b"')[1:] == ["a b"], "quotes of words are not those of the whole"


@pytest.mark.parametrize("spec", ["connect4", "tictactoe"])
def test_other_games_have_no_engines(spec):
    with pytest.raises(UserError, match="Go, gomoku, Hex or Othello"):
        make_player("gtp:gnugo", games.make(spec))


def test_a_program_for_hex_is_told_the_names_of_hex():
    player = fake(games.make("hex(size=9,swap=yes)"), "passes")
    assert [player.vertex(action) for action in (0, 8, 80, 81)] == ["a1", "i1", "i9", "swap-pieces"]
    assert [player.action(text) for text in ("a1", "I9", "swap-pieces", "swap", "j1", "pass", "a10")] == [
        0, 80, 81, 81, None, None, None]  # fmt: skip


def test_programs_for_othello_count_rows_from_above_and_our_own_server_reads_the_same_names():
    game = games.make("othello")
    player, state = fake(game, "passes"), game.start()
    assert [player.vertex(game.parse_move(name)) for name in ("a1", "f5", "h8", "pass")] == ["A1", "F5", "H8", "pass"]
    for action in range(game.action_size):
        name = player.vertex(action)
        assert player.action(name.lower()) == action == vertices.action(game, state, name)
        assert vertices.vertex(game, state, action) == name


def until_a_pass(game, seed):
    """Return random moves up to a position in which one has to pass; None where the game ends before."""
    state, moves, rng = game.start(), [], np.random.default_rng(seed)
    while not state.isEndGame:
        if state.allowedActions == [game.action_size - 1]:
            return moves
        moves.append(int(rng.choice(state.allowedActions)))
        state = state.takeAction(moves[-1])[0]
    return None


def test_a_forced_pass_is_told_but_not_asked_for_and_a_program_may_play_it_by_itself(tmp_path):
    game, note = games.make("othello(size=4)"), tmp_path / "note"
    player, state, passed = fake(game, "passes_by_itself", note), game.start(), game.action_size - 1
    player.new_game(0, 0)
    line = next(moves for seed in range(100) if (moves := until_a_pass(game, seed)))
    for action in line:
        player.observe(0, action)
        state = state.takeAction(action)[0]
    assert player.act(state, 0.0)[0] == passed
    player.observe(0, passed)
    state = state.takeAction(passed)[0]
    with pytest.raises(Resigned):
        player.act(state, 0.0)
    assert player.forfeit(0) == ""
    said = [line.split()[1] for line in note.read_text().splitlines()]
    assert said.count("genmove") == 1 and "pass" in note.read_text()
