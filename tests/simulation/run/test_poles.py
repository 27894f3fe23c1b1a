"""Runs warn where a speed that was eliminated by force cannot be found."""

import warnings

import numpy as np
import pytest

import bellcrank as bc


def forced():
    s = bc.System("skate", units="mks")
    x = s.add_body("x", translate=1, mass=0, inertia=0)
    y = s.add_body("y", parent=x, translate=2, mass=2, inertia=0)
    s.add_body("s", parent=y, rotate=3, mass=0, inertia=(0.5, 0.5, 0.5))
    s.add_constraint("dot(vel(s.origin), [s2])", label="blade")
    s.add_force("pull", magnitude=8, direction="[n1]", at="s.origin")
    s.set_run(initial={"u(s)": 1.0})
    return s.equations(constraints="eliminate", optimise="none").compile(backend="python")


@pytest.mark.parametrize("step", [0.01, np.pi / 200])
def test_a_pole_that_is_passed_is_reported(step):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        forced().simulate(t_end=2, step=step)
    (found,) = [str(x.message) for x in told if "'blade'" in str(x.message)]
    assert (
        "u(y) follows from the constraint 'blade' by division by cos(q(s)), which is near "
        "zero at t = 1.5" in found
    )


def test_a_run_away_from_poles_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forced().simulate(t_end=1, step=0.01)
