"""Runs that start at dead points of the speeds chosen when the equations were derived: a point that
moves freely on a circle or a sphere, with the exact solution."""

import numpy as np
import pytest

import bellcrank as bc

AXES = ("q(b, 1)", "q(b, 2)", "q(b, 3)")
MASS_ON_SLIDES = ("q(x)", "q(y)")


def on_sphere(n: int, with_default: bool) -> bc.System:
    s = bc.System("sphere", units="SI")
    b = s.add_point_mass("b", translate=tuple(range(1, n + 1)), mass=1)
    s.add_loop_joint("rod", "distance", between=(b.origin, "o"), length="L")
    if with_default:
        s.set_defaults(L=0.7)
    return s


def trammel(_: int, with_default: bool) -> bc.System:
    s = bc.System("trammel", units="SI")
    x = s.add_body("x", translate=1, mass=2, inertia=0)
    y = s.add_body("y", translate=2, mass=2, inertia=0)
    s.add_loop_joint("rod", "distance", between=(x.origin, y.origin), length="L")
    if with_default:
        s.set_defaults(L=0.7)
    return s


def start(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A point of the unit sphere, most often on an axis or in a plane of two, and a direction of
    motion."""
    point = np.zeros(n)
    point[rng.permutation(n)[: rng.integers(1, n + 1)]] = 1.0
    point *= rng.choice([-1.0, 1.0], n) * rng.uniform(0.2, 1.0, n)
    point /= np.linalg.norm(point)
    motion = rng.choice([-1.0, 0.0, 1.0], n) + 1e-3
    motion -= motion @ point * point
    return point, motion / np.linalg.norm(motion)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(24))
def test_a_point_on_a_circle_starts_anywhere(seed: int) -> None:
    rng = np.random.default_rng([16, seed])
    n = int(rng.choice([2, 3]))
    slides = n == 2 and rng.random() < 0.5
    system = (trammel if slides else on_sphere)(n, rng.random() < 0.5)
    names = MASS_ON_SLIDES if slides else AXES[:n]
    point, motion = start(rng, n)
    speed, length = float(rng.uniform(0.5, 2.0)), 0.7
    initial = dict(zip(names, length * point, strict=True))
    initial |= {f"u{x[1:]}": v for x, v in zip(names, speed * motion, strict=True)}
    backend = str(rng.choice(["wasm", "python"]))
    method = "rk4" if backend == "python" else str(rng.choice(["rk4", "dop853"]))
    sim = system.equations().compile(backend=backend)
    run = sim.simulate(
        t_end=2, step=0.002, method=method, initial=initial, parameters={"L": length}
    )
    assert run.ok, (seed, run.ended)
    angle = speed / length * run.time
    for name, p, m in zip(names, point, motion, strict=True):
        exact = length * (p * np.cos(angle) + m * np.sin(angle))
        assert np.abs(run[name] - exact).max() < 2e-6, (seed, name)


@pytest.mark.parametrize("dead", [(0.7, 0.0), (0.0, 0.7), (-0.7, 0.0), (0.0, -0.7)])
def test_an_event_sets_a_dead_point(dead: tuple[float, float]) -> None:
    system = on_sphere(2, with_default=True)
    x, y = dead
    action = {"q(b, 1)": f"{x}", "q(b, 2)": f"{y}", "u(b, 1)": f"{-y}", "u(b, 2)": f"{x}"}
    system.add_event("set", "t - 0.5", direction=1, action=action)
    sim = system.equations().compile(backend="wasm")
    start = {"q(b, 1)": 0.42, "q(b, 2)": 0.56, "u(b, 1)": -0.56, "u(b, 2)": 0.42}
    run = sim.simulate(t_end=1.5, step=0.002, initial=start)
    assert run.ok, run.ended
    exact = x * np.cos(1.0) - y * np.sin(1.0), x * np.sin(1.0) + y * np.cos(1.0)
    assert run["q(b, 1)"][-1] == pytest.approx(exact[0], abs=1e-6)
    assert run["q(b, 2)"][-1] == pytest.approx(exact[1], abs=1e-6)
