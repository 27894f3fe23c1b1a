"""Cost of models that grow: derivation, compilation, and steps compared with the operations they
consist of.

    python benchmarks/scale.py [--sizes 10,20,40] [--repeat 3] [--reactions] [four-bars | pendulums
    | truck | legs | chain ...]

All times are CPU time, the least of several repeats, each in a process of its own with no model in
its cache:

derive, compile   seconds, `compile` of a program that is soon ready (`speed="quick"`)
step              microseconds of a step of `rk4` in regular configurations
alone             microseconds of its operations: four evaluations of the derivatives and the corrections, called in a loop
ratio             step / alone
ns/op             four evaluations, per operation
through           microseconds of a step of 1 ms, mean of the first second; four-bars pass a singular configuration in it
assemble          milliseconds in which the loops are closed at the start
with reactions    seconds to derive the model with constraint forces and moments of all joints (`--reactions`)
reactions         microseconds of an evaluation of these
"""

import argparse
import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from math import log, pi
from pathlib import Path
from runpy import run_path
from time import process_time

import bellcrank as bc
from bellcrank.simulation.backend.compiler import find_compiler, load_from_source

EXAMPLES = Path(__file__).parents[1] / "examples"
REPEATS, STEPS, STEP = 7, 10_000, 2e-5
TIMER = """
#include <time.h>
typedef const double *In;
typedef void (*Rates)(double, In q, In u, In p, In c, In w, double *qd, double *ud, void *x);
typedef void (*Evaluated)(double, In q, In u, In p, In c, In w, double *out, void *x);
/* Each state depends on the result before, as in a step. */
double rates_alone(Rates f, int calls, double *q, In u, In p, In c, In w, double *out, int n_q, int n_u, void *x)
{
    const clock_t start = clock();
    for (int i = 0; i < calls; i++) {
        f(0.0, q, u, p, c, w, out, out + n_q, x);
        for (int j = 0; j < n_q; j++)
            q[j] += 1e-20*out[n_q + n_u - 1];
    }
    return (double)(clock() - start)/CLOCKS_PER_SEC/calls;
}
double evaluated_alone(Evaluated f, int calls, double *q, In u, In p, In c, In w, double *out, int n_q, void *x)
{
    const clock_t start = clock();
    for (int i = 0; i < calls; i++) {
        f(0.0, q, u, p, c, w, out, x);
        for (int j = 0; j < n_q; j++)
            q[j] -= 1e-20*out[0];
    }
    return (double)(clock() - start)/CLOCKS_PER_SEC/calls;
}
"""
COLUMNS = ("ops", "derive", "compile", "step", "alone", "ratio", "ns/op", "through", "assemble")
REACTIONS = ("with reactions", "reactions")


def pendulums(n):
    """n equal pendulums on one cart."""
    s = bc.System(f"{n} pendulums on a cart", units="SI")
    cart = s.add_body("cart", translate="x", mass="M")
    for i in range(n):
        s.add_body(
            f"p{i}", parent=cart, rotate="z", cm=(0, "-l", 0), mass="m", inertia=(0, 0, "m*l**2/12")
        )
    s.add_gravity(direction=-s.inertial["y"])
    s.set_defaults(M=10, m=1, l=0.5, g=9.81)
    s.set_run(t_end=1, step=0.001, initial={f"q(p{i})": 0.5 + 0.01 * i for i in range(n)})
    return s


def truck(n):
    """A chassis on n equal axles, each on four springs with dampers: heave, pitch and roll, heave
    and roll of axles."""
    s = bc.System(f"truck with {n} axles", units="SI")
    up = s.inertial["z"]
    pitch = s.add_body("pitch", translate="z", rotate="y", mass=0, inertia=0)
    inertia = ("M*w**2/3", f"M*{n}**2/12", f"M*{n}**2/12")
    chassis = s.add_body("chassis", parent=pitch, rotate="x", mass="M", inertia=inertia)
    for i in range(n):
        x = f"{i - (n - 1) / 2}*l"
        axle = s.add_body(
            f"a{i}",
            translate="z",
            rotate="x",
            joint_at=(x, 0, 0),
            mass="m",
            inertia=("m*w**2/3", 0, 0),
        )
        for side, y in (("l", "w"), ("r", "-w")):
            hub = s.add_point(f"h{i}{side}", body=axle, at=(0, y, 0))
            seat = s.add_point(f"s{i}{side}", body=chassis, at=(x, y, 0))
            s.add_force(f"f{i}{side}", magnitude="-k*x - c*v", direction=up, at=seat, against=hub)
            s.add_force(f"t{i}{side}", magnitude="-kt*x", direction=up, at=hub)
    s.add_gravity(direction=-up)
    s.set_defaults(M=4000, m=300, l=1, w=1, k=2e5, c=1e4, kt=1e6, g=9.81)
    s.set_run(t_end=1, step=0.001, initial={"q(pitch, 1)": 0.02})
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
    s.set_run(
        t_end=1, step=0.001, initial={f"q(a{i})": 1.1 + 0.01 * i for i in range(n)}, guess=near
    )
    return s


MODELS = {
    "four-bars": (run_path(str(EXAMPLES / "n_four_bar.py"))["model"], (2, 5, 10, 20, 40, 80)),
    "pendulums": (pendulums, (10, 20, 40, 80)),
    "truck": (truck, (2, 5, 10, 20)),
    "legs": (legs, (1, 2, 4, 10, 20)),
    "chain": (run_path(str(EXAMPLES / "n_link_chain.py"))["model"], (10, 20, 40)),
}


def children():
    """CPU seconds of processes that have ended, such as compilers."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(work):
    start, before = process_time(), children()
    work()
    return process_time() - start + children() - before


def least(work):
    return min(seconds(work) for _ in range(REPEATS))


def alone(sim):
    """Seconds of one evaluation of the derivatives, and of the corrections of closed loops, each
    called in a loop."""
    timer = load_from_source(TIMER, find_compiler(), ("-O2",))
    model, program = sim.loaded.model, sim.loaded.program
    calls = model.calls()
    state = sim.assemble()
    p = sim.parameter_values()
    arrays = [
        (ctypes.c_double * (len(x) + 1))(*x)
        for x in (*state, p, calls.constants(p), [0.0] * len(program.inputs))
    ]
    out, externals = (ctypes.c_double * 4096)(), ctypes.byref(calls.externals(calls.memory))
    timer.rates_alone.restype = timer.evaluated_alone.restype = ctypes.c_double
    library, sizes = calls.library, (len(program.coordinates), len(program.speeds))
    number = 20 + 200_000 // len(program.speeds)

    def least_of(call, name, *more):
        return min(
            call(getattr(library, name), number, *arrays, out, *more) for _ in range(REPEATS)
        )

    rates = least_of(timer.rates_alone, "derivatives", *sizes, externals)
    corrections = ("correct_q", "correct_u") if program.loops and program.loops.correction else ()
    return rates, sum(
        least_of(timer.evaluated_alone, name, sizes[0], externals) for name in corrections
    )


def measured(name, n, reactions):
    """All numbers of one model, in this process; the kernel is in the cache."""
    model = MODELS[name][0]
    model(1).equations().compile(speed="quick")  # modules are imported
    system, found, kept = model(n), {}, {}

    def derive():
        kept["equations"] = system.equations()

    found["derive"] = seconds(derive)
    equations = kept["equations"]
    found["compile"] = seconds(lambda: equations.compile(speed="quick"))
    sim = equations.compile(speed="fast")
    fine = {"step": STEP, "output_every": STEPS, "method": "rk4"}
    rates, corrections = alone(sim)
    found["ops"] = equations.operation_count()["total"]
    found["rates"], found["alone"] = 1e6 * rates, 1e6 * (4 * rates + corrections)
    many, one = (least(lambda t=t: sim.simulate(t_end=t, **fine)) for t in (STEPS * STEP, STEP))
    found["step"] = 1e6 * (many - one) / (STEPS - 1)
    found["through"] = 1e3 * least(lambda: sim.simulate(t_end=1.0, step=1e-3, output_every=1000))
    found["assemble"] = 1e3 * least(sim.assemble)
    if reactions:
        system.add_outputs("reactions")
        found["with reactions"] = seconds(derive)
        sim = kept["equations"].compile(speed="fast")
        state = sim.assemble()
        found["reactions"] = 1e6 * least(lambda: sim.outputs(0.0, *state))
    return found


def in_processes(name, n, asked, kernel):
    """The least numbers of several processes, each with a cache that has the kernel alone."""
    tries = []
    for _ in range(asked.repeat):
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder, "cache")
            shutil.copytree(kernel, cache)
            command = [
                sys.executable,
                __file__,
                "--one",
                str(n),
                name,
                *(["--reactions"] if asked.reactions else []),
            ]
            done = subprocess.run(
                command,
                env={**os.environ, "BELLCRANK_CACHE": str(cache)},
                check=True,
                stdout=subprocess.PIPE,
            )
            tries.append(json.loads(done.stdout))
    found = {key: min(t[key] for t in tries) for key in tries[0]}
    return {
        **found,
        "ratio": found["step"] / found["alone"],
        "ns/op": 1e3 * found["rates"] / found["ops"],
    }


def table(name, asked, kernel):
    columns = [*COLUMNS, *(REACTIONS if asked.reactions else ())]
    print(f"{name}\n{'n':>5}" + "".join(f"{c:>15}" if " " in c else f"{c:>10}" for c in columns))
    rows = []
    for n in map(int, asked.sizes.split(",")) if asked.sizes else MODELS[name][1]:
        rows.append((n, found := in_processes(name, n, asked, kernel)))
        print(
            f"{n:5}" + "".join(f"{found[c]:{15 if ' ' in c else 10}.4g}" for c in columns),
            flush=True,
        )
    (n, small), (m, large) = rows[max(0, len(rows) - 3)], rows[-1]
    if m > n:
        slopes = {c: log(large[c] / small[c]) / log(m / n) for c in columns}
        shown = "".join(f"{slopes[c]:{15 if ' ' in c else 10}.2f}" for c in columns)
        print(f"slope{shown}   log-log, from n = {n} to {m}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=[*MODELS], help=f"of {', '.join(MODELS)}")
    parser.add_argument("--sizes", help="such as 10,20,40 (default: those of each model)")
    parser.add_argument(
        "--repeat",
        type=int,
        default=3,
        help="processes of which the least numbers count (default: 3)",
    )
    parser.add_argument(
        "--reactions", action="store_true", help="constraint forces and moments, too"
    )
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(asked.models[0], asked.one, asked.reactions)))
        return
    with tempfile.TemporaryDirectory() as folder:
        kernel = Path(folder, "kernel")
        work = "import scale, sys; scale.prepare()"
        env = {**os.environ, "BELLCRANK_CACHE": str(kernel)}
        subprocess.run([sys.executable, "-c", work], cwd=Path(__file__).parent, env=env, check=True)
        for name in asked.models:
            table(name, asked, kernel)


def prepare():
    """Compiles the kernel, and what measures."""
    MODELS["four-bars"][0](1).equations().compile(speed="quick")
    load_from_source(TIMER, find_compiler(), ("-O2",))


if __name__ == "__main__":
    main()
