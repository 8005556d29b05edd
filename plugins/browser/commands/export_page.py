"""Write a player as one file that any browser plays, or several players as a site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import Output, Positional, parse

EXAMPLES = {
    "python main.py export-page": "connect4.html: your best network of Connect 4, else the one that ships",
    "python main.py export-page run0002:best --game gomoku -o five.html": "a network of your own",
    "python main.py export-page --site site": "a folder for a web space, with all players that ship",
}


@dataclass(frozen=True)
class ExportPage:
    """Write a player as one HTML file: rules, search, network and board. It plays from a disk, a mail attachment or
    any web space, in every browser, without this program. With --site, write a folder with a start page and one file a
    game, to be put on a web space; there it can be installed on a phone and works offline."""

    player: Positional[str] = ""
    """Network to write: best, current, version0007, shipped, run0002:best, run0002:version0007; by default best, and
    shipped for a site."""
    game: str = ""
    """Game of the file; by default connect4."""
    output: Output[str] = ""
    """File to write; by default the game's name and .html."""
    site: str = ""
    """Folder to write a site into; files of an earlier site in it are replaced."""
    games: tuple[str, ...] = ()
    """Games of the site; by default all for which a player ships."""
    overwrite: bool = False
    """Replace the file if it exists; of a site, other files of the same names."""


def run(argv: list[str]) -> int:
    args = parse(ExportPage, argv)
    if args.site:
        return _site(args)
    if args.games:
        raise UserError("expected --site FOLDER with --games")
    from storage.game_files import check_free
    from storage.run_folders import game_folder

    spec = args.game or "connect4"
    path = Path(args.output or f"{game_folder(spec)}.html")
    if path.suffix not in (".html", ".htm"):
        raise UserError(f"expected a file name that ends in .html, got {str(path)[:100]!r}")
    check_free(path, overwrite=args.overwrite)
    import games
    from evaluation.game_contract import checked
    from games.sizes import largest_of
    from plugins.browser.assemble import one_file
    from plugins.browser.player import page_parts
    from storage.atomic_files import replacing

    game = checked(largest_of(games.make(spec)))
    parts = page_parts(args.player or "best", game)
    page = one_file(parts).encode()
    with replacing(path) as trial:
        trial.write_bytes(page)
    print(f"{path}: {parts.facts['player']['name']} of {game.spec}, {len(page) / 1e6:.2f} MB; open it in a browser")
    return 0


def _site(args: ExportPage) -> int:
    if args.output:
        raise UserError("expected -o FILE or --site FOLDER, got both")
    if args.game:
        raise UserError(f"expected --games {args.game[:80]} with --site, got --game")
    from plugins.browser.site import START, shipped_games, write_site

    wanted = list(args.games) or shipped_games()
    sizes = write_site(Path(args.site), wanted, args.player or "shipped", say=print, overwrite=args.overwrite)
    count = sum(name.endswith(".html") and name != START for name in sizes)
    held = "1 game" if count == 1 else f"{count} games"
    print(f"{args.site}: {held}, {sum(sizes.values()) / 1e6:.1f} MB; docs/browser.md says where to put it")
    return 0
