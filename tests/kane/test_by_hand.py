"""Derivations led by hand: no foreign poles, contradictions are rejected, inputs and constraints
are kept."""

import itertools
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.kane import Derivation
from bellcrank.symbolic.expr import ONE, ZERO, evaluate

SEQUENCES = [s for s in itertools.product((1, 2, 3), repeat=3) if s[0] != s[1] != s[2]]


def top(sequence, along_body):
    """A body turned three times, whose speeds are the components of its angular velocity along its
    axes, or N's."""
    d = Derivation("top")
    N, R = d.newtonian, d.body("R")
    Y, L = d.frames("Y L")
    angles = d.coordinates("a b c")
    for (x, y), axis, angle in zip(((N, Y), (Y, L), (L, R)), sequence, angles, strict=True):
        d.rotate(x, y, axis, angle)
    u, v, w = d.speeds("u v w")
    W, e = d.angular_velocity(R), R if along_body else N
    d.set_speeds({u: d.dot(W, e[1]), v: d.dot(W, e[2]), w: d.dot(W, e[3])})
    d.set_velocity(R.cm, N, 0)
    d.set_defaults(mR=1, IR1=1, IR2=2, IR3=2.5)
    return d


def turned(sequence, angles):
    R = np.eye(3)
    for axis, angle in zip(sequence, angles, strict=True):
        i, j = axis % 3, (axis + 1) % 3
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[i, j], turn[j, i] = -math.sin(angle), math.sin(angle)
        R = R @ turn
    return R


@pytest.mark.parametrize(
    ("sequence", "along_body"),
    [*((s, True) for s in SEQUENCES), ((3, 1, 2), False), ((1, 3, 1), False)],
)
def test_rates_have_no_other_poles_than_their_angles(sequence, along_body):
    """With angles 3-1-2, b' was 0.447 instead of 0.15 at c = pi/2: elimination had divided by
    cos(c)."""
    d = top(sequence, along_body)
    rates = [d.scalars.rates[q] for q in d.scalars.coordinates]
    pole = "sin(b)" if sequence[0] == sequence[2] else "cos(b)"
    assert d.equations().notes == [f"a', c' cannot be found where {pole} = 0"]
    speeds = np.array([0.3, 0.1, 0.15])
    for q in (
        (0.2, 0.4, math.pi / 2),
        (math.pi / 2, 0.4, 0.3),
        (0.0, 0.7, 0.0),
        (math.pi, 0.9, math.pi),
    ):
        known = dict(zip((*d.scalars.coordinates, *d.scalars.speeds), (*q, *speeds), strict=True))
        found = np.array(evaluate(rates, known))
        h = 1e-5
        slope = (turned(sequence, q + h * found) - turned(sequence, q - h * found)) / (2 * h)
        R = turned(sequence, q)
        spin = R.T @ slope if along_body else slope @ R.T
        assert [spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(speeds, abs=1e-8)


def test_a_run_goes_through_what_was_a_pole():
    d = top((3, 1, 2), along_body=True)
    run = d.equations().compile(backend="python").simulate(
        t_end=2, step=0.01, initial={"b": 0.4, "c": 1.2, "u": 0.1, "v": 0.8, "w": 0.05}
    )  # fmt: skip
    assert run["c"][0] < math.pi / 2 < run["c"][-1]
    spin = np.array([1, 2, 2.5]) * np.column_stack([run["u"], run["v"], run["w"]])
    inertial = [
        turned((3, 1, 2), q) @ h
        for q, h in zip(zip(run["a"], run["b"], run["c"], strict=True), spin, strict=True)
    ]
    assert np.abs(np.array(inertial) - inertial[0]).max() < 1e-8


def test_pole_of_a_dependent_speed_is_named():
    d = Derivation("skate")
    d.coordinates("q"), d.speeds("u1 u2 u3"), d.set_rate("q", "u3")
    P = d.particle("P")
    d.set_velocity(P, "N", "u1*N1 + u2*N2")
    A = d.body("A", mass=0)
    d.rotate("N", A, 3, "q")
    d.set_velocity(A.cm, "N", 0)
    d.constrain("u1*sin(q) - u2*cos(q)", dependent="u2")
    assert d.equations().notes == ["u2 cannot be found where cos(q) = 0"]


# ---- contradictions


def turning_frame():
    d = Derivation()
    d.frames("A"), d.coordinates("q"), d.speeds("u")
    return d


def test_angular_velocity_that_contradicts_the_orientation_is_refused_whatever_comes_last():
    """It was accepted, and only a check reported."""
    steps = {
        "orientation": lambda d: d.rotate("N", "A", 3, "q"),
        "rate": lambda d: d.set_rate("q", "u"),
        "turn": lambda d: d.set_angular_velocity("A", "N", "2*u*N3"),
    }
    right = {
        "orientation": lambda d: d.rotate("N", "A", 3, "2*q"),
        "rate": lambda d: d.set_rate("q", "2*u"),
        "turn": lambda d: d.set_angular_velocity("A", "N", "u*A3"),
    }
    for order in itertools.permutations(steps):
        d = turning_frame()
        for step in order[:2]:
            steps[step](d)
        with pytest.raises(
            ModelError,
            match=r"angular velocity of A in N, 2\*u\*N3, contradicts .* rates give u\*N3",
        ):
            steps[order[2]](d)
        right[order[2]](d)  # nothing was changed by the mistake


def test_opposite_and_indirect_angular_velocities_are_compared_too():
    d = turning_frame()
    d.frames("B"), d.rotate("A", "N", 3, "q"), d.rotate("A", "B", 1, "q"), d.set_rate("q", "u")
    with pytest.raises(ModelError, match="contradicts"):
        d.set_angular_velocity("B", "N", "u*A1 + u*A3")
    d.set_angular_velocity("B", "N", "u*A1 - u*A3")
    with pytest.raises(ModelError, match="contradicts"):
        d.set_angular_velocity("N", "A", "-u*A3")
    d.set_angular_velocity("N", "A", "u*A3")


def test_acceleration_that_is_no_derivative_is_refused():
    d = turning_frame()
    d.rotate("N", "A", 3, "q"), d.set_rate("q", "u"), d.set_angular_velocity("A", "N", "u*A3")
    with pytest.raises(
        ModelError, match="is not the derivative of its angular velocity, which is u'"
    ):
        d.set_angular_acceleration("A", "N", "2*u'*A3")
    (P,) = d.points("P")
    d.set_velocity(P, "N", "u*A1")
    with pytest.raises(ModelError, match="is not the derivative of its velocity"):
        d.set_acceleration(P, "N", "u'*A1")
    d.set_acceleration(P, "N", "u'*A1 + u**2*A2")


def test_auxiliary_speeds_do_not_contradict():
    d = turning_frame()
    d.auxiliary("u9", "torque"), d.rotate("N", "A", 3, "q"), d.set_rate("q", "u")
    d.set_angular_velocity("A", "N", "u*A3 + u9*A1")


# ---- linearised equations


def test_linearised_equations_keep_inputs_and_agree_with_the_numerical_ones():
    """m u' = F - k q became m u' = -k q."""
    d = Derivation("mass")
    q, u, F, k = *d.coordinates("q"), *d.speeds("u"), *d.inputs("F"), *d.constants("k")
    P, N = d.particle("P"), d.newtonian
    d.set_rate(q, u)
    d.set_velocity(P, N, u * N[1])
    d.force(P, (F * (1 + q) - k * q) * N[1])
    d.set_defaults(k=2, mP=4)
    d.set_run(inputs={"F": 0.5})
    linear = d.linearize(at={"F": "0.5"})
    assert str(linear) == "mP*u' = F + q*(0.5 - k)\nq' = u"
    assert linear.inputs == (F,)
    assert (linear.B, linear.E) == ([[ONE]], [[ZERO]])
    found = d.equations().compile(backend="python").linearize("start", outputs=["q"])
    known = {"mP": 4.0, "k": 2.0}
    K, C, B = (np.array(evaluate([x[0][0]], known)) / 4 for x in (linear.K, linear.C, linear.B))
    assert pytest.approx(np.array([[0, 1], [K[0], C[0]]])) == found.A
    assert pytest.approx(np.array([[0], [B[0]]])) == found.B
    assert (
        str(d.linearize(at={"q": "0.1"}, wrt=["k"])).splitlines()[0]
        == "mP*u' = -(delta_k/10 + k*q)"
    )
    with pytest.raises(ModelError, match=r"neither an input nor a constant\. There are F, k, mP"):
        d.linearize(wrt=["q"])


# ---- configuration constraints


def two_masses():
    d = Derivation("two masses")
    (q1, q2), (u1, u2), (k,) = d.coordinates("q1 q2"), d.speeds("u1 u2"), d.constants("k")
    P, Q, N = d.particle("P"), d.particle("Q"), d.newtonian
    d.set_rate(q1, u1), d.set_rate(q2, u2)
    d.set_velocity(P, N, u1 * N[1]), d.set_velocity(Q, N, u2 * N[1])
    d.force(P, -k * q1 * N[1])
    d.set_defaults(k=2, mP=1, mQ=3)
    return d


@pytest.mark.parametrize("backend", ["c", "python"])
def test_configuration_constraint_holds(backend):
    """d.constrain("q1 - q2") answered that it contradicts earlier constraints."""
    d = two_masses()
    assert str(d.constrain("q1 - q2")) == "u1 - u2"
    sim = d.equations().compile(backend=backend)
    run = sim.simulate(t_end=2, step=0.01, initial={"q1": 1.0, "q2": 1.0})
    assert run["q1"] == pytest.approx(np.cos(math.sqrt(0.5) * run.time), abs=1e-8)
    assert np.abs(run["q1"] - run["q2"]).max() < 1e-12
    assert bc.check(d, states=2, backend="python").passed


def test_constraints_that_contradict_or_repeat_are_told():
    d = two_masses()
    d.constrain("q1 - q2"), d.constrain("q1 - q2 - 1")
    with pytest.raises(ModelError, match=r"'-?\(?.*q.* = 0' contradicts"):
        d.equations()
    d = two_masses()
    d.constrain("q1 - q2"), d.constrain("2*q2 - 2*q1")
    assert "is satisfied already and was ignored" in d.equations().notes[0]
    d = two_masses()
    d.constrain("q1 - q2"), d.constrain("q1 + q2")
    with pytest.raises(ModelError, match="0 degrees of freedom"):
        d.equations()
    with pytest.raises(ModelError, match="holds positions; it makes no speed dependent"):
        d.constrain("q1 - 2*q2", dependent="u1")
    with pytest.raises(ModelError, match="linearise them in numbers"):
        d.linearize()


def four_bar():
    """Crank A, coupler B and rocker C, all angles absolute; the ends of B and C meet."""
    d = Derivation("four bar")
    N, bodies = d.newtonian, [d.body(x) for x in "ABC"]
    A, B, C = bodies
    angles, speeds = d.coordinates("qa qb qc"), d.speeds("ua ub uc")
    la, lb, lc, l0, g = d.constants("la lb lc l0 g")
    for body, q, u in zip(bodies, angles, speeds, strict=True):
        d.rotate(N, body, 3, q), d.set_rate(q, u)
    O, P, Q, R, S = d.points("O P Q R S")
    d.set_velocity(O, N, 0), d.set_velocity(R, N, 0), d.set_position(O, R, l0 * N[1])
    for body, p, q, length in ((A, O, P, la), (B, P, Q, lb), (C, R, S, lc)):
        d.set_position(p, body.cm, length / 2 * body[1]), d.set_position(p, q, length * body[1])
        d.v2pts(N, body, p, body.cm), d.v2pts(N, body, p, q)
    d.gravity(-g * N[2])
    gap = d.position(O, Q) - d.position(O, S)
    d.constrain(d.dot(gap, N[1])), d.constrain(d.dot(gap, N[2]))
    inertias = {f"I{x}{i}": 0.1 for x in "ABC" for i in (1, 2, 3)}
    d.set_defaults(la=0.4, lb=1.1, lc=0.8, l0=1.0, g=9.81, mA=1, mB=2, mC=1.5, **inertias)
    d.set_run(initial={"qa": 0.5, "qb": 0.521341945343874, "qc": 1.179783764470171, "ua": 3})
    return d


def described_four_bar():
    s = bc.System("four bar", units="mks")
    inertia = (0.1, 0.1, 0.1)
    a = s.add_body("a", rotate=3, mass=1, cm=(0.2, 0, 0), inertia=inertia)
    b = s.add_body(
        "b", parent=a, rotate=3, joint_at=(0.4, 0, 0), mass=2, cm=(0.55, 0, 0), inertia=inertia
    )
    c = s.add_body("c", rotate=3, joint_at=(1.0, 0, 0), mass=1.5, cm=(0.4, 0, 0), inertia=inertia)
    s.add_gravity(direction="-[n2]", g=9.81)
    ends = s.add_point("p", body=b, at=(1.1, 0, 0)), s.add_point("r", body=c, at=(0.8, 0, 0))
    s.add_loop_joint("loop", between=ends, directions=(s.inertial[1], s.inertial[2]))
    s.set_run(
        initial={"q(a)": 0.5, "q(b)": 0.021341945343874, "q(c)": 1.179783764470171, "u(a)": 3}
    )
    return s


def test_four_bar_by_hand_is_the_described_one():
    d, s = four_bar(), described_four_bar()
    ours, theirs = (
        x.equations().compile(backend="python").simulate(t_end=0.4, step=0.005) for x in (d, s)
    )
    assert ours["qa"] == pytest.approx(theirs["q(a)"], abs=1e-7)
    assert ours["qc"] == pytest.approx(theirs["q(c)"], abs=1e-7)
    report = bc.check(d, states=3, backend="python")
    assert report.passed, str(report)
