"""Messages between a pool and its workers: a line of JSON, then bytes. Nothing in them is unpickled.

That is true of these messages only. On a cluster Ray carries them, and what Ray receives can hold pickles, which it
opens before a message is read here (docs/cluster.md).
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from storage.game_record import GameBytes, GameRecord
from training.selfplay import Counts


def pack(head: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a message."""
    return json.dumps(head).encode() + b"\n" + body


def unpack(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (head, body) of a message."""
    head, _, body = data.partition(b"\n")
    return json.loads(head), body


def game_message(record: GameRecord, counts: Counts) -> bytes:
    """Return a finished game as a message."""
    data = record.to_bytes()
    head = {"kind": "game", "index": record.index, "result": record.result, "counts": counts}
    sizes = {"sizes": [len(part) for part in data], "actions": record.visits.shape[1]}
    return pack(head | sizes, b"".join(data))


def game_of_message(head: dict[str, Any], body: bytes) -> GameRecord:
    """Return the game that a message holds."""
    ends = list(itertools.accumulate(head["sizes"], initial=0))
    data = GameBytes(*(body[begin:end] for begin, end in itertools.pairwise(ends)))
    return GameRecord.from_bytes(head["index"], head["result"], data, actions=head["actions"])
