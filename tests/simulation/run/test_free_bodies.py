"""Free spinning bodies: Euler parameters of unit size and an exact path of the mass centre, by
every method and in every way to run.
"""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import METHODS
from tests.embedded import Embedded
from tests.models import able
from tests.node import needs_node, page_runs
from tests.programs import LANGUAGES, build

CM = (0.3, -0.2, 0.1)
SPIN = {"u(b, 4)": 3.0, "u(b, 5)": 35.0, "u(b, 6)": 20.0}
ADAPTIVE = ("auto", "tsit5", "dop853", "radau5", "rodas5p", "RK45")


def tumbling(cm=CM, inertia=(1.0, 2.0, 2.5), initial=SPIN, second=False):
    """A body thrown upwards, its mass centre apart from its origin; a second one if asked for."""
    s = bc.System("tumbling", units="mks", axes="ISO 8855")
    for name in ("b", "c") if second else ("b",):
        s.add_body(
            name, translate=(1, 2, 3), rotate="euler-parameters", mass=2, cm=cm, inertia=inertia
        )
    s.add_gravity()
    s.set_defaults(g=9.81)
    s.set_run(
        t_end=0.5,
        step=2e-3,
        method="rk4",
        output_every=10,
        initial={**initial, "u(b, 1)": 2.0, "u(b, 3)": 4.0},
    )
    return s.equations()


def channels(run, first, count):
    return np.array([np.asarray(run[f"q(b, {i})"]) for i in range(first, first + count)])


def size_error(run):
    """How far the Euler parameters are from unit size."""
    return float(np.abs(np.linalg.norm(channels(run, 4, 4), axis=0) - 1).max())


def path_error(run, time, g=9.81):
    """How far the velocity of the mass centre is from that of free fall."""
    v = np.array([np.asarray(run[f"u(b, {i})"]) for i in (1, 2, 3)])
    exact = np.array([2.0 + 0 * time, 0 * time, 4.0 - g * time])
    return float(np.abs(v - exact).max())


@pytest.mark.parametrize("rotate", ["euler-parameters", (3, 2, 1)])
def test_velocities_are_rates_of_positions(rotate):
    """Of points next to the mass centre, of bodies on a spinning one, and of one that slides along
    it."""
    s = bc.System("points", units="mks", axes="ISO 8855")
    b = s.add_body("b", translate=(1, 2, 3), rotate=rotate, mass=2, cm=CM, inertia=(1.0, 2.0, 2.5))
    c = s.add_body(
        "c",
        parent=b,
        rotate=2,
        joint_at=(0.2, 0.1, -0.3),
        mass=1,
        cm=(0.1, 0.2, 0.3),
        inertia=(0.1, 0.2, 0.2),
    )
    d = s.add_body(
        "d", parent=c, translate=1, joint_at=(0.1, 0, 0.2), mass=1, inertia=(0.1, 0.1, 0.1)
    )
    for body in (b, c, d):
        point = s.add_point(f"{body.name}p", body=body, at=(0.2, -0.3, 0.4))
        for axis in (1, 2, 3):
            s.add_output(f"{body.name}{axis}", f"dot(pos({point.name}), [n{axis}])", units="L")
            s.add_output(f"{body.name}{axis}'", f"dot(vel({point.name}), [n{axis}])", units="L/T")
    initial = {
        "u(b, 1)": 2.0,
        "u(b, 4)": 1.0,
        "u(b, 5)": 0.4,
        "u(b, 6)": 2.0,
        "u(c)": 3.0,
        "u(d)": 0.5,
    }
    run = s.equations().compile(backend="python").simulate(t_end=0.1, step=2e-3, initial=initial)
    for name in (f"{x}{axis}" for x in "bcd" for axis in (1, 2, 3)):
        x = np.asarray(run[name])
        rate = (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * 2e-3)
        assert rate == pytest.approx(np.asarray(run[f"{name}'"])[2:-2], abs=1e-6), name


@pytest.fixture(scope="module")
def equations():
    return tumbling()


@pytest.mark.parametrize("backend", ["c", "python"])
def test_every_method(equations, backend):
    sims = {x: equations.compile(backend=x) for x in {able(backend, "rk4"), able(backend, "tsit5")}}
    for method in (*METHODS, *ADAPTIVE):
        sim = sims[able(backend, method)]
        run = sim.simulate(method=method, t_end=0.1)
        assert run.ended == "finished"
        assert size_error(run) < 1e-14, method
        assert path_error(run, run.time) < 1e-11, method


def test_many_runs_and_steps_taken_one_by_one(equations):
    sim = equations.compile()
    for method in ("rk4", "ab2", "euler"):
        alone = sim.simulate(method=method)
        for backend in ("lanes", "cores"):
            many = sim.simulate_many(initial={"u(b, 4)": [3.0] * 5}, backend=backend, method=method)
            for i in (0, 4):
                run = {name: many[name][i] for name in many.channels}
                assert size_error(run) < 1e-14
                assert channels(run, 1, 7) == pytest.approx(
                    channels(alone, 1, 7), rel=1e-12, abs=1e-12
                )
        stepper = sim.stepper(method=method)
        for _ in range(250):
            stepper.step()
        reached = [stepper.state[f"q(b, {i})"] for i in range(1, 8)]
        assert reached == pytest.approx(channels(alone, 1, 7)[:, -1], rel=1e-14)


@pytest.mark.campaign
@pytest.mark.parametrize("language", LANGUAGES)
def test_written_programs(tmp_path, language):
    eom = tumbling(second=True)
    run = build(eom, language, tmp_path / "made").run(tmp_path)
    assert size_error(run) < 1e-8  # digits of the file
    reference = eom.compile(backend="python").simulate()
    assert channels(run, 1, 7) == pytest.approx(channels(reference, 1, 7), rel=1e-8, abs=1e-8)
    assert path_error(run, run.time) < 1e-6


def test_embedded(equations, tmp_path):
    e = Embedded(equations, tmp_path)
    rows = e.rows(e.model(), 50)
    assert np.abs(np.linalg.norm(rows[:, 4:8], axis=1) - 1).max() < 1e-14


@needs_node
def test_page(equations):
    (run,) = page_runs(equations.export("page"), (0.5, 2e-3, 10))
    assert size_error(run) < 1e-14
    assert path_error(run, np.asarray(run["t"])) < 1e-11


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(6))
def test_random_bodies_for_a_long_time(seed):
    """100 s at 50 rad/s: the mass centre follows its parabola to rounding at every step size, the
    origin with it."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(1, 2, 2)
    inertia = (a, b, rng.uniform(abs(a - b) + 0.1, a + b))
    cm = rng.uniform(-1, 1, 3)
    spin = rng.normal(size=3)
    initial = dict(zip(SPIN, (50 * spin / np.linalg.norm(spin)).tolist(), strict=True))
    sim = tumbling(tuple(cm.tolist()), inertia, initial).compile()
    for method, step in (
        ("rk4", 5e-3),
        ("rk4", 1e-3),
        ("rk2", 2e-3),
        ("ab2", 1e-3),
        ("auto", 5e-3),
    ):
        run = sim.simulate(method=method, step=step, t_end=100, output_every=round(1 / step))
        assert run.ended == "finished"
        assert size_error(run) < 1e-12
        assert path_error(run, run.time) < 1e-8
        e0, e1, e2, e3 = channels(run, 4, 4)[:, -1]
        x, y, z = cm
        turned = np.array(
            [
                (1 - 2 * (e2 * e2 + e3 * e3)) * x
                + 2 * (e1 * e2 - e0 * e3) * y
                + 2 * (e1 * e3 + e0 * e2) * z,
                2 * (e1 * e2 + e0 * e3) * x
                + (1 - 2 * (e1 * e1 + e3 * e3)) * y
                + 2 * (e2 * e3 - e0 * e1) * z,
                2 * (e1 * e3 - e0 * e2) * x
                + 2 * (e2 * e3 + e0 * e1) * y
                + (1 - 2 * (e1 * e1 + e2 * e2)) * z,
            ]
        )
        exact = cm + np.array([200.0, 0.0, 400.0 - 9.81 / 2 * 1e4])
        order = {"rk2": 2, "ab2": 2}.get(method, 4)
        # the origin moves by cm about the mass centre: its path has the error of the method, 50
        # rad/s for 100 s
        allowed = (
            10 * float(np.linalg.norm(cm)) * 5000 * (50 * step) ** order
            if method != "auto"
            else 1.0
        )
        assert np.abs(channels(run, 1, 3)[:, -1] + turned - exact).max() < max(allowed, 1e-3)
