"""The board and the game at it: seats, moves, undo and redo, hint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import context, ui

from config import UserError
from interface.board_svg import LOOKS, board_svg, grid_of, point_of, ratio_of
from interface.web import tab_address
from interface.web.charts import moves_html, values_svg
from interface.web.controls import icon_button
from interface.web.game_menu import Sheet
from interface.web.machine_turns import Machines
from interface.web.preparing import change_game
from interface.web.search_view import Inside
from interface.web.table import Table
from interface.web.web_players import LEVELS, has_level, levels_of
from storage.game_files import PERSON

MOVE = (  # the second click of a double one is ignored, wherever it is; at: see `Play.click`
    '(e) => { const t = e.target.closest("[data-action]"), now = performance.now();'
    ' if (!t || (e.detail && now - (window.movedAt ?? -1e9) < 400)) return;'
    ' if (e.detail) window.movedAt = now; emit([t.dataset.action, t.closest("[data-at]").dataset.at]) }'
)
CLICK = '(e) => {{ const t = e.target.closest("[data-{0}]"); if (t) emit(t.dataset.{0}) }}'
MOST_BUTTONS = 200


class Play:
    """The view of one tab."""

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
        self._numbered = False
        self._machines = Machines(self)
        games, game = self.roster.games(), query.get("game", "")
        found = self.roster.find(game, games)
        self.table = Table(found or games[0])
        self.inside, self.sheet = Inside(self), Sheet(self)
        self._build(list(dict.fromkeys([*games, self.table.game.spec])))
        self.client.on_disconnect(self._lost)
        self.client.on_connect(self._return)
        self.client.on_delete(self._end)
        self._choose_opponent()
        if found and tab_address.seat(self.table, query, self.roster.players(found)):
            self.refresh_players()
        if game and not found:
            self.sheet.leave_address()
            self.tell(f"expected a game that is offered here, got {game[:60]}: `python main.py serve --game` names it")
        elif query.get("moves") and self.do(self.table.load_text, query["moves"]):
            self.table.paused = True
            tab_address.give_up(self.table, query)
        self.changed()

    def leave(self) -> None:
        """Stop all searches and drop their trees; the game stays."""
        self.watched = False
        self.turn += 1
        self._machines.forget()
        self.inside.leave()

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
            with ui.element("div").classes("stack"):
                with ui.element("div").classes("stand"):
                    self._eval = ui.html("", sanitize=False).style("display: flex")
                    self._stage = ui.html("", sanitize=False).classes("stage")
                    self._stage.props('tabindex=0 aria-label="board: arrows move, Enter plays"')
                    self._stage.on("click", lambda e: self.click(*e.args), js_handler=MOVE)
                self._others = ui.element("div").classes("line-up").style("justify-content: center")
                with ui.element("div").classes("line-up tools").style("justify-content: center"):
                    self._tools()
                self._note = ui.label().classes("note").props('role="status"').style("text-align: center")
            with ui.element("div").classes("stack"):
                with ui.element("div").classes("card stack setup"):
                    self._setup(games)
                with ui.element("div").classes("card stack"):
                    with ui.element("div").classes("line-up"):
                        self._status = ui.label().classes("status grow").props('role="status"')
                        self._stop = icon_button("Stop", "stop", self.halt, "stop the machines")
                        self._go_on = icon_button("Go on", "play_arrow", self.go_on, "the machines play on from here")
                    self._graph = ui.html("", sanitize=False)
                    self._graph.on("click", lambda e: self.go(e.args), js_handler=CLICK.format("ply"))
                    self._moves = ui.html("", sanitize=False)
                    self._moves.on("click", lambda e: self.go(e.args), js_handler=CLICK.format("ply"))
                with ui.element("div").classes("card stack inside"):
                    self.inside.build()
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])

    def _tools(self) -> None:
        icon_button("", "first_page", lambda: self.go(0), "to the start")
        icon_button("", "undo", self.undo, "undo: take your last move back")
        icon_button("", "redo", self.redo, "redo")
        icon_button("", "last_page", lambda: self.go(len(self.table.moves)), "to the end")
        self._number = icon_button("", "looks_one", self.number, "numbers of the moves on the stones, or none")
        icon_button("Hint", "lightbulb_outline", self.hint, "what would the search play?")
        icon_button("Resign", "flag", self.resign, "give the game up")
        icon_button("New", "add", self.new, "a new game")

    def _setup(self, games: list[str]) -> None:
        with ui.element("div").classes("line-up"):
            self._game = ui.select(games, value=self.table.game.spec, on_change=self._change_game)
            self._game.props('dense outlined options-dense label="game" aria-label="game"').classes("grow")
            icon_button("", "swap_vert", self.swap, "swap sides")
            with icon_button("", "more_horiz", None, "files and text"), ui.menu().props("auto-close=false"):
                with ui.element("div").classes("stack").style("padding: 12px"):
                    self.sheet.build()
        self._seats: dict[int, tuple[Any, Any, Any]] = {}
        for side in (1, -1):
            with ui.element("div").classes("seat"):
                dot = ui.html("", sanitize=False)
                who = ui.select({PERSON: ""}, value=PERSON, on_change=lambda e, s=side: self._sit(s, e.value))
                who.props(f'dense outlined options-dense aria-label="player {1 if side == 1 else 2}"')
                level = ui.select(LEVELS, value="400", on_change=lambda e, s=side: self._set_level(s, e.value))
                level.props(f'dense outlined options-dense label="level" aria-label="level {1 if side == 1 else 2}"')
                self._seats[side] = dot, who, level

    def show(self) -> None:
        """Redraw everything."""
        t, game = self.table, self.table.game
        marks, lines = self.inside.marks()
        moves = t.moves[: t.ply] if self._numbered else []
        self._number.visible = game.policy_layout in ("points", "columns")
        drawn = board_svg(t.state, overlay=marks, lines=lines, clickable=True, moves=moves)
        self._stage.content = drawn.replace("<svg ", f'<svg data-at="{t.at}" ', 1)
        self._stage.style(f"--ratio: {ratio_of(self._stage.content):.4f}")
        value = t.evaluation()
        share = 50 if value is None else 50 + 50 * value
        words = "no value yet" if value is None else f"value for {t.side_name(1)} {value:+.2f}"
        self._eval.content = (
            f'<div class="eval {game.look}" role="img" aria-label="{words}" title="{words}">'
            f'<div style="height:{share:.1f}%"></div></div>'
        )
        self._status.text = t.status
        thinking = self._machines.running and t.machine_to_move
        if thinking:
            self._status.text = f"{t.side_name(t.state.playerTurn)} is thinking ..."
        self._stop.visible = thinking
        self._go_on.visible = t.machine_waits
        names = [game.move_name(a) for a in t.moves]
        self._graph.content = values_svg(t.values, len(t.moves), t.ply, names)
        self._moves.content = moves_html(names, t.ply)
        self.sheet.show()
        self._show_seats()
        self._show_others()

    def _show_seats(self) -> None:
        sides = LOOKS[self.table.game.look].sides
        for side, (dot, who, level) in self._seats.items():
            dot.content = f'<span class="dot-side" style="background:{sides[side][0]}"></span>'
            who.props["label"] = self.table.side_name(side)
            who.value = self.table.seats[side]
            if level.options != (levels := levels_of(who.value)):
                level.set_options(levels, value=self.table.levels[side])
            level.value = self.table.levels[side]
            level.visible = has_level(self.table.seats[side])

    def _show_others(self) -> None:
        """Offer the moves that are no point of the board, such as a pass, as buttons."""
        t, grid = self.table, grid_of(self.table.state)
        legal = [] if t.over else t.state.allowedActions
        others = [a for a in legal if grid is None or point_of(t.game, grid, a) is None]
        self._others.clear()
        with self._others:
            for action in others[:MOST_BUTTONS]:
                name = t.game.move_name(action)
                ui.button(name, on_click=lambda a=action: self.click(a)).props("outline dense no-caps")
            if len(others) > MOST_BUTTONS:
                ui.label(f"and {len(others) - MOST_BUTTONS} more, to be typed under the three dots").classes("soft")

    def tell(self, text: str) -> None:
        """Show a line to the person."""
        self._note.text = text

    # ---- actions

    def changed(self) -> None:
        """Record an action at the table: searches begun before it are outdated."""
        self.turn += 1
        self.inside.position_changed()
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

    def click(self, action: Any, at: Any = None) -> None:
        """Play a move, or show why it is impossible; `at`: the position that was clicked, which may be another by
        now."""
        t = self.table
        try:
            number = int(action)
        except (TypeError, ValueError):
            return
        if not 0 <= number < t.game.action_size or at not in (None, t.at):
            return
        if t.machine_to_move:
            self.tell("It is the machine's turn: wait, or stop it.")
            return
        if self.do(t.play, number):
            t.paused = False
            self.changed()

    def go(self, ply: Any) -> None:
        """Show the position after `ply` moves."""
        self.tell("")
        self.table.go(int(ply))
        self.changed()

    def undo(self) -> None:
        self.tell("" if self.table.undo() else "There is no move of yours to take back.")
        self.changed()

    def redo(self) -> None:
        self.tell("" if self.table.redo() else "There is nothing to redo.")
        self.changed()

    def new(self) -> None:
        """Begin another game, against the newest network."""
        self.tell("")
        self.table.new()
        self._machines.forget()
        self.inside.leave()
        self.refresh_players()
        self.changed()

    def resign(self) -> None:
        """Resign for the person to move, or for the only person."""
        t = self.table
        people = [side for side in (1, -1) if t.seats[side] == PERSON]
        side = people[0] if len(people) == 1 else t.states[-1].playerTurn
        self.tell("The game is over already." if t.result is not None else "")
        t.resign(side)
        self.changed()

    def swap(self) -> None:
        self.tell("")
        self.table.swap()
        self.changed()

    def halt(self) -> None:
        """Stop the machines; the game waits."""
        self.table.paused = True
        self.tell("Stopped.")
        self.changed()

    def go_on(self) -> None:
        """Let the machines continue from the position that is shown."""
        self.tell("")
        if self.table.machine_waits:
            self.table.drop_rest()
            self.table.paused = False
        self.changed()

    def number(self) -> None:
        """Show the numbers of the moves on the stones, or hide them."""
        self._numbered = not self._numbered
        self.show()

    def hint(self) -> None:
        if self.table.over:
            self.tell("The game is over.")
        else:
            self.inside.hint()

    def open_record(self, record: Any, values: dict[int, float]) -> None:
        """Show a stored game from its start, for two people to look at."""
        self.table.load(record)
        self.table.seats = {1: PERSON, -1: PERSON}
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
            self._choose_opponent()
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
        for side, (_, who, _) in self._seats.items():
            seated = self.table.seats[side]
            who.set_options(options, value=seated if seated in options else PERSON)
        self.inside.change_game(spec, options)
        if spec not in self._game.options:
            self._game.set_options([*self._game.options, spec])
        self._game.value = spec

    def _choose_opponent(self) -> None:
        """Seat a person against the strongest player."""
        self.table.seats = {1: PERSON, -1: self.roster.strongest(self.table.game.spec)}
        self.refresh_players()

    def _sit(self, side: int, name: str) -> None:
        if name != self.table.seats[side]:
            self.table.seats[side] = name
            if self.table.levels[side] not in levels_of(name):
                self.table.levels[side] = "400"
            self._machines.keep_seated()
            self.changed()

    def _set_level(self, side: int, level: str) -> None:
        if level != self.table.levels[side]:
            self.table.levels[side] = level
            self._machines.keep_seated()
            self.changed()

    def _key(self, event: Any) -> None:
        if not self.keys_on or not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt:
            return
        key, t = event.key.name, self.table
        ply = {"ArrowLeft": t.ply - 1, "ArrowRight": t.ply + 1, "Home": 0, "End": len(t.moves)}.get(key)
        if ply is not None and 0 <= ply <= len(t.moves) and ply != t.ply:
            self.go(ply)
