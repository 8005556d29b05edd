"""An opening book made by a network."""

import io
import sys

from support.command_line import output_of


def test_a_networks_book_is_of_one_strength_and_its_player_gives_hints(trained_place, capsys, monkeypatch, tmp_path):
    path = tmp_path / "b.json"
    argv = ["book", "--game", "tictactoe", "--player", "best", "--plies", "1", "-o", str(path), "--sims"]
    code, out, _ = output_of(capsys, *argv, "8")
    assert code == 0 and out.endswith(", 8 simulations\n")
    made = path.read_bytes()
    code, _, err = output_of(capsys, *argv, "16")
    assert code == 2 and ", 8 simulations, expected those of" in err and path.read_bytes() == made
    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nquit\n"))
    code, out, _ = output_of(capsys, "play", "--game", "tictactoe", "--against", f"best+book:{path}", "--sims", "8")
    assert code == 0 and "principal variation" in out
