"""A game of one's own: written by new-game, named by file and class in every command, refused with one clear line."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import games
from config import UserError
from evaluation.game_contract import check
from games.own import digest
from interface.commands.new_game import TEMPLATE
from storage import game_files
from support.command_line import output_of
from support.own_games import GUIDE, changed, listing

HERE = Path(__file__).parents[2]


# ---- new-game


def test_new_game_writes_a_game_that_passes_check_and_tells_what_comes_next(desk, capsys):
    code, out, err = output_of(capsys, "new-game", "my_game")
    assert (code, err) == (0, "") and "wrote my_game.py" in out
    commands = [line for line in out.splitlines() if line.startswith("python ")]
    assert [Path(shlex.split(c)[1]) for c in commands] == [HERE / "main.py"] * 3 and (HERE / "main.py").exists()
    assert [c.split("main.py", 1)[1].strip("'\" ") for c in commands] == [
        "check my_game.py:MyGame", "--new --minutes 5 --game my_game.py:MyGame", "play --game my_game.py:MyGame",
    ]  # fmt: skip
    code, out, _ = output_of(capsys, *shlex.split(commands[0])[2:])
    assert code == 0 and "my_game.py:MyGame: no fault in 50 random games" in out
    assert "to move has lost: is that right?" in out, "the end of a game is shown"
    assert "template" not in (desk / "my_game.py").read_text().lower()


def test_new_game_as_json(desk, capsys):
    _, out, _ = output_of(capsys, "new-game", "nim2", "--json")
    found = json.loads(out)
    assert found["file"] == str(desk / "nim2.py") and found["class"] == "Nim2" and len(found["commands"]) == 3


@pytest.mark.parametrize(
    "name, words",
    [
        ("MyGame", "expected a name of small letters"),
        ("my-game", "expected a name of small letters"),
        ("2048", "expected a name of small letters"),
        ("../evil", "expected a name of small letters"),
        ("x" * 200, "expected a name of small letters"),
        ("class", "expected a name that Python does not use"),
        ("none", "expected a name that Python does not use"),
        ("game_state", "expected a name that Python does not use"),
        ("random", "expected a name that no game and no module of Python has"),
        ("numpy", "expected a name that no game and no module of Python has"),
        ("agent", "expected a name that no game and no module of Python has"),
        ("othello", "expected a name that no game and no module of Python has"),
        ("games", "expected a name that no game and no module of Python has"),
    ],
)
def test_a_name_that_is_none_or_taken_is_refused_and_nothing_is_written(desk, capsys, name, words):
    code, out, err = output_of(capsys, "new-game", name)
    assert code == 2 and out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err
    assert list(desk.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(desk, capsys):
    (desk / "mine.py").write_text("precious")
    code, _, err = output_of(capsys, "new-game", "mine")
    assert code == 2 and "there is" in err and "mine.py already" in err
    assert (desk / "mine.py").read_text() == "precious"


def test_the_game_of_the_template_is_snort(snort):
    """On 3 x 3 by hand: after the centre and a corner, no stone of one stands beside one of the other."""
    state = games.make("snort.py:Snort(size=3)").start()
    state = state.takeAction(4)[0]
    assert state.allowedActions == [0, 2, 6, 8] and state.playerTurn == -1
    state = state.takeAction(0)[0]
    assert state.allowedActions == [2, 5, 6, 7, 8]
    for action in (2, 6):
        state = state.takeAction(action)[0]
    assert state.allowedActions == [5, 8] if state.playerTurn == 1 else [8]


# ---- a game by its file


def test_a_file_is_found_from_anywhere_and_its_spec_works_again(snort, tmp_path, monkeypatch):
    spec = f"{snort}:Snort(size=4)"
    monkeypatch.chdir(tmp_path)
    for name in ("desk/snort.py:Snort(size=4)", "./desk/snort.py:Snort( size = 4 )", "desk/snort.py(size=4)", spec):
        game = games.make(name)
        assert game.spec == spec and game.grid_shape == (4, 4), name
    assert games.make("desk/snort.py:Snort(size=5)").spec == games.make("desk/snort.py").spec == f"{snort}:Snort"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert games.make("~/desk/snort.py:Snort(size=4)").spec == spec


def test_a_path_may_have_blanks_and_brackets(snort, tmp_path):
    place = tmp_path / "my games (old)"
    place.mkdir()
    moved = snort.rename(place / "snort.py")
    assert games.make(f"{moved}:Snort(size=3)").spec == f"{moved}:Snort(size=3)"


def test_parameters_are_kept_although_the_class_says_nothing_of_them(snort):
    assert games.make("snort.py:Snort(size=3)").parameters == {"size": 3}


def test_a_file_is_run_once_and_again_when_it_has_changed(snort):
    changed(snort, ("import numpy as np\n", "import numpy as np\n\nopen('runs.txt', 'a').write('x')\n"))
    assert type(games.make("snort.py:Snort")) is type(games.make("snort.py:Snort"))
    assert Path("runs.txt").read_text() == "x"
    changed(snort, ("size: int = 5", "size: int = 4"))
    assert games.make("snort.py:Snort").grid_shape == (4, 4) and Path("runs.txt").read_text() == "xx"


AT_IMPORT = "import numpy as np"
BROKEN = {
    "no such file": ("nothing.py:Snort", [], "expected a file with a game, got"),
    "no such class": ("snort.py:Snrt", [], "expected a game out of Snort, got 'Snrt'; did you mean 'Snort'?"),
    "a class that is no game": ("snort.py:SnortState", [], "expected a class derived from Game or PlainGame, got Sno"),
    "a class from elsewhere": ("snort.py:PlainGame", [], "expected a class derived from Game or PlainGame, got Plain"),
    "a form that is none": ("snort.py:Snort(size=3", [], "expected a game such as file.py:Class"),
    "no game at all": (
        "snort.py",
        [("class Snort(PlainGame)", "class Snort")],
        "expected a game, there is no class derived from Game or PlainGame in snort.py",
    ),
    "a wrong parameter": ("snort.py:Snort(sise=3)", [], "expected a parameter out of size, got 'sise'; did you mean"),
    "a wrong value": ("snort.py:Snort(size=99)", [], "snort: expected a size from 2 to 19, got 99"),
    "a word for a number": ("snort.py:Snort(size=big)", [], "snort: expected a whole number for size, got 'big'"),
    "wrong syntax": ("snort.py:Snort", [(AT_IMPORT, "import numpy as")], "snort.py, line 11: SyntaxError: "),
    "an error at import": ("snort.py:Snort", [(AT_IMPORT, "1 / 0")], "snort.py, line 11: ZeroDivisionError: division"),
    "a module that is not there": ("snort.py:Snort", [(AT_IMPORT, "import numpie")], "No module named 'numpie'"),
    "an exit at import": ("snort.py:Snort", [(AT_IMPORT, "raise SystemExit(0)")], "line 11: SystemExit: 0"),
    "an error in the constructor": (
        "snort.py:Snort",
        [("self.max_plies = size", "self.max_plies = sise")],
        "snort.py, line 86: NameError: name 'sise' is not defined",
    ),
    "no start": ("snort.py:Snort", [("def start(self)", "def begin(self)")], "expected start() to be written"),
    "no plies": ("snort.py:Snort", [("self.max_plies = ", "most = ")], "snort.py: expected Snort to have max_plies"),
    "no rules": (
        "snort.py:Snort",
        [("class Snort(PlainGame)", "class Snort(Game)"), ("import GameState,", "import Game, GameState,")],
        "expected Snort to have rules, start_row; derive it from games.plain.PlainGame",
    ),
    "a default of another type": (
        "snort.py:Snort(size=3)",
        [("size: int = 5", "size: int | None = None")],
        "expected a number or word as the default of size, got NoneType",
    ),
    "symmetries that are none": (
        "snort.py:Snort",
        [("self.symmetries = point_symmetries(size, size)", "self.symmetries = None")],
        "expected symmetries to be a list of game.Symmetry, see games.boards.point_symmetries, got None",
    ),
    "symmetries of the points alone": (
        "snort.py:Snort",
        [("self.symmetries = point_symmetries(size, size)", "self.symmetries = [list(range(25))[::-1]]")],
        "expected symmetries to be a list of game.Symmetry, see games.boards.point_symmetries, got [[24, 23",
    ),
    "a start without return": (
        "snort.py:Snort",
        [("return SnortState(self, (0,)", "SnortState(self, (0,)")],
        "expected start to return a GameState, and takeAction (a GameState, its value, whether it is over), got None",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_without_a_game_that_works_is_refused_in_one_line(snort, capsys, case):
    spec, changes, words = BROKEN[case]
    changed(snort, *changes)
    code, out, err = output_of(capsys, "check", spec)
    assert code == 2 and out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err, err


def test_a_record_of_a_game_does_not_run_a_file_that_it_names(snort):
    changed(snort, ("import numpy as np\n", "import numpy as np\n\nopen('ran.txt', 'w').close()\n"))
    data = json.dumps({"game": f"{snort}:Snort", "moves": ["a1"], "result": None}).encode()
    with pytest.raises(games.UserError, match="expected the game to be named with --game"):
        game_files.from_bytes(data, ".json")
    assert not Path("ran.txt").exists()
    assert game_files.from_bytes(data, ".json", games.make("snort.py:Snort")).moves == [20]


# ---- a beginner's mistakes

NEW_CELLS = "cells = (*self.cells[:action], self.playerTurn, *self.cells[action + 1 :])"
AGAIN = "self.playerTurn if action == 0 and self.cells[1] else -self.playerTurn, action)"
MISTAKES = {
    "takeAction changes its position": (
        [
            ("(0,) * self.action_size, 1", "[0] * self.action_size, 1"),
            ("self.id = (cells", "self.id = (tuple(cells)"),
            (NEW_CELLS, "cells = self.cells\n        cells[action] = self.playerTurn"),
        ],
        r"planes of the old position after takeAction: expected 0 in row \d, column \d, plane 0, got 1 .*"
        r"; takeAction must leave its position as it is and return a new one",
    ),
    "the id forgets a side's stones": (
        [("self.id = (cells, player)", "self.id = (tuple(c > 0 for c in cells), player)")],
        r"planes where ids are equal: expected .*; the id leaves out something that matters",
    ),
    "the id forgets the side to move": (
        [("self.id = (cells, player)", "self.id = cells"), ("-self.playerTurn, action)", AGAIN)],
        r"playerTurn where ids are equal: expected -?1, got -?1 .*; the id leaves out something that matters",
    ),
    "a value of the wrong sign in takeAction": (
        [("return state, state.value, state", "return state, -state.value, state")],
        r"value and done from takeAction: expected \(-1.0, True\), got \(1.0, True\)",
    ),
    "moves out of order": (
        [("for i in range(len(cells)) if", "for i in reversed(range(len(cells))) if")],
        r"order of legal: expected ascending, each once, within 0 .. 8, got \[8, 7",
    ),
    "planes of floats": ([(".astype(np.uint8)", ".astype(np.float32)")], r"planes: expected uint8, got float32"),
    "planes that are the same whoever is to move": (
        [(" * self.playerTurn\n", "\n")],
        r"view of planes: expected the stones as the player to move sees them, got those of the player who began in "
        r"plane 0 at each turn, the other's in plane 1 .*; show the stones of the player to move first",
    ),
    "a method that is not there": (
        [("def planes(self)", "def plains(self)")],
        r"planes\(\): expected it to be written \(see docs/add_a_game.md\), got none \(after moves \[\]\)$",
    ),
    "an error in a rule": (
        [("if action not in self.allowedActions:", "if self.allowed[action]:")],
        r"the rules: expected no exception, got snort.py, line \d+: AttributeError: .*'allowed'.*; a mistake in the",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_check_tells_a_beginner_what_is_wrong(snort, case):
    changes, message = MISTAKES[case]
    changed(snort, *changes)
    found = check(games.make("snort.py:Snort(size=3)"), games=30)
    assert any(re.match(message, line) for line in found), "\n".join(found)
    assert len(found) <= 10


def test_planes_of_the_player_who_began_are_no_fault_where_another_plane_says_who_is_to_move(snort):
    changed(snort, (" * self.playerTurn\n", "\n"), ("np.ones_like(board)", "np.full_like(board, self.playerTurn == 1)"))
    assert check(games.make("snort.py:Snort(size=3)"), games=30) == []


RETURNED = "return state, state.value, state.isEndGame"
VALUE = "self.value = -1.0 if self.isEndGame else 0.0"
PLANES = "np.stack([board == 1, board == -1, np.ones_like(board)], axis=-1).astype(np.uint8)"
NAME = "return point_name(action, *self.grid_shape)"
TAKEN = r"takeAction\(\): expected \(a GameState, its value, whether it is over\), got"
A_VALUE = r"value: expected a float in \[-1, 1\], 0.0 before the end, got"
A_LIST = "np.zeros((3, 3, 3)).tolist()"
UNUSABLE = {
    "planes in a list": (PLANES, A_LIST, r"planes\(\): expected an array of whole numbers, got list"),
    "planes without return": (f"return {PLANES}", "pass", r"planes\(\): expected an array of whole numbers, got None"),
    "planes of NaN": (
        PLANES,
        "np.full((3, 3, 3), np.nan)",
        r"planes\(\): expected an array of whole numbers, got some that are NaN",
    ),
    "a position and its value": (RETURNED, "return state, state.value", rf"{TAKEN} \(SnortState, float\)"),
    "a position alone": (RETURNED, "return state", f"{TAKEN} SnortState"),
    "no position": (RETURNED, "pass", f"{TAKEN} None"),
    "no value before the end": (VALUE, VALUE.replace("0.0", "None"), f"{A_VALUE} None"),
    "a value of NaN before the end": (VALUE, VALUE.replace("0.0", "np.nan"), f"{A_VALUE} nan"),
    "a value of NaN at the end": (VALUE, VALUE.replace("-1.0", "np.nan"), f"{A_VALUE} nan"),
    "a word for a value": (VALUE, VALUE.replace("-1.0", "'lost'"), f"{A_VALUE} 'lost'"),
    "a value in an array": (VALUE, VALUE.replace("-1.0", "np.array([-1.0])"), rf"{A_VALUE} array\(\[-1.\]\)"),
    "no value at all": (VALUE, "pass", "value: expected an attribute of each position, got none"),
    "a name without return": (NAME, "pass", r"move_name\(\): expected a text, got None for action 0"),
    "a number for a name": (NAME, "return action", r"move_name\(\): expected a text, got 0 for action 0"),
    "a board without return": ('return "\\n".join(', "str(", r"render\(\): expected lines of text, got None"),
    "a board that is not written": ("def render(", "def draw(", r"render\(\): expected it to be written"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_cannot_be_compared_is_the_only_fault_and_names_what_was_returned(snort, case):
    old, new, message = UNUSABLE[case]
    changed(snort, (old, new))
    (found,) = check(games.make("snort.py:Snort(size=3)"), games=5)
    assert re.fullmatch(rf"{message}.* \(after moves \[[\d, ]*\]\)", found), found


def test_a_sign_that_is_wrong_everywhere_shows_in_the_end_of_a_game(snort, capsys):
    changed(snort, ("self.value = -1.0 if", "self.value = 1.0 if"))
    code, out, _ = output_of(capsys, "check", "snort.py")
    assert code == 0 and "to move has won: is that right?" in out


# ---- learning


# ---- the compiled form


def test_the_compiled_game_of_the_guide_is_the_game_of_the_template(snort, desk):
    (desk / "fast.py").write_text(listing())
    for size in (3, 5):
        plain, fast = games.make(f"snort.py:Snort(size={size})"), games.make(f"fast.py:Snort(size={size})")
        assert check(fast, games=5) == [] and digest(fast) != digest(plain)
        rng = np.random.default_rng(size)
        for _ in range(30):
            a, b = plain.start(), fast.start()
            while not a.isEndGame:
                assert (a.allowedActions, a.playerTurn, str(a)) == (b.allowedActions, b.playerTurn, str(b))
                assert (a.planes() == b.planes()).all()
                action = int(rng.choice(a.allowedActions))
                a, b = a.takeAction(action)[0], b.takeAction(action)[0]
            assert b.isEndGame and a.value == b.value == -1.0


SIGNED = "fast.py: expected {0} to be made by @rule({1}), see game.{1}"


@pytest.mark.parametrize("before, after, expected", [
    ("@rule(OUTCOME)", "@njit", SIGNED.format("outcome", "OUTCOME")),
    ("@rule(LEGAL)", "@rule('int32(int32[::1], int32[::1])')", SIGNED.format("legal", "LEGAL")),
    ("np.int32)", "np.int64)", "fast.py: expected start_row to be an array [row_size] of np.int32"),
])  # fmt: skip
def test_rules_that_compiled_code_would_take_for_others_are_refused(desk, before, after, expected):
    text = listing()
    assert before in text and "from compiled import compiled, rule\n" in text
    text = f"from numba import njit\n{text}"
    (desk / "fast.py").write_text(text.replace(before, after))
    with pytest.raises(UserError) as error:
        games.make("fast.py:Snort(size=3)")
    assert str(error.value) == expected


def test_the_guide_shows_what_the_commands_print(snort, capsys):
    """The shape of the example in the guide, line by line."""
    _, out, _ = output_of(capsys, "check", "snort.py")
    shown = re.search(r"check snort.py\n```\n\n```text\n(.*?)```", GUIDE, re.DOTALL)[1]
    out = out.replace(str(snort), "/home/me/snort.py")
    assert [line.rstrip() for line in out.splitlines()] == [line.rstrip() for line in shown.splitlines()]


def test_the_template_is_readable_where_it_lies():
    compile(TEMPLATE.read_text(encoding="utf-8"), "template", "exec")


def test_a_saved_game_is_read_when_the_file_of_rules_has_moved_and_is_named(snort, desk):
    game = games.make(f"{snort}:Snort")
    state, moves = game.start(), []
    for _ in range(3):
        moves.append(int(state.allowedActions[0]))
        state = state.takeAction(moves[-1])[0]
    game_files.save(desk / "a.json", game_files.Record(game, moves))
    (desk / "elsewhere").mkdir()
    moved = games.make(f"{snort.rename(desk / 'elsewhere' / 'snort.py')}:Snort")
    assert moved.spec != game.spec and game_files.load(desk / "a.json", moved).moves == moves
    with pytest.raises(UserError, match="expected the game to be named with --game"):
        game_files.load(desk / "a.json")
    with pytest.raises(UserError):
        game_files.load(desk / "a.json", games.make("tictactoe"))


def test_a_file_put_among_the_games_keeps_its_settings(snort, monkeypatch):
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(snort.parent)])
    monkeypatch.delitem(sys.modules, "games.snort", raising=False)
    assert games.make("snort(size=6)").spec == "snort(size=6)" and games.make("snort(size=5)").spec == "snort"
    assert games.make(games.make("snort(size=6)").spec).grid_shape == (6, 6)
    del sys.modules["games.snort"]
