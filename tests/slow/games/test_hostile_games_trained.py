"""Training with rules that break their contract ends with one line and stores nothing false."""

import pytest

from storage.run_folders import runs_of
from storage.run_store import Store
from support.command_line import SMALL, output_of
from support.own_games import compiled, plain


@pytest.mark.parametrize("make, fault", [(plain, "plies"), (plain, "cycle"), (compiled, "plies"), (compiled, "high")])
def test_training_ends_with_one_line_and_stores_nothing_false(make, fault, place, quick, unchecked, capsys):
    spec = make(fault)
    code, _, err = output_of(capsys, "train", "--new", *SMALL, "--game", spec)
    assert code == 2 and "Traceback" not in err and err.splitlines()[-1].startswith(f"error: {spec}: expected ")
    store = Store(runs_of(spec, place)[-1] / "run.db")
    try:
        assert list(store.checked("games")) == []
    finally:
        store.close()
