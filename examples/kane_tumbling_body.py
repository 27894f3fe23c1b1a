"""Tumbling body, derived by hand: spin about the intermediate axis flips over and over; Euler
parameters.

Speeds are the components of the angular velocity along the body's own axes; the four Euler
parameters have no singular orientation. Energy and angular momentum are conserved; between flips
the spin follows Jacobi's elliptic functions (Landau & Lifshitz, Mechanics (1976), section 37).
"""

from bellcrank.kane import Derivation


def model():
    """Three degrees of freedom, SI units, spinning about axis 2 with a small disturbance."""
    d = Derivation("tumbling body by hand")
    N, B = d.newtonian, d.body("B")
    u1, u2, u3 = d.speeds("u1 u2 u3", units="rad/s")
    d.euler_parameters(N, B, names=("e0", "e1", "e2", "e3"))
    d.set_angular_velocity(B, N, u1 * B[1] + u2 * B[2] + u3 * B[3])
    d.euler_rates(N, B)
    d.set_velocity(B.cm, N, 0)

    h = d.angular_momentum(B.cm)
    for i in (1, 2, 3):
        d.output(f"h{i}", d.dot(h, N[i]), label=f"angular momentum along N{i}")
    d.output("axis", d.dot(B[2], N[2]), label="direction of the intermediate axis")
    d.add_outputs("energy")
    d.set_labels(**{f"u{i}": f"angular velocity along B{i}" for i in (1, 2, 3)})
    d.set_labels(**{f"e{i}": f"Euler parameter {i}" for i in range(4)})
    d.set_labels(
        IB1="smallest moment of inertia",
        IB2="intermediate moment of inertia",
        IB3="largest moment of inertia",
    )
    d.set_units(IB1="kg-m2", IB2="kg-m2", IB3="kg-m2")
    d.set_defaults(mB=1, IB1=1, IB2=2, IB3=3)
    d.set_run(
        t_end=1000, step=0.004, output_every=25, initial={"e0": 1, "u1": 1e-3, "u2": 1, "u3": 1e-3}
    )
    return d


if __name__ == "__main__":
    d = model()
    print(
        "rates of the Euler parameters:", *(d.rate(e) for e in ("e0", "e1", "e2", "e3")), sep="\n  "
    )
    print(d.kane())
    run = d.equations().compile().simulate()
    print(run, "flips:", sum(run["u2"][1:] * run["u2"][:-1] < 0))
