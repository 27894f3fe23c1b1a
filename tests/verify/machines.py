"""Small machines that together use every joint and every word of the model language."""

import math

import bellcrank as bc


def free_body():
    """Euler parameters, a strut to the ground, a force along a body axis."""
    s = bc.System("free body")
    a = s.add_body(
        "a",
        translate=(1, 2, 3),
        rotate="euler-parameters",
        cm=("c1", 0.1, 0),
        mass=2,
        inertia=(1, 1.2, 1.5),
    )
    p = s.add_point("p", body=a, at=(1, 0, 0.5))
    r = s.add_point("r", at=(3, 1, 2))
    s.add_strut("spring", magnitude="-k*(x - 2) - c*v", between=(p, r))
    s.add_force("thrust", magnitude="f0", direction=a[1], at=p)
    s.add_gravity()
    s.set_defaults(c1=0.2, k=100, c=3, f0=5)
    return s


def linkage():
    """A planar base, an inclined hinge, oblique slides, proper Euler angles and a rotor; z up."""
    s = bc.System("linkage", axes="ISO 8855")
    a = s.add_body("a", translate=(1, 3), rotate=2, cm=("ax", 0, "az"), mass=5, inertia=(1, 2, 1.5))
    b = s.add_body(
        "b", parent=a, rotate=1, rotation_axis=(1, 1, 0), reference_axis=(0, 0, 1), joint_at=("2", 0.3, 1),
        coordinates_of=s.inertial, cm=(2.2, 0.3, 1.5), mass=1.5,
        inertia=((1, 0.1, 0), (0.1, 1.2, 0.05), (0, 0.05, 0.9)),
    )  # fmt: skip
    c = s.add_body("c", parent=b, translate=((1, 0, 1), 2), mass=1, inertia=0, joint_at=(0, 0, 0.2))
    d = s.add_body("d", parent=a, rotate=(3, 1, 3), joint_at=(-1, 0, 0), cm=(0, 0, "dz"), mass=0.7)
    s.add_body("w", parent=d, rotate=3, joint_at=(0, 0.4, 0), mass=0.3, inertia=(0.02, 0.02, 0.03))
    p = s.add_point("p", body=c, at=(0.1, 0.2, 0.3))
    r = s.add_point("r", body=d, at=(0.5, 0, 0), coordinates_of=a)
    s.add_strut("st", magnitude="-k*(x - x0) - c*v", between=(p, r))
    s.add_gravity()
    s.set_defaults(
        ax=0, az=0.3, dz=0.2, k=30, c=2, di11=0.1, di12=0.01, di13=0, di22=0.1, di23=0, di33=0.2
    )
    s.set_run(initial={"q(d, 2)": 1.2})
    return s


def words():
    """Two hinges and a slide under loads that use the whole language."""
    s = bc.System("words")
    a = s.add_body("a", rotate=3, cm=(0.5, 0, 0), mass=2, inertia=(0.1, 0.1, 0.2))
    b = s.add_body(
        "b",
        parent=a,
        rotate=2,
        joint_at=(1, 0, 0),
        cm=(0.3, 0.1, 0),
        mass=1,
        inertia=(0.1, 0.2, 0.2),
    )
    c = s.add_body("c", parent=b, translate=1, joint_at=(0.4, 0, 0), mass=0.5, inertia=0)
    p = s.add_point("p", body=c, at=(0, 0, 0.2))
    s.add_input("z", units="L")
    s.define("cubic", bc.table([-3, -1, 0, 2], [-2, -1.5, 0, 4], 3))
    s.define("lines", bc.table([-3, -1, 0, 2], [-2, -1.5, 0, 4]))
    s.define(
        "map",
        bc.table(
            [-3, -1, 0, 2],
            [-2, -1, 0, 1],
            [[1, 2, 3, 4], [2, 3, 4, 6], [0, 1, 1, 2], [4, 3, 2, 1]],
            3,
        ),
    )
    s.define("bend", "angle([a1], [b1], [a2])")
    s.define("tilt", "angle([n1], [b3], [n2] + [n3])")
    s.add_external("drive", arguments=("angle", "z"), python=lambda angle, z: angle * z)
    s.add_external(
        "plan", arguments=("t", "q(a)"), returns=("left", "right"), python=lambda t, q: (t, q)
    )
    s.add_moment(
        "m1", magnitude="k1*cubic(q(b)) + k1*lines(q(a)) + k1*map(q(a), q(b))", direction=a[3], on=a
    )
    s.add_moment(
        "m2",
        magnitude="-k1*bend - c1*dxdt(bend) + k1*tilt + k1*max(q(a), q(b), 0) + k1*min(q(a), "
        "q(b)) + "
        "k1*sign(q(b))"
        " + k1*atan2(q(c), l0) + k1*sqrt(1 + q(a)**2) + k1*exp(-q(b)) + k1*log(2 + "
        "cos(q(a))) + k1*tan(q(b)/3)",
        direction="[b2] + 0.3*[n3]",
        on=b,
        against="a",
    )
    s.add_moment(
        "m3",
        magnitude="k1*drive(q(a), z) + k1*left*right + 0.2*fm(m2) + k1*asin(sin(q(b))/2) + "
        "k1*acos(q(a)/9)",
        direction=b[3],
        on=b,
        against=a,
    )
    s.add_force(
        "f1",
        magnitude="where(x > x0, -k2*(x - x0), k2*x0) - c2*v - c2*dxdt(z) + "
        "k2*nominal(magnitude(pos(p, a0)))",
        direction="direction(project([b1] + 2*[n3], [a2]))",
        at=p,
        against="o",
    )
    s.add_force(
        "f2",
        magnitude="-k2*(far - near)",
        dummies=("far", "near", "rate"),
        direction=c[1],
        at="ccm",
        against="bj",
    )
    s.add_force(
        "f3", magnitude=-s.parameter("k3") * c.q[1] ** 3, direction=c[1], at=c.origin, against=b.cm
    )
    s.add_force(
        "f4",
        magnitude="k2*partial(l0*sin(q(b))**2, q(b))",
        direction="cross([a1], [n3])",
        at="b.joint",
    )
    s.add_output("a1", "dot(dxdt(vel(p)), [n1])")
    s.add_output("speed", bc.magnitude(bc.vel(p, a.origin)) * 2)
    s.add_output("spin", "up(b) + dot(dxdt(rot(b)), [b2])")
    s.set_defaults(k1=2, c1=0.3, k2=20, c2=1, k3=4, l0=1)
    s.set_run(initial={"q(a)": 0.3, "q(b)": 0.4})
    return s


def routines():
    """User functions called at every time, one that remembers, tables of one and two arguments, and
    a state of the user's own."""
    s = bc.System("routines", units="in-lb")
    a = s.add_body("a", rotate=3, cm=(3, 1, 0), mass=0.1, inertia=(0.2, 0.2, 0.3))
    b = s.add_body(
        "b",
        parent=a,
        rotate=3,
        joint_at=(8, 0, 0),
        cm=(2, 0, 0),
        mass=0.05,
        inertia=(0.1, 0.1, 0.1),
    )
    s.define("curve", bc.table([-4, -1, 0, 1, 4], [-2, -1, 0, 2, 3], order=3))
    s.define("map", bc.table([-2, 0, 2], [-3, 0, 3], [[1, 2, 1], [0, 1, 3], [2, 1, 0]]))
    s.add_state("z", rate="-3*z + q(a) + curve(u(b))")
    s.add_external(
        "read", arguments=("k0", "2*k0"), returns=("k1", "k2"), when="input", python=lambda *x: x
    )
    s.add_external(
        "begin", arguments=("q(a)*k1",), returns=("offset",), when="init", python=lambda x: x
    )
    s.add_external(
        "hold",
        arguments=("u(b)", "z"),
        returns=("held", "kept"),
        when="update",
        memory=2,
        python=lambda *x: x[:2],
    )
    s.add_external(
        "now", arguments=("q(b) - z", "t"), returns=("moment",), memory=1, python=lambda *x: x[0]
    )
    s.add_external(
        "look", arguments=("q(a)*q(b)",), returns=("seen",), when="output", python=lambda x: x
    )
    s.add_external(
        "last",
        arguments=("k1*q(a)", "curve(q(b))"),
        returns=("told", "more"),
        when="echo",
        python=lambda *x: x,
    )
    s.add_moment(
        "m",
        magnitude="k2*curve(q(b)) + 3*map(q(a), u(b)) + moment - held*z",
        direction=b[3],
        on=b,
        against=a,
    )
    s.add_moment("n", magnitude="-20*q(a) + offset + kept", direction=a[3], on=a)
    s.add_output("watched", "seen*k1 + map(q(b), z)", units="1")
    s.set_defaults(k0=2.5)
    s.set_run(t_end=1.0, step=0.01)
    return s


def coupling_rod(cranks=3, start=1.0):
    """A rod on equal cranks, which lie on a line unless a start is given: its pins are redundant
    where it is closed."""
    s = bc.System("coupling rod", units="mks")
    i = (0.05, 0.05, 0.05)
    turning = {"rotate": 3, "cm": (0.15, 0, 0), "mass": 1, "inertia": i}
    bodies = [s.add_body(f"c{k}", joint_at=(float(k), 0, 0), **turning) for k in range(cranks)]
    rod = s.add_body(
        "rod", parent=bodies[0], rotate=3, joint_at=(0.3, 0, 0), cm=(1, 0, 0), mass=2, inertia=i
    )
    for k in range(1, cranks):
        p, q = (
            s.add_point(f"p{k}", body=rod, at=(k, 0, 0)),
            s.add_point(f"q{k}", body=bodies[k], at=(0.3, 0, 0)),
        )
        s.add_loop_joint(f"pin {k}", "revolute", between=(p, q), axis=rod[3])
    s.add_gravity(direction="-[n2]")
    if start:
        angles = {"q(rod)": -start, **{f"q(c{k})": start for k in range(cranks)}}
        s.set_run(t_end=1, step=0.002, initial={**angles, "u(c0)": 3.0})
    return s


def quadruped(rotate="euler-parameters"):
    """A trunk that floats, on four legs that are five-bar linkages."""
    s = bc.System("quadruped", units="mks", axes="ISO 8855")
    trunk = s.add_body(
        "trunk", translate=(1, 2, 3), rotate=rotate, mass=12, inertia=(0.1, 0.3, 0.35)
    )
    start, guess = {}, {}
    link = {"rotate": 2, "inertia": (0.001, 0.001, 0.0005)}
    for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        feet = []
        for thigh, shank, side in (("a", "b", 1), ("c", "d", -1)):
            upper = {"joint_at": (x + side * 0.05, y, 0), "cm": (0, 0, -0.1), "mass": 0.4}
            parent = s.add_body(f"{thigh}{k}", parent=trunk, **upper, **link)
            lower = {"joint_at": (0, 0, -0.2), "cm": (0, 0, -0.12), "mass": 0.2}
            body = s.add_body(f"{shank}{k}", parent=parent, **lower, **link)
            feet.append(s.add_point(f"foot_{shank}{k}", body=body, at=(0, 0, -0.25)))
            start[f"q({thigh}{k})"] = -side * math.radians(40)
            guess[f"q({shank}{k})"] = side * math.radians(75)
        s.add_loop_joint(f"foot {k}", "revolute", between=feet, axis=trunk[2])
    s.add_gravity()
    s.set_defaults(g=9.81)
    s.set_run(t_end=0.2, step=0.001, initial=start, guess=guess)
    return s
