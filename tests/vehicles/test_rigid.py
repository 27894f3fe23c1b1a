"""Rigid wheels: bounces and rolling by closed forms, energy in random drops."""

import math

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler, rarely

G = 9.81
RADIUS = 0.3


def disc(terrain, restitution=(0.8, 0.5), turns=True, **options):
    s = bc.System("disc", axes="ISO 8855")
    hub = s.add_point_mass(
        "d", translate=(1, 3), mass=2
    )  # its speeds are along fixed axes, so flight is exact
    body = s.add_body("s", hub, rotate=2, mass=0, inertia=(0.1, 2 * RADIUS**2 / 2, 0.1))
    s.add_gravity()
    s.add_contact(
        "w",
        at=hub,
        radius=RADIUS,
        terrain=terrain,
        restitution=restitution,
        wheel=body if turns else None,
        **options,
    )
    s.set_defaults(g=G)
    s.add_outputs("energy")
    return s


@pytest.mark.parametrize("backend", ["c", "wasm"])
def test_bounces_follow_the_analytic_sequence_until_rolling_starts(backend):
    e, drop = 0.7, 0.5
    sim = disc(bc.vehicles.terrain.flat(), (e, 1.0)).equations().compile(backend=backend)
    run = sim.simulate(t_end=2, step=0.01, initial={"q(d, 2)": RADIUS + drop})
    first = math.sqrt(2 * drop / G)
    hits = [ev.time for ev in run.events if ev.name == "w impact"]
    expected = [first * (1 + 2 * sum(e**k for k in range(1, n + 1))) for n in range(len(hits))]
    assert len(hits) >= 9
    assert hits == pytest.approx(expected, abs=1e-9)
    (start,) = [ev.time for ev in run.events if ev.name == "w rolls"]
    assert hits[-1] < start < first * (1 + e) / (1 - e)
    assert 2 * first * e ** len(hits) >= 0.01 * e  # the flight omitted is shorter than a step
    before = run.time < start
    heights = np.zeros(before.sum())
    for i, t in enumerate(run.time[before]):
        n = sum(h <= t for h in hits)
        begin, v = (hits[n - 1], math.sqrt(2 * G * drop) * e**n) if n else (0.0, 0.0)
        heights[i] = v * (t - begin) - G * (t - begin) ** 2 / 2 + (0 if n else drop)
    assert run["q(d, 2)"][before] - RADIUS == pytest.approx(heights, abs=1e-6)
    assert run["q(d, 2)"][~before] == pytest.approx(np.full((~before).sum(), RADIUS), abs=1e-9)


@pytest.mark.parametrize("backend", ["c", "wasm"])
def test_a_wheel_on_the_ground_rolls_at_once_unless_it_rises_for_a_step(backend):
    """It would be back after 2 v/g: at rest or within half a step it stays."""
    sim = disc(bc.vehicles.terrain.flat(), (0.0, 0.0)).equations().compile(backend=backend)
    for speed, rolls in ((0.0, 0.0), (0.024, 0.0), (0.025, 2 * 0.025 / G)):
        run = sim.simulate(t_end=0.05, step=0.01, initial={"q(d, 2)": RADIUS, "u(d, 2)": speed})
        (start,) = [ev.time for ev in run.events if ev.name == "w rolls"]
        assert start == pytest.approx(rolls, abs=1e-9)
        assert run["q(d, 2)"][-1] == pytest.approx(RADIUS, abs=1e-12)


@pytest.mark.parametrize("angle", rarely([5, 20, 40], [5, 40]))
def test_disc_rolls_down_a_slope_with_two_thirds_of_g_sine(angle):
    a = math.radians(angle)
    sim = disc(bc.vehicles.terrain.ramp(-math.tan(a)), (0, 0)).equations().compile()
    run = sim.simulate(t_end=1, step=0.01, initial={"q(d, 2)": RADIUS / math.cos(a)})
    way = np.hypot(run["q(d, 1)"], run["q(d, 2)"] - RADIUS / math.cos(a))
    assert way == pytest.approx(2 / 3 * G * math.sin(a) * run.time**2 / 2, abs=1e-9)
    assert run["w.fx"][-1] * math.sin(a) + run["w.fz"][-1] * math.cos(a) == pytest.approx(
        2 * G * math.cos(a), rel=1e-9
    )


@pytest.mark.campaign
def test_wheel_without_turning_slides_down_with_g_sine():
    a = math.radians(20)
    sim = disc(bc.vehicles.terrain.ramp(-math.tan(a)), (0, 0), turns=False).equations().compile()
    run = sim.simulate(t_end=1, step=0.01, initial={"q(d, 2)": RADIUS / math.cos(a)})
    assert run["q(d, 1)"][-1] == pytest.approx(G * math.sin(a) / 2 * math.cos(a), abs=1e-9)


@pytest.mark.parametrize(("backend", "step"), [("c", 0.002), ("wasm", 0.02)])
def test_disc_leaves_a_round_hill_where_the_normal_force_ends(backend, step):
    """A disc that rolls off an edge leaves it at cos = 4/7 (rolling disc on a cylinder of radius 0,
    no slip)."""
    sim = (
        disc(bc.vehicles.terrain.profile([-1, 0, 0, 9], [0, 0, -9, -9]), (0, 0))
        .equations()
        .compile(backend=backend)
    )
    run = sim.simulate(
        t_end=1.5, step=step, initial={"q(d, 1)": 1e-3, "q(d, 2)": math.sqrt(RADIUS**2 - 1e-6)}
    )
    leave = next(ev.time for ev in run.events if ev.name == "w leaves the ground")
    at = np.interp(leave, run.time, run["q(d, 2)"])
    assert at / RADIUS == pytest.approx(4 / 7, abs=2e-3)


# ---- random drops


def random_grounds(rng, count, apart=60.0):
    """Random profiles, straight or curved, next to each other on one road, and their middles: so
    one program serves many drops."""
    starts, pieces, middles = [], [], []
    for n in range(count):
        x = np.cumsum(rng.uniform(0.4, 1.5, 30))
        x += n * apart - x.mean()
        h = rng.uniform(-0.4, 0.4, 30)
        h[0] = h[-1] = 0.0
        part = bc.vehicles.terrain.profile(x, h, order=int(rng.choice([1, 3])))
        pieces += list(part.pieces[1 if n else 0 :])
        starts += part.starts.tolist()
        middles.append(n * apart)
    return bc.vehicles.terrain.Terrain("random", np.array(starts), np.array(pieces)), middles


def dropped(block, count):
    """Runs of random drops with one restitution: the ground and each run."""
    rng = np.random.default_rng(block)
    ground, middles = random_grounds(rng, count)
    sim = disc(ground, (float(rng.uniform(0, 1)), float(rng.uniform(-1, 1)))).equations().compile()
    for x in middles:
        start = {
            "q(d, 1)": x,
            "q(d, 2)": rng.uniform(1.5, 3),
            "u(d, 1)": rng.uniform(-2, 2),
            "u(s)": rng.uniform(-10, 10),
        }
        yield ground, sim.simulate(t_end=4, step=0.01, initial=start)


def check_drops(block, count):
    contacts = 0
    for ground, run in dropped(block, count):
        assert run.ended == "finished" and run.events
        assert np.diff(run["energy"]).max() < 1e-9 * run["energy"][0]
        assert (
            min(ground.nearest(x, z, 1.0).distance for x, z in zip(run["q(d, 1)"], run["q(d, 2)"]))
            > RADIUS - 1e-8
        )
        contacts += len(run.events)
    assert contacts > 2 * count


@pytest.mark.campaign
@needs_compiler
def test_energy_never_rises_in_random_drops():
    check_drops(1, 8)


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("block", range(20))
def test_energy_never_rises_in_a_thousand_random_drops(block):
    check_drops(block, 50)


# ---- compiled runs


@needs_compiler
@pytest.mark.parametrize(
    "ways", [(("c", "fast"), ("c", "quick")), (("c", "quick"), ("wasm", "fast"))]
)
@pytest.mark.parametrize(
    ("order", "method"), rarely([(1, "rk2"), (3, "rk4")], [(3, "rk4")], several=True)
)
def test_runs_are_alike_in_every_build(order, method, ways):
    """Bounces, rolling over straight and curved ground with resistance, leaving it, and a second
    wheel that a notch holds: to 1e-9. So with a kernel that was compiled before, and in
    WebAssembly."""
    if ways[1][0] == "wasm":
        pytest.importorskip("wasmtime")
    ground = bc.vehicles.terrain.profile(
        [-3, -1, 0, 1, 2.5, 3.5, 9], [0.2, 0, 0.3, -0.1, 0.2, 0.0, 0.0], order=order
    )
    s = disc(ground, (0.5, 0.3), rolling_resistance=0.4)
    hub = s.add_point_mass("e", translate=(1, 3), mass=3)
    notch = bc.vehicles.terrain.profile([-3, 0, 3], [2, 0, 3])
    s.add_contact(
        "v", at=hub, radius=0.2, terrain=notch, restitution=(0.3, 0.1), rolling_resistance=2.0
    )
    s.add_force("gust", magnitude="3*sin(40*t)", direction=s.inertial[1], at="d.origin")
    eom = s.equations()
    start = {"q(d, 2)": 1.2, "u(d, 1)": 1.5, "q(e, 1)": 0.05, "q(e, 2)": 0.4}
    runs = [
        eom.compile(backend=b, speed=speed).simulate(
            t_end=1.2, step=0.01, method=method, initial=start
        )
        for b, speed in ways
    ]
    assert [e.name for e in runs[0].events] == [e.name for e in runs[1].events]
    assert {e.name for e in runs[0].events} >= {
        "w impact",
        "w rolls",
        "v impact",
        "v is held in a notch",
    }
    assert [e.time for e in runs[0].events] == pytest.approx(
        [e.time for e in runs[1].events], abs=1e-9
    )
    for channel in runs[0]:
        assert np.abs(runs[0][channel] - runs[1][channel]).max() < 1e-9 * max(
            1, np.abs(runs[1][channel]).max()
        ), channel


@pytest.mark.campaign
def test_rolling_resistance_stops_a_disc_exponentially():
    """(3/2) m v' = -c v on flat ground."""
    run = (
        disc(bc.vehicles.terrain.flat(), (0, 0), rolling_resistance=3.0)
        .equations()
        .compile()
        .simulate(t_end=2, step=0.01, initial={"q(d, 2)": RADIUS, "u(d, 1)": 2, "u(s)": 2 / RADIUS})
    )
    assert run["u(d, 1)"] == pytest.approx(2 * np.exp(-3.0 * run.time / (1.5 * 2)), abs=1e-8)


def test_wheel_comes_to_rest_in_a_notch():
    """Between two slopes of 45 degrees it ends where both carry it: at the centre, radius times the
    root of two above the corner."""
    ground = bc.vehicles.terrain.profile([-3, 0, 3], [3, 0, 3])
    run = (
        disc(ground, (0.2, 0))
        .equations()
        .compile()
        .simulate(t_end=6, step=0.01, initial={"q(d, 1)": 0.4, "q(d, 2)": 1.5})
    )
    assert any(e.name == "w is held in a notch" for e in run.events)
    assert run["q(d, 1)"][-1] == pytest.approx(0, abs=1e-9)
    assert run["q(d, 2)"][-1] == pytest.approx(RADIUS * math.sqrt(2), abs=1e-9)
    assert run["w.fz"][-1] == pytest.approx(2 * G, rel=1e-9) and abs(run["w.fx"][-1]) < 1e-9
    assert max(abs(run[u][-1]) for u in ("u(d, 1)", "u(d, 2)", "u(s)")) < 1e-12


@pytest.mark.parametrize("backend", rarely(["c", "wasm"], ["wasm"]))
def test_every_one_of_three_wheels_stays_in_its_notch(backend):
    """Each is carried by both of its sides with its own load."""
    s = bc.System("discs", axes="ISO 8855")
    for i in range(3):
        hub = s.add_point_mass(f"d{i}", translate=(1, 3), mass=2 + i)
        ground = bc.vehicles.terrain.profile([-3, 0, 3], [3, 0, 3])
        s.add_contact(f"w{i}", at=hub, radius=RADIUS, terrain=ground, restitution=(0, 0))
    s.add_gravity()
    s.set_defaults(g=G)
    start = {f"q(d{i}, 2)": RADIUS * math.sqrt(2) for i in range(3)}
    run = s.equations().compile(backend=backend).simulate(t_end=0.03, step=0.01, initial=start)
    assert sorted(e.name for e in run.events if "held" in e.name) == [
        f"w{i} is held in a notch" for i in range(3)
    ]
    assert [run[f"w{i}.fz"][-1] for i in range(3)] == pytest.approx([(2 + i) * G for i in range(3)])


@pytest.mark.campaign
def test_two_wheels_of_a_carriage_bounce_and_roll_alike():
    """A rigid carriage dropped level on two wheels: it bounces as one mass and then rolls down a
    slope with g sine (massless wheels)."""
    a = math.radians(10)
    s = bc.System("carriage", axes="ISO 8855")
    body = s.add_body(
        "b", translate=(1, 3), rotate=2, mass=4, inertia=(1, 1, 1), joint_at=(0, 0, 0)
    )
    s.add_gravity()
    for name, x in (("rear", -1), ("front", 1)):
        at = s.add_point(f"{name}.axle", body=body, at=(x, 0, 0))
        s.add_contact(
            name,
            at=at,
            radius=RADIUS,
            terrain=bc.vehicles.terrain.ramp(-math.tan(a)),
            restitution=(0.0, 0.0),
        )
    s.set_defaults(g=G)
    start = {"q(b, 2)": RADIUS / math.cos(a), "q(b, 3)": a}
    run = s.equations().compile().simulate(t_end=1, step=0.01, initial=start)
    assert [e.name for e in run.events] == ["rear rolls", "front rolls"]
    way = np.hypot(run["rear.x"] - run["rear.x"][0], run["rear.z"] - run["rear.z"][0])
    assert way == pytest.approx(G * math.sin(a) * run.time**2 / 2, abs=1e-8)
    assert run["rear.fz"][-1] * math.cos(a) + run["rear.fx"][-1] * math.sin(a) == pytest.approx(
        4 * G * math.cos(a) / 2, rel=1e-9
    )


@pytest.mark.parametrize("backend", ["c", "wasm"])
def test_loads_of_more_wheels_than_a_carriage_needs_are_the_least(backend):
    """Four wheels under a rigid beam: of all loads that carry it, those with the least sum of
    squares, a straight line."""
    s = bc.System("beam", axes="ISO 8855")
    body = s.add_body("b", translate=(1, 3), rotate=2, mass=4, inertia=(1, 1, 1), cm=(0.1, 0, 0.2))
    s.add_gravity()
    places = np.array([-1.0, -0.2, 0.5, 1.3])
    for i, x in enumerate(places):
        at = s.add_point(f"axle{i}", body=body, at=(x, 0, 0))
        s.add_contact(
            f"w{i}",
            at=at,
            radius=RADIUS,
            terrain=bc.vehicles.terrain.flat(),
            restitution=(0.0, 0.0),
        )
    s.set_defaults(g=G)
    start = {"q(b, 2)": RADIUS, "u(b, 1)": 0.5}
    run = s.equations().compile(backend=backend).simulate(t_end=0.2, step=0.02, initial=start)
    A = np.vstack([np.ones(4), places - 0.1])  # of forces, and of moments about the mass centre
    expected = np.linalg.pinv(A) @ [4 * G, 0.0]
    assert [run[f"w{i}.fz"][-1] for i in range(4)] == pytest.approx(expected, rel=1e-7)
    assert run["u(b, 1)"][-1] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("backend", ["c", "wasm"])
def test_events_of_the_user_are_found_within_steps(backend):
    """Highest point after the first bounce, and the moment at which a disc passes x = 0.3."""
    sim = disc(bc.vehicles.terrain.flat(), (0.5, 1.0)).equations().compile(backend=backend)
    run = sim.simulate(
        t_end=2,
        step=0.01,
        initial={"q(d, 2)": RADIUS + 0.5, "u(d, 1)": 0.4},
        events={"top": bc.event("-u(d, 2)", direction=1), "past": "q(d, 1) > 0.3"},
    )
    first = math.sqrt(2 * 0.5 / G)
    tops = [e.time for e in run.events if e.name == "top"]
    assert tops[0] == pytest.approx(first * 1.5, abs=1e-9)
    assert next(e.time for e in run.events if e.name == "past") == pytest.approx(
        0.75, abs=1e-9
    )  # restitution 1 along the ground
    assert any(e.name == "w impact" for e in run.events)


@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize(
    ("push", "speed"),
    [
        (bc.signals.step(at=0.503, height=6.0), 6 / 3 * 0.497),
        (lambda t: 6 * math.cos(3 * t), 6 / 9 * math.sin(3)),
    ],
    ids=["jump", "wave"],
)
def test_inputs_push_and_their_jumps_split_steps(push, speed, backend):
    s = disc(bc.vehicles.terrain.flat(), (0, 0))
    s.add_input("push", units="F")
    s.add_force("side", magnitude="push", direction=s.inertial[1], at="d.origin")
    sim = s.equations().compile(backend=backend)
    run = sim.simulate(
        t_end=1, step=0.02, method="rk4", initial={"q(d, 2)": RADIUS}, inputs={"push": push}
    )
    assert run["u(d, 1)"][-1] == pytest.approx(speed, abs=1e-8)  # (3/2) m v' = push


def test_wheel_below_ground_is_moved_up_or_refused():
    sim = disc(bc.vehicles.terrain.flat()).equations().compile()
    with pytest.warns(bc.ModelWarning, match=r"w starts 0\.1 below ground and is moved up"):
        run = sim.simulate(t_end=0.1, step=0.01, initial={"q(d, 2)": 0.2})
    assert run["q(d, 2)"][0] == pytest.approx(RADIUS, abs=1e-9)
    sim = disc(bc.vehicles.terrain.flat(), below="error").equations().compile()
    with pytest.raises(bc.RunError, match=r"w starts 0\.1 below ground"):
        sim.simulate(t_end=0.1, step=0.01, initial={"q(d, 2)": 0.2})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restitution": (2, 0)}, "normal from 0 to 1"),
        ({"restitution": 0.5}, "restitution=0.5"),
        ({"below": "sink"}, "below='sink'"),
        ({"rolling_resistance": -1}, "must be a number of at least 0"),
    ],
)
def test_bad_rigid_contacts(options, message):
    with pytest.raises(bc.ModelError, match=message):
        disc(bc.vehicles.terrain.flat(), **options)


def test_what_rigid_wheels_cannot_do_is_told():
    eom = disc(bc.vehicles.terrain.flat()).equations()
    sim = eom.compile(backend="python")
    with pytest.raises(bc.ModelError, match="rigid wheels run with 'rk2' or 'rk4'"):
        sim.simulate(method="RK45")
    with pytest.raises(
        bc.ModelError,
        match="dae= is for models with closed loops, in which rigid wheels are not available",
    ):
        sim.simulate(dae="dlmm")
    s = disc(bc.vehicles.terrain.flat())
    s.add_constraint("q(d, 1)**2 + q(d, 2)**2 - 4")
    with pytest.raises(
        bc.RunError,
        match="rigid wheels do not run in plain Python; use backend='auto' and a C compiler",
    ):
        sim.simulate(t_end=0.1)
    for options in ({}, {"constraints": "multipliers"}):
        looped = s.equations(**options).compile(backend="python")
        for dae in ("projection", "dlmm"):
            with pytest.raises(
                bc.ModelError, match="closed loops or multipliers are not available; use a tyre"
            ):
                looped.simulate(initial={"q(d, 2)": 2}, dae=dae)


@pytest.mark.parametrize("backend", rarely(["c", "wasm"], ["wasm"]))
def test_events_act_on_rigid_wheels(backend):
    """A wheel that rolls is thrown up and lands by closed forms, is pulled along, rolls on with
    other gravity."""
    sim = disc(bc.vehicles.terrain.flat(), (0, 0)).equations().compile(backend=backend)
    options = {
        "t_end": 1,
        "step": 0.01,
        "initial": {"q(d, 2)": RADIUS, "u(d, 1)": 1.0, "u(s)": 1 / RADIUS},
    }

    def acted(**action):
        named = {k.replace("_", ", "): v for k, v in action.items()}
        run = sim.simulate(events=[bc.event("t - 0.5031", action=named, name="hit")], **options)
        return run, [(e.name, pytest.approx(e.time, abs=1e-12)) for e in run.events][1:]

    thrown, told = acted(**{"u(d_2)": 1})
    assert told == [("hit", 0.5031), ("w rolls", 0.5031 + 2 / G)]
    flight = thrown.time[thrown.time >= 0.5031] - 0.5031
    height = np.maximum(flight - G * flight**2 / 2, 0)
    assert thrown["q(d, 2)"][thrown.time >= 0.5031][1:] - RADIUS == pytest.approx(
        height[1:], abs=1e-9
    )
    pulled, told = acted(**{"u(d_1)": 2})  # slip ends by an impulse: m v + I w/r stays
    assert told == [("hit", 0.5031), ("w rolls", 0.5031)]
    assert pulled["u(d, 1)"][-1] == pytest.approx((2 + 0.5) / 1.5, rel=1e-12)
    lighter, told = acted(g=5)
    assert told == [("hit", 0.5031)] and lighter["w.fz"][[0, -1]] == pytest.approx([2 * G, 10])
    with pytest.warns(bc.ModelWarning, match="an event puts w 0.1 below ground; it is moved up"):
        lowered, _ = acted(**{"q(d_2)": RADIUS - 0.1})
    assert lowered["q(d, 2)"][-1] == pytest.approx(RADIUS, abs=1e-9)
    falls = {
        **options,
        "initial": {"q(d, 2)": 1},
    }  # lands at 0.378 s, in steps that were taken past the stop
    assert [
        e.name for e in sim.simulate(events={"end": "t - 0.3"}, stop="end", **falls).events
    ] == ["end"]


def test_embedded_code_with_rigid_wheels_is_not_written(tmp_path):
    eom, folder = disc(bc.vehicles.terrain.flat()).equations(), tmp_path / "none"
    for name in ("embedded", "simulink"):
        with pytest.raises(bc.ModelError, match="does not contain rigid wheels; use a tyre"):
            eom.export(name, folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("slope", [0.0, 0.3, -0.5])
@pytest.mark.parametrize("factors", [(0.5, 0.8), (0.5, 0.0), (0.5, -1.0), (0.9, 1.0), (0.5, None)])
def test_without_a_wheel_the_second_factor_holds_along_the_ground(slope, factors):
    """A point thrown at an incline: its speeds across and along just after the impact."""
    ground = bc.vehicles.terrain.ramp(slope)
    normal, tangential = factors
    sim = disc(ground, factors, turns=False).equations().compile(backend="wasm")
    run = sim.simulate(t_end=0.5, step=0.001, initial={"q(d, 2)": 1.0, "u(d, 1)": 1.0})
    hit = next(e.time for e in run.events if e.name == "w impact")
    size = math.hypot(1, slope)
    along, across = np.array([1, slope]) / size, np.array([-slope, 1]) / size

    def speeds(t):
        """On the parabolas before and after the impact."""
        i = int(np.searchsorted(run.time, hit) + (1 if t > hit else -2))
        return np.array([run["u(d, 1)"][i], run["u(d, 2)"][i] - G * (t - run.time[i])])

    before, after = speeds(hit - 1e-12), speeds(hit + 1e-12)
    share = 1.0 if tangential is None else tangential
    assert after @ across == pytest.approx(-normal * (before @ across), abs=1e-6)
    assert after @ along == pytest.approx(share * (before @ along), abs=1e-6)
    assert after @ after <= before @ before + 1e-9


def test_what_lies_on_the_ground_keeps_its_speed_along_it():
    sim = disc(bc.vehicles.terrain.flat(), (0.5, 0.0), turns=False).equations()
    run = sim.compile(backend="wasm").simulate(
        t_end=1, step=0.01, initial={"q(d, 2)": RADIUS, "u(d, 1)": 2.0}
    )
    assert run["u(d, 1)"][-1] == pytest.approx(2.0, abs=1e-12)
