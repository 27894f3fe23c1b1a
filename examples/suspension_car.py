"""Car body on four linkages: double wishbones with a rack in front, five links at the rear,
mirrored on the right.

Every corner is one joint of the tree with the wheel travel as coordinate (11 degrees of freedom in
all: body 6, wheels 4, rack 1). Springs and dampers act on the front lower arms, which have mass,
and on a rod of the rear links; anti-roll bars join left and right; tables stop the travel. Tyres
are springs and dampers to the ground under each wheel. The car is dropped by 5 mm and settles where
it was drawn. Look at `height`, `pitch`, the wheel loads.
`exact=False` looks the corners up in tables. `rear="solid_axle"` has a beam axle on four links in
place of the five links: one joint with two coordinates, travel and roll, which carries both wheels.
"""

import bellcrank as bc
from bellcrank.linkage import Linkage

WHEELBASE = 2.7  # m
STOP = bc.table(
    [-0.2, -0.07, -0.05, 0.05, 0.07, 0.2], [-80000, -4000, 0, 0, 4000, 80000]
)  # N over shortening, m


def model(exact=True, rear="five_link"):
    """SI units, ISO 8855 axes; the origin of the chassis lies in the middle of the front axle on
    the ground."""
    s = bc.System("car on four linkages", units="mks", axes="ISO 8855")
    chassis = s.add_body(
        "chassis",
        translate=(1, 2, 3),
        rotate=(3, 2, 1),
        mass=1300,
        inertia=(480, 2100, 2300),
        cm=(-1.25, 0, 0.55),
    )
    rack = s.add_body(
        "rack", parent=chassis, translate=2, joint_at=(-0.13, 0, 0.236), mass=3, inertia=0
    )
    s.add_shape(
        body=rack,
        kind="cylinder",
        size=(0.018, 0.7),
        axis=2,
        color="#5f6a75",
        label="steering rack",
    )
    s.add_gravity()
    beam = rear == "solid_axle"
    corners = ("fl", "fr") if beam else ("fl", "fr", "rl", "rr")
    joints = {name: _corner(s, name, chassis, rack, exact) for name in corners}
    _anti_roll_bar(
        s,
        "bar_front",
        joints["fl"].point("spring_arm"),
        joints["fr"].point("spring_arm"),
        chassis,
        "k_bf",
    )
    if beam:
        axle = _beam(s, chassis, exact)
        ends = axle.point("spring_left"), axle.point("spring_right")
    else:
        ends = joints["rl"].point("spring_rod"), joints["rr"].point("spring_rod")
    _anti_roll_bar(s, "bar_rear", *ends, chassis, "k_br")
    s.add_force(
        "hold",
        magnitude="-k_r*x - c_r*v",
        direction=chassis[2],
        at=rack.origin,
        against=rack.joint,
        label="steering wheel",
    )
    s.set_units(
        k_bf="F/L",
        k_br="F/L",
        k_r="F/L",
        c_r="F*T/L",
        k_t="F/L",
        c_t="F*T/L",
        k_h="F/L",
        c_h="F*T/L",
    )
    s.set_defaults(
        k_bf=12000, k_br=8000, k_r=50000, c_r=1500, k_t=220000, c_t=400, k_h=150000, c_h=3000
    )
    s.add_output(
        "height", "dot(pos(chassis.cm), [n3])", label="height of the mass centre", units="L"
    )
    s.add_output("pitch", "angle([n3], [chassis3], [n2])", label="pitch angle", units="A")
    places = {"fl": "front left", "fr": "front right", "rl": "rear left", "rr": "rear right"}
    for name, where in places.items():
        s.add_output(f"load {name}", f"fm(load_{name})", label=f"wheel load, {where}", units="F")
    s.add_shape(
        body=chassis,
        kind="car",
        size=(4.4, 1.8, 1.45, WHEELBASE, 0.31, 0.85),
        at=(0, 0, 0.3),
        opacity=0.3,
    )
    s.set_run(t_end=4, step=0.001, output_every=10, initial={"q(chassis, 3)": 0.005})
    return s


def _corner(s, name, chassis, rack, exact):
    """One corner: carrier, linkage, spring with preload for the ride height as drawn, stops, tyre,
    and in front an arm with mass."""
    front = name.startswith("f")
    at = (0, 0, 0) if front else (-WHEELBASE, 0, 0.3)
    linkage = Linkage.read("double_wishbone" if front else "five_link")
    linkage = linkage if name.endswith("l") else linkage.mirror()
    carrier = s.add_body(
        name,
        parent=chassis,
        mass=38,
        inertia=(0.9, 1.4, 0.9),
        cm=_sum(linkage.points["wheel_centre"], at),
    )
    chain = linkage
    if not exact:
        chain = (
            linkage.table(step=0.01, range=(-0.1, 0.1), rack=(-0.04, 0.04))
            if front
            else linkage.table(accuracy=1e-8)
        )
    joint = s.add_linkage(
        name, chain, base=chassis, carrier=carrier, exact=exact, rack=rack if front else None, at=at
    )
    load_as_drawn = (
        1300 * 9.80665 * (1.45 if front else 1.25) / WHEELBASE + (2 * 6 * 9.80665 if front else 0)
    ) / 2
    joint.add_spring(
        f"spring_{name}",
        "spring",
        stiffness=45000 if front else 70000,
        damping=3000 if front else 4500,
        ride=(0.0, load_as_drawn),
        stop=STOP,
    )
    if front:
        ends = [linkage.points[p] for p in ("lower_front", "lower_rear", "lower_ball")]
        joint.link(
            "lower_arm",
            mass=6,
            inertia=(0.12, 0.08, 0.18),
            cm=_sum([sum(x) / 3 for x in zip(*ends)], at),
        )
    _tyre(s, name, joint.point("wheel_centre"), load_as_drawn + 38 * 9.80665)
    return joint


def _beam(s, chassis, exact):
    """A solid axle: carrier of both wheels, with travel and roll as coordinates; springs and tyres
    as of corners."""
    linkage, at = Linkage.read("solid_axle"), (-WHEELBASE, 0, 0)
    axle = s.add_body(
        "axle",
        parent=chassis,
        mass=90,
        inertia=(16, 1.6, 16),
        cm=_sum(linkage.points["wheel_centre"], at),
    )
    joint = s.add_linkage("beam", linkage, base=chassis, carrier=axle, exact=exact, at=at)
    load_as_drawn = 1300 * 9.80665 * 1.25 / WHEELBASE / 2
    for name, side in (("rl", "left"), ("rr", "right")):
        joint.add_spring(
            f"spring_{name}",
            f"spring_{side}",
            stiffness=32000,
            damping=2500,
            ride=(0.0, load_as_drawn),
            stop=STOP,
        )
        _tyre(s, name, joint.point(f"wheel_{side}"), load_as_drawn + 45 * 9.80665)
    return joint


def _sum(a, b):
    return tuple(x + y for x, y in zip(a, b))


def _tyre(s, name, centre, load_as_drawn):
    """Vertical load from the height of the wheel centre, and springs along and across to a fixed
    patch."""
    s.add_force(
        f"load_{name}",
        magnitude=f"max(0, {load_as_drawn!r} - k_t*(x - x0) - c_t*v)",
        direction=s.inertial[3],
        at=centre,
    )
    s.add_force(
        f"along_{name}", magnitude="-k_h*(x - x0) - c_h*v", direction=s.inertial[1], at=centre
    )
    s.add_force(
        f"across_{name}", magnitude="-k_h*(x - x0) - c_h*v", direction=s.inertial[2], at=centre
    )


def _anti_roll_bar(s, name, left, right, chassis, k):
    """A bar between two links: it resists the difference of their heights in the chassis."""
    difference = f"dot(pos({left.name}) - pos({right.name}), [chassis3])"
    s.add_force(
        f"{name}_left",
        magnitude=f"-{k}*{difference}",
        direction=chassis[3],
        at=left,
        against=chassis.origin,
    )
    s.add_force(
        f"{name}_right",
        magnitude=f"{k}*{difference}",
        direction=chassis[3],
        at=right,
        against=chassis.origin,
    )


if __name__ == "__main__":
    print(model().equations().summary())
