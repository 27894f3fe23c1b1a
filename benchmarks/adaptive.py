"""Work and precision of methods that choose their steps, beside SciPy and SUNDIALS through CasADi,
in one run.

python benchmarks/adaptive.py [PROBLEM ...]: for every solver the CPU time (ms, the best of several
runs, rows included) at which the largest error of all states at 101 times, against the largest
value of each state, is 1e-4, 1e-6 and 1e-8: interpolated along runs of rtol = 1e-3 ... 1e-10 with
atol = rtol/100, "-" where none came so far. Then how many times as fast `auto` is as the best of
each group:

  in Python   simulate(method="DOP853" ...): SciPy's solvers, driven step by step, with rows, loops and breaks
  SciPy       solve_ivp over sim.rhs(), the compiled rates, with the Jacobian; no loops are closed, no breaks known
  SUNDIALS    CVODES and IDAS of CasADi (extra "bench"), over the same rates as its own expressions, compiled, with its
              exact sparse Jacobian; no loops are closed, no breaks known

Each of the others has a process of its own and a time limit. The reference is dop853 at the
tolerance stated; a line says by how much the stiff method at 1e-11 deviates from it.
"""

import argparse
import contextlib
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import mechanisms
import numpy as np

import bellcrank as bc

EXAMPLES = Path(__file__).parent.parent / "examples"
OWN = ("tsit5", "dop853", "radau5", "auto")
GROUPS = {
    "in Python": ("DOP853", "LSODA", "Radau", "BDF"),
    "SciPy": ("SciPy DOP853", "SciPy LSODA", "SciPy Radau", "SciPy BDF"),
    "SUNDIALS": ("CVODES BDF", "CVODES Adams", "IDAS"),
}
ERRORS = (1e-4, 1e-6, 1e-8)
TOLERANCES = 10.0 ** -np.arange(3, 11)
OTHERS = TOLERANCES[[0, 1, 3, 5, 7]]
LIMIT = 20  # CPU s: for all runs of one of the others
SUNDIALS = {
    "CVODES BDF": ("cvodes", {}),
    "CVODES Adams": (
        "cvodes",
        {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"},
    ),
    "IDAS": ("idas", {}),
}


def example(name):
    return lambda: bc.System.read(EXAMPLES / f"{name}.py")


# system, seconds, values to start from, the tolerance of the reference
PROBLEMS = {
    "double pendulum": (example("double_pendulum"), 10.0, {"q(a)": 2.5, "q(b)": 1.0}, 1e-13),
    "Andrews": (example("andrews_squeezer"), 0.03, None, 1e-13),
    "four-bar": (example("four_bar"), 1.0, None, 1e-13),
    "quarter car": (mechanisms.hopping_quarter_car, 3.0, None, 1e-13),
    "Stanford arm": (example("stanford_arm_controlled"), 10.0, None, 1e-13),
    "governor": (mechanisms.governor, 10.0, None, 1e-13),
    "strut": (mechanisms.strut, 5.0, None, 1e-12),
}


class Clock:
    """Seconds since it was made: those of this process, where they are so many that its coarse
    clock shows them."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self):
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        return wall if wall < 0.05 else min(wall, max(cpu, 0.05))


class Problem:
    """A problem, compiled: runs by any solver, and their errors."""

    def __init__(self, name):
        make, self.t_end, self.initial, self.finest = PROBLEMS[name]
        self.equations = make().equations()
        self.sim = self.equations.compile(speed="fast")
        self.options = {
            "t_end": self.t_end,
            "step": self.t_end / 100,
            "output_every": 1,
            "initial": self.initial,
        }
        self.times = np.linspace(0, self.t_end, 101)
        self.exact = None

    def run(self, method, rtol):
        """Values of all states by time, and seconds."""
        clock = Clock()
        run = self.sim.simulate(method=method, rtol=rtol, atol=rtol / 100, **self.options)
        seconds = min(
            run.settings["seconds"], clock.seconds
        )  # of the run alone, unless others had their turns within
        units = [x.unit.factor for x in self.sim.interface.states]
        values = [
            factor * run[x.name] for x, factor in zip(self.sim.interface.states, units, strict=True)
        ]
        return np.array(values), seconds

    def start(self):
        return np.concatenate(self.sim.assemble(self.initial))

    def error(self, values):
        """The largest, against the largest value of each state; coordinates count as 1e-3 at least,
        speeds as 1e-6."""
        if values.shape != self.exact.shape or not np.isfinite(values).all():
            return math.inf
        n_q = len(self.sim.interface.coordinates)
        least = np.where(np.arange(len(self.exact)) < n_q, 1e-3, 1e-6)
        size = np.maximum(np.abs(self.exact).max(axis=1), least)
        return float((np.abs(values - self.exact) / size[:, None]).max())


def scipy_solver(problem, method):
    """A run of SciPy alone over the compiled rates."""
    from scipy.integrate import solve_ivp

    f, start = problem.sim.rhs(), problem.start()
    more = {} if method == "DOP853" else {"jac": f.jacobian}

    def run(rtol):
        clock = Clock()
        found = solve_ivp(
            f, (0, problem.t_end), start, method, problem.times, rtol=rtol, atol=rtol / 100, **more
        )
        return found.y, clock.seconds

    return run


def sundials_solver(problem, name):
    """A run of CVODES or IDAS through CasADi, over the rates of the written Python program."""
    import casadi as ca

    sim, start = problem.sim, problem.start()
    t, y = ca.SX.sym("t"), ca.SX.sym("y", len(start))
    n_q = len(sim.interface.coordinates)
    with tempfile.TemporaryDirectory() as folder:
        problem.equations.export("python", folder)
        text = (Path(folder) / "model.py").read_text(encoding="utf-8")
    space = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), space)
    functions = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp", "log")
    space |= {f: getattr(ca, f) for f in functions} | {"max": ca.fmax, "min": ca.fmin}
    p = sim.parameter_values()
    w = [casadi_signal(ca, sim.interface.run.inputs[x.base], t) for x in sim.interface.inputs]
    q, u = [y[i] for i in range(n_q)], [y[i] for i in range(n_q, len(start))]
    rates = ca.vertcat(
        *(
            x
            for part in space["derivatives"](t, q, u, p, sim.loaded.constants(p), w, None)
            for x in part
        )
    )
    there = np.array(ca.Function("f", [t, y], [rates])(0.01, start)).ravel()
    here = sim.rhs()(0.01, start)
    assert np.abs(there - here).max() <= 1e-9 * np.abs(here).max(), "CasADi has other rates"
    solver, more = SUNDIALS[name]
    jit = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3"], "compiler": "gcc"}}

    def run(rtol):
        options = {"reltol": rtol, "abstol": rtol / 100, "max_num_steps": 10_000_000, **jit, **more}
        integrate = ca.integrator(
            "I", solver, {"x": y, "t": t, "ode": rates}, 0.0, problem.times[1:].tolist(), options
        )
        seconds = math.inf
        for _ in range(10):
            clock = Clock()
            found = integrate(x0=start)["xf"]
            seconds = min(seconds, clock.seconds)
            if seconds > 0.2:
                break
        return np.column_stack([start, np.array(found)]), seconds

    return run


def casadi_signal(ca, signal, t):
    """An input as an expression of CasADi: a step, or a sine that begins."""
    numbers = signal.numbers
    if signal.name == "step":
        at, height, before = numbers
        return ca.if_else(t > at, height, before)
    assert signal.name == "sine"
    amplitude, frequency, phase, start = numbers
    return ca.if_else(
        t > start, amplitude * ca.sin(2 * math.pi * frequency * (t - start) + phase), 0.0
    )


def child(name, solver, reference):
    """Runs of one of the others: a line of error and time (ms) for each, as soon as it is known."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    problem = Problem(name)
    problem.exact = np.load(reference)
    os.chdir(Path(reference).parent)  # CasADi compiles where it is
    if solver in SUNDIALS:
        run = sundials_solver(problem, solver)
    elif solver.startswith("SciPy "):
        run = scipy_solver(problem, solver.split()[1])
    else:
        run = lambda rtol: problem.run(solver, rtol)  # noqa: E731
    for rtol in OTHERS:
        found = [run(rtol)]
        found += [run(rtol) for _ in range(0 if solver in SUNDIALS or found[0][1] > 1.0 else 4)]
        error, seconds = problem.error(found[0][0]), min(x[1] for x in found)
        print(json.dumps([error, 1e3 * seconds]), flush=True)


def curve_of_child(name, solver, reference):
    """What another solver came to within the time, and why no further."""
    words = [sys.executable, "-W", "ignore", __file__, "--child", name, solver, reference]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    why = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1][:70]
    if done.returncode < 0:
        why = f"stopped after {LIMIT} s"
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    found = [json.loads(line) for line in lines]
    return [(e, t) for e, t in found if math.isfinite(e)], why


def own_curve(problem, method):
    """Errors and times (ms) of runs with ever smaller tolerances."""
    problem.run(method, 1e-4)  # compiles what it needs
    found = []
    for rtol in TOLERANCES:
        seconds, values = math.inf, None
        for _ in range(20):
            values, taken = problem.run(method, rtol)
            seconds = min(seconds, taken)
            if taken > 0.2:
                break
        found.append((problem.error(values), 1e3 * seconds))
    return found


def time_at(found, error):
    """The time at which an error is reached, along the curve; None if it is not."""
    for (e0, t0), (e1, t1) in pairwise(found):
        if e1 <= error < e0:
            share = math.log(e0 / error) / math.log(e0 / e1)
            return t0 * (t1 / t0) ** share
    return found[0][1] if found and found[0][0] <= error else None


def line(solver, times, why=""):
    shown = "".join(f"{'-' if t is None else f'{t:.3g}':>10}" for t in times)
    print(f"  {solver:28}{shown}{f'   {why}' if why else ''}", flush=True)


def measure(name, groups, folder):
    """The table of a problem."""
    problem = Problem(name)
    problem.exact = problem.run("dop853", problem.finest)[0]
    stiff = problem.error(problem.run("radau5", 1e-11)[0])
    reference = str(Path(folder) / "reference.npy")
    np.save(reference, problem.exact)
    title = f"{name}, {len(problem.exact)} states"
    print(
        f"{title:30}" + "".join(f"{e:>10.0e}" for e in ERRORS) + f"   reference to {stiff:.0e}",
        flush=True,
    )
    best = {}
    for method in OWN:
        found = own_curve(problem, method)
        best[method] = [time_at(found, e) for e in ERRORS]
        line(method, best[method])
    for group, solvers in groups.items():
        if group == "SUNDIALS" and importlib.util.find_spec("casadi") is None:
            print("  CVODES, IDAS: CasADi is not installed (extra 'bench')", flush=True)
            continue
        for solver in solvers:
            found, why = curve_of_child(name, solver, reference)
            best[solver] = [time_at(found, e) for e in ERRORS]
            line(solver, best[solver], why)
    for group, solvers in groups.items():
        ratios = []
        for i in range(len(ERRORS)):
            others = [best[s][i] for s in solvers if s in best and best[s][i] is not None]
            mine = best["auto"][i]
            ratios.append(min(others) / mine if others and mine else None)
        if any(s in best for s in solvers):
            line(f"auto over {group}", ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", help=f"of {', '.join(PROBLEMS)}")
    parser.add_argument("--own", action="store_true", help="without the others")
    parser.add_argument(
        "--others", action="append", metavar="SOLVER", help="these alone (may be repeated)"
    )
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return
    groups = {} if args.own else GROUPS
    if args.others:
        groups = {
            group: [s for s in solvers if s in args.others] for group, solvers in GROUPS.items()
        }
    for name in args.problems or PROBLEMS:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            measure(name, groups, folder)


if __name__ == "__main__":
    main()
