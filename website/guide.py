"""Pages that are written by hand: those of docs/ as they are, and the benchmark tables out of the README."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLES = ("Operations", "Speed")  # sections of the README
MORE = """\
## More of them

- [Many runs at once](many.md): lanes, cores and a GPU, beside CasADi and jax.
- [Performance](performance.md): adaptive methods compared with SciPy and SUNDIALS, compile times, calls from Python.
- [Analysis](analysis.md): operations of exact Jacobians.
- [Tyres](tyres.md) and [linkages](linkages.md): what a wheel and a corner cost.

Every table is printed by a program of the folder `benchmarks`.
"""


def copy_guide(pages: Path) -> None:
    """All of docs/, and a page of benchmark tables."""
    shutil.copytree(ROOT / "docs", pages, dirs_exist_ok=True)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (pages / "benchmarks.md").write_text(benchmarks(readme), encoding="utf-8")


def benchmarks(readme: str) -> str:
    """The page of tables from the text of the README."""
    parts = ["# Benchmarks"]
    for title in TABLES:
        found = re.search(rf"^## {title}\n.*?(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
        if found is None:
            raise ValueError(f"the README has no section '{title}'")
        parts.append(found[0].replace("](docs/", "]("))
    return "\n\n".join([*parts, MORE])
