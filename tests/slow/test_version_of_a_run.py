"""A run keeps the version that began it."""

from config import VERSION
from storage.run_store import Store


def test_a_run_keeps_the_version_that_began_it(trained):
    store = Store(trained / "run.db", read_only=True)
    try:
        assert store.get("program") == VERSION
    finally:
        store.close()
