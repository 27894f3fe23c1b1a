"""What surrounds the work: microseconds of a call of the rates, milliseconds of a run around its steps.

    python benchmarks/overhead.py [--repeats 20] [--save FILE] [--before FILE] [EXAMPLE ...]

For each example: states, one call of `sim.rhs()` and of `sim.derivatives` (least of the repeats), and the time of `sim.simulate()`
with the settings of the example, less the seconds that its steps took (`run.settings`): the least of the repeats, and the first
run after loading. "inside" is the time of the rates themselves, many in one compiled call. Once, before rates were bound in C, a call
took 50 to 500 us. With `--before`, figures that another version saved with `--save` stand beside these, and how many
times as fast they are now.
"""

import argparse
import json
import timeit
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

import bellcrank as bc

EXAMPLES = Path(__file__).parents[1] / "examples"
USUAL = (
    "double_pendulum", "quarter_car", "passenger_car", "planar_pendulum", "four_bar", "stanford_arm", "suspension_car", "driven_car",
)  # fmt: skip
CALLS = 500


def least(work, repeats, calls=CALLS):
    """Microseconds of a call."""
    return min(timeit.repeat(work, number=calls, repeat=repeats)) / calls * 1e6


def around(sim):
    """Milliseconds of a run that its steps did not take."""
    start = perf_counter()
    run = sim.simulate()
    return (perf_counter() - start - run.settings["seconds"]) * 1e3


def inside(f, x, repeats):
    """Microseconds of one evaluation among many."""
    times, rows = np.zeros(CALLS), np.tile(x, (CALLS, 1))
    return least(lambda: f._all(times, rows), repeats, 1) / CALLS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", nargs="*", default=USUAL)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--before", type=Path)
    given = parser.parse_args()
    before, found = json.loads(given.before.read_text()) if given.before else {}, {}
    warnings.simplefilter("ignore")
    print(
        f"{'model':18}{'states':>7}{'rhs, us':>9}{'inside':>8}{'derivatives, us':>17}{'around a run, ms':>18}{'first':>8}"
    )
    for name in given.examples:
        sim = bc.load_model(EXAMPLES / f"{name}.py").equations().compile()
        first = around(sim)
        q, u = sim.complete()
        f, x = sim.rhs(), np.concatenate([q, u])
        figures = (
            least(lambda f=f, x=x: f(0.1, x), given.repeats),
            inside(f, x, given.repeats),
            least(lambda sim=sim, q=q, u=u: sim.derivatives(0.1, q, u), given.repeats),
            min(around(sim) for _ in range(given.repeats)),
        )
        print(f"{name:18}{len(x):7}" + "{:9.2f}{:8.2f}{:17.1f}{:18.2f}".format(*figures) + f"{first:8.1f}", flush=True)
        found[name] = (*figures, first)
        if name in before:
            print(f"{'  before':25}" + "{:9.2f}{:8.2f}{:17.1f}{:18.2f}{:8.1f}".format(*before[name]))
            ratios = (old / new for old, new in zip(before[name], found[name], strict=True))
            print(f"{'  times as fast':25}" + "{:9.2f}{:8.2f}{:17.2f}{:18.2f}{:8.1f}".format(*ratios), flush=True)
    if given.save:
        given.save.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
