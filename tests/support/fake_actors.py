"""Actors for tests of the cluster: they play the made-up games of support/fake_workers.py, on machines that may lie."""

import json
import os

from support.fake_workers import Workman
from training.cluster_actor import GameActor


class FakeActor(GameActor):
    """Its settings are those of a `Workman`, as JSON; the variable FACTS of its machine changes what that says."""

    def hello(self):
        return json.dumps(json.loads(super().hello()) | json.loads(os.environ.get("FACTS", "{}")))

    def _player(self, settings):
        return Workman(json.loads(settings["settings"]))
