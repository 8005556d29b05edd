"""Messages between a pool and its workers: a line of JSON, then bytes. Nothing in them is unpickled.

That is true of these messages only. On a cluster Ray carries them, and what Ray receives can hold pickles, which it
opens before a message is read here (docs/cluster.md).

A worker may be a machine whose memory is bad. What it sends is checked: first its form, then whether its numbers are
possible, which bounds the memory that they take, then the game by the rules.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from game import Game
from storage.game_exchange import fault
from storage.game_record import GameBytes, GameRecord
from training.selfplay import Counts

LINE = 1 << 17
"""Most bytes of the line of JSON in a worker's message; what failed takes most."""
LARGEST = 1 << 26
"""Most bytes of a worker's message: far more than the longest game on the largest board."""
MOST = 1 << 53
"""Largest whole number in a worker's message."""


class BadMessage(ValueError):
    """A worker's message that cannot be true; the text is one line."""


class Expected(NamedTuple):
    """What games have to be."""

    actions: int
    plies: int
    """Most moves of a game."""
    fault: Callable[[GameRecord], str]
    """Returns what is wrong with a game by the rules, "" when nothing is."""


def expected_of(game: Game) -> Expected:
    """Return what self-play's games of a game have to be."""
    return Expected(game.action_size, game.max_plies, partial(fault, game))


def pack(head: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a message."""
    return json.dumps(head).encode() + b"\n" + body


def unpack(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (head, body) of a message."""
    head, _, body = data.partition(b"\n")
    return json.loads(head), body


def _whole(value: Any, most: int = MOST) -> bool:
    return type(value) is int and 0 <= value <= most


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _wholes(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(map(_whole, value))


def _counts(value: Any) -> bool:
    if not isinstance(value, list) or not _wholes(value[:-1], len(Counts._fields) - 1):
        return False
    return _number(value[-1]) and bool(0 <= value[-1] <= MOST)


def _text(value: Any) -> bool:
    return isinstance(value, str)


Form = dict[str, Callable[[Any], bool]]
_NEEDED: dict[str, Form] = {
    "ready": {},
    "alive": {},
    "stopped": {"round": _whole},
    "failed": {"text": _text},
    "game": {
        "index": _whole,
        "result": _number,
        "sizes": lambda value: _wholes(value, len(GameBytes._fields)),
        "actions": _whole,
    },
}
"""{kind of a worker's message: {what is in it: whether it can be that}}."""
_POSSIBLE: Form = {
    "counts": _counts,
    "trace": _text,
    "exit_code": lambda value: _whole(value, 255),
    "cause": lambda value: value in ("", "not_finite"),
}
"""The same of what may be left out."""


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (head, body) of a worker's message; raise `BadMessage` unless it has the form of one."""
    end = data.find(b"\n", 0, LINE)
    if end < 0 or len(data) > LARGEST:
        raise BadMessage(f"expected a line of JSON, then at most {LARGEST} bytes, got {len(data)}: {data[:40]!r}")
    try:
        head = json.loads(data[:end].decode())
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"expected a line of JSON, got {data[:40]!r} ({type(error).__name__})") from None
    kind = head.get("kind") if isinstance(head, dict) else None
    if not isinstance(kind, str) or kind not in _NEEDED:
        raise BadMessage(f"expected a message of kind {', '.join(_NEEDED)}, got {str(kind)[:40]!r}")
    form = {**_POSSIBLE, **_NEEDED[kind]}
    for name, value in head.items():
        if name != "kind" and not (name in form and form[name](value)):
            raise BadMessage(f"{kind}: expected a possible {name[:40]!r}, got {str(value)[:60]!r}")
    if missing := _NEEDED[kind].keys() - head.keys():
        raise BadMessage(f"{kind}: expected {', '.join(sorted(missing))} in it, got none")
    if kind != "game" and len(data) > end + 1:
        raise BadMessage(f"{kind}: expected no bytes after the line, got {len(data) - end - 1}")
    return head, data[end + 1 :]


def game_message(record: GameRecord, counts: Counts) -> bytes:
    """Return a finished game as a message."""
    data = record.to_bytes()
    head = {"kind": "game", "index": record.index, "result": record.result, "counts": counts}
    sizes = {"sizes": [len(part) for part in data], "actions": record.visits.shape[1]}
    return pack(head | sizes, b"".join(data))


def game_of_message(head: dict[str, Any], body: bytes, expected: Expected) -> GameRecord:
    """Return the game that a message of `read` holds; raise `BadMessage` unless it is a game by the rules."""
    index, sizes, actions = head["index"], head["sizes"], expected.actions
    plies, odd = divmod(sizes[0], 2)
    if odd or not 1 <= plies <= expected.plies or head["actions"] != actions:
        got = f"{sizes[0] / 2:g} moves out of {head['actions']}"
        raise BadMessage(f"game {index}: expected 1 to {expected.plies} moves out of {actions}, got {got}")
    bits = -(-plies // 8)
    searches = int(np.unpackbits(np.frombuffer(body[sizes[0] : sizes[0] + bits], np.uint8)).sum())
    wanted = [2 * plies, bits + 2 * searches * actions, 4 * plies]
    if sizes != wanted or len(body) != sum(wanted):
        raise BadMessage(f"game {index}: expected {wanted} bytes of {plies} moves, got {sizes}, in all {len(body)}")
    ends = list(itertools.accumulate(sizes, initial=0))
    data = GameBytes(*(body[begin:end] for begin, end in itertools.pairwise(ends)))
    try:
        record = GameRecord.from_bytes(index, float(head["result"]) + 0.0, data, actions=actions)
    except (ValueError, TypeError, IndexError) as error:
        raise BadMessage(f"game {index}: expected a game, got bytes that hold none ({error})"[:200]) from None
    if record.to_bytes() != data:
        raise BadMessage(f"game {index}: expected visits of each full search, got none, or bits that mean nothing")
    if wrong := expected.fault(record):
        raise BadMessage(f"expected a game by the rules, got game {index}, which {wrong}")
    return record
