"""Seeds single faults into copies of the source, one at a time, and asks the quick tests about each.

    python -m tests.seeded base                     one run of the quick suite: seconds by file, tests that fail anyway
    python -m tests.seeded run --seed 14            100 faults spread over AREAS, each given to the quick suite, the
                                                    tests nearest to it first; continues where it was interrupted
    python -m tests.seeded run --count 20 --seed 3 --only dynamics --workers 16 --seconds 500

A fault counts as caught when a test fails that passes without it, hangs, or can no longer be imported. A line of the
report is written for each group of tests; the rate is printed at the end.
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
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

from tests.seeded.changes import Change, changes
from tests.seeded.noted import NOTES

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "src/bellcrank"
AREAS = {  # name: folders whose files are changed
    "kinematics": ["kinematics", "vector", "model"],
    "dynamics": ["dynamics"],
    "expr": ["expr"],
    "program": ["program", "derive"],
    "emit": ["emit", "export", "backend"],
    "run": ["run", "numeric", "analysis"],
    "linkage": ["linkage"],
    "verify": ["verify"],
    "study": ["study"],
}
ENDINGS = (".py", ".c", ".f90")
TESTED_IN = {"export": "emit", "derive": "dynamics", "model": "kinematics"}  # rooms without a folder of tests
FIRST, GROUP = 10.0, 40.0  # s of tests without a fault: the first group, and each that follows
SLOWER = 8.0  # times as long, and a minute, is a hang
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
    """Faults spread evenly over areas, in each over files by their size."""
    random_ = random.Random(seed)
    areas = [only] if only else list(AREAS)
    listed: list[Change] = []
    for k, area in enumerate(areas):
        files = [
            p for folder in AREAS[area] for p in sorted((ROOT / SOURCE / folder).rglob("*")) if p.suffix in ENDINGS
        ]
        pool = [c for p in files for c in changes(ROOT, str(p.relative_to(ROOT)))]
        listed += random_.sample(pool, count // len(areas) + (k < count % len(areas)))
    return listed


@dataclass
class Base:
    """The quick suite without a fault: seconds of each file of tests, and tests that fail, which are left out."""

    seconds: dict[str, float]
    failing: list[str]

    @classmethod
    def of(cls, notes: Iterable[dict[str, object]]) -> Base:
        seconds: dict[str, float] = {}
        failing: list[str] = []
        for note in notes:
            file = str(note["test"]).split("::")[0]
            seconds[file] = seconds.get(file, 0.0) + float(note["seconds"])  # type: ignore[arg-type]
            if note["failed"]:
                failing.append(str(note["test"]))
        return cls(seconds, sorted({*failing}))

    def ordered(self, change: Change) -> list[str]:
        """The files of tests, nearest first: of the folder of a change, those that speak of it, then the quick ones."""
        path = Path(change.file).relative_to(SOURCE)
        room = TESTED_IN.get(path.parts[0], path.parts[0])
        if path.suffix == ".py":
            words: tuple[str, ...] = (".".join(("bellcrank", *path.with_suffix("").parts)), change.place.split(".")[-1])
        else:
            words = next((w for stem, w in WORDS.items() if stem in path.stem), ("simulate",))

        def rank(file: str) -> tuple[int, float]:
            text = (ROOT / file).read_text(encoding="utf-8")
            near = path.stem.strip("_") in file, f"tests/{room}/" in file, any(w in text for w in words)
            return -4 * near[0] - 2 * near[1] - 3 * near[2], self.seconds[file]

        return sorted(self.seconds, key=rank)

    def groups(self, files: Iterable[str]) -> list[list[str]]:
        """Files in groups that take about equally long."""
        found: list[list[str]] = []
        left = 0.0
        for file in files:
            if left <= 0.0 or self.seconds[file] > 3 * GROUP:
                left = GROUP if found else FIRST
                found.append([])
            found[-1].append(file)
            left -= self.seconds[file]
        return found


class Copy:
    """A copy of the tree in which one fault at a time is made."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        folder.mkdir()
        for part in ("src", "tests", "examples", "docs", "benchmarks", "website"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for path in ROOT.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copy(path, folder)

    def notes(self, arguments: list[str], limit: float) -> list[dict[str, object]] | None:
        """What the tests said, with compiled models made afresh; None if they hang."""
        with tempfile.TemporaryDirectory() as folder:
            cache, noted = Path(folder, "cache"), Path(folder, "notes")
            cache.mkdir(mode=0o700)
            noted.touch()
            given = {"PYTHONPATH": str(self.root / "src"), "BELLCRANK_CACHE": str(cache), "TMPDIR": folder}
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.seeded.noted"]
            process = subprocess.Popen(
                [*command, "--tb=no", f"--basetemp={folder}/tests", *arguments], cwd=self.root,
                env={**os.environ, **given, NOTES: str(noted)}, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, SIGKILL)
                process.wait()
            found = [json.loads(line) for line in noted.read_text(encoding="utf-8").splitlines()]
            if code not in (0, 1, 2, 5) and not any(x["failed"] for x in found):  # it cannot even begin
                found.append({"test": f"pytest ends with {code}", "seconds": 0.0, "failed": True})
            return found

    def ask(self, files: list[str], base: Base, change: Change | None) -> str | None:
        """The first test that fails with a change, "hangs", or None."""
        expected = sum(base.seconds.get(file, 1.0) for file in files)
        without = [f"--deselect={x}" for x in base.failing if "::" in x and x.split("::")[0] in files]
        named = [x for x in files if x not in base.failing]
        if not named:
            return None
        arguments, limit = ["-x", *without, *named], 60 + SLOWER * expected
        if change is None:
            notes = self.notes(arguments, limit)
        else:
            path = self.root / change.file
            right = path.read_text(encoding="utf-8")
            path.write_text(change.applied(right), encoding="utf-8")
            try:
                notes = self.notes(arguments, limit)
            finally:
                path.write_text(right, encoding="utf-8")
        return "hangs" if notes is None else next((str(x["test"]) for x in notes if x["failed"]), None)


@dataclass
class Asked:
    """A fault, what caught it, and the files of tests that it has passed."""

    change: Change
    caught: str | None = None
    passed: set[str] = field(default_factory=set)


class Draw:
    """A draw of faults with its report, which other threads may write to at the same time."""

    def __init__(self, listed: list[Change], base: Base, report: Path, until: float) -> None:
        self.base, self.report, self.until = base, report, until
        self.faults = [Asked(change) for change in listed]
        self._lock = threading.Lock()
        known = {str(asked.change): asked for asked in self.faults}
        for line in report.read_text(encoding="utf-8").splitlines() if report.exists() else ():
            what = json.loads(line)
            if what["fault"] in known:
                known[what["fault"]].caught = what["caught"]
                known[what["fault"]].passed.update(what["passed"])

    def tasks(self) -> list[tuple[Asked, list[str]]]:
        """Groups of tests for each fault: the first groups of all come first."""
        found = []
        for asked in self.faults:
            if asked.caught is None:
                files = [x for x in self.base.ordered(asked.change) if x not in asked.passed]
                found += [(k, asked, files) for k, files in enumerate(self.base.groups(files))]
        return [(asked, files) for _, asked, files in sorted(found, key=lambda x: x[0])]

    def do(self, asked: Asked, files: list[str], copies: list[Copy]) -> None:
        """One group of tests. What fails without the fault, too, has not noticed it."""
        expected = 5.0 + sum(self.base.seconds[x] for x in files)
        if asked.caught is not None or time.monotonic() + 1.5 * expected > self.until:
            return
        copy = copies.pop()
        try:
            began = time.monotonic()
            base = Base(self.base.seconds, list(self.base.failing))
            while caught := copy.ask(files, base, asked.change):
                if caught == "hangs" or caught.startswith("pytest") or not copy.ask([caught], base, None):
                    break
                base.failing.append(caught)
        finally:
            copies.append(copy)
        with self._lock:
            asked.caught = asked.caught or caught
            asked.passed.update([] if caught else files)
            what = {"fault": str(asked.change), "caught": caught, "passed": [] if caught else files}
            print("caught" if caught else "passed", asked.change, caught or f"{len(asked.passed)} files", flush=True)
            with self.report.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**what, "seconds": round(time.monotonic() - began, 1)}) + "\n")

    def summary(self) -> str:
        """The rate, and what survived or was not asked to the end."""
        caught = [x for x in self.faults if x.caught]
        whole = [x for x in self.faults if not x.caught and x.passed >= {*self.base.seconds}]
        open_ = [x for x in self.faults if x not in caught and x not in whole]
        lines = [f"survived: {x.change}" for x in whole]
        lines += [
            f"not asked to the end ({len(x.passed)} of {len(self.base.seconds)} files): {x.change}" for x in open_
        ]
        rate = 100.0 * len(caught) / max(1, len(caught) + len(whole))
        lines.append(f"{len(caught)} caught, {len(whole)} survived ({rate:.1f} %), {len(open_)} not asked to the end")
        return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=["base", "list", "run"])
    parser.add_argument("--base", type=Path, default=ROOT / "build/seeded_base.json")
    parser.add_argument("--report", type=Path, default=ROOT / "build/seeded_faults.jsonl")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(AREAS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no group of tests that would end later")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    listed = chosen(given.count, given.seed, given.only)
    if given.job == "list":
        print("\n".join(map(str, listed)))
        return
    given.base.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if given.job == "base":
            copy = Copy(Path(folder, "tree"))
            notes = copy.notes(["-n", str(given.workers), "--dist", "loadfile"], given.seconds)
            assert notes, "the quick suite did not end in time"
            base = Base.of(notes)
            given.base.write_text(json.dumps(vars(base)), encoding="utf-8")
            print(f"{len(base.seconds)} files, {sum(base.seconds.values()):.0f} s, fail anyway: {len(base.failing)}")
            return
        base = Base(**json.loads(given.base.read_text(encoding="utf-8")))
        draw = Draw(listed, base, given.report, until)
        copies = [Copy(Path(folder, str(k))) for k in range(given.workers)]
        with ThreadPoolExecutor(given.workers) as pool:
            for done in [pool.submit(draw.do, asked, files, copies) for asked, files in draw.tasks()]:
                done.result()
        print(draw.summary())


if __name__ == "__main__":
    main()
