"""Thousands of changed inputs over all readers: each is read or rejected in words, soon, and
nothing is executed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.core.files.fuzz import FORBIDDEN, Fault, Readers, _state, fuzz, watched

pytestmark = pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="needs timers of POSIX")


@pytest.fixture(scope="module")
def readers():
    """Files lie in memory where that can be had: a million are written."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="bellcrank-fuzz-", dir=place) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("BELLCRANK_CACHE", f"{folder}/cache")
        yield Readers(folder)


WORDS = ("formula", "formula of a study", "condition", "unit", "dimension", "option")
FILES = (
    "deck",
    "script",
    "script input",
    "parameters",
    "linkage",
    "points",
    "tyre",
    "study",
    "inputs",
    "csv",
    "published",
    "erd",
    "json",
    "netcdf",
    "mat",
    "parquet",
    "heights",
    "npy",
    "npz",
    "crg",
    "stl",
    "car",
    "load cases",
    "targets",
    "table",
    "record",
)
MANY = {"words": (WORDS, 60_000), "files": (FILES, 100_000)}
FEW = {"words": (WORDS, 600), "files": (FILES, 700)}


def counted(readers, kind, seed, counts):
    """So many inputs of one kind that all kinds together have the whole number."""
    assert (*WORDS, *FILES) == tuple(readers.kinds)
    kinds, whole = counts["words" if kind in WORDS else "files"]
    shares = {name: readers.kinds[name][2] for name in kinds}
    count = -(-whole * shares[kind] // sum(shares.values()))
    outcome, found = fuzz(readers, kind, count, seed)
    told = "\n".join(f"{place}: {error}\n  {text!r}" for place, (error, text) in found.items())
    assert not found, told
    assert sum(outcome.values()) == count and (outcome["read"] > 0 or count < 100)
    return outcome


@pytest.mark.parametrize("kind", (*WORDS, *FILES))
def test_changed_inputs(kind, readers):
    counted(readers, kind, 1990, FEW)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", (*WORDS, *FILES))
def test_a_hundred_thousand_changed_files(kind, readers):
    """And some formulas. The count of each kind is printed (`pytest -s`)."""
    print(f"\n{kind}: {counted(readers, kind, 2026, MANY)}")


@pytest.mark.parametrize(
    "act",
    [
        lambda: eval("1 + 1"),
        lambda: exec("x = 1"),
        lambda: os.system("true"),
        lambda: subprocess.run(["true"]),
        lambda: os.mkdir("x"),
        lambda: Path(os.devnull).write_text(""),
        lambda: os.remove("nothing"),
        lambda: __import__("antigravity"),
    ],
)
def test_the_watch_sees(act, tmp_path):
    """A watch that sees nothing would pass everything."""
    with pytest.raises(Fault), watched(tmp_path):
        act()
    assert not _state["on"] and "exec" in FORBIDDEN and "antigravity" not in sys.modules
