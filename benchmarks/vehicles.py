"""How much faster than real time vehicles run, compiled, on one core, rk4 with 1 ms.

    python benchmarks/vehicles.py

Six seconds on the test course of van Iwaarden (2003), section 1.7, every tenth step recorded; the
least of several runs counts, time in the compiled loop alone. The motorcycle in minimal and in
redundant coordinates, the car with a rigid chassis, the car of point masses.
"""

import time

import bellcrank as bc

# s for which runs are repeated: on a machine that does other things as well, some of them are not
# disturbed
LONG = 3.0


def motorcycle(coordinates):
    s = bc.vehicles.motorcycle(
        coordinates=coordinates,
        rim=5,
        chassis=5,
        k=(1e4, 1e4),
        c=(500, 500),
        rolling_resistance=1,
        terrain=bc.vehicles.terrain.course(),
    )
    masses = [f"u({side}.{part}, 1)" for side in ("rear", "front") for part in ("rim", "chassis")]
    return s, {"u(frame, 1)": 20.0} if coordinates == "minimal" else dict.fromkeys(masses, 20.0)


def car():
    return bc.vehicles.car(terrain=bc.vehicles.terrain.course()), {"u(chassis, 1)": 15.0}


def point_mass_car():
    masses = [
        f"u({corner}.{part}, 1)"
        for corner in ("rl", "fl", "rr", "fr")
        for part in ("rim", "chassis")
    ]
    return bc.vehicles.point_mass_car(terrain=bc.vehicles.terrain.course()), dict.fromkeys(
        masses, 15.0
    )


def ratio(sim, initial, dae):
    """Seconds simulated in a second."""
    least, began = float("inf"), time.perf_counter()
    while time.perf_counter() - began < LONG:
        run = sim.simulate(t_end=6, step=0.001, output_every=10, initial=initial, dae=dae)
        assert run.ended == "finished", run.ended
        least = min(least, run.settings["seconds"])
    return 6 / least


MODELS = {
    "motorcycle, minimal coordinates": (lambda: motorcycle("minimal"), ("projection",), 1000),
    "motorcycle, four point masses": (
        lambda: motorcycle("redundant"),
        ("projection", "dlmm"),
        None,
    ),
    "car, rigid chassis": (car, ("projection",), 200),
    "car, eight point masses": (point_mass_car, ("projection", "dlmm"), None),
}


def main():
    print(f"{'model':34}{'freedoms':>9}{'dae':>12}{'x real time':>13}{'asked for':>11}")
    for name, (make, methods, bar) in MODELS.items():
        s, initial = make()
        eom = s.equations()
        sim = eom.compile(backend="c", speed="fast")
        for dae in methods:
            found = ratio(sim, initial, dae)
            print(
                f"{name:34}{len(eom.independent_speeds):9}{dae:>12}{found:13.0f}{bar or '-':>11}",
                flush=True,
            )


if __name__ == "__main__":
    main()
