"""Seeds single faults into copies of the source, one at a time, and asks the tests about each.

    python -m tests.seeded map             one run of the quick suite with coverage: which tests run which function
    python -m tests.seeded run             200 faults spread over AREAS; each is given to the tests that run its function,
                                           the quick ones first, and what survives to the whole quick suite; what is
                                           in the report already is not tried again
    python -m tests.seeded run --count 20 --seed 3 --only dynamics

Needs the packages `coverage` and `pytest-cov` for the map. A fault counts as caught when a test fails, a test process
hangs, or the package no longer imports. The table is printed as it comes, survivors at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.seeded.changes import Change, changes

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
MISUSED, NOTHING_RAN = 4, 5  # what pytest ends with
LOCKING = (
    "run/test_threads.py",
    "faults/test_interrupts.py",
)  # the tracer's own lock waits for a thread or an interrupt that is lost
TESTED_IN = {"export": "emit", "derive": "dynamics", "model": "kinematics"}  # rooms without a folder of tests
FIRST = 12.0  # s of tests, the quickest ones, that see a fault first
WORDS = {  # of tests that run a source in C or Fortran, which no map knows
    "bridge": "singular|bridge|change_point",
    "dae": "dae",
    "rigid": "rigid",
    "radau": "radau",
    "adaptive": "tsit5|dop853",
    "implicit": "linkage",
    "null_space": "null_space|chain",
    "projection": "loops|four_bar",
    "loops": r"loops|\.write\(",
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


def draw_map(path: Path) -> None:
    """Which tests run which function, and how long each takes."""
    import coverage

    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "coveragerc")
        settings.write_text(f"[run]\nsource = bellcrank\ndata_file = {folder}/data\n", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "--durations=0", "-vv"]
        command += [f"--ignore=tests/{x}" for x in LOCKING]
        command += ["--cov=bellcrank", "--cov-context=test", f"--cov-config={settings}", "--cov-report="]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        data = coverage.CoverageData(f"{folder}/data")
        data.read()
        path.write_text(json.dumps(_mapped(data, done.stdout)), encoding="utf-8")


def collected() -> set[str]:
    """The tests of the quick suite as they are now: some may have gone since the map was drawn."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def _mapped(data: object, log: str) -> dict[str, dict[str, float]]:
    """{"file:function": {test: seconds}}"""
    seconds: dict[str, float] = {}
    for line in log.splitlines():
        words = line.split()
        if len(words) >= 3 and words[1] == "call" and words[0].endswith("s"):
            seconds[line.split("call", 1)[1].strip()] = float(words[0][:-1])
    found: dict[str, dict[str, float]] = {}
    for file in data.measured_files():  # type: ignore[attr-defined]
        short = file[file.index(SOURCE) :]
        places = _functions(ROOT / short)
        for line, contexts in data.contexts_by_lineno(file).items():  # type: ignore[attr-defined]
            for context in contexts:
                if context:
                    test = context.split("|")[0]
                    found.setdefault(f"{short}:{places.get(line, 'module')}", {})[test] = seconds.get(test, 0.005)
    return found


def _functions(path: Path) -> dict[int, str]:
    """The function around each line of a file (not its heading, which runs at import)."""
    import ast

    places: dict[int, str] = {}

    def walk(node: ast.AST, scope: list[str]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = [*scope, child.name]
                if isinstance(child, ast.FunctionDef):
                    for line in range(child.body[0].lineno, (child.end_lineno or 0) + 1):
                        places[line] = ".".join(inner)
                walk(child, inner)
            else:
                walk(child, scope)

    walk(ast.parse(path.read_text(encoding="utf-8")), [])
    return places


class Copy:
    """A copy of the tree in which one fault at a time is made."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        for part in ("src", "tests", "examples", "docs", "benchmarks"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for part in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "LICENSE"):
            if (ROOT / part).exists():
                shutil.copy(ROOT / part, folder)

    def ask(self, tests: list[str], limit: float) -> str | None:
        """What noticed the fault: the first failing test, "hangs", or None."""
        if not tests:
            return None
        env = dict(os.environ, PYTHONPATH=str(self.root / "src"))
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-rfE"]
        listed = self.root / "listed.txt"
        listed.write_text("\n".join(tests), encoding="utf-8")
        try:
            done = subprocess.run(
                [*command, f"@{listed}"],
                cwd=self.root,
                env=env,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "hangs"
        if done.returncode in (0, NOTHING_RAN):
            return None
        lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR tests"))]
        if done.returncode == MISUSED and not lines:  # else a file of tests cannot even be read
            files = list(dict.fromkeys(t.split("::")[0] for t in tests))
            if files != tests:  # the fault changes values that tests are called by
                return self.ask(files, limit)
            raise SystemExit(f"pytest cannot run these tests:\n{done.stdout}{done.stderr}")
        return lines[0].split(" - ")[0] if lines else f"pytest ends with {done.returncode}"

    def near(self, change: Change) -> list[str]:
        """The tests of the folder of a change's name, and for run-time sources those that speak of them."""
        room = Path(change.file).relative_to(SOURCE).parts[0]
        folder = Path("tests", TESTED_IN.get(room, room))
        if change.file.endswith(".py"):
            return [str(folder)] if (self.root / folder).exists() else []
        words = next((w for stem, w in WORDS.items() if stem in Path(change.file).stem), "c_source|backend")
        files = sorted((self.root / "tests").rglob("test_*.py"))
        found = [p for p in files if re.search(words, p.name + p.read_text(encoding="utf-8"))]
        return [str(p.relative_to(self.root)) for p in found if "documents" not in p.name]

    def try_(self, change: Change, tests: dict[str, float], whole: bool) -> str | None:
        """What noticed a change; tests that take many times longer than they did for the map hang."""
        path = self.root / change.file
        right = path.read_text(encoding="utf-8")
        path.write_text(change.applied(right), encoding="utf-8")
        try:
            order = sorted(tests, key=lambda t: tests[t])
            first, total = [], 0.0
            for test in order:
                total += tests[test]
                if total > FIRST or len(first) == 150:
                    break
                first.append(test)
            rest = order[len(first) :]
            told = self.ask(first, 240) or self.ask(rest, 300 + 8 * sum(tests[t] for t in rest))
            return told or self.ask(self.near(change), 1200) or (self.ask(["tests"], 7200) if whole else None)
        finally:
            path.write_text(right, encoding="utf-8")


def run(listed: list[Change], mapped: dict[str, dict[str, float]], workers: int, whole: bool, report: Path) -> None:
    """One line per fault, survivors last."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [Copy(Path(folder, str(k))) for k in range(workers)]

        def one(change: Change) -> tuple[Change, str | None]:
            copy = copies.pop()
            try:
                began = time.monotonic()
                told = copy.try_(change, mapped.get(f"{change.file}:{change.place}", {}), whole)
                line = f"{'caught' if told else 'SURVIVED'}\t{change}\t{told or ''}\t{time.monotonic() - began:.0f} s"
                print(line, flush=True)
                with report.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                return change, told
            finally:
                copies.append(copy)

        with ThreadPoolExecutor(workers) as pool:
            results = list(pool.map(one, listed))
    caught = sum(told is not None for _, told in results)
    print(f"\n{caught} of {len(results)} caught ({100 * caught / len(results):.1f} %)")
    for change, told in results:
        if told is None:
            print("survived:", change)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=["map", "list", "run"])
    parser.add_argument("--map", type=Path, default=ROOT / "build/seeded_map.json")
    parser.add_argument("--report", type=Path, default=ROOT / "build/seeded_faults.txt")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(AREAS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--covering", action="store_true", help="do not give survivors to the whole suite")
    given = parser.parse_args()
    given.map.parent.mkdir(exist_ok=True)
    if given.job == "map":
        draw_map(given.map)
        return
    listed = chosen(given.count, given.seed, given.only)
    if given.job == "list":
        print("\n".join(map(str, listed)))
        return
    known = given.report.read_text(encoding="utf-8") if given.report.exists() else ""
    listed = [c for c in listed if f"\t{c}\t" not in known]  # goes on where it was interrupted
    mapped = json.loads(given.map.read_text(encoding="utf-8")) if given.map.exists() else {}
    there = collected()
    mapped = {place: {t: x for t, x in tests.items() if t in there} for place, tests in mapped.items()}
    run(listed, mapped, given.workers, not given.covering, given.report)


if __name__ == "__main__":
    main()
