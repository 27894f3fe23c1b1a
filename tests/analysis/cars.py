"""Cars that drive, for the analysis of steady motions: one from hard points with tyres that
slip."""

import bellcrank as bc
from bellcrank.linkage import Linkage

WHEELBASE, RADIUS, MASS, WHEEL, SPIN, ROLLING = 2.7, 0.3, 1300.0, 38.0, 1.2, 3.0
TYRE = {"longitudinal": 80e3, "relaxation": (0.2, 0.5), "damping": 0.002}


def hard_point_car(speed=20.0, front=60e3, rear=75e3):
    """Double wishbones with a rack in front, five links at the rear; wheels turn, the rear ones are
    driven.

    Inputs: rack (mm to the left), drive (N m, sum of both rear wheels).
    """
    s = bc.System("car from hard points", units="mks", axes="ISO 8855")
    chassis = s.add_body(
        "chassis",
        translate=(1, 2, 3),
        rotate=(3, 2, 1),
        mass=MASS,
        inertia=(480, 2100, 2300),
        cm=(-1.25, 0, 0.55),
    )
    s.add_input("steer", units="mm", label="displacement of the rack that is wanted")
    s.add_input("drive", units="F*L", label="driving moment")
    rack = s.add_body(
        "rack", parent=chassis, translate=2, joint_at=(-0.13, 0, 0.236), mass=3, inertia=0
    )
    s.add_force(
        "hold",
        magnitude="-k_r*(x - steer) - c_r*v",
        direction=chassis[2],
        at=rack.origin,
        against=rack.joint,
    )
    s.add_gravity()
    start = {"u(chassis, 1)": speed}
    for name in ("fl", "fr", "rl", "rr"):
        _corner(s, name, chassis, rack, front if name[0] == "f" else rear)
        start[f"u({name}.wheel)"] = speed / RADIUS
    s.set_units(k_r="F/L", c_r="F*T/L", k_t="F/L", c_t="F*T/L", c_roll="F*T/L")
    s.set_defaults(k_r=2e6, c_r=1e4, k_t=220000, c_t=400, c_roll=ROLLING)
    up, ahead = "[n3]", "direction(project([chassis1], [n3]))"
    s.add_output("speed", f"dot(vel(chassis.cm), {ahead})", units="L/T")
    s.add_output("yaw_rate", f"dot(rot(chassis), {up})", units="A/T")
    s.add_output("ay", f"dot(dxdt(vel(chassis.cm)), cross({up}, {ahead}))", units="L/T**2")
    s.set_run(
        t_end=1, step=0.0005, output_every=20, initial=start, inputs={"steer": 0.0, "drive": 0.0}
    )
    return s


def _corner(s, name, chassis, rack, cornering):
    front = name[0] == "f"
    at = (0, 0, 0) if front else (-WHEELBASE, 0, 0.3)
    linkage = Linkage.read("double_wishbone" if front else "five_link")
    linkage = linkage if name.endswith("l") else linkage.mirror()
    centre = tuple(a + b for a, b in zip(linkage.points["wheel_centre"], at, strict=True))
    carrier = s.add_body(name, parent=chassis, mass=WHEEL, inertia=(0.9, 1.4, 0.9), cm=centre)
    joint = s.add_linkage(
        name, linkage, base=chassis, carrier=carrier, rack=rack if front else None, at=at
    )
    load_as_drawn = MASS * 9.80665 * (1.45 if front else 1.25) / WHEELBASE / 2
    rates = (45000, 3000) if front else (70000, 4500)
    joint.add_spring(
        f"spring_{name}", "spring", stiffness=rates[0], damping=rates[1], ride=(0.0, load_as_drawn)
    )
    wheel = s.add_body(
        f"{name}.wheel",
        parent=carrier,
        rotate=2,
        joint_at=centre,
        mass=0,
        inertia=(SPIN / 2, SPIN, SPIN / 2),
    )
    if not front:
        s.add_moment(
            f"drive_{name}", magnitude="drive/2", direction=carrier[2], on=wheel, against=carrier
        )
    radius = centre[2] + (load_as_drawn + WHEEL * 9.80665) / 220000  # of the tyre without load
    s.add_contact(
        f"{name}.tyre",
        at=wheel.origin,
        radius=radius,
        terrain=bc.vehicles.terrain.flat(),
        wheel=wheel,
        rolling_resistance="c_roll",
        tyre=bc.Tyre("k_t", "c_t", bc.Slip(cornering=cornering, **TYRE)),
    )
