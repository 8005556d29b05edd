"""An interruption ends the work once, wherever it comes."""

import signal
import threading

import pytest

from support.tiny_runs import QUIET
from training.stop_signals import heard


@pytest.fixture(autouse=True)
def usual():
    """Ctrl-C is handled as Python does by itself, also where tests run side by side."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    signal.raise_signal(signal.SIGINT)


def lost():
    """Be interrupted where Python drops what is raised."""

    class Dying:
        def __del__(self):
            interrupt()

    Dying()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_that_was_lost_ends_the_work_all_the_same():
    asked = []
    with pytest.raises(KeyboardInterrupt), heard(lambda: False) as stop:
        asked.append(stop())
        lost()
        asked.append(stop())
    assert asked == [False, True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_error_that_came_of_it_is_told_as_an_interruption_and_others_are_not():
    with pytest.raises(KeyboardInterrupt), heard(lambda: False):
        lost()
        raise RuntimeError("no compiled object yet")
    with pytest.raises(RuntimeError), heard(lambda: False):
        raise RuntimeError


def test_it_ends_at_once_where_nothing_is_in_the_way():
    with pytest.raises(KeyboardInterrupt), heard(lambda: False):
        interrupt()
        raise AssertionError("expected to be interrupted")


def test_who_handles_the_signal_and_other_threads_are_left_alone():
    came, inside = [], []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        with heard(lambda: True) as stop:
            interrupt()
            assert stop() and came == [1]
    finally:
        signal.signal(signal.SIGINT, before)

    def elsewhere():
        with heard(lambda: False) as stop:
            inside.append(stop())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert inside == [False] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_training_ends_by_an_interruption_that_was_lost(begun, tmp_path, quick):
    from initialise import Session
    from main import train
    from support.run_states import copied

    with Session.open(copied(begun, tmp_path), console=QUIET) as session:
        with pytest.raises(KeyboardInterrupt):
            train(session, on_iteration=lambda line: lost())
        assert session.iteration == 3, "one iteration was finished, and no other begun"
