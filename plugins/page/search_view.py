"""The search on the position on the board: an overlay, a table and a tree.

The numbers are those of `python main.py explain`: the same function makes them.
"""

from __future__ import annotations

import asyncio
from html import escape
from threading import Event
from typing import Any

from nicegui import ui

from config import UserError
from game import GameState
from languages.translate import tr
from plugins.engines.territory import Territory
from plugins.page.machine_turns import searching
from plugins.page.main_line import MainLine
from plugins.page.tab_language import in_background
from plugins.page.table import Table
from plugins.page.territory_view import counted, lead_html, territory_of
from plugins.page.tree_view import TreePicture, tree_html
from plugins.page.true_values import true_values
from plugins.page.web_players import DEEPEST, is_search, look, make_game
from plugins.pictures.board_svg import Mark
from plugins.pictures.overlays import lines_of, overlay_of

OVERLAYS = {"none": "None", "N": "Visits", "P": "Prior", "Q": "Q", "V": "Network", "owned": "Territory"}
"""The last one only where the network says who will own each point (territory_view.py)."""
TEXTS = (
    "None", "Visits", "Prior", "Q", "Network", "Territory", "wins", "draws", "loses", "won", "drawn", "lost",
    "How often the search tried this move. It plays the move that it tried most.",
    "This move's part of all visits: the policy after the search.",
    "The network's first guess, before any search: how likely this move is the one to play.",
    "How good the move turned out in the search, for the side to move: +1 is a sure win, -1 a sure loss.",
    "Bonus for moves that the network likes and the search has hardly tried: it tries the largest Q + U next.",
    "The network's own value right after this move, without reading on: +1 is a win, -1 a loss.",
    "What the move leads to when both sides play perfectly: a solver has worked it out.",
)  # fmt: skip
"""Overlays, results and the words of the columns."""
FIRST = 400
"""Simulations of the first search of a position."""
WORDS = {1: "wins", 0: "draws", -1: "loses"}
HELP = dict(zip(("N", "share", "P", "Q", "U", "V", "true"), TEXTS[-7:], strict=True))
"""{column: its plain words}, shown under the pointer or with the focus."""
SEARCHED = 20
"""Moves in the table while a search runs, which writes it several times a second."""


class Inside:
    """The panel; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._analyst: tuple[tuple[str, str], Any] = ("", ""), None
        """((player, game), the player that searches)."""
        self._name, self._spec = "rollout", ""
        self._strongest = "rollout", ""
        """(name, text) of the strongest player that can search."""
        self._overlay = "N"
        self._found: dict[str, Any] | None = None
        self._truth: dict[int, int] | None = None
        self._tree = ""
        self._job = 0
        """Counts the searches; an older one stops."""
        self._lock = asyncio.Lock()
        self._on = True
        self._hint_wanted = False
        """Whether a hint was requested before there was a result."""
        self._hinted: int | None = None
        """The move of a hint, which the board shows as a ring."""
        self._picture = TreePicture(play, lambda: self._name)
        self._line = MainLine(play)
        self._territory: Territory | None = None

    def build(self) -> None:
        """Put the panel where the page is being built."""
        with ui.element("div").classes("line-up"):
            self._who = ui.select({"rollout": ""}, value="rollout", on_change=lambda e: self._choose(e.value))
            label, name = tr("search"), tr("who searches")
            self._who.props(f'dense outlined options-dense label="{label}" aria-label="{name}"').classes("grow")
            self._switch = ui.switch(value=True, on_change=lambda e: self._turn(e.value))
            self._switch.props(f'dense aria-label="{tr("analyse each position")}"').tooltip(tr("analyse each position"))
        self._chosen = ui.label().classes("soft")
        self._toggle = ui.toggle(overlays(False), value="N", on_change=lambda e: self._show_overlay(e.value))
        self._toggle.props("dense unelevated no-caps spread").classes("overlays")
        self._summary = ui.html("", sanitize=False)
        self._line.build()
        with ui.element("div").classes("line-up"):
            self._deeper = ui.button(tr("Deepen"), icon="add", on_click=self._deepen).props("flat dense")
            self._deeper.tooltip(tr("four times as many simulations"))
            self._halt = ui.button(tr("Stop"), icon="stop", on_click=self.stop).props("flat dense")
        self._table = ui.html("", sanitize=False).classes("scroll")
        self._line.listen(self._table)
        with ui.expansion(tr("Search tree")).props("dense") as self._shelf:
            self._branches = ui.html("", sanitize=False).classes("scroll")
        self._shelf.on_value_change(lambda _: self._show_tree())
        self._picture.build()
        self._halt.visible = False

    def change_game(self, spec: str, options: dict[str, str]) -> None:
        """Offer the players of a game whose search can be shown; for another game choose the strongest."""
        names = {name: text for name, text in options.items() if is_search(name)}
        strongest = self._play.roster.strongest(spec, names)
        kept = self._name in names and (self._name != "rollout" or self._spec == spec)
        self._name, self._spec = self._name if kept else strongest, spec
        self._who.set_options(names, value=self._name)
        self._strongest = strongest, names[strongest]
        self._say_chosen()

    def _say_chosen(self) -> None:
        """Say when it is not the strongest player that searches."""
        name, text = self._strongest
        self._chosen.visible = self._name != name
        self._chosen.text = tr("Chosen by hand; the strongest is {player}.", player=text)

    # ---- what the board shows of it

    def marks(self) -> tuple[dict[int, Mark], dict[int, list[int]]]:
        """Return the overlay, and the principal variation of each visited move, for the board."""
        found, game = self._found, self._play.table.game
        if found is None or self._play.table.over:
            return {}, {}
        if self._play.mode != "analyse":
            return {}, {}
        return overlay_of(found, self._overlay), lines_of(found, game)

    @property
    def owned(self) -> dict[int, float]:
        """{point: who will own it, from 1 for who began to -1} to draw on the board."""
        found = self._found if self._play.mode == "analyse" and self._overlay == "owned" else None
        return (found or {}).get("owned", {})

    def _show_overlay(self, kind: str) -> None:
        self._overlay = kind
        if not self._on and kind != "none":
            self._switch.value = True
        self._play.show()

    @property
    def hinted(self) -> int | None:
        """The action to ring on the board, after a hint."""
        return self._hinted

    def hint(self) -> None:
        """Show the move that the search would play: as a ring on the board, and in words."""
        if self._play.mode != "analyse":
            self._hint_wanted = True
            self._play.tell(tr("Searching ..."))
            self._start(FIRST)
            return
        self._switch.value = True
        self._hint_wanted = self._found is None
        if self._found is None:
            self._play.tell(tr("Searching ..."))
        else:
            self._show_hint(self._found)
            self._play.show()

    # ---- the search

    def stop(self) -> None:
        """Stop the search that runs; what it found stays."""
        self._job += 1

    def leave(self) -> None:
        """Stop, and drop the tree: the tab is closed."""
        self.stop()
        self._picture.forget()
        self._analyst = ("", ""), None

    def position_changed(self) -> None:
        """Search the new position, if the panel is on."""
        self.stop()
        self._picture.forget()
        self._found = self._truth = None
        self._hint_wanted, self._hinted = False, None
        self._tree = ""
        table = self._play.table
        if self._on and self._play.mode == "analyse" and not table.over:
            self._start(FIRST)
        else:
            self._show(tr("The game is over.") if table.over else "")

    def _turn(self, on: bool) -> None:
        self._on = bool(on)
        if not self._on:
            self._toggle.value = "none"
            self.stop()  # with the next line two jobs later: the last result of a stopped search is not shown
        self.position_changed()
        self._play.show()

    def _choose(self, name: str) -> None:
        if name != self._name:
            self._name = name
            self._say_chosen()
            self.position_changed()

    def _deepen(self) -> None:
        if self._found is not None and not self._play.table.over:
            self._start(min(4 * max(self._found["simulations"], FIRST), DEEPEST))

    def _start(self, sims: int) -> None:
        self._job += 1
        in_background(self._search(self._job, sims), "analysis")

    async def _search(self, job: int, sims: int) -> None:
        table = self._play.table
        state, ply, spec = table.state, table.ply, table.game.spec
        await asyncio.sleep(0.05)  # clicks in a row cost nothing
        loop = asyncio.get_running_loop()

        drawn = Event()
        drawn.set()

        def draw(found: dict[str, Any]) -> None:
            try:
                self._take(job, found, ply, state, True)
            finally:
                drawn.set()

        def watch(found: dict[str, Any]) -> None:
            drawn.clear()
            loop.call_soon_threadsafe(draw, found)

        def work() -> tuple[dict[str, Any], str] | None:
            analyst = self._analyst_for(self._name, spec)
            if job != self._job:
                return None
            found = look(analyst, state, sims, stop=lambda: job != self._job, watch=watch, drawn=drawn.is_set)
            if self._territory is not None:
                found |= counted(self._territory, state)
            root = analyst.MCTS.root if hasattr(analyst, "MCTS") else analyst.trees(0)[0].root
            return found, tree_html(root)

        async with self._lock:
            if job != self._job:
                return
            self._halt.visible = True
            if self._found is None:
                self._show(tr("thinking ..."))
            try:
                answer = await searching(work)
            except UserError as error:
                self._show(str(error).splitlines()[0])
                return
            except Exception:
                self._show(tr("The search failed; see the terminal."))
                raise
            finally:
                self._halt.visible = False
            if answer is None:
                return
            self._tree = answer[1]
            self._take(job, answer[0], ply, state, False)
        if job == self._job and self._truth is None and self._play.mode == "analyse":
            truth = await searching(true_values, spec, state)
            if job == self._job:
                self._truth = truth
                self._show()

    def _analyst_for(self, name: str, spec: str) -> Any:
        key, analyst = self._analyst
        if key != (name, spec):
            analyst = self._play.roster.analyst(name, make_game(spec))
            self._analyst = (name, spec), analyst
            self._territory = territory_of(analyst, make_game(spec))
        return analyst

    def _take(self, job: int, found: dict[str, Any], ply: int, state: GameState, on_the_way: bool) -> None:
        """Show the result of a search on a state; that of a stopped search too, if its state is still on the board."""
        table = self._play.table
        stopped = job != self._job and (on_the_way or job < self._job - 1 or not found["moves"])
        if stopped or table.state is not state:
            return
        if on_the_way:
            found |= {key: self._found[key] for key in ("lead", "owned") if self._found and key in self._found}
        self._found = found
        if self._toggle.options != (offered := overlays("owned" in found)):
            self._toggle.set_options(offered, value=self._overlay if self._overlay in offered else "N")
        if self._hint_wanted and not on_the_way:
            self._hint_wanted = False
            self._show_hint(found)
        table.note(ply, found["search_value"], table.states[ply].playerTurn)
        self._show()
        self._play.show()

    def _show_hint(self, found: dict[str, Any]) -> None:
        """Show the result as a hint: the move on the board, and in words."""
        best = chosen(found) if found["moves"] else None
        self._hinted = best["action"] if best else None
        short = self._play.mode != "analyse" and best
        self._play.tell(tr("Try {move}.", move=best["move"]) if short and best else hint_text(found))

    # ---- what the panel shows

    def _show(self, words: str = "") -> None:
        found = self._found
        if found is None:
            self._summary.content = f'<div class="soft">{escape(words)}</div>'
            self._table.content = self._branches.content = ""
        else:
            side = self._play.table.side_name(self._play.table.state.playerTurn)
            sides = self._play.table.side_name(1), self._play.table.side_name(-1)
            lead = lead_html(found["lead"], sides) if "lead" in found else ""
            self._summary.content = summary_html(found, side) + lead
            most = SEARCHED if self._halt.visible else len(found["moves"])
            self._table.content = table_html(found, self._truth, most)
        self._line.show(chosen(found) if found is not None and found["moves"] else None)
        self._deeper.enabled = found is not None and found["simulations"] < DEEPEST
        self._show_tree()

    def _show_tree(self) -> None:
        self._branches.content = self._tree if self._shelf.value else ""


def overlays(territory: bool) -> dict[str, str]:
    """Return {overlay: its name}."""
    return {kind: tr(name) for kind, name in OVERLAYS.items() if territory or kind != "owned"}


def hint_text(found: dict[str, Any]) -> str:
    """Return the move that the search would play, in words."""
    if not found["moves"]:
        return tr("There is no move to play.")
    best = chosen(found)
    if best["proven"]:
        return tr("The search would play {move}: {result} for certain.", move=best["move"], result=tr(best["proven"]))
    share = f"{100 * best['share']:.0f}"
    if best["Q"] is None:
        return tr("The search would play {move}: {share} % of the visits.", move=best["move"], share=share)
    return tr("The search would play {move}: {share} % of the visits, value {value}.",
              move=best["move"], share=share, value=f"{best['Q']:+.2f}")  # fmt: skip


def chosen(found: dict[str, Any]) -> dict[str, Any]:
    """Return the move that a player would play: the most visited of those that keep the proven value
    (`Agent.getAV`)."""
    moves = found["moves"]
    right = [m for m in moves if (m["proven"] == found["proven"] if found["proven"] else m["proven"] != "lost")]
    return (right or moves)[0]


def summary_html(found: dict[str, Any], side: str) -> str:
    """Return the values before and after the search."""
    network = f"{found['network_value']:+.3f}" if found["network_value"] is not None else "-"
    value = tr("Value for {side}: network {network}, after the search {after}", side=escape(side),
               network=f"<b>{network}</b>", after=f"<b class='after'>{found['search_value']:+.3f}</b>")  # fmt: skip
    count = f'<span class="simulations">{found["simulations"]}</span>'
    if found["simulations"] == found["nodes"] == 1:
        work = tr("{one} simulation, by {player}", one=count, player=escape(found["player"]))
    else:
        work = tr("{simulations} simulations, {positions} positions, by {player}", simulations=count,
                  positions=found["nodes"], player=escape(found["player"]))  # fmt: skip
    return f'<div>{value}</div><div class="soft">{work}</div>'


def table_html(found: dict[str, Any], truth: dict[int, int] | None, most: int = 10_000) -> str:
    """Return a row for each of the `most` visited moves; hovering over it shows its principal variation on the board.
    """
    columns = ["N", "share", "P", "Q", "U", "V"] + (["true"] if truth is not None else [])
    shown, words = {"share": tr("share"), "true": tr("true")}, {name: escape(tr(HELP[name])) for name in columns}
    head = "".join(
        f'<th class="{name}" tabindex="0" data-word="{words[name]}" aria-description="{words[name]}">'
        f"{shown.get(name, name)}</th>"
        for name in columns
    )
    rows = []
    for m in found["moves"][:most]:
        signed = [f"{m[key]:+.3f}" if m[key] is not None else "-" for key in ("Q", "V")]
        bar = f'<span class="share" style="width:{26 * m["share"]:.0f}px"></span>'
        cells = [str(m["N"]), f"{bar}{100 * m['share']:.1f}%", f"{m['P']:.3f}", signed[0], f"{m['U']:.3f}", signed[1]]
        if truth is not None:
            word = WORDS[truth[m["action"]]] if m["action"] in truth else "-"
            cells.append(f'<span class="{ {"wins": "won", "loses": "lost"}.get(word, "") }">{tr(word)}</span>')
        line = escape(" ".join(m["pv"]))
        rows.append(
            f'<tr data-hover="{m["action"]}" tabindex="0" title="{line}"><td>{escape(m["move"])}</td>'
            + "".join(f'<td class="{name}">{cell}</td>' for name, cell in zip(columns, cells, strict=True)) + "</tr>"
        )  # fmt: skip
    return f'<table class="found"><tr><th>{tr("move")}</th>{head}</tr>{"".join(rows)}</table>'


def eval_html(table: Table) -> str:
    """Return the bar of the value for the player who began."""
    value = table.evaluation()
    share = 50 if value is None else 50 + 50 * value
    words = tr("no value yet")
    if value is not None:
        words = tr("value for {side} {value}", side=table.side_name(1), value=f"{value:+.2f}")
    return (
        f'<div class="eval {table.game.look}" role="img" aria-label="{escape(words)}" title="{escape(words)}">'
        f'<div style="height:{share:.1f}%"></div></div>'
    )
