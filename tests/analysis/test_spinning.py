"""Steady motions of tops described as one body, and of mechanisms driven at constant speed, against
closed forms."""

import math

import numpy as np
import pytest

import bellcrank as bc

TRANSVERSE, AXIAL, MASS, LENGTH, G = 0.05, 0.02, 1.0, 0.1, 9.81
ABOUT_TIP = TRANSVERSE + MASS * LENGTH**2


def top(rotate, initial, inertia=(TRANSVERSE, TRANSVERSE, AXIAL)):
    s = bc.System("top", units="mks", axes="ISO 8855")
    s.add_body("b", rotate=rotate, mass=MASS, cm=(0, 0, LENGTH), inertia=inertia)
    s.add_gravity()
    s.set_defaults(g=G)
    s.set_run(t_end=1, step=1e-3, initial=initial)
    return s.equations().compile(backend="python")


@pytest.mark.parametrize(
    "turned", [0.7, *(pytest.param(x, marks=pytest.mark.campaign) for x in (0.0, -2.0))]
)
@pytest.mark.parametrize("guess", [30.0, pytest.param(0.5, marks=pytest.mark.campaign)])
def test_steady_precession_of_a_top_with_three_rotations(turned, guess):
    """C n p - A p^2 cos(tilt) = m g l, n the spin about the axis of the top: a slow and a fast
    precession p."""
    tilt, spin = 0.5, 120.0
    p = np.roots([ABOUT_TIP * math.cos(tilt), -AXIAL * spin, MASS * G * LENGTH]).real
    exact = p[np.argmin(np.abs(p - guess))]
    across = 1.1 * exact * math.sin(tilt)
    u = {
        "u(b, 1)": across * math.sin(turned),
        "u(b, 2)": across * math.cos(turned),
        "u(b, 3)": spin,
    }
    sim = top((3, 1, 3), {"q(b, 2)": tilt, "q(b, 3)": turned, **u})
    found = sim.equilibrium(fixed={"u(b, 3)": spin, "q(b, 2)": tilt})
    assert found.steady["q(b, 1)"] == pytest.approx(exact, rel=1e-9)
    assert found.steady["q(b, 3)"] == pytest.approx(spin - exact * math.cos(tilt), rel=1e-9)
    run = sim.simulate(initial=found.initial, t_end=0.1, step=1e-4, output_every=100)
    assert run["q(b, 2)"] == pytest.approx(tilt, abs=1e-9)


@pytest.mark.parametrize(
    "spin", [20.0, 30.0, *(pytest.param(x, marks=pytest.mark.campaign) for x in (10.0, 200.0))]
)
def test_sleeping_top(spin):
    """Upright it is stable above the spin sqrt(4 A m g l)/C; its modes are those of A s^2 - i C n s
    - m g l = 0."""
    found = top((1, 2, 3), {"u(b, 3)": spin, "q(b, 1)": 0.02}).equilibrium()
    assert found.initial == pytest.approx(
        {**dict.fromkeys(found.initial, 0.0), "u(b, 3)": spin}, abs=1e-9
    )
    assert (found.stability == "unstable") == (
        spin < math.sqrt(4 * ABOUT_TIP * MASS * G * LENGTH) / AXIAL
    )
    exact = np.roots([ABOUT_TIP, -1j * AXIAL * spin, -MASS * G * LENGTH])
    for s in (*exact, *exact.conj()):
        assert min(abs(x - s) for x in found.eigenvalues) < 1e-6


def test_a_top_without_symmetry_has_no_steady_precession():
    start = {"q(b, 2)": 0.5, "u(b, 2)": 0.5, "u(b, 3)": 120.0}
    sim = top((3, 1, 3), start, inertia=(0.05, 0.04, 0.02))
    with pytest.raises(bc.NoEquilibrium):
        sim.equilibrium(fixed={"u(b, 3)": 120.0, "q(b, 2)": 0.5})


def hoop(drive):
    """A bead on a hoop that is turned about its vertical diameter."""
    s = bc.System("hoop", units="mks", axes="ISO 8855")
    h = s.add_body("h", rotate=3, mass=0, inertia=(1, 1, 1))
    s.add_body("b", parent=h, rotate=2, mass=1, cm=(0, 0, -1), inertia=0)
    s.add_constraint(drive)
    s.add_gravity()
    s.set_defaults(W=5, g=9.81)
    s.set_run(t_end=1, step=1e-3, initial={"q(b)": 1.1})
    return s.equations().compile(backend="python")


@pytest.mark.parametrize(
    "drive",
    [
        "q(h) - W*t",
        *(
            pytest.param(x, marks=pytest.mark.campaign)
            for x in ("W*t - q(h)", "q(h) - W*t - 0.3", "u(h) - W")
        ),
    ],
)
def test_drives_at_constant_speed_have_steady_motions(drive):
    sim = hoop(drive)
    found = sim.equilibrium()
    assert found["q(b)"] == pytest.approx(math.acos(9.81 / 25), rel=1e-12)
    assert found.steady == pytest.approx({"q(h)": 5.0})
    over = sim.equilibria("W", [4, 5, 6])
    assert over["q(b)"] == pytest.approx(np.arccos(9.81 / over.values**2), rel=1e-12)
    assert not over.folds
    locus = sim.root_locus("W", [4, 6])
    exact = locus.values * np.sin(np.arccos(9.81 / locus.values**2))
    assert np.abs(locus.eigenvalues.imag).max(axis=1) == pytest.approx(exact, rel=1e-9)


def test_a_drive_that_is_not_steady_has_no_steady_motion():
    with pytest.raises(bc.NoEquilibrium, match="has no equilibrium"):
        hoop("q(h) - sin(W*t)").equilibrium()
