"""The door for other programs, as it is used from a checkout; tests/slow/test_wheel.py runs the examples installed."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from alphazero_keras import UserError, load_player, play_match, train
from players.by_name import make_player


@pytest.fixture(scope="module")
def player():
    return load_player("shipped", game="tictactoe", sims=60)


def test_a_thought_is_for_the_player_to_move_and_repeats(player):
    first = player.think("b2 a2")
    player.think("a1")
    again = player.think([4, 3])
    assert first[:3] == again[:3] and first.main_line == again.main_line and (first.policy == again.policy).all()
    assert first.move == first.main_line[0] and first.policy.argmax() == first.action
    assert first.policy.shape == (9,) and first.policy.sum() == pytest.approx(1)
    fresh = load_player("shipped", game="tictactoe", sims=60)  # four moves have the most visits
    assert fresh.think("").action == fresh.think("").action
    assert player.think("b2 a2 a1").value < -0.9 < 0.9 < player.think("b2 a2 a1 a3").value


def test_chance_differs_from_position_to_position_and_by_the_seed():
    """A level that drew one number for all positions slipped at every move of a game, or at none."""
    lines = ["", "1", "12", "123", "1234", "12345", "123456"]
    first, again, other = (load_player("random", seed=seed) for seed in (0, 0, 1))
    chosen = [first.think(line).action for line in lines]
    assert len(set(chosen)) > 1 and chosen == [again.think(line).action for line in lines]
    assert chosen != [other.think(line).action for line in lines]


@pytest.mark.parametrize("name", ["shipped", "alphabeta:4", "level:2"])
def test_threads_that_share_a_player_get_the_answers_that_it_gives_alone(name):
    """Of 50 answers up to 49 were wrong, and the process could end by a fault of memory."""
    player, lines = load_player(name, game="tictactoe", sims=60), ["", "b2", "a1", "b2 a1", "a3 b2"] * 4

    def answer(line):
        found = player.think(line)
        return found.action, found.value, found.policy.tolist()

    alone = [answer(line) for line in lines]
    with ThreadPoolExecutor(5) as threads:
        assert list(threads.map(answer, lines)) == alone


@pytest.mark.parametrize("name", ["rollout:40", "solver", "random", "level:1", "net:shipped", "alphabeta:2"])
def test_players_of_every_kind_think(name):
    thought = load_player(name, game="tictactoe").think("b2 a2")
    assert thought.main_line == [thought.move] and thought.policy.sum() == pytest.approx(1)
    assert thought.policy[thought.action] > 0 and -1 <= thought.value <= 1


def test_a_network_evaluates_positions_in_one_batch(player):
    values, policies = player.evaluate(["", "b2", "b2 a2 a1 a3 c3"])
    alone = make_player("shipped", player._player.game)
    value, probabilities, _ = alone.get_preds(alone.game.start())
    assert values.shape == (3,) and values[0] == pytest.approx(value, abs=0.02)
    assert np.allclose(policies[0], probabilities, atol=0.02) and policies[1][4] == 0
    assert values[2] == -1 and not policies[2].any()
    assert load_player("net:shipped", game="tictactoe").evaluate([""]).values.shape == (1,)
    assert player.evaluate([]).policies.shape == (0, 9)


def test_a_game_that_is_over_has_an_outcome(player):
    assert player.outcome("b2 a2 a1 a3") is None and player.outcome("b2 a2 a1 a3 c3") == -1
    with pytest.raises(UserError, match="the game is over"):
        player.think("b2 a2 a1 a3 c3")


def test_mistakes_are_named(player):
    for position in ("b2 b2", "z9", [4, 4], [99]):
        with pytest.raises(UserError):
            player.think(position)
    with pytest.raises(UserError, match="a player with a network"):
        load_player("random", game="tictactoe").evaluate([""])
    with pytest.raises(UserError, match="a person"):
        load_player("human", game="tictactoe")
    with pytest.raises(UserError, match="an even number"):
        play_match("random", "random", game="tictactoe", games=3)


def test_what_is_no_position_and_no_number_is_named_and_never_taken_for_another(player):
    for position in (["b2", "a3"], ["4", "4"], [4.0], [True], None, 4453, b"b2", {4: 0}, {4}):
        with pytest.raises(UserError, match="a line of moves as text, or a list of actions"):
            player.think(position)
    assert player.think([np.int64(4)]).move == player.think("b2").move
    for positions in ("b2 a3", 4, None):
        with pytest.raises(UserError, match="positions: expected a list of positions"):
            player.evaluate(positions)
    match = {"player1": "random", "player2": "random", "game": "tictactoe"}
    for call, wrong in (
        (load_player, {"sims": 0}),
        (load_player, {"sims": 5.5}),
        (load_player, {"sims": "5"}),
        (load_player, {"sims": 2**70}),
        (load_player, {"seed": -1}),
        (load_player, {"seed": True}),
        (load_player, {"name": None}),
        (load_player, {"game": None}),
        (train, {"game": None}),
        (play_match, {"games": "4"}),
        (play_match, {"games": 2**40}),
        (play_match, {"opening_plies": -3}),
        (play_match, {"seed": -1}),
        (play_match, {"player1": player}),
        (load_player, {"sims": np.array([5, 6])}),
        (load_player, {"sims": np.array(5.5)}),
        (load_player, {"runs": 5}),
        (load_player, {"runs": "a\0b"}),
        (load_player, {"game": "a\0b.py:Own"}),
        (train, {"preset": 5}),
        (train, {"on_iteration": 5}),
    ):
        (name,) = wrong
        with pytest.raises(UserError, match=f"{ {'name': 'player', 'player1': 'player'}.get(name, name)}: expected"):
            call(**{play_match: match, train: {"game": "tictactoe"}, load_player: {}}[call] | wrong)


def test_a_match_is_the_same_again():
    first, again = (play_match("rollout:30", "random", game="tictactoe", games=12) for _ in range(2))
    assert first == again and first.wins + first.draws + first.losses == 12
    assert 0 <= first.interval[0] <= first.score <= first.interval[1] <= 1
