"""Motorcycle on the test course: from two partial vehicles, over a ski jump with two drops of half
a metre, a hill, a slope.

Van Iwaarden (2003), section 1.7: rims and chassis parts of 5 kg, springs of 10 kN/m, 20 m/s. Look
at the loads of the tyres (zero in flight), the heights and the pitch. `coordinates="redundant"`
describes the same machine by four point masses and three constraints.
"""

import bellcrank as bc


def model(coordinates="minimal"):
    """Five degrees of freedom, SI units, z up."""
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
    start = {"u(frame, 1)": 20} if coordinates == "minimal" else dict.fromkeys(masses, 20)
    s.set_run(t_end=6, step=0.001, output_every=10, initial=start)
    return s


if __name__ == "__main__":
    print(model().equations().summary())
