"""Mechanisms of the benchmark of methods that choose their steps, beside the examples."""

import math

import numpy as np

import bellcrank as bc


def strut():
    """A mass on a spring of 1e8 N/m that swings as a pendulum."""
    s = bc.System("strut pendulum", units="mks")
    b = s.add_body("b", translate=(1, 2), mass="m")
    s.add_point("o", at=(0, 0, 0))
    s.add_gravity(direction=-s.inertial[2])
    s.add_strut("s", magnitude="-k*(x - l0) - c*v", between=(b.cm, "o"))
    s.set_defaults(m=1, k=1e8, c=1e3, l0=1, g=9.81)
    s.set_run(t_end=5, step=0.05, initial={"q(b, 1)": 1.0, "q(b, 2)": 0.0})
    return s


def governor():
    """The stiff flyball governor of the IFToMM library of benchmarks (problem A05): its coupler
    rods are springs.

    Shaft and rods of 1 m x 1 cm x 1 cm, a slider of 10 cm, 3000 kg/m3; balls of 5 kg at the ends of
    rods that hang at 30 degrees below the horizontal; springs of 0.5 m between their middles and
    the slider at half the height.
    """
    s = bc.System("flyball governor", units="mks")
    thin, long, angle = 0.01, 1.0, math.radians(30)
    m_rod, m_slider, ball = 3000 * long * thin**2, 3000 * 0.1**3, 5.0
    m = m_rod + ball
    across = m_rod * (long**2 + thin**2) / 12
    shaft = s.add_body(
        "shaft",
        rotate=3,
        cm=(0, 0, 0.5),
        mass=m_rod,
        inertia=(across, across, m_rod * thin**2 / 6),
        joint_at=(0, 0, 0),
    )
    slider = s.add_body(
        "slider",
        parent=shaft,
        translate=3,
        joint_at=(0, 0, 0.5),
        mass=m_slider,
        inertia=(m_slider * 0.1**2 / 6,) * 3,
    )
    centre = (m_rod * 0.5 + ball * long) / m  # of rod and ball, from the hinge
    about = across + m_rod * (centre - 0.5) ** 2 + ball * (long - centre) ** 2
    own = np.diag([m_rod * thin**2 / 6, about, about])  # along the rod, and across it
    for name, side in (("right", 1), ("left", -1)):
        along = np.array([side * math.cos(angle), 0.0, -math.sin(angle)])
        axes = np.column_stack([along, [0, 1, 0], np.cross(along, [0, 1, 0])])
        rod = s.add_body(
            name,
            parent=shaft,
            rotate=2,
            joint_at=(0.05 * side, 0, 1.0),
            mass=m,
            cm=tuple((centre * along).tolist()),
            inertia=(axes @ own @ axes.T).tolist(),
        )
        middle = s.add_point(f"{name}_middle", body=rod, at=tuple((0.5 * long * along).tolist()))
        corner = s.add_point(f"{name}_corner", body=slider, at=(0.05 * side, 0, 0))
        s.add_strut(f"{name}_spring", magnitude="-k*(x - l0) - c*v", between=(middle, corner))
    s.add_gravity(direction=-s.inertial[3])
    s.set_defaults(k=8e5, c=4e4, l0=0.5, g=9.81)
    s.set_run(t_end=10, step=0.1, initial={"u(shaft)": 2 * math.pi})
    return s


def hopping_quarter_car():
    """A quarter car whose wheel leaves the road: after 0.5 s that is 5 cm higher, with waves of 3
    cm and 3 Hz."""
    car = bc.System("quarter car", units="mks", axes="ISO 8855")
    up = car.inertial[3]
    wheel = car.add_body("wheel", translate=3, joint_at=(0, 0, "r_w"), mass="m_w")
    body = car.add_body("body", parent=wheel, translate=3, joint_at=(0, 0, "h"), mass="m_b")
    for name in ("edge", "waves"):
        car.add_input(name, units="L")
    car.add_gravity()
    car.add_force(
        "strut",
        magnitude="f0 - k*(x - x0) - c*v",
        direction=up,
        at=body.origin,
        against=wheel.origin,
    )
    car.add_force(
        "tyre", magnitude="max(0, f1 - k_t*(x - x0 - edge - waves))", direction=up, at=wheel.origin
    )
    car.set_defaults(m_b=290, m_w=59, k=16800, c=1000, k_t=190000, r_w=0.3, h=0.5, f0=2845, f1=3424)
    inputs = {
        "edge": bc.signals.step(at=0.5, height=0.05),
        "waves": bc.signals.sine(0.03, 3.0, 0.0, 0.5),
    }
    car.set_run(t_end=3, step=0.03, inputs=inputs)
    return car
