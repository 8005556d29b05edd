"""Draws docs/learning.svg, the moving picture of README, from a run of Connect 4; docs/pictures.py calls it.

First the run's curve grows while its versions look at one position; then its newest version plays a game. All motion is
CSS: a viewer that asks for less motion sees the last frame.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import games  # noqa: E402
from agent import Agent  # noqa: E402
from evaluation.match import MatchGame, contest  # noqa: E402
from evaluation.solved_positions import Solved, oracle, sample  # noqa: E402
from game import GameState  # noqa: E402
from loggers import read_metrics  # noqa: E402
from players.by_name import make_player, network_player  # noqa: E402
from storage.run_folders import find_run  # noqa: E402

GAME = games.make("connect4")
ROWS, COLUMNS = GAME.grid_shape
LOOKS, LENGTH = 7, 22.0
"""How many versions look at the position; seconds of the whole picture."""
LEARNING = 11.0
"""Seconds of its first part."""
SIMS, ROLLOUTS = 200, 1000
"""Simulations a move of the network and of its opponent in the game."""
CELL, LEFT, TOP = 42.0, 470.0, 92.0
CHART = 62.0, 96.0, 340.0, 206.0
"""x, y, width and height of the curve."""
STYLE = """
text{fill:var(--ink);font:14px system-ui,sans-serif}
.small{font-size:12px;fill:var(--soft)} .big{font-size:17px;font-weight:600}
svg{--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--alone:#e08a1e;--search:#3b7dd8;--hole:#fff}
@media(prefers-color-scheme:dark){svg{--ink:#f0f3f6;--soft:#9198a1;--line:#3d444d;--hole:#0d1117}}
@media(prefers-reduced-motion:reduce){*{animation:none!important}}
.grows{transform-box:fill-box;transform-origin:bottom}
"""


class Look(NamedTuple):
    """What a version thinks of the position."""

    games: int
    """Games of self-play that it has learned from."""
    kept: float
    """Share of the scoreboard's positions in which it keeps the value, without search."""
    priors: list[float]
    """Probability of each column."""


def make(number: int) -> None:
    """Draw the picture from a run."""
    lines = read_metrics(find_run(GAME.spec, number) / "metrics.jsonl")
    newest = int(lines[-1]["version"])
    versions = [round(newest * (i / (LOOKS - 1)) ** 1.6) for i in range(LOOKS)]
    agents = [network_player(GAME, number, version, sims=SIMS) for version in versions]
    who = oracle(GAME)
    if who is None:
        raise SystemExit("needs `pip install bitbully`")
    position = telling(agents, sample(GAME, who, 400, seed=5)[0])
    played = [0, *(sum(line["self_play_games"] for line in lines[:i]) for i in range(1, len(lines) + 1))]
    kept = [0.0, *(line["score_kept_alone"] for line in lines)]
    looks = [
        Look(played[v], kept[v], [float(p) for p in agent.get_preds(position.state)[1]])
        for v, agent in zip(versions, agents, strict=True)
    ]  # fmt: skip
    curves = {
        "alone": [(played[i], line["score_kept_alone"]) for i, line in enumerate(lines, 1)],
        "search": [(played[i], line["score_kept"]) for i, line in enumerate(lines, 1)],
    }
    svg = draw(looks, curves, int(lines[-1]["score_sims"]), position, winning_game(agents[-1]))
    (HERE / "learning.svg").write_text(svg, encoding="utf-8")
    print(f"{HERE / 'learning.svg'}: {len(svg):,} bytes; position {GAME.format_moves(list(position.moves))}")


def telling(agents: list[Agent], positions: list[Solved]) -> Solved:
    """Return the position, with one right move, about which the versions come to know most."""

    def learned(position: Solved) -> float:
        (move,) = position.keeping
        priors = [float(agent.get_preds(position.state)[1][move]) for agent in agents]
        falls = sum(max(a - b, 0.0) for a, b in zip(priors, priors[1:], strict=False))
        return priors[-1] - priors[0] - 2 * falls

    return max((p for p in positions if len(p.keeping) == 1 and 8 <= p.ply <= 18), key=learned)


def winning_game(agent: Agent) -> list[int]:
    """Return the moves of a game that the agent wins, going second, against rollouts."""
    games: list[MatchGame] = []
    contest(GAME, (agent, make_player(f"rollout:{ROLLOUTS}", GAME)), 32, seed=1, opening_plies=1, keep=games.extend)
    found = [g for g in games if g.score == 1.0 and not g.first_began]
    return list(min(found, key=lambda g: abs(len(g.moves) - 24)).moves)


# ---- drawing


def draw(
    looks: list[Look], curves: dict[str, list[tuple[int, float]]], sims: int, position: Solved, game: list[int]
) -> str:  # fmt: skip
    """Return the picture."""
    style, parts = [STYLE], []
    parts += ['<text class="big" x="24" y="34">Connect 4, learned from its rules alone</text>']
    parts += chart(curves, sims, style)
    parts += board(looks, position, game, style)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 390" role="img" '
        'aria-label="A network learns Connect 4 by playing against itself, then wins a game">'
        f"<style>{''.join(style)}</style>{''.join(parts)}</svg>\n"
    )


def chart(curves: dict[str, list[tuple[int, float]]], sims: int, style: list[str]) -> list[str]:
    """Return the curve of the run, which grows while it learns."""
    x0, y0, w, h = CHART
    most = curves["alone"][-1][0]

    def at(count: float, share: float) -> tuple[float, float]:
        return x0 + w * count / most, y0 + h * (1 - (share - 0.4) / 0.6)

    parts = ['<text class="small" x="24" y="58">hard positions in which its move is right, %</text>']
    for share in (0.4, 0.6, 0.8, 1.0):
        y = at(0, share)[1]
        parts.append(f'<path d="M{x0:g} {y:.1f}h{w:g}" stroke="var(--line)"/>')
        parts.append(f'<text class="small" x="{x0 - 8:g}" y="{y + 4:.1f}" text-anchor="end">{100 * share:.0f}</text>')
    for count in (0, most // 2, most):
        x = at(count, 0.4)[0]
        parts.append(f'<text class="small" x="{x:.1f}" y="{y0 + h + 20:g}" text-anchor="middle">{count:,}</text>')
    parts.append(f'<text class="small" x="{x0 + w / 2:g}" y="{y0 + h + 40:g}" text-anchor="middle">games played</text>')
    for number, (name, label) in enumerate((("search", f"with {sims} simulations"), ("alone", "the network alone"))):
        path = "M" + " ".join(f"{x:.1f} {y:.1f}" for x, y in (at(*point) for point in curves[name]))
        paint = f'fill="none" stroke="var(--{name})" stroke-width="2.5" stroke-linejoin="round"'
        parts.append(f'<path class="curve" pathLength="1" stroke-dasharray="1" d="{path}" {paint}/>')
        y = y0 + h - 14 - 20 * number
        parts.append(f'<path d="M{x0 + w - 160:g} {y - 4:g}h18" stroke="var(--{name})" stroke-width="2.5"/>')
        parts.append(f'<text class="small" x="{x0 + w - 136:g}" y="{y:g}">{label}</text>')
    grown = 100 * LEARNING / LENGTH
    style.append(f"@keyframes curve{{0%{{stroke-dashoffset:1}}{grown:.1f}%,100%{{stroke-dashoffset:0}}}}")
    style.append(f".curve{{animation:curve {LENGTH:g}s linear infinite}}")
    return parts


def board(looks: list[Look], position: Solved, game: list[int], style: list[str]) -> list[str]:
    """Return the board: the position with what each version thinks of it, then the game."""
    w, h = CELL * COLUMNS, CELL * ROWS
    points = (centre(r, c) for r in range(ROWS) for c in range(COLUMNS))
    holes = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="16"/>' for x, y in points)
    parts = [f'<rect x="{LEFT:g}" y="{TOP:g}" width="{w:g}" height="{h:g}" rx="9" fill="#4470a5"/>']
    parts.append(f'<g fill="var(--hole)">{holes}</g>')
    parts += first_part(looks, position, style)
    parts += second_part(game, style)
    return parts


def first_part(looks: list[Look], position: Solved, style: list[str]) -> list[str]:
    step = LEARNING / len(looks)
    shown(style, "first", 0.0, LEARNING)
    title = f'<text class="small" x="{LEFT:g}" y="20">what the network would play in one position</text>'
    parts = ['<g class="first">', title, "".join(disc(r, c, side) for r, c, side in discs(position.state))]
    (move,) = position.keeping
    for column in range(COLUMNS):
        colour = "#2ba36b" if column == move else "var(--soft)"
        x = LEFT + CELL * column + 9
        frames = []
        for i, look in enumerate(looks):
            a, b = 100 * step * i / LENGTH, 100 * (step * (i + 1) - 0.35) / LENGTH
            tall = max(look.priors[column], 0.01)
            frames.append(f"{a + (0.01 if i else 0):.2f}%,{b:.2f}%{{transform:scaleY({tall:.3f})}}")
        style.append(f"@keyframes bar{column}{{{''.join(frames)}}}")
        style.append(f".bar{column}{{animation:bar{column} {LENGTH:g}s ease-in-out infinite}}")
        place = f'x="{x:g}" y="{TOP - 66:g}" width="24" height="60" rx="3"'
        parts.append(f'<rect class="grows bar{column}" {place} fill="{colour}"/>')
    for i, look in enumerate(looks):
        shown(style, f"look{i}", step * i, step * (i + 1))
        when = f"after {look.games:,} games" if look.games else "untrained"
        parts.append(caption(f"look{i}", f"{when}: {100 * look.priors[move]:.0f} % on the only right move"))
    return [*parts, "</g>"]


def second_part(game: list[int], style: list[str]) -> list[str]:
    """Return the discs of the game, which fall one after the other."""
    shown(style, "second", LEARNING, LENGTH, last=True)
    title = f'<text class="small" x="{LEFT:g}" y="58">then it plays yellow, against random rollouts</text>'
    parts = ['<g class="second">', title, caption("", f"{SIMS} simulations a move against {ROLLOUTS:,} rollouts")]
    pace = (LENGTH - LEARNING - 3.0) / len(game)
    state = GAME.start()
    before = set()
    for number, action in enumerate(game):
        state = state.takeAction(action)[0]
        (r, c, side), = set(discs(state)) - before
        before.add((r, c, side))
        begin = LEARNING + 0.5 + pace * number
        a, b = 100 * begin / LENGTH, 100 * (begin + 0.3) / LENGTH
        fall = CELL * (r + 1.2)
        style.append(
            f"@keyframes d{number}{{0%,{a:.2f}%{{transform:translateY(-{fall:.0f}px);opacity:0}}"
            f"{a + 0.01:.2f}%{{transform:translateY(-{fall:.0f}px);opacity:1}}"
            f"{b:.2f}%,100%{{transform:none;opacity:1}}}}"
            f".d{number}{{animation:d{number} {LENGTH:g}s ease-in infinite}}"
        )
        parts.append(disc(r, c, side, f' class="d{number}"'))
    return [*parts, winning_line(state, style), "</g>"]


def winning_line(state: GameState, style: list[str]) -> str:
    """Return rings around the discs that won, shown in the last seconds."""
    from plugins.pictures.board_svg import grid_of, winning_points

    grid = grid_of(state)
    if grid is None:
        raise SystemExit("expected a board of discs")
    shown(style, "won", LENGTH - 2.3, LENGTH, last=True)
    rings = (centre(*divmod(point, COLUMNS)) for point in winning_points(GAME, grid))
    found = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="17"/>' for x, y in rings)
    return f'<g class="won" fill="none" stroke="#14c38e" stroke-width="4">{found}</g>'


def shown(style: list[str], name: str, begin: float, end: float, *, last: bool = False) -> None:
    """Add the rule that shows a class from one second to another; `last`: also where nothing moves."""
    a, b = 100 * begin / LENGTH, 100 * end / LENGTH
    before = f"0%,{a - 0.01:.2f}%{{opacity:0}}" if a > 0.01 else ""
    after = f"{b + 0.01:.2f}%,100%{{opacity:0}}" if b < 99.9 else ""
    style.append(f"@keyframes {name}{{{before}{max(a, 0):.2f}%,{b:.2f}%{{opacity:1}}{after}}}")
    style.append(f".{name}{{animation:{name} {LENGTH:g}s infinite;opacity:{int(last)}}}")


def caption(name: str, text: str) -> str:
    x = LEFT + CELL * COLUMNS / 2
    return f'<text class="{name}" x="{x:g}" y="{TOP + CELL * ROWS + 26:g}" text-anchor="middle">{text}</text>'


def centre(row: int, column: int) -> tuple[float, float]:
    return LEFT + CELL * (column + 0.5), TOP + CELL * (row + 0.5)


def disc(row: int, column: int, side: int, more: str = "") -> str:
    (x, y), (fill, edge) = centre(row, column), {1: ("#d8404f", "#a82c3a"), -1: ("#f4c13d", "#c4922a")}[side]
    return f'<circle{more} cx="{x:g}" cy="{y:g}" r="16" fill="{fill}" stroke="{edge}"/>'


def discs(state: GameState) -> list[tuple[int, int, int]]:
    """Return (row from the top, column, 1 or -1) of each disc."""
    planes = state.planes()
    mine, theirs = (planes[:, :, i] for i in (0, 1))
    me = state.playerTurn
    return [
        (r, c, me if mine[r, c] else -me) for r in range(ROWS) for c in range(COLUMNS) if mine[r, c] or theirs[r, c]
    ]
