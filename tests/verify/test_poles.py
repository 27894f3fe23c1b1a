"""The check fails where dependent speeds have poles, and looks at states where pivots vanish."""

import pytest

import bellcrank as bc
from bellcrank.kane import Derivation
from bellcrank.verify.divisor_zeros import NAME

CAMPAIGN = pytest.mark.campaign


def skate(constraint="dot(vel(s.origin), [s2])"):
    s = bc.System("skate", units="mks")
    x = s.add_body("x", translate=1, mass=0, inertia=0)
    y = s.add_body("y", parent=x, translate=2, mass=2, inertia=0)
    s.add_body("s", parent=y, rotate=3, mass=0, inertia=(0.5, 0.5, 0.5))
    s.add_constraint(constraint, label="blade")
    s.add_force("pull", magnitude=8, direction="[n1]", at="s.origin")
    return s


def failed(report):
    return [line.name for line in report.lines if not line.passed]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=CAMPAIGN) for seed in range(1, 10))]
)
def test_forced_elimination_fails(seed):
    s = skate()
    eom = s.equations(constraints="eliminate", optimise="none")
    report = bc.check(s, states=1, seed=seed, equations=eom, backend="python", run=False)
    assert failed(report) == [NAME]
    assert "cos(q(s))" in next(line.note for line in report.lines if line.name == NAME)


@pytest.mark.parametrize(
    "pole",
    [
        "u(y) - tan(q(s))*u(x)",
        *(
            pytest.param(x, marks=CAMPAIGN)
            for x in ("u(y) - u(x)*sin(q(s))/cos(q(s))", "u(y) - u(x)/(q(s) - 0.5)")
        ),
    ],
)
def test_hand_made_pole_fails(pole):
    assert failed(bc.check(skate(pole), states=1, backend="python", run=False)) == [NAME]


def test_states_at_zeros_of_pivots_are_looked_at():
    s = skate()
    report = bc.check(
        s, states=1, equations=s.equations(optimise="none"), backend="python", run=False
    )
    assert report.passed
    assert "more where a pivot of speed constraints vanishes" in str(report)


def by_hand(dependent=None):
    d = Derivation("skate")
    x, y, heading = d.coordinates("x y heading")
    for q, u in zip((x, y, heading), d.speeds("u1 u2 u3"), strict=True):
        d.set_rate(q, u)
    A = d.body("A")
    d.rotate("N", A, 3, heading)
    d.set_velocity(A.cm, "N", "u1*N1 + u2*N2")
    d.constrain(d.dot(d.velocity(A.cm, "N"), A[2]), dependent)
    d.force(A.cm, "mA*4*N1")
    d.set_defaults(mA=2.0, IA1=0.5, IA2=0.5, IA3=0.5)
    d.set_run(initial={"u3": 1.3})
    return d


def test_derivations_by_hand():
    assert bc.check(by_hand(), states=1, backend="python").passed
    assert failed(bc.check(by_hand("u2"), states=1, backend="python")) == [NAME]
