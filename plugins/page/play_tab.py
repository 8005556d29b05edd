"""The board and the game at it: moves, undo and redo, hint; in two modes.

Play shows nothing that tells the answer, and no search runs but the opponent's. Analyse shows the search on each
position. Two places are for panels of other parts, which build into them (`with play.review_place:`):

- `Play.review_place`, in the panel of a game that is over, is shown in both modes;
- `Play.teach_place`, below the opponents, is always there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from json import dumps
from typing import Any

from nicegui import context, ui

from config import UserError
from games.titles import titled
from languages.translate import tr
from plugins.page import tab_address
from plugins.page.board_stage import MOVE, Drawing, confirm
from plugins.page.game_menu import Sheet
from plugins.page.machine_turns import Machines
from plugins.page.opponents import Opponents
from plugins.page.own_games import OwnGames
from plugins.page.players_strip import Strip
from plugins.page.preparing import change_game
from plugins.page.question import Act, Question
from plugins.page.record_card import RecordCard
from plugins.page.result_panel import Result
from plugins.page.review_panel import ReviewPanel
from plugins.page.search_view import Inside, eval_html
from plugins.page.seats import Seats
from plugins.page.share import Share, link
from plugins.page.table import Table
from plugins.page.toolbar import OtherMoves, Tools
from plugins.pictures.board_svg import ratio_of
from storage.game_files import PERSON

WHEEL = "(e) => { const plies = turned(e); if (plies) emit(plies) }"
MODES = {"play": "Play", "analyse": "Analyse"}
TEXTS = "Play", "Analyse"
"""Names of the modes."""


class Play:
    """The view of one tab."""

    review_place: Any
    """Element for the review of a game: shown in both modes once the game is over."""
    teach_place: Any
    """Element for puzzles and teaching: always there, below the opponents."""

    def __init__(self, place: Any, query: Mapping[str, str]) -> None:
        """Build the view where the page is being built; `query` comes from the address."""
        self.roster, self._preparing = place.roster(), place.preparing
        self.client = context.client
        self.keys_on = True
        self.gone = False
        self.watched = True
        """Whether a browser is connected: nothing is searched for a tab that is closed or asleep."""
        self.turn = 0
        """Counts the actions at the table: a search begun before the last action is outdated."""
        self._undone: tuple[str, set[str]] = ("", set())
        """(the position after the last undo, those before it): `Table.at`."""
        self.mode = query["mode"] if query.get("mode") in MODES else "play"
        """One of MODES."""
        self._numbered = False
        self.teacher: Any = None
        """What looks at a person's move first, see teacher_panel.py."""
        self._drawing = Drawing()
        self._machines = Machines(self)
        games, game = self.roster.boards(), query.get("game", "")
        found = self.roster.find(game, games)
        self.table = Table(found or games[0])
        self.inside, self.sheet, self.share = Inside(self), Sheet(self), Share(self)
        self.seats, self.opponents, self.strip, self.result = Seats(self), Opponents(self), Strip(self), Result(self)
        self.table.called = self.opponents.name_of
        self.review, self.card = ReviewPanel(self), RecordCard(self)
        self.tools, self.others = Tools(self), OtherMoves(self)
        self.own, self.question = OwnGames(self), Question(self)
        self._build(list(dict.fromkeys([*games, self.table.game.spec])))
        self.client.on_disconnect(self._lost)
        self.client.on_connect(self._return)
        self.client.on_delete(self._end)
        self.opponents.seat_default()
        self.refresh_players()
        tab_address.restore(self, query, found)
        self.changed()

    def leave(self) -> None:
        """Stop all searches and drop their trees; the game stays."""
        self.watched = False
        self.turn += 1
        self._machines.forget()
        self.inside.leave()
        self.strip.time()

    def _lost(self) -> None:
        if not self.client.has_socket_connection:  # the end of an old socket may be noticed after the new one's start
            self.leave()

    def _return(self) -> None:
        if not self.watched:
            self.watched = True
            self.changed()

    def _end(self) -> None:
        self.gone = True
        self.leave()

    # ---- display

    def _build(self, games: list[str]) -> None:
        with ui.element("div").classes("sheet"):
            with ui.element("div").classes("stack board-side"):
                self.strip.build()
                with ui.element("div").classes("stand"):
                    self._eval = ui.html("", sanitize=False).style("display: flex")
                    self._stage = ui.html("", sanitize=False).classes("stage")
                    named = tr("board: arrows move, Enter plays")
                    self._stage.props(f'tabindex=0 role=application aria-label="{named}"')
                    self._stage.on("click", lambda e: self.click(*e.args), js_handler=MOVE)
                    self._stage.on("wheel", lambda e: self.step(e.args), js_handler=WHEEL)
                self.others.build()
                self.tools.build()
                self._note = ui.label().classes("note").props('role="status"').style("text-align: center")
                self.review.build_answer()
            with ui.element("div").classes("stack panels"):
                with ui.element("div").classes("card stack setup"):
                    self._setup(games)
                self.review_place = self.result.build()
                self.review.build()
                self.card.build()
                self.opponents.build()
                self.teach_place = ui.element("div").classes("stack teach")
                with ui.element("div").classes("card stack inside") as self._analysis:
                    self.inside.build()
        self.question.build()
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])

    def _setup(self, games: list[str]) -> None:
        with ui.element("div").classes("line-up head"):
            self._modes = ui.toggle({mode: tr(text) for mode, text in MODES.items()}, value=self.mode)
            self._modes.props(f'dense unelevated no-caps aria-label="{tr("play or analyse")}"').classes("modes")
            self._modes.on_value_change(lambda e: self.set_mode(e.value))
            self._game = ui.select(titled(games), value=self.table.game.spec, on_change=self._change_game)
            self._game.props(f'dense outlined options-dense label="{tr("game")}" aria-label="{tr("game")}"')
            self._game.classes("grow")
        self._aim = ui.label().classes("soft aim")
        self.seats.build()

    def show(self) -> None:
        """Redraw everything."""
        t, open_ = self.table, self.mode == "analyse"
        marks, lines = self.review.marks() or self.inside.marks()
        drawn = self._drawing.svg(t, marks, lines, numbered=self._numbered, hint=self.inside.hinted,
                                  owned=self.inside.owned)  # fmt: skip
        drawn = self.review.drawn(drawn)
        shared = escape(dumps(link(t, self.mode)))
        walks = ' data-walks=""' if open_ and t.moves else ""
        self._stage.content = drawn.replace("<svg ", f'<svg data-share="{shared}"{walks} ', 1)
        self._stage.style(f"--ratio: {ratio_of(self._stage.content):.4f}")
        self._eval.visible = self._analysis.visible = open_
        self._eval.content = eval_html(t) if open_ else ""
        self.teach_place.visible = not open_
        self._aim.text = t.game.aim
        self._aim.visible = bool(t.game.aim) and not open_
        for part in filter(None, (self.sheet, self.seats, self.opponents, self.strip, self.result, self.review,
                                  self.card, self.tools, self.others, self.teacher)):  # fmt: skip
            part.show()

    def tell(self, text: str) -> None:
        """Show a line to the person."""
        self._note.text = text

    # ---- actions

    def set_mode(self, mode: str) -> None:
        """Go to a mode; what is searched for the other one stops."""
        if mode in MODES and mode != self.mode:
            self.mode = mode
            self._modes.value = mode
            self.opponents.helped |= bool(self.table.moves) and mode == "analyse"
            self.inside.position_changed()
            self.strip.time()
            self.show()

    def changed(self) -> None:
        """Record an action at the table: searches begun before it are outdated."""
        self.turn += 1
        self.opponents.ended()
        self.inside.position_changed()
        self.strip.time()
        self.own.keep()
        self.show()
        self._machines.wake()

    def do(self, deed: Any, *values: Any) -> bool:
        """Do something at the table, or show why it is impossible; return whether it was done."""
        self.tell("")
        try:
            deed(*values)
        except UserError as error:
            self.tell(str(error).splitlines()[0])
            return False
        return True

    def click(self, action: Any, at: Any = None, first: Any = False) -> None:
        """Play a move, or show why it is impossible; none while a chosen game is prepared. `at`: the position that was
        clicked, which may be another by now. first: it was a tap that a second one has to confirm."""
        t = self.table
        try:
            number = int(action)
        except (TypeError, ValueError):
            return
        meant = at is None or at == t.at or self._is_undone(at)
        if not (0 <= number < t.game.action_size and meant and self.chosen_game() == t.game.spec):
            return
        if t.machine_to_move:
            self.tell(tr("It is the machine's turn: wait, or stop it."))
            return
        if first:
            self.tell(confirm(t.game, number))
            return
        if self.teacher is not None and self.teacher.holds(number):
            return
        self.play(number)

    def play(self, action: int) -> None:
        """Play a move; one in an earlier position takes back what came after it, which is help."""
        back = self.table.looking_back
        if self.do(partial(self.table.play, trying=back and self.tries), action):
            self.opponents.helped |= back or self.mode == "analyse"
            self.table.paused = False
            if self.mode == "play":
                self.own.begin()
            self.changed()

    @property
    def tries(self) -> bool:
        """Whether a move in an earlier position is a try: in Play it takes a move back, unless the game is over."""
        return self.mode == "analyse" or self.table.result is not None

    def back(self) -> None:
        """Go back from a try to the game."""
        self.tell("")
        self.table.back()
        self._machines.forget()
        self.changed()

    def go(self, ply: Any) -> None:
        """Show the position after `ply` moves."""
        self.tell("")
        self.table.go(int(ply))
        self.changed()

    def step(self, plies: Any) -> None:
        """Move by `plies`, negative for back, at most to the end or the start; they come from the browser."""
        t = self.table
        ply = min(max(t.ply + (plies if isinstance(plies, int) else 0), 0), len(t.moves))
        if ply != t.ply:
            self.go(ply)

    def undo(self) -> None:
        before, earlier = self.table.at, self._undone
        self.opponents.helped = True
        self.tell("" if self.table.undo() else tr("There is no move of yours to take back."))
        self._undone = self.table.at, ({before} | earlier[1] if earlier[0] == before else {before})
        self.changed()

    def _is_undone(self, at: Any) -> bool:
        """Return whether the position on the table was reached by undo from this one, which the browser may still show.

        Who clicks then has asked for the undo before, as requests of a browser come in order: the move is meant for
        the position after it.
        """
        return self._undone[0] == self.table.at and at in self._undone[1]

    def redo(self) -> None:
        self.tell("" if self.table.redo() else tr("There is nothing to redo."))
        self.changed()

    def instead(self, act: Act, yes: str) -> None:
        """Put another game on the table; ask first if the person's is not over. yes: what the button says."""
        if self.own.unfinished:
            self.question.ask(tr("Your game is not over. It is kept in the tab Games, under Mine."), yes, act)
        else:
            act()

    def new(self, *, rematch: bool = False) -> None:
        """Begin another game, against the newest network; rematch: with the sides swapped."""
        self.tell("")
        self.opponents.new_game(rematch=rematch)
        self.table.new()
        self._machines.forget()
        self.inside.leave()
        self.refresh_players()
        self.changed()

    def keep_seated(self) -> None:
        """Drop the players that have no seat any more; after a game that is over begin another."""
        self._machines.keep_seated()
        if self.table.result is not None:
            self.table.new()

    @property
    def thinking(self) -> bool:
        """Whether a machine searches its move now."""
        return self._machines.running and self.table.machine_to_move

    @property
    def machines_load(self) -> bool:
        """Whether a machine is being made; its time does not run meanwhile."""
        return self._machines.loading

    def resign(self) -> None:
        """Resign for the person to move, or for the only person."""
        t = self.table
        people = [side for side in (1, -1) if t.seats[side] == PERSON]
        side = people[0] if len(people) == 1 else t.states[-1].playerTurn
        self.tell(tr("The game is over already.") if t.result is not None else "")
        t.resign(side)
        self.changed()

    def swap(self) -> None:
        self.tell("")
        self.opponents.helped |= bool(self.table.moves)
        self.table.swap()
        self.changed()

    def halt(self) -> None:
        """Stop the machines; the game waits."""
        self.table.paused = True
        self.tell(tr("Stopped."))
        self.changed()

    def go_on(self) -> None:
        """Let the machines continue from the position that is shown."""
        self.tell("")
        if self.table.machine_waits:
            self.table.drop_rest(trying=self.table.looking_back and self.tries)
            self.table.paused = False
        self.changed()

    def number(self) -> None:
        """Show the numbers of the moves on the stones, or hide them."""
        self._numbered = not self._numbered
        self.show()

    def hint(self) -> None:
        waits = self.mode == "play" and self.table.machine_to_move
        if waits or self.table.over:
            self.tell(tr("It is the machine's turn: wait, or stop it.") if waits else tr("The game is over."))
        else:
            self.opponents.helped = True
            self.inside.hint()

    def open_record(self, record: Any, values: dict[int, float]) -> None:
        """Show a stored game from its start, for two people to look at, in Analyse."""
        self.set_mode("analyse")
        self.table.load(record)
        self.table.seats, self.opponents.fits = {1: PERSON, -1: PERSON}, False
        self.table.keep(values)
        self._machines.forget()
        self.refresh_players()
        self.changed()

    def set_moves(self, text: str) -> None:
        """Set the table to a line of moves; machines wait."""
        if self.do(self.table.load_text, text):
            self.table.paused = True
            self._machines.forget()
            self.changed()

    def _change_game(self, event: Any) -> None:
        if event.value != self.table.game.spec and not change_game(self, self._preparing, event):
            self.change_game(event.value)

    def change_game(self, spec: str) -> None:
        """Begin a game of another kind."""
        if self.do(self.table.change_game, spec):
            self._machines.forget()
            self.opponents.seat_default()
            self.refresh_players()
            self.changed()
        else:
            self._game.value = self.table.game.spec

    def chosen_game(self) -> str:
        """Return the game that the list of games shows."""
        return str(self._game.value)

    def refresh_players(self) -> None:
        """Offer the players of the game that is on the table."""
        spec = self.table.game.spec
        options = self.roster.players(spec)
        self.seats.offer(options)
        self.inside.change_game(spec, options)
        if spec not in self._game.options:
            self._game.set_options(titled([*self._game.options, spec]))
        self._game.value = spec

    def _key(self, event: Any) -> None:
        if not self.keys_on or not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt:
            return
        last = len(self.table.moves)
        self.step({"ArrowLeft": -1, "ArrowRight": 1, "Home": -last, "End": last}.get(event.key.name, 0))
