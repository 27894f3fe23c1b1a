"""Rigid wheels: bounces and rolling by closed forms, energy in random drops."""

import math

import numpy as np
import pytest

import bellcrank as bc

G = 9.81
RADIUS = 0.3


def disc(terrain, restitution=(0.8, 0.5), turns=True, **options):
    s = bc.System("disc", axes="ISO 8855")
    hub = s.add_point_mass("d", translate=(1, 3), mass=2)  # its speeds are along fixed axes, so flight is exact
    body = s.add_body("s", hub, rotate=2, mass=0, inertia=(0.1, 2 * RADIUS**2 / 2, 0.1))
    s.add_gravity()
    s.add_contact(
        "w", at=hub, rim=RADIUS, terrain=terrain, restitution=restitution, wheel=body if turns else None, **options
    )
    s.set_defaults(g=G)
    s.add_outputs("energy")
    return s


@pytest.mark.parametrize("backend", ["c", "python"])
def test_bounces_follow_the_analytic_sequence_until_rolling_starts(backend):
    e, drop = 0.7, 0.5
    sim = disc(bc.terrain.flat(), (e, 1.0)).equations().compile(backend=backend)
    run = sim.simulate(t_end=2, step=0.01, initial={"q(d, 2)": RADIUS + drop})
    first = math.sqrt(2 * drop / G)
    hits = [ev.time for ev in run.events if ev.name == "w impact"]
    expected = [first * (1 + 2 * sum(e**k for k in range(1, n + 1))) for n in range(len(hits))]
    assert len(hits) >= 9
    assert hits == pytest.approx(expected, abs=1e-9)
    (start,) = [ev.time for ev in run.events if ev.name == "w rolls"]
    assert hits[-1] < start < first * (1 + e) / (1 - e)
    assert 2 * first * e ** len(hits) >= 0.01 * e  # the flight left out is shorter than a step
    before = run.time < start
    heights = np.zeros(before.sum())
    for i, t in enumerate(run.time[before]):
        n = sum(h <= t for h in hits)
        begin, v = (hits[n - 1], math.sqrt(2 * G * drop) * e**n) if n else (0.0, 0.0)
        heights[i] = v * (t - begin) - G * (t - begin) ** 2 / 2 + (0 if n else drop)
    assert run["q(d, 2)"][before] - RADIUS == pytest.approx(heights, abs=1e-6)
    assert run["q(d, 2)"][~before] == pytest.approx(np.full((~before).sum(), RADIUS), abs=1e-9)


@pytest.mark.parametrize("angle", [5, 20, 40])
def test_disc_rolls_down_a_slope_with_two_thirds_of_g_sine(angle):
    a = math.radians(angle)
    sim = disc(bc.terrain.ramp(-math.tan(a)), (0, 0)).equations().compile()
    run = sim.simulate(t_end=1, step=0.01, initial={"q(d, 2)": RADIUS / math.cos(a)})
    way = np.hypot(run["q(d, 1)"], run["q(d, 2)"] - RADIUS / math.cos(a))
    assert way == pytest.approx(2 / 3 * G * math.sin(a) * run.time**2 / 2, abs=1e-9)
    assert run["w.fx"][-1] * math.sin(a) + run["w.fz"][-1] * math.cos(a) == pytest.approx(2 * G * math.cos(a), rel=1e-9)


def test_wheel_without_turning_slides_down_with_g_sine():
    a = math.radians(20)
    sim = disc(bc.terrain.ramp(-math.tan(a)), (0, 0), turns=False).equations().compile()
    run = sim.simulate(t_end=1, step=0.01, initial={"q(d, 2)": RADIUS / math.cos(a)})
    assert run["q(d, 1)"][-1] == pytest.approx(G * math.sin(a) / 2 * math.cos(a), abs=1e-9)


def test_disc_leaves_a_round_hill_where_the_normal_force_ends():
    """A disc that rolls off an edge leaves it at cos = 4/7 (rolling disc on a cylinder of radius 0, no slip)."""
    sim = disc(bc.terrain.profile([-1, 0, 0, 9], [0, 0, -9, -9]), (0, 0)).equations().compile()
    run = sim.simulate(t_end=1.5, step=0.002, initial={"q(d, 1)": 1e-3, "q(d, 2)": math.sqrt(RADIUS**2 - 1e-6)})
    leave = next(ev.time for ev in run.events if ev.name == "w leaves the ground")
    at = np.interp(leave, run.time, run["q(d, 2)"])
    assert at / RADIUS == pytest.approx(4 / 7, abs=2e-3)


def energy_gain(seed):
    """Largest rise of energy, relative to its initial value, of a drop on random ground."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.4, 1.5, 12)) - 5
    h = rng.uniform(-0.4, 0.4, 12)
    ground = bc.terrain.profile(x, h, order=int(rng.choice([1, 3])))
    restitution = rng.uniform(0, 1), rng.uniform(-1, 1)
    sim = disc(ground, tuple(map(float, restitution))).equations().compile(backend="c")
    start = {"q(d, 2)": rng.uniform(1.5, 3), "u(d, 1)": rng.uniform(-2, 2), "u(s)": rng.uniform(-10, 10)}
    run = sim.simulate(t_end=1.5, step=0.01, initial=start)
    assert run.ended == "finished" and run.events
    assert min(ground.nearest(x, z).distance for x, z in zip(run["q(d, 1)"], run["q(d, 2)"])) > RADIUS - 1e-8
    return np.diff(run["energy"]).max() / run["energy"][0]


@pytest.mark.parametrize("block", range(5))
def test_energy_never_rises_in_random_drops(block):
    assert max(energy_gain(seed) for seed in range(10 * block, 10 * block + 10)) < 1e-9


@pytest.mark.campaign
def test_energy_never_rises_in_a_thousand_random_drops():
    assert max(energy_gain(seed) for seed in range(1000)) < 1e-9


def test_wheel_below_ground_is_moved_up_or_refused():
    sim = disc(bc.terrain.flat()).equations().compile()
    with pytest.warns(bc.ModelWarning, match=r"w starts 0\.1 below ground and is moved up"):
        run = sim.simulate(t_end=0.1, step=0.01, initial={"q(d, 2)": 0.2})
    assert run["q(d, 2)"][0] == pytest.approx(RADIUS, abs=1e-9)
    sim = disc(bc.terrain.flat(), below="error").equations().compile()
    with pytest.raises(bc.RunError, match=r"w starts 0\.1 below ground"):
        sim.simulate(t_end=0.1, step=0.01, initial={"q(d, 2)": 0.2})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restitution": (2, 0)}, "normal from 0 to 1"),
        ({"restitution": 0.5}, "restitution=0.5"),
        ({"below": "sink"}, "below='sink'"),
        ({"rolling_resistance": 1}, "rolling_resistance needs a tyre"),
    ],
)
def test_bad_rigid_contacts(options, message):
    with pytest.raises(bc.ModelError, match=message):
        disc(bc.terrain.flat(), **options)
