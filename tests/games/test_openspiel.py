"""Games of OpenSpiel through our door: equal to OpenSpiel, searched as by the textbook, refused with a reason."""

import re

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")

import games  # noqa: E402
import games.openspiel  # noqa: E402
from config import UserError  # noqa: E402
from evaluation.game_contract import check  # noqa: E402
from games.openspiel import BOARD_TELLS  # noqa: E402
from interface.cli import run  # noqa: E402
from storage import run_folders  # noqa: E402
from support.perft import sequences  # noqa: E402
from support.search_cases import Projection, numbers, rooted  # noqa: E402
from textbook import MCTS as Textbook  # noqa: E402

SPECS = [
    "amazons(board_size=6)", "breakthrough(rows=5,columns=4)", "checkers", "clobber", "connect_four", "dots_and_boxes",
    "dots_and_boxes(utility_margin=True)", "go(board_size=3,komi=0.5)", "gomoku(size=5,connect=4)",
    "havannah(board_size=3)", "hex(board_size=4)", "hex(board_size=3,swap=True)", "mancala",
    "misere(game=tic_tac_toe())", "nine_mens_morris", "nim", "othello", "pentago", "tic_tac_toe",
    "ultimate_tic_tac_toe", "y(board_size=4)", "dots_and_boxes(num_cols=1,num_rows=5)",
]  # fmt: skip
TURNS_REPEAT = {"amazons", "checkers", "dots_and_boxes", "mancala", "nine_mens_morris", "ultimate_tic_tac_toe"}


def make(inside):
    return games.make(f"open_spiel:{inside}")


def random_walk(game, seed, length=10_000):
    """Yield the positions of a random game."""
    state, rng = game.start(), np.random.default_rng(seed)
    yield state
    while not state.isEndGame and (length := length - 1) > 0:
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        yield state


# ---- the rules are OpenSpiel's


@pytest.mark.parametrize("inside", SPECS)
def test_check_finds_no_fault(inside):
    assert check(make(inside), games=3) == []


@pytest.mark.parametrize("inside", ["chess", "shogi"])
def test_games_with_thousands_of_actions_are_played_by_the_rules(inside):
    game = make(inside)
    for state in random_walk(game, 1, length=60):
        row = game.row_of(state)
        assert game.state_of(row).id == state.id
        assert state.planes().shape == game.input_shape and set(np.unique(state.planes())) <= {0, 1}
    assert game.parse_move(game.move_name(game.action_size - 1)) == game.action_size - 1


@pytest.mark.parametrize("inside", SPECS)
def test_random_games_go_as_in_openspiel(inside):
    game, spiel = make(inside), pyspiel.load_game(inside)
    first, repeated = spiel.new_initial_state().current_player(), False
    rng = np.random.default_rng(2)
    for _ in range(20):
        state, twin = game.start(), spiel.new_initial_state()
        while not twin.is_terminal():
            assert (state.isEndGame, state.allowedActions) == (False, twin.legal_actions()), f"\n{state}"
            assert state.playerTurn == (1 if twin.current_player() == first else -1), f"\n{state}"
            assert state.value == 0 and str(state) == str(twin).rstrip("\n")
            before = twin.current_player()
            action = int(rng.choice(twin.legal_actions()))
            state, value, done = state.takeAction(action)
            twin.apply_action(action)
            assert done == twin.is_terminal(), f"\n{state}"
            repeated |= twin.current_player() == before
        for_first = value * state.playerTurn
        assert for_first * spiel.max_utility() == twin.returns()[first]
        assert (state.score[0] - state.score[1]) * state.playerTurn == twin.returns()[first]
    assert repeated == (inside.split("(")[0] in TURNS_REPEAT), "whether turns alternate"


@pytest.mark.parametrize("inside, depth", [("hex(board_size=3)", 4), ("dots_and_boxes", 3), ("mancala", 4)])
def test_rules_called_from_compiled_code_count_openspiels_lines(inside, depth):
    def lines(state, depth):
        if depth == 0:
            return 1
        return 0 if state.is_terminal() else sum(lines(state.child(a), depth - 1) for a in state.legal_actions())

    assert sequences(make(inside), depth)[0] == lines(pyspiel.load_game(inside).new_initial_state(), depth)


def test_who_moves_first_is_player_1_whatever_his_number():
    game = make("chess")
    assert pyspiel.load_game("chess").new_initial_state().current_player() == 1
    assert game.start().playerTurn == 1 and game.start().takeAction(game.start().allowedActions[0])[0].playerTurn == -1


def test_the_result_is_scaled_by_the_greatest_one():
    game = make("dots_and_boxes(utility_margin=True)")
    ends = [[*random_walk(game, seed)][-1] for seed in range(20)]
    assert game.spiel.max_utility() == 4
    assert {abs(s.value) for s in ends} >= {0.0, 0.5} and all(s.value == (s.score[0] - s.score[1]) / 4 for s in ends)


# ---- ids


def small(name):
    sizes = {
        "breakthrough": "rows=4,columns=3", "clobber": "rows=3,columns=3", "gomoku": "size=3,connect=3",
        "connect_four": "rows=3,columns=4,x_in_row=3", "havannah": "board_size=2", "mnk": "m=3,n=3,k=3",
        "y": "board_size=3",
    }  # fmt: skip
    return f"{name}({sizes[name]})" if name in sizes else name


@pytest.mark.parametrize("name", sorted(BOARD_TELLS))
def test_positions_with_one_id_have_the_same_moves_results_planes_and_children(name):
    """By induction over the children they have the same future."""
    game, seen, met_again, rng = make(small(name)), {}, 0, np.random.default_rng(5)
    for _ in range(200):
        state = game.start()
        for _ in range(12):
            facts = [state.allowedActions, state.value, state.score, state.isEndGame, state.planes().tobytes()]
            facts.append([state.takeAction(a)[0].id for a in state.allowedActions])
            history, known = seen.setdefault(state.id, (state._history, facts))
            assert facts == known, f"{history} and {state._history}\n{state}"
            met_again += history != state._history
            if state.isEndGame or (name == "pentago" and len(history) == 4):
                break
            legal = state.allowedActions  # the first ones more often, so that lines meet again
            state = state.takeAction(legal[int(len(legal) * rng.random() ** 3)])[0]
    assert met_again >= 5


def test_where_the_way_matters_only_equal_histories_are_equal():
    game = make("go(board_size=3)")
    a, b = game.start(), game.start()
    for x, y in zip((0, 1, 2, 3), (2, 3, 0, 1), strict=True):
        a, b = a.takeAction(x)[0], b.takeAction(y)[0]
    assert str(a) == str(b) and a.id != b.id


# ---- what the network sees


def test_planes_are_openspiels_then_whether_player_2_is_to_move_then_ones():
    game = make("tic_tac_toe")
    state = game.start().takeAction(4)[0]
    empty, noughts, crosses, second, ones = state.planes().transpose(2, 0, 1).tolist()
    assert empty == [[1, 1, 1], [1, 0, 1], [1, 1, 1]]
    assert crosses == [[0, 0, 0], [0, 1, 0], [0, 0, 0]] and noughts == [[0, 0, 0]] * 3
    assert second == ones == [[1, 1, 1]] * 3
    assert state.takeAction(0)[0].planes()[:, :, 3].tolist() == [[0, 0, 0]] * 3


def test_a_board_written_in_a_row_becomes_square():
    game = make("gomoku(size=5,connect=4)")
    state = game.start().takeAction(7)[0]
    stones = [plane for plane in state.planes().transpose(2, 0, 1)[:3].tolist() if np.sum(plane) == 1]
    assert game.grid_shape == (5, 5) and stones == [np.eye(25, dtype=int)[7].reshape(5, 5).tolist()]


def test_numbers_become_planes_of_whether_they_are_above_thresholds():
    """The four stones of a house of mancala are 4 above 0.5, 1.5, 2.5, 3.5, and not above the rest."""
    game = make("mancala")
    seen = game.spiel.new_initial_state().observation_tensor(0)
    planes = game.start().planes()
    assert game.grid_shape == (1, 1) and game.channels == 16
    for house, stones in enumerate(seen):
        cuts = game.threshold[game.channel == house, 0]
        assert planes[0, 0, :-2][game.channel == house].tolist() == [int(stones > cut) for cut in cuts]
    assert {0.5, 1.5, 2.5, 3.5} <= set(game.threshold[game.channel == 1, 0].tolist())


# ---- names


def test_moves_are_named_as_by_openspiel_where_that_is_clear_else_numbered():
    named = {"hex(board_size=3)": "b1", "tic_tac_toe": "0-1", "go(board_size=3)": "b1", "clobber": "a5b5",
             "connect_four": "1", "chess": "1", "ultimate_tic_tac_toe": "1"}  # fmt: skip
    for inside, name in named.items():
        game = make(inside)
        assert game.move_name(1) == name and game.parse_move(f" {name.upper()} ") == 1, inside
    game = make("hex(board_size=3)")
    assert game.parse_moves("b1, 4 c3") == [1, 4, 8]
    with pytest.raises(UserError, match="expected a move such as 'a1', got 'z9'"):
        game.parse_move("z9")
    with pytest.raises(UserError, match=r"illegal move b1 \(legal: a1 c1"):
        game.start().takeAction(1)[0].takeAction(1)


# ---- the search


@pytest.mark.parametrize("inside", ["dots_and_boxes", "mancala", "connect_four(rows=4,columns=5)", "hex(board_size=3)"])
def test_search_equals_the_textbook_after_every_visit(inside):
    game = make(inside)
    *_, state = random_walk(game, 3, length=4)
    predictor = Projection(game)
    mcts, book = rooted(game, state), Textbook(state)
    book.simulate(predictor)
    for sims in range(1, 121):
        mcts.search(predictor, sims)
        book.simulate(predictor)
        assert numbers(mcts.root) == {edge.action: edge.stats for edge in book.root.edges}, f"after {sims} of\n{state}"
    fast = mcts.tree
    assert set(fast) == set(book.tree)
    for state_id, node in book.tree.items():
        assert numbers(fast[state_id]) == {edge.action: edge.stats for edge in node.edges}, f"\n{node.state}"


# ---- specs and folders


@pytest.mark.parametrize(
    "given, spec",
    [
        ("open_spiel:hex", "open_spiel:hex"),
        (" open_spiel: hex() ", "open_spiel:hex"),
        ("open_spiel:go(komi=2.5,board_size=3)", "open_spiel:go(board_size=3,komi=2.5)"),
        ("open_spiel:hex(swap=true,board_size=3)", "open_spiel:hex(board_size=3,swap=True)"),
        ("open_spiel:misere(game=hex(board_size=3))", "open_spiel:misere(game=hex(board_size=3))"),
    ],
)
def test_a_spec_is_canonical_and_makes_the_game_again(given, spec):
    game = games.make(given)
    assert game.spec == spec
    again = games.make(spec)
    assert again.spec == spec and again.input_shape == game.input_shape and again.row_of(game.start()).any()


def test_folders_of_runs_are_safe_on_any_file_system_and_differ_where_games_do():
    specs = [
        "connect4", "connect4(rows=5)", "open_spiel:hex", "open_spiel:hex(board_size=5)", "open_spiel:go(komi=7.5)",
        "open_spiel:go(komi=-7.5)", "open_spiel:misere(game=hex(board_size=3))", "gomoku(rule=renju)",
        "open_spiel:start_at(game=tic_tac_toe(),history=0;1)", "open_spiel:start_at(game=tic_tac_toe(),history=01)",
        "open_spiel:antichess(fen=8/8 w - -)", "open_spiel:" + "x" * 900, "/home/a/nim.py:Nim", "/home/b/nim.py:Nim",
        "/home/b/nim.py:nim",
    ]  # fmt: skip
    folders = [run_folders.game_folder(spec) for spec in specs]
    assert folders[:4] == ["connect4", "connect4-rows-5", "open-spiel-hex", "open-spiel-hex-board-size-5"]
    assert len({name.lower() for name in folders}) == len(specs)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,110}", name) for name in folders)


# ---- what is refused

REFUSED = {
    "backgammon": "backgammon cannot be played here: expected no chance, got explicit_stochastic",
    "kuhn_poker": "got explicit_stochastic; expected perfect information, got imperfect_information",
    "matrix_pd": "expected moves one after the other, got simultaneous",
    "goofspiel": "expected moves one after the other, got simultaneous",
    "tiny_hanabi": "expected one player's gain to be the other's loss, got identical",
    "chinese_checkers(players=3)": "expected two players, got 3",
    "hexx": "expected a game that OpenSpiel knows, got 'hexx'; did you mean 'hex'?",
    "misere(game=hexx())": "expected a game that OpenSpiel knows, got 'hexx'; did you mean 'hex'?",
    "": "expected a game that OpenSpiel knows, got ''",
    "hex(board=5)": "Unknown parameter 'board'. Available parameters are: board_size",
    "hex(board_size=five)": "Wrong type for parameter board_size. Expected type: a whole number",
    "go(komi=7)": "Wrong type for parameter komi. Expected type: a number with a point, got 7",
    "hex(board_size=5": "expected a form such as hex(board_size=5)",
    "hex(board_size=5)x": "expected a form such as hex(board_size=5)",
    "amazons(board_size=7)": "OpenSpiel refuses amazons(board_size=7)",
    "go(board_size=25)": "OpenSpiel refuses go(board_size=25): The current Go implementation supports",
    "connect_four(rows=0)": "expected games of at least one ply, got 0",
    "hex(board_size=0)": "expected 1 to 32,767 actions, got 0",
    "checkers(rows=4,columns=4)": "it is over before the first move",
    "misere": "OpenSpiel refuses misere: Missing parameter game",
    "efg_game(filename=x)": "OpenSpiel refuses efg_game(filename=x)",
}


@pytest.mark.parametrize("inside", REFUSED)
def test_what_does_not_fit_is_refused_in_one_line_with_the_reason(inside, capsys):
    assert run(["check", f"open_spiel:{inside}"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"error: [^\n]+\n", err) and REFUSED[inside] in err, err
    assert "/" not in err, "no place in somebody's source"


def stand_in(tmp_path, monkeypatch, script):
    """Let another script do what the probe does."""
    (tmp_path / "probe.py").write_text(script)
    monkeypatch.setattr(games.openspiel, "SCRIPT", tmp_path / "probe.py")
    games.openspiel.probe.cache_clear()


@pytest.mark.parametrize(
    "script, words",
    [("import os; os.abort()", "OpenSpiel crashes on hex"), ("while True: pass", "did not come to an end")],
)
def test_parameters_that_crash_openspiel_or_never_end_are_refused(tmp_path, monkeypatch, script, words):
    stand_in(tmp_path, monkeypatch, script)
    monkeypatch.setattr(games.openspiel, "PROBE_SECONDS", 0.5)
    with pytest.raises(UserError, match=words):
        make("hex(board_size=5)")


def test_without_open_spiel_the_command_that_installs_it_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "pyspiel.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    games.openspiel.probe.cache_clear()
    assert run(["check", "open_spiel:hex"]) == 2
    assert capsys.readouterr().err == "error: games of OpenSpiel need it installed: `pip install open_spiel`\n"


def test_a_game_longer_than_openspiel_says_is_stopped():
    game = make("tic_tac_toe")
    game.max_plies = 2
    state = game.start().takeAction(0)[0].takeAction(1)[0]
    with pytest.raises(UserError, match="expected at most 2 plies, got more"):
        state.takeAction(2)


# ---- learning
