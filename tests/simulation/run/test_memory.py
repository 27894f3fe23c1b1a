"""Runs that cannot be held are rejected before they begin, with figures; limits of groups of
processes count."""

import resource
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.run import memory_limits
from tests.models import pendulum


@pytest.fixture(scope="module")
def sim():
    return pendulum().equations().compile(backend="python")


def test_a_run_of_a_thousand_million_samples(sim, monkeypatch):
    monkeypatch.setattr(memory_limits, "available_memory", lambda: 8.0 * 2**30)
    with pytest.raises(
        bc.RunError,
        match=r"100000000\d samples of 3 channels need about 50.3 GiB of memory, and 8.0 GiB",
    ):
        sim.simulate(t_end=1e6, step=1e-3)
    with pytest.raises(
        bc.RunError,
        match=r"1000 runs with 1000001 rows of 2 channels each need about .* and 8.0 GiB are",
    ):
        sim.simulate_many(1000, t_end=1e3, step=1e-3, channels=["q(rod)", "u(rod)"])


@pytest.mark.parametrize("method", ["rk4", "tsit5"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"n": 2},
            r"2 runs with 100000000\d rows of \d channels each need about .* GiB of memory, "
            r"and 8.0 GiB",
        ),
        (
            {"n": 1, "channels": "q(rod)", "output_every": 1},
            r"1 run with 100000000\d rows of 1 channel each need about 7.5 GiB",
        ),
        (
            {"n": 3, "metrics": {"q(rod)": "rms"}},
            r"times of 100000000\d rows need about 22.4 GiB of memory",
        ),
    ],
)
def test_many_runs_of_a_thousand_million_samples(sim, monkeypatch, method, given, said):
    """Refused by counting: nothing is computed, not even the times."""
    room = 7.0 if given["n"] == 1 else 8.0
    monkeypatch.setattr(memory_limits, "available_memory", lambda: room * 2**30)
    tracemalloc.start()
    try:
        with pytest.raises(bc.RunError, match=said):
            sim.simulate_many(**given, t_end=1e6, step=1e-3, method=method)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_what_is_small_is_never_refused(sim, monkeypatch):
    monkeypatch.setattr(memory_limits, "available_memory", lambda: 0.0)
    assert sim.simulate(t_end=0.1, step=0.01).ended == "finished"


def group(tmp_path, monkeypatch, path, limits):
    """Files as the kernel shows them."""
    monkeypatch.setattr(memory_limits, "CGROUP", tmp_path)
    for name, (limit, used, cached) in limits.items():
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    read = memory_limits.Path.read_text

    def read_text(self, **options):
        return f"0::{path}\n" if str(self) == "/proc/self/cgroup" else read(self, **options)

    monkeypatch.setattr(memory_limits.Path, "read_text", read_text)


def test_limits_of_containers_count(tmp_path, monkeypatch):
    limits = {"": (1000, 400, 100), "a": ("max", 300, 50), "a/b": (900, 850, 0)}
    group(tmp_path, monkeypatch, "/a/b", limits)
    assert memory_limits._cgroup_memory() == [50.0, 700.0]
    assert memory_limits.available_memory() == 50.0
    group(tmp_path, monkeypatch, "/", {})
    assert memory_limits._cgroup_memory() == [700.0]


MEASURE = """
import re
import bellcrank as bc
from bellcrank.simulation.run import memory_limits
from tests.models import pendulum
sim = pendulum().equations().compile()
sim.simulate(t_end=1, step=0.01)
noted = []
def note(what, needed, ways):
    noted.append(needed)

memory_limits.check_memory = note
def peak():  # of this process alone: `resource` counts that of the process it was started by, too
    return int(re.search(r"VmHWM:\\s*([0-9]+) kB", open("/proc/self/status").read())[1])
before = peak()
run = sim.simulate(t_end=6e6*1e-4, step=1e-4)
print((peak() - before)*1024/noted[0])
"""


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in kilobytes")
def test_the_estimate_is_what_a_run_needs():
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    assert 0.7 < float(done.stdout) < 1.05


def test_limits_of_the_process_count(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (12345, -1))
    assert memory_limits.available_memory() == 12345.0
    assert np.isfinite(memory_limits.available_memory())
