"""Dry friction written as the sign of a speed is reported by name; smooth laws and other choices
are not."""

import warnings

import numpy as np
import pytest

import bellcrank as bc

JUMPS = [
    "-2*sign(v)",
    "-f*where(v > 0, 1, -1)",
    "-2*sign(v) - 5*v",
    "-2*sign(v + 3e-7)",
    "-f*abs(v)/v",
    "-f*sign(v - v_belt)",
    "-f*u(b,1)/sqrt(u(b,1)**2 + u(b,2)**2)",
    "-f*((v > 0) - (v < 0))",
    "-sqrt(v**2)/v",
    "-f*sign(v)*exp(-abs(v)/v_s)",
    "-f*sign(2*v + 0.5*u(b,2))*(1 + x**2)",
    "-curve(x)*sign(v)",
    "-where(x > 1.2, f, 0)*sign(v)",
    "-f*floor(v)",
]
SMOOTH = [
    "-f*where(abs(v) < 0.1, v/0.1, sign(v))",
    "-f*min(max(v/0.001, -1), 1)",
    "-sign(v)*v**2",
    "-where(v > 0, 3, 9)*v",
    "-2*tanh(v/1e-6)",
    "-c*abs(v)*v",
    "-v/sqrt(v**2 + 0.0001)",
    "-where(x > 1, 1, 0)*k",
    "-where(t > 1, 1, 0)*f",
    "-sign(x)*f - c*v",
    "-curve(v)",
    "-1/(2 + v)",
    "-where(t > 2, sign(v)*c*v, c*v)",
    "-where(on > 0, f, 0)",
]


def sliding(magnitude):
    s = bc.System("sliding", units="mks")
    body = s.add_point_mass("b", translate=(1, 2), mass=1)
    s.define("curve", bc.table([-1, 0, 1], [-1, 0.5, 1]))
    s.add_force("rub", magnitude=magnitude, direction=s.inertial[1], at=body.origin)
    return s


@pytest.mark.parametrize("law", JUMPS)
def test_jumps_with_a_speed_are_reported(law):
    with pytest.warns(
        bc.ModelWarning, match=r"model 'sliding': the force 'rub' jumps where u\(b, 1\) passes"
    ):
        eom = sliding(law).equations()
    assert "the force 'rub' jumps" in eom.notes[-1] and "docs/running.md" in eom.notes[-1]


@pytest.mark.parametrize("law", SMOOTH)
def test_smooth_laws_are_not(law):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*jumps where")
        assert sliding(law).equations().notes == []


def test_moments_and_struts_are_looked_at_and_routines_are_not_called():
    s = bc.System("rods", units="mks")
    a = s.add_body("a", rotate=3, mass=1, inertia=(1, 1, 1), cm=(1, 0, 0))
    b = s.add_body(
        "b", parent=a, rotate=3, joint_at=(2, 0, 0), mass=1, inertia=(1, 1, 1), cm=(1, 0, 0)
    )
    s.add_external("load", arguments=("t",), python=lambda t: 1 / 0)
    s.add_moment("hinge", magnitude="-load(t)*sign(u(b))", direction=b[3], on=b, against=a)
    s.add_strut("rod", magnitude="-f*sign(v)", between=(b.cm, s.inertial.origin))
    with pytest.warns(bc.ModelWarning) as told:
        s.equations()
    assert sorted(str(w.message).split("'")[3] for w in told) == ["hinge", "rod"]


def test_the_laws_that_the_docs_give_instead():
    """A block that is pulled: held below the limit of 5 N and accelerated above it."""
    for pull, expected in ((3.0, 0.0), (7.0, 0.5 * (7.0 - 5.0))):
        s = bc.System("block", units="mks")
        block = s.add_body("block", translate=1, mass=1)
        s.define("z_rate", "u(block) - abs(u(block))*k*z/f")
        s.add_state("z", rate="z_rate", units="L", label="elastic part of the friction")
        s.add_force(
            "friction", magnitude="-k*z - d*z_rate", direction=s.inertial[1], at=block.origin
        )
        s.add_force("pull", magnitude="pull", direction=s.inertial[1], at=block.origin)
        s.set_defaults(f=5, k=1e4, d=100, pull=pull)
        run = s.equations().compile(backend="python").simulate(t_end=1, step=1e-3)
        assert run["q(block)"][-1] == pytest.approx(expected, abs=0.03 * expected + 1e-3)
        assert np.abs(run["z"]).max() < 5.0 / 1e4 * 1.5
