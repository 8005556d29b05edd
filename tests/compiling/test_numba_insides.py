"""What this program rests on in numba beyond its documented interface, one test for each part.

A version of numba in which one of these fails needs a change in compiling/ before pyproject.toml may allow it.
"""

import importlib.util
import inspect
import linecache
import os
import subprocess
import sys

import numpy as np
import pytest

from compiled import call, compiled, inlined, prefetch, rule, types
from compiling import cache_folder, functions, kept_code
from compiling.numba_import import numba
from support.numba_events import events

OVERRIDDEN = {
    kept_code._OfFile: ("get_cache_path", "ensure_cache_path", "from_function"),
    kept_code._OfCell: ("get_cache_path", "ensure_cache_path"),
    kept_code._Locations: ("_locator_classes",),
    kept_code._CheckedFile: ("_open_for_write", "_load_index", "_load_data"),
    kept_code.KeptCode: ("_impl_class", "load_overload", "save_overload"),
    functions._PartLibrary: (
        "codegen",
        "_optimize_final_module",
        "_finalize_final_module",
        "get_pointer_to_function",
        "serialize_using_object_code",
    ),
    functions.PartCompiler: ("define_pipelines",),
    functions.CompiledFunction: ("get_call_template", "add_overload", "_compile_for_args", "stats"),
    functions.Rule: ("_compile_uncached",),
}
"""{class: what numba calls or reads in it in place of its own}"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of its own for compiled code."""
    monkeypatch.setattr(cache_folder, "FOLDER", tmp_path / "kept")
    return tmp_path / "kept"


def printed(code, **variables):
    """Return what a process of its own prints, with these variables of numba's and no others."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run([sys.executable, "-c", code], env={**others, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def code_of(compiled_once):
    """Return what numba keeps of a function that it compiled for one kind of arguments."""
    return compiled_once._asdict()["library"]


def numbas(cls):
    """Return the class of numba's that one of ours is made from."""
    return next(base for base in cls.__mro__ if base.__module__.startswith("numba."))


def parameters(function):
    return [parameter.kind for parameter in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("cls", OVERRIDDEN, ids=lambda cls: cls.__name__)
def test_what_is_overridden_is_a_part_of_numbas_class_and_takes_the_same_arguments(cls):
    for name in OVERRIDDEN[cls]:
        own, original = getattr(cls, name), getattr(numbas(cls), name)
        if inspect.isroutine(own) and inspect.isroutine(original):
            assert parameters(own) == parameters(original), name


def test_numba_reads_its_settings_when_it_is_imported_and_not_before_they_are_removed():
    shown = "print(numba.config.OPT, numba.config.DISABLE_JIT, numba.config.DEBUG)"
    bare = f"import numba; {shown}"
    ours = f"from compiling.numba_import import numba; {shown}"
    changed = {"NUMBA_OPT": "0", "NUMBA_DEBUG": "1"}
    assert printed(bare, **changed) != printed(bare)
    assert printed(ours, **changed) == printed(bare)


def test_numba_works_without_the_packages_that_are_hidden_from_it():
    code = """if True:
        import sys
        import numpy
        from compiling.numba_import import numba
        print(numba.njit(lambda x: numpy.floor(x + 0.5))(2.7), {"scipy.linalg", "cffi"} & {*sys.modules})
    """
    assert printed(code) == "3.0 set()"


def test_the_code_of_a_file_and_of_a_cell_is_kept_in_our_folder(folder):
    source = "def f(x):\n    return x + 1\n"
    name = "<ipython-input-1-abc>"
    cell = {"__name__": "__main__"}
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    exec(compile(source, name, "exec"), cell)
    of_file = compiled(lambda x: x + 2)
    of_cell = compiled(cell["f"])
    assert call(of_file, 1) == 3 and call(of_cell, 1) == 2
    kept = [function.entry._cache.cache_path for function in (of_file, of_cell)]
    assert all(path.startswith(str(folder)) and os.listdir(path) for path in kept)
    assert isinstance(of_file._cache._impl.locator, kept_code._OfFile)
    assert isinstance(of_cell._cache._impl.locator, kept_code._OfCell)


def test_each_file_that_numba_writes_ends_with_our_digest_and_is_read_in_spite_of_it(folder):
    negated = compiled(lambda x: -x)
    assert call(negated, 5) == -5
    paths = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in paths} == {".nbi", ".nbc"}
    file = negated.entry._cache._cache_file
    for path in paths:
        before = path.read_bytes()
        file._remove_damaged(path)
        assert path.read_bytes() == before
    assert len(file._load_index()) == 1


def load_toy(folder):
    """Load a module of two callers of one function as a new process would."""
    path = folder.parent / "toy.py"
    path.write_text(
        "from compiled import compiled\n\n@compiled\ndef part(x):\n    return 3 * x\n\n"
        "@compiled\ndef one(x):\n    return part(x) + 1\n\n@compiled\ndef two(x):\n    return part(x) + 2\n"
    )
    os.utime(path, ns=(0, 0))
    spec = importlib.util.spec_from_file_location("toy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_function_that_compiled_code_calls_is_kept_as_bitcode_and_taken_into_later_callers(folder):
    """`unserialize_library` is numba's one name that is replaced."""
    assert numba.core.codegen.JITCPUCodegen.unserialize_library is functions._unserialize
    first = load_toy(folder)
    assert call(first.one, 5) == 16
    again = load_toy(folder)
    assert call(again.one, 5) == 16 and again.one.stats.cache_hits, "numba's own kind is read as before"
    assert call(again.two, 5) == 17 and not again.two.stats.cache_hits
    for module, hits in ((first, 0), (again, 1)):
        (made,) = module.part.overloads.values()
        kept = code_of(made)
        assert isinstance(kept, functions._PartLibrary) and sum(module.part._cache_hits.values()) == hits
        assert kept.serialize_using_object_code()[1] == "part"
        assert kept.get_pointer_to_function("part") == 0


def test_the_entry_is_found_for_arguments_as_numba_looks_them_up(folder, monkeypatch):
    doubled = compiled(lambda x: 2 * x)
    assert doubled(np.int64(2)) == 4
    monkeypatch.setattr(functions.CompiledFunction, "_compile_for_args", None)
    assert doubled(np.int64(3)) == 6


def test_options_leave_numbas_runtime_out_and_take_a_function_into_its_callers(folder):
    first = inlined(lambda a: a[np.uint64(0)])
    shifted = compiled(lambda a: first(a) + 1)
    assert call(shifted, np.arange(5, 8)) == 6
    (part,) = first.overloads.values()
    (code,) = shifted.entry.inspect_llvm().values()
    assert "alwaysinline" in code_of(part).get_llvm_str() and "NRT_incref" not in code
    divided = compiled(lambda x, y: x / y)
    assert call(divided, 1.0, 0.0) == np.inf, "no exception is made"


def test_a_rule_has_an_address_and_its_compiling_is_announced(folder):
    halved = rule(types.int64(types.int64))(lambda x: x // 2)
    assert halved._wrapper_address is None
    with events("numba:compile", kept_code.KEEPING) as begun:
        assert halved.address == halved.address > 0
    assert begun == ["numba:compile", kept_code.KEEPING]


def test_compiled_code_calls_a_function_by_the_address_that_the_object_has(folder):
    squared = rule(types.int64(types.int64))(lambda x: x * x)
    applied = compiled(lambda f, x: f(x) + 1)
    assert isinstance(numba.typeof(squared), functions.Function)
    assert call(applied, squared, np.int64(7)) == 50

    class Elsewhere:
        address = rule(types.int64(types.int64))(lambda x: -x).address

    assert compiled_entry(applied)(Elsewhere, np.int64(7)) == -6


def compiled_entry(function):
    (signature,) = function.entry.overloads
    return function.entry.get_overload(signature)


def test_a_prefetch_is_one_instruction(folder):
    ahead = compiled(lambda a, i: prefetch(a, i))
    call(ahead, np.arange(9), 4)
    (code,) = ahead.entry.inspect_llvm().values()
    assert "call void @llvm.prefetch" in code


def test_a_function_that_is_called_with_constants_is_compiled_once():
    @inlined
    def doubled(x):
        return 2 * x

    @compiled
    def sums(x):
        return doubled(1) + doubled(2) + doubled(x)

    assert sums(3) == 12 and list(doubled.overloads) == [(types.int64,)]
