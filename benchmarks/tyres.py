"""Cost of tyres: operations and ns of a wheel with each, and how much faster than real time a car
with four runs.

python benchmarks/tyres.py [--car]: CPU time, so that other work on the machine counts little. A
wheel is a body with six freedoms on a plane; ns are those of one evaluation of its rates, all of
it. `--car`: `bc.vehicles.car`, a step in steering at 20 m/s, 1 ms steps, one core; derivation and
compilation take a minute.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import bellcrank as bc

# us of an evaluation of the formulas alone, README of github.com/matheusft/MFeval_julia, machine
# not told
PUBLISHED = {
    "MFeval, MATLAB, 1000 at once": 8.2,
    "MFeval.jl, Julia, one": 0.88,
    "MFeval.jl, Julia, 1000 at once": 0.63,
}
TYRES = Path(__file__).parent.parent / "examples" / "tyres"
BOOK, PAC = (
    bc.vehicles.tyres.MagicFormula.read(TYRES / name)
    for name in ("book_205_60R15.tir", "pac2002_185_80R14.tir")
)
WHEELS = {
    "linear to the friction circle": bc.Tyre(2e5, 50, bc.Slip(60e3, 50e3)),
    "brush": bc.Tyre(2e5, 50, bc.vehicles.tyres.Brush(60e3, 50e3)),
    "Fiala": bc.vehicles.tyres.Fiala(6e4, 5e4, radius=0.31),
    "TMeasy": bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V"),
    "Magic Formula 5.2": PAC,
    "Magic Formula 6.1": BOOK,
}


def wheel(tyre):
    s = bc.System("wheel", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 2, 3), mass=400)
    knuckle = s.add_body("knuckle", hub, rotate=3, mass=1, inertia=(1, 1, 1))
    lean = s.add_body("lean", knuckle, rotate=1, mass=1, inertia=(1, 1, 1))
    body = s.add_body("wheel", lean, rotate=2, mass=10, inertia=(0.5, 1, 0.5))
    radius = {"radius": 0.31} if isinstance(tyre, bc.Tyre) else {}  # other tyres know theirs
    s.add_contact("t", at=body, terrain=bc.vehicles.terrain.flat(), tyre=tyre, wheel=body, **radius)
    return s.equations()


def seconds(work):
    """CPU time, the least of some."""
    found = []
    for _ in range(5):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def one_wheel(name, tyre):
    eom = wheel(tyre)
    sim = eom.compile(speed="fast")
    steps = 20000
    start = {"q(hub, 3)": 0.3, "u(hub, 1)": 16, "u(hub, 2)": 0.5, "u(wheel)": 52}

    def run():
        sim.simulate(t_end=steps * 1e-4, step=1e-4, method="rk4", output_every=steps, initial=start)

    run()
    counted = eom.operation_count()
    print(
        f"{name:32}{counted['total']:>12}{counted['function']:>12}{1e9 * seconds(run) / (4 * steps):>10.0f}"
    )


def car(name, slip, **more):
    eom = bc.vehicles.car(slip=slip, speed=20, **more).equations()
    sim = eom.compile(speed="fast")
    for method in ("rk2", "rk4"):

        def run(method=method):
            sim.simulate(
                t_end=10,
                step=1e-3,
                method=method,
                output_every=100,
                inputs={"steer": bc.signals.step(0.5, 2.0)},
            )

        run()
        print(
            f"{name:32}{eom.operation_count()['total']:>12}{method:>12}{10 / seconds(run):>10.0f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--car", action="store_true", help="cars too")
    args = parser.parse_args()
    print(f"{'one wheel':32}{'operations':>12}{'functions':>12}{'ns':>10}")
    for name, tyre in WHEELS.items():
        one_wheel(name, tyre)
    loads = np.full(100_000, 4000.0)
    arrays = 1e9 * seconds(lambda: BOOK.forces(loads, 0.05, 0.03)) / len(loads)
    print(f"{'Magic Formula 6.1, arrays':32}{'':>24}{arrays:>10.0f}")
    for name, us in PUBLISHED.items():
        print(f"{f'published: {name}':56}{1e3 * us:>10.0f}")
    if args.car:
        print(f"\n{'car':32}{'operations':>12}{'method':>12}{'x real time':>12}")
        car("linear to the friction circle", (bc.Slip(60e3, 45e3), bc.Slip(60e3, 55e3)))
        car("Magic Formula 6.1", BOOK, length=(BOOK["UNLOADED_RADIUS"], 0.4))


if __name__ == "__main__":
    main()
