"""Double pendulum with viscous hinges.

Sweegers & Nederkoorn (1992), "Formulering van de bewegingsvergelijkingen in AUTOLEV volgens Kane",
WFW 92-086. Both bodies hang along n1, the direction of gravity, when the angles are zero; `la` and
`lb` are half lengths. The published inertias are kept, though they are moments about the rod's end
and not about its mass centre. Without damping the sum of kinetic and potential energy stays at
67.9731 N m; wda = wdab = 28.64789 N m s gives the damped run.
"""

import bellcrank as bc


def model():
    """Two degrees of freedom, SI units, released from rest at 45 degrees twice."""
    s = bc.System("double pendulum", units="mks")
    n = s.inertial
    a = s.add_body(
        "a",
        rotate=3,
        cm=("la", 0, 0),
        mass="massa",
        inertia=("ia1", "ia2", "ia3"),
        label="upper body",
    )
    b = s.add_body(
        "b",
        parent=a,
        rotate=3,
        joint_at=("2*la", 0, 0),
        cm=("lb", 0, 0),
        mass="massb",
        inertia=("ib1", "ib2", "ib3"),
        label="lower body",
    )
    s.add_gravity(direction=n[1])
    s.add_moment(
        "ta", magnitude="-wda*u(a)", direction=n[3], on=a, label="damping moment on the upper body"
    )
    s.add_moment(
        "tab",
        magnitude="-wdab*u(b)",
        direction=n[3],
        on=b,
        against=a,
        label="damping moment on the lower body",
    )

    s.set_labels(la="half length of the upper body", lb="half length of the lower body")
    s.set_labels(massa="mass of the upper body", massb="mass of the lower body")
    s.set_labels(ia3="inertia of the upper body", ib3="inertia of the lower body")
    s.set_labels(ib2="inertia of the lower body about its axis 2, for its picture alone")
    s.set_labels(wda="damping of the upper hinge", wdab="damping of the lower hinge")
    s.set_defaults(la=1, lb=1, massa=2, massb=4, wda=0, wdab=0, g=9.81)
    s.set_defaults(ia1=0, ia2=2.66667, ia3=2.66667, ib1=0, ib2=5.33333, ib3=5.33333)
    s.add_output(
        "pe",
        "(massa + 2*massb)*(1 - cos(q(a)))*g*la + massb*g*(1 - cos(q(a) + q(b)))*lb",
        label="potential energy",
    )
    s.add_outputs("moments", "energy")
    s.set_run(t_end=10, step=0.005, output_every=20, initial={"q(a)": 0.7854, "q(b)": 0.7854})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
