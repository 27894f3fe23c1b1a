"""A million changed inputs over all readers: each is read or refused in words, soon, and nothing is executed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.faults.fuzz import FORBIDDEN, Fault, Readers, _state, fuzz, watched

pytestmark = pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="needs timers of POSIX")


@pytest.fixture(scope="module")
def readers():
    """Files lie in memory where that can be had: a million are written."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="bellcrank-fuzz-", dir=place) as folder:
        yield Readers(folder)


KINDS = (
    "formula", "formula of a study", "condition", "unit", "dimension", "option", "deck", "script", "script input", "parameters",
    "linkage", "points", "tyre", "study", "inputs", "csv", "published", "erd", "json", "netcdf", "parquet", "table", "record",
)  # fmt: skip
ALL = 1_000_000


def counted(readers, kind, whole, seed):
    """So many inputs of one kind that all kinds together have the whole number."""
    shares = {name: share for name, (_, _, share) in readers.kinds.items()}
    assert tuple(shares) == KINDS
    count = -(-whole * shares[kind] // sum(shares.values()))
    outcome, found = fuzz(readers, kind, count, seed)
    told = "\n".join(f"{place}: {error}\n  {text!r}" for place, (error, text) in found.items())
    assert not found, told
    assert sum(outcome.values()) == count and outcome["read"] > 0
    return outcome


@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_changed_inputs(kind, readers):
    counted(readers, kind, 4000, 1990)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_a_million_changed_inputs(kind, readers):
    counted(readers, kind, ALL, 2026)


@pytest.mark.parametrize("act", [
    lambda: eval("1 + 1"), lambda: exec("x = 1"), lambda: os.system("true"), lambda: subprocess.run(["true"]), lambda: os.mkdir("x"),
    lambda: Path(os.devnull).write_text(""), lambda: os.remove("nothing"), lambda: __import__("antigravity"),
])  # fmt: skip
def test_the_watch_sees(act, tmp_path):
    """A watch that sees nothing would pass everything."""
    with pytest.raises(Fault), watched(tmp_path):
        act()
    assert not _state["on"] and "exec" in FORBIDDEN and "antigravity" not in sys.modules
