"""Feed the engines' protocols with lines that are right, nearly right and wrong, and look at every answer.

    python benchmarks/fuzz_engines.py [--lines 20000] [--seed 0] [--protocols gtp gomocup analysis]

Looked at: each line is answered in the protocol's form, no fault of ours is among the answers, nothing hangs (a line
that takes more than 10 s is printed), and a command that is refused leaves the game, the clocks and the limits as they
were.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from plugins.engines import analysis, gomocup, gtp
from plugins.engines.analysis_results import ACTIONS, Analysis
from plugins.engines.gomocup_session import Session as GomocupSession
from plugins.engines.gtp_session import Session as GtpSession
from plugins.engines.loading import Loading
from plugins.engines.serving import PlayerSource

SLOW = 10.0
JUNK = ("", " ", "\t\x01", "#", "?", "=", "-1", "0", "1", "1.5", "1e9", "999999999", "nan", "inf", "b", "w", "black",
        "x", "pass", "resign", "a1", "A1", "t19", "i5", "zz", "c3", "C3", "d4", "e5", "a0", "é", "\ufffd", "true",
        "false", "interval", "maxmoves", "ownership", "0,0", "4,4", "8,8", "9,9", "-1,3", "1,2,3", "a,b", "../x.sgf",
        "x" * 300, "{}", "[]", "null", "'", '"', "\\", "%s", "$HOME", "; ls")  # fmt: skip
NUMBERS = (0, 1, 2, 3, 5, 7, 9, 13, 19, 25, 26, -1, 1000, 2**31, 0.5, 2.5, 7.5, 1e300)


def pick(rng: np.random.Generator, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def gtp_lines(rng: np.random.Generator, game: str) -> Iterator[str]:
    """Yield command lines without end."""
    names = [name for name in gtp.commands_of(game) if name not in ("quit", "printsgf")]
    usual = ["play b {p}", "play w {p}", "play {c} {p}", "genmove {c}", "undo", "clear_board", "boardsize {s}",
             "komi {n}", "time_settings {n} {n} {n}", "time_left {c} {n} {n}", "kgs-time_settings byoyomi {n} {n} {n}",
             "kgs-time_settings canadian {n} {n} {n}", "final_score", "final_status_list alive", "showboard",
             "fixed_handicap {n}", "place_free_handicap {n}", "set_free_handicap {p} {p} {p}", "reg_genmove {c}",
             "lz-analyze {c} {n}", "kata-analyze {n} ownership true", "kata-genmove_analyze {c} 10", "printsgf",
             "known_command {w}", "gogui-rules_legal_moves", "gogui-rules_board", "loadsgf {w}"]  # fmt: skip
    while True:
        if rng.random() < 0.6:
            text = pick(rng, usual)
        else:
            text = f"{pick(rng, names)} {' '.join(['{w}'] * int(rng.integers(0, 4)))}"
        text = re.sub(r"\{(.)\}", lambda match: _word(rng, match[1]), text)
        if rng.random() < 0.1:
            text = _broken(rng, text)
        yield f"{int(rng.integers(1000))} {text}" if rng.random() < 0.3 else text


def _word(rng: np.random.Generator, kind: str) -> str:
    if kind == "p" and rng.random() < 0.9:
        return f"{pick(rng, 'abcdefghjABCDE')}{int(rng.integers(1, 10))}"
    if kind == "c" and rng.random() < 0.9:
        return str(pick(rng, ("b", "w", "Black", "WHITE")))
    if kind == "s" and rng.random() < 0.9:
        return str(pick(rng, (3, 5, 5, 6, 7, 9)))
    if kind == "n" and rng.random() < 0.9:
        return str(pick(rng, NUMBERS))
    return str(pick(rng, JUNK))


def _broken(rng: np.random.Generator, text: str) -> str:
    """Return a text with a few characters changed."""
    letters = list(text)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(letters) + 1))
        letter = chr(int(pick(rng, (0, 9, 27, 32, 35, 44, 65, 127, 233, 0x2603))))
        letters[place : place + int(rng.integers(2))] = [letter]
    return "".join(letters).replace("\n", " ")


def gomocup_lines(rng: np.random.Generator, game: str) -> Iterator[str]:
    """Yield command lines without end, with the lines of lists among them."""
    usual = ["START {s}", "RESTART", "BEGIN", "TURN {x}", "TURN {x}", "TURN {x}", "PLAY {x}", "TAKEBACK {x}", "ABOUT",
             "RECTSTART {s},{s}", "INFO timeout_turn {n}", "INFO timeout_match {n}", "INFO time_left {n}",
             "INFO max_memory {n}", "INFO rule {r}", "INFO game_type 1", "INFO folder {w}", "INFO evaluate {x}",
             "{w} {w}", "SUGGEST {x}", "turn {x}"]  # fmt: skip
    while True:
        if rng.random() < 0.1:
            yield str(pick(rng, ("BOARD", "SWAP2BOARD", "board")))
            points = rng.permutation(81)[: int(rng.integers(0, 8))]
            for number, point in enumerate(points):
                own = number % 2 + 1 if rng.random() < 0.9 else int(rng.integers(0, 5))
                yield f"{point % 9},{point // 9},{own}" if rng.random() < 0.9 else str(pick(rng, JUNK))
            yield "DONE"
            continue
        text = re.sub(r"\{(.)\}", lambda match: _gomocup_word(rng, match[1]), str(pick(rng, usual)))
        yield _broken(rng, text) if rng.random() < 0.1 else text


def _gomocup_word(rng: np.random.Generator, kind: str) -> str:
    if kind == "x" and rng.random() < 0.9:
        return f"{int(rng.integers(0, 9))},{int(rng.integers(0, 9))}"
    if kind == "s" and rng.random() < 0.9:
        return str(pick(rng, (9, 9, 9, 5, 15)))
    if kind == "r" and rng.random() < 0.9:
        return str(pick(rng, (0, 1, 4, 2, 8)))
    if kind == "n":  # no clock that a random player could not keep
        return str(pick(rng, (0, 10, 100, 2**31 - 1, -5, 350_000_000, "x")))
    return str(pick(rng, JUNK))


def analysis_lines(rng: np.random.Generator, game: str) -> Iterator[str]:
    """Yield queries without end, of which one in ten or so can be analysed."""
    number = 0
    while True:
        number += 1
        count = int(rng.integers(4))
        moves = [[pick(rng, "BW"), f"{pick(rng, 'ABCDE')}{int(rng.integers(1, 6))}"] for _ in range(count)]
        query: dict[str, Any] = {
            "id": f"q{number}", "moves": moves, "rules": str(pick(rng, ("chinese", "tromp-taylor", "japanese"))),
            "boardXSize": 5, "boardYSize": 5, "komi": float(pick(rng, (2.5, 6.5, 0, 24.5))), "maxVisits": 2,
        }  # fmt: skip
        if rng.random() < 0.2:
            query["analyzeTurns"] = list(range(len(moves) + 1))
        if rng.random() < 0.05:
            query = {"id": f"q{number}", "action": str(pick(rng, (*ACTIONS, "x"))), "terminateId": "q1"}
        fields = (*sorted(query), "initialStones", "initialPlayer", "analyzeTurns", "avoidMoves", "allowMoves",
                  "overrideSettings", "reportDuringSearchEvery", "priority", "priorities", "includeOwnership",
                  "terminateId", "turnNumbers", "foo")  # fmt: skip
        for _ in range(int(rng.integers(0, 4)) + (rng.random() < 0.8)):
            query[str(pick(rng, fields))] = _value(rng)
        if rng.random() < 0.5:
            query.pop(str(pick(rng, sorted(query))))
        text = json.dumps(query)
        yield _broken(rng, text) if rng.random() < 0.1 else text


def _value(rng: np.random.Generator, depth: int = 0) -> Any:
    kind = int(rng.integers(8))
    if kind < 2:
        return pick(rng, NUMBERS)
    if kind < 5 or depth > 2:
        return pick(rng, (*JUNK, True, False, None, "B", "W", "C3"))
    if kind < 7:
        return [_value(rng, depth + 1) for _ in range(int(rng.integers(4)))]
    return {str(pick(rng, ("player", "moves", "untilDepth", "ko", "maxTime", "x"))): _value(rng, depth + 1)
            for _ in range(int(rng.integers(3)))}  # fmt: skip


# ---- conversations


class Output(io.BytesIO):
    """What a server has written since it was last looked at."""

    def take(self) -> str:
        text = self.getvalue().decode()
        self.seek(0)
        self.truncate()
        return text


Talk = Callable[[str], tuple[str, bool]]
"""A line -> (what was written, whether something was changed that should not have been)."""


def gtp_talk(game: str, player: str) -> Talk:
    """Return a conversation over GTP; refused commands may change nothing."""
    output = Output()

    def load(server: gtp.Server) -> GtpSession:
        return GtpSession(PlayerSource(player, sims=4), games.make(game), server)

    server = gtp.Server(io.BytesIO(), output, game, load, "")
    loading = Loading(lambda: load(server))
    session = loading.result()

    def look() -> Any:
        clocks = [vars(clock) | {} for clock in session.clocks.values()]
        position = session.position
        return session.game.spec, list(position.moves), position.state.id, session.control, clocks

    def talk(line: str) -> tuple[str, bool]:
        before = look()
        server.answer(line, loading)
        text = output.take()
        return text, text.startswith("?") and look() != before

    return talk


def gomocup_talk(game: str, player: str) -> Talk:
    """Return a conversation over the Gomocup protocol."""
    output = Output()

    def load(server: gomocup.Server) -> GomocupSession:
        return GomocupSession(PlayerSource(player, sims=4), games.make(game), server)

    server = gomocup.Server(io.BytesIO(), output, load)
    loading = Loading(lambda: load(server))
    session = loading.result()

    def look() -> Any:
        return session.game.spec, list(session.stones), session.turn

    def talk(line: str) -> tuple[str, bool]:
        before = look()
        server.answer(line, loading)
        text = output.take()
        return text, text.startswith(("ERROR", "UNKNOWN")) and look() != before

    return talk


def analysis_talk(game: str, player: str) -> Talk:
    """Return a conversation over the analysis protocol, in which each line is worked off."""
    output = Output()

    def load(server: analysis.Server) -> Analysis:
        return Analysis(PlayerSource(player, sims=4), games.make(game).longer(), server, visits=2, count=4)

    server = analysis.Server(io.BytesIO(), output, load)
    loading = Loading(lambda: load(server))

    def talk(line: str) -> tuple[str, bool]:
        server.take(line, loading)
        begun = not loading.result().idle
        while not loading.result().idle:
            loading.result().step(lambda: False)
        text = output.take()
        return text, '"error"' in text and begun

    return talk


FORMS = {
    "gtp": re.compile(r"([=?][0-9]* ?(\S.*)?\n(\S.*\n| .*\S.*\n)*\n)?"),
    "gomocup": re.compile(r"(MESSAGE .+\r\n)*((OK|ERROR .*|UNKNOWN .*|SWAP|name=.*|([0-9]+,[0-9]+ ?)+)\r\n)?"),
    "analysis": re.compile(r"(\{.*\}\n)+"),
}
"""What may be written for a line."""
KINDS: dict[str, tuple[Callable[[str, str], Talk], Callable[[np.random.Generator, str], Iterator[str]]]] = {
    "gtp": (gtp_talk, gtp_lines), "gomocup": (gomocup_talk, gomocup_lines), "analysis": (analysis_talk, analysis_lines),
}  # fmt: skip
CASES = {
    "gtp": (("go", "random"), ("tictactoe", "rollout:8"), ("connect4", "random"), ("gomoku", "random")),
    "gomocup": (("gomoku", "random"),),
    "analysis": (("go", "shipped"),),
}


def fuzz(protocol: str, game: str, player: str, lines: int, seed: int) -> Counter[str]:
    """Return how many lines were answered in which way; raise `RuntimeError` naming the line with a wrong answer."""
    make, generate = KINDS[protocol]
    talk, generator, found = make(game, player), generate(np.random.default_rng(seed), game), Counter[str]()
    for number, line in zip(range(lines), generator, strict=False):
        began = time.monotonic()
        text, changed = talk(line)
        seconds = time.monotonic() - began
        if seconds > SLOW:
            print(f"line {number} took {seconds:.1f} s: {line!r}")
        where = f"{protocol} {game}, seed {seed}, line {number} {line!r}: {text!r}"
        if "internal error" in text or "Traceback" in text:
            raise RuntimeError(f"a fault of ours: {where}")
        if FORMS[protocol].fullmatch(text) is None:
            raise RuntimeError(f"not in the protocol's form: {where}")
        if changed:
            raise RuntimeError(f"refused, but something was changed: {where}")
        refused = text.startswith(("?", "ERROR", "UNKNOWN")) or '"error"' in text
        found["refused" if refused else "done" if text else "no answer"] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--protocols", nargs="+", default=list(KINDS), choices=list(KINDS))
    args = parser.parse_args()
    for protocol in args.protocols:
        cases, began = CASES[protocol], time.monotonic()
        total = Counter[str]()
        for game, player in cases:
            total += fuzz(protocol, game, player, args.lines // len(cases), args.seed)
        print(f"{protocol}: {total.total():,} lines, {dict(total)}, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
