"""Asked to end, the page gives the trainings that it started a few seconds, all of them together."""

import signal
import subprocess
from types import SimpleNamespace

from plugins.page import training_process


def test_the_page_gives_all_its_runs_together_so_much_time(monkeypatch):
    clock, killed = SimpleNamespace(now=0.0), []

    class Stubborn:
        pid = returncode = None

        def poll(self):
            return None

        def send_signal(self, number):
            assert number == signal.SIGTERM and clock.now == 0.0

        def wait(self, timeout=0.0):
            clock.now += timeout
            if self not in killed:
                raise subprocess.TimeoutExpired("x", timeout)

        def kill(self):
            killed.append(self)

    monkeypatch.setattr(training_process, "time", SimpleNamespace(monotonic=lambda: clock.now))
    trainer, said = training_process.Trainer(), SimpleNamespace(close=lambda: None)
    trainer._at_work = {str(number): (Stubborn(), said) for number in range(3)}
    trainer.stop_all()
    assert len(killed) == 3 and clock.now == training_process.PATIENCE < 7
