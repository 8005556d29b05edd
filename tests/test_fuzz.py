"""Anything at all as settings, files and names: refused in plain words or right, never another exception."""

import dataclasses
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import config as c
import games
from agent import Quit, Resigned, TakeBack, User
from config import Config, SettingsError, UserError, find_faults, from_json, to_json
from interface.commands.new_game import write_template
from storage.atomic_files import DamagedData, arrays_from_bytes, arrays_to_bytes
from storage.game_files import from_bytes, to_bytes
from storage.run_folders import find_run, game_folder, read_config
from storage.untrusted_npz import BadArrays, read_arrays
from support.game_samples import FORMS, played
from support.game_samples import GAMES as RECORDED
from support.systems import needs_posix

ANY = {"derandomize": True, "deadline": None, "database": None}

# ---- settings: 2,000 of them

JUNK = st.sampled_from(
    [None, True, False, float("nan"), float("inf"), -1, 0, 1, 0.5, 10**400, -(10**400), 2**63, "", "x" * 300, "1", [],
     {}, [[]], ["64x3"], ["64x3", "32x3"], {"a": 1}, "connect4", "sgd", "\ud800", "\0", 1e-320, -0.0, "tictactoe"]
)  # fmt: skip


def fitting(name):
    """Values around the range of a setting."""
    kind, limits = c.TYPES[name], c.FIELDS[name].metadata
    if kind in (int, float):
        near = [limits["low"], limits["high"], limits["low"] - 1, limits["high"] + 1, c.FIELDS[name].default]
        inside = st.integers if kind is int else st.floats
        return st.sampled_from(near) | inside(limits["low"], limits["high"])
    return st.sampled_from([c.FIELDS[name].default, *(v for v in c.typing.get_args(kind) if isinstance(v, str))])


NAMES = st.sampled_from([*c.FIELDS])
PAIRS = NAMES.flatmap(lambda name: st.tuples(st.just(name), fitting(name) | JUNK))
SETTINGS = st.lists(PAIRS | st.tuples(st.text(max_size=9), JUNK), max_size=6).map(dict)


def allowed(name, value):
    """Say whether a value fits a setting: the rule of `config`, written another way."""
    if name not in c.FIELDS:
        return False
    kind, limits = c.TYPES[name], c.FIELDS[name].metadata
    if name == "look_ahead" and isinstance(value, bool):
        return True  # on or off in older runs
    if kind is int:
        return type(value) is int and limits["low"] <= value <= limits["high"]
    if kind is float:
        return type(value) in (int, float) and limits["low"] <= value <= limits["high"]
    if kind is bool:
        return type(value) is bool
    if name == "hidden_cnn_layers":
        return value in (["64x3"], c.FIELDS[name].default, [*c.FIELDS[name].default])
    if name == "network" and value is None:
        return True
    if name in ("game", "network"):
        return isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable()
    return isinstance(value, str) and value in c.typing.get_args(kind)


@settings(max_examples=2000, **ANY)
@given(SETTINGS)
@example({"memory_size": 100, "min_memory": 5000})
def test_any_settings_are_valid_or_every_fault_is_told_at_once_with_name_value_and_range(values):
    wrong = [name for name, value in values.items() if not allowed(name, value)]
    window, least = (values.get(name, c.FIELDS[name].default) for name in ("memory_size", "min_memory"))
    crossed = not wrong and least > window
    try:
        found = from_json(json.dumps(values), "x.json")
    except SettingsError as error:
        lines = str(error).splitlines()
        assert wrong or crossed, lines
        assert len(lines) == (len(wrong) or 1) and all(line.startswith("x.json: ") for line in lines)
        for name in wrong:
            line = next(line for line in lines if f": {name}: expected" in line or f"setting {name!r}"[:50] in line)
            kind = c.TYPES.get(name)
            if kind in (int, float):
                assert f"from {c.FIELDS[name].metadata['low']:,} to {c.FIELDS[name].metadata['high']:,}, got " in line
            assert len(line) < 300
        assert error.exit_code == 2
    else:
        assert not wrong and not crossed
        assert find_faults(dataclasses.asdict(found)) == [] and from_json(to_json(found)) == found


@settings(max_examples=40, **ANY)
@given(st.lists(PAIRS, min_size=1, max_size=3).map(dict))
def test_any_settings_typed_at_the_command_line_are_valid_or_refused_with_code_2(values):
    from interface.arguments import parse
    from interface.commands.train import Train

    argv = []
    for name, value in values.items():
        many = value if isinstance(value, (list, tuple)) else [value]
        words = [f"1{'0' * 400}" if type(v) is int and abs(v) > 2**64 else str(v) for v in many]
        argv += ["--" + name.replace("_", "-"), *words]
    try:
        parsed = parse(Train, argv, Train(Config()))
    except UserError as error:
        assert error.exit_code == 2 and str(error).strip() and "Traceback" not in str(error)
    else:
        assert find_faults(dataclasses.asdict(parsed.config)) == []


# ---- files: 2,000 mutants, with those of tests/storage/test_game_exchange.py

WEIGHTS = [np.arange(36, dtype=np.float32).reshape(3, 3, 1, 4), np.ones(4, np.float32), np.array(7, np.int64)]
SHAPES = [w.shape for w in WEIGHTS]
MODEL = arrays_to_bytes(WEIGHTS)
CONFIG = to_json(Config()).encode()


@st.composite
def mutants(draw, original):
    """A file with a few bytes changed, cut out, put in, or two pieces swapped."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 3))):
        place, size = draw(st.integers(0, max(len(data) - 1, 0))), draw(st.sampled_from([1, 1, 2, 8, 100]))
        how = draw(st.sampled_from(["set", "flip", "cut", "insert", "swap", "end"]))
        if not data:
            break
        if how == "set":
            data[place : place + size] = draw(st.binary(min_size=size, max_size=size))
        elif how == "flip":
            data[place] ^= 1 << draw(st.integers(0, 7))
        elif how == "cut":
            del data[place : place + size]
        elif how == "insert":
            data[place:place] = draw(st.sampled_from([b"\0" * size, b"\xff" * size, b"[" * size, b"9" * size]))
        elif how == "swap":
            other = draw(st.integers(0, len(data) - 1))
            one, two = slice(place, place + size), slice(other, other + size)
            data[one], data[two] = data[two], data[one]
        else:
            del data[place:]
    return bytes(data)


@settings(max_examples=700, **ANY)
@given(mutants(MODEL))
def test_a_damaged_model_file_is_refused_or_has_arrays_of_the_right_form(data):
    try:
        found = arrays_from_bytes(data, SHAPES, "x.npz")
    except DamagedData as error:
        assert str(error).startswith("x.npz: ") and len(str(error)) < 300 and error.exit_code == 4
    else:
        assert [a.shape for a in found] == SHAPES and all(np.isfinite(a).all() for a in found)


@settings(max_examples=300, **ANY)
@given(mutants(CONFIG))
def test_damaged_settings_are_refused_or_valid(data):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_bytes(data)
        try:
            found = read_config(Path(folder))
        except UserError as error:
            assert error.exit_code == 2 and "config.json" in str(error)
        else:
            assert find_faults(dataclasses.asdict(found)) == []


SPECS = [(spec, form) for spec, form in FORMS if form in (".json", ".sgf", ".txt")]
FILES = {(spec, form): to_bytes(played(RECORDED[spec], 3), form) for spec, form in SPECS}


@settings(max_examples=400, **ANY)
@given(st.data())
def test_a_damaged_record_of_a_game_is_refused_or_a_legal_game(data):
    spec, form = data.draw(st.sampled_from(SPECS))
    try:
        found = from_bytes(data.draw(mutants(FILES[spec, form])), form, RECORDED[spec])
    except UserError as error:
        assert str(error).strip()
    else:
        state = found.game.start()
        for move in found.moves:
            assert move in state.allowedActions
            state = state.takeAction(move)[0]


# ---- the reader itself, against arrays of any form

KINDS = st.sampled_from(["<f4", "<f8", "<i8", ">f4", "<f2", "|u1", "<c8", "|S3", "<U2", "|b1"])


@settings(max_examples=150, **ANY)
@given(KINDS, st.lists(st.integers(0, 4), max_size=3), KINDS, st.lists(st.integers(0, 4), max_size=3), st.booleans())
def test_an_array_is_read_only_when_type_and_shape_are_those_agreed(kind, shape, wanted, expected, fortran):
    buffer, array = io.BytesIO(), np.zeros(shape, kind, order="F" if fortran else "C")
    np.savez(buffer, a=array)
    same = kind == wanted and shape == expected
    crooked = fortran and np.isfortran(array)
    if same and not crooked:
        found = read_arrays(buffer.getvalue(), {"a": (wanted, tuple(expected))})["a"]
        assert found.dtype == array.dtype and found.shape == array.shape
    elif not same:
        with pytest.raises(BadArrays):
            read_arrays(buffer.getvalue(), {"a": (wanted, tuple(expected))})


# ---- what is typed at the board

WORDS = st.sampled_from(
    ["1", "4", "7", "8", "0", "4 ", " 4", "\x004", "４", "4 4", "hint", "-1", "", "\x1b[A", "4\r", "zz"]
)
LINES = st.lists(WORDS | st.text(max_size=8) | st.sampled_from(["x" * 9_999 + "44", "x" * 10_000 + "4", "4" * 30_001]))


@settings(max_examples=300, **ANY)
@given(LINES, st.sampled_from(["", "1 1 1 1 1 1", "4 4 4 4 4 2 5 5"]))
def test_whatever_is_typed_the_first_legal_move_is_played_and_all_else_is_answered(lines, moves):
    game = games.make("connect4")
    state = game.start()
    for action in game.parse_moves(moves):
        state = state.takeAction(action)[0]
    lines = [line.replace("\n", "") for line in lines]
    shown = ["".join(c for c in line if c.isprintable()).strip().lower() for line in lines]
    legal = {str(action + 1): action for action in state.allowedActions}
    leave = {"undo", "u", "resign", "r", "quit", "q", "exit"}
    expected = next((word for word in shown if word in legal or word in leave), None)
    output = io.StringIO()
    user = User("person", game, input=io.StringIO("".join(line + "\n" for line in lines)), output=output)
    before = str(state)
    try:
        action = user.act(state, 1.0)[0]
    except (Quit, Resigned, TakeBack):
        assert expected is None or expected in leave
    else:
        assert action == legal[expected]
    assert str(state) == before
    asked = shown.index(expected) + 1 if expected is not None else len(shown) + 1
    assert output.getvalue().count("to move. Legal:") == asked


# ---- names

HOSTILE = ["..", "../x", "/etc/passwd", "a/b", "a\\b", "a\0b", "a\nb", "-rf", ".hidden", "", " ", "CON", "nul",
           "aux.txt", "a" * 300, "ａ", "name\n", "COM1", "\u202egnp", "a:b", "~root", "%2e%2e", "run0001/../../x",
           "*"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_becomes_no_path_outside(name, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    folder = game_folder(name)
    assert all(ch.isascii() and (ch.isalnum() or ch == "-") for ch in folder)
    assert (root / folder).resolve().parent == root.resolve() or not folder
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError):
        write_template(name, root)
    with pytest.raises(UserError):
        find_run(games.make(name).spec, root=root)
    assert sorted(tmp_path.rglob("*")) == before


@needs_posix
def test_a_planted_link_is_not_written_through(tmp_path):
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    (tmp_path / "mine.py").symlink_to(target)
    with pytest.raises(UserError):
        write_template("mine", tmp_path)
    assert target.read_text() == "precious"
