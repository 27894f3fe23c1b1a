"""A car body on four corners: double wishbones with a steering rack in front, five links at the rear, each side the other's mirror image.

Every corner is one joint of the tree with the wheel travel as coordinate (11 degrees of freedom in all: body 6, wheels 4, rack 1). Springs and dampers
act on the lower arms, which have mass, and on the rear carriers; anti-roll bars join left and right; a table stops the travel. Tyres are springs
and dampers to the ground under each wheel. The car is dropped a few millimetres and settles. Look at `height`, `pitch` and the wheel loads.
`exact=False` looks the corners up in tables.
"""

import bellcrank as bc
from bellcrank.linkage import load, shipped

WHEELBASE = 2.7


def model(exact=True):
    """SI units, ISO 8855 axes; the origin of the chassis lies in the middle of the front axle on the ground."""
    s = bc.System("car on four linkages", units="mks", axes="ISO 8855")
    chassis = s.add_body(
        "chassis", translate=(1, 2, 3), rotate=(3, 2, 1), mass=1300, inertia=(480, 2100, 2300), cm=(-1.25, 0, 0.55)
    )
    rack = s.add_body("rack", parent=chassis, translate=2, joint_at=(-0.13, 0, 0.236), mass=3, inertia=0)
    front, rear = load(shipped("double_wishbone")), load(shipped("five_link"))
    if not exact:
        front = front.table(step=0.01, range=(-0.1, 0.1), rack=(-0.04, 0.04))
        rear = rear.table(accuracy=1e-8, range=(-0.12, 0.12))
    s.define("stop", bc.table([-0.2, -0.09, -0.07, 0.07, 0.09, 0.2], [-60000, -4000, 0, 0, 4000, 60000]))
    s.add_gravity()
    corners = {
        "fl": front,
        "fr": _mirror(front, "double_wishbone", exact),
        "rl": rear,
        "rr": _mirror(rear, "five_link", exact),
    }
    joints = {}
    for name, linkage in corners.items():
        ahead = name.startswith("f")
        at = (0, 0, 0) if ahead else (-WHEELBASE, 0, 0.3)
        carrier = s.add_body(name, parent=chassis, mass=38, inertia=(0.9, 1.4, 0.9), cm=_wheel(linkage, at))
        joint = s.add_linkage(
            name, linkage, base=chassis, carrier=carrier, exact=exact, rack=rack if ahead else None, at=at
        )
        joints[name] = joint
        _springs(s, name, joint, ahead)
        _tyre(s, name, joint.point("wheel_centre"))
        if ahead:
            joint.link("lower_arm", mass=6, inertia=(0.12, 0.08, 0.18), cm=_middle(linkage, at))
    _anti_roll_bar(s, "bar_front", joints["fl"].point("spring_arm"), joints["fr"].point("spring_arm"), chassis, "k_bf")
    _anti_roll_bar(
        s, "bar_rear", joints["rl"].point("spring_carrier"), joints["rr"].point("spring_carrier"), chassis, "k_br"
    )
    s.add_force(
        "hold",
        magnitude="-k_r*x - c_r*v",
        direction=chassis[2],
        at=rack.origin,
        against=rack.joint,
        label="steering wheel",
    )
    s.set_units(
        k_t="F/L", c_t="F*T/L", k_f="F/L", c_f="F*T/L", k_s="F/L", c_s="F*T/L", f_f="F", f_s="F", k_bf="F/L", k_br="F/L"
    )
    s.set_units(k_r="F/L", c_r="F*T/L", k_h="F/L", c_h="F*T/L")
    s.set_defaults(
        k_t=220000, c_t=400, k_h=150000, c_h=3000, k_f=45000, c_f=3000, f_f=6150, k_s=160000, c_s=14000, f_s=15300
    )
    s.set_defaults(k_bf=12000, k_br=60000, k_r=50000, c_r=1500)
    s.add_output("dot(pos(chassis.cm), [n3])", "height", label="height of the mass centre", units="L")
    s.add_output("angle([n3], [chassis3], [n2])", "pitch", label="pitch angle", units="A")
    for name in corners:
        s.add_output(f"fm(load_{name})", f"load_{name}", label=f"wheel load {name}", units="F")
    s.set_run(t_end=4, step=0.001, output_every=10, initial={"q(chassis, 3)": 0.005})
    return s


def _mirror(linkage, kind, exact):
    other = load(shipped(kind)).mirror()
    if exact:
        return other
    if linkage.rack is None:
        return other.table(step=linkage.step, range=linkage.range())
    return other.table(
        step=linkage.step, range=linkage.range(), rack=(linkage.rack[0], linkage.rack[-1]), rack_step=linkage.rack_step
    )


def _wheel(linkage, at):
    x, y, z = linkage.chain.place("wheel_centre")
    return x + at[0], y + at[1], z + at[2]


def _middle(linkage, at):
    ends = [linkage.chain.place(p) for p in ("lower_front", "lower_rear", "lower_ball")]
    return tuple(sum(p[i] for p in ends) / 3 + at[i] for i in range(3))


def _springs(s, name, joint, ahead):
    """Coil spring with preload, damper and stops between chassis and arm or carrier."""
    between = (joint.point("spring_arm" if ahead else "spring_carrier"), joint.point("spring_base"))
    k, c, f = ("k_f", "c_f", "f_f") if ahead else ("k_s", "c_s", "f_s")
    s.add_strut(f"spring_{name}", magnitude=f"{f} - {k}*(x - x0) - {c}*v - stop(x - x0)", between=between)


def _tyre(s, name, centre):
    """Vertical load from the height of the wheel centre, and springs along and across to a fixed patch."""
    s.add_force(f"load_{name}", magnitude="max(0, -k_t*(x - x0 - 0.018) - c_t*v)", direction=s.inertial[3], at=centre)
    s.add_force(f"along_{name}", magnitude="-k_h*(x - x0) - c_h*v", direction=s.inertial[1], at=centre)
    s.add_force(f"across_{name}", magnitude="-k_h*(x - x0) - c_h*v", direction=s.inertial[2], at=centre)


def _anti_roll_bar(s, name, left, right, chassis, k):
    """A bar between the arms: it resists the difference of their heights in the chassis."""
    difference = f"dot(pos({left.name}) - pos({right.name}), [chassis3])"
    s.add_force(f"{name}_left", magnitude=f"-{k}*{difference}", direction=chassis[3], at=left, against=chassis.origin)
    s.add_force(f"{name}_right", magnitude=f"{k}*{difference}", direction=chassis[3], at=right, against=chassis.origin)


if __name__ == "__main__":
    print(model().equations().summary())
