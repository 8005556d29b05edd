"""What is below the board: the moves that are no points, and the toolbar."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from languages.translate import tr
from plugins.page.board_stage import has_other_moves
from plugins.page.controls import icon_button
from plugins.page.table import Table
from plugins.pictures.board_svg import grid_of, point_of

MOST_BUTTONS = 200


class Tools:
    """The toolbar; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play

    def build(self) -> None:
        """Put the buttons where the page is being built."""
        play = self._play
        with ui.element("div").classes("line-up tools").props(f'role="toolbar" aria-label="{tr("game")}"'):
            icon_button("", "first_page", lambda: play.go(0), tr("to the start"))
            self._of = {
                "play": [icon_button("", "undo", play.undo, tr("undo: take your last move back")),
                         icon_button("", "redo", play.redo, tr("redo"))],
                "analyse": [icon_button("", "chevron_left", lambda: play.step(-1), tr("one move back")),
                            icon_button("", "chevron_right", lambda: play.step(1), tr("one move on"))],
            }  # fmt: skip
            icon_button("", "last_page", lambda: play.go(len(play.table.moves)), tr("to the end"))
            tip = tr("numbers of the moves on the stones, or none")
            self._number = icon_button("", "looks_one", play.number, tip)
            icon_button(tr("Hint"), "lightbulb_outline", play.hint, tr("what would the search play?"))
            icon_button(tr("Resign"), "flag", self._resign, tr("give the game up"))
            icon_button(tr("New"), "add", lambda: play.instead(play.new, tr("New game")), tr("a new game"))
            play.share.build()
            with icon_button("", "more_horiz", None, tr("files and text")):
                play.sheet.build()

    def _resign(self) -> None:
        play = self._play
        if play.table.moves and play.table.result is None:
            play.question.ask(tr("Give the game up?"), tr("Give up"), play.resign)
        else:
            play.resign()

    def show(self) -> None:
        """Show the buttons of the mode, and of the game."""
        self._number.visible = self._play.table.game.policy_layout in ("points", "columns")
        for mode, buttons in self._of.items():
            for button in buttons:
                button.visible = mode == self._play.mode


class OtherMoves:
    """The moves that are no point of the board, such as a pass, as buttons."""

    def __init__(self, play: Any) -> None:
        self._play = play

    def build(self) -> None:
        """Put the place for them where the page is being built."""
        self._place = ui.element("div").classes("line-up others").style("justify-content: center")

    def show(self) -> None:
        """Offer the moves of the position that is shown."""
        t, grid = self._play.table, grid_of(self._play.table.state)
        legal = [] if t.over else t.state.allowedActions
        others = [a for a in legal if grid is None or point_of(t.game, grid, a) is None]
        self._place.classes(remove="kept").classes("kept" if has_other_moves(t.game) else "")
        self._place.clear()
        with self._place:
            if t.ply and (passed := words_of_other(t)):
                ui.label(passed).classes("soft").props('role="status"')
            for action in others[:MOST_BUTTONS]:
                name = t.game.move_name(action)
                ui.button(name, on_click=lambda a=action: self._play.click(a)).props("outline dense no-caps")
            if len(others) > MOST_BUTTONS:
                rest = len(others) - MOST_BUTTONS
                ui.label(tr("and {count} more, to be typed under the three dots", count=rest)).classes("soft")


def words_of_other(table: Table) -> str:
    """Return who made the last move and its name if it is no point, as a pass; the board does not show it."""
    game, state, action = table.game, table.states[table.ply - 1], table.moves[table.ply - 1]
    if not has_other_moves(game) or (grid := grid_of(state)) is None or point_of(game, grid, action) is not None:
        return ""
    return f"{table.side_name(state.playerTurn)}: {game.move_name(action)}"
