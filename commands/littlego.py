"""Play one move of a course's 5x5 Go from a file to a file."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from arguments import parse, whole
from config import UserError


@dataclass(frozen=True)
class LittleGo:
    """Play one move of Little-Go, the 5x5 Go of a university course, from a file to a file."""

    input: str = "input.txt"
    """The position: 1 (Black) or 2 (White), the board before the other's last move, the board now."""
    output: str = "output.txt"
    """Where the move goes: i,j or PASS."""
    step_file: str = "littlego.step"
    """Where the number of moves played is kept from move to move."""
    player: str = ""
    """Who plays (gtp and human are not possible): PLAYERS; by default the best network, where there is one."""
    sims: int = 400
    """Simulations a move of a network."""
    seconds: float = 8.0
    """Time to think, with what it takes to load the player; the start of Python comes on top."""
    seed: int | None = None
    """Of the player's chance; by default another one each time."""


def run(argv: list[str]) -> int:
    began = time.monotonic()
    args = parse(LittleGo, argv)
    if not 0.1 <= args.seconds <= 3600:
        raise UserError(f"seconds: expected a number from 0.1 to 3,600, got {args.seconds}")
    whole(args.sims, "sims", 1, 1_000_000)
    seed = secrets.randbits(31) if args.seed is None else whole(args.seed, "seed", 0, 2**31 - 1)
    from turnfile import take_turn, thinker

    think = thinker(args.player, sims=args.sims, seconds=args.seconds, seed=seed)
    left = args.seconds - (time.monotonic() - began)
    turn = take_turn(Path(args.input), Path(args.output), Path(args.step_file), think, left)
    where = "PASS" if turn.action == 25 else f"{turn.action // 5},{turn.action % 5}"
    print(f"move {turn.ply + 1}: {where} ({turn.by})", flush=True)
    if turn.late:  # its thread may be anywhere in compiled code: leaving the usual way would wait or crash
        os._exit(0)
    return 0
