"""Andrews' squeezing mechanism: seven planar bodies, three loops, one degree of freedom, a spring
and a motor of constant torque.

Schiehlen (ed.), Multibody Systems Handbook (1990); Hairer & Wanner, Solving Ordinary Differential
Equations II (1996), section VII.7, whose names of lengths are kept (u is uu here); Mazzia &
Magherini, Test Set for Initial Value Problem Solvers (2008), problem `andrews`, has the solution at
t = 0.03 s to fourteen digits. The ends of bodies 2, 3, 4 and 6 are pinned together. Look at
`q(k1)`: the motor turns the small crank by two and a half turns in 0.03 s, while the others only
swing.
"""

import bellcrank as bc

START = {  # rad: beta, theta, gamma, phi, delta, Omega, epsilon
    "q(k1)": -0.0617138900142764496, "q(k2)": 0.0, "q(k3)": 0.455279819163070380, "q(k4)": 0.222668390165885885,
    "q(k5)": 0.487364979543842550, "q(k6)": -0.222668390165885885, "q(k7)": 1.230547444549821192,
}  # fmt: skip


def model():
    """One degree of freedom, SI units; starts at rest."""
    s = bc.System("Andrews' squeezing mechanism", units="mks")
    n = s.inertial

    def link(name, parent, joint_at, cm):
        """A body that turns about the normal of the plane."""
        i = name[1]
        return s.add_body(
            name,
            parent=parent,
            rotate=3,
            joint_at=joint_at,
            cm=cm,
            mass=f"m{i}",
            inertia=(0, 0, f"i{i}"),
            label=f"body {i}",
        )

    k1 = link("k1", n, (0, 0, 0), ("ra", 0, 0))
    link("k2", k1, ("rr", 0, 0), ("-da", 0, 0))
    k3 = link("k3", n, ("xb", "yb", 0), ("sb", "-sa", 0))
    k5 = link("k5", n, ("xa", "ya", 0), ("ta", "tb", 0))
    link("k4", k5, ("zt", 0, 0), (0, "ea - e", 0))
    k7 = link("k7", n, ("xa", "ya", 0), ("-ub", "-ua", 0))
    link("k6", k7, (0, "-uu", 0), ("zf - fa", 0, 0))
    p2 = s.add_point("p2", body="k2", at=("-d", 0, 0), label="the common pin, on body 2")
    for body, at in (("k3", (0, "-ss", 0)), ("k4", (0, "-e", 0)), ("k6", ("zf", 0, 0))):
        p = s.add_point(f"p{body[1]}", body=body, at=at, label=f"the common pin, on body {body[1]}")
        s.add_loop_joint(f"pin of bodies 2 and {body[1]}", between=(p2, p), directions=(n[1], n[2]))
    top = s.add_point("top", body=k3, at=("sd", "-sc", 0), label="end of the spring")
    fixed = s.add_point("fixed", at=("xc", "yc", 0), label="fixed end of the spring")
    s.add_strut("spring", magnitude="-c0*(x - lo)", between=(top, fixed), label="spring force")
    s.add_moment("motor", magnitude="mom", direction=n[3], on=k1, label="motor torque")
    s.add_output("force", "fm(spring)", label="spring force, positive in compression", body=k3)

    s.set_units(c0="F/L", mom="F*L")
    s.set_defaults(
        m1=0.04325, m2=0.00365, m3=0.02373, m4=0.00706, m5=0.07050, m6=0.00706, m7=0.05498
    )
    s.set_defaults(
        i1=2.194e-6, i2=4.410e-7, i3=5.255e-6, i4=5.667e-7, i5=1.169e-5, i6=5.667e-7, i7=1.912e-5
    )
    s.set_defaults(xa=-0.06934, ya=-0.00227, xb=-0.03635, yb=0.03273, xc=0.014, yc=0.072)
    s.set_defaults(
        d=0.028, da=0.0115, e=0.02, ea=0.01421, zf=0.02, fa=0.01421, rr=0.007, ra=0.00092
    )
    s.set_defaults(
        ss=0.035, sa=0.01874, sb=0.01043, sc=0.018, sd=0.02, zt=0.04, ta=0.02308, tb=0.00916
    )
    s.set_defaults(uu=0.04, ua=0.01228, ub=0.00449, c0=4530, lo=0.07785, mom=0.033)
    for i in range(1, 8):
        s.set_labels(**{f"m{i}": f"mass of body {i}", f"i{i}": f"inertia of body {i}"})
    for name, label in (
        ("a", "the pin of bodies 5 and 7"),
        ("b", "the pin of body 3"),
        ("c", "the end of the spring"),
    ):
        s.set_labels(**{f"x{name}": f"x of {label}", f"y{name}": f"y of {label}"})
    s.set_labels(
        rr="length of the crank, body 1",
        d="length of body 2",
        ss="length of body 3",
        e="length of body 4",
    )
    s.set_labels(
        zt="length of body 5",
        zf="length of body 6",
        uu="length of body 7",
        c0="stiffness of the spring",
    )
    s.set_labels(
        lo="free length of the spring", mom="torque of the motor", ra="mass centre of body 1"
    )
    s.set_labels(
        da="mass centre of body 2",
        sa="mass centre of body 3, along",
        sb="mass centre of body 3, across",
    )
    s.set_labels(
        ea="mass centre of body 4",
        ta="mass centre of body 5, along",
        tb="mass centre of body 5, across",
    )
    s.set_labels(
        fa="mass centre of body 6",
        ua="mass centre of body 7, along",
        ub="mass centre of body 7, across",
    )
    s.set_labels(sc="end of the spring on body 3, along", sd="end of the spring on body 3, across")
    s.set_run(t_end=0.03, step=2e-5, output_every=5, initial=START)
    return s


if __name__ == "__main__":
    print(model().equations().summary())
