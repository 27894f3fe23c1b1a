"""Four-bar linkage with a spring and damper: one loop, one degree of freedom.

Sayers (1990), section 9.3. Links A and C are massless, B carries the mass; B and C are pinned
together by two closed directions. The strut pulls B towards a fixed point. Look at the strut force
`pull` and the angle of B: a lightly damped return, with 4.4 Hz and a damping ratio of 0.14 for
small motions, after the displaced start q(a) = -0.5, for which the other angles are found by the
program. `displaced=False` starts at zero, where the spring is relaxed and gravity alone moves the
linkage; `massive=True` gives links A and C mass too.
"""

import bellcrank as bc


def model(displaced=True, massive=False):
    """One degree of freedom, SI units."""
    s = bc.System("four-bar linkage", units="mks")
    n = s.inertial
    links = {"mass": "lm", "inertia": (0, 0, "li33")} if massive else {"mass": 0, "inertia": 0}
    a = s.add_body("a", label="lower link", rotate=3, cm=("l1/2", 0, 0), **links)
    b = s.add_body(
        "b",
        label="coupler",
        parent=a,
        rotate=3,
        joint_at=("l1", 0, 0),
        cm=("l1", "l3", 0),
        coordinates_of=n,
    )
    c = s.add_body(
        "c",
        label="upper link",
        rotate=3,
        joint_at=("l5", "l4", 0),
        cm=("(l1 - l5)/2", 0, 0),
        **links,
    )
    bp = s.add_point("bp", body=b, at=("l1", "l4", 0), coordinates_of=n, label="b-point")
    cp = s.add_point("cp", body=c, at=("l1", "l4", 0), coordinates_of=n, label="c-point")
    s1 = s.add_point("s1", body=b, at=("l1", "l2", 0), coordinates_of=n, label="strut point 1")
    s2 = s.add_point("s2", at=("l6", "l7", 0), label="strut point 2")
    s.add_loop_joint("pin of B and C", between=(bp, cp), directions=(b[1], c[2]))
    s.add_gravity(direction=-n[2])
    s.add_strut("F", magnitude="-k*(x - x0) - d*v", between=(s1, s2), label="strut force")

    s.add_output("pull", "-fm(F)", label="strut force, positive in tension", body=b)
    s.add_output("x", "dot(pos(b.cm), [n1])", label="mass centre of the coupler, x", body=b)
    s.add_output("y", "dot(pos(b.cm), [n2])", label="mass centre of the coupler, y", body=b)
    s.add_output("angle", "angle([n1], [b1], [n3])", label="angle of the coupler", body=b)
    s.set_units(k="F/L", d="F*T/L")
    s.set_defaults(
        bi33=1, bm=10, d=100, k=10000, l1=0.5, l2=0.1, l3=0.2, l4=0.3, l5=0.1, l6=0.3, l7=0.5
    )
    s.set_labels(
        bm="mass of the coupler", bi33="inertia of the coupler", k="stiffness of the strut"
    )
    s.set_labels(
        d="damping of the strut",
        l1="length of the lower link",
        l2="height of the strut on the coupler",
    )
    s.set_labels(l3="height of the mass centre of the coupler", l4="height of the upper pins")
    s.set_labels(l5="x of the pin of the upper link", l6="x of the fixed end of the strut")
    s.set_labels(l7="y of the fixed end of the strut")
    if massive:
        s.set_defaults(lm=2, li33=0.04)
        s.set_labels(lm="mass of each link", li33="inertia of each link")
    s.set_run(t_end=1, step=0.005, method="rk2", initial={"q(a)": -0.5 if displaced else 0.0})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
