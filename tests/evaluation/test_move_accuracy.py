"""What moves on solved positions are worth: perfect players, random ones against arithmetic, networks alone."""

import numpy as np
import pytest

import games
from agent import Agent, Player
from config import SearchSettings
from evaluation.move_accuracy import (
    chance,
    choose,
    choose_alone,
    hardness,
    measure,
    share,
    stages,
    value_error,
    without_solver,
)
from evaluation.solved_positions import oracle, positions
from MCTS import Decision
from players.simple import RandomPlayer
from support.search_cases import Projection


@pytest.fixture(scope="module")
def solved():
    game = games.make("tictactoe")
    who = oracle(game)
    return game, who, positions(game, who, 1000, 0)


class Choosing(Player):
    """Chooses by a rule of the scores, which it looks up."""

    def __init__(self, game, found, rule):
        super().__init__("choosing", game)
        self.scores = {p.state.id: p.scores for p in found}
        self.rule = rule

    def act_many(self, slots, states, taus):
        chosen = [self.rule(self.scores[s.id]) for s in states]
        return [Decision(a, np.zeros(self.game.action_size), 0.0) for a in chosen]


class Knowing:
    """A network that knows the exact values of positions and moves, by what it sees."""

    def __init__(self, game, found):
        self.size = game.action_size
        self.values, self.logits = {}, {}
        for p in found:
            self.logits[p.state.planes().tobytes()] = np.array([p.scores.get(a, 9.0) for a in range(self.size)])
            for action, value in p.values.items():
                self.values[p.state.takeAction(action)[0].planes().tobytes()] = -value

    def __call__(self, planes):
        keys = [p.tobytes() for p in planes]
        none = np.zeros(self.size)
        return (
            np.array([self.values.get(k, 0.0) for k in keys], np.float32),
            np.array([self.logits.get(k, none) for k in keys], np.float32),
        )


def kept(player, solved, **options):
    _, who, found = solved
    return measure(choose(player, found, **options)[0], found, who.bands)


def test_a_perfect_player_keeps_every_value(solved):
    game, _, found = solved
    result = kept(Choosing(game, found, lambda scores: max(scores, key=scores.get)), solved)
    assert result.kept.share == result.best.share == 1.0 and result.kept.low < 1.0
    assert all(s.share == 1.0 for _, s in result.stages + result.difficulties)


def test_a_player_who_takes_the_worst_move_keeps_none(solved):
    game, _, found = solved
    assert kept(Choosing(game, found, lambda scores: min(scores, key=scores.get)), solved).kept.share == 0.0


def test_a_random_player_keeps_what_arithmetic_says(solved):
    game, who, found = solved
    odds = np.array([len(p.keeping) / len(p.scores) for p in found])
    assert chance(found)["kept"] == pytest.approx(odds.mean())
    shares = [kept(RandomPlayer(game), solved, seed=seed).kept.share for seed in range(6)]
    spread = np.sqrt((odds * (1 - odds)).sum()) / len(found) / np.sqrt(6)
    assert abs(np.mean(shares) - odds.mean()) < 4 * spread and len(set(shares)) > 1


def test_stages_and_difficulties_each_hold_every_position_once(solved):
    _, who, found = solved
    for groups in (stages(found, who.bands), hardness(found)):
        assert (sum(mask.astype(int) for _, mask in groups) == 1).all()
    by_name = {name: [p for p, inside in zip(found, mask, strict=True) if inside] for name, mask in hardness(found)}
    assert all(len(p.keeping) == 1 for p in by_name["one move keeps"])
    assert all(1 < len(p.keeping) <= len(p.scores) / 2 for p in by_name["up to half keep"])
    assert all(len(p.keeping) > len(p.scores) / 2 for p in by_name["more keep"])
    names = [name for name, _ in stages(found, (0, 2, 5))]
    assert names == ["plies 0-1", "plies 2-4", "plies 5-7"]


def test_shares_of_nothing_are_none_and_intervals_hold_the_share():
    assert share([]) == (0, None, None, None) and str(share([])) == "-"
    found = share([True] * 7 + [False] * 3)
    # Wilson's formula by hand: centre (0.7 + z2/20) / (1 + z2/10), half-width as in Wilson 1927
    z2 = 1.96**2
    centre, half = (0.7 + z2 / 20) / (1 + z2 / 10), 1.96 / (1 + z2 / 10) * np.sqrt(0.021 + z2 / 400)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))


def test_a_network_that_knows_all_is_right_alone_and_its_values_have_no_error(solved):
    game, who, found = solved
    agent = Agent("knowing", game, Knowing(game, found), leaves=1)
    assert measure(choose_alone(agent, found), found, who.bands).best.share == 1.0
    fit = value_error(agent, found)
    following = sum(not p.state.takeAction(a)[2] for p in found for a in p.scores)
    assert fit.positions == following and fit.mean_absolute_error == 0.0 and fit.correlation == pytest.approx(1.0)


def test_a_network_without_an_opinion_has_the_error_of_zero(solved):
    game, _, found = solved

    def blank(planes):
        return np.zeros(len(planes), np.float32), np.zeros((len(planes), game.action_size), np.float32)

    fit = value_error(Agent("blank", game, blank, leaves=1), found)
    exact = [v for p in found for a, v in p.values.items() if not p.state.takeAction(a)[2]]
    assert fit.mean_absolute_error == pytest.approx(np.mean(np.abs(exact))) and fit.correlation == 0.0


def test_the_network_alone_never_chooses_an_illegal_move(solved):
    game, _, found = solved
    chosen = choose_alone(Agent("knowing", game, Knowing(game, found), leaves=1), found)
    assert all(a in p.scores for a, p in zip(chosen, found, strict=True)), "its logits are highest at illegal moves"


def test_searches_that_go_on_choose_as_those_of_their_own(solved):
    game, _, found = solved
    several = choose(Agent("a", game, Projection(game), leaves=1), found, [4, 40, 90])
    assert list(several) == [4, 40, 90]
    for sims in several:
        alone = choose(Agent("a", game, Projection(game), leaves=1), found, [sims])[sims]
        assert np.mean(np.array(alone) != several[sims]) < 0.03, "they differ in ties only, which chance decides"


def test_more_simulations_keep_more(solved):
    game, who, found = solved
    chosen = choose(Agent("a", game, Projection(game), leaves=1), found, [2, 400])
    few, many = (measure(chosen[n], found, who.bands).kept.share for n in (2, 400))
    assert many > few + 0.05


def test_positions_are_searched_in_parts_that_do_not_matter(solved, monkeypatch):
    game, _, found = solved
    whole = choose(RandomPlayer(game), found, seed=5)
    told = []
    monkeypatch.setattr("evaluation.move_accuracy.SIDE_BY_SIDE", (7, 7))
    assert choose(RandomPlayer(game), found, seed=5, report=told.append) == whole
    assert told[0] == 7 and told[-1] == len(found)


class Told(RandomPlayer):
    """Knows the position by the moves it was told of only."""

    def new_game(self, slot, seed):
        super().new_game(slot, seed)
        self.known = getattr(self, "known", {})
        self.known[slot] = self.game.start()

    def observe(self, slot, action):
        self.known[slot] = self.known[slot].takeAction(action)[0]

    def act_many(self, slots, states, taus):
        assert [self.known[s].id for s in slots] == [state.id for state in states]
        return super().act_many(slots, states, taus)


def test_players_are_told_the_moves_that_led_to_a_position(solved):
    game, _, found = solved
    choose(Told(game), found[:40])


@pytest.mark.parametrize("at_once, expected", [(1, 1), (64, 16)])
def test_a_player_is_asked_about_no_more_positions_than_it_takes_at_once(solved, at_once, expected):
    game, _, found = solved
    asked = []

    class Clocked(RandomPlayer):
        def act_many(self, slots, states, taus):
            asked.append(len(states))
            return super().act_many(slots, states, taus)

    player = Clocked(game)
    player.at_once = at_once
    choose(player, found[:32])
    assert set(asked) == {expected}


def test_endings_are_not_measured_by_the_solver_that_knows_them():
    """In Othello the player solves the oracle's very positions: one simulation of any network would keep all values."""
    game = games.make("othello(size=6)")
    who = oracle(game)
    found = positions(game, who, 40, 0)
    agent = Agent("a", game, Projection(game), SearchSettings(endgame=10), leaves=1)
    assert measure(choose(agent, found, [1])[1], found, who.bands).kept.share == 1
    alone = without_solver(agent, who)
    assert measure(choose(alone, found, [1])[1], found, who.bands).kept.share < 0.9
    tictactoe = games.make("tictactoe")
    agent = Agent("a", tictactoe, Projection(tictactoe), SearchSettings(endgame=4))
    assert without_solver(agent, oracle(tictactoe)) is agent, "where all positions are known, as it plays"
