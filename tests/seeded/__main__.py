"""Seeds single faults into copies of the source, one at a time, and asks the quick tests about
each.

    python -m tests.seeded base                     one run of the quick suite: seconds of tests, what they run, which fail
    python -m tests.seeded run --seed 14            100 faults spread over AREAS, each given to the tests that run what is
                                                    changed; continues where it was interrupted
    python -m tests.seeded run --count 20 --seed 3 --only dynamics --workers 16 --seconds 500

A fault counts as caught when a test fails that passes without it, hangs, or can no longer be
imported. A line of the report is written for each group of tests; the end says how many were drawn,
caught and missed, and lists those missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from signal import SIGKILL

from tests.seeded.changes import Change, changes, same
from tests.seeded.noted import CHOSEN, NOTES

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "src/bellcrank"
AREAS = {  # name: folders whose files are changed
    "kinematics": ["mechanics/kinematics", "symbolic/vector", "model"],
    "dynamics": ["mechanics/dynamics"],
    "expr": ["symbolic/expr"],
    "program": ["program", "mechanics/derive"],
    "emit": ["codegen", "export", "simulation/backend", "kernel"],
    "run": ["simulation/run", "core/numeric", "analysis"],
    "linkage": ["linkage"],
    "verify": ["verify"],
    "study": ["study"],
}
ENDINGS = (".py", ".c", ".f90")
TESTED_IN = {"export": "codegen", "model": "mechanics"}  # rooms without a folder of tests
FIRST, GROUP = 10.0, 40.0  # s of tests without a fault: the first group, and each that follows
SLOWER = 4.0  # times as long as with the recorder, and half a minute, is a hang
WORDS = {  # of tests that run a source in C or Fortran
    "bridge": ("singular", "bridge", "change_point"),
    "dae": ("dae",),
    "rigid": ("rigid",),
    "radau": ("radau",),
    "adaptive": ("tsit5", "dop853"),
    "implicit": ("linkage",),
    "null_space": ("null_space", "chain"),
    "projection": ("loops", "four_bar"),
    "loops": ("loops",),
    "lanes": ("simulate_many", "lanes"),
    "event": ("event",),
}


def chosen(count: int, seed: int, only: str | None) -> list[Change]:
    """Faults spread evenly over areas, in each over files by their size. What changes no code is
    not drawn."""
    random_ = random.Random(seed)
    areas = [only] if only else list(AREAS)
    listed: list[Change] = []
    for k, area in enumerate(areas):
        files = [
            p
            for folder in AREAS[area]
            for p in sorted((ROOT / SOURCE / folder).rglob("*"))
            if p.suffix in ENDINGS
        ]
        pool = [c for p in files for c in changes(ROOT, str(p.relative_to(ROOT)))]
        order = (
            c
            for c in random_.sample(pool, len(pool))
            if not same(c, (ROOT / c.file).read_text(encoding="utf-8"))
        )
        listed += islice(order, count // len(areas) + (k < count % len(areas)))
    return listed


def file_of(test: str) -> str:
    return test.split("::")[0]


class Base:
    """The tests without a fault: their seconds, those that fail, which are omitted, and what each
    runs."""

    def __init__(
        self, seconds: dict[str, float], failing: list[str], ran: dict[str, list[int]]
    ) -> None:
        self.failing = failing
        self.seconds = seconds
        self.ran = (
            ran  # "dynamics/kane.py:Class.method": places of tests and files of tests in `names`
        )

    @cached_property
    def names(self) -> list[str]:
        """Tests, and after them files of tests, which run something while they are collected, and
        "" for any file."""
        return [*self.seconds, *sorted({file_of(x) for x in self.seconds}), ""]

    @classmethod
    def of(
        cls,
        notes: Iterable[dict[str, object]],
        ran: Iterable[tuple[str, list[str]]],
        failing: set[str],
    ) -> Base:
        seconds: dict[str, float] = {}
        for note in notes:
            name = str(note["test"])
            if name not in failing and "::" in name:
                seconds[name] = round(seconds.get(name, 0.0) + float(note["seconds"]), 3)  # type: ignore[arg-type]
        base = cls(seconds, sorted(failing), {})
        known = {name: k for k, name in enumerate(base.names)}
        sets: dict[str, set[int]] = {}
        for name, places in ran:
            if name in known:
                for place in places:
                    sets.setdefault(place, set()).add(known[name])
        base.ran = {place: sorted(found) for place, found in sets.items()}
        return base

    def running(self, change: Change) -> tuple[set[str], set[str]]:
        """Tests that run what is changed, and others that may use what it left: of the same files,
        or all of them."""
        path = str(Path(change.file).relative_to(SOURCE))
        template = any(folder in f"/{path}" for folder in ("/templates/", "/runtime/", "/kernel/"))
        inside = change.inside and not template
        places = (
            [f"{path}:{change.place}"]
            if inside
            else [x for x in self.ran if x.startswith(f"{path}:")]
        )
        found = {self.names[k] for place in places for k in self.ran.get(place, ())}
        own = {x for x in found if "::" in x}
        if "" in found or not (inside or template):  # a constant may be used anywhere
            return own, {*self.seconds} - own
        files = {file_of(x) for x in found}
        same_files = {x for x in self.seconds if file_of(x) in files}
        return (
            (same_files, set()) if template else (own, same_files - own)
        )  # a template is read once, then kept

    def ordered(self, change: Change) -> tuple[list[str], list[str]]:
        """`running` in order: tests that speak of what is changed first, one of each kind, quick
        ones first."""
        path = Path(change.file).relative_to(SOURCE)
        room = TESTED_IN.get(path.parts[0], path.parts[0])
        if path.suffix == ".py":
            words: tuple[str, ...] = (
                ".".join(("bellcrank", *path.with_suffix("").parts)),
                change.place.split(".")[-1],
            )
        else:
            words = next((w for stem, w in WORDS.items() if stem in path.stem), ("simulate",))
        own, others = self.running(change)
        near: dict[str, int] = {}
        for file in {file_of(x) for x in own | others}:
            text = (ROOT / file).read_text(encoding="utf-8")
            near[file] = 4 * (path.stem.strip("_") in file) + 2 * (f"tests/{room}/" in file)
            near[file] += 3 * any(w in text for w in words)
        kinds: Counter[str] = Counter()
        ranked = []
        for test in sorted(own | others, key=lambda x: (self.seconds[x], x)):
            kind = test.split("[")[0]
            kinds[kind] += 1
            again = (kinds[kind] - 1).bit_length()  # 0, 1, 2, 2, 3, 3, 3, 3 ...
            ranked.append(((again // 2, -near[file_of(test)], self.seconds[test]), test))
        order = [test for _, test in sorted(ranked)]
        return [x for x in order if x in own], [x for x in order if x in others]

    def groups(self, tests: Iterable[str]) -> list[list[str]]:
        """Tests in groups that take about equally long, in each those of a file together."""
        found: list[list[str]] = []
        left = 0.0
        for test in tests:
            if left <= 0.0:
                left = GROUP if found else FIRST
                found.append([])
            found[-1].append(test)
            left -= self.seconds[test] + 0.02
        files = [list(dict.fromkeys(map(file_of, group))) for group in found]
        return [
            sorted(group, key=lambda x: order.index(file_of(x)))
            for group, order in zip(found, files)
        ]


class Copy:
    """A copy of the tree in which one fault at a time is made."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.written = 10**9  # the time of the next text, s
        folder.mkdir()
        for part in ("src", "tests", "examples", "docs", "benchmarks", "website"):
            shutil.copytree(
                ROOT / part,
                folder / part,
                ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
            )
        for path in ROOT.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copy(path, folder)

    def notes(
        self,
        arguments: list[str],
        limit: float,
        tests: Iterable[str] = (),
        record: Path | None = None,
    ) -> list[dict[str, object]] | None:
        """What the tests said, all or those named, with compiled models made afresh; None if they
        hang."""
        with tempfile.TemporaryDirectory() as folder:
            cache, noted, chosen = (
                Path(folder, "cache"),
                Path(folder, "notes"),
                Path(folder, "chosen"),
            )
            cache.mkdir(mode=0o700)
            noted.touch()
            source = self.root / "src"
            given = {
                "PYTHONPATH": str(source),
                "BELLCRANK_CACHE": str(cache),
                "TMPDIR": folder,
                NOTES: str(noted),
            }
            if tests:
                chosen.write_text(json.dumps([*tests]), encoding="utf-8")
                given[CHOSEN] = str(chosen)
            if record:
                recorder = self.root / "tests/seeded/recorder"
                given |= {
                    "BELLCRANK_RECORD_TO": str(record),
                    "BELLCRANK_RECORD_OF": str(self.root / SOURCE),
                }
                given["PYTHONPATH"] = os.pathsep.join([str(recorder), str(source)])
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "tests.seeded.noted",
            ]
            process = subprocess.Popen(
                [*command, "--tb=no", f"--basetemp={folder}/tests", *arguments],
                cwd=self.root,
                env={**os.environ, **given},
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, SIGKILL)
                process.wait()
            found = [json.loads(line) for line in noted.read_text(encoding="utf-8").splitlines()]
            if code not in (0, 1, 2, 5) and not any(
                x["failed"] for x in found
            ):  # it cannot even begin
                found.append({"test": f"pytest ends with {code}", "seconds": 0.0, "failed": True})
            return found

    def ask(self, tests: list[str], limit: float, change: Change | None) -> str | None:
        """The first test that fails with a change, "hangs", or None."""
        arguments = ["-x", *dict.fromkeys(map(file_of, tests))]
        if change is None:
            notes = self.notes(arguments, limit, tests)
        else:
            path = self.root / change.file
            right = path.read_text(encoding="utf-8")
            self._write(path, change.applied(right))
            try:
                notes = self.notes(arguments, limit, tests)
            finally:
                self._write(path, right)
        return (
            "hangs" if notes is None else next((str(x["test"]) for x in notes if x["failed"]), None)
        )

    def _write(self, path: Path, text: str) -> None:
        """Each text has a time of its own: Python compares whole seconds to know what it has
        translated."""
        path.write_text(text, encoding="utf-8")
        self.written += 1
        os.utime(path, (self.written, self.written))


def measured(tests: list[str], workers: int, until: float) -> Base:
    """The base, by one process for each file of tests: what one file leaves in memory would hide
    what others run."""
    files = [
        p
        for x in tests
        for p in ([ROOT / x] if x.endswith(".py") else (ROOT / x).rglob("test_*.py"))
    ]
    names = [str(p.relative_to(ROOT)) for p in sorted(files, key=lambda p: -p.stat().st_size)]
    with tempfile.TemporaryDirectory() as folder:
        copy, record = Copy(Path(folder, "tree")), Path(folder, "record")
        record.mkdir()

        def one(name: str) -> list[dict[str, object]]:
            found = copy.notes([name], until - time.monotonic(), record=record)
            if found is None:
                print(f"did not end in time: {name}", flush=True)
            return found or []

        with ThreadPoolExecutor(workers) as pool:
            notes = [note for found in pool.map(one, names) for note in found]
            slow = sorted(
                {str(x["test"]) for x in notes if x["failed"]}
            )  # with the recorder; perhaps not without
            again = pool.map(
                lambda x: copy.notes([file_of(x)], until - time.monotonic(), [x]), slow
            )
            failing = {
                name
                for name, found in zip(slow, again)
                if not found or any(x["failed"] for x in found)
            }
        ran = [
            json.loads(line)
            for p in record.iterdir()
            for line in p.read_text(encoding="utf-8").splitlines()
        ]
        return Base.of(notes, ((x["test"], x["ran"]) for x in ran), failing)


@dataclass
class Asked:
    """A fault, what caught it, the tests that it has to meet (`Base.ordered`), and those that it
    has passed."""

    change: Change
    tests: tuple[list[str], list[str]]
    caught: str | None = None
    passed: set[str] = field(default_factory=set)


class Draw:
    """A draw of faults with its report, which other threads may write to at the same time."""

    def __init__(self, listed: list[Change], base: Base, report: Path, until: float) -> None:
        self.base, self.report, self.until = base, report, until
        self.faults = [Asked(change, base.ordered(change)) for change in listed]
        self._lock = threading.Lock()
        known = {str(asked.change): asked for asked in self.faults}
        for line in report.read_text(encoding="utf-8").splitlines() if report.exists() else ():
            what = json.loads(line)
            if what["fault"] in known:
                known[what["fault"]].caught = what["caught"]
                known[what["fault"]].passed.update(what["passed"])

    def tasks(self) -> list[tuple[Asked, list[str]]]:
        """Groups of tests for each fault: tests that run it and the first groups of all come
        first."""
        found = []
        for asked in self.faults:
            if asked.caught is None:
                for others, listed in enumerate(asked.tests):
                    groups = self.base.groups(x for x in listed if x not in asked.passed)
                    found += [((others, k), asked, tests) for k, tests in enumerate(groups)]
        return [(asked, tests) for _, asked, tests in sorted(found, key=lambda x: x[0])]

    def ask_all(self, workers: int) -> None:
        """Every group of tests of every fault that is still open, until the time is over."""
        with tempfile.TemporaryDirectory() as folder:
            copies = [Copy(Path(folder, str(k))) for k in range(workers)]
            with ThreadPoolExecutor(workers) as pool:
                for done in [
                    pool.submit(self.do, asked, tests, copies) for asked, tests in self.tasks()
                ]:
                    done.result()

    def do(self, asked: Asked, tests: list[str], copies: list[Copy]) -> None:
        """One group of tests. What fails without the fault, too, has not noticed it."""
        expected = sum(self.base.seconds[x] for x in tests)
        left = self.until - time.monotonic()
        if asked.caught is not None or 5.0 + 1.2 * expected > left:
            return
        limit = min(30 + SLOWER * expected, left)
        copy = copies.pop()
        try:
            began = time.monotonic()
            caught = None
            while tests and (caught := copy.ask(tests, limit, asked.change)):
                if caught == "hangs":
                    if limit == left:  # the time is over, no more is known
                        return
                    break
                named = (
                    [x for x in tests if x == caught]
                    or [x for x in tests if file_of(x) == caught]
                    or tests
                )
                if not copy.ask(named, limit, None):
                    break
                caught, tests = None, [x for x in tests if x not in named]
        finally:
            copies.append(copy)
        with self._lock:
            asked.caught = asked.caught or caught
            asked.passed.update([] if caught else tests)
            what = {"fault": str(asked.change), "caught": caught, "passed": [] if caught else tests}
            print("caught" if caught else "passed", asked.change, caught or _met(asked), flush=True)
            with self.report.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps({**what, "seconds": round(time.monotonic() - began, 1)}) + "\n"
                )

    def summary(self) -> str:
        """How many were drawn, caught and missed, and each that was missed, for a person to
        judge."""
        missed = [x for x in self.faults if not x.caught]
        lines = [f"missed ({_met(x)}): {x.change}" for x in missed]
        caught, drawn = len(self.faults) - len(missed), len(self.faults)
        lines.append(
            f"drawn {drawn}, caught {caught} ({100.0 * caught / drawn:.1f} %), missed {len(missed)}"
        )
        return "\n".join(lines)


def _met(asked: Asked) -> str:
    if not any(asked.tests):
        return "no test runs it"
    met, others = (f"{len(asked.passed.intersection(x))} of {len(x)}" for x in asked.tests)
    return f"passed {met} tests that run it, {others} that may use what it left"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("job", choices=["base", "list", "run"])
    parser.add_argument("--base", type=Path, default=ROOT / "build/seeded_base.json")
    parser.add_argument("--report", type=Path, default=ROOT / "build/seeded_faults.jsonl")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(AREAS))
    parser.add_argument(
        "--tests", nargs="+", default=["tests"], help="folders and files of tests, for the base"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=1e7, help="ends by then, with what is known"
    )
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    if given.job == "base":
        given.base.parent.mkdir(exist_ok=True)
        base = measured(given.tests, given.workers, until)
        given.base.write_text(
            json.dumps({k: vars(base)[k] for k in ("seconds", "failing", "ran")}), encoding="utf-8"
        )
        print(
            f"{len(base.seconds)} tests, {sum(base.seconds.values()):.0f} s, "
            f"{len(base.ran)} functions and templates"
        )
        print("\n".join(f"fails without a fault: {x}" for x in base.failing))
        return
    listed = chosen(given.count, given.seed, given.only)
    if given.job == "list":
        print("\n".join(map(str, listed)))
        return
    draw = Draw(
        listed, Base(**json.loads(given.base.read_text(encoding="utf-8"))), given.report, until
    )
    draw.ask_all(given.workers)
    print(draw.summary())


if __name__ == "__main__":
    main()
