"""Import of games played elsewhere into a run: each is first replayed by the rules."""

from __future__ import annotations

import hashlib
import json

from config import UserError
from initialise import Session
from storage.game_exchange import NO_VERSION, Exchanged, content_of, fault, games_from_bytes
from storage.game_record import IMPORTED
from storage.sizes_played import with_imported
from training.size_plan import parts_of


def import_games(session: Session, data: bytes, source: str) -> Exchanged:
    """Add the games of a file to a run in one transaction; a second import of the file changes nothing.

    They are trained on with the next games of self-play. A run of several sizes takes those on its boards.
    """
    game, store = session.game, session.store
    sizes = {each.spec: each for each in game.sizes}
    about, records = games_from_bytes(data, game, source)
    iteration = session.iteration + ("self-play" in store.finished(session.iteration))
    if session.game.sizes:
        if iteration > session.iteration:
            raise UserError(
                f"import: iteration {session.iteration} has played its games; expected a run of several sizes between "
                "two iterations, or before its games: let the run end the iteration, then import"
            )
        parts_of(session, ())  # the plan: from now on another range of sizes waits for the next iteration
    known = {content_of(record) for _, record in store.games(1 << 62)}
    refused: list[str] = []
    boards: list[tuple[int, str]] = []
    doubles = taken = 0
    place = max([i for i in store.game_indices(iteration) if i >= IMPORTED], default=IMPORTED - 1) + 1
    with store.transaction("import"):
        for record in records:
            wrong = fault(sizes.get(record.board, game), record)
            content = content_of(record)
            if wrong:
                refused.append(f"game {record.index + 1} {wrong}")
            elif content in known:
                doubles += 1
            else:
                known.add(content)
                store.add_games(iteration, NO_VERSION, [record._replace(index=place + taken)])
                boards.append((place + taken, record.board))
                taken += 1
        if taken and sizes:
            store.set_sizes(iteration, with_imported(store.sizes_in(iteration) or "", boards))
        if taken:
            origin = {"run": about["run"][:200], "sha256": hashlib.sha256(data).hexdigest(), "iteration": iteration,
                      "first": place, "games": taken, "refused": len(refused)}  # fmt: skip
            store.put("imports", json.dumps([*json.loads(store.get("imports") or "[]"), origin]))
    session.loggers.memory.info("imported %d games of %s", taken, ascii(about["run"][:60]))
    return Exchanged(taken, doubles, refused, iteration, about.get("left_out", 0))
