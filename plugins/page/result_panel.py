"""How a game ended: who won and how, the points, and what can be done next."""

from __future__ import annotations

from html import escape
from typing import Any

from nicegui import ui

from interface import side_names
from languages.translate import tr
from plugins.page.table import Table
from plugins.pictures.board_svg import grid_of, winning_points
from storage.game_files import PERSON


class Result:
    """The panel; it belongs to the view of the board, and holds the place for the review of the game."""

    def __init__(self, play: Any) -> None:
        self._play = play

    def build(self) -> Any:
        """Put the panel where the page is being built; return the place for a review."""
        with ui.element("section").classes("card stack ended").props(f'aria-label="{tr("result")}"') as self._card:
            self._words = ui.html("", sanitize=False).props('role="status"')
            with ui.element("div").classes("line-up"):
                again = ui.button(tr("Rematch"), icon="swap_vert", on_click=lambda: self._play.new(rematch=True))
                again.props("unelevated dense").tooltip(tr("another game, with the sides swapped"))
                self._analyse = ui.button(tr("Analyse this game"), icon="query_stats", on_click=self._to_analysis)
                self._analyse.props("flat dense")
            place = ui.element("div").classes("stack")
        return place

    def _to_analysis(self) -> None:
        self._play.set_mode("analyse")

    def show(self) -> None:
        """Show the result, or nothing while the game is not over."""
        table = self._play.table
        self._card.visible = table.result is not None
        self._analyse.visible = self._play.mode != "analyse"
        if self._card.visible:
            self._words.content = result_html(table)


def result_html(table: Table) -> str:
    """Return the result of a finished game, as HTML."""
    lines = [text for text in (how(table), *points(table)) if text]
    small = "".join(f'<div class="soft">{escape(line)}</div>' for line in lines)
    return f'<div class="result">{escape(headline(table))}</div>{small}'


def headline(table: Table) -> str:
    """Return who won: "You win." where one person sat against a machine."""
    result = table.result or 0.0
    people = [side for side in (1, -1) if table.seats[side] == PERSON]
    if not result:
        return tr("A draw.")
    if len(people) == 1:
        return tr("You win.") if result * people[0] > 0 else tr("You lose.")
    return tr("{side} wins.", side=table.side_name(1 if result > 0 else -1))


def how(table: Table) -> str:
    """Return how the game was decided, "" where the points say it."""
    end, game = table.states[-1], table.game
    if table.from_file and not end.isEndGame:
        return tr("So says the file.")
    if table.resigned is not None and not end.isEndGame:
        side = table.side_name(table.resigned)
        if table.late:
            return tr("{side} has no time left.", side=side)
        return tr("{side} resigned.", side=side)
    if not end.isEndGame:
        return tr("So says the file.")
    winner = table.side_name(1 if (table.result or 0) > 0 else -1)
    grid = grid_of(end)
    if table.result and game.look == "hexagons":
        return tr("{side} has joined the two edges of that colour.", side=winner)
    if table.result and grid is not None and winning_points(game, grid):
        return tr("{side}: {count} in a row.", side=winner, count=game.winning_line)
    if not table.result and game.winning_line:
        return tr("Nobody has {count} in a row.", count=game.winning_line)
    return "" if points(table) else tr("{side} wins.", side=winner) if table.result else ""


def points(table: Table) -> list[str]:
    """Return a line for each side with its points and what they are made of; none where a game has no points."""
    return side_names.points(table.game, table.states[-1], {side: table.side_name(side) for side in (1, -1)})
