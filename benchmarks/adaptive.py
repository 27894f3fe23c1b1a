"""Work and precision of methods that choose their steps: those of the program beside SciPy's, in one run.

python benchmarks/adaptive.py [PROBLEM ...]: for every method the time (ms, the best of several runs, rows included) at
which the largest error of all states at 101 times, against the largest value of each state, is 1e-4, 1e-6 and 1e-8:
interpolated along runs of rtol = 1e-3 ... 1e-10 with atol = rtol/100, "-" where none came so far.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

import bellcrank as bc

EXAMPLES = Path(__file__).parent.parent / "examples"
OWN = ("tsit5", "dop853", "radau5", "auto")
SCIPY = ("DOP853", "LSODA", "Radau")
ERRORS = (1e-4, 1e-6, 1e-8)
SLOW = 1.0  # s: a run that took longer is not repeated, and no finer one is tried with SciPy


def strut():
    """A mass on a spring of 1e8 N/m that swings as a pendulum."""
    s = bc.System("strut pendulum", units="mks")
    b = s.add_body("b", translate=(1, 2), mass="m")
    s.add_point("o", at=(0, 0, 0))
    s.add_gravity(direction=-s.inertial[2])
    s.add_strut("s", magnitude="-k*(x - l0) - c*v", between=(b.cm, "o"))
    s.set_defaults(m=1, k=1e8, c=1e3, l0=1, g=9.81)
    s.set_run(initial={"q(b, 1)": 1.0, "q(b, 2)": 0.0})
    return s


def example(name):
    return lambda: bc.load_model(EXAMPLES / f"{name}.py")


# system, seconds, values to start from, inputs, the method of the reference and its tolerance
PROBLEMS = {
    "double pendulum": (example("double_pendulum"), 10.0, {}, "dop853", 1e-13),
    "Andrews": (example("andrews_squeezer"), 0.03, {}, "dop853", 1e-13),
    "four-bar": (example("four_bar"), 1.0, {}, "dop853", 1e-13),
    "quarter car": (example("quarter_car"), 3.0, {}, "dop853", 1e-13),
    "Stanford arm": (example("stanford_arm_controlled"), 10.0, {}, "dop853", 1e-13),
    "strut": (strut, 5.0, {}, "dop853", 1e-12),
}


def states(sim, run):
    return np.array([run[x.name] for x in sim.interface.states])


def curve(sim, options, method, exact):
    """Errors and times (ms) of runs with ever smaller tolerances."""
    size = np.abs(exact).max(axis=1, keepdims=True)
    found = []
    for rtol in 10.0 ** -np.arange(3, 11):
        seconds = np.inf
        for _ in range(20 if method in OWN else 2):
            run = sim.simulate(method=method, rtol=rtol, atol=rtol / 100, **options)
            seconds = min(seconds, run.settings["seconds"])
            if seconds > SLOW:
                break
        values = states(sim, run)
        if values.shape == exact.shape:
            found.append(((np.abs(values - exact) / np.where(size > 0, size, 1.0)).max(), 1e3 * seconds))
        if seconds > SLOW:
            break
    return found


def time_at(found, error):
    """The time at which an error is reached, along the curve; None if it is not."""
    for (e0, t0), (e1, t1) in pairwise(found):
        if e1 <= error < e0:
            share = np.log(e0 / error) / np.log(e0 / e1)
            return t0 * (t1 / t0) ** share
    return found[0][1] if found and found[0][0] <= error else None


def main():
    names = sys.argv[1:] or list(PROBLEMS)
    for name in names:
        make, t_end, more, reference, tolerance = PROBLEMS[name]
        sim = make().equations().compile()
        options = {"t_end": t_end, "step": t_end / 100, "output_every": 1, **more}
        exact = states(sim, sim.simulate(method=reference, rtol=tolerance, atol=tolerance / 100, **options))
        print(f"{name}, {len(exact)} states{'':10}" + "".join(f"{e:>10.0e}" for e in ERRORS), flush=True)
        best = {}
        for method in (*OWN, *SCIPY):
            if method in OWN:
                sim.simulate(method=method, **options)  # compiles what it needs
            found = curve(sim, options, method, exact)
            times = [time_at(found, e) for e in ERRORS]
            best[method] = times
            print(f"  {method:24}" + "".join(f"{'-' if t is None else f'{t:.3g}':>10}" for t in times), flush=True)
        ratios = []
        for i in range(len(ERRORS)):
            others = [best[m][i] for m in SCIPY if best[m][i] is not None]
            ratios.append(min(others) / best["auto"][i] if others and best["auto"][i] else None)
        shown = "".join(f"{'-' if r is None else f'{r:.0f}':>10}" for r in ratios)
        print(f"  {'auto, times as fast':24}{shown}", flush=True)


if __name__ == "__main__":
    main()
