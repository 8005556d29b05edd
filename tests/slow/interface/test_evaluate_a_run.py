"""The command evaluate of a trained run's network, and the curves of runs."""

import json

import pytest
from matplotlib.figure import Figure

from support.command_line import output_of, refused_unchanged

EXACT = ["--game", "tictactoe", "--ladder-games", "0", "--positions", "60"]


def test_a_network_is_told_alone_and_at_each_number_of_simulations(trained_place, capsys):
    code, out, err = output_of(capsys, "evaluate", *EXACT, "--sims", "10", "3", "--json")
    found = json.loads(out)
    exact = found["exact"]
    assert (code, err) == (0, "") and out.count("\n") == 1
    assert found["player"].startswith("run0001:version") and found["ladder"] is None
    assert [p["simulations"] for p in exact["players"]] == [0, 3, 10] and exact["positions"] == 60
    for p in exact["players"]:
        assert p["kept"]["low"] < p["kept"]["share"] < p["kept"]["high"] and p["best"] is None
        for groups in (p["stages"], p["difficulties"]):
            assert sum(g["positions"] for g in groups) == 60
            hits = sum(round(g["share"] * g["positions"]) for g in groups if g["positions"])
            assert hits == round(60 * p["kept"]["share"])
    assert exact["value"]["mean_absolute_error"] > 0 and exact["solver"] == "alpha-beta" and not exact["whole"]

    code, text, _ = output_of(capsys, "evaluate", *EXACT, "--sims", "10", "3")
    assert code == 0 and "network alone" in text and "10 simulations" in text and "a random move" in text
    assert f"{100 * exact['players'][0]['kept']['share']:.1f} ±" in text and "Ladder" not in text


@pytest.mark.parametrize("ending, magic", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_curves_are_written_in_the_form_that_the_name_says(trained_place, tmp_path, capsys, ending, magic):
    path = tmp_path / f"picture.{ending}"
    code, out, err = output_of(capsys, "curves", "--game", "tictactoe", "-o", str(path))
    assert (code, err) == (0, "") and out == f"tictactoe/run0001: {path}\n" and path.read_bytes().startswith(magic)
    words = ["curves", "--game", "tictactoe", "-o", str(path)]
    assert output_of(capsys, *words)[0] == 0, "it takes the place of curves that were drawn before"
    Figure().savefig(path)  # by the same library
    mine = path.read_bytes()
    code, _, err = output_of(capsys, *words)
    assert code == 2 and "exists; --overwrite replaces it" in err and path.read_bytes() == mine
    assert output_of(capsys, *words, "--overwrite")[0] == 0 and path.read_bytes().startswith(magic)


def test_curves_that_cannot_be_drawn_are_refused(trained_place, tmp_path, capsys):
    for words, message in (
        (["-o", "picture.txt"], "output: expected a file that ends in .png"),
        (["-o", str(tmp_path / "none" / "x.png")], "x.png: cannot be written (No such file"),
        (["--run", "7"], "expected run0007"),
        (["--x", "days"], "days"),
    ):
        assert message in refused_unchanged(trained_place, capsys, "curves", "--game", "tictactoe", *words)
    for text in ("{}", "[1]", '{"iteration": "1"}', "[" * 100_000):
        (trained_place / "tictactoe" / "run0001" / "metrics.jsonl").write_text(f"{text}\n")
        err = refused_unchanged(trained_place, capsys, "curves", "--game", "tictactoe", code=4)
        assert "metrics.jsonl: " in err and "expected" in err
