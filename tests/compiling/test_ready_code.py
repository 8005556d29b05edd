"""Code that ships: a function that is made from it is the same function; where none fits it is compiled."""

import gzip
import re
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from compiled import call, compiled, inlined, rule, types
from compiling import cache_folder, ready_code
from compiling.numba_import import llvmlite, numba
from compiling.progress import Watch
from compiling.records import record
from compiling.write_ready_code import packed, writing
from support.numba_events import events

NUMBER = types.int64(types.int64)
LARGE = (
    "select_child",
    "enter_child",
    "run_to_leaves",
    "finish_simulation",
    "expand_and_backup",
    "select",
    "make_child",
    "new_node",
    "end_move",
)
"""Functions of the search that take longest to compile."""


def twice(x):
    return 2 * x


@inlined
def squared(x):
    return x * x


@compiled
def sum_of_squares(numbers, count):
    found = np.int64(0)
    for i in range(count):
        found += squared(numbers[i])
    return found


@record
class Values(NamedTuple):
    numbers: np.ndarray
    out: np.ndarray
    more: int


def sum_and_last(values, count):
    """Return two numbers, and write into an array of the record."""
    values.out[0] = values.numbers[count - 1]
    return sum_of_squares(values.numbers, count) + values.more, values.out[0]


def fresh(function):
    """Return the Python function once more, so that what was compiled of it is not known."""
    of = function
    return FunctionType(of.__code__, of.__globals__, of.__name__, of.__defaults__, of.__closure__)


@pytest.fixture
def ships(tmp_path, monkeypatch):
    """Return the folder of code that ships, empty, and a folder of its own for machine code."""
    folder = tmp_path / "ready"
    folder.mkdir()
    monkeypatch.setattr(ready_code, "FOLDER", folder)
    monkeypatch.setattr(cache_folder, "FOLDER", tmp_path / "kept")
    return folder


@pytest.fixture
def new_place(tmp_path, monkeypatch):
    """Return what makes another empty folder for machine code."""
    numbers = iter(range(100))
    return lambda: monkeypatch.setattr(cache_folder, "FOLDER", tmp_path / f"kept{next(numbers)}")


@pytest.fixture
def shipped_rule(ships, new_place):
    """Ship the code of `twice` as a rule; return its file."""
    with writing() as written:
        assert rule(NUMBER)(fresh(twice)).ctypes(4) == 8
    assert written == set(ships.iterdir())
    new_place()
    return next(iter(written))


def counted(work):
    """Return (what it returns, how many functions were compiled meanwhile, how many were read)."""
    with events("numba:compile", ready_code.READING) as begun:
        result = work()
    return result, begun.count("numba:compile"), begun.count(ready_code.READING)


def called():
    """Call `rule(twice)`, made once more."""
    return rule(NUMBER)(fresh(twice)).ctypes(4)


def test_a_function_is_read_in_place_of_compiled_and_kept(ships, new_place):
    numbers, out = np.arange(5), np.zeros(1, np.int64)
    values = Values(numbers, out, 7)

    def work():
        return call(compiled(fresh(sum_and_last)), values, np.int64(4))

    with writing():
        assert work() == (14 + 7, 3)
    (path,) = ships.iterdir()
    assert path.name.startswith(f"{__name__}.sum_and_last.entry-")
    new_place()
    out[0] = 0
    assert counted(work) == ((21, 3), 0, 1)
    assert out[0] == 3
    assert counted(work) == ((21, 3), 0, 0), "kept"


def test_a_rule_is_read_in_place_of_compiled(shipped_rule):
    assert counted(called) == (8, 0, 1)
    other = types.int32(types.int32)
    assert counted(lambda: rule(other)(fresh(twice)).ctypes(4)) == (8, 1, 0), "another type"


def test_the_machine_code_is_that_of_a_compiled_function(shipped_rule, new_place, monkeypatch):
    made = []
    for folder in (ready_code.FOLDER, ready_code.FOLDER.parent / "none"):
        monkeypatch.setattr(ready_code, "FOLDER", folder)
        wanted = rule(NUMBER)(fresh(twice))
        assert wanted.address
        text = wanted._library._codegen._tm.emit_assembly(wanted._library._final_module)
        text = re.sub(r"B\d*v\d+", "", text)  # how many functions this process has met before
        made.append([line for line in text.split("\n") if line.startswith("\t") and not line.startswith("\t.")])
        new_place()
    assert made[0] == made[1] and len(made[0]) > 5


def test_a_damaged_file_is_not_read(shipped_rule, new_place):
    whole = shipped_rule.read_bytes()
    head, _, bitcode = gzip.decompress(whole).partition(b"\n")
    contents = (
        b"",
        whole[: len(whole) // 2],
        b"no" + whole[2:],
        whole[:200] + b"??" + whole[202:],
        gzip.compress(b"no line of JSON\n" + bitcode),
        gzip.compress(head + b"\n" + bitcode[:100]),
    )
    for damaged in contents:
        shipped_rule.write_bytes(damaged)
        assert counted(called) == (8, 1, 1)
        new_place()
    shipped_rule.write_bytes(whole)
    assert counted(called) == (8, 0, 1)


def test_another_numba_and_another_system_compile(shipped_rule, monkeypatch):
    monkeypatch.setattr(ready_code, "FOLDER", ready_code.FOLDER.parent / "numba-0.1-plan9-pdp11")
    assert counted(called) == (8, 1, 0)


def test_no_digest_is_made_of_a_function_that_does_not_ship(shipped_rule, monkeypatch):
    """So a file of yours that is too long, or half written, is of no matter here."""
    monkeypatch.setattr(ready_code, "source_digest", lambda *_: 1 / 0)
    assert counted(lambda: rule(NUMBER)(lambda x: 3 * x).ctypes(4)) == (12, 1, 0)


def test_what_a_function_is_made_from_decides_which_file_is_its_own(ships, monkeypatch):
    def path():
        return ready_code.ready_file(fresh(twice), NUMBER)

    before = path()
    assert before == path() and before.name.startswith(f"{__name__}.twice-")
    assert before != ready_code.ready_file(fresh(twice), types.int32(types.int32))
    monkeypatch.setitem(numba._dynfunc._impl_info, "offsetof_env_body", 1)
    assert path() != before, "an interpreter whose objects are laid out in another way"
    monkeypatch.undo()
    monkeypatch.setattr(ready_code.llvmlite, "__version__", "0.1")
    assert path() != before


@pytest.mark.parametrize("fault", [{"consts": [object()]}, {"has_dynamic_globals": True}, {"reload_init": [1]}])
def test_code_that_holds_for_one_process_only_is_not_written(fault):
    class Made:
        reload_init = fault.get("reload_init", ())
        lifted = ()

        @staticmethod
        def _asdict():
            return {"library": SimpleNamespace(has_dynamic_globals=fault.get("has_dynamic_globals", False))}

        @staticmethod
        def _find_referenced_environments():
            return [SimpleNamespace(consts=fault.get("consts", []))]

    with pytest.raises(ValueError, match="twice: expected code without Python's objects and without addresses"):
        packed(twice, Made, b"")


def test_reading_is_shown_as_progress_and_counted(shipped_rule):
    watch = Watch(lambda progress: None)
    try:
        called()
    finally:
        watch.end()
    assert watch.done == 1


def test_what_ships_is_small_and_names_no_folder_of_the_computer_that_made_it():
    files = list((ready_code.FOLDER.parent).rglob("*.gz"))
    contents = [gzip.decompress(path.read_bytes()) for path in files]
    assert files and sum(path.stat().st_size for path in files) < 2_000_000
    assert all(content.startswith(b'{"library"') for content in contents)
    assert not [path.name for path, content in zip(files, contents, strict=True) if b".py" in content]


def test_what_takes_longest_to_compile_is_compiled_for_one_kind_of_arguments():
    """A number that numba knows while it compiles (0) or a shorter one is another kind: all below is compiled again."""
    kinds = {name: set() for name in LARGE}
    for path in ready_code.FOLDER.parent.rglob("*.gz"):
        bitcode = gzip.decompress(path.read_bytes()).partition(b"\n")[2]
        for symbol in {each.name for each in llvmlite.binding.parse_bitcode(bitcode).functions}:
            for name in LARGE:
                if symbol.startswith("_ZN") and re.search(rf"\d{name}(6shared)?B", symbol):
                    kinds[name].add(re.sub(r"B\d*v\d+", "", symbol))
    assert {name: len(found) for name, found in kinds.items()} == dict.fromkeys(LARGE, 1), kinds
