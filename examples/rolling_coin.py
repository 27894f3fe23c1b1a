"""Rolling coin: it rolls upright on an incline, free to turn about the normal of the plane.

Neimark & Fufaev, Dynamics of Nonholonomic Systems (1972), ch. II; Bloch, Nonholonomic Mechanics and
Control (2003), section 1.4. Two rolling constraints leave two degrees of freedom. Gravity pulls
along axis 1, yet a coin that spins does not go downhill: its centre describes a cycloid across the
slope. Look at `x` and `y`: x comes back to zero after every turn, y drifts by g sin(slope) / (3
spin) in each second.
"""

from math import radians

import bellcrank as bc


def model(slope=20.0):
    """Two degrees of freedom, SI units; axes 1 and 2 lie in the plane, 1 points downhill, `slope`
    is in degrees."""
    s = bc.System("rolling coin", units="mks")
    stand = s.add_body(
        "stand", translate=(1, 2), rotate=3, mass=0, inertia=0, label="heading of the coin"
    )
    coin = s.add_body(
        "coin",
        parent=stand,
        rotate=2,
        joint_at=(0, 0, "r"),
        mass="m",
        inertia=("m*r**2/4", "m*r**2/2", "m*r**2/4"),
    )
    for axis in (1, 2):
        s.add_constraint(
            f"dot(vel(coin.origin) + cross(rot(coin), -r*[n3]), [stand{axis}])",
            label=f"rolling, axis {axis}",
        )
    s.add_gravity(direction="sin(slope)*[n1] - cos(slope)*[n3]")
    s.add_output("x", "dot(pos(coin.origin), [n1])", label="distance downhill", body=coin)
    s.add_output("y", "dot(pos(coin.origin), [n2])", label="distance across the slope", body=coin)
    s.add_outputs("energy")
    s.add_parameter("slope", radians(slope), units="A", label="angle of the incline")
    s.set_defaults(m=0.01, r=0.012)
    s.set_labels(m="mass of the coin", r="radius of the coin")
    s.add_shape(body=coin, kind="cylinder", size=("r", "r/5"), axis=2, color="gold")
    s.add_shape(body=coin, kind="box", size=("1.4*r", "r/4.5", "r/3"), color="brown")
    s.set_run(t_end=5, step=0.002, output_every=5, initial={"u(stand, 3)": 4.0})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
