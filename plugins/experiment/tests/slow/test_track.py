"""`--track`: TensorBoard's own reader reads what training wrote, also after a second start."""

import importlib.util

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


def test_without_the_package_the_message_says_what_to_install(place, capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "tensorboard" else find(name))
    code, out, err = output_of(capsys, *TINY, "--iterations", "1", "--track", "tensorboard")
    assert code == 2 and out == "" and err.endswith("`pip install tensorboard`\n") and err.count("\n") == 1
    assert not list(place.iterdir()), "said before a run is made"


def test_a_tracker_that_is_not_known_is_refused(place, capsys):
    code, out, err = output_of(capsys, *TINY, "--track", "wandb")
    assert code == 2 and err.count("\n") == 1 and "tensorboard" in err and not list(place.iterdir())
