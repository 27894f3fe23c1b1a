"""A hundred thousand passenger cars: the same step steer, ten of their parameters scattered; bands
over time.

The last line says how long that took, from the description to the picture, and what the runs took
of it.

python examples/many_passenger_cars.py
"""

import time
from pathlib import Path

import bellcrank as bc

SCATTER = 0.03  # standard deviation of what scatters by itself, as a fraction of its mean
NAMES = ("rbm", "ixx", "izzr", "ce", "h", "ca1", "ca2", "kroll", "croll")


def main(n=100_000):
    began = time.perf_counter()
    sim = bc.System.read(Path(__file__).with_name("passenger_car.py")).equations().compile()
    usual = {x.name: x.default for x in sim.interface.parameters}
    scattered = {name: bc.random.normal(usual[name], SCATTER * abs(usual[name])) for name in NAMES}
    many = sim.simulate_many(
        n,
        parameters={**scattered, "speed": bc.random.uniform(800, 1100)},
        channels=["Ay", "r"],
        metrics={"Ay": ["max", "wd"], "r": ["final", "crossing(2)"]},
    )
    print(many)
    for name, x in many.metric_values.items():
        print(f"{name:14} {x.mean():10.4g} {many.metric_units[name]}")
    many.plot("Ay", "r", path="many_passenger_cars.png")
    whole, runs = time.perf_counter() - began, many.settings["seconds"]
    print(
        f"{whole:.1f} s of wall time, {runs:.1f} s of it for {n} runs ({many.settings['backend']})"
    )
    return many


if __name__ == "__main__":
    main()
