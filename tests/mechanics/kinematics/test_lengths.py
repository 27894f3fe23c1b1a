"""Lengths and directions are made of components: they hold for gaps that are tiny next to the
bodies."""

import numpy as np
import pytest

import bellcrank as bc
from tests.models import able, needs_compiler

LENGTH = float(np.hypot(0.8, 0.1))
MEETS = float(np.arctan2(-0.1, 0.8))


def arms(strut=True, tilt=False):
    """Two arms whose ends meet at q(a) = 0, q(b) = MEETS; with a tilt they swing about skew
    axes."""
    s = bc.System("two arms", units="mks")
    axis = (0.6, 0.0, 0.8) if tilt else 3
    a = s.add_body("a", rotate=3, cm=(0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    b = s.add_body(
        "b", rotate=3, joint_at=(0.2, 0.1, 0), cm=(0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1)
    )
    c = s.add_body("c", b, rotate=axis, joint_at=("lq", 0, 0), mass=0.1, inertia=(0.01, 0.01, 0.01))
    p, q = s.add_point("p", body=a, at=(1, 0, 0)), s.add_point("q", body=c, at=(0, 0, 0))
    s.add_output("gap", "magnitude(pos(p, q))")
    s.add_output("along", "dot(direction(pos(p, q)), [n1])")
    for i in (1, 2, 3):
        s.add_output(f"g{i}", f"dot(pos(p, q), [n{i}])")
        s.add_output(f"w{i}", f"dot(vel(p, q), [n{i}])")
    if strut:
        s.add_strut("st", magnitude="-k*x - c*v", between=(p, q))
    else:
        for i in (1, 2, 3):
            s.add_force(f"f{i}", magnitude="-k*x - c*v", direction=s.inertial[i], at=p, against=q)
    s.add_outputs("forces")
    s.set_defaults(lq=LENGTH, k=1e6, c=2e3)
    return s


@pytest.fixture(scope="module")
def compiled():
    return {
        (strut, tilt): arms(strut, tilt).equations().compile(backend="python")
        for strut in (True, False)
        for tilt in (False, True)
    }


@pytest.mark.parametrize("tilt", [False, True])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-13])
def test_length_rate_and_force_of_a_tiny_gap(compiled, gap, tilt):
    sim = compiled[True, tilt]
    q, u = [0.0, MEETS + gap, 0.4], [0.7, -0.2, 0.5]
    out = sim.outputs(0.0, q, u)
    g, w = (np.array([out[f"{x}{i}"] for i in (1, 2, 3)]) for x in "gw")
    length = np.linalg.norm(g)
    assert length == pytest.approx(LENGTH * 2 * np.sin(gap / 2), abs=3e-16)
    assert out["gap"] == pytest.approx(length, rel=1e-12)
    assert out["along"] == pytest.approx(g[0] / length, rel=1e-12)
    assert out["st"] == pytest.approx(-1e6 * length - 2e3 * (g @ w) / length, rel=1e-11)
    at_rest = [compiled[strut, tilt].derivatives(0.0, q, [0.0] * 3)[1] for strut in (True, False)]
    np.testing.assert_allclose(
        *at_rest, rtol=1e-9, atol=1e-9
    )  # moving, a damper along the strut is another one


def test_derivatives_of_a_tiny_length():
    """The gap as a state moves: its derivative with respect to the angle is the arm."""
    sim = arms().equations().compile(backend="python")
    linear = sim.linearize(at={"q(a)": 0.0, "q(b)": MEETS + 1e-7}, outputs=["gap"])
    assert linear.C[0, 1] == pytest.approx(LENGTH, rel=1e-6)


@pytest.mark.parametrize("backend", ["python", "c"])
@pytest.mark.parametrize("method", ["rk4", "auto"])
def test_a_strut_without_length_is_named(backend, method):
    s = bc.System("mass", units="mks")
    b = s.add_body("b", translate=(1, 2, 3), mass=1, inertia=0)
    s.add_strut("tie", magnitude="-k*x - c*v", between=(b.origin, s.inertial.origin))
    s.set_defaults(k=10, c=1)
    run = (
        s.equations()
        .compile(backend=able(backend, method))
        .simulate(t_end=0.1, step=0.01, method=method)
    )
    assert (
        "strut 'tie' has zero length at t = 0 s, so it has no direction: start its ends apart"
        in run.ended
    )


def test_a_strut_costs_no_more_than_the_expanded_square():
    """The square of the distance, a^2 + b^2 - 2 a b cos(..), took 17 additions and 28
    multiplications."""
    s = bc.System("two arms", units="mks")
    a = s.add_body("a", rotate=3, cm=(0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    b = s.add_body(
        "b", rotate=3, joint_at=(0.2, 0.1, 0), cm=(0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1)
    )
    p, q = s.add_point("p", body=a, at=(1, 0, 0)), s.add_point("q", body=b, at=("lq", 0, 0))
    s.add_gravity(direction="-[n2]")
    s.add_strut("st", magnitude="-k*x - c*v", between=(p, q))
    s.set_defaults(lq=1, k=1, c=1)
    count = s.equations().operation_count()["classic"]
    assert (count["add"], count["muldiv"], count["calls"]) == (11, 23, 4)


@pytest.mark.parametrize("backend", ["python", pytest.param("c", marks=needs_compiler)])
def test_derivatives_at_zero_length_name_the_strut(backend):
    s = bc.System("zero", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_strut("st", magnitude="-k*(x - l)", between=(b.origin, s.inertial.origin))
    s.set_defaults(k=1, l=1)
    sim = s.equations().compile(backend=backend)
    with pytest.raises(
        bc.RunError, match="no finite time derivatives at this state: strut 'st' has zero length"
    ):
        sim.derivatives(0.0, [0.0], [0.0])
    assert np.isnan(sim.rhs()(0.0, np.zeros(2))).any()
    assert sim.derivatives(0.0, [0.5], [0.0])[1] == pytest.approx([0.5])
