"""Cart with a steered front axle: eight rolling constraints on eight speeds, two of them redundant.

Sayers (1990), section 9.2. A body with two rear wheels and a front axle with two front wheels roll
without slipping, pushed by a force along the body. Two degrees of freedom are left. Look at `r` and
`deldot`: the axle swings back to straight within two seconds. The second lateral constraint of each
axle repeats the first; `eom.notes` reports it.
"""

import bellcrank as bc


def model():
    """Two degrees of freedom, SI units; the axle starts at 0.25 rad."""
    s = bc.System("cart with a steered axle", units="mks")
    b = s.add_body("b", label="body of cart", translate=(1, 2), rotate=3, cm=("cmb1", 0, 0))
    f = s.add_body(
        "f", parent=b, label="front axle", rotate=3, joint_at=("l1", 0, 0), cm=("-eps + cmf1", 0, 0)
    )
    wheel = {"rotate": 2, "mass": "mw", "inertia": ("it", "ia", "it")}
    s.add_body("lrw", parent=b, label="left-rear wheel", joint_at=(0, "-trk2", 0), **wheel)
    s.add_body("rrw", parent=b, label="right-rear wheel", joint_at=(0, "trk2", 0), **wheel)
    s.add_body("lfw", parent=f, label="left-front wheel", joint_at=("-eps", "-trk2", 0), **wheel)
    s.add_body("rfw", parent=f, label="right-front wheel", joint_at=("-eps", "trk2", 0), **wheel)
    for w, axle in (("rrw", "b"), ("lrw", "b"), ("rfw", "f"), ("lfw", "f")):
        s.add_constraint(
            f"r*dot([{axle}2], rot({w}) - rot({axle})) - dot(vel({w}.origin), [{axle}1])"
        )
    for w, axle in (("rrw", "b"), ("lrw", "b"), ("rfw", "f"), ("lfw", "f")):
        s.add_constraint(f"dot([{axle}2], vel({w}.origin))")
    s.add_force("f", magnitude="f", direction=b[1], at=b.origin, label="pushing force")

    s.add_shape(
        body=b, kind="box", size=("l1 + 0.5*r", "trk2", "0.4*r"), at=("l1/2 - 0.1*r", 0, "0.2*r")
    )
    s.add_shape(body=f, kind="cylinder", size=("0.15*r", "2*trk2"), at=("-eps", 0, 0), axis=2)
    for w in ("lrw", "rrw", "lfw", "rfw"):
        s.add_shape(body=w, kind="wheel", size=("r", "0.3*r"), axis=2)

    s.add_output("r", "dot(rot(b), [b3])", label="yaw rate", body=b)
    s.add_output("deldot", "dot(rot(f) - rot(b), [b3])", label="steer rate", body=f)
    s.set_defaults(
        bi33=12,
        bm=20,
        cmb1=0.5,
        cmf1=0.02,
        eps=0.1,
        f=100,
        fi33=0.5,
        fm=5,
        ia=0.02,
        it=0.01,
        l1=1.5,
        mw=1,
    )
    s.set_defaults(r=0.2, trk2=0.5)
    s.set_labels(bm="mass of the body", bi33="yaw inertia of the body", fm="mass of the axle")
    s.set_labels(
        fi33="yaw inertia of the axle", mw="mass of a wheel", ia="inertia of a wheel about its axis"
    )
    s.set_labels(
        it="inertia of a wheel across its axis",
        cmb1="mass centre of the body, in front of the rear wheels",
    )
    s.set_labels(
        cmf1="mass centre of the axle, in front of the front wheels",
        eps="trail of the front wheels",
    )
    s.set_labels(
        f="pushing force",
        l1="pivot of the axle, in front of the rear wheels",
        r="radius of the wheels",
    )
    s.set_labels(trk2="half of the track width")
    s.set_run(t_end=3, step=0.02, method="rk2", output_every=5, initial={"q(f)": 0.25})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
