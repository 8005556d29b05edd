"""A position in a notebook: the board, the result of a search on it, and a game to continue from it.

Each has `_repr_html_` for a notebook and its text for everywhere else. Styles are inline; colours are half transparent
or have their own ground, so that they are readable on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from agent import Agent, Player, Resigned
from config import UserError
from game import GameState
from interface.explain import as_text, explain
from interface.notebook.views import board_html
from languages.translate import tr
from players.opinion import opinion_of

TEXTS = "move", "N visits", "share", "P prior", "Q value", "U bonus", "V network", "principal variation"
"""Columns of the table of a search."""
_SMALL = "font-size:90%;opacity:.75"


class Explained:
    """The result of `explain.explain` on a position, as a board and a table."""

    def __init__(self, found: dict[str, Any], state: GameState) -> None:
        self.found, self.state = found, state

    def __str__(self) -> str:
        return as_text(self.found, self.state)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return (
            '<div style="display:flex;flex-wrap:wrap;gap:20px;align-items:flex-start;font-size:13px">'
            f"<div>{board_html(self.state)}</div><div>{self.table}</div></div>"
        )

    @property
    def table(self) -> str:
        """Return the values and a row for each move, as HTML; a row names its move as data-hover."""
        f = self.found
        lines = [_row([escape(tr(name)) for name in TEXTS], "th")]
        for m in f["moves"]:
            percent = 100 * m["share"]
            share = (
                '<div style="display:flex;gap:6px;align-items:center;white-space:nowrap"><div style="width:60px">'
                f'<div style="width:{percent:.1f}%;height:.7em;border-radius:2px;background:rgba(64,128,224,.75)">'
                f"</div></div>{percent:.1f} %</div>"
            )
            q, v = (f"{m[key]:+.3f}" if m[key] is not None else "-" for key in ("Q", "V"))
            numbers = [str(m["N"]), share, f"{m['P']:.3f}", q, f"{m['U']:.3f}", v]
            cells = [f"<b>{escape(m['move'])}</b>", *numbers, escape(" ".join(m["pv"]))]
            lines.append(_row(cells, "td", f' data-hover="{m["action"]}"'))
        effort = tr("{player}, {simulations} simulations, {nodes} positions",
                    player=f["player"], simulations=f["simulations"], nodes=f["nodes"])  # fmt: skip
        values = tr("value for {side}: network {network}, search {search}", side=f["to_move"],
                    network=f"{f['network_value']:+.3f}", search=f"{f['search_value']:+.3f}")  # fmt: skip
        return (
            f"<b>{escape(tr('{side} to move', side=f['to_move']))}</b>, {escape(values)}"
            f'<div style="{_SMALL}">{escape(effort)}</div><div style="max-height:460px;overflow:auto">'
            f'<table style="border-collapse:collapse;margin:8px 0">{"".join(lines)}</table></div>'
        )


def _row(cells: list[str], kind: str, more: str = "") -> str:
    style = "padding:3px 8px;font-size:13px;border-bottom:1px solid rgba(128,128,128,.3);"
    style += "background:transparent;text-align:"
    sides = ["left" if i in (0, 2, 7) else "right" for i in range(len(cells))]
    parts = [f'<{kind} style="{style}{s}">{c}</{kind}>' for c, s in zip(cells, sides, strict=True)]
    return f"<tr{more}>{''.join(parts)}</tr>"


class Board:
    """A game against a player by calls: `board.move(4)`, `board.undo()`, `board.hint()`, `board.new()`.

    A call returns the board, which a notebook shows; an impossible one gives one line and changes nothing. The
    functions in `watchers` are called when there is something to show: a move, before the answer to it too, or a note.
    """

    def __init__(self, agent: Player, *, human_first: bool = True) -> None:
        self.agent, self.game = agent, agent.game
        self._human = 1 if human_first else -1
        self._seed = -1
        self.watchers: list[Callable[[], None]] = []
        self.new()

    def new(self, *, human_first: bool | None = None) -> Board:
        """Begin another game; the sides stay unless `human_first` is given."""
        if human_first is not None:
            self._human = 1 if human_first else -1
        self._seed += 1
        self._seat([])
        self._answer()
        return self._seen()

    def move(self, move: str | int) -> Board:
        """Play a move by its name, then the machine's answer: `move(4)` is the move named "4"."""
        try:
            action = self.game.parse_move(str(move))
        except UserError as error:
            return self.tell(str(error).splitlines()[0])
        return self.play(action)

    def play(self, action: int) -> Board:
        """Play a move by its number, then the machine's answer; if that is interrupted, take the move back."""
        if self.resigned:
            return self.tell(tr("the game is over"))
        if not self.over and not self.human_to_move:  # its search was interrupted
            self._answer()
            return self.tell(tr("{player} was to move; now it has", player=self.agent.name))
        before = list(self.moves)
        self.note = ""
        try:
            self._play(action)
        except UserError as error:
            return self.tell(str(error).splitlines()[0])
        try:
            self._seen()
            self._answer()
        except BaseException:
            self._seat(before)
            raise
        return self._seen()

    def tell(self, note: str) -> Board:
        """Show a line next to the board."""
        self.note = note
        return self._seen()

    def undo(self) -> Board:
        """Take back the person's last move and all that came after it."""
        state, own = self.game.start(), []
        for ply, action in enumerate(self.moves):
            if state.playerTurn == self._human:
                own.append(ply)
            state = state.takeAction(action)[0]
        if own:
            self._seat(self.moves[: own[-1]])
        return self.tell("" if own else tr("there is no move of yours to take back"))

    def hint(self) -> Explained | Board:
        """Return the machine's search result on the position; the board with a note when it has none."""
        if self.over:
            return self.tell(tr("the game is over"))
        if isinstance(self.agent, Agent):
            return Explained(explain(self.agent, self.state), self.state)
        return self.tell(tr("{player} gives no hints", player=self.agent.name))

    def _seat(self, moves: list[int]) -> None:
        """Set the game to the position after these moves."""
        self.state, self.note = self.game.start(), ""
        self.moves: list[int] = []
        self.resigned: bool = False
        """Whether the machine resigned."""
        self.value: float | None = None
        """The machine's value of its last move, for the machine; None if it gives none."""
        self.said = ""
        self.agent.new_games(1)
        self.agent.new_game(0, self._seed)
        for action in moves:
            self._play(action)

    def _play(self, action: int) -> None:
        self.state = self.state.takeAction(action)[0]
        self.moves.append(action)
        self.agent.observe(0, action)

    def _answer(self) -> None:
        names = []
        while not self.state.isEndGame and self.state.playerTurn != self._human:
            try:
                action, _, value, _ = self.agent.act(self.state, 0)
            except Resigned:
                self.resigned, self.said = True, tr("{player} resigns", player=self.agent.name)
                if why := self.agent.forfeit(0):
                    self.said = tr("{player} loses by forfeit: {reason}", player=self.agent.name, reason=why)
                return
            self.value = opinion_of(self.agent, value)
            self._play(action)
            names.append(self.game.move_name(action))
        if names:
            self.said = tr("{player} plays {moves}", player=self.agent.name, moves=" ".join(names))
            self.said += "" if self.value is None else tr(", value for it {value}", value=f"{self.value:+.2f}")

    def _seen(self) -> Board:
        for watcher in self.watchers:
            watcher()
        return self

    # ---- to look at

    @property
    def human_first(self) -> bool:
        return self._human == 1

    @property
    def over(self) -> bool:
        """Whether no move can be played: the rules ended the game, or the machine resigned."""
        return self.state.isEndGame or self.resigned

    @property
    def human_to_move(self) -> bool:
        return not self.over and self.state.playerTurn == self._human

    @property
    def turn(self) -> str:
        """The side to move, or the winner."""
        if self.resigned:
            return tr("You win.")
        if self.state.isEndGame:
            result = self.state.value * self.state.playerTurn * self._human
            return tr("You win.") if result > 0 else tr("You lose.") if result < 0 else tr("A draw.")
        if self.state.playerTurn != self._human:
            return tr("{player} is thinking ...", player=self.agent.name)
        return tr("Your turn, you are {side}.", side=self.game.pieces[self._human])

    @property
    def status(self) -> str:
        """The side to move and what it can play, or the winner."""
        if self.over:
            return f"{self.turn} {tr('board.new() begins another game.')}"
        names = [self.game.move_name(a) for a in self.state.allowedActions]
        shown = " ".join(names[:60]) + (" ..." if len(names) > 60 else "")
        return f"{self.turn} {tr('Legal: {moves}', moves=shown)}"

    def __repr__(self) -> str:
        return "\n".join([self.state.render(), *filter(None, (self.said, self.note, self.status))])

    @property
    def words(self) -> str:
        """The machine's move and the note, as HTML."""
        warning = "border-left:3px solid #e08a1e;background:rgba(224,138,30,.15);padding:2px 8px;margin:2px 0"
        lines = [f'<div style="{_SMALL}">{escape(self.said)}</div>'] if self.said else []
        lines += [f'<div style="{warning}">{escape(self.note)}</div>'] if self.note else []
        return "".join(lines)

    def _repr_html_(self) -> str:
        return f"<div>{board_html(self.state)}{self.words}<div><b>{escape(self.status)}</b></div></div>"
