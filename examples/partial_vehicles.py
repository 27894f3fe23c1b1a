"""Van Iwaarden's tests of the motorcycle (2003, chapter 6, model 2), run again: what the thesis reports, and what comes out.

`python examples/partial_vehicles.py` prints the table. The contact point has no mass here; in the thesis it is set to the ground
beneath the rim at every step while rolling, which leaves it no inertia either, but bounces as a mass of its own after a fall.
As a model the file is test 4, the hill.
"""

import math

import numpy as np

import bellcrank as bc

G = 9.81
START = {"q(frame, 2)": 0.7392 - 0.8, "q(rear.rim)": 0.3588 - 0.7392 + 0.4, "q(front.rim)": 0.3588 - 0.7392 + 0.4}


def model(terrain=None, k=1000.0, c=50.0, speed=5.0, rolling_resistance=0.0, t_end=5.0, inputs=None):
    """All four springs and masses equal; starts at the heights 0.3588 and 0.7392 of rims and chassis parts."""
    ground = bc.terrain.hill() if terrain is None else terrain
    s = bc.vehicles.motorcycle(k=(k, k), c=(c, c), rolling_resistance=rolling_resistance, terrain=ground)
    s.set_defaults(g=G)
    s.set_run(t_end=t_end, step=0.001, initial={**START, "u(frame, 1)": speed}, inputs=inputs or {})
    return s


def run(events=None, **options):
    return model(**options).equations().compile().simulate(events=events)


def table():
    """Rows: test, what the thesis reports, what we get."""
    flat = bc.terrain.flat()
    rows = []
    r = run(terrain=flat, k=500.0, c=0.0, speed=0, t_end=3)
    rows.append(
        (
            "1a release, no damping",
            "nearly a sine",
            f"rear chassis between {r['rear.chassis.z'].min():.4f} and {r['rear.chassis.z'].max():.4f} m",
        )
    )
    r = run(terrain=flat, speed=0, t_end=1, inputs={"front.load": bc.step(at=0.5, height=-100)})
    rows.append(
        (
            "2 -100 N on the front",
            "rod length within 1.5e-7 m",
            f"exact by coordinates; front rim {r['front.rim.z'][-1]:.5f}, chassis {r['front.chassis.z'][-1]:.5f} m",
        )
    )
    r = run(terrain=flat, c=100.0, speed=0, t_end=1, inputs={"rear.drive": 50.0})
    speed = (r["rear.rim.x"][-1] - r["rear.rim.x"][-2]) / (r.time[-1] - r.time[-2])
    rows.append(("3 drive of 50 N", "front rises", f"pitch {r['pitch'][-1]:+.2f} deg, {speed:.2f} m/s after 1 s"))
    r = run(events={"front up": "front.rim.x > 5", "rear up": "rear.rim.x > 5"})
    when = {e.name: e.time for e in r.events}
    when["slowest"] = r.time[np.argmin(np.gradient(r["rear.rim.x"], r.time))]
    rows.append(
        (
            "4 hill at 5 m/s",
            "front up 0.8 s, rear 1.0 s, top 2.6 s",
            ", ".join(f"{n} {t:.2f} s" for n, t in when.items()),
        )
    )
    r = run(terrain=flat, speed=20, rolling_resistance=1.0, t_end=4)
    speed = (r["rear.rim.x"][-1] - r["rear.rim.x"][-2]) / (r.time[-1] - r.time[-2])
    rows.append(
        (
            "5 rolling resistance",
            "exponential decay",
            f"{speed:.3f} m/s after 4 s, 20 exp(-2) = {20 * math.exp(-2):.3f}",
        )
    )
    r = run({"touch": "front.tyre_load > 0"}, terrain=bc.terrain.flat(-0.5), speed=0, t_end=1)
    rows.append(("6 drop by 0.5 m", "-", f"first contact {r.events[0].time:.4f} s"))
    r = run(
        {e: f"{e}.tyre_load > 0" for e in ("front", "rear")}, terrain=bc.terrain.ramp(0.2, height=-1), speed=0, t_end=1
    )
    first = {e: next(x.time for x in r.events if x.name == e) for e in ("front", "rear")}
    rows.append(
        ("7 onto a slope", "front 0.4 s, rear 0.44 s", f"front {first['front']:.3f} s, rear {first['rear']:.3f} s")
    )
    r = run(terrain=bc.terrain.cosine(1, 0.5, height=-2), speed=0, t_end=5)
    rows.append(
        ("8 cosine hollow", "rolls into the hollow", f"rear rim from x = 0 to {r['rear.rim.x'][-1]:.2f} m after 5 s")
    )
    return rows


if __name__ == "__main__":
    for row in table():
        print(f"{row[0]:26}{row[1]:40}{row[2]}")
