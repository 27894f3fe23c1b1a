"""Steps per second of many runs: one after another inside the compiled program, side by side in
lanes, on one core and on all.

    python benchmarks/many.py [--runs N] [--steps N] [MODEL ...]

All are RK4 steps of the examples, four right-hand sides each, with three parameters that vary from
run to run, and one channel at the end of each run. On one core the CPU time counts, so that what
else the machine does is left out; on all cores the clock. `--peers`: the same trees by MuJoCo's
rollout, jax with the same statements, and CasADi's map, where they are installed.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from runpy import run_path

import numpy as np

import bellcrank as bc
from bellcrank.simulation.many.worker_threads import core_count

EXAMPLES = Path(__file__).parents[1] / "examples"
MODELS = (
    "quarter_car",
    "stanford_arm",
    "spacecraft_2",
    "n_link_chain",
    "passenger_car",
    "motorcycle",
    "driven_car",
)
TREES = {
    "stanford_arm": "Stanford arm",
    "n_link_chain": "chain of 8",
}  # in other formats, as benchmarks/rhs.py names them
REPEATS = 8


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--peers", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore", bc.ModelWarning)
    cores = core_count()
    print(f"RK4 steps per second of {args.runs} runs of {args.steps} steps")
    print(
        f"{'model':16} {'one by one':>11} {'lanes':>11} {'ratio':>6} {f'lanes, {cores} cores':>15}"
    )
    for name in args.models:
        run = task(name, args)
        with on_core(0):
            alone, lanes = best(run, ("cores", "lanes"), time.process_time)
        (every,) = best(run, ("lanes",), time.perf_counter)
        rate = [args.runs * args.steps / s for s in (alone, lanes, every)]
        print(
            f"{name:16} {rate[0]:11.3g} {rate[1]:11.3g} {alone / lanes:6.2f} {rate[2]:15.3g}",
            flush=True,
        )
        if args.peers and name in TREES:
            with on_core(0):
                beside(name, args, rate[1])


def beside(name, args, ours):
    """Prints what others do."""
    sys.path.insert(0, str(Path(__file__).parent / "peers"))
    from many_peers import others

    sim = run_path(str(EXAMPLES / f"{name}.py"))["model"]().equations().compile(speed="fast")
    step = sim.interface.run.step or 1e-3
    for peer, found in others(TREES[name], sim, args.runs, args.steps, step).items():
        told = (
            f"- {found}"
            if isinstance(found, str)
            else f"{found:11.3g}, lanes have {ours / found:.1f} times as many"
        )
        print(f"    {peer:16} {told}", flush=True)


def task(name, args):
    """A function that does all runs by one of the ways."""
    sim = run_path(str(EXAMPLES / f"{name}.py"))["model"]().equations().compile(speed="fast")
    varied = [x for x in sim.interface.parameters if x.default][:3]
    step = sim.interface.run.step or 1e-3
    settings = {
        "parameters": {x.name: np.linspace(1.0, 1.01, args.runs) * x.default for x in varied},
        "t_end": args.steps * step,
        "step": step,
        "method": "rk4",
        "output_every": args.steps,
        "metrics": {sim.interface.channels[0].name: "final"},
    }

    def run(backend):
        many = sim.simulate_many(args.runs, backend=backend, **settings)
        assert many.settings["backend"] == backend, many.notes
        assert set(many.ended) == {"finished"}

    return run


def best(run, backends, clock):
    """The shortest of some times of each, in s, taken in turn; the first, in which it is compiled,
    does not count."""
    for backend in backends:
        run(backend)
    times = {backend: [] for backend in backends}
    for _ in range(REPEATS):
        for backend in backends:
            began = clock()
            run(backend)
            times[backend].append(clock() - began)
    return [min(x) for x in times.values()]


class on_core:
    """This process on one core."""

    def __init__(self, core):
        self.core = core

    def __enter__(self):
        self.before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.core})

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.before)


if __name__ == "__main__":
    main()
