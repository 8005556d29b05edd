"""A run searches by its settings everywhere."""

import dataclasses

import games
from initialise import Session
from MCTS import MCTS
from players.by_name import network_player
from support.tiny_runs import QUIET, tiny
from training.selfplay import SelfPlay
from training.selfplay_step import compiled_settings


def seen(mcts):
    """Return what reached a tree of the settings: its rule, and what its solver does."""
    solver = mcts.forest.solver
    return mcts.puct, solver.proofs, solver.look_ahead, solver.forced_wins, solver.leaf_ply


def test_a_run_searches_by_its_config_everywhere(tmp_path):
    game = games.make("tictactoe")
    config = tiny(cpuct=2.5, look_ahead=1, endgame=3, forced_playouts=2.0, alpha=0.9)
    (worker,) = SelfPlay(game, config, threads=1).workers
    assert seen(worker.mcts) == seen(MCTS(game, config.search, trees=worker.trees))
    assert compiled_settings(config).alpha == 0.9
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        agent = session.agent(0)
        assert agent.search == config.search and agent.mcts_sims == config.eval_sims
    player = network_player(game, 1, "current", sims=3, root=tmp_path, changes={"endgame": 0}, leaves=1)
    assert player.search == dataclasses.replace(config.search, endgame=0) and player.mcts_sims == 3
