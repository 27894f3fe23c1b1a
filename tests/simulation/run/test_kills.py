"""Commands interrupted or killed at random times: nothing half written, nothing lost, nothing said
but one line."""

import json
import os
import random
import shutil
import signal
import time
import zipfile
from collections import Counter
from contextlib import suppress

import psutil
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.cache import DIGEST, cached_file
from bellcrank.simulation.backend.compiler import find_compiler
from tests.simulation.run.kills import Commands

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork") or find_compiler() is None, reason="needs fork and a compiler"
)

MODEL = """
import bellcrank as bc

def load(q, u):
    return -3*q - u

def fast(q):
    return -q

def model():
    s = bc.System("pendulum")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass="m", inertia=(0.1, 0.1, 0.1))
    s.add_external("load", arguments=("q", "u"), python=load)
    s.add_external("fast", arguments=("q",), c="double fast(double q) { return -q; }", python=fast,
        fortran="function fast(q) result(f)\\nreal(8), intent(in) :: q\\nreal(8) :: f\\nf = -q\\nend function")
    s.add_moment("drive", magnitude="MAGNITUDE", direction=rod[3], on=rod)
    s.set_defaults(m=2, k=1)
    s.set_run(t_end=20, step=0.02, initial={"q(rod)": 0.3})
    return s
"""
PLAIN = """
import bellcrank as bc

def model():
    s = bc.System("plain")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass="m", inertia=(0.1, 0.1, 0.1))
    s.add_gravity(direction=-s.inertial[2])
    s.set_defaults(m=2)
    s.set_run(t_end=2, step=0.01, initial={"q(rod)": 0.3})
    return s
"""
STUDY = """
model.file = "plain.py"
run = {t_end = 2.0, step = 0.01}
[metrics.largest]
kind = "max"
of = "q(rod)"
[grid]
m = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
k = [1, 2, 3, 4]
"""
SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
ENDINGS = (".csv", ".erd", ".nc", ".json", ".parquet")


@pytest.fixture(scope="module")
def commands():
    server = Commands()
    yield server
    server.end()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "back.py").write_text(MODEL.replace("MAGNITUDE", "k*load(q(rod), u(rod))"))
    (tmp_path / "plain.py").write_text(MODEL.replace("MAGNITUDE", "k*fast(q(rod))"))
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def went_well(done, number, allowed=(0,)):
    """Ended as asked: with one line and exit code 130, or before it was asked, or without a
    word."""
    told = f"{number!r}: {done['code']}\n{done['errors']}"
    assert done["code"] in (128 + number, -number, *allowed), told
    if done["code"] == 128 + number:
        assert done["errors"].splitlines()[-1:] in (["interrupted"], ["terminated"], []), told
    assert "Traceback" not in done["errors"] and "Exception" not in done["errors"], done["errors"]


def hidden(folder):
    """What is left of files that were not written to their end."""
    return [p for p in folder.iterdir() if p.name.startswith(".") and p.name.endswith(".part")]


def swept(folder):
    for path in hidden(folder):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def contents(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def interrupted_runs(commands, folder, count, rng):
    """Results are those of before or whole ones, whatever the format."""
    codes, seconds = [], {}
    for i in range(count):
        model, path = ("back.py", "plain.py")[i % 2], folder / f"r{ENDINGS[i % len(ENDINGS)]}"
        plot = i % 12 == 11
        arguments = ["run", model, "--out", path, "--echo", "e.par", *(["--plot", "p.png"] * plot)]
        if model not in seconds or not path.exists() or (plot and not (folder / "p.png").exists()):
            whole = commands.do(arguments, folder)
            assert whole["code"] == 0, whole["errors"]
            seconds[model] = whole["seconds"]
        swept(folder)
        number = rng.choice(SIGNALS)
        done = commands.do(arguments, folder, number, rng.uniform(0, 1.1 * seconds[model]))
        codes.append(done["code"])
        went_well(done, number)
        run = bc.Run.read(path)
        assert len(run.time) == 1001 and run.ended in ("finished", "read from a file")
        assert not plot or (folder / "p.png").read_bytes()[-8:-4] == b"IEND"
        assert (folder / "e.par").read_text().splitlines()[-1] == "END"
        assert number != signal.SIGINT or done["code"] == -number or not hidden(folder)
    return codes


def kept_whole(place):
    """Is an entry of the cache, a library or a text, whole?"""
    (name,) = {p.name for p in place.iterdir()} - {DIGEST}
    return cached_file(place.name, place.parent, name)


def interrupted_compiles(commands, folder, count, rng):
    """The cache holds whole libraries only; an interrupt leaves nothing of a build, and the next
    run continues."""
    codes, cache = [], folder / "cache"
    settings = {"BELLCRANK_CACHE": str(cache), "BELLCRANK_CFLAGS": "-O0"}
    whole = commands.do(["run", "plain.py"], folder, **settings)
    assert whole["code"] == 0 and not whole["errors"], whole["errors"]
    shutil.rmtree(cache)
    for _ in range(count):
        number = rng.choice(SIGNALS)
        before = set(cache.glob("build-*"))
        done = commands.do(
            ["run", "plain.py"], folder, number, rng.uniform(0, 1.1 * whole["seconds"]), **settings
        )
        codes.append(done["code"])
        went_well(done, number)
        kept = list(cache.iterdir()) if cache.exists() else []
        builds = [p for p in kept if p.name.startswith("build-")]
        assert all(kept_whole(p) for p in kept if p not in builds)
        assert before >= set(builds) or done["code"] not in (0, 130)
        if len(kept) > len(builds) or len(builds) > 3:  # from the beginning again
            after = commands.do(["run", "plain.py"], folder, **settings)
            assert after["code"] == 0 and not after["errors"], after["errors"]
            shutil.rmtree(cache)
    return codes


def interrupted_writes(commands, folder, count, rng):
    """A program is there with all its files or not at all; one that was there is the old one or the
    new one."""
    codes, languages, expected, seconds = [], ("c", "fortran", "python"), {}, {}
    for i in range(count):
        language = languages[i % 3]
        arguments = ["write", "plain.py", "--language", language, "--out", f"new_{language}"]
        place = folder / f"new_{language}"
        if language not in expected:
            whole = commands.do(arguments, folder)
            assert whole["code"] == 0, whole["errors"]
            seconds[language] = whole["seconds"]
            expected[language] = contents(place)
        if rng.random() < 0.7:
            shutil.rmtree(place, ignore_errors=True)
        swept(folder)
        number, there = rng.choice(SIGNALS), place.exists()
        done = commands.do(arguments, folder, number, rng.uniform(0.3, 1.1) * seconds[language])
        codes.append(done["code"])
        went_well(done, number)
        assert place.exists() or not there
        found = contents(place) if place.exists() else expected[language]
        assert {n: t for n, t in found.items() if not n.endswith(".part")} == expected[language]
        assert number != signal.SIGINT or done["code"] == -number or not hidden(folder)
    return codes


def interrupted_studies(commands, folder, count, rng, *options):
    """A study that is killed again and again ends with the table of one that was left alone, to the
    last byte."""
    codes, out = [], folder / "results"
    arguments = ["study", "study.toml", "--no-plots", "--out", out, *(options or ["--in-process"])]
    whole = commands.do(arguments, folder)
    assert whole["code"] == 0, whole["errors"]
    expected = (out / "table.csv").read_bytes()
    shutil.rmtree(out)
    kept = 0
    for _ in range(count):
        number = rng.choice(SIGNALS)
        done = commands.do(arguments, folder, number, rng.uniform(0.1, 0.7) * whole["seconds"])
        codes.append(done["code"])
        went_well(done, number)
        lines = (
            sum(p.read_bytes().count(b"\n") for p in out.rglob("*.jsonl")) if out.exists() else 0
        )
        assert lines >= kept  # nothing is lost
        kept = lines
        if (out / "table.csv").exists():
            assert (out / "table.csv").read_bytes() == expected
            shutil.rmtree(out)
            kept = 0
    after = commands.do(arguments, folder)
    assert after["code"] == 0 and (out / "table.csv").read_bytes() == expected
    assert [
        json.loads(x)
        for p in out.rglob("*.jsonl")
        for x in p.read_bytes().splitlines()
        if x.endswith(b"}")
    ]
    return codes


def interrupted_others(commands, folder, count, rng):
    """Every other command ends at once, too."""
    codes, seconds = [], {}
    others = (
        ["check", "plain.py"],
        ["analyse", "plain.py"],
        ["report", "plain.py", "--out", "r.html"],
        ["count", "plain.py"],
    )
    for i in range(count):
        arguments = others[i % len(others)]
        if i < len(others):
            whole = commands.do(arguments, folder)
            assert whole["code"] == 0, whole["errors"]
            seconds[i] = whole["seconds"]
        done = commands.do(
            arguments, folder, signal.SIGINT, rng.uniform(0, seconds[i % len(others)])
        )
        codes.append(done["code"])
        went_well(done, signal.SIGINT)
        assert not hidden(folder)
    return codes


KINDS = {
    "run": interrupted_runs,
    "compile": interrupted_compiles,
    "write": interrupted_writes,
    "study": interrupted_studies,
}


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_kills(kind, commands, folder):
    codes = KINDS[kind](commands, folder, 250, random.Random(f"many {kind}"))
    assert {130, -signal.SIGKILL, 143} <= {*codes}


@pytest.mark.campaign
def test_other_commands_are_interrupted(commands, folder):
    assert 130 in interrupted_others(commands, folder, 32, random.Random("others"))


@pytest.mark.campaign
def test_studies_with_workers_are_killed(commands, folder):
    codes = interrupted_studies(commands, folder, 12, random.Random("workers"), "--workers", "1")
    assert {*codes} & {130, -signal.SIGKILL, 143}


# ---- commands of all kinds, with a count of what is left

KILLS = "BELLCRANK_KILLS"  # how many, from the environment
EIGHT = {
    "run": ["run", "plain.py", "--out", "r.csv", "--echo", "e.par"],
    "write": ["write", "plain.py", "--out", "program"],
    "study": ["study", "study.toml", "--no-plots", "--out", "results", "--workers", "2"],
    "report": ["report", "plain.py", "--out", "report.html"],
    "page": ["page", "plain2.py", "--out", "page.html"],
    "fmu": ["fmu", "plain2.py", "--out", "model.fmu"],
    "many": ["many", "plain.py", "--n", "8", "--vary", "k=uniform(1,2)", "--out", "many.csv"],
    "check": ["check", "plain.py"],
}


def is_whole(path):
    """Is a result, or every file of a folder, as a command writes it to its end?"""
    if path.is_dir():
        return all(is_whole(p) for p in path.iterdir())
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    if path.suffix == ".fmu":
        return zipfile.ZipFile(path).testzip() is None
    if path.suffix == ".csv" and path.name != "table.csv":
        return len({line.count(b",") for line in path.read_bytes().splitlines()}) == 1
    return path.read_bytes().endswith((b"\n", b"}")) or path.name == "token"


def left_running(mark):
    """Processes that a command has started and left."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if (
                process.environ().get("BELLCRANK_TEST") == mark
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
    return found


def kills(commands, folder, count, rng):
    """Counts of exit codes by command. After each kill there is no half file, no process and no
    corrupt library."""
    cache, codes, seconds, records = folder / "cache", Counter(), {}, 0
    for name, words in EIGHT.items():
        done = commands.do(words, folder, BELLCRANK_CACHE=str(cache))
        assert done["code"] == 0, done["errors"]
        seconds[name] = done["seconds"]
    expected = (folder / "results" / "table.csv").read_bytes()
    shutil.rmtree(folder / "results")
    for i in range(count):
        name, number, mark = rng.choice([*EIGHT]), rng.choice(SIGNALS), f"{os.getpid()}-{i}"
        if rng.random() < 0.2:
            shutil.rmtree(
                cache, ignore_errors=True
            )  # everything is compiled again; what was written is somebody else's now
        words = [*EIGHT[name], *(["--overwrite"] if name != "check" else [])]
        after = rng.uniform(0.0, 1.1) * seconds[name]
        done = commands.do(
            words, folder, number, after, BELLCRANK_CACHE=str(cache), BELLCRANK_TEST=mark
        )
        codes[name, done["code"]] += 1
        print(i + 1, *words[:2], signal.Signals(number).name, done["code"], flush=True)
        went_well(done, number)
        limit = time.monotonic() + 10
        while left := left_running(mark):
            assert time.monotonic() < limit, [p.cmdline() for p in left]
            time.sleep(0.02)
        hidden_ones = hidden(folder)
        assert not hidden_ones or done["code"] in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
        swept(folder)
        for path in folder.iterdir():
            if (
                path.name not in ("cache", "results")
                and not path.name.startswith(".")
                and path.suffix != ".py"
            ):
                assert is_whole(path), path
        builds = (
            [p for p in cache.iterdir() if p.name.startswith("build-")] if cache.exists() else []
        )
        assert not builds or done["code"] in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
        for path in builds:
            shutil.rmtree(path)
        kept = [p for p in cache.iterdir() if p.name != "written"] if cache.exists() else []
        assert all(kept_whole(p) for p in kept)
        lines = sum(p.read_bytes().count(b"\n") for p in (folder / "results").rglob("*.jsonl"))
        assert lines >= records
        records = lines
        if (folder / "results" / "table.csv").exists():
            assert (folder / "results" / "table.csv").read_bytes() == expected
            shutil.rmtree(folder / "results")
            records = 0
    for words in EIGHT.values():
        overwrite = [] if words[0] == "check" else ["--overwrite"]
        assert commands.do([*words, *overwrite], folder, BELLCRANK_CACHE=str(cache))["code"] == 0
    assert (folder / "results" / "table.csv").read_bytes() == expected
    return codes


@pytest.mark.campaign
def test_kills_in_eight_commands(commands, folder):
    (folder / "plain2.py").write_text(PLAIN)
    count = int(os.environ.get(KILLS, "60"))
    codes = kills(commands, folder, count, random.Random(count))
    for (name, code), number in sorted(codes.items()):
        print(f"{name:8} {code:5} {number:4}")
    assert {130, -signal.SIGKILL, 143} <= {code for _, code in codes}
