"""Analysis and thinking by the clock over GTP, with searches that the other program interrupts."""

import math
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
from engine_talk import Live, gtp_server, told_gtp

import compiled
import games
from agent import Agent
from config import UserError
from network.ownership import ownership_of
from network.stored_network import StoredNetwork
from players.book import Book, BookPlayer
from players.rollout import RolloutPlayer
from plugins.engines import thinking
from plugins.engines.serving import PlayerSource
from plugins.engines.snapshot import snapshot
from plugins.engines.territory import Territory
from plugins.engines.thinking import Thinker
from support.search_cases import Projection
from support.tiny_runs import tiny


def infos(line):
    """Return [{keyword: words}] of the moves in a line of analysis, and the words after them."""
    parts, rest = line.split("info ")[1:], ""
    found = []
    for part in parts:
        words, info, key = part.split(), {}, ""
        for word in words:
            if word in ("rootInfo", "ownership"):
                rest = part[part.index(word) :]
                break
            if word.isalpha() and word.islower() and word not in ("pass",) or word in KEYS:
                key = word
                info[key] = []
            else:
                info[key].append(word)
        found.append(info)
    return found, rest


KEYS = ("scoreMean", "scoreLead", "pvVisits", "movesOwnership")


@pytest.fixture(scope="module")
def engine():
    with Live(gtp_server, player="shipped", sims=50) as talk:
        yield talk


def lines_until(talk, count):
    """Return the next lines of an analysis that has begun."""
    return [talk.line() for _ in range(count)]


def test_lz_analyze_goes_on_until_the_next_command(engine):
    engine.send("5 lz-analyze b 5")
    assert engine.line() == "=5"
    lines = lines_until(engine, 3)
    engine.send("6 play b c3")
    rest = engine.answer()
    assert all(line.startswith("info move ") for line in [*lines, *rest]) and engine.answer() == ["=6"]
    moves, _ = infos(lines[-1])
    assert [info["order"] for info in moves] == [[str(i)] for i in range(len(moves))]
    for info in moves:
        assert set(info) == {"move", "visits", "winrate", "prior", "lcb", "order", "pv"}
        assert info["pv"][0] == info["move"][0] and int(info["visits"][0]) > 0
        assert 0 <= int(info["lcb"][0]) <= int(info["winrate"][0]) <= 10_000
    assert sum(int(info["prior"][0]) for info in moves) <= 10_010
    visits = [sum(int(info["visits"][0]) for info in infos(line)[0]) for line in lines]
    assert visits == sorted(visits) and visits[0] < visits[-1]
    engine.send("undo")
    assert engine.answer() == ["="]


@pytest.mark.parametrize(
    "spec, player",
    [
        ("go", "shipped"),
        ("go", "shipped:0.2s"),
        ("go", "rollout:100"),
        ("go", "rollout:0.2s"),
        ("othello(size=6)", "shipped"),
        ("gomoku", "shipped"),
    ],
)
def test_avoided_and_allowed_moves_restrict_the_first_move(spec, player):
    """Also where a move of the root is proven, and in the search of a move, but not in a later one."""
    with Live(gtp_server, player=player, sims=40, game=spec) as talk:

        def shown(words, stops=True):
            talk.send(words)
            lines = [talk.line() for _ in range(2 if stops else 1)]
            if stops:
                talk.send("stop")
            lines += talk.answer()
            if stops:
                talk.answer()
            found = [infos(line)[0] for line in lines if "info move" in line]
            return {info["move"][0] for moves in found for info in moves}, lines

        if spec == "gomoku":  # Black has four in a row: e3 wins at once
            for line in ("b e7", "w a1", "b e6", "w a3", "b e5", "w a5", "b e4", "w e8"):
                talk.send(f"play {line}")
                assert talk.answer() == ["="]
        all_moves, _ = shown("lz-analyze b 2")
        for _ in range(50 if spec != "gomoku" else 0):  # on a busy machine the first lines may name one move only
            all_moves |= shown("lz-analyze b 2")[0] if len(all_moves) < 2 else set()
        best = max(all_moves)
        without, _ = shown(f"lz-analyze b 2 avoid b {best} 1 avoid w {min(all_moves)} 1")
        assert without and best not in without and (spec != "go" or min(all_moves) in without)
        legal = sorted(without | {best})[:2]
        only, _ = shown(f"kata-analyze b 2 allow b {','.join(legal)} 1 rootInfo true")
        assert only <= set(legal) and only
        assert best in shown("lz-analyze b 2")[0], "the next search has all moves"
        chosen, lines = shown(f"lz-genmove_analyze b 2 allow b {min(legal)} 1", stops=False)
        assert chosen == {min(legal)} and f"play {min(legal)}" in lines
        talk.send("undo")
        talk.answer()
        assert best in shown("lz-analyze b 2")[0]


def test_words_that_are_not_known_are_passed_over_with_a_note(engine, caplog):
    for words in ("nonsense", "nonsense 3 b", "wide true"):
        engine.send(f"lz-analyze b 5 {words} maxmoves 1")
        assert engine.line() == "=" and engine.line().count("info move") == 1
        engine.send("stop")
        assert engine.answer() == [] and engine.answer() == ["="]
        assert f"passed over, as it is not known here: {words}" in caplog.text
    engine.send("lz-analyze b 5 avoid b c3 30")
    engine.line()
    engine.line()
    engine.send("stop")
    engine.answer(), engine.answer()
    assert "left out at the first ply only" in caplog.text


def test_kata_analyze_has_decimals_and_what_it_is_asked_for(engine):
    engine.send("kata-analyze w interval 5 maxmoves 2 ownership true pvVisits true rootInfo true")
    assert engine.line() == "="
    line = lines_until(engine, 2)[-1]
    engine.send("name")
    engine.answer()
    assert engine.answer() == ["= alphazero-keras"]
    moves, rest = infos(line)
    assert 1 <= len(moves) <= 2 and rest.startswith("rootInfo winrate 0.") and " ownership " in rest
    owned = [float(word) for word in rest.split(" ownership ")[1].split()]
    assert len(owned) == 25 and all(-1 <= value <= 1 for value in owned)
    for info in moves:
        assert 0 <= float(info["winrate"][0]) <= 1 and math.isfinite(float(info["scoreLead"][0]))
        assert len(info["pvVisits"]) == len(info["pv"]) and info["pvVisits"][0] == info["visits"][0]


def test_a_move_is_chosen_among_analysis(engine):
    engine.send("clear_board")
    engine.answer()
    engine.send("8 lz-genmove_analyze b 100")
    lines = engine.answer()
    assert lines[0] == "=8" and lines[-1].startswith("play ") and lines[-2].startswith("info move ")
    assert lines[-1].split()[1] == infos(lines[-2])[0][0]["move"][0]
    engine.send("showboard")
    assert "white to move" in engine.answer()[-1]


def test_the_clock_decides_how_long_a_move_takes(engine):
    engine.send("clear_board")
    engine.answer()
    engine.send("time_settings 0 1 1")
    assert engine.answer() == ["="]
    began = time.monotonic()
    engine.send("genmove b")
    assert engine.answer()[0].startswith("= ")
    assert time.monotonic() - began > 0.5  # 50 visits, which it takes without a clock, are done in a tenth of that
    engine.send("kgs-time_settings none")
    assert engine.answer() == ["="]


def test_gogui_gets_the_move_now_when_it_interrupts(engine):
    engine.send("time_settings 100000 0 0")
    engine.answer()
    engine.send("genmove b")
    engine.send("# interrupt")
    assert engine.answer()[0].startswith("= ")
    engine.send("kgs-time_settings none")
    assert engine.answer() == ["="]


def test_the_tree_is_kept_between_moves_and_pondering_adds_to_it():
    game = games.make("go").longer()
    thinker = Thinker(PlayerSource("shipped", sims=60).player(game))
    thinker.warm()
    state = game.start()
    choice = thinker.choose(state, [], math.inf)
    after = state.takeAction(choice.action)[0]
    looks = []

    def stop():
        looks.append(thinker.tree.root.visits)
        return len(looks) > 5

    thinker.ponder(after, stop)
    assert looks[0] > 10 and thinker.tree.root.id == after.id
    assert snapshot(thinker.tree).player == -1
    with Live(gtp_server, player="shipped", sims=20, ponder=True) as talk:
        talk.send("genmove b")
        assert talk.answer()[0].startswith("= ")
        time.sleep(0.2)
        talk.send("genmove w")
        assert talk.answer()[0].startswith("= ")


def test_a_proven_position_is_shown_as_long_as_it_is_asked_for():
    lines = ["play b b2", "play w a1", "play b c3", "play w a2"]
    with Live(gtp_server, game="tictactoe", player="shipped") as talk:
        for line in [*lines, "lz-analyze b 2"]:
            talk.send(line)
        for _ in lines:
            assert talk.answer() == ["="]
        assert talk.line() == "="
        shown = lines_until(talk, 3)
        talk.send("undo")
        talk.answer()
        assert infos(shown[-1])[0][0]["move"] == ["A3"] or infos(shown[-1])[0][0]["winrate"] == ["10000"]


def test_levels_keep_their_strength_whatever_the_clock_says():
    source = PlayerSource("level:2", sims=400)
    player = source.player(games.make("tictactoe"))
    if isinstance(player, Agent):
        thinker = Thinker(player)
        thinker.choose(player.game.start(), [], 0.5)
        assert player.MCTS.root.visits <= player.mcts_sims + 8


def a_level(game, sims=40):
    return Agent("level 5 (Elo 900)", game, Projection(game), mcts_sims=sims, leaves=1)


def test_a_level_keeps_its_simulations_after_an_analysis_and_does_not_ponder():
    game = games.make("connect4")
    thinker, state = Thinker(a_level(game)), game.start()
    thinker.analyse(state, lambda found: None, every=100, stop=lambda: thinker.tree.root.visits > 100)
    choice = thinker.choose(state, [], math.inf)
    assert 40 <= thinker.tree.root.visits <= 48
    thinker.ponder(state.takeAction(choice.action)[0], lambda: thinker.tree.root.visits > 200)
    assert thinker.tree.root.visits <= 48 and not thinker.ponders
    thinker.choose(state, [choice.action], 60.0)
    assert thinker.tree.root.visits <= 48


def test_a_level_keeps_its_simulations_when_a_move_is_chosen_among_analysis_by_the_clock(monkeypatch):
    monkeypatch.setattr(PlayerSource, "player", lambda self, game: a_level(game))
    answers = told_gtp("time_settings 0 2 1", "kata-genmove_analyze b 1000", game="gomoku")
    moves, _ = infos(answers[1].split("\n")[-2])
    assert sum(int(info["visits"][0]) for info in moves) <= 48


def test_rollouts_with_seconds_search_until_the_clock_ends_them():
    game = games.make("connect4")
    thinker = Thinker(RolloutPlayer(game, seconds=2.0))
    visits, seconds = thinker.budget(60.0)
    assert seconds == 2.0 and thinker.budget(1.0)[1] == 1.0
    for count in (None, visits):
        thinker.forget()
        thinker.analyse(
            game.start(), lambda found: None, every=100, stop=lambda: thinker.tree.root.visits > 2000, visits=count,
            ends=True,
        )
        assert thinker.tree.root.visits > 2000


def test_the_move_of_rollouts_is_chosen_from_the_search_that_was_shown():
    game = games.make("connect4")
    thinker = Thinker(RolloutPlayer(game, sims=50))
    thinker.analyse(game.start(), lambda found: None, every=100, stop=lambda: False, visits=50, ends=True)
    shown = thinker.snapshot()
    thinker.choose(game.start(), [], 0.0)
    assert thinker.snapshot() == shown and shown.visits >= 50


@pytest.mark.parametrize("player, quiet", [("greedy", False), ("level:2", False), ("shipped", True)])
def test_pondering_that_a_player_does_not_do_is_said_in_a_line(player, quiet, caplog):
    told_gtp("showboard", game="tictactoe" if player == "greedy" else "gomoku", player=player, ponder=True)
    assert ("--ponder: only a network that searches" in caplog.text) != quiet


def test_a_player_with_a_book_plays_by_it_and_else_by_the_clock(monkeypatch):
    game = games.make("gomoku")
    book = Book(game, "nobody")
    book.add((), 40)

    def player(self, game):
        return BookPlayer(Agent("machine", game, Projection(game), mcts_sims=50_000), book)

    thinker, state = Thinker(player(None, game)), game.start()
    assert thinker.choose(state, [], math.inf).action == 40 and thinker.tree is None
    looks = iter(range(10**9))
    choice = thinker.choose(state.takeAction(40)[0], [40], math.inf, lambda: next(looks) > 20)
    assert choice.action is not None and 0 < thinker.tree.root.visits < 50_000
    monkeypatch.setattr(PlayerSource, "player", player)
    answers = told_gtp("kata-genmove_analyze b 100", "time_settings 0 1 1", "genmove w", game="gomoku")
    assert answers[0] == "=\nplay E5" and answers[2].startswith("= ")


@pytest.mark.parametrize("name", ["level:2", "level:4", "level:7", "net:shipped"])
@pytest.mark.parametrize(("mine", "wanted"), [("go", "go(komi=6.5)"), ("gomoku", "gomoku(rule=exact)")])
def test_a_level_plays_under_another_rule_with_its_own_network_and_settings(name, mine, wanted):
    """On 5x5 the network of 5x5 plays with a komi of 6.5, too, and not that of 7x7 to 9x9 with one of 7."""
    source = PlayerSource(name, sims=30)
    known, other = games.make(mine), games.make(wanted)
    player, same = source.player(other), source.player(known)
    assert not source.note
    assert (type(player), player.name, player.game.spec) == (type(same), same.name, other.spec)
    assert vars(player).get("sims") == vars(same).get("sims")
    assert vars(player).get("temperature") == vars(same).get("temperature")
    player.new_games(1)
    assert player.act_many([0], [other.start()], [0.0])[0].action in other.start().allowedActions
    source.player(other)
    assert source.note == f"no network was trained for {wanted}: that of {mine} evaluates"


def test_of_networks_that_never_saw_the_board_one_plays_where_no_other_can():
    source = PlayerSource("net:shipped", sims=30)
    player = source.player(games.make("go(komi=7,size=6)"))
    assert player.agent.model.config.game == "go(komi=7,size=7..9)" and player.game.grid_shape == (6, 6)
    assert type(PlayerSource("rollout:10", sims=30).player(games.make("go(komi=6.5)"))).__name__ == "RolloutPlayer"


def test_a_network_for_five_in_a_row_does_not_evaluate_four():
    source = PlayerSource("net:shipped", sims=30)
    source.player(games.make("gomoku(rule=exact)"))
    assert source.note == "no network was trained for gomoku(rule=exact): that of gomoku evaluates"
    with pytest.raises(UserError):
        source.player(games.make("gomoku(n=4)"))


def test_rollouts_are_analysed_and_players_without_a_search_are_not():
    answers = told_gtp("lz-genmove_analyze b 1", "quit", game="tictactoe", player="rollout:50")
    assert "play " in answers[0]
    assert told_gtp("lz-analyze", game="tictactoe", player="greedy") == ["? greedy has no search to show"]


@pytest.mark.parametrize("player", ["greedy", "level:2"])
def test_players_without_a_search_to_show_play_their_move_without_lines_of_one(player):
    """Sabaki asks for a move by genmove_analyze wherever an engine knows it."""
    for command in ("genmove_analyze", "lz-genmove_analyze", "kata-genmove_analyze"):
        lines = ("7 " + command + " b 5", "showboard", f"{command} w 5 allow w a1,b1 1")
        chosen, board, refused = told_gtp(*lines, game="gomoku", player=player)
        assert re.fullmatch("=7\nplay [A-HJ][1-9]", chosen) and board.endswith("white to move")
        assert refused.startswith("? ") and refused.endswith("has no search to show")


def test_ownership_adds_up_to_the_score_and_ends_are_counted_as_they_are(monkeypatch):
    monkeypatch.setattr("plugins.engines.territory.ownership_of", lambda model: None)  # a network without that head
    game = games.make("go(size=5,komi=24.5)")
    agent = PlayerSource("shipped", sims=8).player(game)
    territory = Territory(agent, game)
    state = game.start()
    for action in (12, 25, 25):
        state = state.takeAction(action)[0]
    assert state.isEndGame and territory.score(territory.of([state], [1])[0], state) == 0.5
    start = game.start()
    owned = territory.of([start, start.takeAction(12)[0]], [4, 4])
    assert owned.shape == (2, 5, 5) and np.abs(owned).max() <= 1 and not territory.by_network
    assert np.array_equal(territory.of([start], [4])[0], owned[0])  # no more games than were asked for


def test_a_network_with_an_ownership_head_says_itself_who_owns_what():
    game = games.make("go(size=5)")
    config = tiny(game="go", ownership_weight=0.5, hidden_cnn_layers=("8x3", "8x3"))
    network = StoredNetwork(config, game)
    rng = np.random.default_rng(0)
    network.set_weights([rng.normal(0.0, 0.3, shape).astype(np.float32) ** 2 for shape in network.shapes])
    owned = ownership_of(network)
    assert owned is not None
    states = [game.start(), game.start().takeAction(3)[0]]
    boards = owned(np.stack([state.planes() for state in states]))
    assert boards.shape == (2, 5, 5) and (np.abs(boards) <= 1).all() and not np.array_equal(*boards)
    assert ownership_of(StoredNetwork(tiny(game="go"), game)) is None


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku", "go"])
def test_after_warming_up_no_move_of_a_game_asks_for_code_that_was_not_there(spec, monkeypatch):
    monkeypatch.setattr(compiled, "_CODE", {})
    thinker = Thinker(PlayerSource("shipped", sims=60).player(games.make(spec)))
    thinker.warm()
    known = set(compiled._CODE)
    state, moves = games.make(spec).start(), []
    for _ in range(4):
        action = thinker.choose(state, moves, 0.05).action
        moves.append(action)
        state = state.takeAction(action)[0]
    assert len(known) > 5 and set(compiled._CODE) == known


def test_an_analysis_whose_lines_take_longer_than_its_interval_still_searches(monkeypatch):
    """A clock of the test's own: a look at it takes 1 ms, a report 10 s, of which one is due every 50 ms."""
    game = games.make("connect4")
    thinker, now, seen = Thinker(Agent("machine", game, Projection(game), mcts_sims=1000, leaves=8)), [0.0], []

    def clock():
        now[0] += 0.001
        return now[0]

    def show(found):
        seen.append(found.visits)
        now[0] += 10.0

    monkeypatch.setattr(thinking, "time", SimpleNamespace(monotonic=clock))
    thinker.analyse(game.start(), show, every=0.05, stop=lambda: False, visits=1000, ends=True)
    assert len(seen) > 1 and np.diff(seen).min() >= 49, "50 ticks or more lie between two reports"
