"""Vehicles from partial vehicles: closed forms of rest, energy, figures of van Iwaarden (2003)."""

import math

import numpy as np
import pytest

import bellcrank as bc
from tests.models import rarely

G = 9.81
BACKENDS = ("c", "python")


def wheel(terrain, k=2000.0, c=0.0, rim=0.4, **options):
    s = bc.System("wheel", axes="ISO 8855")
    body = s.add_point_mass("b", translate=(1, 3), mass=2)
    s.add_gravity()
    s.add_contact("tyre", at=body, radius=rim, terrain=terrain, tyre=bc.Tyre("k", "c"), **options)
    s.set_defaults(k=k, c=c, g=G)
    s.add_outputs("energy")
    return s


@pytest.mark.parametrize("backend", rarely(["c", "wasm"], ["c"]))
def test_wheel_bounces_with_the_period_of_fall_and_half_oscillation(backend):
    """Fall from a height, then the closed form of an undamped spring; twice."""
    sim = wheel(bc.vehicles.terrain.flat()).equations().compile(backend=backend)
    drop, m, k = 0.3, 2.0, 2000.0
    run = sim.simulate(
        t_end=0.9,
        step=0.0005,
        initial={"q(b, 2)": 0.4 + drop},
        events={"touch": "q(b, 2) < 0.4", "leave": "q(b, 2) > 0.4"},
    )
    fall, w, v = math.sqrt(2 * drop / G), math.sqrt(k / m), math.sqrt(2 * G * drop)
    contact = (
        2 / w * (math.pi - math.atan(v * w / G))
    )  # of z = 0.4 - (v/w) sin wt - g/w^2 (1 - cos wt) ...
    times = [e.time for e in run.events[:3]]
    assert [e.name for e in run.events[:3]] == ["touch", "leave", "touch"]
    assert times == pytest.approx([fall, fall + contact, 3 * fall + contact], abs=2e-6)


@pytest.mark.parametrize("name", rarely(["hill", "course", "washboard"], ["hill", "washboard"]))
def test_tyre_spring_has_a_potential(name):
    """Energy of motion, gravity and tyre stays, over curved ground, edges and walls."""
    terrain = {
        "hill": bc.vehicles.terrain.hill(2, 3, 0.8),
        "course": bc.vehicles.terrain.course(),
        "washboard": bc.vehicles.terrain.cosine(0.2, 2.0),
    }[name]
    sim = wheel(terrain).equations().compile()
    run = sim.simulate(t_end=3, step=1e-4, output_every=50, initial={"q(b, 2)": 0.8, "u(b, 1)": 9})
    energy = run["energy"] + run["tyre_stored"]
    assert run["tyre_depth"].max() > 0.05
    assert np.ptp(energy) < 3e-6 * energy[0]


def test_damped_tyre_never_pulls_and_never_adds_energy():
    sim = wheel(bc.vehicles.terrain.course(), c=60).equations().compile()
    run = sim.simulate(t_end=3, step=1e-4, initial={"q(b, 2)": 0.8, "u(b, 1)": 20})
    energy = run["energy"] + run["tyre_stored"]
    assert run["tyre_load"].min() == 0 and run["tyre_load"].max() > 100
    assert np.diff(energy).max() < 1e-7 * energy[0]
    assert energy[-1] < 0.99 * energy[0]


def test_programs_in_c_and_python_agree_on_the_course():
    s = wheel(bc.vehicles.terrain.course(), c=20, rolling_resistance=0.2)
    runs = [
        s.equations()
        .compile(backend=b)
        .simulate(t_end=3, step=0.005, initial={"q(b, 2)": 0.8, "u(b, 1)": 20})
        for b in BACKENDS
    ]
    for channel in ("q(b, 1)", "q(b, 2)", "tyre_load"):
        assert runs[0][channel] == pytest.approx(runs[1][channel], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("k", "m", "rim", "chassis"),
    [
        (500, 1, 0.36076, 0.74114),
        pytest.param(1000, 1, 0.38038, 0.77057, marks=pytest.mark.campaign),
        (1e4, 5, 0.39019, 0.785285),
    ],
)
@pytest.mark.parametrize("model", rarely([1, 2], [1]))
def test_motorcycle_settles_at_its_static_heights(k, m, rim, chassis, model):
    """The tyre carries rim and chassis part, the suspension the chassis part."""
    s = bc.vehicles.motorcycle(model=model, rim=m, chassis=m, k=(k, k), c=(0.1 * k, 0.1 * k))
    run = s.equations().compile().simulate(t_end=6, output_every=100, parameters={"g": G})
    for side in ("rear", "front"):
        assert run[f"{side}.rim.z"][-1] == pytest.approx(0.4 - 2 * m * G / k, abs=1e-9)
        assert run[f"{side}.chassis.z"][-1] == pytest.approx(0.8 - 3 * m * G / k, abs=1e-9)
        assert run[f"{side}.rim.z"][-1] == pytest.approx(rim, abs=6e-6)
        assert run[f"{side}.chassis.z"][-1] == pytest.approx(chassis, abs=6e-6)


@pytest.mark.campaign
def test_motorcycle_with_constraints_moves_as_that_with_a_frame():
    runs = []
    for coordinates in ("minimal", "redundant"):
        s = bc.vehicles.motorcycle(coordinates=coordinates, terrain=bc.vehicles.terrain.hill())
        masses = [f"{side}.{part}" for side in ("rear", "front") for part in ("rim", "chassis")]
        start = (
            {"u(frame, 1)": 5} if coordinates == "minimal" else {f"u({m}, 1)": 5 for m in masses}
        )
        runs.append(
            s.equations()
            .compile()
            .simulate(t_end=4, output_every=20, initial=start, parameters={"g": G})
        )
    for channel in ("rear.rim.x", "rear.rim.z", "front.chassis.z", "pitch", "front.tyre_load"):
        assert runs[1][channel] == pytest.approx(runs[0][channel], rel=1e-7, abs=1e-7)
    assert np.abs(runs[1]["rod"] - 1).max() < 1e-12


@pytest.mark.campaign
def test_motorcycle_slows_down_exponentially_by_rolling_resistance():
    """Van Iwaarden's test 5: both tyres brake in proportion to speed; all masses share one forward
    speed."""
    s = bc.vehicles.motorcycle(rolling_resistance=1.0)
    rest = {"q(frame, 2)": -3 * G / 1000, "q(rear.rim)": G / 1000, "q(front.rim)": G / 1000}
    run = (
        s.equations()
        .compile()
        .simulate(
            t_end=3, output_every=50, initial={**rest, "u(frame, 1)": 20}, parameters={"g": G}
        )
    )
    speed = np.gradient(run["rear.rim.x"], run.time, edge_order=2)
    assert speed[1:-1] == pytest.approx(20 * np.exp(-2 * run.time[1:-1] / 4), rel=5e-3)


def test_motorcycle_falls_onto_a_slope_front_first():
    """Van Iwaarden's test 7: contact in front after 0.4 s, behind after 0.44 s.

    Until then the suspensions, overdamped, reach their relaxed length while the mass centre falls
    freely; the slope is touched when the rim is 0.4 m off it.
    """
    s = bc.vehicles.motorcycle(terrain=bc.vehicles.terrain.ramp(0.2, height=-1))
    start = {
        "q(frame, 2)": 0.7392 - 0.8,
        "q(rear.rim)": -0.3804 + 0.4,
        "q(front.rim)": -0.3804 + 0.4,
    }
    run = (
        s.equations()
        .compile()
        .simulate(
            t_end=1,
            initial=start,
            parameters={"g": G},
            events={e: f"{e}.tyre_load > 0" for e in ("front", "rear")},
        )
    )
    first = {e: next(x.time for x in run.events if x.name == e) for e in ("front", "rear")}
    rim, touch = (0.3588 + 0.7392) / 2 - 0.2, 0.4 * math.sqrt(1.04) - 0.8
    assert first["front"] == pytest.approx(math.sqrt(2 * (rim - touch) / G), abs=1e-5)
    assert first["front"] == pytest.approx(0.4, abs=0.02) and first["rear"] == pytest.approx(
        0.44, abs=0.02
    )


def test_car_settles_at_its_static_equilibrium():
    front, rear, m, m_rim, k = 1.2, 1.4, 1200.0, 40.0, (200e3, 25e3)
    s = bc.vehicles.car(front=front, rear=rear, mass=m, rim=m_rim, k=k)
    run = s.equations().compile().simulate(t_end=10, output_every=100, parameters={"g": G})
    pitch = (
        run["q(chassis, 5)"][-1] * math.pi / 180
        if run.units["q(chassis, 5)"] == "deg"
        else run["q(chassis, 5)"][-1]
    )
    for axle, share in ((1, rear / (front + rear)), (2, front / (front + rear))):
        for side in "lr":
            # chassis weight by the lever rule, rims add their own; the pitch shifts levers by a few
            # parts in ten thousand
            assert run[f"w{axle}{side}.tyre_load"][-1] == pytest.approx(
                m * G * share / 2 + m_rim * G, rel=2e-3
            )
    total = sum(run[f"w{a}{s}.tyre_load"][-1] for a in (1, 2) for s in "lr")
    assert total == pytest.approx((m + 4 * m_rim) * G, rel=1e-9)
    sag = [
        m * G * share / 2 * (1 / k[1] + 1 / k[0]) + m_rim * G / k[0]
        for share in (rear / 2.6, front / 2.6)
    ]
    expected = 0.55 - (sag[0] * rear + sag[1] * front) / (front + rear)
    assert run["height"][-1] == pytest.approx(expected, abs=2e-4)
    assert pitch == pytest.approx((sag[0] - sag[1]) / 2.6, abs=2e-4)


@pytest.mark.campaign
def test_truck_with_three_axles_carries_its_weight():
    s = bc.vehicles.truck(axles=(3.0, -1.7, -3.0))
    run = s.equations().compile().simulate(t_end=8, output_every=500)
    loads = np.array([[run[f"w{a}{side}.tyre_load"][-1] for side in "lr"] for a in range(1, 4)])
    assert loads.sum() == pytest.approx((6000 + 6 * 200) * 9.80665, rel=1e-6)
    assert loads[:, 0] == pytest.approx(loads[:, 1], rel=1e-9)
    # chassis weight has no moment about its mass centre
    x = np.array([3.0, -1.7, -3.0])
    assert abs(((loads.sum(axis=1) - 400 * 9.80665) * x).sum()) < 2e-2 * 6000 * 9.80665


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda s: bc.vehicles.partial_vehicle(
                s, "p", rim=0, chassis=1, k=(1, 1), length=(1, 1)
            ),
            "rim=0: the mass must be positive",
        ),
        (
            lambda s: bc.vehicles.partial_vehicle(
                s, "p", rim=1, chassis=1, k=(1, 1), length=(1, 0)
            ),
            r"length=\(1, 0\) must be positive",
        ),
        (
            lambda s: bc.vehicles.partial_vehicle(s, "p", rim=1, chassis=1, k=1, length=(1, 1)),
            "k=1 must be two values",
        ),
        (
            lambda s: bc.vehicles.partial_vehicle(
                s, "p", contact=2, rim=1, chassis=1, k=(1, 1), length=(1, 1)
            ),
            "contact must be 0",
        ),
        (lambda s: bc.vehicles.motorcycle(model=3), "model=3"),
        (lambda s: bc.vehicles.truck(axles=(1,)), "at least two different numbers"),
        (
            lambda s: s.add_contact(
                "c", at=3, radius=1, terrain=bc.vehicles.terrain.flat(), tyre=bc.Tyre(1)
            ),
            "must be a body or a point",
        ),
        (
            lambda s: s.add_contact("c", at="o", radius=1, terrain="flat", tyre=bc.Tyre(1)),
            "is not one of bc.vehicles.terrain",
        ),
    ],
)
def test_bad_vehicles(make, message):
    with pytest.raises(bc.ModelError, match=message):
        make(bc.System("bad", axes="ISO 8855"))


@pytest.mark.campaign
@pytest.mark.parametrize("force", rarely([1500.0, -1500.0], [1500.0]))
def test_car_pitches_by_the_static_balance_when_it_is_driven_or_braked(force):
    """Moments about the wheel centres, where the forces of the rear wheels act: load moves by m a
    (h - l)/wheelbase."""
    m, m_rim, front, rear, k = 1200.0, 40.0, 1.3, 1.3, (200e3, 25e3)  # level at rest
    sim = bc.vehicles.car(front=front, rear=rear, mass=m, rim=m_rim, k=k).equations().compile()
    runs = [
        sim.simulate(
            t_end=6,
            output_every=500,
            parameters={"g": G},
            inputs={f"w2{side}.drive": f / 2 for side in "lr"},
        )
        for f in (0.0, force)
    ]
    a = force / (m + 4 * m_rim)
    lever = (
        runs[0]["height"][-1] - 0.3 + (m / 4 + m_rim) * G / k[0]
    )  # of the mass centre above the wheel centres
    moved = m * a * lever / (front + rear)
    for axle, sign in ((1, -1), (2, 1)):
        loads = [sum(r[f"w{axle}{side}.tyre_load"][-1] for side in "lr") for r in runs]
        assert loads[1] - loads[0] == pytest.approx(sign * moved, rel=0.03)
    pitch = runs[1]["q(chassis, 5)"][-1] - runs[0]["q(chassis, 5)"][-1]
    stiffness = 1 / (1 / k[0] + 1 / k[1])
    turn = (
        -moved / 2 / stiffness * 2 / (front + rear)
    )  # nose up when driven: negative about the y axis to the left
    if runs[0].units["q(chassis, 5)"] == "deg":
        turn = math.degrees(turn)
    assert pitch == pytest.approx(turn, rel=0.03)
