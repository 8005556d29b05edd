"""KataGo's analysis protocol: a JSON object a line in, results as they come, in any order.

Scores and ownership are of Go only, from the network's ownership head or from games played out (territory.py).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from config import VERSION, UserError
from plugins.engines.command_lines import TOO_LONG, CommandLines
from plugins.engines.loading import Loading

if TYPE_CHECKING:
    from plugins.engines.analysis_results import Analysis

LONGEST = 1_000_000
"""Largest length of a line in bytes."""
_LOGGER = logging.getLogger("alphazero.engines")


class Server:
    """A conversation with one program."""

    def __init__(self, source: BinaryIO, target: BinaryIO, load: Callable[[Server], Analysis]) -> None:
        self.lines = CommandLines(source, LONGEST)
        self._target, self._load = target, load

    def serve(self) -> None:
        """Answer until the end of the input and of all queries; raise `UserError` when the player cannot be loaded."""
        loading = Loading(lambda: self._load(self))
        ended = False
        try:
            while not ended or (loading.done and not loading.result().idle):
                if not ended and (self.lines.waiting or not loading.done or loading.result().idle):
                    line = loading.wait_for(self.lines)
                    ended = line is None
                    if line is not None and line.strip():
                        self.take(line, loading)
                else:
                    loading.result().step(_never if ended else self._waiting)
        finally:
            loading.end()

    def _waiting(self) -> bool:
        return self.lines.waiting

    def say(self, values: dict[str, Any]) -> None:
        """Write an object to the other program at once."""
        self._target.write(json.dumps(values).encode() + b"\n")
        self._target.flush()

    def take(self, line: str, loading: Loading[Analysis]) -> None:
        """Take a line in: a query, or an action that is done at once."""
        known: dict[str, Any] = {}
        try:
            if line.startswith(TOO_LONG):
                raise UserError(f"Request line had more than {LONGEST} bytes")
            values = decode(line)
            known = {"id": values["id"]}
            if values.get("action") == "query_version":
                self.say({**values, "version": VERSION, "git_hash": "<omitted>"})
            elif "action" in values:
                loading.result().act(values)
            else:
                loading.result().ask(values)
        except UserError as error:
            self.say({"error": (str(error).splitlines() or [""])[0][:300], **known})
        except Exception as error:  # a fault of ours: the conversation goes on
            _LOGGER.warning("%s: %s", type(error).__name__, error)
            self.say({"error": f"internal error: {type(error).__name__}", **known})


def _never() -> bool:
    return False


def decode(line: str) -> dict[str, Any]:
    """Return the object of a line; raise `UserError` if it is none."""
    try:
        values = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise UserError("Could not parse input line as json request") from None
    if not isinstance(values, dict):
        raise UserError("Request line was valid json but was not an object")
    if not isinstance(values.get("id"), str):
        raise UserError('Request must have a string "id" field')
    return values


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
