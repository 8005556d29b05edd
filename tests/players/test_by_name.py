"""Players by name: a best that has learned nothing is told, what ships is named, and names are read back."""

from types import SimpleNamespace

import pytest

import games
from agent import Agent
from config import UserError
from players.by_name import make_player, one_at_a_time
from players.names import ADDED, NETWORKS, PLAYERS
from players.uct import spiel_name
from search.tables import MAX_EDGES, capacity_for, forest_bytes, make_forest, tree_room
from support.board_drawings import play
from support.search_cases import Projection, plain_search


def test_every_form_that_is_shown_is_one():
    known = PLAYERS.split(", ")
    assert set(NETWORKS.split(", ")) < set(known) and len(known) == 21 + len(ADDED)
    for name in known:
        try:
            make_player(name, games.make("tictactoe"))
        except UserError as error:
            assert "expected a player such as" not in str(error), name


@pytest.mark.parametrize("name", ["rolout:500", "random:5", "run0001:5", "uct:2s", "level", "shipped:version"])
def test_a_name_that_is_nearly_one_is_refused_with_those_there_are(name):
    with pytest.raises(UserError, match="expected a "):
        make_player(name, games.make("tictactoe"))


def test_openspiels_uct_plays_go_with_any_komi():
    pyspiel = pytest.importorskip("pyspiel", reason="needs open_spiel")
    for komi in ("0", "7", "7.5", "24.5"):
        found = pyspiel.load_game(spiel_name(games.make(f"go(komi={komi})")))
        assert found.get_parameters()["komi"] == float(komi)


def test_who_plays_one_game_at_a_time_is_told_by_the_name():
    alone = ["human", " Human", "-1", "rollout:2s", "rollout:0.5s+book", "alphabeta:1s"]
    alone += [f"{head.upper()}:gnugo --mode gtp" for head in ADDED]
    alone += ["sym:best:2s", "shipped:0.5s+book"]
    assert all(map(one_at_a_time, alone))
    assert not any(map(one_at_a_time, ["best", "run0001:version0003", "rollout:100", "uct:10", "level:2", "random"]))


def ticking(monkeypatch):
    """Let the clock of searches go on by a second whenever it is read; return [the time]."""
    now = [0.0]

    def monotonic():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr("agent.time", SimpleNamespace(monotonic=monotonic))
    return now


def test_a_clock_or_a_deadline_ends_a_search_before_its_simulations(monkeypatch):
    game = games.make("gomoku(size=15)")
    state, network = game.start(), Projection(game)
    Agent("warm", game, network, mcts_sims=9).act(state, 0)
    for name in ("seconds", "deadline"):
        agent = Agent("x", game, network, mcts_sims=100_000)
        setattr(agent, name, 0.0)
        agent.new_games(1)
        agent.new_game(0, 1)
        decision = agent.act_many([0], [state], [0.0])[0]
        assert decision.action in state.allowedActions and agent.MCTS.root.visits < 100
    clock = ticking(monkeypatch)
    agent = Agent("x", game, network, mcts_sims=100_000, seconds=50.0)
    agent.act(state, 0)
    assert 50 < clock[0] < 55 and 50 <= agent.MCTS.root.visits < 100_000


def test_a_clock_is_asked_where_the_network_is_not(monkeypatch):
    """Small games are soon known to their end; without proofs the search goes on through them."""
    game = games.make("tictactoe")
    clock = ticking(monkeypatch)
    agent = Agent("x", game, Projection(game), mcts_sims=1_000_000, seconds=50.0)
    agent.act(game.start(), 0)
    assert 50 < clock[0] < 55 and 0 < agent.MCTS.root.visits < 950_000
    patient = Agent("x", game, Projection(game), plain_search(proofs=True), mcts_sims=10_000)
    root = patient.think(play(game, "b2 b1"), stop=lambda: False)
    assert root.proven == 1.0 and root.visits < 10_000, "a proven root needs no more visits"


def test_players_with_large_trees_play_fewer_games_at_once():
    small, large = games.make("connect4"), games.make("gomoku(size=15)")
    assert make_player("rollout:100", small).at_once == 64 == make_player("rollout:400", small).at_once
    crowd = make_player("rollout:20000", large).at_once
    assert 2 <= crowd < 16 and make_player("rollout:1000000", large).at_once == 2
    assert Agent("x", large, Projection(large), mcts_sims=20_000).at_once == crowd
    assert crowd * forest_bytes(large, 1, 1, capacity_for(20_000, 1)) <= 2**31


def test_trees_beyond_what_can_be_counted_are_refused_unless_they_have_a_limit():
    game = games.make("go(size=19)")
    forest = make_forest(game, 2, 1, capacity_for(10**9, 1), most=2**28)
    assert forest.edges.nbytes + forest.moves.nbytes <= 2**28 and forest.node_price
    room = tree_room(game, capacity_for(10**9, 1), MAX_EDGES * 24)
    assert room.edge_capacity == MAX_EDGES and room.capacity * 8 < MAX_EDGES
    with pytest.raises(UserError, match="at most 2,147,483,647 moves, got 64 trees"):
        make_forest(game, 64, 1, capacity_for(100_000, 1))
