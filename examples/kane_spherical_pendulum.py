"""Spherical pendulum, derived by hand: through the pole with angles, where it fails, and with Euler
parameters.

The body has an axis of symmetry through the joint and axial inertia about it (Lagrange's top,
hanging). Precession q1, inclination q2 and spin q3 are the classic angles; where the axis is
vertical (q2 = 0) precession has no meaning, and its rate is a quotient of zeros. The body hangs at
rest in that pole and is kicked: a plane swing, back through the pole twice in every period. Euler
parameters do not notice; the angles cannot even start, and a swing that passes the pole narrowly
turns the precession by pi within an instant.
"""

from bellcrank.kane import Derivation


def model(orientation="euler parameters"):
    """Three degrees of freedom, SI units; N3 points down, B3 along the axis of symmetry.
    `orientation`: or "angles"."""
    d = Derivation(f"spherical pendulum by hand, {orientation.replace('euler', 'Euler')}")
    m, l, g, i, j = d.constants("m l g i j")  # i: transverse about the mass centre, j: axial
    N, B = d.newtonian, d.body("B", mass=m, inertia=(i, i, j))
    u1, u2, u3 = d.speeds("u1 u2 u3", units="rad/s")
    if orientation == "angles":
        q1, q2, q3 = d.coordinates("q1 q2 q3", units="rad")
        P, Q = d.frames("P Q")
        d.rotate(N, P, 3, q1)
        d.rotate(P, Q, 1, q2)
        d.rotate(Q, B, 3, q3)
        turn = d.express(d.angular_velocity(B, N), B)
        d.set_speeds({u: d.dot(turn, B[k]) for k, u in enumerate((u1, u2, u3), 1)})
        d.set_angular_velocity(B, N, u1 * B[1] + u2 * B[2] + u3 * B[3])
    else:
        d.euler_parameters(N, B, names=("e0", "e1", "e2", "e3"))
        d.set_angular_velocity(B, N, u1 * B[1] + u2 * B[2] + u3 * B[3])
        d.euler_rates(N, B)
    (O,) = d.points("O")
    d.set_position(O, B.cm, l * B[3])
    d.set_velocity(O, N, 0)
    d.v2pts(N, B, O, B.cm)
    d.gravity(g * N[3])

    d.set_potential_energy(-m * g * l * d.dot(B[3], N[3]))
    d.output("x", l * d.dot(B[3], N[1]), units="m", label="mass centre, x")
    d.output("y", l * d.dot(B[3], N[2]), units="m", label="mass centre, y")
    d.output("h3", d.dot(d.angular_momentum(O), N[3]), label="angular momentum about the vertical")
    d.add_outputs("energy")
    d.set_labels(
        m="mass", l="distance from the joint to the mass centre", g="acceleration of gravity"
    )
    d.set_units(m="kg", l="m", g="m/s2", i="kg-m2", j="kg-m2")
    d.set_labels(i="inertia across the axis of symmetry", j="inertia about the axis of symmetry")
    d.set_labels(**{f"u{k}": f"angular velocity along B{k}" for k in (1, 2, 3)})
    if orientation == "angles":
        d.set_labels(q1="precession", q2="inclination", q3="spin")
    else:
        d.set_labels(**{f"e{k}": f"Euler parameter {k}" for k in range(4)})
    d.set_defaults(m=1, l=1, g=9.81, i=0.1, j=0.02)
    d.set_run(t_end=10, step=0.001, output_every=10, initial={"u1": 3})
    return d


if __name__ == "__main__":
    for orientation in ("angles", "euler parameters"):
        run = model(orientation).equations().compile().simulate()
        print(f"{orientation}: {run.ended}")
