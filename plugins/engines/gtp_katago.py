"""KataGo's own commands for Go over GTP: its rules as JSON, and what the network says without a search.

Reference: GTP_Extensions.md of KataGo.
"""

from __future__ import annotations

import json
import logging

import numpy as np

from agent import Agent
from config import UserError
from game import GameState
from games.parameters import values_of
from plugins.engines.command_lines import Failure
from plugins.engines.gtp_go import change
from plugins.engines.gtp_session import Do, Session
from plugins.engines.rule_sets import description, notes_of, read_rules
from plugins.engines.serving import changed
from search.expand import legal_softmax

_LOGGER = logging.getLogger("alphazero.engines")


def get_rules(session: Session, words: list[str]) -> str:
    return json.dumps(description(session.game, session.bonus))


def set_rules(session: Session, words: list[str]) -> str:
    text = " ".join(words)
    try:
        rules = read_rules(json.loads(text) if text.startswith("{") else text)
    except (ValueError, RecursionError):
        raise Failure("Could not parse rules, expected an object in JSON") from None
    game = session.game
    if "ko" not in values_of(game):
        raise Failure(f"the rules of {game.name} are fixed")
    for note in notes_of(rules):
        _LOGGER.warning("kata-set-rules: %s", note)
    try:
        change(session, changed(game.set_up_from or game, ko=rules.ko, suicide=rules.suicide).longer(), rules.bonus)
    except UserError as error:
        raise Failure(f"the moves so far do not allow these rules: {str(error).splitlines()[0]}") from None
    return ""


def raw_nn(session: Session, words: list[str]) -> str:
    wanted = [str(n) for n in range(8)] if words[:1] == ["all"] else words[:1] or ["0"]
    if not set(wanted) <= set("01234567"):
        raise Failure("syntax error: expected a symmetry from 0 to 7, or all")
    player = session.thinker.player
    agent = player if isinstance(player, Agent) else getattr(player, "agent", None)
    if agent is None:
        raise Failure(f"{player.name} has no network")
    state = session.position.turned_to(session.position.to_move)
    return "\n".join(_raw(session, agent, state, int(symmetry)) for symmetry in wanted)


def _raw(session: Session, agent: Agent, state: GameState, symmetry: int) -> str:
    """Return what a network says of a position that is turned first: 1 upside down, 2 left to right, 4 transposed."""
    shape = session.game.grid_shape
    points, legal = shape[0] * shape[1], np.array(state.allowedActions)
    shown = _turned(np.arange(points).reshape(shape), symmetry)
    planes = state.planes()
    planes = planes.reshape(points, -1)[shown].reshape(1, *shown.shape, planes.shape[-1])
    value, logits = agent.predict(planes)
    back = np.empty_like(logits[0])
    back[shown.ravel()], back[points:] = logits[0][:points], logits[0][points:]
    priors = np.full(points + 1, np.nan)
    priors[legal] = legal_softmax(back[legal])
    white = (1 - float(value[0]) * state.playerTurn) / 2
    lines = [f"symmetry {symmetry}", f"whiteWin {white:.6f}", f"whiteLoss {1 - white:.6f}", "noResult 0"]
    lines += ["policy", *_rows(priors[:points].reshape(shape)), f"policyPass {priors[points]:.6f}"]
    territory = session.territory()
    if territory is not None and territory.by_network:
        owned = np.empty(points)
        owned[shown.ravel()] = territory.by_head(planes)[0].ravel() * state.playerTurn
        owned = owned.reshape(shape)
        lines += [f"whiteLead {-territory.score(owned, state):.4f}", "whiteOwnership", *_rows(-owned)]
    return "\n".join(lines)


def _turned(board: np.ndarray, symmetry: int) -> np.ndarray:
    """Return a board as a symmetry of KataGo's shows it."""
    board = board[::-1] if symmetry & 1 else board
    board = board[:, ::-1] if symmetry & 2 else board
    return board.swapaxes(0, 1) if symmetry & 4 else board


def _rows(board: np.ndarray) -> list[str]:
    return [" ".join("NAN" if np.isnan(value) else f"{value:.6f}" for value in row) for row in board]


COMMANDS: dict[str, Do] = {"kata-get-rules": get_rules, "kata-set-rules": set_rules, "kata-raw-nn": raw_nn}
