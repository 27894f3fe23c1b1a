"""Planar pendulum in redundant coordinates: a point mass with two translations, and a rod that
keeps it at a distance.

One degree of freedom, two coordinates, one constraint x^2 + y^2 = l^2: the smallest model on which
methods that keep constraints can be distinguished (docs/dae_methods.md, `bellcrank compare
examples/planar_pendulum.py`). It starts level and at rest, so that over half a period it swings to
the other side; the tension of the rod is three times the weight at the bottom.
"""

import bellcrank as bc


def model(length=1.0):
    """SI units; n1 is level, n2 points upwards; coordinates from the pivot, energy from the lowest
    point."""
    s = bc.System("planar pendulum", units="mks")
    pivot = s.add_point("pivot", body=s.inertial, at=(0, "l", 0), label="pivot")
    bob = s.add_point_mass(
        "bob", translate=(1, 2), joint_at=(0, "l", 0), mass="m", label="point mass"
    )
    s.add_loop_joint("rod", "distance", between=(bob.origin, pivot), length="l")
    s.add_gravity(direction=(0, -1, 0))
    s.add_output(
        "r", "sqrt(q(bob, 1)**2 + q(bob, 2)**2)", label="distance from the pivot", units="L"
    )
    s.add_outputs("energy")
    s.set_defaults(m=1, l=length, g=9.81)
    s.set_labels(m="mass", l="length")
    s.set_run(t_end=10, step=0.01, initial={"q(bob, 1)": length})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
