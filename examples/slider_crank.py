"""Slider-crank: a crank, a connecting rod and a piston, closed by one pin.

The piston slides along n1 and is pinned to the end of the rod. The out-of-plane equations of the
pin are redundant; `eom.notes` reports it. Look at `x`: nearly a sine, with the second harmonic of
the finite rod. With `equal_arms=True` the rod is as long as the crank: the piston reaches the axis
of the crank, where a second branch of motion crosses (the piston stays there and the rod turns with
the crank); the mechanism must keep its own, on which x is an exact cosine.
"""

import bellcrank as bc


def model(crank=0.1, rod=0.4, equal_arms=False):
    """One degree of freedom, SI units; starts at 20 rad/s (equal arms: 8 rad/s) and slows down by
    friction of the piston."""
    rod = crank if equal_arms else rod
    s = bc.System("slider-crank", units="mks")
    a = s.add_body(
        "crank", rotate=3, cm=("r/2", 0, 0), mass="m_crank", inertia=(0, 0, "m_crank*r**2/12")
    )
    b = s.add_body(
        "rod",
        parent=a,
        rotate=3,
        joint_at=("r", 0, 0),
        cm=("l/2", 0, 0),
        mass="m_rod",
        inertia=(0, 0, "m_rod*l**2/12"),
    )
    piston = s.add_body("piston", translate=1, joint_at=("r + l", 0, 0), mass="m_piston", inertia=0)
    end = s.add_point("end", body=b, at=("l", 0, 0), label="end of the rod")
    s.add_loop_joint("gudgeon pin", "revolute", between=(end, piston.origin), axis=b[3])
    s.add_force("friction", magnitude="-c*v", direction=s.inertial[1], at=piston.origin)
    s.add_output("x", "dot(pos(piston.origin), [n1])", label="position of the piston", body=piston)
    s.add_outputs("forces", "energy")
    s.set_defaults(r=crank, l=rod, m_crank=2, m_rod=1, m_piston=0.5, c=1)
    s.set_labels(
        r="length of the crank", l="length of the rod", c="friction over speed of the piston"
    )
    s.set_labels(
        m_crank="mass of the crank", m_rod="mass of the rod", m_piston="mass of the piston"
    )
    speed = 8 if equal_arms else 20
    s.set_run(t_end=2, step=0.001, output_every=5, initial={"q(crank)": 0.5, "u(crank)": speed})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
