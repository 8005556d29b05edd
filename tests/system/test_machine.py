"""How much memory is free, and how many processors there are, on a machine and in a container."""

import pytest

from network.predictor import cores
from system import machine, processes

MIB = 1 << 20


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A machine with 1000 MiB available, and a folder for the limits of a container."""
    (tmp_path / "meminfo").write_text("MemTotal: 2048000 kB\nMemAvailable: 1024000 kB\n")
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "GROUPS", tmp_path / "groups")
    (tmp_path / "groups" / "memory").mkdir(parents=True)
    return tmp_path / "groups"


def write(folder, names, limit, used, stat):
    for name, text in zip(names, (limit, used, stat), strict=True):
        (folder / name).write_text(f"{text}\n")


V2 = "memory.max", "memory.current", "memory.stat"
V1 = "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"


def test_a_machine_without_containers_says_what_is_available(place):
    assert machine.free_memory() == 1000 * MIB
    machine.MEMORY.unlink()
    assert machine.free_memory() is None


@pytest.mark.parametrize(
    "limit, used, cached, free",
    [("max", 5 * MIB, 0, 1000), (300 * MIB, 100 * MIB, 0, 200), (300 * MIB, 100 * MIB, 40 * MIB, 240),
     (300 * MIB, 301 * MIB, 0, 0), (9000 * MIB, MIB, 0, 1000), ("", "", 0, 1000)],
)  # fmt: skip
def test_the_limit_of_a_container_counts_less_what_it_uses_and_cannot_give_up(place, limit, used, cached, free):
    write(place, V2, limit, used, f"anon 1\ninactive_file {cached}")
    assert machine.free_memory() == free * MIB
    (place / "memory.max").unlink()
    write(place / "memory", V1, limit, used, f"inactive_file 7\ntotal_inactive_file {cached}")
    assert machine.free_memory() == free * MIB


@pytest.mark.parametrize(
    "quota, period, most",
    [("max", 100_000, None), (200_000, 100_000, 2), (150_000, 100_000, 2), (50_000, 100_000, 1), ("", "", None)],
)
def test_the_processors_of_a_container_are_those_of_its_quota(place, quota, period, most, monkeypatch):
    monkeypatch.setattr(processes, "processors", lambda: list(range(64)))
    (place / "cpu.max").write_text(f"{quota} {period}\n")
    assert machine.processor_quota() == most and cores() == (most or 64)
    (place / "cpu.max").unlink()
    (place / "cpu").mkdir()
    (place / "cpu" / "cpu.cfs_quota_us").write_text(f"{-1 if quota == 'max' else quota}\n")
    (place / "cpu" / "cpu.cfs_period_us").write_text(f"{period}\n")
    assert machine.processor_quota() == most and cores() == (most or 64)
    monkeypatch.setattr(processes, "processors", lambda: [0])
    assert cores() == 1


def test_a_limit_counts_on_a_machine_that_says_no_more(place):
    machine.MEMORY.unlink()
    write(place, V2, 300 * MIB, 100 * MIB, "")
    assert machine.free_memory() == 200 * MIB


def test_the_number_that_stands_for_no_limit_is_none(place):
    machine.MEMORY.unlink()
    write(place / "memory", V1, (1 << 63) - 4096, 100 * MIB, "")
    assert machine.free_memory() is None
