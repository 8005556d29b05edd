"""Agent: what it returns, its steps, its log. User: whatever is typed ends in a move or a clean way out."""

import gc
import io
import logging
import re
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import games
from agent import Agent, Quit, Resigned, TakeBack, User
from config import SearchSettings, UserError
from search.trace import SearchLog
from support.board_drawings import play
from support.search_cases import GAMES, POSITIONS, Projection, always, numbers, plain_search


def agent_of(game, **options):
    predictor = options.pop("predictor", None) or Projection(game)
    return Agent("agent", game, predictor, **{"mcts_sims": 60, **options})


# ---- acting


@pytest.mark.parametrize("tau", [1.0, 0.3, 0])
@pytest.mark.parametrize("name, moves", POSITIONS)
def test_act_returns_a_legal_move_with_the_share_of_visits(name, moves, tau):
    game, state = GAMES[name], play(GAMES[name], moves)
    agent = agent_of(game)
    action, pi, value, nn_value = agent.act(state, tau)
    legal = list(state.allowedActions)
    assert type(action) is int and action in legal
    assert pi.shape == (game.action_size,) and pi.sum() == pytest.approx(1) and (pi >= 0).all()
    assert set(np.flatnonzero(pi)) <= set(legal)
    counts = agent.MCTS.visit_counts()
    assert counts.sum() >= 60 and pi == pytest.approx(counts / counts.sum()), "whatever tau is"
    edge = dict(agent.MCTS.root.edges)[action]
    assert value == edge.stats["Q"] and pi[action] > 0
    after = state.takeAction(action)[0]
    sign = 1 if after.playerTurn == state.playerTurn else -1
    expected = after.value if after.isEndGame else agent.get_preds(after)[0]
    assert nn_value == sign * expected


def test_without_tau_a_most_visited_move_is_played_and_with_tau_others_are_too():
    game = GAMES["connect4"]
    for tau, most in ((0, {True}), (1, {True, False})):
        found = set()
        for seed in range(40):
            agent = agent_of(game, rng=np.random.default_rng(seed))
            action, pi, _, _ = agent.act(game.start(), tau)
            found.add(bool(pi[action] == pi.max()))
        assert found == most


def test_moves_follow_the_visits_to_the_power_of_one_over_tau():
    game = GAMES["connect4"]
    agent = agent_of(game)
    agent.think(game.start())
    counts = agent.MCTS.visit_counts()
    for tau in (1, 0.5, 2):
        pi, values = agent.getAV(tau)
        assert pi == pytest.approx(counts ** (1 / tau) / (counts ** (1 / tau)).sum())
        drawn = [agent.chooseAction(pi, values, tau)[0] for _ in range(3000)]
        assert np.bincount(drawn, minlength=7) / 3000 == pytest.approx(pi, abs=0.04)
    assert agent.getAV(1e-9)[0][counts.argmax()] == pytest.approx(1), "no power overflows"


def test_equally_visited_moves_are_chosen_at_random_without_tau():
    agent, values = agent_of(GAMES["connect4"]), np.arange(7.0)
    pi = np.array([0, 0.4, 0.1, 0.4, 0.1, 0, 0])
    found = {agent.chooseAction(pi, values, 0) for _ in range(100)}
    assert found == {(1, 1.0), (3, 3.0)}


@pytest.mark.parametrize(
    "proofs, chosen",
    [((-1.0, -1.0, None, None), {2, 3}), ((-1.0, None, -1.0, -1.0), {1}), ((-1.0,) * 4, {0, 1, 2, 3})],
)
def test_where_all_visited_moves_are_proven_to_lose_one_that_is_not_is_chosen(proofs, chosen):
    agent = agent_of(GAMES["connect4"])
    visits = [5 if proven is not None and i < 2 else 0 for i, proven in enumerate(proofs)]
    edges = [
        (i, SimpleNamespace(stats={"N": n, "Q": 0.0, "P": 0.1 * (i + 1)}, proven=proven))
        for i, (n, proven) in enumerate(zip(visits, proofs, strict=True))
    ]
    agent.MCTS = SimpleNamespace(root=SimpleNamespace(edges=edges, proven=None, keeps_proof=lambda e: e.proven != -1.0))
    pi = agent.getAV(1)[0]
    assert set(np.flatnonzero(pi)) == chosen and pi[min(chosen)] <= pi[max(chosen)]


def test_more_simulations_than_before_get_the_room_that_they_need():
    game = GAMES["connect4"]
    agent = agent_of(game, mcts_sims=20)
    for sims in (20, 300, 20):
        agent.mcts_sims = sims
        agent.new_games(2)
        agent.new_game(1, 0)
        assert agent.act_many([1], [game.start()], [0.0])[0].visits.sum() == sims


@pytest.mark.parametrize("tau", [0, -1])
def test_a_temperature_that_means_nothing_is_refused(tau):
    agent = agent_of(GAMES["connect4"])
    agent.think(GAMES["connect4"].start())
    with pytest.raises(ValueError, match=f"expected `tau` > 0, got {tau}"):
        agent.getAV(tau)


@pytest.mark.parametrize("name, moves", [("connect4", "1 2 1 2 1 2 1"), ("tictactoe", "a3 a2 b3 b2 c3"),
                                         ("corridor", "pass pass")])  # fmt: skip
def test_a_finished_position_is_refused_with_the_board(name, moves):
    agent, state = agent_of(GAMES[name]), play(GAMES[name], moves)
    with pytest.raises(UserError) as raised:
        agent.act(state, 1)
    assert "the game is over" in str(raised.value) and state.render() in str(raised.value)


def test_a_won_move_has_the_value_of_the_win_for_who_makes_it():
    game = GAMES["connect4"]
    agent = agent_of(game, predictor=always(0.0, np.zeros(7)), mcts_sims=200)
    action, _, value, nn_value = agent.act(play(game, "1 2 1 2 1 2"), 0)
    assert (action, value, nn_value) == (0, 1.0, 1.0)


# ---- the steps


@pytest.mark.parametrize("name, moves", POSITIONS)
def test_simulating_step_by_step_equals_thinking_visit_by_visit(name, moves):
    game, state = GAMES[name], play(GAMES[name], moves)
    whole, steps = agent_of(game, leaves=1), agent_of(game, leaves=1)
    steps.buildMCTS(state)
    steps.simulate()
    for sims in range(1, 61):
        whole.think(state, sims)
        steps.simulate()
        assert numbers(steps.MCTS.root) == numbers(whole.MCTS.root), f"after {sims} visits"


@pytest.mark.parametrize("name", GAMES)
def test_a_logged_search_finds_what_an_unlogged_one_finds(name):
    game = GAMES[name]
    plain, logged = agent_of(game, leaves=1), agent_of(game, observer=SearchLog(log_into(io.StringIO())))
    for agent in (plain, logged):
        agent.think(game.start())
    assert numbers(plain.MCTS.root) == numbers(logged.MCTS.root)


def test_get_preds_gives_probabilities_over_legal_moves_only():
    game = GAMES["connect4"]
    state = play(game, "1 1 1 1 1 1")
    logits = np.array([50, 1, 2, 3, 4, 5, 6], np.float32)
    value, probs, allowed = agent_of(game, predictor=always(-0.25, logits)).get_preds(state)
    odds = np.exp([1.0, 2, 3, 4, 5, 6])
    assert (value, allowed, probs[0]) == (-0.25, [1, 2, 3, 4, 5, 6], 0)
    assert probs[1:] == pytest.approx(odds / odds.sum())


def test_evaluating_a_leaf_expands_it_and_a_finished_one_keeps_its_result():
    game = GAMES["connect4"]
    agent = agent_of(game, predictor=always(0.5, np.arange(7)))
    agent.buildMCTS(play(game, "1 2 1 2 1 2"))
    leaf, value, done, breadcrumbs = agent.MCTS.moveToLeaf()
    assert leaf == agent.MCTS.root and leaf.isLeaf() and not done
    assert agent.evaluateLeaf(leaf, value, done, breadcrumbs) == (0.5, [])
    assert not leaf.isLeaf() and [edge.stats["P"] for _, edge in leaf.edges] == sorted(
        edge.stats["P"] for _, edge in leaf.edges
    )
    agent = agent_of(game, predictor=always(0.0, -np.arange(7) * 50))
    agent.buildMCTS(play(game, "1 2 1 2 1 2"))
    agent.simulate()
    leaf, value, done, breadcrumbs = agent.MCTS.moveToLeaf()
    assert (done, value, len(breadcrumbs)) == (True, -1.0, 1), "lost for the player to move there"
    assert agent.evaluateLeaf(leaf, value, done, breadcrumbs) == (-1.0, breadcrumbs) and leaf.isLeaf()
    agent.MCTS.backFill(leaf, value, breadcrumbs)
    assert breadcrumbs[0].stats["W"] == 1.0


def test_changing_the_root_keeps_the_visits_of_what_is_kept():
    game = GAMES["connect4"]
    agent = agent_of(game)
    agent.think(game.start())
    action = int(agent.MCTS.visit_counts().argmax())
    child = dict(agent.MCTS.root.edges)[action].outNode
    before, state = numbers(child), child.state
    agent.changeRootMCTS(state)
    assert agent.MCTS.root.id == state.id and numbers(agent.MCTS.root) == before
    agent.changeRootMCTS(play(game, "1 1 1 1 1"))
    assert len(agent.MCTS) == 1
    with pytest.raises(RuntimeError, match="buildMCTS"):
        agent_of(game).changeRootMCTS(state)


def test_thinking_ends_early_when_told_and_later_searches_can_be_longer():
    game = GAMES["connect4"]
    agent, asked = agent_of(game), []
    agent.think(game.start(), 1000, stop=lambda: asked.append(1) or len(asked) > 3)
    assert 0 < agent.MCTS.root.visits < 100
    assert agent.think(game.start(), 5000).visits >= 5000, "room is made for it"
    assert agent.think(game.start(), 10).visits >= 5000, "visits are kept"


def test_without_trees_and_evaluations_of_another_network_a_search_is_as_if_new():
    game = GAMES["connect4"]
    agent, fresh = agent_of(game, leaves=1), agent_of(game, leaves=1, predictor=Projection(game, seed=1))
    agent.think(game.start())
    agent.predictor = Projection(game, seed=1)
    agent.MCTS.clear(), agent.MCTS.clear_cache()
    assert numbers(agent.think(game.start())) == numbers(fresh.think(game.start()))


@pytest.mark.parametrize("name", GAMES)
def test_playing_many_games_at_once_equals_playing_them_one_by_one(name):
    game = GAMES[name]
    states = [game.start().takeAction(a)[0] for a in game.start().allowedActions[:5]]
    many, found = agent_of(game), []
    many.new_games(5)
    for slot in range(5):
        many.new_game(slot, 100 + slot)
    together = many.act_many(range(5), states, [0.0] * 5)
    for slot, state in enumerate(states):
        one = agent_of(game)
        one.new_games(1)
        one.new_game(0, 100 + slot)
        found += one.act_many([0], [state], [0.0])
    for a, b in zip(together, found, strict=True):
        assert (a.action, a.value) == (b.action, b.value) and (a.visits == b.visits).all()
    with pytest.raises(RuntimeError, match="new_games"):
        agent_of(game).act_many([0], [game.start()], [0.0])


def test_the_trees_of_a_player_that_is_dropped_are_freed_at_once():
    """They may be gigabytes: a player and its games must not hold each other."""
    game = GAMES["connect4"]
    for observer in (None, SearchLog(log_into(io.StringIO()))):
        agent = agent_of(game, mcts_sims=8, observer=observer)
        agent.new_games(2)
        agent.new_game(1, 0)
        agent.act_many([1], [game.start()], [0.0])
        dropped = weakref.ref(agent), weakref.ref(agent._games)
        gc.disable()
        try:
            del agent
            assert [found() for found in dropped] == [None, None]
        finally:
            gc.enable()


def test_replay_needs_a_model():
    with pytest.raises(RuntimeError, match="no model"):
        agent_of(GAMES["connect4"]).replay(lambda step: None, 1)


# ---- the log

LINE = re.compile(
    r"action: (?P<move>\S+) N=(?P<N>\d+) P=(?P<P>\S+) nu=(?P<nu>\S+) adjP=(?P<adjP>\S+) W=(?P<W>\S+) Q=(?P<Q>\S+) "
    r"U=(?P<U>\S+) Q\+U=(?P<QU>\S+)\Z"
)


def log_into(stream):
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    return logger


@pytest.mark.parametrize("noisy", [False, True])
def test_the_log_shows_every_number_of_every_choice_and_they_are_consistent(noisy):
    game, stream = GAMES["tictactoe"], io.StringIO()
    search = plain_search(alpha=0.5, cpuct=2.0)
    agent = agent_of(game, mcts_sims=80, observer=SearchLog(log_into(stream)), noisy=noisy, search=search)
    if noisy:
        agent.think(game.start(), 1)
    agent.think(game.start())
    lines = stream.getvalue().splitlines()
    choices, table, chosen, leaves, fills = 0, [], None, 0, []
    for line in lines:
        if line.startswith("****** simulation"):
            fills = []
        elif match := LINE.match(line):
            table.append({k: v if k == "move" else float(v) for k, v in match.groupdict().items()})
        elif line.startswith("chosen: "):
            chosen = next(row for row in table if row["move"] == line.split()[1])
            check_choice(table, chosen, cpuct=2.0)
            choices, table = choices + 1, []
            fills.append(chosen)
        elif line.startswith("leaf at depth"):
            leaves += 1
            assert int(re.search(r"\d+", line)[0]) == len(fills)
        elif line.startswith("back-fill"):
            before = fills.pop(0)
            move, value, N, W, Q = re.search(
                r"back-fill (\S+): player [+-]1, value (\S+), N=(\d+) W=(\S+) Q=(\S+)", line
            ).groups()
            assert (move, int(N)) == (before["move"], before["N"] + 1)
            assert float(W) == pytest.approx(before["W"] + float(value), abs=0.002)
            assert float(Q) == pytest.approx(float(W) / int(N), abs=0.002)
    assert leaves >= 80 and choices > 80 and not fills and not table
    assert any("game over at the leaf" in line for line in lines)
    shown = [float(m["nu"]) for m in map(LINE.match, lines) if m]
    assert any(nu > 0 for nu in shown) == noisy


def check_choice(table, chosen, *, cpuct):
    """Compute Q + U again from the numbers shown; the chosen move has the largest."""
    total = sum(row["N"] for row in table)
    assert sum(row["P"] for row in table) == pytest.approx(1, abs=0.002)
    for row in table:
        noise = any(other["nu"] > 0 for other in table)
        assert row["adjP"] == pytest.approx(
            0.75 * row["P"] + 0.25 * row["nu"] if noise else row["P"], abs=0.0002
        )
        U = cpuct * row["adjP"] * (1 + total) ** 0.5 / (1 + row["N"])
        assert row["U"] == pytest.approx(U, abs=0.002)
        assert row["QU"] == pytest.approx(row["Q"] + row["U"], abs=0.002)
        if row["N"]:
            assert row["Q"] == pytest.approx(row["W"] / row["N"], abs=0.002)
    assert chosen["QU"] == max(row["QU"] for row in table)


def test_no_numbers_are_shown_of_a_position_that_the_simulation_itself_made():
    """A threat in gomoku leaves one move, which needs no choice; the tables still hold rows of dropped positions."""
    game, stream, rng = games.make("gomoku(size=9)"), io.StringIO(), np.random.default_rng(0)
    agent = agent_of(game, mcts_sims=30, observer=SearchLog(log_into(stream)), search=SearchSettings())
    for _ in range(4):
        state = game.start()
        while not state.isEndGame:
            state = state.takeAction(agent.act(state, 1)[0])[0]
            if not state.isEndGame:
                state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
    shown, alone = [], 0
    for line in stream.getvalue().splitlines():
        if line.startswith("action: "):
            shown.append((line.split()[1], float(re.search(" P=([^ ]+)", line)[1])))
        elif line.startswith("chosen: "):
            assert not shown or line.split()[1] in dict(shown)
            assert all(0 <= prior <= 1 for _, prior in shown)
            shown, alone = [], alone + (not shown)
    assert alone > 10


# ---- a person


def typed(text, game="connect4", moves="", **options):
    """Let a person type lines; return (what `act` gave or raised, what was said, what was left unread)."""
    game, stream, out = GAMES[game], io.StringIO(text), io.StringIO()
    user = User("person", game, input=stream, output=out, **options)
    try:
        found = user.act(play(game, moves), 1.0)
    except (Quit, Resigned, TakeBack) as way_out:
        found = type(way_out)
    return found, out.getvalue(), stream.read()


def test_a_person_plays_the_move_typed():
    (action, pi, value, _), said, rest = typed("4\n5\n")
    assert (action, pi.tolist(), value, rest) == (3, [0, 0, 0, 1, 0, 0, 0], 0.0, "5\n")
    assert GAMES["connect4"].start().render() in said and "X to move. Legal: 1 2 3 4 5 6 7" in said
    assert typed("  PASS \n", "corridor")[0][0] == 8 and typed("B2\n", "tictactoe")[0][0] == 4


NONSENSE = ["", " ", "8", "0", "-1", "44", "four", "4.0", "٤", "４", "²", "４\N{COMBINING ACUTE ACCENT}", "\t", "4 4",
            "\x1b[A", "\udcff", "None", "__class__", "%s", "{0}", "'; DROP TABLE games",
            "9" * 9000, "x" * 50_000]  # fmt: skip


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda text: ascii(text)[:20])
def test_nonsense_is_told_and_asked_again_until_a_move_comes(nonsense):
    (action, *_), said, _ = typed(f"{nonsense}\n\n{nonsense}\n7\n")
    assert action == 6
    assert 3 < said.count("X to move.") < 20, "each line is answered once"
    assert len(said) < 5000


def test_a_line_without_an_end_is_read_in_parts_and_the_next_line_counts():
    (action, *_), said, rest = typed("z" * 100_000 + "\n2\n3\n")
    assert (action, rest) == (1, "3\n")


def test_characters_that_cannot_be_seen_do_not_hide_a_move():
    assert typed("\x003\x00\n")[0][0] == 2
    assert typed("\ufeff3\r\n")[0][0] == 2


def test_an_occupied_point_and_a_full_column_are_told_with_the_legal_moves():
    (action, *_), said, _ = typed("b2\nb1\n", "tictactoe", moves="b2")
    assert action == 7 and "illegal move b2 (legal: a3 b3 c3 a2 c2 a1 b1 c1)" in said
    (action, *_), said, _ = typed("1\n2\n", moves="1 1 1 1 1 1")
    assert action == 1 and "illegal move 1 (legal: 2 3 4 5 6 7)" in said


@pytest.mark.parametrize(
    "text, way_out",
    [("undo", TakeBack), ("U", TakeBack), ("resign", Resigned), ("R", Resigned), ("quit", Quit), ("q", Quit),
     ("EXIT", Quit), ("", Quit), ("8\n9\n", Quit), ("8", Quit)],
)  # fmt: skip
def test_a_person_can_take_back_resign_and_leave_and_the_end_of_input_leaves(text, way_out):
    assert typed(text)[0] is way_out


def test_a_hint_is_shown_and_the_question_comes_again():
    (action, *_), said, _ = typed("hint\n5\n", hint=lambda state: f"think of {state.allowedActions[0]}")
    assert action == 4 and "think of 0" in said
    assert "No hints" in typed("h\n5\n")[1]


class Gone(io.StringIO):
    """A terminal that was hung up."""

    def readline(self, size=-1):
        raise OSError(5, "Input/output error")


def closed():
    stream = io.StringIO("4\n")
    stream.close()
    return stream


def undecodable():
    return io.TextIOWrapper(io.BytesIO(b"\xff\xfe\xfa\n" * 50_000), encoding="utf-8")


@pytest.mark.parametrize("stream", [Gone, closed, undecodable])
def test_input_that_cannot_be_read_ends_the_game_and_does_not_ask_for_ever(stream):
    out = io.StringIO()
    with pytest.raises(Quit):
        User("person", GAMES["connect4"], input=stream(), output=out).act(GAMES["connect4"].start(), 1)
    assert len(out.getvalue()) < 10_000


def test_a_process_without_any_input_ends_the_game(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(Quit):
        User("person", GAMES["connect4"], output=io.StringIO()).act(GAMES["connect4"].start(), 1)
