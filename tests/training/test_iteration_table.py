"""The line of an iteration at the console: it fits the terminal and says what metrics.jsonl says."""

import json
from pathlib import Path

import pytest

from training.iteration_table import COLUMNS, columns_for, heading, row, sentence

SHIPPED = Path(__file__).parents[2] / "run_archive"


def lines():
    """Return the lines of metrics.jsonl of all players that ship."""
    return [json.loads(line) for path in SHIPPED.glob("*/*/metrics.jsonl") for line in path.read_text().splitlines()]


@pytest.mark.parametrize("width", [20, 79, 99, 129, 200])
def test_rows_stand_under_their_heading_and_fit(width):
    title, found = heading(width), lines()
    assert len(found) > 100 and len(title) <= width
    fitting = [row(line, width) for line in found]
    assert max(map(len, fitting)) == len(title)


def test_at_80_columns_one_reads_what_counts():
    names = [column.name for column in columns_for(79)]
    assert {"iter", "loss", "kept", "searched", "Elo", "best", "time"} <= set(names)
    assert columns_for(200) == list(COLUMNS) and [c.name for c in columns_for(20)] == ["iter", "time"]


def test_a_row_has_the_numbers_of_its_line():
    line = {
        "iteration": 12, "version": 11, "best_version": 7, "seconds": 83.2, "self_play_games": 1024,
        "self_play_plies": 27.6, "self_play_evals_per_s": 51234.5, "self_play_share": 0.941, "self_play_memory": 49707,
        "retrain_steps": 300, "retrain_loss": 0.7614, "retrain_value_loss": 0.2791, "retrain_policy_loss": 1.2432,
        "score_kept_alone": 0.6921, "score_kept": 0.7971, "score_sims": 400, "score_elo": 812.4,
        "score_elo_error": 65.3,
    }  # fmt: skip
    assert row(line, 200).split() == [
        "12", "1,024", "28", "51,234", "49,707", "11", "0.761", "0.279", "1.243", "69.2%", "79.7%", "812", "±65", "7",
        "1:23",
    ]  # fmt: skip
    assert sentence(line) == (
        "iteration 12: 1024 games of 28 moves (51,234 evaluations/s, 94 % of raw); 49,707 positions; version 11: loss "
        "0.761 (value 0.279, policy 1.243); keeps the value in 69 % of positions, 80 % at 400 simulations; "
        "Elo 812 ±65 over rollout:16; best is version 7, 83 s"
    )
    waiting = {k: v for k, v in line.items() if not k.startswith(("retrain", "score"))} | {"retrain_waits_for": 60000}
    assert "49,707 positions of the 60,000 from which on it learns;" in sentence(waiting)
    assert row(waiting, 200).split() == ["12", "1,024", "28", "51,234", "49,707", "11", "7", "1:23"]
