"""`--track`: each tracker's own reader reads what training wrote, also after a second start."""

import importlib.util
import re

import pytest

from support.command_line import TINY, output_of


def test_tensorboards_reader_reads_each_iteration_once(place, capsys):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for last in ("2", "3"):  # the second one resumes it
        code, _, err = output_of(
            capsys, *TINY, "--iterations", last, *(["--run", "1"] if last == "3" else []), "--track", "tensorboard"
        )
        assert (code, err) == (0, "")
        read = EventAccumulator(str(place / "tensorboard" / "tictactoe" / "run0001"))
        read.Reload()
        events = read.Scalars("self_play/games")
        assert [(e.step, e.value) for e in events] == [(i, 24.0) for i in range(1, int(last) + 1)]
    assert {"retrain/loss", "self_play/evals_per_s", "run/total_seconds"} <= set(read.Tags()["scalars"])


def test_mlflows_client_reads_each_iteration_once(place, capsys):
    mlflow = pytest.importorskip("mlflow")
    for last in ("2", "3"):
        code, _, err = output_of(
            capsys, *TINY, "--iterations", last, *(["--run", "1"] if last == "3" else []), "--track", "mlflow"
        )
        assert code == 0, err
        client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{place}/mlflow/mlflow.db")
        [run] = client.search_runs([client.get_experiment_by_name("tictactoe").experiment_id])
        found = client.get_metric_history(run.info.run_id, "self_play/games")
        assert [(m.step, m.value) for m in found] == [(i, 24.0) for i in range(1, int(last) + 1)]
        assert run.info.status == "FINISHED"


def test_weights_and_biases_keeps_a_run_on_the_disk(place, capsys):
    pytest.importorskip("wandb")
    code, _, err = output_of(capsys, *TINY, "--iterations", "2", "--track", "wandb")
    assert code == 0, err
    [file] = (place / "wandb" / "tictactoe" / "run0001").glob("wandb/offline-run-*/run-*.wandb")
    found = re.findall(rb"self_play/games\x82\x01.([0-9.]+)", file.read_bytes())  # field 16 of an item: its value
    assert len(found) >= 2 and {float(number) for number in found} == {24.0}


def test_without_the_package_the_message_says_what_to_install(place, capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "tensorboard" else find(name))
    code, out, err = output_of(capsys, *TINY, "--iterations", "1", "--track", "tensorboard")
    assert code == 2 and out == "" and err.endswith("`pip install tensorboard`\n") and err.count("\n") == 1
    assert not list(place.iterdir()), "said before a run is made"


def test_a_tracker_that_is_not_known_is_refused(place, capsys):
    code, out, err = output_of(capsys, *TINY, "--track", "aim")
    assert code == 2 and err.count("\n") == 1 and "tensorboard" in err and not list(place.iterdir())
