"""Review of the game at the table: its moves with marks, accuracy, the better move on the board, another try."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from html import escape
from typing import Any

from nicegui import ui

from config import UserError
from evaluation.review import MARKS, Judged, check_searcher, review, summary
from game import Game
from games.line_of_moves import starting_at
from interface.review_words import counted, exactly, percent, source
from languages.translate import tr
from plugins.page.machine_turns import searching
from plugins.page.tab_language import in_background
from plugins.page.table import Left, Table
from plugins.page.web_players import make_game
from plugins.pictures.board_svg import LOOKS, Mark
from storage.game_files import PERSON, Record

SIMS = 400
"""Simulations of each search."""
NAMES = {"inaccuracy": "inaccuracy", "mistake": "mistake", "blunder": "blunder"}
TEXTS = "inaccuracy", "mistake", "blunder"
CLICK = (  # on a phone the board is above
    '(e) => { const t = e.target.closest("[data-review]"); if (!t) return; emit(t.dataset.review);'
    ' if (innerWidth <= 1000) document.querySelector(".players").scrollIntoView() }'
)


class ReviewPanel:
    """The panel; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._job = 0
        """Counts the reviews; an older one stops."""
        self._running = False
        self._of: Any = None
        """Identifier of the game under review, None if there is none."""
        self._moves: list[Judged] = []
        self._player = ""
        """The player that searched."""
        self._shown: int | None = None
        """Ply of the move whose better one is on the board."""

    def build(self) -> None:
        """Put the panel where the page is being built."""
        with ui.element("section").classes("card stack review").props(f'aria-label="{tr("review")}"') as self._card:
            with ui.element("div").classes("line-up") as self._bar:
                self._begin = ui.button(tr("Review the game"), icon="fact_check", on_click=self.begin)
                self._begin.props("unelevated dense")
                self._words = ui.label().classes("soft grow").props('role="status"')
                self._halt = ui.button(tr("Stop"), icon="stop", on_click=self.stop).props("flat dense")
            self._sides, self._strip, self._chips = (ui.html("", sanitize=False) for _ in range(3))
            for part in (self._strip, self._chips):
                part.on("click", lambda e: self.select(e.args), js_handler=CLICK)
            self._source = ui.label().classes("soft")

    def build_answer(self) -> None:
        """Put what is said of a chosen move below the board, where the page is being built."""
        with ui.element("div").classes("line-up answer") as self._answer:
            self._detail = ui.html("", sanitize=False).classes("grow").props('role="status"')
            self._again = ui.button(tr("Try again from here"), icon="replay", on_click=self._try_again)
            self._again.props("unelevated dense")

    # ---- what the board shows of it

    def _judged(self) -> list[Judged]:
        """Return the judged moves; none while a try is on the table."""
        return self._moves if self._of == key_of(self._play.table) else []

    def _chosen(self) -> Judged | None:
        judged = self._judged()
        return judged[self._shown] if self._shown is not None and judged else None

    def marks(self) -> tuple[dict[int, Mark], dict[int, list[int]]] | None:
        """Return the sign on the move that was chosen and the better line, for the board; None if none is chosen."""
        move = self._chosen()
        if move is None:
            return None
        line = until(move.line, move.action)
        return {move.action: Mark(-1.0, MARKS[move.mark])}, {line[0]: line} if line else {}

    def marked(self) -> dict[int, str]:
        """Return {number of the move, from 0: its mark} of the moves that have one."""
        return {move.ply: move.mark for move in self._judged() if move.mark} if self._card.visible else {}

    def drawn(self, svg: str) -> str:
        """Return the board with the better line visible, and a ring round its first move (style.css)."""
        move = self._chosen()
        if move is None or not move.line:
            return svg
        return svg.replace(f'class="line" data-line="{move.line[0]}" visibility="hidden"', 'class="better"', 1)

    # ---- the review

    def begin(self) -> None:
        """Review the game at the table, in the background."""
        table = self._play.table
        self._job += 1
        self._of, self._moves, self._shown, self._running = key_of(table), [], None, True
        in_background(self._run(self._job, table.record()), "review")
        self._play.show()

    def stop(self) -> None:
        """Stop the review; what it found stays."""
        self._job += 1
        self._running = False
        self._play.show()

    def _forget(self) -> None:
        """Drop the review: another game is at the table."""
        self._job += 1
        self._of, self._moves, self._shown, self._running = None, [], None, False

    async def _run(self, job: int, record: Record) -> None:
        loop, roster = asyncio.get_running_loop(), self._play.roster
        own = make_game(record.game.spec)  # a game in plain Python must not be shared between threads
        own = starting_at(own, record.game.start()) if record.game.set_up_from is not None else own

        def make(game: Game) -> Any:
            player = check_searcher(roster.make(roster.strongest(game.spec), game, str(SIMS)))
            self._player = player.name
            return player

        def stop() -> bool:
            return job != self._job or not self._play.watched

        def work() -> None:
            for move in review(record._replace(game=own, moves=list(record.moves)), make, sims=SIMS, stop=stop):
                loop.call_soon_threadsafe(self._take, job, move)

        fault = ""
        try:
            await searching(work)
        except UserError as error:
            fault = str(error).splitlines()[0]
        except Exception:
            fault = tr("The review failed; see the terminal.")
            raise
        finally:
            if job == self._job:
                self._running = False
                if not self._play.gone:
                    self._play.show()
                    self._words.text = fault

    def _take(self, job: int, move: Judged) -> None:
        """Take a judged move."""
        if job != self._job:
            return
        self._moves.append(move)
        if self._judged():
            self._play.table.note(move.ply, move.before, move.player)
            self.show()
            self._play.card.show()

    def select(self, ply: Any) -> None:
        """Show a marked move and the better one, on the position before it; the position after a move without mark."""
        if str(ply).isdecimal() and int(ply) < len(self._moves):
            move = self._moves[int(ply)]
            self._shown = move.ply if move.mark else None
            self._play.go(move.ply if move.mark else move.ply + 1)

    def _try_again(self) -> None:
        """Play on from the position that is shown, against the same opponent, without the answer on the board."""
        play, move = self._play, self._chosen()
        if move is not None and play.table.ply == move.ply:
            play.table.drop_rest(trying=True)
            play.table.paused = False
            play.opponents.helped = True
            play.set_mode("play")
            play.changed()

    # ---- what the panel shows

    def show(self) -> None:
        """Show the review so far; nothing while there is no game to review."""
        play, table = self._play, self._play.table
        if self._of not in (None, key_of(table), key_of(table, table.left)):
            self._forget()
        judged, running = self._judged(), self._running and self._of == key_of(table)
        if self._shown is not None and (self._shown != table.ply or not judged):
            self._shown = None
        self._card.visible = bool(table.moves) and (table.result is not None or play.mode == "analyse")
        done, count = len(judged), len(table.moves)
        self._begin.visible = not running and done < count
        self._halt.visible = running
        self._bar.visible = done < count or running
        self._words.text = tr("move {done} of {count} ...", done=done + 1, count=count) if running else ""
        exact, complete = sum(move.exact for move in judged), bool(done) and done == count
        self._source.text = source(exact, count, self._player, SIMS) if complete else ""
        self._sides.content = sides_html(table, judged) if done else ""
        self._strip.content = strip_svg(table, judged) if done else ""
        self._chips.content = chips_html(table, judged)
        move = self._chosen()
        self._detail.content = detail_html(table, move) if move is not None else ""
        self._answer.visible = move is not None
        self._again.visible = move is not None and table.seats[move.player] == PERSON


def until(line: Sequence[int], action: int) -> list[int]:
    """Return the moves before an action: a line to be drawn that does not cover the sign on it.

    >>> until([3, 3, 0, 2, 0], 0)
    [3, 3]
    """
    return list(line[: line.index(action)] if action in line else line)


def key_of(table: Table, left: Left | None = None) -> Any:
    """Return an identifier of the game at a table, whichever position is shown."""
    game = left or table
    return table.game.spec, game.states[0].id, tuple(game.moves)


def _dot(table: Table, side: int) -> str:
    colour = LOOKS[table.game.look].sides[side][0]
    return f'<span class="dot-side" style="background:{colour}"></span>'


def sides_html(table: Table, moves: Sequence[Judged]) -> str:
    """Return the accuracy of both sides and how many marks they have."""
    total, rows = summary(moves), []
    for side in (1, -1):
        share, marks = total.accuracy[side], counted(total.counts[side], total.lost_throughout[side])
        rows.append(
            f'<div class="accuracy">{_dot(table, side)}<span>{escape(table.side_name(side))}</span>'
            f'<b>{"-" if share is None else f"{percent(share)} %"}</b><span class="soft">{escape(marks)}</span></div>'
        )
    return f'<div class="soft">{escape(tr("Accuracy"))}</div>' + "".join(rows)


def strip_svg(table: Table, moves: Sequence[Judged]) -> str:
    """Return a bar for each move, as high as what it lost: upwards of who began, downwards of the other side."""
    width, height, middle = 420.0, 56.0, 28.0
    step = width / max(len(table.moves), 10)
    parts = [f'<path d="M0 {middle:g}H{width:g}" stroke="currentColor" opacity=".25"/>']
    x = step * (table.ply - 0.5)
    parts.append(f'<path d="M{x:.1f} 2V{height - 2:g}" stroke="currentColor" opacity=".5"/>' if table.ply else "")
    for move in moves:
        x, tall = step * move.ply, 3 + 22 * move.loss if move.mark else 3.0
        top = middle - tall if move.player == 1 else middle
        bar = f'x="{x + 0.15 * step:.1f}" y="{top:.1f}" width="{0.7 * step:.1f}" height="{tall:.1f}"'
        parts.append(f'<rect class="bar {move.mark or "good"}" {bar} rx="1.5"/>')
        parts.append(
            f'<rect class="ply" data-review="{move.ply}" x="{x:.1f}" y="0" width="{step:.1f}" height="{height:g}" '
            f'fill="transparent"><title>{escape(_name(table, move))}</title></rect>'
        )
    label = escape(tr("what each move lost"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="losses" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
    )


def _name(table: Table, move: Judged) -> str:
    return f"{move.ply + 1}. {table.game.move_name(move.action)}{MARKS[move.mark]}"


def chips_html(table: Table, moves: Sequence[Judged]) -> str:
    """Return a button for each marked move."""
    turning = summary(moves).turning
    parts = []
    for move in moves:
        if move.mark:
            more = f' <span class="soft">{escape(tr("turning point"))}</span>' if move.ply == turning else ""
            label = escape(f"{_name(table, move)} {tr(NAMES[move.mark])}")
            parts.append(
                f'<button type="button" class="chip {move.mark}" data-review="{move.ply}" aria-label="{label}">'
                f"{_dot(table, move.player)}{escape(_name(table, move))}{more}</button>"
            )
    return f'<div class="chips">{"".join(parts)}</div>' if parts else ""


def detail_html(table: Table, move: Judged) -> str:
    """Return what a marked move lost, and what was better, in words."""
    said: dict[str, object] = {
        "number": move.ply + 1, "side": table.side_name(move.player), "move": table.game.move_name(move.action),
        "mark": tr(NAMES[move.mark]),
    }  # fmt: skip
    if move.exact:
        before, after = exactly(move.before), exactly(move.after)
        text = tr("{number}. {side} played {move}, {mark}: from {before} to {after}.",
                  before=before, after=after, **said)  # fmt: skip
    else:
        before, after = (percent(50 + 50 * value) for value in (move.before, move.after))
        text = tr("{number}. {side} played {move}, {mark}: chance to win {before} %, then {after} %.",
                  before=before, after=after, **said)  # fmt: skip
    names = [table.game.move_name(action) for action in move.line]
    better = tr("Better: {line}", line=" ".join(names)) if names else ""
    return f"<div>{escape(text)}</div><div class='better-line'>{escape(better)}</div>"
