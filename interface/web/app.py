"""The server and the frame of the page. The page answers at once; slow imports run after it is up."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from config import UserError
from interface.web.request_guard import Guard, names_of

HERE = Path(__file__).parent
OF_CLIENTS = ("aiohttp", "requests", "tornado", "websocket")
"""Packages that the socket library imports for its clients if installed: a third of the start, and this is a server."""
LOOPBACK = ("127.0.0.1", "localhost")
EVERYWHERE = "0.0.0.0"  # noqa: S104


def serve(*, host: str, port: int, spec: str, open_browser: bool, say: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; raise `UserError` if that is impossible."""
    try:
        with hidden(*OF_CLIENTS):
            from nicegui import app, background_tasks, core, ui
    except ImportError:
        raise UserError("serve: nicegui is not installed; `pip install -r requirements-web.txt`") from None
    _check_port(host, port)
    token = secrets.token_urlsafe(24)
    names = {*LOOPBACK, socket.gethostname() if host == EVERYWHERE else host}
    hosts = set().union(*(names_of(name, port) for name in names))
    app.add_middleware(Guard, hosts=hosts, token=token)
    app.config.socket_io_js_query_params["token"] = token
    app.config.socket_io_js_transports = ["websocket"]
    core.sio.eio.cors_allowed_origins = None  # the same origin only
    core.sio.eio.max_http_buffer_size = 1_100_000
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "board.js"))
    place = Shared(spec)

    @ui.page("/", title="AlphaZero", dark=None, reconnect_timeout=KEPT)
    def page(
        game: str = "", moves: str = "", first: str = "", second: str = "", resigned: str = "", view: str = "play"
    ) -> None:
        ui.add_head_html(f"<style>{style}</style><script>{script}liveBoard(document);</script>")
        ui.add_head_html('<meta name="referrer" content="no-referrer">')
        query = {"game": game, "moves": moves, "first": first, "second": second, "resigned": resigned}
        _frame(place, query, view)

    reached = outward() if host == EVERYWHERE else host
    address = f"http://{reached}:{port}/?token={token}"
    door = doorway(address) if open_browser else None

    def close() -> None:
        if door is not None:
            door.unlink(missing_ok=True)
        place.close()

    async def tell() -> None:
        while not _listens(reached, port):  # a browser that comes earlier would find no server
            await asyncio.sleep(0.01)
        say(f"the page is at {address} (open it by hand where the browser finds no file)\nCtrl-C ends it")
        if door is not None:
            await asyncio.to_thread(webbrowser.open, door.as_uri())

    app.on_startup(lambda: background_tasks.create(tell(), name="tell"))
    app.on_shutdown(close)
    logging.getLogger("nicegui").setLevel(logging.WARNING)
    ui.run(
        host=host, port=port, title="AlphaZero", show=False, reload=False, tailwind=False, dark=None,
        show_welcome_message=False, favicon=ICON, reconnect_timeout=10.0,
    )  # fmt: skip


KEPT = 900.0
"""Seconds for which a game waits for a browser that cannot be reached, such as a sleeping one."""
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4470a5"/>'
    '<circle cx="11" cy="21" r="6" fill="#d8404f"/><circle cx="21" cy="11" r="6" fill="#f4c13d"/></svg>'
)


def outward() -> str:
    """Return this machine's address in its network, or the loopback address if it has none."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of no machine (RFC 5737), and nothing is sent
        except OSError:
            return LOOPBACK[0]
        return str(probe.getsockname()[0])


def doorway(address: str) -> Path:
    """Write a file, readable by its owner only, that redirects to an address: all users can see a command line."""
    handle, name = tempfile.mkstemp(prefix="alphazero-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open</a>')
    return Path(name)


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise UserError(f"serve: cannot listen on {host}:{port} ({error}); --port chooses another") from None


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((host, port)) == 0


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Make imports of optional modules fail if they are not loaded yet."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            sys.modules.pop(name, None)


class Shared:
    """What all tabs share; made when the first one needs it."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.boards: WeakSet[Any] = WeakSet()
        """The views of the open tabs."""
        self._roster: Any = None
        self._trainer: Any = None

    def roster(self) -> Any:
        """Return the roster of players."""
        if self._roster is None:
            from interface.web.web_players import Roster

            self._roster = Roster((self.spec,))
        return self._roster

    def trainer(self) -> Any:
        """Return the training runs that the page started."""
        if self._trainer is None:
            from interface.web.training_process import Trainer

            self._trainer = Trainer()
        return self._trainer

    def close(self) -> None:
        """End all searches, and let training that the page started end cleanly, so that it can be resumed."""
        for board in self.boards:
            board.leave()
        if self._trainer is not None:
            self._trainer.stop_all()


def _load(place: Shared) -> None:
    """Import what the views need."""
    import interface.web.games_tab
    import interface.web.play_tab  # noqa: F401

    place.roster()


def _frame(place: Shared, query: dict[str, str], view: str) -> None:
    from nicegui import run, ui

    dark = ui.dark_mode(None)

    def toggle(event: Any) -> None:
        dark.value = not event.args

    with ui.element("header").classes("bar"):
        ui.label("AlphaZero").classes("name")
        with ui.tabs().props("dense no-caps inline-label") as tabs:
            for name in ("Play", "Games", "Training"):
                ui.tab(name.lower(), name)
        ui.element("div").classes("grow")
        button = ui.button(icon="contrast").props('flat round dense aria-label="light or dark"')
        button.on("click", toggle, js_handler='() => emit(document.body.classList.contains("body--dark"))')
    body = ui.element("main")
    with body:
        ui.label("Loading the boards ...").classes("soft").style("padding: 24px")

    async def build() -> None:
        from interface.web.games_tab import Archive
        from interface.web.play_tab import Play
        from interface.web.training_tab import Learn

        made: dict[str, Any] = {}
        body.clear()
        with body, ui.tab_panels(tabs, value="play").props("keep-alive"):
            with ui.tab_panel("play"):
                made["play"] = Play(place, query)
                place.boards.add(made["play"])
            for name in ("games", "training"):
                with ui.tab_panel(name):
                    made[f"{name} place"] = ui.element("div")

        def to_board() -> None:
            tabs.set_value("play")

        def opened(event: Any) -> None:
            name = event.value
            made["play"].keys_on = name == "play"
            if name == "play":
                made["play"].refresh_players()
            if name != "play" and name not in made:
                with made[f"{name} place"]:
                    made[name] = Archive(made["play"], to_board) if name == "games" else Learn(place)
            for other in ("games", "training"):
                if other in made:
                    made[other].visible = other == name

        tabs.on_value_change(opened)
        tabs.set_value(view if view in ("play", "games", "training") else "play")

    async def load() -> None:
        try:
            await run.io_bound(_load, place)
            await build()
        except UserError as error:
            body.clear()
            with body:
                ui.label(str(error).splitlines()[0]).classes("note").style("padding: 24px")

    ui.timer(0.01, load, once=True)
