"""Matches: who plays what, counts, memory, openings, a person in a game."""

import io
import itertools
import logging

import numpy as np
import pytest

from agent import Agent, Player, Quit, User
from evaluation.match import play_alone, play_batch
from evaluation.openings import identity, openings
from funcs import playMatches
from games import connect4
from memory import Memory
from players.simple import RandomPlayer
from search.trace import SearchLog
from support.match_players import LOG, Drawn, Spy, match, replayed
from support.search_cases import GAMES, Projection, always

# ---- playMatches


@pytest.mark.parametrize("goes_first", [0, 1, -1])
@pytest.mark.parametrize("name", GAMES)
def test_scores_points_and_sides_are_those_of_the_games_played(name, goes_first):
    game = GAMES[name]
    result, records = match(game, 30, goes_first=goes_first)
    assert sorted(records) == list(range(30))
    wins, sides = {"A": 0, "drawn": 0, "B": 0}, {"sp": 0, "drawn": 0, "nsp": 0}
    points = []
    for index in range(30):
        end = replayed(game, records[index])
        assert end.isEndGame and records[index].result == end.value * end.playerTurn
        began = np.sign(records[index].result)
        a_began = {1: True, -1: False, 0: index % 2 == 0}[goes_first]
        for_a = began if a_began else -began
        wins[{1: "A", 0: "drawn", -1: "B"}[for_a]] += 1
        sides[{1: "sp", 0: "drawn", -1: "nsp"}[began]] += 1
        points.append((1 + for_a) / 2)
    assert result.scores == wins and result.sp_scores == sides
    assert result.points == {"A": points, "B": [1 - p for p in points]}
    assert {0.0, 1.0} <= set(points)


def test_both_colours_of_each_opening_are_played():
    game = GAMES["connect4"]
    a, b = Spy("A", game), Spy("B", game)
    _, records = match(game, 20, players=(a, b), opening_plies=3)
    lines = [records[i].moves[:3].tolist() for i in range(20)]
    assert lines[0::2] == lines[1::2] and len({tuple(line) for line in lines}) > 5
    for player, begins in ((a, 0), (b, 1)):
        turns = {}
        for slot, turn, _ in player.asked:
            turns.setdefault(slot, set()).add(turn)
        assert turns == {slot: {1 if slot % 2 == begins else -1} for slot in range(20)}


@pytest.mark.parametrize("begins", [1, -1])
def test_one_player_can_begin_every_game_each_with_an_opening_of_its_own(begins):
    game = GAMES["connect4"]
    a = Spy("A", game)
    _, records = match(game, 12, players=(a, Spy("B", game)), goes_first=begins, opening_plies=2)
    assert {turn for _, turn, _ in a.asked} == {begins}
    assert len({tuple(r.moves[:2].tolist()) for r in records.values()}) == 12


def test_a_match_of_draws_counts_half_points():
    game = Drawn()
    result, _ = match(game, 10)
    assert result.scores == {"A": 0, "drawn": 10, "B": 0} and result.sp_scores == {
        "sp": 0,
        "drawn": 10,
        "nsp": 0,
    }
    assert result.points == {"A": [0.5] * 10, "B": [0.5] * 10}


def test_the_same_seed_gives_the_same_match_however_many_games_run_side_by_side():
    game = GAMES["connect4"]
    found = []
    for seed, in_flight in ((1, 64), (1, 7), (2, 64)):
        players = Agent("A", game, Projection(game), mcts_sims=15), RandomPlayer(game)
        _, records = match(game, 16, players=players, seed=seed, in_flight=in_flight, opening_plies=1)
        found.append([records[i].moves.tolist() for i in range(16)])
    assert found[0] == found[1] != found[2]
    assert len({tuple(moves) for moves in found[0]}) == 16


def test_moves_are_drawn_by_visits_only_in_the_first_turns():
    game = GAMES["connect4"]
    a, b = Spy("A", game), Spy("B", game)
    match(game, 4, players=(a, b), turns_until_tau0=5)
    taus = sorted([tau for _, _, tau in a.asked + b.asked], reverse=True)
    assert taus[:20] == [1.0] * 20 and set(taus[20:]) == {0.0}


def test_visits_of_a_match_are_learnt_from_and_players_without_a_search_teach_nothing():
    game = GAMES["tictactoe"]
    memory = Memory(game, 500)
    agent = Agent("A", game, Projection(game), mcts_sims=20)
    result = playMatches(game, agent, RandomPlayer(game), 6, LOG, 0, memory)
    assert result.memory is memory and len(memory.stmemory) == 6 and len(memory) == 0
    moves = sum(len(r.moves) for r in memory.stmemory)
    searched = [int(v.sum()) for r in memory.stmemory for v in r.visits if v.any()]
    assert memory.commit_ltmemory() == len(searched) and 0.3 < len(searched) / moves < 0.7
    assert min(searched) >= 20


def test_two_players_of_one_name_are_refused():
    game = GAMES["tictactoe"]
    with pytest.raises(ValueError, match="two names"):
        playMatches(game, RandomPlayer(game), RandomPlayer(game), 2, LOG, 0)


def test_every_game_is_logged_and_progress_is_told():
    game, stream, told = GAMES["tictactoe"], io.StringIO(), []
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    result = playMatches(game, Spy("A", game), Spy("B", game), 10, logger, 0, in_flight=4, report=told.append)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10 and told == [4, 8, 10]
    assert sum(": A, moves" in line for line in lines) == result.scores["A"]


# ---- openings


def positions_after(game, found):
    ids = []
    for moves in found:
        state = game.start()
        for action in moves:
            state = state.takeAction(action)[0]
        assert not state.isEndGame
        ids.append(identity(game, state))
    return ids


def test_openings_follow_from_seed_and_pair_and_no_position_comes_twice():
    for game, plies in ((GAMES["connect4"], 8), (GAMES["tictactoe"], 6), (GAMES["corridor"], 4)):
        found = openings(game, 30, plies=plies, seed=5)
        assert openings(game, 18, plies=plies, seed=5) == found[:18]
        assert openings(game, 30, plies=plies, seed=6) != found
        assert {len(moves) for moves in found} == {plies} and len(set(positions_after(game, found))) == 30
    assert openings(GAMES["connect4"], 0, plies=2, seed=0) == []


@pytest.mark.parametrize("count, plies, length", [(1, 0, 0), (2, 0, 1), (3, 1, 1), (4, 1, 2), (100, 0, 4), (30, 1, 3)])
def test_openings_are_longer_when_there_are_too_few_short_ones(count, plies, length):
    game = GAMES["tictactoe"]
    found = openings(game, count, plies=plies, seed=0)
    assert {len(moves) for moves in found} == {length} and len(set(positions_after(game, found))) == count


def test_a_game_without_so_many_openings_gives_those_it_has():
    game = connect4.Connect4(rows=2, columns=2, n=2)
    for plies in (0, 1, 2, 9):
        found = openings(game, 100, plies=plies, seed=0)
        assert len(found) == len(set(positions_after(game, found))) == 2
    assert {len(moves) for moves in openings(GAMES["tictactoe"], 3, plies=9, seed=0)} == {8}


# ---- a person in a game


class Scripted(Player):
    """Plays the first legal move of a list; knows what it was told of the game."""

    def __init__(self, name, game, wishes):
        super().__init__(name, game)
        self.wishes = wishes

    def new_game(self, slot, seed):
        self.told = []

    def observe(self, slot, action):
        self.told.append(action)

    def act(self, state, tau):
        action = next(a for a in self.wishes if a in state.allowedActions)
        return action, np.eye(self.game.action_size)[action], 0.0, 0.0


def played_alone(text, *, game="connect4", opening=(), first=True, wishes=(6, 5, 4)):
    game = GAMES[game]
    person = User("you", game, input=io.StringIO(text), output=io.StringIO())
    other = Scripted("other", game, wishes)
    found = play_alone(game, (person, other), (0, list(opening), first))
    assert other.told == found.moves, "the other was told of exactly the moves that count"
    return found


@pytest.mark.parametrize("leaves", [1, 8])
def test_a_game_played_alone_knows_nothing_of_those_before(leaves):
    game = GAMES["connect4"]
    network = Projection(game)
    agent, asked = Agent("agent", game, network, mcts_sims=40, leaves=leaves), []
    for _ in range(3):
        before = network.rows
        found = play_alone(game, (agent, Scripted("other", game, (6, 5, 4, 3, 2, 1, 0))), (0, [], True), seed=1)
        asked.append((network.rows - before, found.moves))
    assert asked[0] == asked[1] == asked[2]


def test_a_person_wins_against_a_player():
    found = played_alone("1\n1\n1\n1\n")
    assert found.moves == [0, 6, 0, 6, 0, 6, 0] and found.score == 1.0 and found.record.result == 1.0


def test_taking_back_returns_to_before_ones_own_last_move():
    found = played_alone("3\n1\n1\nundo\n2\nundo\nundo\nundo\nundo\n1\n1\n1\n1\n")
    assert found.moves == [0, 6, 0, 6, 0, 6, 0]
    kept = played_alone("3\n1\n1\nundo\n2\n4\n5\n")
    assert kept.moves[:7] == [2, 6, 0, 6, 1, 6, 3] and kept.score == 1.0


def test_the_moves_of_an_opening_cannot_be_taken_back():
    found = played_alone("undo\nundo\n1\nundo\nundo\n1\n1\n", opening=[0, 6, 0, 6])
    assert found.moves == [0, 6, 0, 6, 0, 6, 0] and found.opening == [0, 6, 0, 6]


def test_taking_back_after_a_second_turn_in_a_row_takes_one_stone():
    """a2 and d1 are ends of a lane: whoever puts a stone there moves again."""
    found = played_alone("a2\nd1\nundo\nb1\npass\n", game="corridor", wishes=(8,))
    names = [GAMES["corridor"].move_name(a) for a in found.moves]
    assert names == ["a2", "b1", "pass", "pass"]


@pytest.mark.parametrize("first", [True, False])
def test_who_resigns_has_lost(first):
    found = played_alone("1\nresign\n", first=first)
    assert found.score == 0.0 and found.record.result == (-1.0 if first else 1.0)
    assert len(found.moves) == (2 if first else 3)


def test_the_end_of_input_abandons_the_game():
    with pytest.raises(Quit):
        played_alone("1\n1\n")


def test_in_a_match_with_a_person_chance_differs_from_game_to_game():
    game = GAMES["tictactoe"]
    lines = []
    person = User("you", game, input=io.StringIO("a3\nresign\n" * 20), output=io.StringIO())
    memory = Memory(game, 10)
    result = playMatches(game, person, RandomPlayer(game), 10, LOG, 0, memory, 1)
    lines = [tuple(r.moves.tolist()) for r in memory.stmemory if len(r.moves) > 1]
    assert result.scores["random"] == 10 and len(set(lines)) > 3


# ---- strength


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_an_agent_without_any_knowledge_takes_every_win_in_one_and_beats_random(name):
    game = GAMES[name]
    agent = Agent("A", game, always(0.0, np.zeros(game.action_size)), mcts_sims=150)
    result, records = match(game, 20, players=(agent, RandomPlayer(game)), opening_plies=2)
    assert sum(result.points["A"]) >= 17
    chances = 0
    for index, record in records.items():
        state = game.start()
        for ply, action in enumerate(record.moves):
            mine = (state.playerTurn == 1) == (index % 2 == 0)
            wins = [a for a in state.allowedActions if state.takeAction(a)[1] == -1]
            if mine and wins and ply >= 2:
                chances += 1
                assert action in wins, f"\n{state}\nplayed {game.move_name(int(action))}"
            state = state.takeAction(int(action))[0]
    assert chances >= 10


def test_a_game_of_a_batch_is_told_move_by_move_to_both_players():
    game = GAMES["tictactoe"]
    a, b = Spy("A", game), Spy("B", game)
    (played,) = play_batch(game, (a, b), [(4, [0, 8], False)], seed=1)
    assert a.observed == b.observed == [played.moves] and played.moves[:2] == [0, 8]
    assert played.index == 4 and not played.first_began
    assert list(itertools.accumulate(len(v) for v in played.values))[-1] == len(played.moves) - 2


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_games_whose_searches_are_logged_are_those_of_others(name):
    """Several at once, from one opening, by lot and not: every slot has a tree and chance of its own."""
    game = GAMES[name]
    jobs = [(index, [0] if index < 4 else [], index % 2 == 0) for index in range(6)]
    found: list[list[list[int]]] = []
    mcts = logging.Logger("mcts")
    mcts.addHandler(logging.NullHandler())
    for observer in (None, SearchLog(mcts)):
        networks = (Projection(game, number) for number in (0, 1))
        players = tuple(Agent("x", game, network, mcts_sims=20, observer=observer) for network in networks)
        found.append([g.moves for g in play_batch(game, players, jobs, seed=5, turns_until_tau0=4)])
    assert found[0] == found[1] and len(set(map(tuple, found[0]))) > 2
