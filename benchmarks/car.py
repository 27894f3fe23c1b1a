"""How much faster than real time a car from hard points runs at steps of 1 ms on one core, and what
it takes to get there.

With suspensions solved exactly and looked up in tables, on tyres by size (TMeasy) and on a Magic
Formula tyre of a file, by rk4 (four evaluations of the rates in a step), rk2 (two) and ab2 (one),
each with how far yaw rate, roll, slip angle and lateral acceleration are off at most, against the
largest value of each, as one steers to and fro: from rk4 with an eighth of the step. Right after a
jump of the steering wheel, rk2 and ab2 are off by up to a hundredth for 10 ms. Times are of the
process itself (the compiler's: by the clock), the best of three. Names of shipped vehicles as
arguments (`python benchmarks/car.py semi_trailer truck`): these, as they are.
"""

import sys
import time
from pathlib import Path
from typing import Any

import bellcrank as bc

TYRE = {
    "size": None,
    "file": str(Path(__file__).parents[1] / "examples" / "tyres" / "book_205_60R15.tir"),
}
DURATION = 20.0
METHODS = ("rk4", "rk2", "ab2")
TURN, SWAY = bc.signals.step(at=1, height=5), bc.signals.sine(20, 0.5)  # of the steering wheel, deg
CHANNELS = ("yaw_rate", "roll", "side_slip", "ay")


def main() -> None:
    columns = "".join(f"{m + ', x real time':>20}{'off':>9}" for m in METHODS)
    print(f"{'vehicle':18}{'tyres':16}{'derived, s':>12}{'compiled, s':>13}{columns}")
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            show(name, "as shipped", bc.vehicles.Car.read(name))
        return
    by_size = bc.vehicles.Car.read("passenger")
    on_file = by_size.changed(front={"tyre": TYRE}, rear={"tyre": TYRE})
    for exact in (True, False):
        for tyres, car in (("size", by_size), ("Magic Formula", on_file)):
            show("exact linkages" if exact else "linkages in tables", tyres, car, exact)


def show(name: str, tyres: str, car: bc.vehicles.Car, exact: bool = True) -> None:
    """One line of the table."""
    began = time.process_time()
    equations = car.system(exact=exact).equations()
    derived, began = time.process_time() - began, time.monotonic()
    sim = equations.compile(speed="fast")
    compiled = time.monotonic() - began
    fine, shown = run(sim, "rk4", 0.000125, 80, SWAY), ""
    for method in METHODS:
        shown += f"{speed(sim, method):20.1f}{off(run(sim, method, 0.001, 10, SWAY), fine):9.0e}"
    print(f"{name:18}{tyres:16}{derived:12.1f}{compiled:13.1f}{shown}", flush=True)


def run(sim: bc.Simulation, method: str, step: float, every: int, steer: Any) -> bc.Run:
    return sim.simulate(
        t_end=DURATION, step=step, output_every=every, method=method, inputs={"steer": steer}
    )


def speed(sim: bc.Simulation, method: str) -> float:
    """How many times faster than real time it runs."""
    took = []
    for _ in range(3):
        began = time.process_time()
        run(sim, method, 0.001, 1000, TURN)
        took.append(time.process_time() - began)
    return DURATION / min(took)


def off(found: bc.Run, fine: bc.Run) -> float:
    """The largest difference, against the largest value of a channel."""
    return max(float(abs(found[x] - fine[x]).max() / abs(fine[x]).max()) for x in CHANNELS)


if __name__ == "__main__":
    main()
