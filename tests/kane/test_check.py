"""The check of hand-led derivations finds every wrong equation of their programs."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.backend.python import PythonModel
from bellcrank.kane import Derivation
from tests.models import rarely
from tests.verify.corruption import places, spoiled


def equations(name):
    return import_module(f"examples.kane_{name}").model().equations()


def wrong_equations(eom):
    """Each equation of the program spoiled in turn, as far as that changes a result on unit Euler parameters."""
    sim = eom.compile(backend="python")
    p = sim.parameter_values()
    for place in places(eom.program):
        made = spoiled(eom, place)
        results = []
        for program in (eom.program, made.program):
            model = PythonModel(program, []).calls()
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
    "name", rarely(["double_pendulum", "rolling_disc", "tumbling_body"], ("rolling_disc", "tumbling_body"))
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
