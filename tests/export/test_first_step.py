"""The step of a written program, from the fastest motion at the start: a round one below 1 over its
rate."""

import math

import pytest

import bellcrank as bc
from bellcrank.export.first_step import _stable_step


@pytest.mark.parametrize(
    ("w", "step"),
    [(10.5, 0.05), (9.5, 0.1), (30.0, 0.02), (19.0, 0.05), (105.0, 0.005), (0.0, math.inf)],
)
def test_step_of_oscillators(w, step):
    """Two, the slower one damped; rates by their slopes about the start, not about zero."""
    s = bc.System("two masses", units="mks")
    n = s.inertial
    for name, formula in (("fast", "-k*(x - 3)**3/3"), ("slow", "-0.01*k*x - 0.001*k*v")):
        body = s.add_body(name, translate=1, mass=1, inertia=0)
        s.add_force(f"spring_{name}", magnitude=formula, direction=n[1], at=body.origin)
    s.set_defaults(k=w * w)
    s.set_run(initial={"q(fast)": 4.0})  # the slope of the spring is k there
    eom = s.equations()
    assert _stable_step(eom.derived, eom.interface) == pytest.approx(step)
