"""A step of a closed loop in which a force or a user function breaks down ends the run, and reports
it."""

import math

import numpy as np
import pytest

import bellcrank as bc
from tests.models import able


def slider_crank(magnitude):
    s = bc.System("slider-crank", units="mks", axes="ISO 8855")
    crank = s.add_body("crank", rotate=3, cm=(0.1, 0, 0), mass=1, inertia=(0.01, 0.01, 0.01))
    rod = s.add_body(
        "rod",
        parent=crank,
        rotate=3,
        joint_at=(0.2, 0, 0),
        cm=(0.3, 0, 0),
        mass=1,
        inertia=(0.01, 0.02, 0.02),
    )
    slider = s.add_body("slider", translate=1, mass=1, inertia=0)
    end = s.add_point("end", body=rod, at=(0.6, 0, 0))
    s.add_loop_joint(
        "loop", between=(end, slider.origin), directions=(s.inertial[1], s.inertial[2])
    )
    s.add_input("w", units="1")
    s.add_moment("drive", magnitude=magnitude, direction=s.inertial[3], on=crank)
    s.set_run(
        t_end=0.5,
        step=0.01,
        initial={"q(crank)": 0.5, "q(rod)": -0.7, "q(slider)": 0.7},
        inputs={"w": 0},
    )
    return s


@pytest.mark.filterwarnings("ignore:the initial values contradict")
@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("method", ["rk4", "rk2", "tsit5"])
def test_a_force_that_is_not_a_number(backend, method):
    """It is defined for the first 0.2 s: what was computed until then is kept."""
    s = slider_crank("0.1*sqrt(0.2004 - t)")
    run = s.equations().compile(backend=able(backend, method)).simulate(method=method)
    assert not run.ended.startswith("finished")
    assert 0.15 < run.time[-1] < 0.2005
    assert all(
        np.isfinite(run[name]).all() for name in ("q(crank)", "q(rod)", "q(slider)", "u(crank)")
    )


@pytest.mark.filterwarnings("ignore:the initial values contradict")
@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("bad", ["nan", "raise"])
def test_an_input_that_fails(backend, bad):
    def w(t):
        if t > 0.2004:
            if bad == "raise":
                raise ValueError("no signal")
            return math.nan
        return 1.0

    s = slider_crank("0.1*w")
    sim = s.equations().compile(backend=backend)
    with pytest.raises(bc.RunError, match=r"input 'w'.*0\.2"):
        sim.simulate(inputs={"w": w})
