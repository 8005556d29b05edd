"""A game analysed by KaTrain's own engine class, without its window; see test_engine_clients.py.

    python katrain_game.py COMMAND     in an environment that has katrain; prints one JSON object
"""

import json
import os
import sys
import threading

os.environ |= {"KIVY_NO_ARGS": "1", "KIVY_NO_CONSOLELOG": "1", "KIVY_NO_FILELOG": "1", "KIVY_NO_CONFIG": "1"}

from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game import KaTrainSGF  # noqa: E402

GAME = "(;FF[4]GM[1]SZ[5]KM[2.5]RU[chinese];B[cc];W[cd];B[dd];W[dc];B[bd])"
said = []


class Window:
    """What the engine class expects of the program around it."""

    def log(self, message, level=0):
        said.append(str(message))

    def __call__(self, *message, **words):
        said.append(str(message))


def config(command):
    return {"backend": "custom", "altcommand": command, "max_visits": 40, "fast_visits": 10, "max_time": 600.0,
            "wide_root_noise": 0.04, "_enable_ownership": True, "allow_recovery": False}  # fmt: skip


def main():
    engine = KataGoEngine(Window(), config(sys.argv[1]))
    root = KaTrainSGF.parse_sgf(GAME)
    nodes = [root]
    while nodes[-1].children:
        nodes.append(nodes[-1].children[0])
    for node in nodes:
        node.analyze(engine)
    engine.wait_to_finish()
    last, on_the_way, done = nodes[-1], [], threading.Event()

    def heard(result, partial):
        on_the_way.append(partial)
        if not partial or len(on_the_way) > 3:
            done.set()

    last.analyze(engine, find_alternatives=True)
    engine.wait_to_finish()
    engine.request_analysis(last, heard, ponder=True, report_every=0.1)
    done.wait(600)
    engine.stop_pondering()
    engine.wait_to_finish()
    engine.shutdown(finish=None)
    print(json.dumps({
        "complete": [node.analysis_complete for node in nodes],
        "winrate": [node.winrate for node in nodes],
        "score": [node.score for node in nodes],
        "policy": [len(node.policy) for node in nodes],
        "ownership": [len(node.ownership) for node in nodes],
        "candidates": [[move["move"] for move in node.candidate_moves] for node in nodes],
        "lost": [node.points_lost for node in nodes[1:]],
        "on_the_way": on_the_way,
        "errors": [line for line in said if "error" in line.lower() or "exception" in line.lower()],
    }))  # fmt: skip
    os._exit(0)


if __name__ == "__main__":
    main()
