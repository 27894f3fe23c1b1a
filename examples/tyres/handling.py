"""A driven car on a tyre from a .tir file, and the figures of its handling.

bellcrank run examples/tyres/handling.py runs a step in steering; python examples/tyres/handling.py
prints the understeer gradient, the largest lateral acceleration, braking distances and what split
friction does.
"""

from pathlib import Path

import numpy as np

import bellcrank as bc

TYRE = bc.vehicles.tyres.MagicFormula.read(Path(__file__).parent / "book_205_60R15.tir")
V = 100 / 3.6  # m/s
SPLIT = 1000.0  # m: from here on the right side of the road is slippery


def model():
    ground = bc.vehicles.terrain.flat().with_friction(left=1.0, right=[(0, 1.0), (SPLIT, 0.2)])
    length = (TYRE["UNLOADED_RADIUS"], 0.4)
    s = bc.vehicles.car(slip=TYRE, speed=V, brakes=(0.7, 0.3), length=length, terrain=ground)
    s.set_run(t_end=4, step=0.001, output_every=10, inputs={"steer": bc.signals.step(0.5, 2.0)})
    return s


def turning(sim):
    """Steady turns at one speed: steering angle in excess of that of the curve, until there is
    none."""
    at, rows = "start", []
    for ay in (0.5, 1, 2, 3, 4, 5, 6, 7, 7.5, 7.7):
        try:
            at = sim.equilibrium(targets={"speed": V, "ay": ay}, free=["steer", "drive"], at=at)
        except bc.NoEquilibrium:
            break
        rows.append((ay, at["steer"], at["steer"] - np.degrees(2.6 * ay / V**2)))
    return rows


def braking(sim, moment):
    """Distance from the speed at the start to standstill, and the smallest slip on the way."""
    run = sim.simulate(t_end=8, inputs={"brake": bc.signals.step(0.0, moment), "steer": 0.0})
    wheels = [f"w{i}{side}.tyre.kappa" for i in (1, 2) for side in "lr"]
    moving = run["speed"] > 1
    return np.interp(-0.05, -run["speed"], run["q(chassis, 1)"]), min(
        run[name][moving].min() for name in wheels
    )


def main():
    sim = model().equations().compile()
    print(
        f"{TYRE}\n\nsteady turns at {V:.1f} m/s\n{'ay m/s2':>8}{'steer deg':>11}{'excess deg':>11}"
    )
    rows = turning(sim)
    for row in rows:
        print(f"{row[0]:8.1f}{row[1]:11.3f}{row[2]:11.3f}")
    print(
        f"understeer gradient {rows[1][2] / rows[1][0]:.4f} deg/(m/s2); largest lateral "
        f"acceleration "
        f"at least {rows[-1][0]:.1f} m/s2"
    )
    for moment, words in ((3500, "rolling"), (9000, "locked")):
        way, slip = braking(sim, moment)
        print(
            f"braking from {3.6 * V:.0f} km/h, wheels {words}: {way:.1f} m, largest slip {slip:.2f}"
        )
    options = dict(t_end=0.6, inputs={"brake": bc.signals.step(0.1, 4000), "steer": 0.0})
    for x, words in ((0.0, "even"), (SPLIT, "split")):
        run = sim.simulate(initial={"q(chassis, 1)": x}, **options)
        print(
            f"braking on {words} friction: yaw rate {run['yaw_rate'][-1]:.1f} deg/s after 0.5 s, "
            f"speed {run['speed'][-1]:.1f} m/s"
        )


if __name__ == "__main__":
    main()
