"""A turn of the course's Go loads no Keras: it has seconds."""

import json

from support.without_keras import loaded

LITTLEGO = """
import json
from plugins.littlego.thinker import think
said = []
think(json.loads(sys.argv[1]), said.append)
assert [answer["by"].partition(":")[0] for answer in said if answer["final"]] == ["shipped"], said
"""


def test_a_turn_of_littlego_loads_no_keras(tmp_path):
    task = {"player_to_move": 1, "before": [0] * 25, "board": [0] * 25, "ply": 0, "end": 1e9, "player": "shipped",
            "sims": 8, "seed": 1}  # fmt: skip
    assert loaded(LITTLEGO, json.dumps(task), cwd=tmp_path)[1] == []
