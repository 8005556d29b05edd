"""Messages that no worker can mean: none is stored, none is a traceback, and the worker is named and left."""

import contextlib
import json
import math
import pickle
import threading
import tracemalloc

import numpy as np
import pytest

from games import make
from storage.game_exchange import fault
from storage.game_record import GameRecord
from training import worker_process
from training.selfplay import Counts
from training.worker_messages import LINE, BadMessage, expected_of, game_message, game_of_message, pack, read
from training.worker_pool import RoundSpec, WorkerPool

GAME = make("tictactoe")
COUNTS = Counts(800, 0, 0, 100, 10, 8, 0.5)
ROUND = RoundSpec("run", 3, 5, "net", "digest")
GAMES = 8


def game_of(index):
    """Return a game of random moves, every second one from a full search."""
    rng, state = np.random.default_rng(index), GAME.start()
    moves, visits = [], []
    while not state.isEndGame:
        row = np.zeros(GAME.action_size, np.uint16)
        row[state.allowedActions] = rng.integers(1, 50, len(state.allowedActions)) * (len(moves) % 2 == 0)
        moves.append(int(rng.choice(state.allowedActions)))
        visits.append(row)
        state = state.takeAction(moves[-1])[0]
    values = rng.uniform(-1, 1, len(moves)).astype(np.float32)
    return GameRecord(index, np.array(moves, np.int16), np.array(visits), values, float(state.value * state.playerTurn))


RIGHT = game_of(0)
HEAD, BODY = game_message(RIGHT, COUNTS).split(b"\n", 1)
HEAD = json.loads(HEAD)
SIZES = HEAD["sizes"]


def forged_lines():
    """Yield messages whose form is wrong."""
    rng = np.random.default_rng(0)
    yield from (b"", b"\n", b"{}", b"{}\n", b"[]\n", b"null\n", b"3\n", b'"game"\n', b"\xff\xfe\n", b"\0" * 64)
    yield from (rng.bytes(200) for _ in range(10))
    yield from (rng.bytes(30) + b"\n" + rng.bytes(100) for _ in range(10))
    yield from (b"[" * 100_000 + b"\n", b"[" * (LINE + 10), b'{"a":' * 20_000 + b"\n", b" " * (LINE + 1) + b"{}\n")
    yield from (pickle.dumps(HEAD), pickle.dumps(HEAD) + b"\n" + BODY, json.dumps(HEAD).encode("utf-16") + b"\n" + BODY)
    for kind in ("", "games", "round", "Game", "game ", None, 3, [], {}, ["game"], True):
        yield pack({**HEAD, "kind": kind}, BODY)
    for kind, more in [
        ("stopped", {}),
        ("stopped", {"round": 1}),
        ("stopped", {"round": 2}),
        ("stopped", {"round": "1"}),
        ("stopped", {"round": -1}),
        ("stopped", {"round": 1.0}),
        ("failed", {}),
        ("failed", {"text": 3}),
        ("failed", {"text": ["a"]}),
        ("failed", {"text": "a", "exit_code": "2"}),
        ("failed", {"text": "a", "exit_code": 10**9}),
        ("failed", {"text": "a", "exit_code": True}),
        ("failed", {"text": "a", "trace": 3}),
        ("failed", {"text": "a", "trace": None}),
        ("failed", {"text": "a", "cause": "silent"}),
        ("failed", {"text": "a", "cause": []}),
        ("alive", {"more": 1}),
        ("ready", {"index": 0}),
        ("ready", {"tasks": []}),
    ]:
        yield pack({"kind": kind, **more})
    yield from (pack({"kind": kind}, b"more") for kind in ("ready", "alive"))


def forged_counts():
    """Yield messages whose counts are wrong."""
    good = list(COUNTS)
    wrong = [None, 3, "800", {}, [], good[:-1], [*good, 0], [good], [str(n) for n in good]]
    for place in (0, 5, 6):
        for value in (-1, None, "1", True, math.nan, math.inf, 1 << 80, [1]):
            wrong.append([*good[:place], value, *good[place + 1 :]])
    for counts in wrong:
        yield pack({"kind": "alive", "counts": counts})
    yield pack({**HEAD, "counts": wrong[0]}, BODY)


def forged_heads():
    """Yield games whose line is wrong."""
    for index in ("0", 0.0, None, False, -1, [0], 1 << 70, "9" * 5000):
        yield pack({**HEAD, "index": index}, BODY)
    yield json.dumps(HEAD).replace('"index": 0', f'"index": {"9" * 5000}').encode() + b"\n" + BODY
    right = RIGHT.result
    for result in ("1", None, True, [1.0], math.nan, math.inf, -math.inf, 1e300, 2.0, 0.5, -right or 1.0, right + 1e-3):
        yield pack({**HEAD, "result": result}, BODY)
    for actions in ("9", None, 9.0, True, -1, 0, 1, 8, 10, 1 << 20, 1 << 31, 1 << 60):
        yield pack({**HEAD, "actions": actions}, BODY)
        yield pack({**HEAD, "actions": actions, "sizes": [SIZES[0], -(-len(RIGHT.moves) // 8), SIZES[2]]}, BODY)
    for sizes in (
        None,
        3,
        "abc",
        [],
        SIZES[:2],
        [*SIZES, 0],
        [0, 0, 0],
        [1 << 40, 0, 0],
        [0, 0, sum(SIZES)],
        [sum(SIZES), 0, 0],
        [-2, *SIZES[1:]],
        [str(n) for n in SIZES],
        [float(n) for n in SIZES],
        SIZES[::-1],
        [1 << 62] * 3,
        [SIZES[0] + 1, SIZES[1] - 1, SIZES[2]],
        [SIZES[0] - 2, SIZES[1] + 2, SIZES[2]],
        [SIZES[0], SIZES[1] + 4, SIZES[2] - 4],
        [SIZES[0], SIZES[1] + 1, SIZES[2]],
    ):
        yield pack({**HEAD, "sizes": sizes}, BODY)
    for name in ("index", "result", "sizes", "actions"):
        yield pack({key: value for key, value in HEAD.items() if key != name}, BODY)
    yield from (pack(HEAD), pack(HEAD, BODY[:-1]), pack(HEAD, BODY + b"\0"), pack(HEAD, BODY * 1000))


def forged_games():
    """Yield games of the right form that the rules refute."""

    def changed(**changes):
        return game_message(RIGHT._replace(**changes), COUNTS)

    def with_one(array, place, value):
        array = array.copy()
        array[place] = value
        return array

    plies = len(RIGHT.moves)
    for ply in range(plies):
        for move in (-1, 9, 32767, -32768, int(RIGHT.moves[ply - 1])):
            yield changed(moves=with_one(RIGHT.moves, ply, move))
        for value in (math.nan, math.inf, 1.5, -2.0):
            yield changed(values=with_one(RIGHT.values, ply, value))
    for length in (1, plies - 1):
        yield changed(moves=RIGHT.moves[:length], visits=RIGHT.visits[:length], values=RIGHT.values[:length])
    yield changed(
        moves=np.append(RIGHT.moves, RIGHT.moves[:1]),
        visits=np.vstack([RIGHT.visits, RIGHT.visits[1:2]]),
        values=np.append(RIGHT.values, np.float32(0)),
    )
    for ply in range(2, plies, 2):
        yield changed(visits=with_one(RIGHT.visits, (ply, int(RIGHT.moves[0])), 5))
    yield changed(visits=with_one(RIGHT.visits, (0, slice(None)), 60_000))
    bits = bytearray(BODY)
    bits[SIZES[0] + 1 : SIZES[0] + 1 + 18] = bytes(18)  # the first full search has no visits
    yield pack(HEAD, bytes(bits))
    moves = np.tile(RIGHT.moves, 2000)
    yield changed(moves=moves, visits=np.tile(RIGHT.visits, (2000, 1)), values=np.tile(RIGHT.values, 2000))


FORGED = [*forged_lines(), *forged_counts(), *forged_heads(), *forged_games()]


def test_a_message_that_is_too_long_is_none_and_the_worker_is_left(monkeypatch):
    monkeypatch.setattr(worker_process, "LARGEST", 8)  # this process expects less than the other one sends
    heard, end = [], threading.Event()

    def report(handle, data):
        heard.append(data)
        if data is None:
            end.set()

    worker_process.ProcessHandle(0, report, dict, {})  # says that it cannot begin with that
    assert end.wait(60) and heard == [b"", None]


class Worker:
    """Sends the given message in place of its first game; without one it plays all of its games."""

    waits = lost = False

    def __init__(self, place, report, forged):
        self.name, self.forged, self.left = f"worker {place + 1} (there, process {place})", forged, ""
        self.say = lambda data: report(self, data)
        self.say(pack({"kind": "ready", "counts": COUNTS}))

    def send(self, message):
        for index in message.get("games", ()):
            self.say(self.forged if self.forged is not None else game_message(game_of(index), COUNTS))

    def kill(self):
        self.say(None)

    def leave(self, why):
        self.left = why
        self.kill()

    def cause(self):
        return "was killed"


def play(forged, kind=Worker):
    """Play with a worker that forges and an honest one; return (games, log, workers)."""
    workers, log = [], []

    def spawn(place, report):
        workers.append(kind(place, report, forged if not workers else None))
        return workers[-1]

    pool = WorkerPool(spawn, workers=2, side_by_side=4, log=log.append, expected=lambda board: expected_of(GAME))
    found = list(pool.play(ROUND, range(GAMES)))
    assert sorted(record.index for record in found) == list(range(GAMES))
    for record in found:
        assert all(np.array_equal(a, b) for a, b in zip(record, game_of(record.index), strict=True))
    return log, workers


def test_none_of_200_forged_messages_is_stored_or_a_traceback_and_the_worker_is_named_and_left():
    assert len(FORGED) == 237, "docs/workers.md says so"
    assert fault(GAME, RIGHT) == ""
    for forged in FORGED:
        log, workers = play(forged)
        assert len(log) == 1 and log[0].startswith("worker 1 (there, process 0): ") and "expected" in log[0], log
        assert "\n" not in log[0] and "it is left" in log[0] and len(log[0]) < 700
        assert workers[0].left.startswith(workers[0].name) and not any(worker.left for worker in workers[1:])


def test_forged_messages_take_little_memory():
    expected = expected_of(GAME)
    tracemalloc.start()
    try:
        for forged in FORGED:
            with contextlib.suppress(BadMessage):
                head, body = read(forged)
                assert head["kind"] in ("game", "stopped"), forged[:200]
                if head["kind"] == "game":
                    pytest.fail(str(game_of_message(head, body, expected)))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_right_messages_are_no_forgeries():
    log, workers = play(None)
    assert log == [] and len(workers) == 2 and pack(HEAD, BODY) == game_message(RIGHT, COUNTS)


@pytest.mark.parametrize("index", [GAMES, 1 << 30])
def test_a_game_that_the_worker_was_not_to_play_is_not_stored(index):
    class Eager(Worker):
        def send(self, message):
            self.say(game_message(game_of(0)._replace(index=index), COUNTS))
            super().send(message)

    assert play(None, Eager)[0] == []
