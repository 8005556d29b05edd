"""Play one move of a course's 5x5 Go from a file to a file."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from interface.arguments import parse, whole

EXAMPLES = {
    "python main.py littlego": "read input.txt, write output.txt",
    "python main.py littlego --player rollout:8s --seconds 8": "a player without a network",
    "python main.py littlego --seconds 1 7:9.5": "one second a move, from the seventh on 9.5",
}


@dataclass(frozen=True)
class LittleGo:
    """Play one move of Little-Go, the 5x5 Go of a university course, from a file to a file."""

    input: str = "input.txt"
    """The position: 1 (Black) or 2 (White), the board before the other's last move, the board now."""
    output: str = "output.txt"
    """File for the move: i,j or PASS."""
    step_file: str = "littlego.step"
    """File that stores the number of moves played from move to move."""
    player: str = ""
    """Player (gtp and human are not possible): PLAYERS; by default the best network, where there is one."""
    sims: int = 400
    """Simulations per move of a network."""
    seconds: tuple[str, ...] = ("8",)
    """Seconds per move from the start of the process, a little less for thinking. It can depend on the number of the
    move: 1 7:9.5 21:3 gives moves 1 to 6 a second each, those from the 7th on 9.5, from the 21st on 3."""
    seed: int | None = None
    """Random seed of the player; by default a new one each time."""


def run(argv: list[str]) -> int:
    from plugins.littlego.process import ThinkerProcess

    with ThinkerProcess() as thinker:  # first of all: loading takes longest
        from plugins.littlego.turn import check_player, process_age, read_clock, take_turn, time_for
        from storage.atomic_files import check_free

        args = parse(LittleGo, argv)
        whole(args.sims, "sims", 1, 1_000_000)
        seed = secrets.randbits(31) if args.seed is None else whole(args.seed, "seed", 0, 2**31 - 1)
        check_free(Path(args.output), overwrite=True)
        check_player(args.player)
        clock = read_clock(args.seconds)
        turn = take_turn(
            Path(args.input), Path(args.output), Path(args.step_file), thinker,
            lambda move: time_for(clock, move) - process_age(), player=args.player, sims=args.sims, seed=seed,
        )  # fmt: skip
    where = "PASS" if turn.action == 25 else f"{turn.action // 5},{turn.action % 5}"
    print(f"move {turn.ply + 1}: {where} ({turn.by})", flush=True)
    return 0
