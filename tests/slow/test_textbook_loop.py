"""The textbook's loop learns, and says how it fares."""

import textbook


def test_the_loop_learns_and_says_how_it_fares(capsys):
    lost = textbook.main(iterations=2, episodes=3, sims=4)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9 and [line.split(":")[0] for line in lines[3:5]] == ["iteration 1", "iteration 2"]
    told = [int(line.split()[-2]) for line in lines if line.startswith("  moves ")]
    assert lost == sum(told[2:]) and lines[-1] == ("it can be beaten" if lost else "it never loses")
