"""Write a network as a file of Keras, ONNX, OpenVINO or TFLite, for your own programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from config import UserError
from interface.arguments import Positional, parse

EXAMPLES = {
    "python main.py export-network c4.keras": "your best network of Connect 4, for Keras",
    "python main.py export-network c4.onnx --player shipped": "the one that ships, for ONNX Runtime and others",
    "python main.py export-network old.xml --player run0001:version0020": "an older version, for OpenVINO",
}


@dataclass(frozen=True)
class ExportNetwork:
    """Write a network as a file that other programs read without this one: planes [B, rows, columns, planes] uint8 in,
    values [B, 1] for the player to move and logits [B, action_size] of all moves out. The file also says what the
    planes show and what the moves are called."""

    file: Positional[str]
    """File to write. Its ending says what for: .keras, .onnx, .xml (OpenVINO, with a second file .bin) or .tflite."""
    game: str = "connect4"
    player: str = "best"
    """Network to write: best, current, version0007, shipped, run0002:best, run0002:version0007."""
    format: Literal["keras", "onnx", "openvino", "tflite"] | None = None
    """The format, if you want it checked against the file's ending."""
    overwrite: bool = False
    """Replace the file if it exists."""


def run(argv: list[str]) -> int:
    args = parse(ExportNetwork, argv)
    from network.export import THROUGH_KERAS, export_network, learned_rules
    from storage.game_files import check_free

    path = Path(args.file)
    form = _format(path, args.format)
    files = [path, path.with_suffix(".bin")] if form == "openvino" else [path]
    for file in files:
        check_free(file, overwrite=args.overwrite)
    import games
    from agent import Agent
    from games.sizes import largest_of
    from players.by_name import make_player

    game = largest_of(games.make(args.game))
    agent = make_player(args.player, game, sims=1)
    other = "int8:" in args.player.lower()  # whose name says so only where something is in 8 bits
    if not isinstance(agent, Agent) or agent.at_once == 1 or other or agent.name.startswith(("sym:", "level")):
        raise UserError(f"expected a network such as best, shipped or run0002:version0007, got {args.player[:60]!r}")
    model = _with_keras(agent.model) if form in THROUGH_KERAS else agent.model
    export_network(model, path, form, agent.name)
    size = sum(file.stat().st_size for file in files)
    learned = learned_rules(model.config.game, game).spec
    print(f"{' and '.join(map(str, files))}: {agent.name} of {learned}, {size / 1e6:.1f} MB")
    return 0


def _format(path: Path, named: str | None) -> str:
    """Return the format that a file's ending names; raise `UserError` if it names none, or another than `named`."""
    from network.export import ENDINGS

    form = next((form for form, ending in ENDINGS.items() if path.suffix == ending), None)
    if form is None or named not in (None, form):
        *others, last = [ENDINGS[named]] if named else ENDINGS.values()
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise UserError(f"expected a file name that ends in {allowed}, got {str(path)[:100]!r}")
    return form


def _with_keras(model: Any) -> Any:
    """Return a Keras network with a network's arrays."""
    if hasattr(model, "export"):
        return model
    from model import make_network  # slow to load

    made = make_network(model.config, model.game, typed=False)
    made.set_weights(model.get_weights())
    return made
