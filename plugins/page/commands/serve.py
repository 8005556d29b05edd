"""Serve the browser page: play, look inside the search, watch training."""

from __future__ import annotations

import re
from dataclasses import dataclass

from config import UserError
from interface.arguments import Repeated, parse, whole
from interface.commands import take_as_ctrl_c

EXAMPLES = {
    "python main.py serve": "open the page in a browser",
    "python main.py serve --game gomoku --port 8081": "another game, another port",
    "python main.py serve --host 0.0.0.0 --no-open": "also for other machines, by the address printed",
}


@dataclass(frozen=True)
class Serve:
    """Serve the page that plays, looks inside the search and watches training. Ctrl-C ends it."""

    game: str = "connect4"
    port: int = 8080
    """Port to listen on."""
    host: str = "127.0.0.1"
    """Address to listen on. With any but 127.0.0.1 (0.0.0.0: all of this machine's) other machines can open the page,
    if they know the token in the address printed."""
    allow_host: Repeated[tuple[str, ...]] = ()
    """NAME or NAME:PORT in the browser's address bar where it is not this server's own: behind a tunnel, a container's
    port or a proxy, with TLS or without. Can be given several times."""
    open: bool = True
    """Open the page in a browser."""


def run(argv: list[str]) -> int:
    args = parse(Serve, argv)
    whole(args.port, "port", 1, 65_535)
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,253}", args.host):
        raise UserError(f"host: expected a name or an IPv4 address, got {args.host[:60]!r}")
    from plugins.page.app import serve

    spec = args.game
    if spec != Serve.game:  # a mistake is raised here and not shown in the page; the default needs no slow import
        import games
        from evaluation.game_contract import checked

        spec = checked(games.make(spec)).spec
    take_as_ctrl_c("SIGHUP")
    try:
        serve(
            host=args.host, port=args.port, spec=spec, open_browser=args.open, allowed=args.allow_host,
            say=lambda text: print(text, flush=True),
        )  # fmt: skip
    except KeyboardInterrupt:  # the usual end
        print()
    return 0
