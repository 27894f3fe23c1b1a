"""Stanford arm: five revolute joints and one slide, the classic test of formulations.

Sayers (1990), section 9.6 and Appendix E. Bodies are called A to F from base to hand; C slides
along b2. The mass of B is 6 kg by assumption, the printed value being illegible. Look at the
operation count (240 additions and 353 multiplications in the source) and, controlled, at the joints
going to their targets.
"""

import bellcrank as bc


def model(controlled=False):
    """Six degrees of freedom, SI units. `controlled` adds the six actuators with gravity
    compensation."""
    s = bc.System("controlled Stanford arm" if controlled else "Stanford arm", units="mks")
    n = s.inertial
    a = s.add_body("a", label="shoulder", rotate=2, mass="ma", inertia=("a1", "a2", "a3"))
    b = s.add_body(
        "b",
        label="upper arm",
        parent=a,
        rotate=1,
        mass="mb",
        cm=("l1", 0, 0),
        inertia=("b1", "b2", "b3"),
    )
    c = s.add_body(
        "c",
        label="boom",
        parent=b,
        translate=2,
        mass="mc",
        joint_at=("l1", 0, 0),
        inertia=("c1", "c2", "c3"),
    )
    d = s.add_body(
        "d",
        label="forearm",
        parent=c,
        rotate=2,
        mass="md",
        cm=(0, "l5", 0),
        inertia=("d1", "d2", "d3"),
    )
    e = s.add_body(
        "e",
        label="wrist",
        parent=d,
        rotate=1,
        mass="me",
        joint_at=(0, "l2", 0),
        cm=(0, "l6", 0),
        inertia=("e1", "e2", "e3"),
    )
    f = s.add_body(
        "f",
        label="hand",
        parent=e,
        rotate=2,
        mass="mf",
        cm=(0, "l3", 0),
        inertia=("f1", "f2", "f3"),
    )
    s.add_gravity(direction=-n[2])
    s.set_defaults(ma=9, mb=6, mc=4, md=1, me=0.6, mf=0.5, l1=0.1, l2=0.6, l3=0.2, l5=0.7, l6=0.06)
    s.set_defaults(a2=0.02, b1=0.06, b2=0.01, b3=0.05, c1=0.4, c2=0.01, c3=0.4)
    s.set_defaults(
        d1=0.0005, d2=0.001, d3=0.001, e1=0.0005, e2=0.0002, e3=0.0005, f1=0.001, f2=0.002, f3=0.003
    )
    for name, label in (
        ("a", "shoulder"),
        ("b", "upper arm"),
        ("c", "boom"),
        ("d", "forearm"),
        ("e", "wrist"),
        ("f", "hand"),
    ):
        s.set_labels(**{f"m{name}": f"mass of the {label}"})
        s.set_labels(**{f"{name}{i}": f"inertia of the {label} about axis {i}" for i in (1, 2, 3)})
    s.set_labels(
        l1="offset of the upper arm",
        l2="wrist, from the boom",
        l3="mass centre of the hand, from the wrist",
    )
    s.set_labels(
        l5="mass centre of the forearm, from the boom",
        l6="mass centre of the wrist, from its joint",
    )
    s.add_outputs("coordinates")
    s.add_shape(
        body=None,
        kind="cylinder",
        size=(0.12, 0.5),
        at=(0, -0.35, 0),
        axis=2,
        color="gray",
        label="pillar",
    )
    s.add_shape(body=a, kind="box", size=(0.14, 0.2, 0.14), label="shoulder")
    s.add_shape(body=b, kind="cylinder", size=(0.07, 0.18), at=(0.09, 0, 0), axis=1)
    s.add_shape(body=c, kind="box", size=(0.05, 0.9, 0.05), at=(0, 0.05, 0), label="boom")
    s.add_shape(body=d, kind="cylinder", size=(0.035, 0.2), at=(0, 0.5, 0), axis=2)
    s.add_shape(body=e, kind="sphere", size=0.045)
    s.add_shape(body=f, kind="box", size=(0.08, 0.04, 0.04), at=(0, 0.16, 0), label="hand")
    s.add_shape(body=f, kind="cylinder", size=(0.018, 0.16), at=(0, 0.08, 0), axis=2)
    s.set_run(t_end=10, step=0.002, output_every=25, initial={"q(b)": 1.5707963267948966})
    if controlled:
        add_controller(s, a, b, c, d, e, f)
    return s


def add_controller(s, a, b, c, d, e, f):
    """Proportional and damping feedback in every joint; gravity is balanced in joints b, c, d and
    e."""
    s.add_moment(
        "tau1",
        magnitude="-k1*(q(a) - arot) - k2*u(a)",
        direction=s.inertial[2],
        on=a,
        label="torque of the shoulder",
    )
    s.add_moment(
        "tau2",
        magnitude="""-(k3*(q(b) - brot) + k4*u(b) + g*(((mc + md)*q(c) + md*l5)*sin(q(b))
                     + (me*l6 + mf*l3)*(cos(q(e))*sin(q(b)) + cos(q(d))*sin(q(e))*cos(q(b)))
                     + (me + mf)*(q(c) + l2)*sin(q(b))))""",
        direction=a[1],
        on=b,
        against=a,
        label="torque of the upper arm",
    )
    s.add_moment(
        "tau3",
        magnitude="-(k5*(q(d) - drot) + k6*u(d) - g*(me*l6 + mf*l3)*sin(q(b))*sin(q(d))*sin(q(e)))",
        direction=d[2],
        on=d,
        against=c,
        label="torque of the forearm",
    )
    s.add_moment(
        "tau4",
        magnitude="""-(k7*(q(e) - erot) + k8*u(e)
                     + g*(me*l6 + mf*l3)*(cos(q(b))*sin(q(e)) + sin(q(b))*cos(q(d))*cos(q(e))))""",
        direction=e[1],
        on=e,
        against=d,
        label="torque of the wrist",
    )
    s.add_moment(
        "tau5",
        magnitude="-(k9*(q(f) - frot) + k10*u(f))",
        direction=f[2],
        on=f,
        against=e,
        label="torque of the hand",
    )
    s.add_force(
        "sigma",
        magnitude="-(k11*(q(c) - cdisp) + k12*u(c) - g*(mc + md + me + mf)*cos(q(b)))",
        direction=c[2],
        at=c.origin,
        against=b.origin,
        label="force on the boom",
    )
    s.set_defaults(arot=1.0472, brot=1.0472, cdisp=0.1, drot=1.0472, erot=1.0472, frot=1.0472)
    s.set_defaults(
        k1=3, k2=5, k3=1, k4=3, k5=0.3, k6=0.6, k7=0.3, k8=0.6, k9=0.25, k10=0.25, k11=30, k12=41
    )
    s.set_labels(arot="target angle of the shoulder", brot="target angle of the upper arm")
    s.set_labels(cdisp="target displacement of the boom", drot="target angle of the forearm")
    s.set_labels(erot="target angle of the wrist", frot="target angle of the hand")
    joints = ("shoulder", "upper arm", "forearm", "wrist", "hand", "boom")
    for i, label in enumerate(joints):
        s.set_labels(
            **{f"k{2 * i + 1}": f"gain of the {label}", f"k{2 * i + 2}": f"damping of the {label}"}
        )


if __name__ == "__main__":
    print(model().equations().summary())
