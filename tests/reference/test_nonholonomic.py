"""Nonholonomic systems whose coefficients pass zero: closed forms, a description without such
zeros, all ways to run."""

from itertools import pairwise

import numpy as np
import pytest
from nonholonomic import KINDS, system

import bellcrank as bc
from tests.models import able

PULL, SPIN = 4.0, 1.3


def skate(fixed=True):
    """On an incline: its path is a cycloid (Neimark & Fufaev, Dynamics of Nonholonomic Systems,
    1972)."""
    s = bc.System("skate", units="mks")
    if fixed:
        x = s.add_body("x", translate=1, mass=0, inertia=0)
        y = s.add_body("y", parent=x, translate=2, mass=2, inertia=0)
        b = s.add_body("b", parent=y, rotate=3, mass=0, inertia=(0.5, 0.5, 0.5))
    else:
        b = s.add_body("b", translate=(1, 2), rotate=3, mass=2, inertia=(0.5, 0.5, 0.5))
    s.add_constraint("dot(vel(b.origin), [b2])", label="blade")
    s.add_force("pull", magnitude="2*pull", direction=s.inertial[1], at=b.origin)
    s.set_defaults(pull=PULL)
    for i, name in ((1, "px"), (2, "py")):
        s.add_output(name, f"dot(pos(b.origin), [n{i}])")
    s.set_run(t_end=3, step=0.01, initial={"u(b)" if fixed else "u(b, 3)": SPIN})
    return s


def error(time, x, y):
    """Distance from the cycloid."""
    angle, size = SPIN * np.asarray(time), PULL / (2 * SPIN**2)
    return max(
        abs(x - size * np.sin(angle) ** 2).max(),
        abs(y - size * (angle - np.sin(2 * angle) / 2)).max(),
    )


def of(run):
    return error(run.time, run["px"], run["py"])


RIGHT_ANGLE = np.pi / 2 / SPIN
SHARE = {True: 1 / 44, False: 1 / 450}


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize(
    "step", [RIGHT_ANGLE / 3, RIGHT_ANGLE / 4.5, RIGHT_ANGLE / 100, 0.01, 0.001]
)
def test_skate_turns_through_right_angles(step, fixed):
    """Also where a step or the middle of one hits the zero of a coefficient; errors are those of
    the method.

    With heading w t the rest are quadratures of sines of 2 w t. Errors of rk4 in such a path grow
    by size (w step)^4 for every radian turned, times 1/480 where the speed along the blade is a
    state (Simpson's rule for that speed, 1/2880, and for the path), and times 1/45 where both fixed
    components are, which turn with the blade.
    """
    steps = 60
    run = (
        skate(fixed)
        .equations(optimise="none")
        .compile(backend="python")
        .simulate(t_end=steps * step, step=step)
    )
    assert run.ended == "finished"
    turned, size = SPIN * step, PULL / (2 * SPIN**2)
    assert of(run) < max(1e-13, SHARE[fixed] * size * turned**4 * steps * turned)


@pytest.mark.campaign
@pytest.mark.parametrize(
    "method", ["rk4", "rk2", "tsit5", "dop853", "radau5", "rodas5p", "auto", "BDF", "LSODA"]
)
@pytest.mark.parametrize("backend", ["c", "python"])
def test_skate_with_every_kind_of_method(method, backend):
    sim = skate().equations().compile(backend=able(backend, method))
    tight = {} if method in ("rk2", "rk4") else {"rtol": 1e-11, "atol": 1e-11}
    run = sim.simulate(step=RIGHT_ANGLE / 400, t_end=3 * RIGHT_ANGLE, method=method, **tight)
    assert of(run) < (1e-4 if method == "rk2" else 1e-8)


@pytest.mark.campaign
def test_skate_in_every_way_to_run():
    """A step of a hundredth of a right angle hits the zero of the pivot of the derivation."""
    eom, step = skate().equations(), RIGHT_ANGLE / 100
    sim = eom.compile()
    alone = sim.simulate(t_end=300 * step, step=step)
    assert of(alone) < 1e-8
    for backend in ("lanes", "cores"):
        spins = [SPIN] * 5
        many = sim.simulate_many(
            n=5,
            t_end=300 * step,
            step=step,
            initial={"u(b)": spins},
            channels=["px", "py"],
            backend=backend,
        )
        for i in range(5):
            assert error(many.time, np.asarray(many["px"])[i], np.asarray(many["py"])[i]) < 1e-8
    stepper = sim.stepper(step=step)
    stepper.step(300)
    assert np.asarray(stepper.outputs["px"]) == pytest.approx(alone["px"][-1], abs=1e-12)
    f = sim.rhs()
    q = [0.3, 0.2, np.pi / 2]
    x = np.array([*q, 0.0, 0.7, SPIN])  # along the second axis, in the zero itself
    assert f(0.0, x) == pytest.approx([0.0, 0.7, SPIN, -0.7 * SPIN, 0.0, 0.0], abs=1e-12)


def runs(kind, seed, steps, **settings):
    """Paths with fixed axes and body axes, at the same times."""
    found = []
    for fixed in (True, False):
        sim = system(kind, seed, fixed).equations(optimise="none").compile(**settings)
        for step in steps:
            run = sim.simulate(t_end=2, step=step, output_every=round(0.1 / step))
            assert run.ended == "finished"
            found.append(np.array([run["r1"], run["r2"]]))
        run = sim.simulate(
            t_end=2, step=0.1, output_every=1, method="dop853", rtol=1e-12, atol=1e-12
        )
        found.append(np.array([run["r1"], run["r2"]]))
    return found[: len(found) // 2], found[len(found) // 2 :]


STEPS = (0.02, 0.01, 0.005, 0.0025)


def compared(kind, seed, **settings):
    """Both descriptions have one motion, and errors of fixed steps fall with the fourth power of
    the step."""
    ways = runs(kind, seed, STEPS, **settings)
    exact = ways[1][-1]
    assert abs(ways[0][-1] - exact).max() < 1e-8
    for way in ways:
        errors = [abs(path - exact).max() for path in way[:-1]]
        for larger, smaller in pairwise(errors):
            assert smaller < max(1e-8, larger / 6)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:atol of")  # of speeds that stay zero
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(50))
def test_random_systems(kind, seed):
    compared(kind, seed)


@pytest.mark.parametrize("kind", ["trailer"])
def test_a_random_system_of_these(kind):
    sim = [
        system(kind, 3, fixed).equations(optimise="none").compile(backend="python")
        for fixed in (True, False)
    ]
    a, b = (s.simulate(t_end=1.5, step=0.01, output_every=10) for s in sim)
    assert max(abs(a[x] - b[x]).max() for x in ("r1", "r2")) < 1e-7
