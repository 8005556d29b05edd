"""Import statements with the package's name before this program's modules."""

import ast

import pytest

from system.import_names import own_names, with_prefix

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
        ("from  search . tables import (\n    A,\n    B as C,\n)",
         "from  p.search . tables import (\n    A,\n    B as C,\n)"),
        ("from games import own", "from p.games import own"),
        ("from \\\n    game import Game", "from \\\n    p.game import Game"),
        ("def f():\n    from game import Game", "def f():\n    from p.game import Game"),
        ("if TYPE_CHECKING:\n    import game", "if TYPE_CHECKING:\n    import p.game as game"),
        ("x = 'é'; from game import A; import game", "x = 'é'; from p.game import A; import p.game as game"),
        ("from game import A\r\nimport os\r\nimport game\r\n",
         "from p.game import A\r\nimport os\r\nimport p.game as game\r\n"),
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
