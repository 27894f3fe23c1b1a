"""Operation counts of the examples, and what each pass is worth: one table each.

    python benchmarks/operations.py [--thorough]

Additions / multiplications and divisions by the rule of Sayers (1990), calls apart.
"""

import sys
import time
from pathlib import Path

import bellcrank as bc
from bellcrank.mechanics.dynamics.accelerations import PASSES

EXAMPLES = Path(__file__).parent.parent / "examples"
# published best (Sayers 1990), calls counted as multiplications where the source does so
MODELS = {
    "stanford_arm": "240 / 353",
    "spacecraft_2": "338 / 455 *",
    "spacecraft_1": "628 / 791 *",
    "spacecraft_1_small": "442 / 514 *",
    "passenger_car": "69 / 114 *",
    "passenger_car_small": "15 / 19 *",
    "double_pendulum": "",
    "n_link_chain": "",
}


def classic(equations):
    c = equations.operation_count()["classic"]
    return f"{c['add']:4} / {c['muldiv']:4} + {c['calls']:2}"


def main():
    thorough = "--thorough" in sys.argv
    print(
        f"{'model':22} {'published':14} {'Bellcrank':18} {'seconds':8}"
        + ("thorough" if thorough else "")
    )
    for name, published in MODELS.items():
        system = bc.System.read(EXAMPLES / f"{name}.py")
        start = time.perf_counter()
        equations = system.equations()
        seconds = time.perf_counter() - start
        more = classic(system.equations(optimise="thorough")) if thorough else ""
        print(f"{name:22} {published:14} {classic(equations):18} {seconds:7.3f} {more}")
    print(
        "* calls counted as multiplications\n\nadditions + multiplications lost when one "
        "pass is left out"
    )
    print(f"{'model':22}" + "".join(f"{p:>14}" for p in PASSES))
    for name in MODELS:
        system = bc.System.read(EXAMPLES / f"{name}.py")
        full = system.equations().operation_count()["total"]
        lost = [system.equations(without=(p,)).operation_count()["total"] - full for p in PASSES]
        print(f"{name:22}" + "".join(f"{n:14}" for n in lost))


if __name__ == "__main__":
    main()
