"""Who wins a game of Hex after each first stone: known for 5x5 to 8x8, without the swap.

A table's lines are the board's rows from the top, its characters the columns from `a`, as `games/hex.py` draws them:
`W` where the first player, who joins the top to the bottom, wins after opening there, `L` where he loses. Sources:

- 5x5: `hex_proofs.py`; `python benchmarks/hex_openings.py --size 5 --prove 20000` repeats it;
- 6x6: J. van Rijswijck, "Computer Hex: are bees better than fruitflies?", University of Alberta 2000 (Queenbee);
- 7x7: R. Hayward, Y. Björnsson, M. Johanson, M. Kan, N. Po, J. van Rijswijck, "Solving 7x7 Hex: virtual connections and
  game-state reduction", Advances in Computer Games 10, 2003, 261-278; verified by Rasmussen et al. 2007;
- 8x8: P. Henderson, B. Arneson, R. Hayward, "Solving 8x8 Hex", IJCAI 2009, 505-510.
"""

from __future__ import annotations

import numpy as np

from config import UserError

TABLES = {
    5: ("LLLLW", "LWWWW", "LWWWL", "WWWWL", "WLLLL"),
    6: ("LLLLLW", "LWWWWW", "WWWWWW", "WWWWWW", "WWWWWL", "WLLLLL"),
    7: ("LLLLLLW", "LLWLWWW", "LWWWWWL", "WWWWWWW", "LWWWWWL", "WWWLWLL", "WLLLLLL"),
    8: ("LLLLLLLW", "LLLLLLWW", "LWWWWWWL", "LWWWWWWW", "WWWWWWWL", "LWWWWWWL", "WWLLLLLL", "WLLLLLLL"),
}
"""{size of the board: its rows}"""


def known_openings(size: int) -> np.ndarray:
    """Return [size * size] bool: whether the first player wins after opening at each point, by action.

    >>> int(known_openings(7).sum())
    27
    """
    if size not in TABLES:
        raise UserError(f"expected a size of Hex whose openings are known, {', '.join(map(str, TABLES))}, got {size}")
    return np.array([point == "W" for point in "".join(TABLES[size])])
