"""Import statements with the package's name before this program's modules."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

from system.import_names import TOP, files_beside, is_beside, own_names, with_prefix
from system.place import HERE

NAMES = {"config", "game", "games", "search"}


@pytest.mark.parametrize(
    "source, expected",
    [
        ("import config", "import p.config as config"),
        ("import config as c", "import p.config as c"),
        ("import games.own", "import p.games as games, p.games.own"),
        ("import games.own as own", "import p.games.own as own"),
        ("import os, config, re", "import os, p.config as config, re"),
        ("from config import Config", "from p.config import Config"),
        (
            "from  search . tables import (\n    A,\n    B as C,\n)",
            "from  p.search . tables import (\n    A,\n    B as C,\n)",
        ),
        ("from games import own", "from p.games import own"),
        ("from \\\n    game import Game", "from \\\n    p.game import Game"),
        ("def f():\n    from game import Game", "def f():\n    from p.game import Game"),
        ("if TYPE_CHECKING:\n    import game", "if TYPE_CHECKING:\n    import p.game as game"),
        ("x = 'é'; from game import A; import game", "x = 'é'; from p.game import A; import p.game as game"),
        (
            "from game import A\r\nimport os\r\nimport game\r\n",
            "from p.game import A\r\nimport os\r\nimport p.game as game\r\n",
        ),
    ],
)
def test_imports_of_own_modules_get_the_prefix(source, expected):
    found = with_prefix(source.encode(), NAMES, "p.").decode()
    assert found == expected
    ast.parse(found)


@pytest.mark.parametrize(
    "source",
    [
        "import configparser",
        "from . import config",
        "from .game import Game",
        "import os.config",
        "from x.game import y",
        "text = 'import game'",
        "# import game",
        "game = config",
        "",
    ],
)
def test_everything_else_stays(source):
    assert with_prefix(source.encode(), NAMES, "p.") == source.encode()


def test_a_mark_of_the_encoding_is_dropped():
    assert with_prefix(b"\xef\xbb\xbfimport game", NAMES, "p.") == b"import p.game as game"


def test_a_fault_of_syntax_names_the_file():
    with pytest.raises(SyntaxError) as fault:
        with_prefix(b"import (", NAMES, "p.", "mine.py")
    assert fault.value.filename == "mine.py"


def test_own_names_are_files_and_folders_of_modules(tmp_path):
    for place in ("a.py", "__main__.py", "b/__init__.py", "b/c.py", "d/e.py", "alphazero_keras/__init__.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
    assert own_names(tmp_path) == {"a", "b"}
    assert {"config", "MCTS", "games", "interface"} <= own_names() and "tests" not in own_names()


@pytest.mark.skipif(not (HERE / ".git").exists() or not shutil.which("git"), reason="not a git checkout")
def test_what_lies_at_the_top_is_known_by_name():
    """Your own helper may lie next to main.py: it is none of these."""
    done = subprocess.run(["git", "ls-files"], cwd=HERE, capture_output=True, text=True, check=True)
    places = [Path(line).parts for line in done.stdout.splitlines()]
    files = {parts[0].removesuffix(".py") for parts in places if len(parts) == 1 and parts[0].endswith(".py")}
    rooms = {parts[0] for parts in places if parts[1:] == ("__init__.py",)}
    assert {*TOP, "alphazero_keras"} == files | rooms


def test_a_module_beside_a_file_is_none_of_the_program_or_of_python(tmp_path):
    for name in ("near.py", "config.py", "random.py", "parts/__init__.py", "loose/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = ("near", "config", "random", "parts", "loose.a", "loose", "numpy", "nothing")
    assert [name for name in names if is_beside(tmp_path, name)] == ["near", "parts", "loose.a"]


def test_files_are_found_through_helpers_that_import_each_other(tmp_path):
    texts = {
        "a.py": "import b",
        "b.py": "import c.d\nimport a",
        "c/__init__.py": "",
        "c/d.py": "from . import e\nfrom ..f import g",
        "c/e.py": "import (",
        "f.py": "",
        "h.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = files_beside(tmp_path / "a.py")
    assert found[0] == tmp_path / "a.py"
    assert {path.relative_to(tmp_path).as_posix() for path in found} == texts.keys() - {"h.py"}
