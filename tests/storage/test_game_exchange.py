"""Games exchanged by file: what the rules do not agree with is refused and named, what is there stays single."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import games
from config import UserError
from games.own import digest
from interface.commands.new_game import write_template
from storage.game_exchange import content_of, fault, games_from_bytes, games_to_bytes
from storage.game_record import GameRecord
from storage.untrusted_npz import BadArrays, read_arrays
from support.exchanged_games import ABOUT, equal, file, games_of, records_of, remade
from support.search_cases import GAMES
from support.systems import needs_posix


def agrees(game, record):
    """Say whether the rules agree with a game, by positions as objects and one rule after the other."""
    state = game.start()
    for move, visits in zip(record.moves, record.visits, strict=True):
        if state.isEndGame or int(move) not in state.allowedActions:
            return False
        if not set(np.flatnonzero(visits)) <= set(state.allowedActions) or visits.sum(dtype=int) > 65534:
            return False
        state = state.takeAction(int(move))[0]
    values = all(-1 <= v <= 1 for v in record.values)
    return bool(state.isEndGame and record.result == state.value * state.playerTurn and values)


# ---- the rules


@pytest.mark.parametrize("name", GAMES)
def test_games_that_were_played_are_right(name):
    for record in records_of(name):
        assert agrees(GAMES[name], record) and fault(GAMES[name], record) == ""


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_a_game_changed_anywhere_is_right_only_when_the_rules_still_agree(data):
    name = data.draw(st.sampled_from(list(GAMES)))
    game, record = GAMES[name], data.draw(st.sampled_from(records_of(name)))
    ply = data.draw(st.integers(0, len(record.moves) - 1))
    what = data.draw(st.sampled_from(["move", "result", "visits", "value", "shorter", "longer", "swap"]))
    moves, visits, values, result = record.moves.copy(), record.visits.copy(), record.values.copy(), record.result
    if what == "move":
        moves[ply] = data.draw(st.integers(-2, game.action_size + 1) | st.integers(-(2**15), 2**15 - 1))
    elif what == "result":
        result = data.draw(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0]))
    elif what == "visits":
        visits[ply, data.draw(st.integers(0, game.action_size - 1))] = data.draw(st.integers(0, 65535))
    elif what == "value":
        values[ply] = data.draw(st.floats(-3, 3, width=32))
    elif what == "swap":
        other = data.draw(st.integers(0, len(moves) - 1))
        moves[[ply, other]] = moves[[other, ply]]
    elif what == "shorter":
        moves, visits, values = moves[:ply], visits[:ply], values[:ply]
    else:
        moves, visits, values = (np.concatenate([a, a[:1]]) for a in (moves, visits, values))
    changed = GameRecord(record.index, moves, visits, values, result)
    wrong = fault(game, changed)
    assert (wrong == "") == (len(moves) > 0 and agrees(game, changed)), wrong
    assert len(wrong) < 100 and wrong.isprintable()


def test_what_is_wrong_with_a_game_is_named():
    game, record = GAMES["tictactoe"], next(r for r in records_of("tictactoe") if r.result == 1 and r.visits[0].any())
    places = record.moves.copy()
    places[2] = places[0]
    beyond = record.visits.copy()
    beyond[1, record.moves[0]] = 1
    assert fault(game, record._replace(moves=places)) == "move 3 is illegal"
    assert fault(game, record._replace(visits=beyond)) == "move 2 has visits of illegal moves"
    twice = np.repeat(record.visits, 2, axis=1)
    assert fault(game, record._replace(visits=twice)) == "has visits of 18 moves, expected 9"
    assert fault(game, record._replace(values=record.values[:2])).startswith("has 2 values, expected ")
    assert fault(game, record._replace(result=0.0)) == "has the result 0, by the rules 1"
    for count, wrong in ((65534, ""), (65535, "move 1 has no fitting visits")):  # memory's mark of an illegal move
        many = record.visits.copy()
        many[0] = 0
        many[0, record.moves[0]] = count
        assert fault(game, record._replace(visits=many)) == wrong
    cut = GameRecord(0, record.moves[:-1], record.visits[:-1], record.values[:-1], 1.0)
    assert fault(game, cut) == "is not over after its last move"
    assert "between -1 and 1" in fault(game, record._replace(values=record.values + np.float32(2)))
    assert "has no fitting visits" in fault(
        game, record._replace(visits=record.visits * 0 + (record.visits > 0) * 60000)
    )


# ---- the file


def test_games_come_back_from_a_file_as_they_were():
    about, split = games_from_bytes(file(), GAMES["tictactoe"])
    found = list(split)
    assert about == ABOUT and len(found) == 12 and all(map(equal, found, records_of("tictactoe")))
    assert len({content_of(r) for r in found}) == len({r.moves.tobytes() + r.visits.tobytes() for r in found})


def test_only_what_is_known_of_a_file_is_passed_on():
    known, _ = games_from_bytes(remade({"about": about(left_out=["games"], notes="<b>")}), GAMES["tictactoe"])
    assert known == ABOUT


def head(**changes):
    with np.load(io.BytesIO(file())) as loaded:
        numbers = dict(zip(("form", "count", "plies", "searches"), loaded["head"].tolist(), strict=True))
    return np.array([*{**numbers, **changes}.values()], np.int64)


def about(**changes):
    return np.frombuffer(json.dumps({**ABOUT, **changes}).encode().ljust(2048), np.uint8)


def with_two_of_a_name():
    buffer = io.BytesIO(file())
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning):
        archive.writestr("head.npy", b"")
    return buffer.getvalue()


def lengths():
    return np.array([len(r.moves) for r in records_of("tictactoe")], np.int32)


def moves():
    return np.concatenate([r.moves for r in records_of("tictactoe")])


WRONG = {
    "empty": lambda: b"",
    "text": lambda: b"hello",
    "SQLite": lambda: b"SQLite format 3\0" + bytes(4000),
    "cut": lambda: file()[:-100],
    "compressed": lambda: remade({}, compress=True),
    "a bomb": lambda: remade({"moves": np.zeros(200_000_000, np.int16)}, compress=True),
    "more members": lambda: remade({"more": np.zeros(3)}),
    "a member twice": with_two_of_a_name,
    "fewer members": lambda: remade({"visits": None}),
    "objects": lambda: remade({"result": np.array([{}] * 12)}),
    "another type": lambda: remade({"moves": moves().astype(np.int32)}),
    "another order": lambda: remade({"moves": moves().astype(">i2")}),
    "another shape": lambda: remade({"moves": moves()[:-1]}),
    "another format": lambda: remade({"head": head(form=2)}),
    "no games": lambda: remade({"head": head(count=0)}),
    "games without number": lambda: remade({"head": head(count=2**62)}),
    "moves without number": lambda: remade({"head": head(plies=2**62, count=2**62)}),
    "a negative number": lambda: remade({"head": head(searches=-1)}),
    "NaN": lambda: remade({"values": np.full(len(moves()), np.nan, np.float32)}),
    "lengths of another sum": lambda: remade({"length": lengths() + 1}),
    "a negative length": lambda: remade({"length": lengths() + np.array([-99, 99] + [0] * 10, np.int32)}),
    "no length": lambda: remade({"length": np.zeros(12, np.int32)}),
    "searches of another sum": lambda: remade({"full": np.ones(len(moves()), np.uint8)}),
    "another game": lambda: remade({"about": about(game="connect4")}),
    "other rules": lambda: remade({"about": about(rules="0" * 64)}),
    "no text": lambda: remade({"about": np.full(2048, 255, np.uint8)}),
    "deep text": lambda: remade({"about": np.frombuffer(b"[" * 2048, np.uint8)}),
    "numbers for names": lambda: remade({"about": about(game=3)}),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_is_no_file_of_games_is_refused_in_a_line(kind):
    with pytest.raises(UserError) as raised:
        games_from_bytes(WRONG[kind](), GAMES["tictactoe"])
    line = str(raised.value)
    assert "no file of games" in line and len(line) < 300 and line.isprintable()


@needs_posix
def test_a_header_that_promises_gigabytes_is_refused_before_they_are_asked_for(tmp_path):
    import resource

    promised = io.BytesIO()
    np.lib.format.write_array_header_1_0(promised, {"descr": "<f4", "fortran_order": False, "shape": (1 << 38,)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.npy", promised.getvalue())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for shape in ((1 << 38,), (4,)):
        with pytest.raises(BadArrays, match="expected (numbers of shape|1099511627776 bytes)"):
            read_arrays(buffer.getvalue(), {"a": ("<f4", shape)})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


# ---- into a run


@pytest.mark.parametrize("kind", ["one byte", "a cut", "two pieces swapped"])
@settings(max_examples=250, deadline=None, derandomize=True, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(st.data())
def test_a_damaged_file_is_refused_or_gives_games_that_are_checked(kind, data):
    place = data.draw(st.integers(0, len(file()) - 1))
    if kind == "one byte":
        changed = file()[:place] + bytes([data.draw(st.integers(0, 255))]) + file()[place + 1 :]
    elif kind == "a cut":
        changed = file()[:place] + file()[place + data.draw(st.integers(1, 300)) :]
    else:
        size = data.draw(st.integers(1, 200))
        other = data.draw(st.integers(0, len(file()) - size))
        changed = bytearray(file())
        changed[place : place + size], changed[other : other + size] = (
            file()[other : other + size],
            file()[place : place + size],
        )
        changed = bytes(changed)
    try:
        _, found = games_from_bytes(changed, GAMES["tictactoe"])
    except UserError:
        return
    for record, original in zip(found, records_of("tictactoe"), strict=False):
        if not equal(record, original):
            assert (fault(GAMES["tictactoe"], record) == "") == agrees(GAMES["tictactoe"], record)


def test_games_of_ones_own_game_are_known_by_its_rules_wherever_its_file_lies(tmp_path):
    made = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        path, kind = write_template("mine", tmp_path / place)
        made.append(games.make(f"{path}:{kind}"))
    record = games_of(made[0], 1)
    data = games_to_bytes(made[0], {**ABOUT, "game": made[0].spec, "rules": digest(made[0])}, [(1, record[0])])
    assert equal(next(games_from_bytes(data, made[1])[1]), record[0]) and made[0].spec != made[1].spec
    path.write_text(path.read_text() + "# changed\n")
    with pytest.raises(UserError, match="expected games of"):
        games_from_bytes(data, games.make(f"{path}:{kind}"))
