"""A run on processors of several classes."""

from types import SimpleNamespace

from initialise import Session
from storage.verify import verify
from support.tiny_runs import QUIET, tiny
from training.work import source_of, work_of


def test_a_run_on_processors_of_several_classes_says_so_before_their_games_are_stored(tmp_path):
    with Session.start(tiny(), root=tmp_path, console=QUIET) as session:
        work_of(session).machines = SimpleNamespace(classes={"x86_64 avx2"})
        with session.store.transaction():
            source_of(session).declare()
        assert verify(session.folder).mixed == ()
        for classes in ({"x86_64 avx2", "x86_64 avx512f"}, {"aarch64"}):
            work_of(session).machines.classes = classes
            with session.store.transaction():
                source_of(session).declare()
    assert verify(session.folder).mixed == ("aarch64", "x86_64 avx2", "x86_64 avx512f")
