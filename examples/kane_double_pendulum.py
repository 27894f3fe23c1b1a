"""Double pendulum, derived by hand: Kane's method step by step.

The machine of `double_pendulum.py` and of the AUTOLEV script `decks/double_pendulum.al` (Sweegers &
Nederkoorn 1992, WFW 92-086). Run it with `python examples/kane_double_pendulum.py` to see every
intermediate result.
"""

from bellcrank.kane import Derivation


def model():
    """Two degrees of freedom, SI units, released from rest at 45 degrees twice."""
    d = Derivation("double pendulum by hand")
    N, A, B = d.newtonian, d.body("A"), d.body("B")
    phi1, phi2 = d.coordinates("phi1 phi2", units="rad")
    u1, u2 = d.speeds("u1 u2", units="rad/s")
    la, lb, g, wda, wdab = d.constants("la lb g wda wdab")

    d.rotate(N, A, 3, phi1)
    d.rotate(A, B, 3, phi2)
    d.set_rate(phi1, u1)
    d.set_rate(phi2, u2)

    Q, R = d.points("Q R")  # hinges
    d.set_position(Q, A.cm, la * A[1])
    d.set_position(Q, R, 2 * la * A[1])
    d.set_position(R, B.cm, lb * B[1])
    d.set_velocity(Q, N, 0)
    d.v2pts(N, A, Q, A.cm)
    d.v2pts(N, A, Q, R)
    d.v2pts(N, B, R, B.cm)

    d.gravity(g * N[1])
    d.torque(A, -wda * u1 * N[3])
    d.torque(B, -wdab * u2 * N[3], by=A)

    d.set_potential_energy("(mA + 2*mB)*(1 - cos(phi1))*g*la + mB*g*(1 - cos(phi1 + phi2))*lb")
    d.add_outputs("energy")
    d.set_labels(
        phi1="angle of the upper body", phi2="angle of the lower body relative to the upper one"
    )
    d.set_labels(
        u1="angular speed of the upper body",
        u2="angular speed of the lower body relative to the upper one",
    )
    d.set_labels(
        la="half length of the upper body",
        lb="half length of the lower body",
        g="acceleration of gravity",
    )
    d.set_labels(
        mA="mass of the upper body", mB="mass of the lower body", IA3="inertia of the upper body"
    )
    d.set_labels(
        IB3="inertia of the lower body",
        wda="damping of the upper hinge",
        wdab="damping of the lower hinge",
    )
    d.set_units(
        la="m",
        lb="m",
        g="m/s2",
        mA="kg",
        mB="kg",
        IA3="kg-m2",
        IB3="kg-m2",
        wda="N-m-s/rad",
        wdab="N-m-s/rad",
    )
    d.set_defaults(la=1, lb=1, g=9.81, wda=0, wdab=0, mA=2, mB=4)
    d.set_defaults(IA1=0, IA2=2.66667, IA3=2.66667, IB1=0, IB2=5.33333, IB3=5.33333)
    d.set_run(t_end=10, step=0.005, output_every=20, initial={"phi1": 0.7854, "phi2": 0.7854})
    return d


if __name__ == "__main__":
    d = model()
    print("direction cosines of B in N", d.dircos("N", "B"), sep="\n")
    print("angular velocity of B in N:", d.angular_velocity("B"))
    print("velocity of Bo in N:", d.velocity("Bo"))
    print("acceleration of Bo in N:", d.acceleration("Bo"))
    print("partial velocities of Bo", d.partial_velocities("Bo"), sep="\n")
    print("generalized active forces", d.fr(), sep="\n")
    print("generalized inertia forces", d.frstar(), sep="\n")
    print(d.equations().summary())
