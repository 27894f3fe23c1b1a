"""Quarter car: a sprung mass on a wheel that runs over a step in the road.

Two bodies that move vertically, a linear suspension and a linear tyre. The static loads f0 and f1
balance gravity, to a newton, so the car starts at rest. Look at `az` (comfort), `travel` (space
needed) and `fz` (does the wheel lift?).
"""

import bellcrank as bc


def model():
    """Two degrees of freedom, SI units, z up."""
    car = bc.System("quarter car", units="mks", axes="ISO 8855")
    n = car.inertial
    wheel = car.add_body(
        "wheel", translate=3, joint_at=(0, 0, "r_w"), mass="m_w", label="unsprung mass"
    )
    body = car.add_body(
        "body", parent=wheel, translate=3, joint_at=(0, 0, "h"), mass="m_b", label="sprung mass"
    )
    car.add_input("z_road", units="L", label="road height")
    car.add_gravity()
    car.add_force(
        "strut",
        magnitude="f0 - k*(x - x0) - c*v",
        direction=n[3],
        at=body.origin,
        against=wheel.origin,
    )
    car.add_force("tyre", magnitude="f1 - k_t*(x - x0 - z_road)", direction=n[3], at=wheel.origin)

    car.set_labels(
        m_b="sprung mass",
        m_w="unsprung mass",
        k="suspension stiffness",
        c="suspension damping",
        k_t="tyre stiffness",
        f0="static suspension load",
        f1="static tyre load",
        r_w="wheel radius",
        h="height of the sprung mass above the wheel",
    )
    car.set_defaults(m_b=290, m_w=59, k=16800, c=1000, k_t=190000, r_w=0.3, h=0.5, f0=2845, f1=3424)
    car.add_output(
        "az", "dot(dxdt(vel(body.cm)), [n3])", label="acceleration of the sprung mass", body=body
    )
    car.add_output("travel", "q(body)", label="suspension travel", body=body)
    car.add_output("fz", "fm(tyre)", label="tyre load", body=wheel)
    car.add_shape(body=wheel, kind="wheel", size=("r_w", "0.6*r_w"), axis=2)
    car.add_shape(body=body, kind="box", size=("2*r_w", "r_w", "0.5*r_w"), at=(0, 0, "0.25*r_w"))
    car.set_run(
        t_end=3,
        step=0.001,
        output_every=10,
        inputs={"z_road": bc.signals.step(at=0.5, height=0.05)},
    )
    return car


if __name__ == "__main__":
    print(model().equations().summary())
