"""Files of tests are given to processes: each once, and those that wait to one of their own."""

from types import SimpleNamespace

import pytest

from support import lanes as of
from support.lanes import WAITING, Lanes

FILES = [f"tests/test_{letter}.py" for letter in "abcdef"]
PATIENT = [f"plugins/x/{name}.py" for name in WAITING[:2]]


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    monkeypatch.setattr(of, "CORES", 1)


class Process:
    """What xdist knows of a process of tests."""

    def __init__(self):
        self.todo, self.shutting_down, self.gateway = [], False, SimpleNamespace(id="process")

    def send_runtest_some(self, indices):
        self.todo += indices

    def shutdown(self):
        self.shutting_down = True


def done_by(count, files, tests=3):
    """Let `count` processes run files of some tests, a test each in turn; return the files that each has run."""
    config = SimpleNamespace(getvalue=lambda name: count * ["popen"], option=SimpleNamespace(loadscopereorder=False))
    lanes, nodes = Lanes(config), [Process() for _ in range(count)]
    names = [f"{file}::test_{number}" for file in files for number in range(tests)]
    for node in nodes:
        lanes.add_node(node)
    for node in nodes:
        lanes.add_node_collection(node, names)
    lanes.schedule()
    ran = [[] for _ in nodes]
    while any(node.todo for node in nodes):
        for node, mine in zip(nodes, ran, strict=True):
            if node.todo:
                test = node.todo.pop(0)
                mine.append(names[test].partition("::")[0])
                lanes.mark_test_complete(node, test)
    assert all(node.shutting_down for node in nodes) and not lanes.has_pending
    assert sorted(sum(ran, [])) == sorted(file for file in files for _ in range(tests)), "each test once"
    return [set(mine) for mine in ran]


@pytest.mark.parametrize("files", [FILES + PATIENT, PATIENT + FILES, [FILES[0], *PATIENT, *FILES[1:]]])
def test_those_that_wait_have_a_process_and_no_other_has_them(files):
    *others, last = done_by(3, files)
    assert last == set(PATIENT) and set.union(*others) == set(FILES) and all(others)


def test_few_processes_share_all_files():
    assert set.union(*done_by(2, FILES + PATIENT)) == {*FILES, *PATIENT}


@pytest.mark.parametrize("files", [FILES, PATIENT])
def test_files_of_one_kind_are_all_run(files):
    assert set.union(*done_by(3, files)) == set(files)


def test_a_file_of_the_list_exists(request):
    root = request.config.rootpath
    missing = {*WAITING} - {path.stem for path in root.rglob("test_*.py")}
    assert not missing or not (root / "plugins").is_dir()  # most are tests of plugins, which may be left out
