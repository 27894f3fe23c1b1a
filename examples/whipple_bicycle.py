"""Whipple bicycle: the benchmark of rear frame with rider, front frame and two thin wheels that
roll on a level road.

Meijaard, Papadopoulos, Ruina & Schwab (2007), Linearized dynamics equations for the balance and
steer of a bicycle, Proc. R. Soc. A 463, 1955-1982; table 1 has the parameters, measured from the
rear contact in the upright position, x forward, z down. Massless bodies carry the rear contact, as
in `rolling_disc`; that the front wheel touches the road is one position constraint, which pitches
the frame. Three degrees of freedom are left: lean, steer and forward speed. Look at `lean` and
`steer`: at 4.6 m/s, between the weave speed 4.2924 and the capsize speed 6.0243 m/s, a push dies
out and the bicycle continues by itself on another course.
"""

import bellcrank as bc


def model(speed=4.6):
    """Three degrees of freedom, SI units, z down; starts at `speed` (m/s) with the lean rate of a
    sideways push."""
    s = bc.System("Whipple bicycle", units="mks", axes="SAE")
    n = s.inertial
    yaw = s.add_body("yaw", translate=(1, 2), rotate=3, mass=0, inertia=0, label="rear contact")
    lean = s.add_body(
        "lean", parent=yaw, rotate=1, mass=0, inertia=0, label="plane of the rear wheel"
    )
    s.add_body(
        "rw",
        parent=lean,
        rotate=2,
        joint_at=(0, 0, "-r_r"),
        mass="m_r",
        inertia=("irxx", "iryy", "irxx"),
        label="rear wheel",
    )
    frame = s.add_body(
        "frame",
        parent=lean,
        rotate=2,
        joint_at=(0, 0, "-r_r"),
        cm=("x_b", 0, "z_b"),
        coordinates_of=n,
        mass="m_b",
        inertia=(("ibxx", 0, "ibxz"), (0, "ibyy", 0), ("ibxz", 0, "ibzz")),
        label="rear frame and rider",
    )
    # the moments of inertia of the front frame, published along the road, on the steering axis and
    # across it
    s.define("i11", "ihxx*cos(lam)**2 - 2*ihxz*sin(lam)*cos(lam) + ihzz*sin(lam)**2")
    s.define("i13", "(ihxx - ihzz)*sin(lam)*cos(lam) + ihxz*(cos(lam)**2 - sin(lam)**2)")
    s.define("i33", "ihxx*sin(lam)**2 + 2*ihxz*sin(lam)*cos(lam) + ihzz*cos(lam)**2")
    fork = s.add_body(
        "fork", parent=frame, rotate=3, rotation_axis=("sin(lam)", 0, "cos(lam)"), reference_axis=("cos(lam)", 0, "-sin(lam)"), joint_at=("w + c", 0, 0),
        cm=("x_h", 0, "z_h"), coordinates_of=n, mass="m_h",
        inertia=(("i11", 0, "i13"), (0, "ihyy", 0), ("i13", 0, "i33")), label="front frame",
    )  # fmt: skip
    s.add_body(
        "fw",
        parent=fork,
        rotate=2,
        joint_at=("r_f*sin(lam) - c*cos(lam)", 0, "-r_f*cos(lam) - c*sin(lam)"),
        mass="m_f",
        inertia=("ifxx", "ifyy", "ifxx"),
        label="front wheel",
    )
    s.add_gravity()

    s.define("upright", "sqrt(1 - dot([n3], [fork2])**2)")
    s.add_constraint("dot(pos(fw.origin), [n3]) + r_f*upright", label="front wheel on the road")
    for axis in (1, 2):
        s.add_constraint(
            f"dot(vel(rw.origin) + cross(rot(rw), r_r*[lean3]), [yaw{axis}])",
            label=f"rear wheel rolls, axis {axis}",
        )
        s.add_constraint(
            f"dot(vel(fw.origin) + cross(rot(fw), r_f*direction(project([n3], [fork2]))), "
            f"[yaw{axis}])",
            label=f"front wheel rolls, axis {axis}",
        )

    s.add_output("lean", "q(lean)", label="lean angle", body=lean)
    s.add_output("steer", "q(fork)", label="steer angle", body=fork)
    s.add_output("speed", "dot(vel(rw.origin), [yaw1])", label="forward speed", body=frame)
    s.add_outputs("energy")
    s.set_defaults(w=1.02, c=0.08, g=9.81, r_r=0.3, m_r=2, irxx=0.0603, iryy=0.12)
    s.add_parameter("lam", 18, units="deg", label="tilt of the steering axis")
    s.set_defaults(x_b=0.3, z_b=-0.9, m_b=85, ibxx=9.2, ibxz=2.4, ibyy=11, ibzz=2.8)
    s.set_defaults(x_h=0.9, z_h=-0.7, m_h=4, ihxx=0.05892, ihxz=-0.00756, ihyy=0.06, ihzz=0.00708)
    s.set_defaults(r_f=0.35, m_f=3, ifxx=0.1405, ifyy=0.28)
    s.set_labels(w="wheel base", c="trail")
    for wheel, radius in (("rw", "r_r"), ("fw", "r_f")):
        s.add_shape(body=wheel, kind="wheel", size=(radius, 0.04), axis=2)
    s.add_shape(
        body=frame,
        kind="line",
        at=((0, 0, 0), (0.35, 0, 0), (0.2, 0, -0.5), (0.75, 0, -0.45), (0.35, 0, 0)),
        size=0.04,
    )
    s.add_shape(body=frame, kind="line", at=((0.2, 0, -0.5), (0, 0, 0)), size=0.03)
    s.add_shape(
        body=frame,
        kind="sphere",
        size=0.13,
        at=("x_b", 0, "z_b + r_r"),
        color="#c98b2b",
        label="rider",
    )
    axle = ("r_f*sin(lam) - c*cos(lam)", 0, "-r_f*cos(lam) - c*sin(lam)")
    s.add_shape(
        body=fork,
        kind="line",
        at=(axle, (0, 0, -0.75), (0, 0.2, -0.8), (0, -0.2, -0.8)),
        size=0.03,
        color="red",
    )
    s.set_run(t_end=5, step=0.005, output_every=2, initial={"u(rw)": -speed / 0.3, "u(lean)": 0.5})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
