"""Time to start: `import bellcrank` and the command line, beside `import numpy`, each in a fresh
interpreter.

    python benchmarks/start.py [--runs 7]

Times are medians. An import is timed inside the interpreter, a command from outside, less what an
empty program takes.
"""

import argparse
import subprocess
import sys
from statistics import median
from time import perf_counter

HEAVY = ("numpy", "scipy", "matplotlib", "pandas", "xarray", "dask")
IMPORT = "from time import perf_counter as now; t = now(); import {0}; print(now() - t)"
LOADED = "import sys, bellcrank; print(*[m for m in {0!r} if m in sys.modules])"
SMALL = """
from time import perf_counter as now
t = now()
import bellcrank as bc
s = bc.System("mass")
s.add_body("b", translate=1, mass=2)
s.equations()
print(now() - t)
"""


def output(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True
    ).stdout


def imported(code, runs):
    """Median of the seconds that a program prints of itself; the first run, which may compile
    bytecode, is left out."""
    return median([float(output("-c", code)) for _ in range(runs + 1)][1:])


def commanded(runs, *arguments):
    times = []
    for _ in range(runs + 1):
        began = perf_counter()
        output(*arguments)
        times.append(perf_counter() - began)
    return median(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    numpy, own = imported(IMPORT.format("numpy"), runs), imported(IMPORT.format("bellcrank"), runs)
    empty = commanded(runs, "-c", "pass")
    rows = [
        ("import numpy", numpy),
        ("import bellcrank", own),
        ("a small model, derived", imported(SMALL, runs)),
    ]
    rows += [
        (f"bellcrank {o}", commanded(runs, "-m", "bellcrank", o) - empty)
        for o in ("--version", "--help")
    ]
    for name, seconds in rows:
        print(f"{name:24}{1e3 * seconds:9.1f} ms{seconds / numpy:9.3f} of numpy")
    print(
        "heavy modules that `import bellcrank` loads:",
        output("-c", LOADED.format(HEAVY)).strip() or "none",
    )


if __name__ == "__main__":
    main()
