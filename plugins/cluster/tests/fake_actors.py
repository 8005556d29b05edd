"""Actors for tests of the cluster: they play the made-up games of support/fake_workers.py, on machines that may lie."""

import json
import os

from plugins.cluster.actor import GameActor
from support.fake_workers import Workman


class FakeActor(GameActor):
    """Its settings are those of a `Workman`, as JSON. facts: what its machine says of itself in place of the truth;
    `hello` and `listen` among them are what those methods return.
    """

    def __init__(self, facts=None):
        super().__init__()
        self._facts = json.loads(os.environ.get("FACTS", "{}")) if facts is None else facts

    def hello(self):
        if "hello" in self._facts:
            return self._facts["hello"]
        facts = {name: fact for name, fact in self._facts.items() if name != "listen"}
        return json.dumps(json.loads(super().hello()) | facts)

    def listen(self):
        found = super().listen()
        return self._facts.get("listen", found)

    def _player(self, settings):
        return Workman(json.loads(settings["settings"]))
