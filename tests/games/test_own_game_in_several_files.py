"""Your own game rests on more than its file: modules next to it and elsewhere, and the data that it reads."""

import hashlib
import os
import subprocess
import sys

import pytest

import games
from compiling import prepared
from config import UserError, to_json
from games.own import digest
from support.own_games import HERE, changed, listing
from support.tiny_runs import tiny
from training.worker_player import make_network_player

BEGIN, END = "@compiled\n", "@rule(LEGAL)"
HEAD = "from compiled import compiled\nfrom game import HEADER, PLAYER\n\nSIZE, CELLS = HEADER, HEADER + 1\n\n\n"
EMPTY = "if row[CELLS + i] != 0:"


@pytest.fixture
def two(desk):
    """The compiled game of the guide as fast.py, which imports near.py."""
    text = listing()
    begin, end = text.index(BEGIN), text.index(END)
    (desk / "near.py").write_text(HEAD + text[begin:end])
    (desk / "fast.py").write_text(text[:begin] + "from near import may_be_played\n\n\n" + text[end:])
    return desk


def moves(spec="fast.py:Snort(size=3)"):
    """Return the first moves by the compiled rules of a game as it is now."""
    return list(games.make(spec).start().allowedActions)


def text_of(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("name", ["v1.2.py", "two-words.py", "mit hilfe.py", "it's.py"])
def test_a_file_with_modules_beside_it_may_have_any_name(two, name):
    (two / "fast.py").rename(two / name)
    assert moves(f"{name}:Snort(size=3)")


# ---- machine code


def test_an_edit_of_a_helper_counts_in_the_compiled_rules(two):
    assert moves() == list(range(9))
    changed(two / "near.py", (EMPTY, "if row[CELLS + i] != 0 or i == 4:"))
    assert moves() == [0, 1, 2, 3, 5, 6, 7, 8]
    changed(two / "near.py", ("i == 4", "i == 5"))  # of the same length
    assert moves() == [0, 1, 2, 3, 4, 6, 7, 8]


def test_a_number_of_a_file_of_data_counts_in_the_compiled_rules(two):
    (two / "hole.txt").write_text("4")
    hole = "HOLE = int(open(__file__.replace('near.py', 'hole.txt')).read())\n"
    changed(two / "near.py", (EMPTY, "if row[CELLS + i] != 0 or i == HOLE:"), ("SIZE, CELLS =", f"{hole}SIZE, CELLS ="))
    assert moves() == [0, 1, 2, 3, 5, 6, 7, 8]
    (two / "hole.txt").write_text("5")
    assert moves() == [0, 1, 2, 3, 4, 6, 7, 8]


def test_an_edit_of_a_module_elsewhere_counts_in_the_compiled_rules(two, tmp_path, monkeypatch):
    """Nothing else of such a game changes, so its kept machine code has the same name and stamp."""
    (tmp_path / "lib").mkdir()
    (two / "near.py").rename(tmp_path / "lib" / "far_from_here.py")
    changed(two / "fast.py", ("from near import", "from far_from_here import"))
    monkeypatch.syspath_prepend(tmp_path / "lib")
    first = digest(games.make("fast.py:Snort(size=3)"))
    assert moves() == list(range(9))
    changed(tmp_path / "lib" / "far_from_here.py", (EMPTY, "if row[CELLS + i] != 0 or i == 4:"))
    assert moves() == [0, 1, 2, 3, 5, 6, 7, 8] and digest(games.make("fast.py:Snort(size=3)")) != first


def test_kept_code_is_used_again_by_a_new_process_until_a_helper_changes(two):
    script = (
        f"import sys; sys.path.insert(0, {str(HERE.parents[1])!r})\n"
        "import games; from compiling.numba_import import numba\n"
        "made = []\n"
        "class Count(numba.core.event.Listener):\n"
        "    def on_start(self, event): made.append(event.data['dispatcher'])\n"
        "    def on_end(self, event): pass\n"
        "numba.core.event.register('numba:compile', Count())\n"
        "game = games.make('fast.py:Snort(size=3)'); print(len(made), len(game.start().allowedActions))\n"
    )

    def fresh():
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        return [int(number) for number in done.stdout.split()]

    assert fresh()[1] == 9
    assert fresh() == [0, 9]
    changed(two / "near.py", (EMPTY, "if row[CELLS + i] != 0 or i == 4:"))
    compiled, count = fresh()
    assert compiled and count == 8


# ---- what a game rests on

PLAIN = "import numpy as np\n"
FORMS = {
    "import": ("import rules_a", {"rules_a.py": "SIZE = 5\n"}),
    "from": ("from rules_a import SIZE", {"rules_a.py": "SIZE = 5\n"}),
    "relative": ("from .rules_a import SIZE", {"rules_a.py": "SIZE = 5\n"}),
    "relative, named as one of Python": ("from . import random", {"random.py": "SIZE = 5\n"}),
    "package": (
        "from parts import SIZE",
        {"parts/__init__.py": "from .sizes import SIZE\n", "parts/sizes.py": "SIZE = 5\n"},
    ),
    "module of a package": ("import parts.sizes", {"parts/__init__.py": "", "parts/sizes.py": "SIZE = 5\n"}),
    "folder": ("from parts import sizes", {"parts/sizes.py": "SIZE = 5\n"}),
    "helper of a helper": ("import rules_a", {"rules_a.py": "from rules_b import SIZE\n", "rules_b.py": "SIZE = 5\n"}),
    "in a function": ("def later():\n    import rules_a", {"rules_a.py": "SIZE = 5\n"}),
    "data": ("TEXT = open('{desk}/sizes.txt').read()", {"sizes.txt": "SIZE = 5\n"}),
    "data of a library": ("TABLE = np.loadtxt('{desk}/sizes.txt')", {"sizes.txt": "0005\n"}),
    "data of a helper": (
        "import rules_a",
        {"rules_a.py": "SIZE = 5\nTEXT = open('{desk}/sizes.txt').read()", "sizes.txt": "SIZE = 5"},
    ),
    "database": ("import sqlite3; sqlite3.connect('{desk}/a.db').close()", {"a.db": "SIZE = 5"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_digest_counts_what_is_imported_and_read(snort, desk, form):
    line, files = FORMS[form]
    alone = digest(games.make("snort.py:Snort"))
    assert alone == hashlib.sha256(snort.read_bytes()).hexdigest(), "as runs of earlier versions have it"
    changed(snort, (PLAIN, f"{PLAIN}\n{line.format(desk=desk)}\n"))
    for name, text in files.items():
        text_of(desk / name, text.format(desk=desk))
    text_of(desk / "unrelated.py", "SIZE = 5\n")
    first = digest(games.make("snort.py:Snort"))
    assert first == digest(games.make("snort.py:Snort(size=3)")) and len(first) == 64
    for name, text in files.items():
        if text:
            (desk / name).write_text(text.replace("5", "4").format(desk=desk) + "\n")
            assert digest(games.make("snort.py:Snort")) != first, name
            (desk / name).write_text(text.format(desk=desk))
            assert digest(games.make("snort.py:Snort")) == first, "by what they hold, not by when they were written"
    (desk / "unrelated.py").write_text("SIZE = 4\n")
    assert digest(games.make("snort.py:Snort")) == first


def test_data_that_the_constructor_reads_counts(snort, desk):
    changed(snort, ("self.max_plies = ", f"open(f'{desk}/{{size}}.txt').close()\n        self.max_plies = "))
    for size in (3, 4):
        (desk / f"{size}.txt").write_text("5")
    small, large = (games.make(f"snort.py:Snort(size={size})") for size in (3, 4))
    (desk / "4.txt").write_text("4")
    assert digest(games.make("snort.py:Snort(size=3)")) == digest(small)
    assert digest(games.make("snort.py:Snort(size=4)")) != digest(large)


def test_libraries_and_what_is_written_do_not_count(snort, desk):
    """What is imported for the first time reads files of its own, and does not the second time."""
    alone = games.make("snort.py:Snort").rests_on.keys()
    lines = "import colorsys, wsgiref.util\nimport numpy.polynomial\nopen('log.txt', 'a').write('x')\n"
    changed(snort, (PLAIN, f"{PLAIN}\n{lines}\n"))
    assert games.make("snort.py:Snort").rests_on.keys() == alone == {"snort.py"}


def test_the_digest_is_of_the_game_that_was_loaded(snort):
    game = games.make("snort.py:Snort")
    before = digest(game)
    changed(snort, ("Who cannot move loses.", "Who cannot move loses!"))
    assert digest(game) == before != digest(games.make("snort.py:Snort"))


def test_a_changed_helper_is_loaded_again_with_what_it_defines(snort, desk):
    changed(snort, (PLAIN, f"{PLAIN}\nfrom wide import SIZE\n"), ("size: int = 5", "size: int = SIZE"))
    (desk / "wide.py").write_text("SIZE = 5\n")
    assert games.make("snort.py:Snort").grid_shape == (5, 5)
    (desk / "wide.py").write_text("SIZE = 4\n")
    assert games.make("snort.py:Snort").grid_shape == (4, 4)


def test_files_of_one_name_in_other_folders_all_count(snort, tmp_path_factory):
    other = tmp_path_factory.mktemp("data")
    for part in "ab":
        text_of(other / part / "t.txt", "1")
    changed(snort, (PLAIN, f"{PLAIN}\nfor part in 'ab':\n    open(f'{other}/{{part}}/t.txt').read()\n"))
    found = [digest(games.make("snort.py:Snort"))]
    for part in "ab":
        text_of(other / part / "t.txt", "2")
        found.append(digest(games.make("snort.py:Snort")))
    assert len(set(found)) == 3


def test_what_a_changed_module_elsewhere_is_imported_by_is_loaded_again(snort, tmp_path, monkeypatch):
    """Also where the game's own file changes at the same time."""
    lib = tmp_path / "lib"
    text_of(lib / "far_one.py", "from far_two import SIZE\n")
    text_of(lib / "far_two.py", "SIZE = 5\n")
    monkeypatch.syspath_prepend(lib)
    changed(snort, (PLAIN, f"{PLAIN}\nfrom far_one import SIZE\n"), ("size: int = 5", "size: int = SIZE"))
    assert games.make("snort.py:Snort").grid_shape == (5, 5)
    text_of(lib / "far_two.py", "SIZE = 4  # of another length: Python takes files of one second and length for one\n")
    assert games.make("snort.py:Snort").grid_shape == (4, 4)
    text_of(lib / "far_two.py", "SIZE = 3\n")
    changed(snort, ("Who cannot move loses.", "Who cannot move loses!"))
    assert games.make("snort.py:Snort").grid_shape == (3, 3)


def test_two_games_may_have_a_helper_of_one_name(snort, desk):
    changed(snort, (PLAIN, f"{PLAIN}\nfrom wide import SIZE\n"), ("size: int = 5", "size: int = SIZE"))
    text_of(desk / "other" / "snort.py", snort.read_text())
    (desk / "wide.py").write_text("SIZE = 5\n")
    (desk / "other" / "wide.py").write_text("SIZE = 4\n")
    assert games.make("snort.py:Snort").grid_shape == (5, 5)
    assert games.make("other/snort.py:Snort").grid_shape == (4, 4)


@pytest.mark.parametrize(
    "helper, words",
    [
        ("SIZE = 1 / 0\n", "error: near.py, line 1: ZeroDivisionError: division by zero"),
        ("SIZE = (\n", "error: near.py, line 1: SyntaxError: '(' was never closed"),
        ("\nimport numpie\n", "error: near.py, line 2: ModuleNotFoundError: No module named 'numpie'"),
    ],
)
def test_a_fault_of_a_helper_is_named_with_its_place(snort, desk, helper, words):
    changed(snort, (PLAIN, f"{PLAIN}\nimport near\n"))
    (desk / "near.py").write_text(helper)
    with pytest.raises(UserError) as error:
        games.make("snort.py:Snort")
    assert f"error: {error.value}" == words


def test_an_error_in_a_rule_of_a_helper_is_named_with_its_place(snort, desk):
    from games.own import line_of

    own = "def planes(self):\n        return planes(self)\n\n    def other(self)"
    changed(snort, (PLAIN, f"{PLAIN}\nfrom near import planes\n"), ("def planes(self)", own))
    (desk / "near.py").write_text("def planes(state):\n    return state.nothing\n")
    with pytest.raises(AttributeError) as error:
        games.make("snort.py:Snort").start().planes()
    assert line_of(error.value).startswith("near.py, line 2: AttributeError: ")


# ---- who compares


def test_a_position_from_before_an_edit_is_none_of_the_new_rules(two):
    """A page or a notebook may hold one, and its row may mean something else."""
    old, game = games.make("fast.py:Snort(size=3)").start(), games.make("fast.py:Snort(size=3)")
    assert game.row_of(old) is old.row
    changed(two / "near.py", (EMPTY, "if row[CELLS + i] != 0 or i == 4:"))
    with pytest.raises(UserError, match="as its files are now, got one made before"):
        games.make("fast.py:Snort(size=3)").row_of(old)


def test_a_worker_does_not_play_other_rules_than_the_run(snort, desk, monkeypatch):
    monkeypatch.setattr("system.processes.keep_to", lambda cores: None)  # of this process
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # which a worker sets, and the test takes back
    changed(snort, (PLAIN, f"{PLAIN}\nimport near\n"))
    (desk / "near.py").write_text("SIZE = 5\n")
    game = games.make("snort.py:Snort(size=3)")
    settings = {"config": to_json(tiny(game=game.spec)), "rules": digest(game), "folder": str(desk), "cores": [0]}
    (desk / "near.py").write_text("SIZE = 4\n")
    with pytest.raises(UserError, match="its files have changed while the run is at work"):
        make_network_player(settings)


def test_a_game_is_prepared_again_when_its_helper_has_changed(snort, desk):
    changed(snort, (PLAIN, f"{PLAIN}\nimport near\n"))
    (desk / "near.py").write_text("SIZE = 5\n")
    spec = games.make("snort.py:Snort").spec
    prepared.mark_prepared(spec)
    assert prepared.is_prepared(spec)
    os.utime(desk / "near.py", ns=(1, 1))
    assert not prepared.is_prepared(spec)
