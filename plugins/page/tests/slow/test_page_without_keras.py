"""The page plays without Keras, and says in one line what it needs."""

from support.without_keras import WITHOUT, loaded, python

PAGE = """
import games
from plugins.page.web_players import SHIPS, Roster, choose, look, runs_by_name
game, roster = games.make("tictactoe"), Roster()
name = next(f"{run}:best" for run in runs_by_name(game.spec) if run.startswith(SHIPS))
assert look(roster.analyst(name, game, 8), game.start(), 8)
assert choose(roster.make(name, game, "25"), "25", game.start(), [], lambda: False)
"""


def test_the_page_plays_without_keras(tmp_path):
    out, names = loaded(PAGE, cwd=tmp_path)
    assert names == [], out


def test_without_its_framework_the_page_names_it_in_one_line(tmp_path):
    done = python(WITHOUT, "serve", "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    line, end = done.stderr.split("\n")
    assert line.startswith("error: serve: uvicorn is not installed") and end == ""
    assert "`pip install -r requirements-web.txt`" in line
