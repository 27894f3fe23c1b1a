"""The hand-led derivation in Python: steps, their answers, their refusals."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.kane import Derivation, MissingError, euler
from bellcrank.symbolic.expr import evaluate
from tests.late import Late

transform, sm, me = Late("scipy.spatial.transform"), Late("sympy"), Late("sympy.physics.mechanics")


def values(matrix, **known):
    return np.array([evaluate(row, known) for row in matrix])


# ---- orientation


def test_direction_cosines_of_a_chain_of_rotations():
    d = Derivation()
    d.coordinates("a b c")
    A, B, C = d.frames("A B C")
    # given in another order than the chain, and one of them backwards
    d.rotate(B, C, 3, "c")
    d.rotate(B, A, 1, "-b")
    d.rotate(d.newtonian, A, 2, "a")
    expected = transform.Rotation.from_euler("YXZ", [0.3, -0.7, 1.1]).as_matrix()
    np.testing.assert_allclose(
        values(d.dircos("N", "C").R, a=0.3, b=-0.7, c=1.1), expected, atol=1e-15
    )
    np.testing.assert_allclose(
        values(d.dircos("C", "N").R, a=0.3, b=-0.7, c=1.1), expected.T, atol=1e-15
    )


def test_turns_about_one_axis_add_up_to_one_angle():
    d = Derivation()
    d.coordinates("a b c")
    d.frames("A B C")
    for parent, child, angle in (("N", "A", "a"), ("A", "B", "b"), ("B", "C", "c")):
        d.rotate(parent, child, 3, angle)
    assert str(d.dircos("N", "C")[1, 1]) == "cos(a + b + c)"
    assert str(d.dircos("A", "C")[2, 1]) == "sin(b + c)"


def test_angular_velocity_from_any_direction_cosines():
    """From a full matrix, against that of the chain of rotations behind it."""
    d, e = Derivation(), Derivation()
    for x in (d, e):
        x.coordinates("a b")
        x.speeds("u v")
        x.frames("A B")
        x.set_rate("a", "u")
        x.set_rate("b", "v*cos(a)")
    d.rotate("N", "A", 1, "a")
    d.rotate("A", "B", 2, "b")
    e.dircos("N", "B", d.dircos("N", "B").R)
    point = {"a": 0.4, "b": -0.9, "u": 1.3, "v": 0.7}
    ours, theirs = (
        evaluate([x.dot(x.angular_velocity("B"), f"N{i}") for i in (1, 2, 3)], point)
        for x in (e, d)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)


# ---- Euler parameters


def test_euler_parameters_convert_like_scipy():
    rng = np.random.default_rng(0)
    turns = [transform.Rotation.random(random_state=rng) for _ in range(20)]
    turns += [
        transform.Rotation.from_rotvec(np.pi * np.array(x))
        for x in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0))
    ]
    for turn in turns:
        e = euler.from_matrix(turn.as_matrix())
        np.testing.assert_allclose(euler.to_matrix(e), turn.as_matrix(), atol=1e-14)
        np.testing.assert_allclose(euler.scalar_last(e), turn.as_quat(canonical=True), atol=1e-12)
        assert euler.scalar_first(euler.scalar_last(e)) == e
        axis, angle = euler.to_axis_angle(e)
        np.testing.assert_allclose(np.array(axis) * angle, turn.as_rotvec(), atol=1e-7)
        np.testing.assert_allclose(euler.from_axis_angle(axis, angle), e, atol=1e-14)


@pytest.mark.parametrize("bad", [(0, 0, 0, 0), (1, 0, 0)])
def test_euler_parameters_that_are_none(bad):
    with pytest.raises(ModelError):
        euler.to_matrix(bad)
    with pytest.raises(ModelError):
        euler.from_matrix(np.diag([1.0, 1.0, -1.0]))


def test_initial_euler_parameters_of_any_size_are_one_orientation():
    from examples.kane_tumbling_body import model

    sim = model().equations().compile(backend="python")
    runs = [
        sim.simulate(t_end=1, step=0.01, initial={"e0": 1 * k, "e3": 0.5 * k, "u2": 1})
        for k in (1.0, 2.0)
    ]
    np.testing.assert_allclose(runs[0]["axis"], runs[1]["axis"], atol=1e-15)
    assert np.abs(sum(runs[1][f"e{i}"] ** 2 for i in range(4)) - 1).max() < 1e-9
    with pytest.raises(ModelError, match="all zero"):
        sim.simulate(t_end=1, step=0.01, initial={"e0": 0})


# ---- speeds


def test_speeds_in_any_combination_of_rates():
    """Body components of the angular velocity as speeds, solved for the rates of three angles."""
    d = Derivation()
    q1, q2, q3 = d.coordinates("q1 q2 q3")
    u = d.speeds("u1 u2 u3")
    A, B, C = d.frames("A B C")
    d.rotate("N", A, 3, q1)
    d.rotate(A, B, 1, q2)
    d.rotate(B, C, 3, q3)
    w = d.express(d.angular_velocity(C), C)
    rates = d.set_speeds({x: d.dot(w, C[i]) for i, x in enumerate(u, 1)})
    point = {"q1": 0.2, "q2": 0.9, "q3": -0.4, "u1": 1.0, "u2": -2.0, "u3": 0.5}
    numbers = dict(zip(("a", "b", "c"), evaluate(rates.values(), point), strict=True))
    s2, c2, s3, c3 = np.sin(0.9), np.cos(0.9), np.sin(-0.4), np.cos(-0.4)
    expected = np.linalg.solve([[s2 * s3, c3, 0], [s2 * c3, -s3, 0], [c2, 0, 1]], [1.0, -2.0, 0.5])
    np.testing.assert_allclose(list(numbers.values()), expected, rtol=1e-13)
    # and the angular velocity is what the speeds say
    np.testing.assert_allclose(
        evaluate([d.scalars.resolve([d.dot(w, C[i])])[0] for i in (1, 2, 3)], point), [1, -2, 0.5]
    )


def test_speeds_that_do_not_determine_the_rates():
    d = Derivation()
    d.coordinates("x y")
    d.speeds("u v")
    with pytest.raises(ModelError, match="not independent"):
        d.set_speeds({"u": "x' + y'", "v": "2*x' + 2*y'"})
    with pytest.raises(ModelError, match="as many rates as speeds"):
        d.set_speeds({"u": "x'", "v": "x'"})
    with pytest.raises(ModelError, match="not linear"):
        d.set_speeds({"u": "x'*y'", "v": "x'"})


# ---- an independent program


def test_pendulum_on_a_cart_agrees_with_sympy():
    """A bob that slides in a tube on a turning arm on a cart: one-point theorem, spring, force
    between points; sympy's KanesMethod."""
    d = Derivation("arm on a cart")
    x, q, s = d.coordinates("x q s")
    ux, uq, us = d.speeds("ux uq us")
    m1, m2, k, g, c = d.constants("m1 m2 k g c")
    (A,) = d.frames("A")
    d.rotate("N", A, 3, q)
    for a, b in ((x, ux), (q, uq), (s, us)):
        d.set_rate(a, b)
    P, Q = d.particle("P", m1), d.particle("Q", m2)
    N = d.newtonian
    d.set_velocity(P, N, ux * N[1])
    d.set_position(P, Q, s * A[1])
    d.v1pt(N, A, P, Q)
    d.gravity(-g * N[2])
    d.force(Q, -k * s * A[1] - c * us * A[1], by=P)
    sim = d.equations().compile(backend="python")

    xs, qs, ss, uxs, uqs, uss = me.dynamicsymbols("x q s ux uq us")
    M1, M2, K, G, C = sm.symbols("m1 m2 k g c")
    n = me.ReferenceFrame("n")
    a = n.orientnew("a", "Axis", (qs, n.z))
    a.set_ang_vel(n, uqs * n.z)
    p = me.Point("p")
    p.set_vel(n, uxs * n.x)
    b = p.locatenew("b", ss * a.x)
    b.set_vel(a, uss * a.x)
    b.v1pt_theory(p, n, a)
    pull = (-K * ss - C * uss) * a.x
    loads = [(p, -M1 * G * n.y - pull), (b, -M2 * G * n.y + pull)]
    method = me.KanesMethod(
        n, [xs, qs, ss], [uxs, uqs, uss], [xs.diff() - uxs, qs.diff() - uqs, ss.diff() - uss]
    )
    method.kanes_equations([me.Particle("pa", p, M1), me.Particle("pb", b, M2)], loads)
    args = (xs, qs, ss, uxs, uqs, uss, M1, M2, K, G, C)
    f = sm.lambdify(args, (method.mass_matrix, method.forcing))
    rng = np.random.default_rng(5)
    for _ in range(3):
        state, par = rng.uniform(0.5, 1.5, 6), rng.uniform(0.5, 2, 5)
        mass, force = f(*state, *par)
        ours = sim.derivatives(
            0.0,
            state[:3],
            state[3:],
            parameters=dict(zip(("m1", "m2", "k", "g", "c"), par, strict=True)),
        )
        np.testing.assert_allclose(ours[1], np.linalg.solve(mass, force)[:, 0], rtol=1e-10)
    assert bc.check(d, states=3, backend="python").passed


def test_theorems_of_two_points_agree_with_differentiation():
    """v and a of a point fixed in a body, and of one moving on it, against derivatives of the
    position."""
    d = Derivation()
    q1, q2, s = d.coordinates("q1 q2 s")
    u1, u2, us = d.speeds("u1 u2 us")
    A, B = d.frames("A B")
    d.rotate("N", A, 3, q1)
    d.rotate(A, B, 1, q2)
    for a, b in ((q1, u1), (q2, u2), (s, us)):
        d.set_rate(a, b)
    (r,) = d.constants("r")
    O, P, Q = d.points("O P Q")
    N = d.newtonian
    d.set_velocity(O, N, 0)
    d.set_position(O, P, r * B[2])
    d.set_position(P, Q, s * B[3])
    by_position = d.velocity(Q), d.acceleration(Q)
    d.v2pts(N, B, O, P)
    d.a2pts(N, B, O, P)
    by_theorem = d.v1pt(N, B, P, Q), d.a1pt(N, B, P, Q)
    names = ("q1", "q2", "s", "u1", "u2", "us", "u1'", "u2'", "us'", "r")
    point = dict(zip(names, np.random.default_rng(1).uniform(0.4, 1.4, len(names)), strict=True))
    for ours, theirs in zip(by_theorem, by_position, strict=True):
        for i in (1, 2, 3):
            np.testing.assert_allclose(
                *evaluate([d.dot(ours, N[i]), d.dot(theirs, N[i])], point), rtol=1e-12, atol=1e-14
            )


# ---- what is rejected


def test_what_is_missing_is_told_at_once_with_the_call_that_gives_it():
    d = Derivation()
    A = d.body("A")
    d.speeds("u1")
    with pytest.raises(MissingError) as caught:
        d.frstar()
    assert "d.set_velocity(Ao, N, ...)" in str(caught.value)
    assert "d.set_angular_velocity(A, N, ...)" in str(caught.value)
    with pytest.raises(MissingError, match=r"d.rotate\(N, A, axis, angle\)"):
        d.dircos("N", A)


def test_redefinition_is_refused_with_the_first_definition():
    d = Derivation()
    d.coordinates("q")
    d.speeds("u")
    d.frames("A")
    d.rotate("N", "A", 3, "q")
    d.set_rate("q", "u")
    d.define("f", "2*q")
    for act, words in (
        (lambda: d.set_rate("q", "2*u"), "q' = u"),
        (lambda: d.rotate("N", "A", 1, "q"), "cos"),
        (lambda: d.constants("q"), "a coordinate"),
        (lambda: d.define("f", 1), r"f = 2\*q"),
        (lambda: d.frames("a"), "a frame"),
    ):
        with pytest.raises(ModelError, match=words):
            act()


def test_unknown_names_suggest_near_ones():
    d = Derivation()
    d.constants("length stiffness")
    d.points("Ankle")
    with pytest.raises(ModelError, match="Did you mean 'length'"):
        d.scalar("2*lenght")
    with pytest.raises(ModelError, match="Did you mean 'Ankle'"):
        d.point("Ancle")
    with pytest.raises(ModelError, match="Did you mean 'stiffness'"):
        d.set_defaults(stifness=3)


def test_a_measured_force_that_does_work_is_refused():
    d = Derivation()
    d.coordinates("q")
    u, w = d.speeds("u"), d.auxiliary("w", "f")
    d.set_rate("q", "u")
    P = d.particle("P")
    d.set_velocity(P, "N", u[0] * d.newtonian[1] + w[0] * d.newtonian[1])
    d.force(P, w[1] * d.newtonian[1])
    with pytest.raises(ModelError, match="must do no work"):
        d.equations()


def test_constraints_that_cannot_be():
    d = Derivation()
    d.speeds("u v")
    with pytest.raises(ModelError, match="not linear"):
        d.constrain("u*v")
    with pytest.raises(ModelError, match="contradicts"):
        d.constrain(3)
    d.constrain("u - 2*v", "u")
    with pytest.raises(ModelError, match="satisfied already"):
        d.constrain("2*u - 4*v")
    with pytest.raises(ModelError, match="no independent speed"):
        d.constrain("v")


# ---- the same object as everywhere


def test_the_result_is_the_equations_object_of_all_models(tmp_path):
    from examples.kane_double_pendulum import model

    eom = model().equations()
    assert isinstance(eom, bc.Equations)
    assert [s.name for s in (*eom.coordinates, *eom.speeds)] == ["phi1", "phi2", "u1", "u2"]
    assert eom.export("c", tmp_path).read_text().count("double")
    assert eom.export("python", tmp_path).exists()
    assert r"\frac{d}{dt} u_{1}" in eom.latex()
    explicit = eom.compile(backend="python").derivatives(0.0, [0.3, 0.4], [0.5, 0.6])
    implicit = (
        model()
        .equations(solve="implicit")
        .compile(backend="python")
        .derivatives(0.0, [0.3, 0.4], [0.5, 0.6])
    )
    np.testing.assert_allclose(implicit[1], explicit[1], rtol=1e-12)
    mass, force = values(eom.mass_matrix, **KNOWN), evaluate(eom.forces, KNOWN)
    np.testing.assert_allclose(np.linalg.solve(mass, force), explicit[1], rtol=1e-12)


KNOWN = {
    **{
        "la": 1,
        "lb": 1,
        "g": 9.81,
        "wda": 0,
        "wdab": 0,
        "mA": 2,
        "mB": 4,
        "IA1": 0,
        "IA2": 2.66667,
        "IA3": 2.66667,
    },
    **{"IB1": 0, "IB2": 5.33333, "IB3": 5.33333, "phi1": 0.3, "phi2": 0.4, "u1": 0.5, "u2": 0.6},
}


def test_inverse_dynamics_gives_back_the_accelerations():
    """Motion with u' of the model needs nothing; another u' needs M times the difference."""
    from examples.kane_double_pendulum import model

    eom = model().equations()
    sim = eom.compile(backend="python")
    q, u = [0.3, 0.4], [0.5, 0.6]
    _, udot = sim.derivatives(0.0, q, u)
    np.testing.assert_allclose(sim.inverse(q, u, udot).array, 0, atol=1e-12)
    mass = values(eom.mass_matrix, **KNOWN)
    np.testing.assert_allclose(sim.inverse(q, u, udot + [1, 2]).array, mass @ [1, 2], rtol=1e-12)
    rows = sim.inverse([q, q], [u, u], [udot, udot + [0, 1]], t=[0.0, 1.0])
    np.testing.assert_allclose(rows["force along u2"], [0, mass[1, 1]], atol=1e-12)
    with pytest.raises(ModelError, match="have no names"):
        sim.inverse(q, u, udot, forces="ta")


def test_intermediate_variables_change_the_form_and_not_the_values():
    from examples.kane_double_pendulum import model

    plain, named = model(), model()
    named.scalars.autoz = True
    assert "Z" in str(named.kane()) and "Z" not in str(plain.kane())
    a, b = (
        x.equations().compile(backend="python").derivatives(0.0, [1, 2], [3, 4])
        for x in (plain, named)
    )
    np.testing.assert_allclose(a[1], b[1], rtol=1e-12)


def test_results_are_shown_as_a_person_would_write_them():
    from examples.kane_double_pendulum import model

    d = model()
    assert str(d.velocity("Bo")) == "2*la*u1*A2 + lb*(u1 + u2)*B2"
    assert str(d.angular_acceleration("B")) == "u1'*N3 + u2'*A3"
    assert str(d.partial_velocities("Bo")) == "v_u1(Bo) = 2*la*A2 + lb*B2\nv_u2(Bo) = lb*B2"
    assert r"\dot{u}_{1}" in d.kane().latex()
    assert r"\mathbf{B}_{2}" in d.velocity("Bo").latex()
    for shown in (d.dircos("N", "B"), d.kane(), d.fr(), d.linearize(), d.partial_velocities("Bo")):
        assert shown._repr_latex_().startswith("$")


def test_a_wrong_step_fails_the_check():
    """The check must see a velocity that does not belong to the position, and a wrong angular
    velocity."""

    def pendulum(velocity, turn):
        d = Derivation("wrong")
        q, u = *d.coordinates("q"), *d.speeds("u")
        A = d.body("A", inertia=(0, 0, "0.1"))
        (l,) = d.constants("l")
        d.rotate("N", A, 3, q)
        d.set_rate(q, u)
        (O,) = d.points("O")
        d.set_velocity(O, "N", 0)
        d.set_position(O, A.cm, l * A[1])
        d.set_velocity(A.cm, "N", velocity)
        d.motion.w[A, d.newtonian] = d.vector(turn)  # d.set_angular_velocity would reject it
        d.gravity(d.constants("g")[0] * d.newtonian[1])
        return {line.name: line.passed for line in bc.check(d, states=2, backend="python").lines}

    assert all(pendulum("l*u*A2", "u*N3").values())
    assert not pendulum("2*l*u*A2", "u*N3")["velocities move the mass centres"]
    assert not pendulum("l*u*A2", "2*u*N3")["angular velocities turn the frames"]


def test_linearised_equations_of_a_pendulum():
    """Frequency sqrt(m g l/(I + m l^2)); about the upright position it is imaginary."""
    d = Derivation()
    q, u = *d.coordinates("q"), *d.speeds("u")
    m, l, g, i = d.constants("m l g i")
    A = d.body("A", mass=m, inertia=(0, 0, i))
    d.rotate("N", A, 3, q)
    d.set_rate(q, u)
    (O,) = d.points("O")
    d.set_velocity(O, "N", 0)
    d.set_position(O, A.cm, l * A[1])
    d.gravity(g * d.newtonian[1])
    point = {"m": 2, "l": 0.5, "g": 9.81, "i": 0.3}
    for angle, sign in ((0, -1), (np.pi, 1)):
        linear = d.linearize(at={q: angle})
        ratio = evaluate(linear.K[0], point)[0] / evaluate(linear.M[0], point)[0]
        assert ratio == pytest.approx(sign * 2 * 9.81 * 0.5 / (0.3 + 2 * 0.25), rel=1e-12)
    with pytest.raises(ModelError, match="no such state"):
        d.linearize(at={"zz": 1})


def test_inputs_prescribed_motion_and_momentum():
    """Two masses on a line joined by a spring, one pushed by an input; then a driven base. Closed
    forms."""
    d = Derivation("pushed")
    x, y = d.coordinates("x y")
    u, v = d.speeds("u v")
    m, k = d.constants("m k")
    (push,) = d.inputs("push")
    N = d.newtonian
    P, Q = d.particle("P", m), d.particle("Q", m)
    d.set_rate(x, u)
    d.set_rate(y, v)
    d.set_velocity(P, N, u * N[1])
    d.set_velocity(Q, N, v * N[1])
    d.set_position(P, Q, (y - x + 1) * N[1])
    d.force(Q, -k * (y - x) * N[1], by=P)
    d.force(P, push * N[1])
    d.add_outputs("momentum", "energy")
    sim = d.equations().compile(backend="python")
    run = sim.simulate(
        t_end=2, step=0.01, parameters={"m": 2, "k": 50}, inputs={"push": 3.0}, initial={"u": 1}
    )
    np.testing.assert_allclose(run["p1"], 2 * 1 + 3 * run.time, rtol=1e-12)
    np.testing.assert_allclose(run["h1"], 0)
    with pytest.raises(ModelError, match="output"):
        d.add_outputs("energie")


def test_a_driven_base_moves_as_prescribed():
    """A mass on a spring whose base moves with a sin(w t): the steady answer of a driven
    oscillator."""
    d = Derivation("driven")
    (x,), (u,) = d.coordinates("x"), d.speeds("u")
    m, k, *_ = d.constants("m k a w")
    base = d.define("base", "a*sin(w*t)")
    P = d.particle("P", m)
    d.set_rate(x, u)  # relative to the base
    N = d.newtonian
    d.set_velocity(P, N, (u + d.rate(base)) * N[1])
    d.force(P, -k * x * N[1])
    sim = d.equations().compile(backend="python")
    values = {"m": 2.0, "k": 50.0, "a": 0.1, "w": 3.0}
    gain = 0.1 * 9 / (25 - 9)  # x = gain sin(w t) exactly, when started so
    run = sim.simulate(t_end=4, step=0.002, parameters=values, initial={"u": gain * 3})
    np.testing.assert_allclose(run["x"], gain * np.sin(3 * run.time), atol=1e-9)
    np.testing.assert_allclose(run["base"], 0.1 * np.sin(3 * run.time), rtol=1e-12)
    report = bc.check(d, states=3, parameters=values, backend="python")
    assert report.passed and any("prescribed" in str(line.value) for line in report.lines)


def test_kinetic_energy_by_degree_in_the_speeds():
    """A mass on an arm that is turned with w and carried with a: K0, K1, K2 written out by hand."""
    d = Derivation()
    d.coordinates("q")
    d.speeds("u")
    d.constants("a w l m")
    d.set_rate("q", "u")
    P = d.particle("P", "m")
    d.frames("A")
    d.rotate("N", "A", 3, "q + w*t")
    d.set_velocity(P, "N", "l*(u + w)*A2 + a*N1")
    a, w, l, m, u, s = 0.7, 1.3, 0.4, 2.0, 0.9, np.sin(0.5 + 1.3 * 0.2)
    found = evaluate(
        d.machine.split_by_degree(d.kinetic_energy()),
        {"a": a, "w": w, "l": l, "m": m, "u": u, "q": 0.5, "t": 0.2},
    )
    expected = [
        m / 2 * (l**2 * w**2 + a**2 - 2 * a * l * w * s),
        m * u * (l**2 * w - a * l * s),
        m * l**2 * u**2 / 2,
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_names_of_unit_vectors_are_kept():
    d = Derivation()
    d.constants("B1")
    d.frames("A")
    with pytest.raises(ModelError, match="unit vector of the frame A"):
        d.constants("A1")
    with pytest.raises(ModelError, match="would be called B1"):
        d.body("B")
    d.coordinates("q1")
    d.frames("Q")
    assert str(d.vector("q1*Q1")) == "q1*Q1"
    assert d.scalar("q1") is d.symbol("q1")


# ---- names


def test_capitals_distinguish_scalars():
    d = Derivation()
    m, big = d.constants("m M")
    assert m is not big and d.symbol("m") is m and d.symbol("M") is big
    assert evaluate([d.scalar("m + 10*M")], {"m": 1.0, "M": 2.0}) == [21.0]
    d.set_defaults(m=1, M=2)
    d.set_units(M="kg")
    assert d.notes.values == {"m": 1.0, "M": 2.0} and d.notes.units == {"M": "kg"}
    with pytest.raises(ModelError, match="'M' is already defined"):
        d.constants("M")


def test_other_capitals_find_the_only_name():
    d = Derivation()
    (la,) = d.constants("La")
    assert d.symbol("la") is la
    d.set_defaults(LA=3)
    assert d.notes.values == {"La": 3.0}
    d.constants("lA")
    with pytest.raises(ModelError, match="La"):
        d.symbol("la")


def test_autolev_keeps_its_rule():
    d = Derivation(capitals=False)
    (m,) = d.constants("M")
    assert d.symbol("m") is m
    with pytest.raises(ModelError, match="'m' is already defined"):
        d.constants("m")
