"""Spinning spacecraft with four antennas: hinged to the body, with springs and dampers.

Sayers (1990), section 9.5 (Spacecraft #2, an example of SYMBA). Springs and dampers in the hinges
settle the antennas while the body spins about w1. The speeds u(w, 4..6) are the angular velocity
along w1, w2, w3, whatever the order of the angles.
"""

import bellcrank as bc


def model():
    """Ten degrees of freedom, SI units, slow spin for 1000 s."""
    s = bc.System("spinning spacecraft", units="mks")
    w = s.add_body(
        "w",
        label="body",
        translate=(1, 2, 3),
        rotate=(3, 2, 1),
        mass="m1",
        inertia=("ixx", "iyy", "izz"),
    )
    hinges = [
        (2, ("l1", 0, "l2")),
        (3, ("l1", "l2", 0)),
        (2, ("l1", 0, "-l2")),
        (3, ("l1", "-l2", 0)),
    ]
    for i, (axis, joint_at) in enumerate(hinges, start=1):
        a = s.add_body(
            f"a{i}",
            parent=w,
            label=f"antenna {i}",
            rotate=axis,
            joint_at=joint_at,
            cm=("l3", 0, 0),
            mass="m2",
            inertia=(0, "ia", "ia"),
        )
        s.add_moment(
            f"t{i}",
            magnitude=f"-k*q(a{i}) - d*u(a{i})",
            direction=w[axis],
            on=a,
            against=w,
            label=f"hinge moment of antenna {i}",
        )

        s.add_shape(
            body=a,
            kind="box",
            size=("2*l3", "0.5*l3", "0.08*l3") if axis == 2 else ("2*l3", "0.08*l3", "0.5*l3"),
            at=("l3", 0, 0),
        )
    s.add_shape(body=w, kind="cylinder", size=("l2", "2*l1"), axis=1, color="silver")

    s.set_defaults(
        ixx=110,
        iyy=100,
        izz=70,
        ia=0.02,
        m1=500,
        m2=2,
        k=2.85e-5,
        d=0.001359,
        l1=0.5,
        l2=0.3,
        l3=0.2,
    )
    s.set_labels(
        m1="mass of the body",
        m2="mass of an antenna",
        k="stiffness of a hinge",
        d="damping of a hinge",
    )
    s.set_labels(
        ixx="inertia of the body about x",
        iyy="inertia of the body about y",
        izz="inertia of the body about z",
    )
    s.set_labels(ia="inertia of an antenna across its length", l1="hinges, along the spin axis")
    s.set_labels(l2="hinges, from the spin axis", l3="half length of an antenna")
    s.add_outputs("coordinates", "speeds")
    s.set_run(
        t_end=1000,
        step=1,
        method="rk2",
        initial={"u(w, 4)": 0.0017, "u(w, 5)": 0.00017, "u(w, 6)": 0.00017},
    )
    return s


if __name__ == "__main__":
    print(model().equations().summary())
