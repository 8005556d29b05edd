"""run.ipynb runs from the core alone: where no plugin draws, it shows the same as text."""

import os
from pathlib import Path

import pytest

from support.tiny_runs import IN_NUMPY

HERE = Path(__file__).parents[3]
OF_KERAS = "layers", "weights"
"""Cells that show Keras' own layers, with plugins or without."""
WITHOUT_PLUGINS = "import system.plugins\nsystem.plugins.plugins = dict"
SMALL = {
    "episodes": 12,
    "games_in_flight": 6,
    "mcts_sims": 16,
    "fast_sims": 8,
    "min_memory": 10,
    "batch_size": 16,
    "hidden_cnn_layers": ["8x3", "8x3"],
    "value_units": 8,
    "training_loops": 2,
    "eval_every": 1,
    "eval_episodes": 4,
    "eval_sims": 8,
    "cache_size": 1024,
}


def test_the_notebook_runs_from_the_core_alone_with_plain_views(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    import nbformat  # loads slowly, and all test files are loaded by each process

    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    nb = nbformat.read(HERE / "run.ipynb", as_version=4)
    changes = f"ITERATIONS = 2\nCONNECT4 = {{'iterations': 1}}\nROOT = {str(tmp_path)!r}\nOVERRIDES = {SMALL!r}"
    nb.cells = [cell for cell in nb.cells if cell.id not in OF_KERAS]
    place = next(i for i, cell in enumerate(nb.cells) if cell.id == "more")
    nb.cells[place + 1 : place + 1] = [nbformat.v4.new_code_cell(source) for source in (changes, WITHOUT_PLUGINS)]
    place_of_files = {"metadata": {"path": str(HERE)}}
    client = nbclient.NotebookClient(nb, timeout=600, kernel_name="python3", resources=place_of_files)
    client.execute(env={**os.environ, "PYTHONPATH": IN_NUMPY})
    shown = {cell.id: cell.outputs for cell in nb.cells if cell.cell_type == "code"}
    assert not any("svg" in kind for outputs in shown.values() for output in outputs for kind in output.get("data", {}))
    plain = {cell: shown[cell][-1].data["text/plain"] for cell in ("loop", "network", "versions", "tree", "move")}
    assert "self-play" in plain["loop"] and "policy of 9 moves" in plain["network"]
    assert "version 2: value" in plain["versions"] and "simulations" in plain["tree"]
    assert "<pre>" in shown["move"][-1].data["text/html"], "the board as text"
