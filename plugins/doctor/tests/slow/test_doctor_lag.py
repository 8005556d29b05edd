"""What the doctor says of learning while games are played."""

import dataclasses

from config import with_overrides
from plugins.doctor import history


def test_what_lag_could_save_is_told_and_is_no_fault(trained):
    """Thirty iterations of 20 s; the games of the last one end before its learning."""
    times = {"seconds": 20.0, "self_play_seconds": 12.0}
    lines = [{"iteration": i, **times, "retrain_seconds": 35.0 if i == 30 else 5.0} for i in range(1, 31)]
    run = dataclasses.replace(history.read_history(trained), lines=lines)
    told = history.lag(run)
    assert told.good and "games take 60 % of an iteration, learning 30 %" in told.measured
    assert "--lag 1 saves up to 26 %" in told.measured
    again = with_overrides(run.config, reanalyse_share=0.1)
    advice = history.lag(dataclasses.replace(run, config=again)).measured
    assert "--lag 1 --reanalyse-share 0 saves" in advice, "else the command is refused"
    lagging = history.lag(dataclasses.replace(run, config=with_overrides(run.config, lag=1)))
    assert lagging.good and "--lag 0 is as fast" in lagging.measured
    assert history.lag(dataclasses.replace(run, lines=[])).good
