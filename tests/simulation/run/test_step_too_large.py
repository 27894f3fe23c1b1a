"""Steps past the stability limit of a method are reported; motions that grow by themselves are
not."""

import math
import warnings

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler

LIMITS = {
    "rk4": (2.7852936, math.sqrt(8)),
    "rk2": (2.0, None),
    "euler": (2.0, 2.0),
}  # of h times a real, an imaginary eigenvalue


def mass(k=0.0, c=0.0):
    s = bc.System("mass", axes="ISO 8855")
    body = s.add_point_mass("b", translate=3, mass=1)
    s.add_force("soft", magnitude="-10*x", direction=s.inertial[3], at=body.origin)
    s.add_force("stiff", magnitude=f"-{k}*x - {c}*v", direction=s.inertial[3], at=body.origin)
    return s.equations().compile(backend="python")


def told(sim, **options):
    """What is said about the step."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run = sim.simulate(**options)
    said = [str(w.message) for w in found] + [run.ended]
    return next((x for x in said if "is too large for" in x), ""), run


@pytest.mark.parametrize(
    ("method", "kind"),
    [("rk4", "damper"), ("rk4", "spring"), ("rk2", "damper"), ("euler", "spring")],
)
def test_alarm_is_raised_beyond_the_stability_limit_and_not_below(method, kind):
    """Limits on the real and the imaginary axis: Hairer & Wanner (1996), section IV.2;
    semi-implicit Euler: h w = 2."""
    sim = mass(c=500.0) if kind == "damper" else mass(k=500.0**2)
    limit = LIMITS[method][kind == "spring"] / 500
    start = {"q(b)": 0.01, "u(b)": 0.1}
    said, _ = told(sim, t_end=0.5, step=0.97 * limit, method=method, initial=start)
    assert said == ""
    said, run = told(sim, t_end=0.5, step=1.05 * limit, method=method, initial=start)
    assert f"too large for {method}" in said and "likely the force 'stiff'" in said
    stable = float(said.split("a step of ")[1].split()[0])
    assert 0.8 * limit < stable < 1.01 * limit
    assert told(sim, t_end=0.5, step=0.99 * stable, method=method, initial=start)[0] == ""
    if run.ended == "finished":
        assert np.abs(run["q(b)"]).max() > 10 * 0.01  # it has really grown


def test_broken_run_says_which_step_would_do():
    said, run = told(mass(c=1e5), t_end=1, step=0.01, initial={"u(b)": 1})
    assert run.ended.startswith("stopped at t = ") and said == run.ended
    assert (
        "eigenvalue -1e+05 1/s" in said and "a step of 2.5e-05 s is stable" in said
    ) or "2.6e-05" in said


@needs_compiler
def test_stiff_tyre_of_a_vehicle_is_named():
    sim = bc.vehicles.motorcycle(k=(1e6, 1000.0), c=(0.0, 50.0)).equations().compile()
    said, _ = told(sim, t_end=1, step=0.003)
    assert "tyre" in said.split("likely the force ")[1]
    stable = float(said.split("a step of ")[1].split()[0])
    assert stable == pytest.approx(math.sqrt(8) / 1000, rel=0.12)  # sqrt(k/m) of a rim on its tyre
    assert told(sim, t_end=1, step=0.001)[0] == ""


def inverted_pendulum():
    s = bc.System("inverted pendulum", units="mks")
    s.add_body("rod", rotate=3, cm=(0, 1, 0), mass=2, inertia=(0.1, 0.1, 0.1))
    s.add_gravity(direction=(0, -1, 0))
    return s, {"q(rod)": 1e-3}


def falling_body():
    s = bc.System("falling body", axes="ISO 8855")
    s.add_point_mass("b", translate=(1, 3), mass=2)
    s.add_gravity()
    return s, {"q(b, 1)": 1}


def pushed_away():
    """A spring that pushes ever harder: x'' = 100 x."""
    s = bc.System("repelled", axes="ISO 8855")
    body = s.add_point_mass("b", translate=3, mass=1)
    s.add_force("push", magnitude="100*x", direction=s.inertial[3], at=body.origin)
    return s, {"q(b)": 1e-6}


@pytest.mark.parametrize("make", [inverted_pendulum, falling_body, pushed_away])
@pytest.mark.parametrize("method", ["rk4", "rk2", "euler"])
def test_motions_that_grow_by_themselves_raise_no_alarm(make, method):
    s, start = make()
    said, run = told(
        s.equations().compile(backend="python"), t_end=2, step=0.01, method=method, initial=start
    )
    assert run.ended == "finished" and said == ""
    (channel, first), *_ = start.items()
    assert abs(run[channel][-1]) > 1.5 * abs(first) or run["q(b, 2)"][-1] < -10  # it does move away
