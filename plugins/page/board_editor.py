"""The board editor: a position is set up by hand, then played or analysed from there, in games whose rules allow it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from nicegui import ui

from config import UserError
from game import Game, GameState
from games.line_of_moves import starting_at, stones_of
from interface.side_names import side_name
from languages.translate import tr
from plugins.page.controls import icon_button
from plugins.pictures.board_svg import ratio_of, stones_svg
from storage.game_files import Record

CLICK = '(e) => { const t = e.target.closest("[data-point]"); if (t) emit(t.dataset.point) }'
LIVE = (  # the dialog is there a little after this is sent
    "const live = () => { const one = document.querySelector('.editor');"
    " one ? liveBoard(one, '.set-up') : setTimeout(live, 30) }; live()"
)


def can_set_up(game: Game) -> bool:
    """Return whether a game's rules allow positions that were set up."""
    return type(game).set_up is not Game.set_up


def arranged(game: Game, stones: np.ndarray, player: int) -> GameState:
    """Return the position with stones [rows, columns] in {1, -1, 0}; raise `UserError` if it is none to play from."""
    state = game.set_up(stones, player)
    if state.isEndGame:
        raise UserError("expected a position in which a move can be played, got one that is over")
    return state


class Editor:
    """The dialog; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._stones = np.zeros((1, 1), np.int8)
        self._kind, self._player = 1, 1

    def build(self) -> None:
        """Put the button that opens it where the page is being built, perhaps in a menu; the dialog is beside all."""
        self._button = icon_button(tr("Set up a position"), "edit", self.open, tr("set up a position"))
        self._menu = next((e for e in self._button.ancestors() if isinstance(e, ui.menu)), None)
        with self._play.client.content, ui.dialog() as self._dialog, ui.card().classes("editor card stack"):
            self._dialog.props(f'aria-label="{tr("set up a position")}"')
            self._stage = ui.html("", sanitize=False).classes("set-up")
            named = tr("board: arrows move, Enter places a stone")
            self._stage.props(f'tabindex=0 role=application aria-label="{named}"')
            self._stage.on("click", lambda e: self.place(e.args), js_handler=CLICK)
            self._controls = ui.element("div").classes("line-up")
            self._note = ui.label().classes("note").props('role="status"')
            with ui.element("div").classes("line-up"):
                ui.button(tr("Play from here"), on_click=partial(self.leave, "play")).props("unelevated dense no-caps")
                ui.button(tr("Analyse"), on_click=partial(self.leave, "analyse")).props("outline dense no-caps")
                ui.element("div").classes("grow")
                ui.button(tr("Cancel"), on_click=self._dialog.close).props("flat dense no-caps")

    def show(self) -> None:
        """Offer the editor where the game has one."""
        self._button.visible = can_set_up(self._play.table.game)

    def open(self) -> None:
        """Open the dialog with the position that is on the board."""
        state = self._play.table.state
        self._stones, self._player, self._kind = stones_of(state), state.playerTurn, 1
        self._show_controls()
        self._draw()
        if self._menu is not None:
            self._menu.close()
        self._dialog.open()
        self._play.client.run_javascript(LIVE)

    def place(self, point: Any) -> None:
        """Put a stone of the chosen kind on a point, or take it off if it is there."""
        try:
            number = int(point)
        except (TypeError, ValueError):
            return
        if 0 <= number < self._stones.size:
            self._stones.flat[number] = self._kind * (self._stones.flat[number] != self._kind)
            self._draw()

    def clear(self) -> None:
        """Take all stones off."""
        self._stones[:] = 0
        self._draw()

    def leave(self, mode: str) -> None:
        """Play or analyse from here, or say why that is impossible."""
        play, game = self._play, self._game
        try:
            found = starting_at(game, arranged(game, self._stones, self._player))
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            return
        self._dialog.close()
        seats = dict(play.table.seats)
        play.open_record(Record(found, [], None), {})
        play.table.seats, play.table.paused = seats, False
        play.opponents.helped = True
        play.set_mode(mode)
        play.refresh_players()
        play.changed()

    @property
    def _game(self) -> Game:
        game: Game = self._play.table.game
        return game.set_up_from or game

    def _draw(self) -> None:
        self._note.text = ""
        self._stage.content = stones_svg(self._game, self._stones.tolist())
        self._stage.style(f"--ratio: {ratio_of(self._stage.content):.4f}")

    def _show_controls(self) -> None:
        """Show what a click places, and the side to move, by the names of the game's sides."""
        names = {side: side_name(self._game, side) for side in (1, -1)}
        self._controls.clear()
        with self._controls:
            kinds = ui.toggle(names | {0: tr("Empty")}, value=self._kind, on_change=lambda e: self._choose(e.value))
            kinds.props(f'dense unelevated no-caps aria-label="{tr("what a click places")}"')
            sides = {side: tr("{side} to move", side=name) for side, name in names.items()}
            turn = ui.toggle(sides, value=self._player, on_change=lambda e: self._turn(e.value))
            turn.props(f'dense unelevated no-caps aria-label="{tr("side to move")}"')
            icon_button(tr("Clear"), "delete_outline", self.clear, tr("clear the board"))

    def _choose(self, kind: int) -> None:
        self._kind = kind

    def _turn(self, side: int) -> None:
        self._player = side
