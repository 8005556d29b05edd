"""The teacher while playing: a move that loses value is not played at once, and a line says why.

`Play.click` asks `holds` before it plays a person's move; `Teaching` plays it itself once it has looked at it.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui

from config import UserError
from evaluation.teacher import Lesson, Teacher
from interface.puzzle_words import lesson
from languages.translate import tr
from plugins.page.machine_turns import searching
from plugins.page.tab_language import in_background
from plugins.page.web_players import make_game


class Teaching:
    """The panel of one tab; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._on = False
        self._job = 0
        self._held: int | None = None
        """The move that waits for the person's decision."""
        self._turn = -1
        """`Play.turn` at that moment."""
        self._teacher: Teacher | None = None
        self._spec = ""
        with play.teach_place, ui.element("div").classes("card stack teacher"):
            self._switch = ui.switch(tr("Teacher"), on_change=lambda e: self._set(bool(e.value))).props("dense")
            self._switch.tooltip(tr("a bad move is taken back, with the reason"))
            self._text = ui.label().classes("verdict bad").props('role="alert"').style("text-align: left")
            with ui.element("div").classes("line-up") as self._buttons:
                ui.button(tr("Take it back"), on_click=self._back).props("dense unelevated no-caps")
                ui.button(tr("Play it anyway"), on_click=self._insist).props("dense outline no-caps")
        self._show("")

    def _set(self, on: bool) -> None:
        self._on = on
        self._job += 1
        self._held = None
        self._show("")

    def show(self) -> None:
        """Say nothing more of a move once the game has changed; `Play.show` calls this."""
        if self._turn != self._play.turn and self._text.text:
            self._back()

    def _show(self, text: str) -> None:
        self._text.text = text
        self._text.visible = bool(text)
        self._buttons.visible = self._held is not None

    def holds(self, action: int) -> bool:
        """Return whether the teacher looks at a person's move first; it is then played later, or taken back."""
        table = self._play.table
        if not self._on or table.over or action not in table.state.allowedActions:
            return False
        if self._held == action and self._turn == self._play.turn:  # the same move again
            self._insist()
            return True
        self._job += 1
        self._held, self._turn = None, self._play.turn
        self._show(tr("Looking at {move} ...", move=table.game.move_name(action)))
        in_background(self._look(self._job, action), "teacher")
        return True

    async def _look(self, job: int, action: int) -> None:
        """Play the move if it loses nothing, else say what is bad about it."""
        play, table = self._play, self._play.table
        turn, state, game = play.turn, table.state, table.game
        try:
            found = await searching(self._judge, state, action, lambda: bool(job != self._job or turn != play.turn))
        except UserError as error:  # no opinion is no reason to hold a move
            play.tell(str(error).splitlines()[0])
            found = (None,)
        if found is None or job != self._job or turn != play.turn or play.gone:
            return
        if found[0] is None:
            self._let(action)
            return
        self._held = action
        self._show(lesson(game, found[0]))
        with play.client:  # on a phone the panel is below what is seen
            ui.run_javascript(f'getHtmlElement({self._buttons.id}).scrollIntoView({{block: "nearest"}})')

    def _judge(self, state: Any, action: int, stop: Any) -> tuple[Lesson | None]:
        """Return what is bad about a move; runs in a thread."""
        spec = self._play.table.game.spec
        if self._teacher is None or self._spec != spec:
            roster = self._play.roster
            thinker = roster.analyst(roster.strongest(spec), make_game(spec))
            self._teacher, self._spec = Teacher(make_game(spec), thinker), spec
        return (self._teacher.lesson(state, action, stop=stop),)

    def _let(self, action: int) -> None:
        """Play a move."""
        self._held = None
        self._show("")
        self._play.play(action)

    def _insist(self) -> None:
        if self._held is not None and self._turn == self._play.turn:
            self._let(self._held)

    def _back(self) -> None:
        self._held = None
        self._show("")
