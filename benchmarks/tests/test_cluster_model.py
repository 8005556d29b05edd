"""benchmarks/cluster.md has what `benchmarks/cluster.py model` prints, from the rates of the player that ships."""

import runpy
from pathlib import Path

HERE = Path(__file__).parents[2]


def test_the_guide_has_what_the_model_prints(capsys):
    script = runpy.run_path(str(HERE / "benchmarks" / "cluster.py"))
    script["model"](script["arguments"]().parse_args(["model"]))
    guide = " ".join((HERE / "benchmarks" / "cluster.md").read_text(encoding="utf-8").split())
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert len(lines) == 9 and [line for line in lines if line not in guide] == []


def test_another_learner_feeds_more_machines(capsys):
    script = runpy.run_path(str(HERE / "benchmarks" / "cluster.py"))
    script["model"](script["arguments"]().parse_args(["model", "--learner", "126000"]))
    assert "busy all the time from 20.1 machines on" in capsys.readouterr().out, "the guide says 20"
