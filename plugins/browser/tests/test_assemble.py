"""The page as a file: its policy, its data, its texts, and the facts of every game."""

import base64
import gzip
import hashlib
import html
import json
import re

import pytest

import games
from languages.translate import catalogue
from plugins.browser.assemble import Entry, PageParts, facts_of, one_file, start_page
from plugins.browser.game_facts import SCRIPTS, game_facts, page_file, page_texts
from plugins.browser.tests.stub_page import stub_page

SPECS = [
    "connect4",
    "connect4(rows=5,columns=6)",
    "go",
    "gomoku",
    "gomoku(size=15,rule=renju)",
    "hex",
    "hex(size=9,swap=yes)",
    "littlego",
    "metasquares",
    "othello",
    "tictactoe",
]


@pytest.fixture(scope="module")
def page():
    return stub_page("connect4")


def block(page, name):
    return re.search(rf'<script type="[^"]+" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def unpacked(page, name):
    return gzip.decompress(base64.b64decode(block(page, name))).decode()


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def policy(page):
    return html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])


def test_the_policy_allows_our_script_and_our_sheet_and_no_other_place(page):
    begin = re.search(r'<script type="module">(.*)</script>\n</body>', page, re.DOTALL)[1]
    sheet = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    found = policy(page)
    assert f"script-src '{digest(begin)}' '{digest(unpacked(page, 'script'))}' 'wasm-unsafe-eval';" in found
    assert f"style-src '{digest(sheet)}';" in found
    assert found.startswith("default-src 'none';")
    assert not re.search(r"https?:|unsafe-inline|\*", found)


def test_nothing_on_the_page_names_another_place(page):
    named = set(re.findall(r"""["'(](?:https?:)?//[^"') ]+""", page + unpacked(page, "script")))
    assert {name for name in named if "www.w3.org/2000/svg" not in name} == set()
    assert not re.search(r'<[a-z]+ [^>]*(?:\bstyle=|\bon[a-z]+=)"', page.split('<script type="module">')[0])


def test_the_data_come_back(page):
    assert unpacked(page, "wasm") == "no wasm" and unpacked(page, "weights") == "no weights"
    engine = unpacked(page, "engine")
    assert "\nexport " not in engine and "async function createEngine" in engine and "onmessage" in engine


def test_a_name_cannot_end_the_block_that_it_stands_in():
    game = games.make("tictactoe")
    facts = {"player": {"name": "</script><script>alert(1)</script>"}, "levels": []}
    page = one_file(PageParts(b"", {}, b"", facts_of(game, facts), ""))
    assert json.loads(block(page, "facts"))["player"] == facts["player"]
    assert "<script>alert" not in page


@pytest.mark.parametrize("spec", SPECS)
def test_the_facts_of_a_game_fit_together(spec):
    game = games.make(spec)
    facts = json.loads(json.dumps(game_facts(game)))
    points = facts["rows"] * facts["columns"]
    assert len(facts["start"]["cells"]) == len(facts["drawing"]["places"]) == points
    assert len(facts["actionNames"]) == facts["actionSize"] == game.action_size
    assert facts["setsUp"] == (type(game).set_up is not games.Game.set_up)
    assert facts["title"]["en"] and facts["title"]["zh"] and len(facts["sideNames"]["zh"]) == 2
    assert 'style="' not in facts["drawing"]["under"]
    assert facts["rules"]["en"] == game.aim != facts["rules"]["zh"]


@pytest.mark.parametrize("origin", ["/home/ann/secret/my.py:Mine", "C:\\ann\\secret\\my.py:Mine"])
def test_a_page_names_no_folder_of_who_made_it(origin):
    game = games.make("tictactoe")
    game.origin = origin
    facts = {"player": {"name": "run0001:version0002"}, "levels": []}
    page = one_file(PageParts(b"", {}, b"", facts_of(game, facts), ""))
    assert json.loads(block(page, "facts"))["spec"] == "my.py:Mine" and "secret" not in page


def test_every_text_of_the_page_is_there_in_chinese():
    assert [text for text in page_texts() if text not in catalogue("zh")] == []
    assert len(page_texts()) > 150


def test_the_scripts_hold_no_tag_that_would_end_them():
    for name in (*SCRIPTS, "worker.js", "start.js", "style.css"):
        assert not re.search(r"</(script|style)|<!--", page_file(name), re.IGNORECASE), name


def test_a_start_page_lists_its_games():
    facts = {**game_facts(games.make("tictactoe")), "player": {}, "levels": [{"elo": 100}, {"elo": None}, {"elo": 300}]}
    page = start_page([Entry("tictactoe.html", facts, 700_000)])
    listed = json.loads(block(page, "facts"))["games"]
    assert [(one["file"], one["elo"]) for one in listed] == [("tictactoe.html", 300)]
    assert "manifest-src 'self'" in policy(page)
