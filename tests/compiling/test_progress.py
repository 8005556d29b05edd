"""The hook that shows how far compiling is, and functions compiled as parts and as entries."""

import time

import numpy as np
import pytest

from compiled import call, inlined, rule, types
from compiling import cache_folder
from compiling.kept_code import KEEPING
from compiling.numba_import import numba
from compiling.progress import Watch

event = numba.core.event


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folder, "FOLDER", tmp_path / "kept")
    return tmp_path / "kept"


def test_progress_is_counted_shown_while_compiling_and_gone_when_done():
    shown = []
    watch = Watch(shown.append, expected=3, every=0.02)
    try:
        with event.trigger_event("numba:compile"):
            for _ in range(4):
                with event.trigger_event("numba:compile"):
                    before = len(shown)
                    while len(shown) == before:
                        time.sleep(0.001)
    finally:
        watch.end()
    assert shown[-1] is None and watch.done == 5 and watch.seconds > 0
    reports = shown[:-1]
    assert [r.done for r in reports] == sorted(r.done for r in reports) and reports[0].expected == 3
    assert all(r.expected >= r.done and r.seconds >= 0.005 for r in reports)
    with event.trigger_event("numba:compile"):
        pass
    assert watch.done == 5, "nothing is counted after the end"


def test_what_is_still_compiled_at_the_end_is_not_shown_any_more():
    shown = []
    watch = Watch(shown.append, every=0.02)
    with event.trigger_event("numba:compile"):
        while not shown:
            time.sleep(0.001)
        watch.end()
        before = len(shown)
        time.sleep(0.1)
    assert len(shown) == before


def test_a_watch_that_is_made_while_something_is_compiled_shows_what_follows():
    shown = []
    with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
        watch = Watch(shown.append, every=0.02)
    try:
        with event.trigger_event("numba:compile"):
            end = time.monotonic() + 60.0
            while not shown and time.monotonic() < end:
                time.sleep(0.001)
    finally:
        watch.end()
    assert shown and shown[-1] is None and watch.done == 1


def test_the_making_of_machine_code_is_shown_and_not_counted_as_another_function():
    shown = []
    watch = Watch(shown.append, every=0.02)
    try:
        with event.trigger_event(KEEPING):
            while not shown:
                time.sleep(0.001)
    finally:
        watch.end()
    assert watch.done == 0 and shown[0].done == 0 and shown[-1] is None


def test_a_function_is_compiled_at_its_first_call_and_counted_once(folder):
    @inlined
    def three_times(x):
        return 3 * x

    watch = Watch(lambda progress: None)
    try:
        assert three_times(np.int64(5)) == 15 and call(three_times, 7) == 21
    finally:
        watch.end()
    assert watch.done == 1


def test_a_rule_is_compiled_when_its_address_is_needed(folder):
    watch = Watch(lambda progress: None)
    try:
        negated = rule(types.int64(types.int64))(lambda x: -x)
        assert watch.done == 0
        assert negated.ctypes(5) == -5 and watch.done == 1
    finally:
        watch.end()


def test_a_function_called_again_with_arguments_of_the_same_types_is_found_without_python(folder, monkeypatch):
    @inlined
    def five_times(x):
        return 5 * x

    assert five_times(np.int64(2)) == 10 and five_times(2.5) == 12.5
    monkeypatch.setattr(type(five_times), "_compile_for_args", None)
    assert five_times(np.int64(3)) == 15 and five_times(1.5) == 7.5
