"""A game out of a collection in SGF that is larger than a file may be otherwise."""

import pytest

from config import UserError
from storage.game_files import LIMIT, load, load_game
from storage.sgf_collection import game_in

GAME = "(;FF[4]GM[1]SZ[5]KM[2.5]PB[number {0}]C[a \\\\ \\] (];B[aa](;W[bb];B[cc])(;W[dd]))\n"
MANY = LIMIT // len(GAME) + 100


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("collection") / "games.sgf"
    path.write_text("".join(GAME.format(number) for number in range(1, MANY + 1)))
    assert path.stat().st_size > LIMIT
    return path


def test_every_game_of_a_large_collection_is_found(file):
    for number in (1, 2, MANY // 2, MANY - 1, MANY):
        found = load_game(file, number)
        assert found.players[0] == f"number {number}" and len(found.moves) == 3
        assert found.notes[0] == f"the file holds several games: this is game {number}"
    assert load(file).players[0] == "number 1"
    with pytest.raises(UserError, match=f"expected a game from 1 to {MANY}, got {MANY + 1}"):
        load_game(file, MANY + 1)


def test_pieces_end_wherever_they_like(file):
    """With pieces of a few bytes games, values and what escapes a bracket lie across their ends."""
    data = file.read_bytes()[:2000]
    games = [line + b")" for line in data.split(b"))\n(")]
    for most in range(len(games[0]) + 2, len(games[0]) + 40):
        with (file.parent / "few.sgf").open("w+b") as small:
            small.write(data)
            for number in range(1, 11):
                small.seek(0)
                assert game_in(small, number, most) == GAME.format(number).strip().encode()


@pytest.mark.parametrize(
    "content, wrong",
    [
        (b"(;GM[1]SZ[5]C[%s])" % (b"x" * LIMIT), "game 1 is larger"),
        (b"(;GM[1]SZ[5];B[aa])(;GM[1]C[" + b"x" * 3 * LIMIT, "game 2 is larger"),
        (b"(" * 3 * LIMIT, "game 1 is larger"),
        (b"[" * 3 * LIMIT, "game 1 is larger"),
        (b"x" * 3 * LIMIT, "game 1 is larger"),
        (b"\\" * 3 * LIMIT, "game 1 is larger"),
        (b"(;GM[1]))" + b" " * LIMIT, "closes none after game 1"),
        (b"(;CA[GBK]GM[1])" * (LIMIT // 10), "in the encoding GBK"),
    ],
)
def test_hostile_files_are_refused_in_one_line(tmp_path, content, wrong):
    (tmp_path / "bad.sgf").write_bytes(content)
    with pytest.raises(UserError, match=wrong) as raised:
        load_game(tmp_path / "bad.sgf", 2 if b"B[aa]" in content or b"))" in content else 1)
    assert "\n" not in str(raised.value)
