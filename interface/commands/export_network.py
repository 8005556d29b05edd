"""Write a network as a Keras file, for your own programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from config import UserError
from interface.arguments import parse

EXAMPLES = {
    "python main.py export-network c4.keras": "your best network of Connect 4",
    "python main.py export-network c4.keras --player shipped": "the one that ships",
    "python main.py export-network old.keras --player run0001:version0020": "an older version",
}


@dataclass(frozen=True)
class ExportNetwork:
    """Write a network as a .keras file: planes [B, rows, columns, planes] uint8 in, values [B, 1] for the player to
    move and logits [B, action_size] of all moves out. `keras.models.load_model` reads it without this program."""

    file: Positional[str]
    """File to write: a name ending in .keras."""
    game: str = "connect4"
    player: str = "best"
    """Network to write: best, current, version0007, shipped, run0002:best, run0002:version0007."""
    overwrite: bool = False
    """Replace the file if it exists."""


def run(argv: list[str]) -> int:
    args = parse(ExportNetwork, argv)
    path = Path(args.file)
    if path.suffix != ".keras":
        raise UserError(f"expected a file name that ends in .keras, got {args.file[:100]!r}")
    from storage.atomic_files import replacing
    from storage.game_files import check_free

    check_free(path, overwrite=args.overwrite)
    import games
    from agent import Agent
    from players.by_name import make_player

    game = games.make(args.game)
    agent = make_player(args.player, game, sims=1)
    if not isinstance(agent, Agent) or agent.at_once == 1 or agent.name.startswith(("sym:", "level")):
        raise UserError(f"expected a network such as best, shipped or run0002:version0007, got {args.player[:60]!r}")
    with replacing(path) as trial:
        agent.model.export(str(trial))
    print(f"{path}: {agent.name} of {game.spec}, {path.stat().st_size / 1e6:.1f} MB")
    return 0
