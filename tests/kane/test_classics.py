"""Classic problems by hand, against closed forms and published results."""

from importlib import import_module

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.symbolic.expr import evaluate
from tests.late import Late

special = Late("scipy.special")


def derivation(name, **arguments):
    return import_module(f"examples.kane_{name}").model(**arguments)


@pytest.mark.parametrize(
    "name", ["double_pendulum", "rolling_disc", "tumbling_body", "spherical_pendulum"]
)
def test_every_example_passes_its_check(name):
    report = bc.check(derivation(name), states=3, backend="python")
    assert report.passed, str(report)


def test_both_ways_to_the_double_pendulum_agree():
    by_hand = derivation("double_pendulum").equations().compile(backend="python")
    described = (
        import_module("examples.double_pendulum").model().equations().compile(backend="python")
    )
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, u = rng.uniform(-3, 3, 2), rng.uniform(-3, 3, 2)
        ours, theirs = by_hand.derivatives(0.0, q, u), described.derivatives(0.0, q, u)
        np.testing.assert_allclose(np.concatenate(ours), np.concatenate(theirs), rtol=1e-12)


# ---- the rolling disc


@pytest.fixture(scope="module")
def disc():
    return derivation("rolling_disc")


@pytest.mark.parametrize(("lean", "yaw_rate"), [(0.3, 1.2), (-0.5, 2.0), (0.1, -4.0)])
def test_steady_turning_of_the_disc(disc, lean, yaw_rate):
    """Moments about the contact point in a steady turn, written out by hand: u2 W (C + m r^2) cos =
    A W^2 sin cos - m g r sin."""
    m, r, g = 1.0, 0.3, 9.80665
    A, C = m * r**2 / 4, m * r**2 / 2
    s, c = np.sin(lean), np.cos(lean)
    spin = (A * yaw_rate**2 * s * c - m * g * r * s) / ((C + m * r**2) * yaw_rate * c)
    sim = disc.equations().compile(backend="python")
    q, u = [0.4, lean, 0.7, 0.0, 0.0], [0.0, spin, yaw_rate * c]
    qdot, udot = sim.derivatives(0.0, q, u)
    np.testing.assert_allclose(udot, 0, atol=1e-11)
    np.testing.assert_allclose(qdot[:2], [yaw_rate, 0], atol=1e-12)
    found = sim.outputs(0.0, q, u)
    # the centre goes round with acceleration u2 r W towards the side; the plane carries the weight
    np.testing.assert_allclose(
        [found["ft"], found["fl"], found["fn"]], [0, m * spin * r * yaw_rate, m * g], atol=1e-11
    )


def test_critical_speed_from_the_linearised_equations(disc):
    """Neimark & Fufaev (1972), ch. VI: straight rolling of a uniform disc is stable above sqrt(g
    r/3)."""
    linear = disc.linearize(at={"u2": 5.0})
    names = [s.name for s in (*linear.coordinates, *linear.speeds)]

    def roots(speed):
        values = {"m": 1.0, "r": 0.3, "g": 9.80665}
        about = disc.linearize(at={"u2": speed / 0.3})
        M, K, C, G, H = (
            np.array([evaluate(row, values) for row in x])
            for x in (about.M, about.K, about.C, about.G, about.H)
        )
        A = np.block([[G, H], [np.linalg.solve(M, K), np.linalg.solve(M, C)]])
        return np.linalg.eigvals(A[np.ix_([1, 5, 7], [1, 5, 7])])  # lean, its rate, turning

    assert names[1] == "q2" and names[5] == "u1" and names[7] == "u3"
    critical = np.sqrt(9.80665 * 0.3 / 3)
    assert max(roots(critical * 0.999).real) > 1e-2
    assert max(abs(roots(critical * 1.001).real)) < 1e-6


def test_the_disc_agrees_with_its_description(disc):
    """The same disc as a System: equal lean and energy after three seconds of nodding."""
    ours = (
        disc.equations().compile().simulate(t_end=3, step=0.001, initial={"u2": 2 / 0.3, "u1": 0.3})
    )
    system = import_module("examples.rolling_disc").model()
    theirs = (
        system.equations()
        .compile()
        .simulate(t_end=3, step=0.001, output_every=5, initial={"u(disc)": 2 / 0.3, "u(lean)": 0.3})
    )
    np.testing.assert_allclose(ours["q2"], theirs["lean"], atol=1e-9)
    assert np.ptp(ours["energy"]) < 1e-9 * ours["energy"][0]


def test_the_contact_point_of_a_wheel_belongs_to_it_for_an_instant(disc):
    """The other way to the disc: the point that touches is at rest, and the centre follows by the
    two-point theorem."""
    from bellcrank.kane import Derivation

    d = Derivation("disc from its contact")
    m, r, g = d.constants("m r g")
    Y, L = d.frames("Y L")
    D = d.body("D", mass=m, inertia=("m*r**2/4", "m*r**2/2", "m*r**2/4"))
    q = d.coordinates("q1 q2 q3")
    u1, u2, u3 = d.speeds("u1 u2 u3")
    for parent, child, axis, angle in (("N", Y, 3, q[0]), (Y, L, 1, q[1]), (L, D, 2, q[2])):
        d.rotate(parent, child, axis, angle)
    turn = d.express(d.angular_velocity(D), L)
    d.set_speeds({u: d.dot(turn, L[i]) for i, u in enumerate((u1, u2, u3), 1)})
    d.set_angular_velocity(D, "N", u1 * L[1] + u2 * L[2] + u3 * L[3])
    (C,) = d.points("C")
    d.set_velocity(C, "N", 0)
    d.set_position(C, D.cm, r * L[3])
    d.v2pts("N", D, C, D.cm)
    d.force(D.cm, -m * g * d.newtonian[3])
    values = {"m": 1, "r": 0.3, "g": 9.80665}
    assert bc.check(d, states=3, parameters=values, backend="python").passed
    state = [0.4, -0.6, 0.2], [0.3, 2.0, -0.7]
    ours = d.equations().compile(backend="python").derivatives(0.0, *state, parameters=values)[1]
    theirs = (
        disc.equations().compile(backend="python").derivatives(0.0, [*state[0], 0, 0], state[1])[1]
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


# ---- the tumbling body


@pytest.fixture(scope="module")
def tumbling():
    return derivation("tumbling_body").equations().compile().simulate()


def test_energy_and_momentum_over_a_thousand_seconds(tumbling):
    assert tumbling.time[-1] == 1000
    energy = tumbling["kinetic"]
    h = np.array([tumbling[f"h{i}"] for i in (1, 2, 3)])
    assert np.abs(energy / energy[0] - 1).max() < 1e-10
    assert np.abs(h - h[:, :1]).max() / np.linalg.norm(h[:, 0]) < 1e-10
    assert np.abs(sum(tumbling[f"e{i}"] ** 2 for i in range(4)) - 1).max() < 1e-10


def test_spin_about_the_intermediate_axis_follows_elliptic_functions(tumbling):
    """Landau & Lifshitz (1976), section 37, for I1 < I2 < I3 and M^2 < 2 E I2."""
    I1, I2, I3 = 1.0, 2.0, 3.0
    w0 = np.array([tumbling[f"u{i}"][0] for i in (1, 2, 3)])
    E2, M2 = (
        I1 * w0[0] ** 2 + I2 * w0[1] ** 2 + I3 * w0[2] ** 2,
        (I1 * w0[0]) ** 2 + (I2 * w0[1]) ** 2 + (I3 * w0[2]) ** 2,
    )
    if M2 < E2 * I2:  # the roles of axes 1 and 3 change
        I1, I3 = I3, I1
    rate = np.sqrt((I3 - I2) * (M2 - E2 * I1) / (I1 * I2 * I3))
    k2 = (I2 - I1) * (E2 * I3 - M2) / ((I3 - I2) * (M2 - E2 * I1))
    period = 4 * special.ellipk(k2) / rate
    u2, t = tumbling["u2"], tumbling.time
    crossing = np.flatnonzero((u2[:-1] > 0) & (u2[1:] <= 0))
    times = t[crossing] + (t[crossing + 1] - t[crossing]) * u2[crossing] / (
        u2[crossing] - u2[crossing + 1]
    )
    np.testing.assert_allclose(np.diff(times), period, rtol=1e-4)
    top = np.sqrt((E2 * I3 - M2) / (I2 * (I3 - I2)))
    np.testing.assert_allclose(np.abs(u2).max(), top, rtol=1e-6)
    middle = (
        times[0] + times[1]
    ) / 2  # half-way between two falls through zero the spin rises through it
    s, _, _, _ = special.ellipj(rate * (t - middle), k2)
    near = np.abs(t - middle) < period / 4
    np.testing.assert_allclose(u2[near], top * s[near], atol=2e-3)
    assert tumbling["axis"].min() < -0.99 and tumbling["axis"].max() > 0.99  # it turns right over


# ---- analyses of every model


def test_linear_models_of_hand_led_derivations():
    """sim.linearize against the symbolic linearisation, and against the frequency of a hanging
    body."""
    d = derivation("double_pendulum")
    values = d.notes.values
    about = d.linearize()
    known = {c.name: values[c.name] for c in d.scalars.constants}
    M, K = (np.array([evaluate(row, known) for row in x]) for x in (about.M, about.K))
    expected = np.sqrt(-np.linalg.eigvals(np.linalg.solve(M, K)))
    found = np.linalg.eigvals(
        d.equations().compile(backend="python").linearize(at={"phi1": 0, "phi2": 0}).A
    )
    np.testing.assert_allclose(np.sort(found.imag)[2:], np.sort(expected), rtol=1e-9)
    hanging = (
        derivation("spherical_pendulum")
        .equations()
        .compile(backend="python")
        .linearize(at={"e0": 1, "u1": 0})
    )
    fast = np.linalg.eigvals(hanging.A).imag
    np.testing.assert_allclose(fast.max(), np.sqrt(9.81 / 1.1), rtol=1e-9)
    assert np.linalg.eigvals(hanging.A).real.max() < 1e-9


# ---- through the pole


def test_a_swing_from_the_pole_keeps_the_period_of_the_elliptic_integral():
    sim = derivation("spherical_pendulum").equations().compile()
    natural = np.sqrt(1 * 9.81 * 1 / (0.1 + 1))
    period = 4 * special.ellipk((3 / (2 * natural)) ** 2) / natural
    run = sim.simulate(t_end=10 * period, step=10 * period / 20_000)
    assert run["u1"][-1] == pytest.approx(3, rel=1e-9)
    assert run["e0"][-1] == pytest.approx(1, rel=1e-9)
    assert abs(run["x"]).max() == 0  # a plane swing
    assert np.ptp(run["energy"]) < 1e-9


def test_angles_fail_in_the_pole():
    run = derivation("spherical_pendulum", orientation="angles").equations().compile().simulate()
    assert run.ended != "finished"
    assert len(run) <= 1


def test_angles_lose_their_way_near_the_pole_and_euler_parameters_do_not():
    """A narrow pass of the pole: vertical angular momentum and energy are conserved, in truth."""
    lost, drift = {}, {}
    for orientation, start in (
        ("angles", {"q2": 0.5}),
        ("euler parameters", {"e0": np.cos(0.25), "e1": np.sin(0.25)}),
    ):
        sim = derivation("spherical_pendulum", orientation=orientation).equations().compile()
        run = sim.simulate(initial={**start, "u1": 0, "u2": 1e-4})
        lost[orientation], drift[orientation] = np.ptp(run["energy"]), np.ptp(run["h3"])
    assert lost["euler parameters"] < 1e-11 and drift["euler parameters"] < 1e-14
    assert lost["angles"] > 1e-7 and drift["angles"] > 1e-5


def test_a_spinning_body_passes_the_pole_with_its_axial_momentum():
    """With axial spin: axial and vertical angular momentum and energy stay (Lagrange's top)."""
    run = (
        derivation("spherical_pendulum")
        .equations()
        .compile()
        .simulate(step=0.0002, initial={"u1": 3, "u3": 20})
    )
    assert np.ptp(run["u3"]) < 1e-12
    assert np.ptp(run["h3"]) < 1e-10
    assert np.ptp(run["energy"]) < 1e-9


# ---- Chaplygin's sleigh: a dependent speed in the dialect, a motion constraint in Python


SLEIGH = """
DOF(2)
FRAMES(A)
SIMPROT(N,A,3,PHI)
PHI'=U2
CONST(D)
U3=-D*U2
WAN=U2*N3
ALFAN=DERIV(WAN,T,N)
VASTARN=U1*A1+U3*A2
AASTARN=DERIV(VASTARN,T,N)
PRINCIPAL(A)
FRSTAR
FR
KANE
"""


def sleigh():
    from bellcrank.kane import Derivation

    d = Derivation("sleigh")
    (phi,), (u1, u2, u3), (c,) = d.coordinates("phi"), d.speeds("u1 u2 u3"), d.constants("d")
    A = d.body("A")
    d.rotate("N", A, 3, phi)
    d.set_rate(phi, u2)
    d.set_velocity(A.cm, "N", u1 * A[1] + u3 * A[2])
    (P,) = d.points("P")  # the edge, which does not slip sideways
    d.set_position(A.cm, P, c * A[1])
    d.constrain(d.dot(d.v2pts("N", A, A.cm, P), A[2]), u3)
    return d.equations()


def test_chaplygins_sleigh_both_ways(tmp_path):
    """u1' = -d u2^2 and (I + m d^2) u2' = m d u1 u2, edge at d ahead of the mass centre (Bloch,
    Nonholonomic Mechanics and Control, 2003)."""
    from bellcrank.kane.autolev import ScriptFiles, run_script

    script = run_script(SLEIGH, "sleigh.al", ScriptFiles(tmp_path)).program_layout("S").equations
    names = ({"D": 0.4, "MASSA": 2.0, "IA(3)": 0.7}, {"d": 0.4, "mA": 2.0, "IA3": 0.7})
    u1, u2 = 1.5, -0.8
    expected = [-0.4 * u2**2, 2.0 * 0.4 * u1 * u2 / (0.7 + 2.0 * 0.16)]
    for equations, values in zip((script, sleigh()), names, strict=True):
        found = equations.compile(backend="python").derivatives(
            0.0, [0.3], [u1, u2], parameters=values
        )[1]
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        assert bc.check(equations, states=2, parameters=values, backend="python").passed
