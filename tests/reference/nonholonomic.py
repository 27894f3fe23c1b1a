"""Random nonholonomic systems on a plane whose constraint coefficients pass zero in regular motion.

Every system is described twice: by slides along fixed axes, where no coefficient keeps from zero,
and by body-fixed speeds, where constant ones can be eliminated. Both are one motion.
"""

import numpy as np

import bellcrank as bc

KINDS = ("skate", "sleigh", "coin", "ball", "tricycle", "trailer")


def _base(name, fixed, mass, inertia, cm=(0, 0, 0)):
    """A body `b` that moves in the plane and turns: in three joints (`fixed` axes) or in one."""
    s = bc.System(name, units="mks")
    if not fixed:
        return s, s.add_body("b", translate=(1, 2), rotate=3, mass=mass, inertia=inertia, cm=cm)
    x = s.add_body("x", translate=1, mass=0, inertia=0)
    y = s.add_body("y", parent=x, translate=2, mass=0, inertia=0)
    return s, s.add_body("b", parent=y, rotate=3, mass=mass, inertia=inertia, cm=cm)


def system(kind, seed, fixed):
    """The system, and a start in which its heading turns through many right angles."""
    r = np.random.default_rng(seed)
    m, j, a, table = (float(r.uniform(*x)) for x in ((0.5, 3), (0.2, 1), (0.2, 0.6), (0.5, 1.5)))
    spin, ahead = float(r.uniform(0.7, 2.0) * r.choice([-1, 1])), float(r.uniform(0.3, 1.5))
    cm = (a, 0, 0) if kind in ("sleigh", "trailer") else (0, 0, 0)
    s, b = _base(kind, fixed, m, (j, j, j), cm)
    turn = "u(b)" if fixed else "u(b, 3)"
    along = "u(x)" if fixed else "u(b, 1)"
    start = {turn: spin}
    s.add_force("pull", magnitude=float(m * r.uniform(1, 4)), direction=s.inertial[1], at=b.origin)
    if kind in ("skate", "sleigh", "trailer"):
        s.add_constraint("dot(vel(b.origin), [b2])", label="blade")
        start[along] = ahead
    if kind == "trailer":
        s.add_body(
            "c",
            parent=b,
            rotate=3,
            joint_at=(-a, 0, 0),
            cm=(-0.5, 0, 0),
            mass=m / 2,
            inertia=(j, j, j),
        )
        s.add_point("axle", body="c", at=(-0.8, 0, 0))
        s.add_constraint("dot(vel(axle), [c2])", label="axle")
    if kind == "coin":
        s.add_body(
            "w",
            parent=b,
            rotate=2,
            joint_at=(0, 0, 0.3),
            mass=m,
            inertia=(m * 0.02, m * 0.04, m * 0.02),
        )
        axes = ("n1", "n2") if seed % 2 else ("b1", "b2")
        for axis in axes:
            s.add_constraint(
                f"dot(vel(w.origin) + cross(rot(w), -0.3*[n3]), [{axis}])",
                label=f"rolling along {axis}",
            )
        start["u(w)"] = ahead / 0.3
    if (
        kind == "ball"
    ):  # on a turntable; directions of the constraints turn with the body that carries the ball
        s.add_body("w", parent=b, rotate="euler-parameters", mass=m, inertia=(0.4 * m * 0.04,) * 3)
        for axis in (1, 2):
            slip = (
                f"vel(w.origin) + cross(rot(w), -0.2*[n3]) - {table!r}*cross([n3], pos(w.origin))"
            )
            s.add_constraint(f"dot({slip}, [b{axis}])", label=f"rolling {axis}")
        start.update({"u(w, 1)": 0.4, along: ahead})
        start[turn] = spin / 4
    if kind == "tricycle":
        s.add_body("f", parent=b, rotate=3, joint_at=(1.2, 0, 0), mass=0, inertia=0)
        s.add_constraint("dot(vel(b.origin), [b2])", label="rear")
        s.add_constraint("dot(vel(f.origin), [f2])", label="front")
        s.add_constraint(f"u(f) - {abs(spin)!r}", label="steering")
        start = {along: ahead}
    for i in (1, 2):
        s.add_output(f"r{i}", f"dot(pos(b.origin), [n{i}])", units="L")
    s.add_outputs("energy")
    s.set_run(t_end=3, step=0.005, output_every=20, initial=start)
    return s
