"""Actors for tests of the cluster: they play the made-up games of support/fake_workers.py, on machines that may lie."""

import json
import os

from plugins.cluster.actor import GameActor
from support.fake_workers import Workman


class FakeActor(GameActor):
    """Its settings are those of a `Workman`, as JSON. facts: what its machine says of itself in place of the truth."""

    def __init__(self, facts=None):
        super().__init__()
        self._facts = json.loads(os.environ.get("FACTS", "{}")) if facts is None else facts

    def hello(self):
        return json.dumps(json.loads(super().hello()) | self._facts)

    def _player(self, settings):
        return Workman(json.loads(settings["settings"]))
