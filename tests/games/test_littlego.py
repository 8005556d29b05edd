"""Little-Go against a host in plain Python, and the program that plays it from file to file."""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import games
from config import UserError
from game import PLY
from games.chains import KO, colours
from interface import littlego_turn
from interface.cli import run
from interface.doctor.game_contract import check
from interface.littlego_turn import find_ply, greedy, loader, read_clock, read_given, take_turn, time_for
from support.littlego_host import Host

HERE = Path(__file__).parents[2]
GAME = games.make("littlego")


def name(action):
    return "PASS" if action == 25 else f"{action // 5},{action % 5}"


def random_games(count, seed, passing=0.03):
    """Yield (host, state, next action) of each ply of random games, then the end with None."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        host, state = Host(), GAME.start()
        while not state.isEndGame:
            points = state.allowedActions[:-1]
            passes = not points or state.row[PLY] > 0 and rng.random() < passing
            action = 25 if passes else int(rng.choice(points))
            yield host, state, action
            host.play(name(action))
            state = state.takeAction(action)[0]
        yield host, state, None


# ---- the game


def test_random_games_go_as_the_host_judges_them():
    played = {"ko": 0, "passes": 0, "moves": 0}
    for host, state, action in random_games(200, 1, passing=0.1):
        assert host.over == (action is None) == state.isEndGame
        board = np.array(host.board)
        assert (colours(state.row) == np.where(board == 2, -1, board)).all(), f"\n{state}"
        mine, other = state.score
        assert (mine - other) * state.playerTurn == host.lead()
        if action is None:
            assert state.value * state.playerTurn == np.sign(host.lead()) != 0
            played["moves" if host.moves == 24 else "passes"] += 1
        else:
            assert [name(a) for a in state.allowedActions] == host.legal(), f"\n{state}"
            assert state.playerTurn == {1: 1, 2: -1}[host.colour]
            played["ko"] += bool(state.row[KO])
    assert min(played.values()) >= 3, played


def test_a_position_rebuilt_from_two_boards_is_the_position():
    for host, state, action in random_games(60, 2):
        if action is not None:
            boards = [np.where(np.array(b) == 2, -1, b) for b in (host.before, host.board)]
            again = GAME.position(*boards, state.playerTurn, int(state.row[PLY]))
            assert (again.id, again.allowedActions) == (state.id, state.allowedActions), f"\n{state}"
            assert (again.planes() == state.planes()).all() and again.score == state.score


def test_a_pass_ends_the_game_when_both_boards_are_equal_so_also_at_the_start():
    state = GAME.start()
    over, value, done = state.takeAction(25)
    assert (done, value, over.score) == (True, 1.0, (2.5, 0.0)), "White to move has won by komi"
    state = state.takeAction(12)[0].takeAction(25)[0]
    assert not state.isEndGame and state.takeAction(25)[2] and not state.takeAction(0)[2]


def test_the_game_ends_after_24_moves_passes_among_them():
    state = GAME.start()
    for ply in range(24):
        assert (state.isEndGame, int(state.row[PLY])) == (False, ply)
        state = state.takeAction(25 if ply % 4 == 3 else state.allowedActions[0])[0]
    assert state.isEndGame and state.allowedActions == []


def test_planes_tell_how_many_plies_are_left():
    state, shown = GAME.start(), []
    for _ in range(24):
        planes = state.planes()
        assert set(planes[..., 8:].reshape(25, -1).sum(axis=0).tolist()) <= {0, 25}
        shown.append(int(planes[0, 0, 8:].sum()))
        assert planes[0, 0, 6] == (state.playerTurn == 1) and planes[..., 7].all()
        state = state.takeAction(state.allowedActions[0])[0]
    most = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20]
    assert shown == [sum(24 - ply <= m for m in most) for ply in range(24)]


def test_check_finds_no_fault():
    assert check(GAME, games=10) == [] and GAME.spec == "littlego"


def test_a_board_with_a_chain_without_liberties_is_refused():
    board = np.zeros((5, 5), int)
    board[0, 0], board[0, 1], board[1, 0] = 1, -1, -1
    with pytest.raises(UserError, match="every chain has a liberty"):
        GAME.position(board, board, 1, 4)


# ---- the number of moves played

EMPTY = "00000\n" * 5
ONE = EMPTY[:14] + "1" + EMPTY[15:]
LEFT = ONE.replace("\n", "")


def given(tmp_path, colour, before, board):
    (tmp_path / "given.txt").write_text(f"{colour}\n{before}{board}")
    return read_given(tmp_path / "given.txt")


def test_the_ply_is_known_from_the_step_file_and_guessed_from_the_boards_without_it(tmp_path):
    fewest = {True: 0, False: 0}
    for host, state, action in random_games(40, 3, passing=0.1):
        if action is None:
            continue
        (tmp_path / "given.txt").write_text(host.text())
        found, ply = read_given(tmp_path / "given.txt"), int(state.row[PLY])
        step = f"{ply - 1} {''.join(str(stone) for line in host.before for stone in line)}\n"
        assert find_ply(found, step) == ply
        guess = find_ply(found, "")
        assert guess <= ply and (ply - guess) % 2 == 0, "fewer moves than stones cannot be"
        fewest[guess == ply] += 1
    assert fewest[True] > fewest[False]


@pytest.mark.parametrize("colour, board, ply", [(1, EMPTY, 0), (2, ONE, 1), (2, EMPTY, 1)])
@pytest.mark.parametrize("step", ["", "17 " + "0" * 25, "22 " + "0" * 25 + "\n", "rubbish"])
def test_a_new_game_starts_the_count_again(tmp_path, colour, board, ply, step):
    assert find_ply(given(tmp_path, colour, EMPTY, board), step) == ply


@pytest.mark.parametrize("step", ["", "99", "-5 x", "3 " + "0" * 25, "24 " + LEFT, "2 " + LEFT, "4 " + "1" * 25])
def test_a_step_file_that_does_not_fit_the_boards_is_left_aside(tmp_path, step):
    assert find_ply(given(tmp_path, 1, ONE, "2" + ONE[1:]), step) == 2


# ---- turns as files


@pytest.fixture(autouse=True)
def alive(monkeypatch):
    """A player that is late ends the program at once: here it fails a test, not all of them."""

    def late(code):
        raise RuntimeError("the player was late")

    monkeypatch.setattr("interface.commands.littlego.os._exit", late)


def turn(folder, *argv):
    """Run the command in this process with the files of a folder."""
    files = ["--input", "input.txt", "--output", "output.txt", "--step-file", "steps"]
    paths = [word if word.startswith("--") else str(folder / word) for word in files]
    return run(["littlego", *paths, *argv])


def test_two_programs_play_whole_games_through_files_and_never_lose_by_a_wrong_move(tmp_path, capsys):
    """Random players; each has a folder, and one process of its own is enough to see that it can."""
    for number in range(3):
        host, state = Host(), GAME.start()
        while not host.over:
            folder = tmp_path / str(host.colour)
            folder.mkdir(exist_ok=True)
            (folder / "input.txt").write_text(host.text())
            (folder / "output.txt").unlink(missing_ok=True)
            if number == 0 and host.moves in (0, 7):
                command = [sys.executable, str(HERE / "main.py"), "littlego", "--player", "random", "--seconds", "3600"]
                found = subprocess.run([*command, "--step-file", "steps"], cwd=folder, capture_output=True, text=True,
                                       timeout=900, check=False)  # fmt: skip
                code, out, err = found.returncode, found.stdout, found.stderr
            else:
                code = turn(folder, "--player", "random", "--seed", str(100 * number + host.moves), "--seconds", "3600")
                out, err = capsys.readouterr()
            move = (folder / "output.txt").read_text()
            assert (code, err, out) == (0, "", f"move {host.moves + 1}: {move} (random)\n")
            assert host.allows(move), (move, host.text())
            action = 25 if move == "PASS" else int(move[0]) * 5 + int(move[2])
            state = state.takeAction(action)[0]
            host.play(move)
        assert state.isEndGame and state.value * state.playerTurn == np.sign(host.lead())
        assert sorted(p.name for p in (tmp_path / "1").iterdir()) == ["input.txt", "output.txt", "steps"]


BROKEN = [
    (None, "expected a position, there is no file "),
    ("", "expected 11 lines, the colour and two boards of 5, got 0"),
    ("1\n" + EMPTY, "expected 11 lines, the colour and two boards of 5, got 6"),
    ("1\n" + EMPTY * 3, "expected 11 lines"),
    ("3\n" + EMPTY * 2, "expected 1 or 2 in line 1, got '3'"),
    ("1\n" + EMPTY + EMPTY.replace("0", "3", 1), "expected 5 digits out of 0, 1, 2 in line 7, got '30000'"),
    ("1\n" + EMPTY + EMPTY.replace("00000", "0000", 1), "in line 7, got '0000'"),
    ("1\n" + EMPTY + "1" * 5 + EMPTY[5:].replace("0", "2"), "every chain has a liberty"),
    ("１\n" + EMPTY * 2, "got no text"),
    ("1\n" + "0" * 20_000, "expected 11 lines"),
]


@pytest.mark.parametrize("text, words", BROKEN)
def test_a_position_that_cannot_be_read_is_told_in_one_line_and_nothing_is_written(tmp_path, capsys, text, words):
    if text is not None:
        (tmp_path / "input.txt").write_text(text, encoding="utf-8")
    assert turn(tmp_path, "--player", "random") == 2
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err
    assert [p.name for p in tmp_path.iterdir()] == ["input.txt"] * (text is not None)


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--player", "rondom"], "did you mean 'random'"),
        (["--player", "uct:5"], "for the player uct, got littlego"),
        (["--player", "best"], "expected a trained run of littlego, there is none"),
        (["--seconds", "0"], "seconds: expected a number from 0.1 to 3,600, or several such as 1 7:9.5 21:3, got '0'"),
        (["--seconds", "nan"], "seconds: expected"),
        (["--seconds", "3601"], "seconds: expected a number from 0.1 to 3,600"),
        (["--seconds", "2:3"], "seconds: expected times for the first move and for later ones in turn"),
        (["--seconds", "1", "7:3", "7:4"], "in turn, such as 1 7:9.5 21:3, got '1 7:3 7:4'"),
        (["--player", "net:best:2s"], "expected a clock for a network that searches, without net:"),
        (["--player", "best:0s"], "expected more than 0 seconds, got 'best:0s'"),
        (["--sims", "0"], "sims: expected a whole number from 1"),
        (["--seed", "-1"], "seed: expected a whole number from 0"),
        (["--stepfile", "x"], "did you mean 'step_file'"),
    ],
)
def test_options_that_make_no_sense_are_refused_and_nothing_is_written(tmp_path, capsys, monkeypatch, argv, words):
    monkeypatch.setattr("storage.run_folders.RUNS", tmp_path / "none")
    monkeypatch.setattr("storage.run_folders.SHIPPED", tmp_path / "none")
    (tmp_path / "input.txt").write_text("1\n" + EMPTY * 2)
    assert turn(tmp_path, *argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err, err
    assert [p.name for p in tmp_path.iterdir()] == ["input.txt"]


def test_without_a_network_another_player_steps_in_and_says_why(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("storage.run_folders.RUNS", tmp_path / "none")
    monkeypatch.setattr("storage.run_folders.SHIPPED", tmp_path / "none")
    (tmp_path / "input.txt").write_text("2\r\n" + (EMPTY + ONE).replace("\n", "\r\n") + "\n\n")
    make, quick = littlego_turn.make_player, {"rollout:3600s": "rollout:50"}
    monkeypatch.setattr(littlego_turn, "make_player", lambda name, *rest, **o: make(quick.get(name, name), *rest, **o))
    assert turn(tmp_path, "--seconds", "3600") == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"move 2: \S+ \(rollout:50 \(expected a trained run of littlego, there is none; .*\)\)\n", out)
    assert err == "" and re.fullmatch(r"[0-4],[0-4]|PASS", (tmp_path / "output.txt").read_text())


def test_the_first_player_there_is_plays_by_default(monkeypatch):
    asked = []

    def make_player(name, game, **options):
        asked.append(name)
        if name in ("best", "shipped"):
            raise UserError(f"no network {name}\nat all")
        return type("Fixed", (littlego_turn.Player,), {"act": lambda self, state, tau: (7, None, 0.0, 0.0)})(name, game)

    monkeypatch.setattr(littlego_turn, "make_player", make_player)
    player, told = loader("", sims=1)(3.6)
    assert player.act(GAME.start(), 0)[0] == 7 and told == "rollout:4s (no network best)"
    assert asked == ["best", "shipped", "rollout:4s"]
    for name in ("gtp:gnugo --mode gtp", "human+book", "human", " GTP:gnugo", "Human", "-1"):
        with pytest.raises(UserError, match="expected one that plays a single position"):
            loader(name, sims=1)


def test_the_time_of_a_move_goes_by_its_number():
    clock = read_clock(["1", "7:9.5", "21:3"])
    assert [time_for(clock, move) for move in (1, 6, 7, 20, 21, 24)] == [1.0, 1.0, 9.5, 9.5, 3.0, 3.0]
    assert read_clock(["0.1"]) == [(1, 0.1)]
    for words in ([], ["0:3"], ["-1"], ["1:2", "1:3"], ["8s"], ["1e3"], ["0.05"], ["2:3"]):
        with pytest.raises(UserError, match="seconds: expected"):
            read_clock(words)


NEVER = threading.Event()  # the threads that wait for it are abandoned, and end with the tests


class Thinker(littlego_turn.Player):
    """Plays one move whatever the position, or never answers."""

    def __init__(self, action, answers=True):
        super().__init__("a cheat", GAME)
        self.action, self.answers = action, answers

    def act(self, state, tau):
        if not self.answers:
            NEVER.wait()
        if self.action < 0:
            raise ZeroDivisionError("by zero")
        return self.action, np.zeros(26), 0.0, 0.0


def unloaded(seconds):
    NEVER.wait()
    return Thinker(0), "a thinker"


@pytest.mark.parametrize(
    "load, seconds, late, words",
    [
        (lambda seconds: (Thinker(-1), "a failure"), 3600.0, False, "the player failed: ZeroDivisionError"),
        (lambda seconds: (Thinker(12), "a cheat"), 3600.0, False, "the player failed: ValueError: the illegal move 12"),
        (lambda seconds: (Thinker(0, False), "a thinker"), 0.2, True, "no answer within 0.2 s"),
        (unloaded, -1.0, False, "no time was left to think"),
    ],
)
def test_a_player_that_fails_and_rollouts_that_fail_too_are_replaced_by_a_legal_move(
    tmp_path, monkeypatch, load, seconds, late, words
):
    monkeypatch.setattr("players.rollout.RolloutPlayer", lambda game, seconds: None)
    (tmp_path / "input.txt").write_text(f"2\n{EMPTY}{ONE}")
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    found = take_turn(*files, load, lambda move: seconds)
    assert (found.ply, found.late) == (1, late) and words in found.by
    assert (tmp_path / "output.txt").read_text() == "1,2", "beside the stone in the centre"
    assert (tmp_path / "steps").read_text() == "2 " + "0" * 7 + "2" + "0" * 4 + "1" + "0" * 12 + "\n"


@pytest.mark.parametrize(
    "load, seconds, late, words",
    [
        (unloaded, 2.0, True, "no answer within 2.0 s"),  # a network's libraries may take longer than a move has
        (lambda seconds: (Thinker(-1), "a failure"), 3600.0, False, "the player failed: ZeroDivisionError: by zero"),
        (lambda seconds: (Thinker(12), "a cheat"), 3600.0, False, "the player failed: ValueError: the illegal move 12"),
    ],
)
def test_rollouts_think_where_a_player_is_not_loaded_or_fails(tmp_path, monkeypatch, load, seconds, late, words):
    (tmp_path / "input.txt").write_text("2\n" + EMPTY + ONE)
    monkeypatch.setattr("players.rollout.RolloutPlayer", lambda game, seconds: Thinker(4))
    monkeypatch.setattr(littlego_turn, "LOADING", 0.01)
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    found = take_turn(*files, load, lambda move: {2: seconds}[move])
    assert (found.late, found.by) == (late, f"rollouts: {words}")
    assert (tmp_path / "output.txt").read_text() == "0,4"


def test_rollouts_that_began_are_not_left_behind(tmp_path, monkeypatch):
    """A player that is loaded late, but answers in time."""
    def searching():
        return any("_search" in thread.name for thread in threading.enumerate())

    def load(seconds):
        while not searching():
            time.sleep(0.01)
        return Thinker(3), "a thinker"

    (tmp_path / "input.txt").write_text("1\n" + EMPTY * 2)
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    monkeypatch.setattr(littlego_turn, "LOADING", 0.0)
    found = take_turn(*files, load, lambda move: 3600.0)
    assert (found.action, found.by, found.late) == (3, "a thinker", False) and not searching()


@pytest.mark.parametrize("name", ["rollout:3600s", "rollout:1000000", "alphabeta:3600s", "rollout:3600s+book"])
def test_a_search_is_cut_short_in_time_and_what_it_found_is_played(tmp_path, monkeypatch, name):
    """A clock, simulations or plies that would take longer than a move has; for the search the time is over soon."""
    (tmp_path / "input.txt").write_text("2\n" + EMPTY + ONE)
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    player, began = littlego_turn.make_player(name, GAME), time.monotonic()
    for module in ("rollout", "alphabeta"):
        monkeypatch.setattr(f"players.{module}.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 3600.0))
    found = take_turn(*files, lambda seconds: (player, player.name), lambda move: 3600.0)
    assert (found.late, found.by) == (False, player.name)
    assert began + 3000.0 < player.deadline < time.monotonic() + 3600.0


def test_a_step_file_that_cannot_be_written_costs_no_game(tmp_path):
    (tmp_path / "input.txt").write_text("1\n" + EMPTY * 2)
    (tmp_path / "steps").mkdir()
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    found = take_turn(*files, lambda seconds: (Thinker(3), "me"), lambda move: 3600.0)
    assert (tmp_path / "output.txt").read_text() == "0,3" and "was not written: Is a directory" in found.by


def test_the_move_of_need_takes_what_it_can_and_passes_only_when_it_must():
    board = np.zeros((5, 5), int)
    board[0, :3], board[1, :2], board[1, 2] = -1, 1, 1
    state = GAME.position(np.zeros((5, 5), int), board, 1, 6)
    assert greedy(state) == 3, "three stones are taken"
    full = np.ones((5, 5), int)
    full[0, 0] = full[4, 4] = 0
    assert greedy(GAME.position(full * 0, full, -1, 23)) == 25
