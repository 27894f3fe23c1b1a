"""Sarrus linkage: two hinged pairs of plates in planes at right angles guide a platform on an exact
straight line.

Sarrus (1853), Comptes Rendus 36, 1036. Six hinges leave one degree of freedom where counting gives
none: the last hinge adds five conditions to five angles, of which four suffice because the axes of
each pair are parallel; `eom.notes` reports it. The plates are hinged about axis 2 on one side and
about axis 1 on the other. Look at `height`: the platform, which hangs on a spring, goes up and down
without turning.
"""

from math import pi

import bellcrank as bc


def model():
    """One degree of freedom, SI units, z up; plates of 0.5 m, the platform hangs below the base."""
    s = bc.System("Sarrus linkage", units="mks", axes="ISO 8855")
    plate = {"cm": (0, 0, "-l/2"), "mass": "m", "inertia": ("m*l**2/12", "m*l**2/12", 0)}
    a1 = s.add_body(
        "a1", rotate=2, joint_at=("-h", 0, 0), label="upper plate of the first pair", **plate
    )
    a2 = s.add_body(
        "a2",
        parent=a1,
        rotate=2,
        joint_at=(0, 0, "-l"),
        label="lower plate of the first pair",
        **plate,
    )
    top = s.add_body(
        "top",
        parent=a2,
        rotate=2,
        joint_at=(0, 0, "-l"),
        cm=("h", 0, 0),
        mass="m_p",
        inertia=("i_p", "i_p", "2*i_p"),
        label="platform",
    )
    b1 = s.add_body(
        "b1", rotate=1, joint_at=(0, "h", 0), label="upper plate of the second pair", **plate
    )
    b2 = s.add_body(
        "b2",
        parent=b1,
        rotate=1,
        joint_at=(0, 0, "-l"),
        label="lower plate of the second pair",
        **plate,
    )
    end = s.add_point("end", body=b2, at=(0, 0, "-l"), label="last hinge, on the plate")
    edge = s.add_point("edge", body=top, at=("h", "h", 0), label="last hinge, on the platform")
    s.add_loop_joint("last hinge", "revolute", between=(end, edge), axis=b2[1])
    s.add_gravity()
    s.add_strut(
        "spring",
        magnitude="-k*(x - l_0)",
        between=(top.cm, s.inertial.origin),
        label="spring force",
    )
    s.add_output("height", "dot(pos(top.cm), [n3])", label="height of the platform", body=top)
    s.add_outputs("forces", "energy")
    s.set_defaults(l=0.5, h=0.3, m=0.4, m_p=2, i_p=0.02, k=200, l_0=0.5)
    s.set_labels(
        l="length of a plate", h="distance of the hinges from the middle", m="mass of a plate"
    )
    s.set_labels(
        m_p="mass of the platform", i_p="inertia of the platform", k="stiffness of the spring"
    )
    s.set_labels(l_0="length of the spring without force")
    start = {
        "q(a1)": pi / 3,
        "q(a2)": -2 * pi / 3,
        "q(top)": pi / 3,
        "q(b1)": -pi / 3,
        "q(b2)": 2 * pi / 3,
    }
    s.set_run(t_end=2, step=0.002, output_every=5, initial=start)
    return s


if __name__ == "__main__":
    print(model().equations().summary())
