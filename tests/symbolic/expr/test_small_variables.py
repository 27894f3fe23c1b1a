"""Small variables whose leading terms cancel: x - x0 of a strut is truncated after it is formed."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanics.derive import pipeline, small_terms
from bellcrank.mechanics.derive.small_terms import _sample_value
from bellcrank.symbolic.expr import Symbol


def lever():
    s = bc.System("lever and spring", units="mks")
    b = s.add_body(
        "b", rotate=3, mass=1, cm=(0.2, 0.1, 0), inertia=(0.3, 0.3, 0.4), small_angles=True
    )
    ends = s.add_point("p", body=b, at=(0.3, 0.2, 0)), s.add_point("r", at=(1.1, 0.7, 0))
    s.add_strut("f", magnitude="-k*(x - x0)", between=ends)
    s.set_defaults(k=10)
    return s


def test_terms_of_second_order_are_kept_where_those_of_order_zero_cancel():
    s = lever()
    full, cut = (s.equations(small=small).compile(backend="python") for small in (False, True))
    errors = []
    for e in (1e-2, 1e-3):
        a, c = (float(m.derivatives(0.0, [e], [0.0])[1][0]) for m in (full, cut))
        errors.append(abs(c / a - 1))
    assert errors[1] < errors[0] / 50 < 1e-6
    assert "leading ones cancel" in s.equations().notes[0]


def test_check_tells_what_a_derivation_without_them_would_lack(monkeypatch):
    assert bc.check(lever(), states=3, run=False, backend="python").passed
    monkeypatch.setattr(pipeline, "lacks_terms", lambda *_: False)
    report = bc.check(lever(), states=3, run=False, backend="python")
    assert [line.name for line in report.lines if not line.passed] == [
        "order of the truncation error"
    ]


def test_outputs_whose_leading_terms_cancel():
    s = bc.System("tilt", units="mks")
    s.add_body("b", rotate=3, mass=1, cm=(0.2, 0, 0), inertia=(1, 1, 1), small_angles=True)
    s.add_gravity(direction=s.inertial[1])
    s.add_output("versine", "1 - cos(q(b))")
    s.add_output("root", "sqrt(p**2 + q(b)) - p")
    s.set_defaults(p=1)
    found = s.equations().compile(backend="python").outputs(0.0, [1e-3], [0.0])
    assert found["versine"] == pytest.approx(5e-7, rel=1e-5)
    assert found["root"] == pytest.approx(5e-4 - 1.25e-7, rel=1e-6)


def test_what_does_not_cancel_keeps_its_few_terms():
    s = bc.System("plain", units="mks")
    s.add_body("b", rotate=3, mass=1, cm=(0.2, 0, 0), inertia=(1, 1, 1), small_angles=True)
    s.add_gravity(direction=s.inertial[1])
    assert s.equations().notes == []


def machine(seed):
    """Some bodies with small motions, struts and springs with any formula."""
    r = random.Random(seed)
    s = bc.System(f"machine {seed}", units="mks")
    values = {"k": 10.0, "k2": 3.0, "k3": 2.0, "c": 1.0, "f0": 3.0}
    formulas = {
        "-k*(x - x0)": "k",
        "-k*(x - x0) - c*v": "k c",
        "-k2*(x**2 - x0**2)": "k2",
        "-k3*(x - x0)**3 - k*(x - x0)": "k k3",
        "f0 - k*(x - x0)": "f0 k",
        "f0*(1 - x/x0)": "f0",
    }

    def at():
        return tuple(round(r.uniform(-1, 1), 2) for _ in range(3))

    bodies, used = [], set()
    for i in range(r.choice((1, 1, 2, 3))):
        motion = r.choice((
            {"rotate": r.choice((1, 2, 3)), "small_angles": True},
            {"rotate": (1, 2, 3), "small_angles": True},
            {"translate": r.choice((1, 2, 3)), "small_translations": r.random() < 0.7},
            {"translate": (1, 2), "rotate": 3, "small_angles": True, "small_translations": r.random() < 0.5},
        ))  # fmt: skip
        parent = bodies[-1] if bodies and r.random() < 0.7 else None
        inertia = tuple(round(r.uniform(1, 1.5), 2) for _ in range(3))
        bodies.append(
            s.add_body(
                f"b{i}", parent=parent, mass=1.5, cm=at(), inertia=inertia, joint_at=at(), **motion
            )
        )
    for j in range(r.choice((1, 2, 3))):
        ends = s.add_point(f"p{j}", body=r.choice(bodies), at=at()), s.add_point(f"g{j}", at=at())
        formula = r.choice(list(formulas))
        s.add_strut(f"s{j}", magnitude=formula, between=ends)
        used.update(formulas[formula].split())
    if r.random() < 0.4:
        s.add_gravity(direction=s.inertial[3])
    s.add_output("stretch", "magnitude(pos(p0, g0)) - nominal(magnitude(pos(p0, g0)))")
    s.add_output("tilt", f"1 - dot([{bodies[-1].name}1], [n1])")
    s.set_defaults({name: values[name] for name in used})
    return s


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(25))
def test_random_machines_pass_the_check(seed):
    report = bc.check(machine(seed), states=3, run=False, backend="python")
    assert report.passed, str(report)


def test_values_at_which_terms_are_looked_for():
    """Parameters positive, states of either sign, none near zero; small ones by the power of their
    order."""
    parameter, state = Symbol("m"), Symbol("q", "coordinate")
    assert all(0.5 <= _sample_value(parameter, k, {}, 1.0) <= 1.5 for k in range(20))
    found = [_sample_value(state, k, {}, 1.0) for k in range(20)]
    assert all(0.5 <= abs(x) <= 1.5 for x in found) and min(found) < 0 < max(found)
    assert _sample_value(state, 3, {"q": 2}, 0.1) == pytest.approx(0.01 * found[3])


@pytest.mark.parametrize(
    ("rate", "output", "lacks"),
    [
        ((1.0, 2), (1.0, 2), False),  # size and order of the error of one rate, and of one output
        ((1.0, 1), (0.0, 1), True),
        ((0.0, 1), (1.0, 1), True),
        ((1.0, 1.6), (0.0, 1), True),
        ((1.0, 1.8), (0.0, 1), False),
        ((0.0, 1), (1.0, 1.6), True),
        ((1e-10, 1), (1e-9, 1), False),  # rounding says nothing
        ((1e-7, 1), (0.0, 1), True),
    ],
)
def test_errors_that_shrink_too_slowly_are_terms_that_are_lacking(monkeypatch, rate, output, lacks):
    """With threshold 2 they must fall with the square of what is small: rates next to all rates,
    outputs next to themselves."""

    def results(program, orders, size):
        rates, outputs = (
            np.array([[3.0, -400.0], [4.0, 300.0]]),
            np.array([[0.5 * size, 7.0], [-0.5 * size, 7.0]]),
        )
        if program.cut:
            rates[:, 0] += rate[0] * size ** rate[1]
            outputs[:, 0] += size * output[0] * size ** output[1]
        return rates, outputs

    monkeypatch.setattr(small_terms, "_sample_results", results)
    cut, whole = (SimpleNamespace(speeds=[], cut=x) for x in (True, False))
    assert small_terms.lacks_terms(cut, whole, {}, 2) is lacks
    assert not small_terms.lacks_terms(whole, whole, {}, 2)
    other = SimpleNamespace(speeds=[Symbol("u", "speed")], cut=False)
    assert not small_terms.lacks_terms(cut, other, {}, 2)


def test_a_routine_of_the_user_has_a_smooth_stand_in():
    routine = SimpleNamespace(returns=("a", "b"))
    assert small_terms._smooth_substitute(routine)(2.0, 3.0) == pytest.approx(
        [0.4 + 0.6 + 1.5, 0.5 + 0.6 + 1.5]
    )
    assert small_terms._smooth_substitute(SimpleNamespace(returns=()))(1.0) == pytest.approx([0.7])
