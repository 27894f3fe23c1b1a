"""Rolling disc, derived by hand: nonholonomic speeds, and the contact force from auxiliary speeds.

Yaw q1 about the vertical, lean q2 about the line of rolling, spin q3; the contact point moves over
the plane with q4, q5. Speeds are the components of the angular velocity along the leaning axes, a
choice that no coordinate has as its rate. That the point of the disc that touches the plane is at
rest makes two speeds dependent. Three auxiliary speeds of the whole disc, always zero, bring the
contact force into evidence: along the track (ft), across it (fl) and normal to the plane (fn).

Upright straight rolling is stable above sqrt(g r/3) (Neimark & Fufaev, Dynamics of Nonholonomic
Systems (1972), ch. VI).
"""

from bellcrank.kane import Derivation


def model():
    """Three degrees of freedom, SI units, N3 up."""
    d = Derivation("rolling disc by hand")
    m, r, g = d.constants("m r g")
    N = d.newtonian
    Y, L = d.frames("Y L")
    D = d.body("D", mass=m, inertia=(m * r**2 / 4, m * r**2 / 2, m * r**2 / 4))
    q1, q2, q3, q4, q5 = d.coordinates("q1 q2 q3 q4 q5")
    u1, u2, u3, u4, u5 = d.speeds("u1 u2 u3 u4 u5")
    (u6, ft), (u7, fl), (u8, fn) = (
        d.auxiliary("u6", "ft"),
        d.auxiliary("u7", "fl"),
        d.auxiliary("u8", "fn"),
    )

    d.rotate(N, Y, 3, q1)
    d.rotate(Y, L, 1, q2)
    d.rotate(L, D, 2, q3)
    turn = d.express(d.angular_velocity(D, N), L)  # in terms of q1', q2', q3'
    d.set_speeds({u1: d.dot(turn, L[1]), u2: d.dot(turn, L[2]), u3: d.dot(turn, L[3])})
    w = d.set_angular_velocity(D, N, u1 * L[1] + u2 * L[2] + u3 * L[3])
    # the point on the plane below the disc's contact moves with u4, u5 along and across the track
    d.set_rate(q4, d.dot(u4 * Y[1] + u5 * Y[2], N[1]))
    d.set_rate(q5, d.dot(u4 * Y[1] + u5 * Y[2], N[2]))

    (C,) = d.points("C")  # the point of the disc that touches the plane
    d.set_position(C, D.cm, r * L[3])
    geometric = (
        u4 * Y[1] + u5 * Y[2] + d.rate(r * L[3], N)
    )  # of the centre: contact position and r L3
    d.set_velocity(D.cm, N, geometric + u6 * Y[1] + u7 * Y[2] + u8 * N[3])
    v_C = d.set_velocity(C, N, d.velocity(D.cm) - d.cross(w, r * L[3]))
    d.constrain(d.dot(v_C, Y[1]), u4)
    d.constrain(d.dot(v_C, Y[2]), u5)

    d.force(D.cm, -m * g * N[3])
    d.force(C, ft * Y[1] + fl * Y[2] + fn * N[3])

    d.set_potential_energy(m * g * d.dot(r * L[3], N[3]))
    d.add_outputs("energy")
    d.set_labels(
        q1="yaw angle",
        q2="inclination",
        q3="spin angle",
        q4="contact point, x",
        q5="contact point, y",
    )
    d.set_labels(
        u1="rate of inclination", u2="spin rate", u3="turning rate in the plane of the disc"
    )
    d.set_labels(m="mass", r="radius", g="acceleration of gravity")
    d.set_units(
        q1="rad",
        q2="rad",
        q3="rad",
        q4="m",
        q5="m",
        u1="rad/s",
        u2="rad/s",
        u3="rad/s",
        ft="N",
        fl="N",
        fn="N",
    )
    d.set_units(m="kg", r="m", g="m/s2")
    d.set_defaults(m=1, r=0.3, g=9.80665)
    d.set_run(t_end=5, step=0.002, output_every=5, initial={"u2": 2 / 0.3, "u1": 0.3})
    return d


if __name__ == "__main__":
    d = model()
    print("q1', q2', q3' by the speeds:", *(d.rate(q) for q in ("q1", "q2", "q3")))
    print(
        "u4 =",
        d.scalars.definitions[d.symbol("u4")],
        "  u5 =",
        d.scalars.definitions[d.symbol("u5")],
    )
    print("partial velocities of the contact point", d.partial_velocities("C"), sep="\n")
    print(d.kane())
    print(d.equations().summary())
