"""An error in the rules of a game of one's own, met in training, is one line with its place."""

from support.command_line import SMALL, output_of


def test_an_error_in_the_rules_met_in_training_is_told_with_its_place(failing, place, quick, unchecked, capsys):
    failing(60)
    code, out, err = output_of(capsys, "train", "--new", *SMALL, "--game", "mine.py:Mine")
    assert code == 2 and "Traceback" not in err
    assert err.splitlines()[-1].startswith("error: mine.py, line ") and "ZeroDivisionError" in err
