"""The check of hand-led derivations finds every wrong equation of their programs."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.kane import Derivation
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.verify.hand_derivation_check import (
    HandDerivationSample,
    _HandDerivationCheck,
    _relative_difference,
)
from tests.models import rarely
from tests.verify.corruption import places, spoiled


def equations(name):
    return import_module(f"examples.kane_{name}").model().equations()


def wrong_equations(eom):
    """Each equation of the program spoiled in turn, as far as that changes a result on unit Euler
    parameters."""
    sim = eom.compile(backend="python")
    p = sim.parameter_values()
    for place in places(eom.program):
        made = spoiled(eom, place)
        results = []
        for program in (eom.program, made.program):
            model = PythonModel(program, []).new_calls()
            state = np.random.default_rng(2)
            rows = []
            for _ in range(3):
                q = state.uniform(-1, 1, len(eom.coordinates))
                for four in eom.derivation.euler.values():
                    index = [eom.coordinates.index(e) for e in four]
                    q[index] /= np.linalg.norm(q[index])
                u = state.uniform(-1, 1, len(eom.speeds)).tolist()
                c = model.constants(p)
                at = (0.3, q.tolist(), u, p, c, [])
                qdot, udot = model.derivatives(*at)
                rows += [*qdot, *udot, *model.outputs(*at)]
            results.append(np.array(rows))
        if np.abs(results[0] - results[1]).max() > 1e-7:
            yield place, made


@pytest.mark.parametrize(
    "name",
    rarely(["double_pendulum", "rolling_disc", "tumbling_body"], ("rolling_disc", "tumbling_body")),
)
def test_every_wrong_equation_is_found(name):
    eom = equations(name)
    listed = list(wrong_equations(eom))
    assert len(listed) >= len(eom.coordinates) + len(eom.speeds) + len(eom.outputs)
    missed = [place for place, made in listed if bc.check(made, states=1, backend="python").passed]
    assert missed == []


def test_the_right_equations_pass_and_the_limit_is_far_above_their_errors():
    report = bc.check(equations("rolling_disc"), states=5, backend="python")
    assert report.passed
    worst = max(line.value for line in report.lines if line.limit is not None)
    assert worst < 1e-3 * next(line.limit for line in report.lines if line.limit is not None)
    assert replace(report.lines[0], value=np.nan).passed is False


def test_the_inertial_frame_may_hang_below_a_body():
    """The orientation of N in A is given instead of that of A in N."""
    d = Derivation("pendulum")
    N, A = d.newtonian, d.body("A")
    (q,), (u,) = d.coordinates("q"), d.speeds("u")
    length, g = d.constants("l g")
    d.rotate(A, N, 3, -q)
    d.set_rate(q, u)
    (pivot,) = d.points("P")
    d.set_position(pivot, A.cm, length * A[1])
    d.set_velocity(pivot, N, 0)
    d.v2pts(N, A, pivot, A.cm)
    d.gravity(g * N[1])
    assert bc.check(d, states=2, backend="python").passed


M, L, I, G, W = 2.0, 0.5, 0.3, 10.0, 0.8  # mass, arm, inertia, gravity, damping


def test_errors_are_shares_of_terms():
    """A pendulum with a damper by hand; rates are wrong by a little, and the errors can be written
    down."""
    d = Derivation("pendulum")
    n, a = d.newtonian, d.body("A")
    (phi,), (u1,) = d.coordinates("phi"), d.speeds("u1")
    la, g, w = d.constants("la g w")
    d.rotate(n, a, 3, phi)
    d.set_rate(phi, u1)
    (o,) = d.points("O")
    d.set_position(o, a.cm, la * a[1])
    d.set_velocity(o, n, 0)
    d.v2pts(n, a, o, a.cm)
    d.gravity(g * n[1])
    d.torque(a, -w * u1 * n[3])
    d.output("sum", phi + 2 * u1)
    d.set_defaults(la=L, g=G, w=W, mA=M, IA1=0.1, IA2=0.2, IA3=I)
    subject = _HandDerivationCheck(d.equations(), {"LA": L}, 0, "python")
    assert subject.constants == {"mA": M, "IA1": 0.1, "IA2": 0.2, "IA3": I, "la": L, "g": G, "w": W}
    assert subject.notes == []
    q, u = 0.7, 1.5
    total = M * L**2 + I
    right = (-M * G * L * np.sin(q) - W * u) / total
    sample = HandDerivationSample(
        0.3, np.array([q]), np.array([u]), np.array([u]), np.array([right]), {"sum": q + 2 * u}, {}
    )
    assert max(dict(subject.errors(sample)).values()) < 1e-10, dict(subject.errors(sample))

    off = 0.01
    wrong = dict(subject.errors(replace(sample, udot=np.array([right + off]))))
    force = M * L * np.hypot(right + off, u**2)
    size = max(L * M * G, W * u, L * force, I * abs(right + off), I * u * u)
    assert wrong["Kane's equations hold"] == pytest.approx(total * off / size, rel=1e-8)
    powers = [-M * G * L * np.sin(q) * u, -W * u * u]
    size = max(abs(total * u * (right + off)), *map(abs, powers), total * u * u / 2)
    assert wrong["kinetic energy changes by the power"] == pytest.approx(
        total * u * off / size, rel=1e-8
    )
    assert wrong["accelerations are rates of velocities"] < 1e-10

    moved = dict(subject.errors(replace(sample, qdot=np.array([u + off]), channels={"sum": 4.0})))
    for name in (
        "rates of coordinates",
        "angular velocities turn the frames",
        "velocities move the mass centres",
    ):
        assert moved[name] == pytest.approx(off / (u + off), rel=1e-8), name
    assert moved["channels"] == pytest.approx(0.3 / 4.0)
    assert _relative_difference(np.array([1e-4, 0.0]), np.zeros(2)) == pytest.approx(0.1)


def test_states_of_a_derivation_lie_on_its_constraints():
    """Euler parameters of unit size, configuration constraints closed, speeds along them, and all
    within their reach."""
    eom = equations("tumbling_body")
    subject = _HandDerivationCheck(eom, {}, 0, "python")
    samples = list(subject.samples(20))
    place = {s: i for i, s in enumerate(eom.coordinates)}
    for s in samples:
        for four in eom.derivation.euler.values():
            assert np.linalg.norm(s.q[[place[e] for e in four]]) == pytest.approx(1)
    u = np.array([s.u for s in samples])
    assert abs(u).max() <= 1 and (u.min(axis=0) < -0.3).all() and (u.max(axis=0) > 0.3).all()
    assert min(s.t for s in samples) >= 0 and 0.5 < max(s.t for s in samples) <= 1
