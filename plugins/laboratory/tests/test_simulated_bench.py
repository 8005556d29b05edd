"""`bench --simulated-device`: without a network, in words and as JSON; what is wrong with it is one line."""

import json

import pytest

from network.device import Speed
from support.command_line import SMALL, output_of, refused_unchanged
from training import device_plan

FIGURES = {
    "plan", "threads", "games_in_flight", "calls_joined", "device_evals_per_s", "selfplay_evals_per_s", "share",
    "device_busy", "selfplay_sims_per_s", "games_per_s", "mean_call", "cores_busy", "core_us_per_eval",
    "core_us_per_sim", "by_cores",
}  # fmt: skip


def test_a_stand_in_is_measured_and_what_was_chosen_is_shown(capsys, monkeypatch):
    monkeypatch.setattr(device_plan, "WARM", 0.0)
    monkeypatch.setattr(device_plan, "MEASURED", 0.02)
    few = Speed((128, 512), (0.002, 0.005), (1e5, 1e5), (1e-5, 2e-5))
    monkeypatch.setattr(device_plan, "measure", lambda *_: few)
    command = "bench", *SMALL, "--simulated-device", "100000", "1", "8", "--seconds", "0.2"
    code, out, err = output_of(capsys, *command)
    assert (code, err) == (0, ""), err
    assert "simulated device, 100,000 evaluations/s, 1 ms, batches of 8" in out
    assert {line.split()[0] for line in out.splitlines()} >= FIGURES
    code, out, err = output_of(capsys, *command, "--simulated-devices", "2", "--json", "--games-on-gpu", "64")
    found = json.loads(out)
    assert code == 0 and found.keys() >= FIGURES and found["device_evals_per_s"] == 200_000
    assert found["games_in_flight"] == 64 and found["backend"].startswith("2 x simulated device")


@pytest.mark.parametrize("given, words", [
    (["0", "1", "1"], "expected RATE from 1 to 1,000,000,000 evaluations/s"),
    (["1000", "1", "0"], "BATCH from 1 to 65,536 positions, got 1000 1 0"),
    (["1000", "fast", "1"], "simulated_device: expected three numbers, got '1000 fast 1'"),
    (["1000", "1", "1.5"], "simulated_device: expected three numbers, got '1000 1 1.5'"),
    (["1000", "1"], "expected three numbers after --simulated-device"),
    (["1000", "1", "1", "--simulated-devices", "0"], "simulated_devices: expected a whole number from 1 to 64, got 0"),
])  # fmt: skip
def test_what_is_no_stand_in_is_one_line(tmp_path, monkeypatch, capsys, given, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused_unchanged(tmp_path, capsys, "bench", *SMALL, "--simulated-device", *given)
