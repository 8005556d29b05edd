"""The ablation at equal core-minutes: its variants, its table, and that it continues where it was."""

import itertools

import pytest

from benchmarks import ablations
from config import UserError
from training import stage_bookkeeping
from training.presets import preset

SMALL = ["--game", "tictactoe", "--minutes", "0.02", "--seeds", "1", "--positions", "40", "--sims", "8", "--games", "8",
         "--only", "reanalysis of a tenth", "a network that grows for the last third", "--set", "episodes=24",
         "mcts_sims=12", "hidden_cnn_layers=16x3,16x3", "min_memory=50", "precision=float32"]  # fmt: skip


def test_each_variant_is_another_than_the_base_and_the_others():
    base = preset("laptop", game="connect4", **{**ablations.ALWAYS, "minutes": 30.0})
    found = [ablations.changed(base, variant, 1) for variant in ablations.VARIANTS.values()]
    assert all(one != other for one, other in itertools.combinations(found, 2))
    assert all(config.seed == 1 for config, _ in found)
    grown, first = found[-1]
    assert grown.minutes == 10 and first.minutes == 20 and grown.hidden_cnn_layers == base.hidden_cnn_layers
    assert len(first.hidden_cnn_layers) == len(base.hidden_cnn_layers) != 0
    assert all(first is None for _, first in found[:-1])


def test_the_table_has_elo_with_its_interval_and_shares_with_their_errors():
    same = {"steps": 10, "games": 2000}
    lines = [{"variant": "base", "seed": s, "kept": {"alone all": 80.0 + s}, "scores": [], **same} for s in (0, 1)]
    lines += [{"variant": "new", "seed": 0, "kept": {"alone all": 90.0}, "scores": [1, 0.5] * 20, **same}]
    lines += [{**lines[-1], "variant": "other", "seed": 0}]
    lines += [{**lines[-1], "seed": 1, "scores": [0, 0.5] * 20}]
    head, _, base, new, other = ablations.table(lines).splitlines()
    assert head == "| variant | seeds | Elo | alone all | steps | games |"
    assert base == "| base | 2 | 0 | 80.5 ± 0.5 | 10 | 2,000 |"
    assert new.startswith("| new | 1 | +191 [+") and new.endswith("| 90.0 | 10 | 2,000 |")
    assert "] (" not in new and "] (+191, -191) |" in other, "seeds differ by more than the games alone say"


def test_settings_are_typed_as_name_and_value():
    assert ablations.parsed("optimizer=sgd") == ("optimizer", "sgd")
    assert ablations.parsed("proofs=False") == ("proofs", False)
    assert ablations.parsed("hidden_cnn_layers=8x3,8x5") == ("hidden_cnn_layers", ("8x3", "8x5"))
    with pytest.raises(UserError, match="expected NAME=VALUE"):
        ablations.parsed("nonsense=1")


def test_runs_are_made_once_and_those_of_other_options_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ablations.processes, "keep_to", lambda numbers: None)
    monkeypatch.setattr(stage_bookkeeping, "time", stage_bookkeeping.time)
    arguments = [str(tmp_path / "out"), *SMALL]
    ablations.main(arguments)
    first = (tmp_path / "out" / "lines.jsonl").read_text()
    table = capsys.readouterr().out.splitlines()[-5:]
    assert [row.split(" | ")[0] for row in table[2:]] == ["| base", *(f"| {name}" for name in SMALL[13:15])]
    ablations.main(arguments)
    assert (tmp_path / "out" / "lines.jsonl").read_text() == first and len(first.splitlines()) == 3
    assert capsys.readouterr().out.splitlines()[-5:] == table
    with pytest.raises(UserError, match="name another folder"):
        ablations.main([*arguments, "cpuct=2"])
