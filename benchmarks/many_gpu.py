"""Steps per second of many runs on a GPU: Bellcrank's CUDA text beside jax with the same equations.

    python benchmarks/many_gpu.py [--runs N] [--steps N] [--precision single] [--vary] [--json FILE]
    [MODEL ...]

Needs an NVIDIA GPU and CuPy; jax where it is installed, in double precision. All are RK4 steps,
four right-hand sides each, from initial values that vary from run to run; with --vary, three
parameters vary too. The first runs are held against the same ones in C before anything is timed:
the error is that of the worst state, against the largest one with its unit, as what is zero but for
rounding has no size of its own. Times are those of launches, without compiling.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from runpy import run_path

import numpy as np

import bellcrank as bc
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.backend.gpu_batch import gpu_obstacle

HERE = Path(__file__).parent
MODELS = ("stanford_arm", "spacecraft_2", "passenger_car", "driven_car")
HELD = 16  # runs that are compared


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--runs", type=int, default=1 << 20)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--precision", choices=("double", "single"), default="double")
    parser.add_argument("--vary", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    warnings.simplefilter("ignore", bc.ModelWarning)
    if why := gpu_obstacle():
        sys.exit(f"{why}; this benchmark needs one")
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(
        f"{device}: RK4 steps per second, {args.precision} precision, {args.runs} runs of "
        f"{args.steps} steps"
    )
    print(
        f"{'model':16} {'bellcrank':>11} {'ns per rate':>11} {'jax':>11} {'ratio':>6} "
        f"{'compiled in':>11} {'error':>8}"
    )
    found = []
    for name in args.models:
        runs = args.runs if name != "driven_car" else args.runs // 8
        row = {"model": name, **measured(name, runs, args)}
        found.append(row)
        jax, ratio = row["jax"], "-"
        if jax:
            ratio = f"{row['steps_per_second'] / jax:.1f}"
        print(
            f"{name:16} {row['steps_per_second']:11.3g} {0.25e9 / row['steps_per_second']:11.3g} "
            f"{f'{jax:.3g}' if jax else '-':>11} {ratio:>6} {row['compile_seconds']:9.1f} s "
            f"{row['error']:8.1e}",
            flush=True,
        )
    if args.json:
        Path(args.json).write_text(json.dumps({"device": device, "rows": found}, indent=2))


def measured(name, runs, args):
    steps = args.steps
    equations = run_path(str(HERE.parent / "examples" / f"{name}.py"))["model"]().equations()
    if find_compiler() is None:
        sys.exit("results are held against C: there is no C compiler")
    sim = equations.compile(speed="quick")
    state, step = sim.interface.coordinates[0], sim.interface.run.step or 1e-3
    base = float(sim.interface.run.initial.get(state.name, state.default or 0.0))
    initial = {state.name: base + 1e-7 * np.arange(runs)}
    varied = [x for x in sim.interface.parameters if x.default][:3] if args.vary else []
    parameters = {x.name: np.linspace(1.0, 1.01, runs) * x.default for x in varied}
    shared = {"t_end": steps * step, "step": step, "method": "rk4", "output_every": steps}
    wanted = {x.name: "final" for x in sim.interface.states}
    began = time.perf_counter()
    few, of = (
        {state.name: initial[state.name][:HELD]},
        {name: x[:HELD] for name, x in parameters.items()},
    )
    there, here = (
        sim.simulate_many(
            initial=few, parameters=of, metrics=wanted, backend=b, precision=p, **shared
        )
        for b, p in (("cuda", args.precision), ("cores", "double"))
    )
    compiling = time.perf_counter() - began
    if there.settings["backend"] != "cuda":
        sys.exit(f"{name}: {there.notes}")
    largest = {}
    for x in wanted:
        size = np.abs(here.metrics[x]["final"]).max()
        largest[here.units[x]] = max(largest.get(here.units[x], 1e-6), size)
    errors = [
        np.abs(there.metrics[x]["final"] - here.metrics[x]["final"]).max() / largest[here.units[x]]
        for x in wanted
    ]
    seconds = []
    for _ in range(3):
        many = sim.simulate_many(
            initial=initial,
            parameters=parameters,
            metrics={state.name: "final"},
            backend="cuda",
            precision=args.precision,
            **shared,
        )
        seconds.append(many.settings["launched"])
    return {
        "runs": runs,
        "steps": steps,
        "steps_per_second": runs * steps / min(seconds),
        "error": float(max(errors)),
        "compile_seconds": compiling,
        "jax": by_jax(sim, initial, step, steps) if not args.vary else None,
    }


def by_jax(sim, initial, step, steps):
    """Steps per second of jax, None where it is not installed or has no form of the model."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    sys.path.insert(0, str(HERE / "peers"))
    from array_rates import rates_of, rk4

    try:
        rates = rates_of(sim.derived.program, sim.parameter_values(), jnp)
    except ValueError:
        return None
    advance = rk4(rates, step)
    ((name, values),) = initial.items()
    q, u = sim.assemble({name: float(values[0])})
    x = np.repeat(np.concatenate([q, u])[:, None], len(values), axis=1)
    x[0] = sim.interface.coordinates[0].unit.to_equation_units(values)
    run = jax.jit(lambda x: jax.lax.fori_loop(0, steps, lambda _, x: advance(x), x))
    x = jnp.asarray(x)
    run(x).block_until_ready()
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        run(x).block_until_ready()
        seconds.append(time.perf_counter() - began)
    return len(values) * steps / min(seconds)


if __name__ == "__main__":
    main()
