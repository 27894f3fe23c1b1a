"""How much faster than real time a car from hard points runs at steps of 1 ms on one core, and what it takes to get there.

With suspensions solved exactly and looked up in tables, on tyres by size (TMeasy) and on a Magic Formula tyre of a
file, by rk4 and by rk2, which at 1 ms is off by 1e-5 of the largest values in a lane change. Times are of the process
itself (the compiler's: by the clock), the best of three.
"""

import time
from pathlib import Path

import bellcrank as bc

TYRE = {"size": None, "file": str(Path(__file__).parents[1] / "examples" / "tyres" / "book_205_60R15.tir")}
DURATION = 20.0


def main() -> None:
    by_size = bc.vehicles.Car.read("passenger")
    on_file = by_size.changed(front={"tyre": TYRE}, rear={"tyre": TYRE})
    steer = {"steer": bc.step(at=1, height=5)}
    print(f"{'suspension':12}{'tyres':16}{'derived, s':>12}{'compiled, s':>13}{'rk4, x real time':>18}{'rk2':>8}")
    for exact in (True, False):
        for tyres, car in (("size", by_size), ("Magic Formula", on_file)):
            began = time.process_time()
            equations = car.system(exact=exact).equations()
            derived, began = time.process_time() - began, time.monotonic()
            sim = equations.compile(speed="fast")
            compiled, speeds = time.monotonic() - began, []
            for method in ("rk4", "rk2"):
                took = []
                for _ in range(3):
                    began = time.process_time()
                    sim.simulate(t_end=DURATION, step=0.001, output_every=1000, method=method, inputs=steer)
                    took.append(time.process_time() - began)
                speeds.append(DURATION / min(took))
            kind = "exact" if exact else "tables"
            print(f"{kind:12}{tyres:16}{derived:12.1f}{compiled:13.1f}{speeds[0]:18.1f}{speeds[1]:8.1f}", flush=True)


if __name__ == "__main__":
    main()
