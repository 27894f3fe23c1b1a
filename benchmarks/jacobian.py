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
        rhs_count = equations.program.count.total
        start = time.perf_counter()
        try:
            jacobian = equations.jacobian()
        except (
            bc.ModelError
        ) as error:  # too long to be written out: evaluated by sim.rhs().jacobian
            print(f"{name:24}{rhs_count:16}   {error.problems[0].split('. ')[0]}")
            continue
        seconds = time.perf_counter() - start
        count = jacobian.count.total
        note = " per direction" if jacobian.rates else ""
        print(
            f"{name:24}{rhs_count:16}{count:10}{count / rhs_count:7.2f}"
            f"{len(jacobian.entries):9}{seconds:9.2f}{note}"
        )


if __name__ == "__main__":
    main()
