"""The search with gomoku's forced wins: what is proven at new positions and at roots, and what is left out."""

import numpy as np
import pytest

import games
from agent import Agent
from MCTS import MCTS
from players.by_name import level_player, make_player, network_player
from players.levels import Level
from search.solving.forced import AT_ROOT, ForcedSearch
from search.solving.forced_wins import win_length
from support.search_cases import GAMES, Projection, continued, plain_search
from support.tiny_runs import tiny
from training.selfplay import SelfPlay

GAME = games.make("gomoku(size=9)")
THREE, FORK, QUIET = np.zeros((3, 9, 9), int)
THREE[4, 3:6], THREE[8, [0, 3, 8]] = 1, -1
FORK[4, 2:4] = FORK[2:4, 4] = 1
FORK[8, [0, 3, 6, 8]] = -1
QUIET[4, 4], QUIET[3, 3] = 1, -1
PROVING = {"proofs": True, "look_ahead": 2}


def agent(forced, sims=40, **changes):
    search = plain_search(**PROVING, forced_wins=forced, **changes)
    return Agent("forced", GAME, Projection(GAME), search, mcts_sims=sims)


def test_a_win_by_fours_is_proven_and_played_without_the_network():
    player = agent(1)
    predictor, player.predictor = player.predictor, None
    root = player.think(GAME.set_up(THREE, 1))
    assert root.proven == 1.0 and root.visits == 1
    player.predictor = predictor  # `act` asks it for the value after the move
    assert GAME.move_name(player.act(GAME.set_up(THREE, 1), 0.0)[0]) in {"c5", "g5"}


def test_moves_that_leave_the_other_a_win_by_fours_get_no_visit_and_count_as_lost():
    state = GAME.set_up(THREE, -1)
    root = agent(1).think(state)
    tried = {GAME.move_name(action) for action, edge in root.edges if edge.stats["N"]}
    assert tried == {"c5", "g5"}
    assert {GAME.move_name(action) for action, edge in root.edges if edge.proven is None} <= {"c5", "g5"}
    without = agent(0).think(state)
    assert sum(edge.stats["N"] > 0 for _, edge in without.edges) > 2


def test_a_position_where_every_move_loses_is_lost_and_its_parent_won():
    cells = THREE.copy()
    cells[1, 3:6] = 1
    state = GAME.set_up(cells, -1)
    assert ForcedSearch(GAME)(state).defences == []
    mcts = MCTS(GAME, plain_search(**PROVING, forced_wins=1))
    mcts.plant(state)
    assert mcts.root.proven == -1.0
    assert agent(1).act(state, 0.0)[0] in state.allowedActions


@pytest.mark.parametrize("forced, proven", [(1, None), (2, 1.0)])
def test_a_win_by_threats_is_proven_at_the_root_where_the_setting_says_so(forced, proven):
    root = agent(forced, sims=2).think(GAME.set_up(FORK, 1))
    assert root.proven == proven


def test_a_child_with_visits_is_proven_by_threats_when_it_becomes_the_root():
    """The kept tree has visits of other moves; the winning one is played all the same."""
    cells = FORK.copy()
    cells[8, 8] = 0
    player, state = agent(2, sims=300), GAME.set_up(cells, -1)
    before = MCTS(GAME, plain_search(**PROVING), sims=300)
    before.set_root(state)
    before.search(Projection(GAME), 300)
    action, edge = max(before.root.edges, key=lambda pair: pair[1].stats["N"])
    after = state.takeAction(action)[0]
    found = ForcedSearch(GAME)(after, AT_ROOT)
    assert found.move is not None and found.plies == 0 and edge.outNode.visits > 1
    player.MCTS = continued(MCTS(GAME, plain_search(**PROVING, forced_wins=2), sims=300), before)
    action, _, value, _ = player.act(after, 0.0)
    assert action == found.move and value == 1.0 and player.searched[0].sum() > 1


def test_without_the_setting_and_in_other_games_the_search_is_as_before():
    state = GAME.set_up(QUIET, 1)
    counts = [agent(forced).act(state, 0.0)[1].tolist() for forced in (0, 1)]
    assert counts[0] == counts[1], "nothing is forced there"
    game = GAMES["connect4"]
    trees = [MCTS(game, plain_search(**PROVING, forced_wins=forced)) for forced in (0, 2)]
    for mcts in trees:
        mcts.plant(game.start())
        mcts.search(Projection(game), 60)
    assert (trees[0].visit_counts() == trees[1].visit_counts()).all()


def test_self_play_with_forced_wins_records_legal_games():
    game = games.make("gomoku(size=6,n=4)")
    play = SelfPlay(game, tiny(game=game.spec, forced_wins=2, look_ahead=2, proofs=True))
    records = list(play.play(Projection(game), [(i, i) for i in range(3)]))
    assert len(records) == 3
    for record in records:
        state = game.start()
        for action in record.moves:
            assert not state.isEndGame
            state = state.takeAction(int(action))[0]
        assert state.isEndGame


def test_the_length_of_a_win_is_counted_from_the_move_at_once_to_the_last_four():
    at_once = THREE.copy()
    at_once[4, 6] = 1
    cells = at_once, THREE, QUIET
    assert [win_length(GAME, GAME.set_up(board, 1), most=1) for board in cells] == [1, 3, None]


def test_in_play_a_network_sees_wins_by_threats_and_a_level_plays_as_it_was_measured():
    game = games.make("gomoku")
    state = game.set_up(FORK, 1)
    assert make_player("shipped", game, sims=2).think(state).proven == 1.0
    assert level_player(Level("shipped", 2, 0.0, 0.0), game).think(state).proven is None
    without = network_player(game, 0, "best", sims=2, changes={"forced_wins": 0})
    assert without.think(state).proven is None
