"""What the players that ship never do wrong, in quick searches; their strength is in benchmarks/RESULTS.md."""

import numpy as np
import pytest

import games
from game import NO_WIN
from players.by_name import make_player
from storage.run_folders import shipped_run
from support.game_samples import crowded_line

CENTRES = {"connect4": "4", "go(komi=24.5)": "c3", "littlego": "c3"}


def shipped(spec, sims):
    if shipped_run(spec) is None:
        pytest.fail(f"no player of {spec} ships")
    return make_player("shipped", games.make(spec), sims=sims)


@pytest.mark.parametrize("spec", CENTRES)
def test_it_opens_in_the_centre(spec):
    agent = shipped(spec, 200)
    assert agent.game.move_name(agent.act(agent.game.start(), 0)[0]) == CENTRES[spec]


@pytest.mark.parametrize("spec", ["gomoku", "gomoku(size=8)", "connect4"])
def test_it_never_misses_a_win_at_once_or_the_block_of_one(spec):
    agent = shipped(spec, 16)
    game, rng, won, blocked = agent.game, np.random.default_rng(0), 0, 0
    out = np.zeros(game.action_size, np.int32)
    for _ in range(12):
        for state in crowded_line(game, rng, wide=game.action_size // 3):
            winning, safe = game.rules.winning(state.row), game.rules.safe(state.row, out)
            if winning != NO_WIN:
                won += 1
                assert state.takeAction(agent.act(state, 0)[0])[2], f"\n{state}"
            elif safe == 1:
                blocked += 1
                assert agent.act(state, 0)[0] == out[0], f"\n{state}"
    assert won > 10 and blocked > 10
