"""Puzzles: positions with one right move on a board, hints in three steps, a wrong move refuted on the board.

What is solved is kept in the browser (localStorage), per game and puzzle; the server keeps nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from config import UserError
from evaluation.puzzle_maker import PuzzleSource, Stop
from evaluation.puzzles import LEVELS, Attempt, games_with_puzzles
from games.titles import titled
from interface import puzzle_words as words
from interface.side_names import side_name
from languages.translate import tr
from plugins.page.board_stage import MOVE, confirm, framed
from plugins.page.controls import icon_button
from plugins.page.machine_turns import searching
from plugins.page.tab_language import in_background
from plugins.page.web_players import make_game
from plugins.pictures.board_svg import Mark, board_svg, grid_of, point_of, ratio_of
from storage.game_files import Record

KEY = "puzzles"
"""Name of what the browser keeps: {game: {number: CLEAN or HELPED}}."""
CLEAN, HELPED = 1, 2
"""Solved alone; with a hint, after a wrong move, or shown."""
STATES = {CLEAN: ("clean", "solved alone"), HELPED: ("helped", "solved with help"), 0: ("open", "not solved")}
"""{what is kept: (class of its button, words)}"""
PUZZLE = re.compile("[0-9]{1,5}", re.ASCII)
"""The number of a puzzle, as browsers and addresses name it."""
NUMBER = '(e) => { const t = e.target.closest("[data-number]"); if (t) emit(t.dataset.number) }'
LARGEST = 100_000
"""Characters of what the browser keeps that are read."""


class Puzzles:
    """The view of one tab."""

    def __init__(self, play: Any, open_board: Callable[[], None]) -> None:
        self._play, self._open_board = play, open_board
        offered = play.roster.boards()
        self._games = list(dict.fromkeys([*games_with_puzzles(offered), *play.roster.named]))
        here = play.table.game.spec
        self._spec = here if here in self._games else self._games[0]
        self._level, self._number, self._job = "", 0, 0
        self._source: PuzzleSource | None = None
        self._attempt: Attempt | None = None
        self._hints, self._refuted = 0, ()
        self._done: dict[str, dict[str, int]] = {}
        self._visible = True
        self._build()
        self._draw()
        in_background(self._remember(), "puzzles")

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, seen: bool) -> None:
        """A puzzle that is being made is dropped when another tab is opened."""
        self._visible = seen
        if not seen:
            self._job += 1
        elif self._attempt is None and self._source is not None:
            self._go(lambda source, stop: source.following(self._number, self._level, stop=stop))

    # ---- what is seen

    def _build(self) -> None:
        with ui.element("div").classes("sheet puzzles"):
            with ui.element("div").classes("stack"):
                with ui.element("div").classes("ask"):
                    self._title = ui.label().classes("soft")
                    self._task = ui.label().classes("status").props('role="status"')
                with ui.element("div").classes("stand"):
                    self._stage = ui.html("", sanitize=False).classes("stage")
                    named = tr("board: arrows move, Enter plays")
                    self._stage.props(f'tabindex=0 role=application aria-label="{named}"')
                    self._stage.on("click", lambda e: self._click(*e.args), js_handler=MOVE)
                self._others = ui.element("div").classes("line-up").style("justify-content: center")
                with ui.element("div").classes("line-up tools").style("justify-content: center"):
                    self._tools()
                self._note = ui.label().classes("verdict").props('role="status"')  # tips of the tools are above them
            with ui.element("div").classes("card stack"):
                self._choose()

    def _tools(self) -> None:
        tip = tr("a hint, in three steps")
        self._hint_button = icon_button(tr("Hint"), "lightbulb_outline", self._hint, tip)
        self._again = icon_button(tr("Try again"), "replay", self._clear, tr("back to the position"))
        self._show = icon_button(tr("Solution"), "visibility", self._solution, tr("show the solution"))
        tip = tr("open the position in Analyse, with the solution")
        self._analyse = icon_button(tr("Analyse"), "query_stats", self._to_analysis, tip)
        self._next = ui.button(tr("Next"), icon="arrow_forward", on_click=self._follow).props("dense unelevated")

    def _choose(self) -> None:
        """Show what can be chosen: game, level, puzzle."""
        game = ui.select(titled(self._games), value=self._spec, on_change=lambda e: self._change_game(e.value))
        game.props(f'dense outlined options-dense label="{tr("game")}" aria-label="{tr("game of the puzzles")}"')
        levels = {"": tr("all"), **{level: tr(level) for level in LEVELS}}
        toggle = ui.toggle(levels, value="", on_change=lambda e: self._change_level(e.value))
        toggle.props("dense unelevated no-caps spread")
        self._score = ui.label().classes("soft")
        self._list = ui.html("", sanitize=False)
        self._list.on("click", lambda e: self._open(e.args), js_handler=NUMBER)
        ui.label(tr("Each position has one right move. What you solve is remembered in this browser.")).classes("soft")

    def _draw(self) -> None:
        attempt, made = self._attempt, self._attempt is not None
        for button in (self._hint_button, self._show):
            button.visible = made and not self._over
        self._again.visible = bool(self._refuted)
        self._analyse.visible = self._over
        self._next.visible = made
        self._next.props(remove="flat" if self._over else "", add="" if self._over else "flat")
        self._draw_list()
        self._others.clear()
        if attempt is None:
            return
        name = tr("Puzzle {number}", number=self._number)
        self._title.text = f"{name} · {tr(attempt.puzzle.level)}"
        self._task.text = words.task(attempt.puzzle, side_name(attempt.game, attempt.state.playerTurn))
        if self._over:
            self._task.text = tr("Solved.") if attempt.solved else tr("The solution")
        drawn = board_svg(attempt.state, overlay=self._marks(), lines=self._lines(), clickable=not self._over,
                          lasting=True)  # fmt: skip
        drawn = re.sub(r'<g class="line"([^>]*?) visibility="hidden"', r'<g class="refutation"\1', drawn)
        self._stage.content = framed(drawn, attempt.state, attempt.game, self._at)
        self._stage.style(f"--ratio: {ratio_of(drawn):.4f}")
        grid = grid_of(attempt.state)
        with self._others:
            for action in () if self._over else attempt.state.allowedActions:
                if grid is None or point_of(attempt.game, grid, action) is None:
                    button = ui.button(attempt.game.move_name(action), on_click=lambda a=action: self._click(a))
                    button.props("outline dense no-caps")

    def _draw_list(self) -> None:
        """Show a button for each puzzle, and how many are solved."""
        source = self._source
        done = self._done.get(self._spec, {})
        cells = []
        for number in range(1, max(source.shipped, self._number) + 1 if source else 0):
            puzzle = source.get(number) if source else None
            if puzzle is not None and self._level in ("", puzzle.level):
                kind, how = STATES[done.get(str(number), 0)]
                here = ' aria-current="true"' if number == self._number else ""
                title = ", ".join([tr("Puzzle {number}", number=number), tr(puzzle.level), tr(how)])
                cells.append(
                    f'<button class="{kind}" data-number="{number}"{here} aria-label="{title}">{number}</button>'
                )
        self._list.content = f'<div class="numbers">{"".join(cells)}</div>'
        clean = sum(kind == CLEAN for kind in done.values())
        self._score.text = tr("{clean} solved alone, {helped} with help", clean=clean, helped=len(done) - clean)

    @property
    def _at(self) -> str:
        """An identifier of the position on the board."""
        return f"{self._number}-{len(self._attempt.played) if self._attempt else 0}"

    @property
    def _over(self) -> bool:
        """Whether the puzzle is solved or its solution shown."""
        return self._attempt is not None and (self._attempt.solved or self._hints > words.HINTS)

    def _marks(self) -> dict[int, Mark]:
        """Return the marks of the hint on the board."""
        attempt = self._attempt
        if attempt is None or self._over or self._refuted or self._hints < 2:
            return {}
        if self._hints == words.HINTS:
            return {attempt.wanted: Mark(1.0, "")}
        found = words.area(attempt.game, attempt.wanted)
        return {a: Mark(0.15, "") for a in found if a in attempt.state.allowedActions}

    def _lines(self) -> dict[int, list[int]]:
        """Return the line that is drawn on the board: a wrong move with its refutation, or the solution."""
        attempt = self._attempt
        line = list(self._refuted)
        if attempt is not None and self._over and not attempt.solved:
            line = list(attempt.puzzle.line[len(attempt.played) :])
        elif attempt is not None and attempt.solved and not attempt.state.isEndGame:
            line = list(attempt.rest)
        return {line[0]: line} if line else {}

    def _say(self, text: str, kind: str = "") -> None:
        """Show what happened; kind: "bad" or "good" or ""."""
        self._note.text = text
        self._note.classes(replace=f"verdict {kind}")

    # ---- what is done

    def _click(self, action: Any, at: Any = None, first: Any = False) -> None:
        attempt = self._attempt
        if attempt is None or self._over or at not in (None, self._at):
            return
        try:
            action = int(action)
            if first and 0 <= action < attempt.game.action_size:
                self._say(confirm(attempt.game, action))
                return
            answer = attempt.answer(action)
        except (TypeError, ValueError):
            return
        except UserError as error:
            self._say(str(error), "bad")
            return
        self._refuted = ()
        if answer.right:
            self._hints = 0
            self._say(words.right(attempt, answer), "good")
        else:
            why = answer.refutation
            self._refuted = (action, *(why.line if why else ()))
            self._say(words.wrong(attempt.game, action, why), "bad")
        if answer.solved:
            self._keep(CLEAN if attempt.clean else HELPED)
        self._draw()

    def _clear(self) -> None:
        """Remove the refutation from the board."""
        self._refuted = ()
        self._say("")
        self._draw()

    def _hint(self) -> None:
        attempt = self._attempt
        if attempt is not None and not self._over:
            self._hints, self._refuted = min(self._hints + 1, words.HINTS), ()
            attempt.hints += 1
            self._say(words.hint(attempt, self._hints))
            self._draw()

    def _solution(self) -> None:
        attempt = self._attempt
        if attempt is not None and not self._over:
            self._say(words.solution(attempt))
            self._hints, self._refuted = words.HINTS + 1, ()
            self._keep(HELPED)
            self._draw()

    def _to_analysis(self) -> None:
        """Show the position in Analyse, with the solution as the moves after it, unless a game would be lost."""
        if self._attempt is not None:
            self._play.instead(partial(self._put, self._attempt), tr("Analyse"))

    def _put(self, attempt: Attempt) -> None:
        puzzle = attempt.puzzle
        self._play.open_record(Record(attempt.game, [*puzzle.moves, *puzzle.line]), {})
        self._play.go(len(puzzle.moves))
        self._open_board()

    def _change_game(self, spec: str) -> None:
        self._spec, self._source, self._attempt, self._number = spec, None, None, 0
        self._unsolved()

    def _change_level(self, level: str) -> None:
        self._level = level
        self._unsolved()

    def _unsolved(self) -> None:
        """Open the first puzzle of the level that is not solved."""
        done = {int(number) for number in self._done.get(self._spec, {})}

        def find(source: PuzzleSource, stop: Stop) -> int | None:
            number = source.following(0, self._level, stop=stop)
            while number is not None and number in done and number < source.shipped:
                number = source.following(number, self._level, stop=stop)
            return number

        self._go(find)

    def _follow(self) -> None:
        """Open the next puzzle of the level."""
        self._go(lambda source, stop: source.following(self._number, self._level, stop=stop))

    def _open(self, number: Any) -> None:
        if PUZZLE.fullmatch(str(number)):
            self._go(lambda source, stop: int(number) if source.get(int(number), stop=stop) else None)

    def _go(self, find: Callable[[PuzzleSource, Stop], int | None]) -> None:
        self._job += 1
        in_background(self._load(self._job, find), "puzzle")

    async def _load(self, job: int, find: Callable[[PuzzleSource, Stop], int | None]) -> None:
        """Open the puzzle whose number `find` returns; others than those that ship are made, in a thread."""
        spec = self._spec

        def look() -> tuple[PuzzleSource, int | None]:
            source = self._source or PuzzleSource(make_game(spec))
            return source, find(source, lambda: self._job != job)

        if self._source is None or self._number >= self._source.shipped:
            self._say(tr("Making another puzzle ...") if self._source else tr("Loading ..."))
        try:
            found = await searching(look)
        except UserError as error:
            self._say(str(error).splitlines()[0], "bad")
            self._draw()
            return
        if found is None or job != self._job or self._play.gone:
            return
        self._source, number = found
        if number is None or (puzzle := self._source.get(number)) is None:
            self._say(tr("There are no more puzzles."))
            self._draw()
            return
        self._number, self._attempt = number, Attempt(puzzle, self._source.game)
        self._hints, self._refuted = 0, ()
        self._say("")
        self._draw()

    # ---- what the browser remembers

    async def _remember(self) -> None:
        """Read what is solved, then open the first puzzle that is not."""
        with self._stage.client:
            try:
                text = await ui.run_javascript(f"return localStorage.getItem({KEY!r}) || ''", timeout=20)
            except TimeoutError:
                text = ""
            self._done = progress(text)
            self._unsolved()

    def _keep(self, kind: int) -> None:
        """Remember that the puzzle is solved; the better way counts."""
        done = self._done.setdefault(self._spec, {})
        done[str(self._number)] = min(kind, done.get(str(self._number), kind))
        given = f"{json.dumps(self._spec)}, {self._number}, {kind}"
        ui.run_javascript(f"keepSolved({KEY!r}, {LARGEST}, {given})")


def progress(text: Any) -> dict[str, dict[str, int]]:
    """Return what a browser kept, without what is none of ours: {game: {number: CLEAN or HELPED}}."""
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) <= LARGEST else {}
    except (ValueError, RecursionError):
        found = {}
    games = found.items() if isinstance(found, dict) else ()
    return {
        game: {number: kind for number, kind in solved.items() if PUZZLE.fullmatch(number) and kind in (CLEAN, HELPED)}
        for game, solved in games if isinstance(solved, dict)
    }  # fmt: skip
