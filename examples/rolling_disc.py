"""Rolling disc: a thin one that rolls without slipping on a horizontal plane, free to turn and to
fall.

Massless bodies carry the geometry: `yaw` moves on the plane with the point of contact, `lean` tilts
about the line of rolling, the disc turns in it. Two rolling constraints leave three degrees of
freedom. Upright straight rolling is stable above the speed sqrt(g r / 3) of a uniform disc (Neimark
& Fufaev, Dynamics of Nonholonomic Systems (1972), ch. VI). Look at `lean`: at 2 m/s a push only
makes the disc nod.
"""

import bellcrank as bc


def model():
    """Three degrees of freedom, SI units, z up."""
    s = bc.System("rolling disc", units="mks", axes="ISO 8855")
    yaw = s.add_body("yaw", translate=(1, 2), rotate=3, mass=0, inertia=0, label="contact frame")
    lean = s.add_body("lean", parent=yaw, rotate=1, mass=0, inertia=0, label="plane of the disc")
    disc = s.add_body(
        "disc",
        parent=lean,
        rotate=2,
        joint_at=(0, 0, "r"),
        mass="m",
        inertia=("m*r**2/4", "m*r**2/2", "m*r**2/4"),
    )
    s.add_gravity()
    for axis in (1, 2):
        s.add_constraint(f"dot(vel(disc.origin) + cross(rot(disc), -r*[lean3]), [yaw{axis}])")
    s.add_output("lean", "q(lean)", label="lean angle", body=lean)
    s.add_output("speed", "dot(vel(disc.origin), [yaw1])", label="forward speed", body=disc)
    s.add_outputs("energy")
    s.set_defaults(m=1, r=0.3)
    s.set_labels(m="mass of the disc", r="radius of the disc")
    s.add_shape(body=disc, kind="cylinder", size=("r", "r/10"), axis=2, color="teal")
    s.add_shape(body=disc, kind="box", size=("1.7*r", "r/9", "r/6"), color="silver")
    s.set_run(t_end=5, step=0.002, output_every=5, initial={"u(disc)": 2 / 0.3, "u(lean)": 0.3})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
