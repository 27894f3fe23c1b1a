"""Operations of the full state Jacobian of every example, against those of its right-hand side.

python benchmarks/jacobian.py [NAME ...]
"""

import sys
import time
from pathlib import Path

import bellcrank as bc

EXAMPLES = Path(__file__).parent.parent / "examples"


def main():
    names = sys.argv[1:] or sorted(
        p.stem for p in EXAMPLES.glob("*.py") if "def model(" in p.read_text(encoding="utf-8")
    )
    print(
        f"{'model':24}{'right-hand side':>16}{'Jacobian':>10}{'ratio':>7}{'entries':>9}{'seconds':>9}"
    )
    for name in names:
        equations = bc.System.read(EXAMPLES / f"{name}.py").equations()
        start = time.perf_counter()
        slopes = equations.jacobian()
        seconds = time.perf_counter() - start
        one, all_slopes = equations.program.count.total, slopes.count.total
        note = " per direction" if slopes.rates else ""
        print(
            f"{name:24}{one:16}{all_slopes:10}{all_slopes / one:7.2f}{len(slopes.entries):9}{seconds:9.2f}{note}"
        )


if __name__ == "__main__":
    main()
