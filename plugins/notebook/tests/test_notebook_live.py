"""What the notebook shows: curves from partial metrics, a position explained, a game by calls."""

import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

import games
from agent import Agent
from compiling.progress import Progress
from game import Game
from games.line_of_moves import after_moves
from interface.explain import explain
from interface.notebook import live, words
from interface.notebook.board import Board, Explained
from interface.notebook.live import LiveCurves, Picture, curves, open_session
from interface.silence import SILENT
from players.book import BookPlayer
from players.greedy import GreedyPlayer
from players.opinion import opinion_of
from players.simple import RandomPlayer
from players.uct import UCTPlayer
from support.corridor import Corridor
from support.search_cases import Projection

PNG = b"\x89PNG\r\n"
FULL = {
    "iteration": 3, "version": 2, "best_version": 2, "total_seconds": 90.0, "self_play_plies": 30.0,
    "self_play_first_wins": 0.5, "self_play_draws": 0.2, "retrain_loss": 0.9, "retrain_value_loss": 0.4,
    "retrain_policy_loss": 1.4, "tournament_score": 0.7, "tournament_promoted": True,
}  # fmt: skip


def machine(name, sims=40, **options):
    game = name if isinstance(name, Game) else games.make(name)
    return Agent("machine", game, Projection(game), mcts_sims=sims, leaves=1, **options)


# ---- curves


ONE = (
    "version",
    "total_seconds",
    "self_play_plies",
    "self_play_first_wins",
    "retrain_loss",
    "retrain_value_loss",
    "tournament_score",
)
OTHER = "best_version", "self_play_draws", "retrain_policy_loss", "tournament_promoted"
"""No two panels share a key: a key of each may be missing in one picture."""


@pytest.mark.parametrize("missing", [(), ONE, OTHER, tuple(FULL)[1:]])
def test_curves_are_drawn_whatever_a_line_lacks(missing):
    bare = {key: value for key, value in FULL.items() if key not in missing}
    assert curves([{**bare, "iteration": 1}, {**bare, "iteration": 2}, FULL])._repr_png_().startswith(PNG)


def panels_of(picture):
    return {axis.get_title(loc="left"): axis for axis in picture.figure.axes}


def test_curves_of_nothing_say_so():
    panels = curves([]).figure.axes
    assert [[text.get_text() for text in panel.texts] for panel in panels] == [["nothing yet"]] * 9


def test_curves_show_every_number_where_it_belongs():
    first = {
        **FULL,
        "iteration": 1,
        "tournament_score": 0.3,
        "tournament_promoted": False,
        "retrain_value_loss": None,
    }
    panels = panels_of(curves([first, {"iteration": 2}, FULL]))
    losses, lengths = panels["loss"], panels["length of games"]
    results, tournaments = panels["results"], panels["tournaments"]
    assert {line.get_label(): line.get_xydata().tolist() for line in losses.lines} == {
        "policy": [[1, 1.4], [3, 1.4]],
        "value": [[3, 0.4]],
    }
    assert lengths.lines[0].get_xydata().tolist() == [[1, 30], [3, 30]]
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in results.containers}
    assert list(heights) == ["first wins", "draw", "second wins"]
    assert np.array(list(heights.values())) == pytest.approx(np.array([[0.5, 0.5], [0.2, 0.2], [0.3, 0.3]]))
    points = {dots.get_label(): dots.get_offsets().tolist() for dots in tournaments.collections}
    assert points == {"promoted": [[3, 0.7]], "not promoted": [[1, 0.3]]}


def test_a_picture_can_be_saved(tmp_path):
    picture = curves([FULL])
    assert isinstance(picture, Picture)
    picture.save(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


def test_live_curves_work_without_a_notebook(tmp_path):
    class Run:
        folder = tmp_path
        console = "as it was"

    shown = LiveCurves(Run)
    (tmp_path / "metrics.jsonl").write_text('{"iteration": 1, "self_play_plies": 9.0}\n')
    shown({"iteration": 1})
    assert panels_of(shown.picture)["length of games"].lines[0].get_xydata().tolist() == [[1, 9]]
    assert Run.console == "as it was"


# ---- a session


@pytest.fixture
def in_numpy(monkeypatch):
    """Sessions have networks in NumPy: which folder resumes does not depend on them."""
    from support.numpy_training.numpy_model import make_network

    monkeypatch.setattr("initialise._build", make_network)


@pytest.mark.usefixtures("in_numpy")
def test_a_session_that_begins_with_another_runs_network_has_one_like_it_unless_another_is_named(tmp_path):
    small = {"hidden_cnn_layers": ["8x3"], "value_units": 8, "games_in_flight": 2, "backend": "keras"}
    open_session("tiny", root=tmp_path, overrides=small)
    begin = {"root": tmp_path, "INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 0}
    alike = open_session(game="tictactoe", overrides={"episodes": 7}, **begin).config
    assert (alike.hidden_cnn_layers, alike.value_units, alike.episodes) == (("8x3",), 8, 7)
    larger = open_session(game="tictactoe", overrides={"hidden_cnn_layers": ["12x3"]}, **begin)
    assert larger.config.hidden_cnn_layers == ("12x3",)
    larger.close()


@pytest.mark.usefixtures("in_numpy")
def test_opening_a_session_goes_on_with_the_newest_run_and_closes_the_one_before(tmp_path, capsys):
    small = {"hidden_cnn_layers": ["8x3"], "games_in_flight": 2, "backend": "keras"}
    first = open_session("tiny", root=tmp_path, overrides=small)
    again = open_session("tiny", root=tmp_path, overrides={**small, "episodes": 7})
    assert again is not first and again.folder == first.folder
    assert again.config.episodes == 7 and again.config.hidden_cnn_layers == ("8x3",)
    other = open_session("laptop", game="tictactoe", root=tmp_path)
    assert other.folder == first.folder and other.config == again.config, "a run keeps its settings"
    new = open_session("tiny", root=tmp_path, new=True, overrides=small)
    assert (first.folder.name, new.folder.name) == ("run0001", "run0002")
    new.close()
    said = [line for line in capsys.readouterr().out.splitlines() if "iteration 1" in line]
    assert [line.split(" tic")[0] for line in said] == [
        "new run",
        "resuming",
        "resuming",
        "new run",
    ]


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize(
    "limits, resumes",
    [({}, False), ({"iterations": 60}, False), ({"iterations": 61}, True), ({"iterations": 90, "minutes": 5}, False)],
)
def test_a_finished_run_resumes_only_where_its_limit_is_raised(limits, resumes, tmp_path, monkeypatch):
    small = {"hidden_cnn_layers": ["8x3"], "games_in_flight": 2, "backend": "keras"}
    first = open_session("tiny", root=tmp_path, overrides=small)
    monkeypatch.setattr(live, "unfinished_run", lambda *_: None)
    again = open_session("tiny", root=tmp_path, overrides={**small, **limits})
    assert (again.folder == first.folder) == resumes
    again.close()
    new = open_session("tiny", root=tmp_path, new=True, overrides={**small, **limits})
    assert new.folder not in (first.folder, again.folder)
    new.close()


def test_curves_of_one_cell_that_are_followed_by_others_count_no_more_seconds(tmp_path, monkeypatch):
    """As in a loop that opens a session again and again."""
    watched, shown, ended = [], [], []
    events = SimpleNamespace(
        register=lambda event, call: watched.append(call), unregister=lambda event, call: watched.remove(call)
    )
    monkeypatch.setattr(live, "shell", lambda: SimpleNamespace(events=events))
    monkeypatch.setattr(live, "display_text", lambda text: shown.append)
    monkeypatch.setattr(live.Words, "end", lambda console: ended.append(console))
    pytest.importorskip("IPython", reason="draws there")
    runs = [SimpleNamespace(folder=tmp_path, console=None) for _ in range(3)]
    curves_shown = [LiveCurves(run) for run in runs]
    consoles = [run.console for run in runs]
    assert ended == consoles[:2] and watched == [curves_shown[2]._end]
    watched[0](None)
    assert ended == consoles and watched == []
    for console in consoles:
        console._silence.end()
        console._watch.end()


# ---- a position explained


def explained(name, moves=""):
    agent = machine(name)
    state = after_moves(agent.game, agent.game.parse_moves(moves))
    return Explained(explain(agent, state), state)


@pytest.mark.parametrize(
    "name, moves", [("connect4", "4433"), ("tictactoe", "b2 a3"), (Corridor(), "b2 c1 pass")]
)
def test_the_table_has_a_line_for_every_legal_move(name, moves):
    shown = explained(name, moves)
    game = name if isinstance(name, Game) else games.make(name)
    found = re.findall(r"<b>([^<]+)</b></td>", shown._repr_html_())
    assert sorted(found) == sorted(game.move_name(a) for a in shown.state.allowedActions)
    for move in shown.found["moves"]:
        assert " ".join(move["pv"]) in shown._repr_html_()
        assert f"{move['U']:.3f}" in shown._repr_html_()


def test_text_of_a_position_is_escaped_in_html():
    shown = explained("tictactoe")
    shown.found["player"] = shown.found["moves"][0]["move"] = "<script>&"
    html = shown._repr_html_()
    assert "<script>" not in html and html.count("&lt;script&gt;&amp;") == 2
    assert "<script>&" in str(shown), "text is not"


def test_a_position_explained_is_a_table_in_text():
    assert (
        str(explained("connect4", "44")).splitlines()[-9]
        == repr(explained("connect4", "44")).splitlines()[-9]
    )
    assert "principal variation" in str(explained("connect4", "44"))


# ---- a game


def test_a_move_is_played_and_answered():
    board = Board(machine("connect4"))
    assert board.move(4) is board
    assert board.moves[0] == 3 and len(board.moves) == 2 and board.state.playerTurn == 1
    assert board.said == f"machine plays {board.moves[1] + 1}, value for it {board.value:+.2f}"
    board.move("3")
    assert len(board.moves) == 4 and board.moves[2] == 2
    assert "Your turn, you are X. Legal:" in repr(board) and board.said in board._repr_html_()


@pytest.mark.parametrize("move", ["9", "", "<b>", None, -1, 4.0, "4 4", "1"])
def test_what_cannot_be_played_gives_one_line_and_changes_nothing(move):
    board = Board(machine("connect4"))
    board._seat([0, 0, 0, 0, 0, 0])
    before = board.state
    board.move(move)
    assert board.state is before and len(board.moves) == 6
    assert board.note and "\n" not in board.note and "<b>" not in board.note.replace("'<b>'", "")
    assert "<b>'" not in board._repr_html_()
    assert board.move(2).note == ""


def test_undo_takes_back_the_last_move_and_its_answer():
    board = Board(machine("connect4"))
    assert board.undo().note == "there is no move of yours to take back" and board.moves == []
    board.move(4).move(4)
    first = board.moves[:2]
    assert board.undo().moves == first and board.undo().moves == [] and board.note == ""
    assert board.move(4).moves == first, "the same game again"


def test_the_machine_begins_when_told_and_undo_keeps_its_move():
    board = Board(machine("tictactoe"), human_first=False)
    assert len(board.moves) == 1 and board.state.playerTurn == -1
    assert "you are O" in board.status
    opening = list(board.moves)
    board.move(board.game.move_name(board.state.allowedActions[0]))
    assert board.undo().moves == opening
    assert board.new(human_first=True).moves == [] and "you are X" in board.status


@pytest.mark.parametrize("human_first, words", [(True, "You win."), (False, "You lose.")])
def test_the_end_says_who_won(human_first, words):
    board = Board(machine("connect4"), human_first=human_first)
    board._seat(board.game.parse_moves("1213141"))
    assert board.status == f"{words} board.new() begins another game."
    assert "the game is over" in board.move(4).note and len(board.moves) == 7
    assert board.hint() is board and board.note == "the game is over"


def test_a_draw_is_called_one():
    board = Board(machine("tictactoe"))
    board._seat(board.game.parse_moves("a3 b3 c3 b2 a2 c2 b1 a1 c1"))
    assert board.status.startswith("A draw.")


def test_a_game_to_the_end_against_the_machine():
    board, rng = Board(machine("tictactoe")), np.random.default_rng(1)
    while not board.state.isEndGame:
        board.move(board.game.move_name(int(rng.choice(board.state.allowedActions))))
        assert board.note == ""
    assert "board.new()" in board.status and board.new().moves == []


def test_passes_and_two_turns_in_a_row_are_no_trouble():
    board, rng = Board(machine(Corridor())), np.random.default_rng(2)
    for _ in range(100):
        if board.state.isEndGame:
            break
        assert board.state.playerTurn == 1
        before = len(board.moves)
        board.move(board.game.move_name(int(rng.choice(board.state.allowedActions))))
        answers = [board.game.move_name(action) for action in board.moves[before + 1 :]]
        assert not answers or f"plays {' '.join(answers)}, value" in board.said
    assert board.state.isEndGame


def test_who_has_no_opinion_gives_no_value():
    game = games.make("connect4")
    board = Board(RandomPlayer(game)).move(4)
    assert board.value is None and board.said == f"random plays {board.moves[1] + 1}"
    assert opinion_of(UCTPlayer.__new__(UCTPlayer), 0.0) is None
    known = BookPlayer.__new__(BookPlayer)
    assert opinion_of(known, 0.0) is None and opinion_of(known, 0.25) == 0.25
    assert opinion_of(GreedyPlayer(game), 0.0) == 0.0


def test_an_interrupted_answer_leaves_the_game_as_it_was():
    class Busy(RandomPlayer):
        def act(self, state, tau):
            raise KeyboardInterrupt

    board = Board(Busy(games.make("connect4")))
    with pytest.raises(KeyboardInterrupt):
        board.move(4)
    assert board.moves == [] and board.state.playerTurn == 1


def test_a_hint_is_an_explanation_and_changes_nothing():
    board = Board(machine("connect4"))
    board.move(4)
    before = list(board.moves)
    hint = board.hint()
    assert isinstance(hint, Explained) and len(hint.found["moves"]) == 7 and board.moves == before
    other = Board(RandomPlayer(games.make("connect4")))
    assert other.hint() is other and other.note == "random gives no hints"


class Interrupted(RandomPlayer):
    """Is interrupted when it thinks for the first time."""

    def act(self, state, tau):
        if not hasattr(self, "again"):
            self.again = True
            raise KeyboardInterrupt
        return super().act(state, tau)


def test_a_machine_interrupted_before_the_first_move_moves_first_after_all():
    board = Board(RandomPlayer(games.make("tictactoe")))
    board.agent = Interrupted(board.game)
    with pytest.raises(KeyboardInterrupt):
        board.new(human_first=False)
    assert board.moves == [] and not board.human_to_move
    board.move("b2")
    assert len(board.moves) == 1 and board.human_to_move, "the stone is the machine's"
    assert board.note == "random was to move; now it has"
    free = board.game.move_name(board.state.allowedActions[0])
    assert len(board.move(free).moves) == 3 and board.note == ""


def test_the_words_of_a_training_cell_show_how_far_compiling_is_and_forget_it():
    shown = []
    console = words.Words(shown.append)
    console.say("new run")
    console.compiling(Progress(12, 280, 3.4))
    console.compiling(None)
    console.end()
    counted = [text for text in shown if " ... " not in text]
    assert counted == ["new run", f"new run\n{Progress(12, 280, 3.4)}", "new run", "new run"]
    assert "12 of about 280" in counted[1]


def test_the_seconds_without_news_are_counted_below_what_was_last_said_until_the_cell_ends():
    shown = []
    console = words.Words(shown.append)
    with console.phase("self-play", 10):
        while len(shown) < 4:
            time.sleep(0.01)
        within = shown[-1]
    console.end()
    assert re.fullmatch(r"  self-play  \.\.\. \d+\.\d s", within)
    assert shown[-1] == ""
    before = len(shown)
    time.sleep(2 * SILENT)
    assert len(shown) == before


def test_loading_is_said_in_a_notebook_for_as_long_as_it_lasts(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(words, "shell", lambda: "a notebook's")
    monkeypatch.setattr(words, "display_text", lambda text: [shown.append(text)] and shown.append)
    with words.loading() as say:
        while len(shown) < 3:
            time.sleep(0.01)
        say("new run")
        time.sleep(2 * SILENT)
    assert shown[0] == "loading the network's libraries: 0 s" and shown[-1] == "new run"
    assert all(text.startswith("loading") for text in shown[:-1])
    with pytest.raises(ZeroDivisionError), words.loading():
        raise ZeroDivisionError
    monkeypatch.setattr(words, "shell", lambda: None)
    with words.loading() as say:
        say("outside")
    assert capsys.readouterr().out == "outside\n"
