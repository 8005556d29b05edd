"""Games without a run of their own: the page offers a network of many sizes for them."""

import pytest

from evaluation.release import pack
from plugins.page import web_players
from plugins.page.web_players import SHIPS, runs_by_name
from support.run_states import untrained

pytestmark = pytest.mark.keras


def test_the_page_offers_them_too(place):
    pack(untrained("gomoku(size=5..7)"), 1)
    found = runs_by_name("gomoku(size=6)")
    assert list(found) == ["run0001", f"{SHIPS}run0001"]
    roster = web_players.Roster()
    assert "gomoku(size=5..7)" in roster.games() and len(roster.networks("gomoku(size=6)")) >= 2
