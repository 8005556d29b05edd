"""Compiles ahead what playing, self-play and the page need for a game, by a short game of everything."""

from __future__ import annotations

import numpy as np

from agent import Agent
from compiling.prepared import mark_prepared
from config import SearchSettings
from game import Game
from interface.explain import as_text, explain
from MCTS import MCTS
from memory import Memory
from players.by_name import make_player
from search.many_trees import Evaluator
from storage.game_exchange import fault
from training.presets import preset
from training.selfplay import SelfPlay, game_seed

SETTINGS = {"mcts_sims": 8, "fast_sims": 4, "games_in_flight": 2, "cache_size": 64}


def equal_priors(game: Game) -> Evaluator:
    """Return an evaluator that values every position 0 and prefers no move."""

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(planes), np.float32), np.zeros((len(planes), game.action_size), np.float32)

    return evaluate


def compile_ahead(game: Game) -> None:
    """Compile what a game needs: for a game of self-play, its positions in training, a move of each kind of player, and
    what people see of a search and of a game.
    """
    evaluate, state = equal_priors(game), game.start()
    selfplay = SelfPlay(game, preset("tiny", game=game.spec, **SETTINGS))
    records = list(selfplay.play(evaluate, [(0, game_seed("ahead", 1, 0))]))
    Memory(game, 100).extend(records)
    for record in records:
        fault(game, record)
    search = SearchSettings(forced_wins=2 if game.forced else 0)
    agent = Agent("ahead", game, evaluate, search, mcts_sims=8)
    agent.act(state, 1.0)
    agent.simulate()
    as_text(explain(agent, state), state)
    MCTS(game, search).addNode(state)
    if game.scored_by_area:
        game.points_in_words(state, 1)
    for player in ("rollout:4", "alphabeta:1"):
        make_player(player, game).act(state, 0.0)
    mark_prepared(game.spec)
