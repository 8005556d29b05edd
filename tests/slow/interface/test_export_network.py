"""Networks as files for other programs; tests/slow/network/test_exports.py reads each format by its own runtime."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import games
from initialise import Session
from interface.cli import run
from network.choose_predictor import openvino_installed
from players.by_name import make_player
from support.tiny_runs import QUIET, tiny, trained_looking

pytestmark = pytest.mark.keras

HERE = Path(__file__).parents[3]
needs_openvino = pytest.mark.skipif(not openvino_installed(), reason="openvino is not made for every platform")
READ = """
import sys
import keras, numpy as np
model = keras.models.load_model(sys.argv[1])
value, logits = model(np.load(sys.argv[2]))
np.savez(sys.argv[3], value=value, logits=logits, names=[i.name for i in model.inputs])
"""


def test_the_file_answers_as_the_program_does_without_it(place, tmp_path, capsys):
    changes = {"normalisation": "batch", "ownership_weight": 1.0, "soft_policy_weight": 1.0}
    with Session.start(tiny(**changes), console=QUIET) as session:
        session.model.set_weights(trained_looking(session.model))
        with session.store.transaction("test"):
            session.save_version(1, 1, {})
    file, planes = tmp_path / "net.keras", tmp_path / "planes.npy"
    argv = ["export-network", str(file), "--game", "tictactoe", "--player", "current"]
    assert run(argv) == 0 and "run0001:version0001 of tictactoe" in capsys.readouterr().out
    assert [p.name for p in tmp_path.glob("*keras*")] == ["net.keras"], "nothing else is left"
    before = file.read_bytes()
    assert run(argv) == 2 and "exists; --overwrite replaces it" in capsys.readouterr().err
    assert file.read_bytes() == before and run([*argv, "--overwrite"]) == 0
    game = games.make("tictactoe")
    state = game.start()
    seen = [state.planes()]
    for action in (4, 0, 8):
        state = state.takeAction(action)[0]
        seen.append(state.planes())
    np.save(planes, np.stack(seen))
    subprocess.run([sys.executable, "-c", READ, file, planes, tmp_path / "out.npz"], cwd=tmp_path, check=True,
                   capture_output=True, timeout=900)  # fmt: skip
    answers = np.load(tmp_path / "out.npz")
    values, logits = make_player("current", game).predict(np.stack(seen))
    assert list(answers["names"]) == ["planes"] and answers["value"].shape == (4, 1)
    assert answers["value"][:, 0] == pytest.approx(values, abs=1e-4) and np.ptp(values) > 0.01
    assert answers["logits"] == pytest.approx(logits, abs=1e-4)


@needs_openvino
def test_the_ending_names_the_format_and_openvino_has_two_files(trained, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("storage.run_folders.RUNS", trained.parent.parent)
    monkeypatch.chdir(tmp_path)
    argv = ["--game", "tictactoe", "--player", "current"]
    assert run(["export-network", "net.onnx", *argv]) == 0
    assert capsys.readouterr().out.startswith("net.onnx: run0001:version0004 of tictactoe, ")
    assert run(["export-network", "net.xml", *argv, "--format", "openvino"]) == 0
    assert capsys.readouterr().out.startswith("net.xml and net.bin: run0001:version0004 of tictactoe, ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.bin", "net.onnx", "net.xml"]
    (tmp_path / "net.xml").unlink()
    arrays = (tmp_path / "net.bin").read_bytes()
    assert run(["export-network", "net.xml", *argv]) == 2
    assert "net.bin: exists; --overwrite replaces it" in capsys.readouterr().err
    assert not (tmp_path / "net.xml").exists() and (tmp_path / "net.bin").read_bytes() == arrays
    assert run(["export-network", "net.xml", *argv, "--overwrite"]) == 0


WITHOUT_KERAS = """
import sys
from interface.cli import run
code = run(["export-network", sys.argv[1], "--game", "tictactoe", "--player", "shipped"])
print(code, sorted({"keras", "tensorflow", "jax", "torch"} & set(sys.modules)))
"""


@needs_openvino
@pytest.mark.parametrize("ending", ["onnx", "xml"])
def test_onnx_and_openvino_files_are_made_without_keras(tmp_path, ending):
    argv = [sys.executable, "-c", WITHOUT_KERAS, tmp_path / f"net.{ending}"]
    found = subprocess.run(argv, cwd=HERE, capture_output=True, text=True, timeout=900)
    assert found.stdout.endswith("\n0 []\n"), found.stdout + found.stderr


@pytest.mark.parametrize(
    "argv, words",
    [
        (["net.h5"], "expected a file name that ends in .keras, .onnx, .xml or .tflite, got 'net.h5'"),
        (["net.keras", "--format", "onnx"], "expected a file name that ends in .onnx, got 'net.keras'"),
        (["net", "--format", "openvino"], "expected a file name that ends in .xml, got 'net'"),
        (["net.keras", "--format", "h5"], "format: expected one of keras, onnx, openvino, tflite, got 'h5'"),
        (["no/folder/net.keras"], "cannot be written"),
        (["net.keras", "--player", "rollout:5"], "expected a network such as best, shipped or run0002:version0007"),
        (["net.keras", "--player", "sym:best"], "expected a network such as best"),
        (["net.onnx", "--player", "net:best"], "expected a network such as best"),
        (["net.xml", "--player", "int8:best"], "expected a network such as best"),
        (["net.keras", "--player", "version0099"], "version"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(place, trained, monkeypatch, tmp_path, capsys, argv, words):
    monkeypatch.setattr("storage.run_folders.RUNS", trained.parent.parent)
    monkeypatch.chdir(tmp_path)
    assert run(["export-network", *argv, "--game", "tictactoe"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1 and words in err
    assert not list(tmp_path.glob("*net*"))
