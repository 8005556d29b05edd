"""What the command `serve` refuses: one line, exit code 2, nothing begun."""

from support.command_line import output_of


def test_a_port_that_is_no_number_is_refused_in_one_line(place, capsys):
    code, out, err = output_of(capsys, "serve", "--port=80a")
    assert (code, out) == (2, "") and list(place.iterdir()) == []
    assert err == "error: port: expected a whole number, got '80a'\n"
