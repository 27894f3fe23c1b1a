"""Cost of models that grow: derivation, compilation, and steps beside the number of operations.

    python benchmarks/scale.py [--most 40] [four-bars | pendulums | legs | chain ...]

All times are CPU time: seconds to derive and to compile, microseconds per step of `rk4` in regular configurations, and of a step
of 1 ms on average over the first second, in which the four-bars pass a singular configuration. `ns/op` is a step divided by the
operations of its four evaluations: it stays the same where nothing but the operations costs time.
"""

import argparse
import resource
from math import log, pi
from pathlib import Path
from runpy import run_path
from time import process_time

import bellcrank as bc

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZES = (2, 5, 10, 20, 40, 80)
REPEATS, STEPS = 5, 2000


def pendulums(n):
    """n equal pendulums on one cart."""
    s = bc.System(f"{n} pendulums on a cart", units="SI")
    cart = s.add_body("cart", translate="x", mass="M")
    for i in range(n):
        s.add_body(f"p{i}", parent=cart, rotate="z", cm=(0, "-l", 0), mass="m", inertia=(0, 0, "m*l**2/12"))
    s.add_gravity(direction=-s.inertial["y"])
    s.set_defaults(M=10, m=1, l=0.5, g=9.81)
    s.set_run(t_end=1, step=0.001, initial={f"q(p{i})": 0.5 + 0.01 * i for i in range(n)})
    return s


def legs(n):
    """A body on a slide that carries n legs, each with a four-bar loop."""
    s = bc.System(f"{n} legs", units="SI")
    ground = s.inertial
    body = s.add_body("body", translate="y", mass=10)
    rod = {"rotate": "z", "cm": ("l/2", 0, 0), "mass": "m", "inertia": (0, 0, "m*l**2/12")}
    for i in range(n):
        at = ("2*l", 0, 0)
        a = s.add_body(f"a{i}", parent=body, **rod)
        b = s.add_body(f"b{i}", parent=a, joint_at=("l", 0, 0), **rod)
        c = s.add_body(f"c{i}", parent=body, joint_at=at, **rod)
        end = s.add_point(f"e{i}", body=b, at=("l", 0, 0))
        tip = s.add_point(f"t{i}", body=c, at=("l", 0, 0))
        s.add_loop_joint(f"leg {i}", between=(end, tip), directions=(ground["x"], ground["y"]))
    s.add_gravity(direction=-ground["y"])
    s.set_defaults(l=1, m=1, g=9.81)
    near = {f"q(b{i})": -2 * pi / 3 for i in range(n)} | {f"q(c{i})": pi / 3 for i in range(n)}
    s.set_run(t_end=1, step=0.001, initial={f"q(a{i})": 1.1 + 0.01 * i for i in range(n)}, guess=near)
    return s


MODELS = {
    "four-bars": run_path(str(EXAMPLES / "n_four_bar.py"))["model"],
    "pendulums": pendulums,
    "legs": legs,
    "chain": run_path(str(EXAMPLES / "n_link_chain.py"))["model"],
}


def children():
    """CPU seconds of processes that have ended, such as compilers."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def least(work):
    times = []
    for _ in range(REPEATS):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def measure(name, n):
    start = process_time()
    equations = MODELS[name](n).equations()
    derived = process_time() - start
    start, before = process_time(), children()
    equations.compile(speed="quick")
    compiled = process_time() - start + children() - before
    sim = equations.compile(speed="fast")
    fine = {"step": 1e-4, "output_every": STEPS, "method": "rk4"}
    step = least(lambda: sim.simulate(t_end=STEPS * 1e-4, **fine)) - least(lambda: sim.simulate(t_end=1e-4, **fine))
    through = least(lambda: sim.simulate(t_end=1.0, step=1e-3, output_every=1000))
    return equations.operation_count()["total"], derived, compiled, 1e6 * step / (STEPS - 1), 1e6 * through / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=[*MODELS], help=f"of {', '.join(MODELS)}")
    parser.add_argument("--most", type=int, default=40, help="largest n (default: 40)")
    asked = parser.parse_args()
    MODELS["four-bars"](1).equations().compile(speed="fast")  # the kernel is compiled once
    for name in asked.models:
        print(f"{name}\n{'n':>5} {'ops':>9} {'derive':>9} {'compile':>9} {'us/step':>9} {'through':>9} {'ns/op':>9}")
        rows = []
        for n in (n for n in SIZES if n <= asked.most):
            rows.append((n, *measure(name, n)))
            _, count, derived, compiled, step, through = rows[-1]
            per = 1000 * step / (4 * count)
            print(f"{n:5} {count:9} {derived:9.2f} {compiled:9.2f} {step:9.2f} {through:9.2f} {per:9.3f}", flush=True)
        (n, *small), (m, *large) = rows[max(0, len(rows) - 3)], rows[-1]
        slopes = [log(b / a) / log(m / n) for a, b in zip(small, large, strict=True)] if m > n else []
        print("slope" + "".join(f" {x:9.2f}" for x in slopes) + f"   from n = {n} to {m}\n")


if __name__ == "__main__":
    main()
