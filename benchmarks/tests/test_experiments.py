"""The experiments that this project makes: each file is a plan, whose variants are all different and do run."""

import itertools
from pathlib import Path

import pytest

from plugins.experiment.plan import from_file

FOLDER = Path(__file__).parents[1] / "experiments"
FILES = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_variant_is_another_than_the_base_and_the_others(path):
    plan = from_file(path)
    found = [
        [plan.config(variant, 0)] + [plan.changes(variant, 0, part) for part in range(variant.parts)]
        for variant in plan.variants
    ]
    same = any(one == other for one, other in itertools.combinations(found, 2))
    assert same == (path.stem == "same"), "only the A/A compares what is alike"
    assert f"python main.py experiment benchmarks/experiments/{path.name}" in path.read_text()
    assert f"experiments/{path.name}" in (FOLDER.parent / "README.md").read_text()


def test_the_growing_network_has_a_small_one_for_two_thirds():
    plan = from_file(FOLDER / "core_minutes.toml")
    [grown] = [variant for variant in plan.variants if variant.first]
    before, after = (plan.changes(grown, 0, part) for part in (0, 1))
    assert before["hidden_cnn_layers"] == ["16x3"] * 6 and after["hidden_cnn_layers"] == ["32x3"] * 6
    assert before["minutes"] == pytest.approx(4, abs=0.01) and before["minutes"] + after["minutes"] == plan.minutes
