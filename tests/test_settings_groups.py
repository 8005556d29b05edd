"""Settings in groups: each is in one, a group says what the flat config says, and what is passed is what searches."""

import dataclasses

import numpy as np
import pytest

import config as c
import games
from agent import Agent
from config import PLAIN_SEARCH, Config, SearchSettings, SettingsError
from evaluation.promotion import tournament
from interface import help
from MCTS import MCTS
from players.simple import RandomPlayer
from search.select import puct_of
from support.search_cases import GAMES, Projection, plain_search
from support.tiny_runs import tiny

GROUPS = {
    "search": c.SearchSettings, "selfplay": c.SelfPlaySettings, "memory": c.MemorySettings,
    "training": c.TrainingSettings, "network": c.NetworkSettings, "tournament": c.TournamentSettings,
    "scoreboard": c.ScoreboardSettings,
}  # fmt: skip
OTHER = {"cpuct": 2.0, "epsilon": 0.5, "alpha": 0.7, "fpu_reduction": -1.0, "proofs": True, "look_ahead": 1,
         "endgame": 9, "forced_playouts": 2.0, "forced_wins": 1}  # fmt: skip
"""For each setting of a search one that is not the plain search's."""


def names(kind):
    return [f.name for f in dataclasses.fields(kind)]


def test_every_setting_is_in_one_group_or_says_what_the_run_is():
    found = [*names(c.RunSettings), *(name for kind in GROUPS.values() for name in names(kind))]
    assert sorted(found) == sorted(c.FIELDS) and len(found) == len(set(found))
    assert names(c.RunSettings) == ["game", "seed", "iterations", "minutes", "evaluations"] == [*c.FIELDS][:5]
    own = {name for name in vars(Config) if isinstance(vars(Config)[name], c._Group)}
    assert own == GROUPS.keys() - {"network"}, "there it is the name of a network of one's own"


@pytest.mark.parametrize("name", sorted(GROUPS.keys() - {"network"}))
def test_a_group_says_what_the_flat_config_says(name):
    flat = tiny(
        cpuct=3, endgame=7, mcts_sims=5, memory_size=500, reuse=2.0, policy_filters=3, opening_plies=1, score_games=6,
        hidden_cnn_layers=["8x3", "8x5"],
    )  # fmt: skip
    for config in (Config(), flat):
        group = getattr(config, name)
        assert type(group) is GROUPS[name] and hash(group)
        assert dataclasses.asdict(group) == {each: getattr(config, each) for each in names(group)}
    assert getattr(Config(), name) == GROUPS[name](), "the same defaults"
    assert getattr(flat, name) != getattr(Config(), name)


def test_a_group_is_a_frozen_value_that_checks_itself():
    search = Config().search
    with pytest.raises(dataclasses.FrozenInstanceError):
        search.cpuct = 2.0
    with pytest.raises(TypeError):
        SearchSettings(2.0)
    with pytest.raises(SettingsError, match="cpuct: expected a number from 0.01 to 100, got 0"):
        dataclasses.replace(search, cpuct=0)
    with pytest.raises(SettingsError, match="at most memory_size"):
        dataclasses.replace(Config().memory, memory_size=100)
    assert c.NetworkSettings(hidden_cnn_layers=["8x3"]).hidden_cnn_layers == ("8x3",), "as from a file"


def test_a_plain_search_differs_from_the_default_in_what_proves_and_solves_alone():
    plain, usual = dataclasses.asdict(PLAIN_SEARCH), dataclasses.asdict(Config().search)
    assert {name for name in plain if plain[name] != usual[name]} == {"proofs", "look_ahead", "endgame"}
    assert not any(plain[name] for name in ("proofs", "look_ahead", "endgame"))


def test_the_help_of_every_setting_is_found_where_it_is_inherited():
    entries = {name: entry for _, group in help._groups(Config()) for name, entry in group.items()}
    assert entries.keys() == c.FIELDS.keys() and all(text for text, _, _ in entries.values())
    assert entries["cpuct"][0] == "Weight of the priors in the search, c in PUCT (article: 1)."


# ---- a search searches by what it was given


def seen(mcts):
    """Return what reached a tree of the settings: its rule, and what its solver does."""
    solver = mcts.forest.solver
    return mcts.puct, solver.proofs, solver.look_ahead, solver.forced_wins, solver.leaf_ply


@pytest.mark.parametrize("name", [name for name in names(SearchSettings) if name != "alpha"])
def test_every_setting_of_a_search_reaches_the_tree(name):
    game = games.make("gomoku") if name == "forced_wins" else GAMES["connect4"]  # wins by force need gomoku's rules
    base = plain_search(proofs=name != "proofs", look_ahead=2 if name == "forced_wins" else 0)
    other = dataclasses.replace(base, **{name: OTHER[name]})
    assert seen(MCTS(game, base)) != seen(MCTS(game, other)) == seen(MCTS(game, other))


def test_the_numbers_of_the_rule_are_those_of_the_settings():
    search = SearchSettings(**OTHER)
    puct = puct_of(search, leaves=8)
    assert puct == (2.0, 0.5, -1.0, 1.0, False, 2.0)
    assert puct_of(search, ucb=True) == puct._replace(virtual_loss=0.0, ucb=True)
    told = [type(value) for value in puct_of(plain_search(cpuct=2, epsilon=1, fpu_reduction=0, forced_playouts=1))]
    assert told == [float, float, float, float, bool, float], "else it would be compiled twice"


def test_a_bare_search_is_a_plain_one():
    game = GAMES["connect4"]
    assert seen(MCTS(game)) == seen(MCTS(game, PLAIN_SEARCH))
    assert Agent("bare", game, Projection(game)).search == PLAIN_SEARCH


@pytest.mark.parametrize("logged", [False, True])
def test_an_agent_searches_by_a_replaced_group(logged):
    game = GAMES["connect4"]
    search = dataclasses.replace(Config().search, cpuct=3.0, endgame=5)
    agent = Agent("own", game, Projection(game), search, mcts_sims=20, leaves=1)
    agent.act(game.start(), 0.0)
    agent.new_games(2)
    for mcts in (agent.MCTS, agent._games.trees):
        assert mcts.puct == puct_of(search) and mcts.puct.cpuct == 3.0
        solver = mcts.forest.solver
        assert (solver.look_ahead, solver.leaf_ply) == (2, game.max_plies - 5)
    twin = agent.twin(game, 10, changes={"endgame": 0})
    assert twin.search == dataclasses.replace(search, endgame=0) and agent.search == search
    assert agent.twin(game, 10).search == search


def test_noise_is_of_the_concentration_that_the_group_says():
    game, noise = GAMES["connect4"], {}
    for alpha in (0.05, 50.0):
        agent = Agent("noisy", game, Projection(game), plain_search(alpha=alpha), mcts_sims=4, noisy=True)
        agent.act(game.start(), 0.0)
        noise[alpha] = agent.MCTS.forest.noise[0]
    assert np.ptp(noise[50.0]) < 0.2 < np.ptp(noise[0.05])


def test_a_tournament_takes_its_group():
    game, settings = GAMES["tictactoe"], dataclasses.replace(Config().tournament, eval_episodes=6)
    told = [tournament(game, RandomPlayer(game), RandomPlayer(game), each, seed=1)
            for each in (settings, tiny(game="tictactoe", **dataclasses.asdict(settings)))]  # fmt: skip
    assert told[0] == told[1] and told[0].score.games == 6


@pytest.mark.parametrize("name", ["prove", "forced", "fpu", "mcts_sims"])
def test_an_option_that_no_search_has_is_refused(name):
    game = GAMES["connect4"]
    agent = Agent("own", game, Projection(game))
    for wrong in (
        lambda: SearchSettings(**{name: 1}),
        lambda: dataclasses.replace(PLAIN_SEARCH, **{name: 1}),
        lambda: agent.twin(game, 10, changes={name: 1}),
        lambda: MCTS(game, **{name: 1}),
    ):
        with pytest.raises(TypeError, match=name):
            wrong()


@pytest.mark.parametrize("name", names(SearchSettings))
def test_a_setting_of_the_search_beside_the_group_is_refused(name):
    game = GAMES["connect4"]
    for wrong in (lambda: MCTS(game, **{name: 1}), lambda: Agent("own", game, Projection(game), **{name: 1})):
        with pytest.raises(TypeError, match=name):
            wrong()
