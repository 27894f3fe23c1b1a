"""Definitions inside magnitudes: names of distance and speed are those of the force, all others are
the same."""

import pytest

import bellcrank as bc
from bellcrank.model.scope import FormulaScope


def two_masses(magnitude: str = "-k*squeeze - pull") -> bc.System:
    s = bc.System("two masses", units="mks")
    for name, formula in {
        "stretch": "far - near",
        "squeeze": "2*stretch",
        "pull": "k*q(a) + f0",
    }.items():
        s.define(name, formula)
    names = ("far", "near", "rate")
    for name, at in (("a", 0), ("b", 1)):
        body = s.add_body(name, translate=1, joint_at=(at, 0, 0), mass=1)
        s.add_force(
            f"spring_{name}",
            magnitude=magnitude,
            direction=s.inertial[1],
            at=body.cm,
            dummies=names,
        )
    s.add_output("seen", "squeeze")
    s.set_defaults(k=3.0, f0=0.5, far=7.0, near=9.0)  # of their own outside of forces
    return s


@pytest.mark.parametrize(
    "magnitude", ["-k*squeeze - pull", "k*segment - k*(segment + squeeze) - pull"]
)
def test_definitions_follow_the_force_that_holds_them(magnitude: str) -> None:
    """Also where the names come in by a definition that has been read before."""
    sim = two_masses(magnitude).equations().compile(backend="python")
    rates = sim.rhs()(0.0, [0.1, -0.2, 0.0, 0.0])
    assert rates[2:] == pytest.approx([-3 * 2 * 0.1 - 0.8, 3 * 2 * 0.2 - 0.8], abs=1e-12)
    assert sim.simulate(t_end=0.1, step=0.1)["seen"][0] == pytest.approx(2 * (7 - 9))


def test_a_definition_without_them_is_read_once_for_all_forces(monkeypatch) -> None:
    read: list[str] = []
    value = FormulaScope.evaluate
    monkeypatch.setattr(
        FormulaScope, "evaluate", lambda self, node: read.append(node.source) or value(self, node)
    )
    two_masses().equations()
    assert read.count("k*q(a) + f0") == 1
