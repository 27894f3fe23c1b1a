"""What surrounds the work: microseconds of a call of the rates or of a step, milliseconds of a run
around its steps.

    python benchmarks/overhead.py [--repeats 20] [--save FILE] [--before FILE] [EXAMPLE ...]

For each example: states, one call of `f(t, x, out)` of `sim.rhs()`, of `sim.derivatives` and of
`st.step()` (least of the repeats), and the time of
`sim.simulate()` with the settings of the example, less the seconds that its steps took
(`run.settings`): the least of the repeats, that of runs from a new start each, and the first run
after loading. "inside" is the time of the rates themselves, many in one compiled call; a step asks
for them as often as its method does. Once, before rates were bound in C, a call took 50 to 500 us.
With `--before`, figures that another version saved with `--save` stand beside these, and how many
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
from bellcrank.core.numeric.fixed_step_methods import METHODS

EXAMPLES = Path(__file__).parents[1] / "examples"
USUAL = (
    "double_pendulum",
    "quarter_car",
    "passenger_car",
    "planar_pendulum",
    "four_bar",
    "stanford_arm",
    "suspension_car",
    "driven_car",
)
CALLS = 50  # in a row: fewer than a busy machine interrupts
COLUMNS = {
    "rhs, us": 9,
    "inside": 8,
    "derivatives": 13,
    "step": 8,
    "around a run, ms": 18,
    "new start": 11,
    "first": 8,
}


def least(work, repeats, calls=CALLS):
    """Microseconds of a call."""
    return min(timeit.repeat(work, number=calls, repeat=repeats)) / calls * 1e6


def around(sim, **given):
    """Milliseconds of a run that its steps did not take."""
    start = perf_counter()
    run = sim.simulate(**given)
    return (perf_counter() - start - run.settings["seconds"]) * 1e3


def elsewhere(sim, repeats):
    """The same from starts of which nothing is known: the state is found for another time."""
    end = sim.interface.run.t_end or 1.0
    return min(around(sim, t_start=1e-6 * (i + 1), t_end=end) for i in range(repeats))


def inside(f, x, repeats):
    """Microseconds of one evaluation among many."""
    times, rows = np.zeros(CALLS), np.tile(x, (CALLS, 1))
    return least(lambda: f._all(times, rows), repeats, 1) / CALLS


def steps(sim, repeats):
    """Microseconds of a step from Python, where there are such."""
    if not hasattr(sim, "stepper"):
        return None
    usual = sim.interface.run.method
    st = sim.stepper(method=usual if usual in METHODS else "rk4")
    here, found = st.save(), []
    for _ in range(repeats):  # the same steps again and again
        found.append(least(st.step, 1))
        st.restore(here)
    return min(found)


def line(figures, wide):
    texts = ("" if x is None else f"{x:.2f}" for x in figures)
    return "".join(f"{text:>{width}}" for text, width in zip(texts, wide, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", nargs="*", default=USUAL)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--before", type=Path)
    given = parser.parse_args()
    before, found = json.loads(given.before.read_text()) if given.before else {}, {}
    warnings.simplefilter("ignore")
    wide = [*COLUMNS.values()]
    print(
        f"{'model':18}{'states':>7}"
        + "".join(f"{name:>{width}}" for name, width in COLUMNS.items())
    )
    for name in given.examples:
        sim = bc.System.read(EXAMPLES / f"{name}.py").equations().compile(speed="fast")
        first = around(sim)
        q, u = sim.assemble()
        f, x = sim.rhs(), np.concatenate([q, u])
        out = np.empty_like(x)
        found[name] = (
            least(lambda f=f, x=x, out=out: f(0.1, x, out), given.repeats),
            inside(f, x, given.repeats),
            least(lambda sim=sim, q=q, u=u: sim.derivatives(0.1, q, u), given.repeats),
            steps(sim, given.repeats),
            min(around(sim) for _ in range(given.repeats)),
            elsewhere(sim, given.repeats),
            first,
        )
        print(f"{name:18}{len(x):7}" + line(found[name], wide), flush=True)
        if name in before:
            pairs = zip(before[name], found[name], strict=True)
            print(f"{'  before':25}" + line(before[name], wide))
            print(
                f"{'  times as fast':25}" + line([old and old / new for old, new in pairs], wide),
                flush=True,
            )
    if given.save:
        given.save.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
