"""Runs part of the suite with the oldest declared and the newest versions of what Bellcrank needs:
`make test-versions`.

The oldest versions are read from pyproject.toml, so that what is declared is what is tested. Every
Python from 3.11 on that is found on the path (`python3.11`, `python3.12` ...) takes part;
environments stay in build/versions.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
TESTS = (
    "tests/analysis",
    "tests/api",
    "tests/symbolic/expr",
    "tests/core/files",
    "tests/core/numeric",
    "tests/simulation/run",
    "tests/analysis/view",
)
TOOLS = (
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "pandas",
    "pyarrow",
    "xarray",
    "sympy",
    "control",
    "gymnasium",
    "psutil",
    "wasmtime",
)


def declared() -> dict[str, str]:
    """Names and least versions of packages that Bellcrank needs, and of those that its tests
    compare with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [
        *project["dependencies"],
        *(x for x in project["optional-dependencies"]["test"] if x.startswith(TOOLS)),
    ]
    found = (re.match(r"([\w-]+)>=([\d.]+)", x) for x in listed)
    return {m[1]: m[2] for m in found if m}


def works(python: str) -> bool:
    """Can this Python be started? Version managers put commands on the path that cannot."""
    return (
        shutil.which(python) is not None
        and not subprocess.run([python, "-c", ""], capture_output=True).returncode
    )


def tried(python: str, oldest: bool) -> bool:
    """Installs into an environment and runs the tests there; did they pass?"""
    folder = ROOT / "build" / "versions" / f"{python}-{'oldest' if oldest else 'newest'}"
    wanted = [f"{name}{'==' if oldest else '>='}{version}" for name, version in declared().items()]
    inside = str(folder / "bin" / "python")
    steps = [
        [python, "-m", "venv", "--clear", str(folder)],
        [inside, "-m", "pip", "install", "--quiet", *wanted],
        [inside, "-m", "pip", "install", "--quiet", "--no-deps", "--editable", str(ROOT)],
        [inside, "-m", "pytest", "-q", "-n", str(min(2, os.cpu_count() or 1)), *TESTS],
    ]
    return not any(subprocess.run(step, cwd=ROOT).returncode for step in steps)


def main(given: list[str]) -> int:
    pythons = [p for p in given or PYTHONS if works(p)]
    if not pythons:
        print("no Python 3.11 or later is on the path")
        return 1
    # the oldest versions have binary packages for the oldest Python only
    rows = [(pythons[0], True), *((p, False) for p in pythons)]
    results = [(python, oldest, tried(python, oldest)) for python, oldest in rows]
    for python, oldest, good in results:
        print(f"{python:12} {'oldest' if oldest else 'newest'}  {'passed' if good else 'FAILED'}")
    return 0 if all(good for _, _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
