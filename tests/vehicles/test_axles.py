"""Axles of trucks and trailers: dual tyres, steered wheels, more than two axles, against closed
forms and statics by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.running_gear.wheel_tyres import add_tyres
from bellcrank.vehicles.cars.statics.static_equilibrium import spring_force, static_spring_state
from bellcrank.vehicles.force_laws import dual_tyre_offsets, wheel_static_load
from bellcrank.vehicles.terrain.terrain import flat

SPACING = 0.34
TYRE = {
    "model": "fiala", "units": ["N", "N/rad", "m", "N/mm", "N-s/m"], "c_slip": 90e3, "c_alpha": 58e3, "umax": 0.95,
    "umin": 0.8, "width": 0.205, "radius": 0.3135, "vertical_stiffness": 200, "vertical_damping": 400,
    "rolling_resistance": 0.0,
}  # fmt: skip
HALF = {**TYRE, "c_slip": 45e3, "c_alpha": 29e3, "vertical_stiffness": 100, "vertical_damping": 200}
FIALA = bc.vehicles.tyres.Fiala(
    c_slip=90e3,
    c_alpha=58e3,
    umax=0.95,
    umin=0.8,
    width=0.205,
    radius=0.3135,
    vertical_stiffness=2e5,
    vertical_damping=400.0,
    rolling_resistance=0.0,
)


# ---- dual tyres


def test_an_inclined_pair_shares_its_load_by_height():
    """Wheel inclined by gamma: its tyres differ by the load k s tan(gamma); the load acts off the
    middle by the moment of that difference."""
    gamma, k = 0.02, FIALA.vertical_stiffness
    wheel = SimpleNamespace(tyre=FIALA, tyre_offsets=dual_tyre_offsets(SPACING))
    axis, up = np.array([0.0, math.cos(gamma), math.sin(gamma)]), np.array([0.0, 0.0, 1.0])
    height = 0.29 * math.cos(gamma)
    pair = wheel_static_load(wheel, 1, np.zeros(3), axis, up, height)
    assert pair.load == pytest.approx(2 * k * (0.3135 - 0.29), rel=1e-9)
    single = wheel_static_load(
        SimpleNamespace(tyre=FIALA, tyre_offsets=(0.0,)), 1, np.zeros(3), axis, up, height
    )
    # the left tyre is higher, so the right one carries more
    arm = -k * SPACING**2 / 2 * math.tan(gamma) / math.cos(gamma) / pair.load
    assert pair.contact[1] - single.contact[1] == pytest.approx(arm, rel=1e-9)


@pytest.mark.campaign
def test_a_pair_of_tyres_with_half_the_stiffness_stands_as_one():
    """Wheels stand on flat ground as on one tyre with the stiffness of both: loads, figures, load
    cases."""

    def car(tyre, spacing):
        own = {"tyre": {**tyre, "size": None}, "dual_spacing": spacing}
        trailer = {
            "shipped": "caravan",
            "hitch": {"at": ["-4.6 m", "0 m", "0.43 m"]},
            "axles": {"axle": own},
        }
        return bc.vehicles.Car.read("van").changed(rear=own, trailers={"caravan": trailer})

    one, two = car(TYRE, None), car(HALF, f"{SPACING} m")
    axles = [(sum(c.stand.load[:2]), sum(c.stand.load[2:])) for c in (one, two)]
    assert axles[1] == pytest.approx(
        axles[0], rel=2e-4
    )  # the driver sits on the left, so pairs are inclined a little
    assert two.metrics["load_caravan_axle"] == pytest.approx(
        one.metrics["load_caravan_axle"], rel=1e-4
    )
    assert two.metrics["cornering_tyres_rear"] == pytest.approx(
        one.metrics["cornering_tyres_rear"], rel=1e-9
    )
    cases = {"bump": {"bump": 1.5}}
    found = [c.loads("rear", cases).cases[0].held.parts["spring_left"].size for c in (one, two)]
    assert found[1] == pytest.approx(found[0], rel=1e-3)
    with pytest.raises(ModelError, match="one tyre each"):
        one.changed(front={"dual_spacing": "0.3 m"})


def test_a_pair_resists_yaw():
    """A free wheel on a circle of radius R: its tyres slip by s/(2 R), one ahead and one back, so
    their yaw resistance is c_slip s^2/(2 R). On flat ground each carries half of the load."""
    radius, height, speed = 20.0, 0.29, 5.0
    s = bc.System("pair", axes="ISO 8855")
    arm = s.add_body("arm", rotate=3, mass=1e5, inertia=(1e6, 1e6, 1e6))
    wheel = s.add_body(
        "w.wheel", arm, rotate=2, joint_at=(0, -radius, height), mass=50, inertia=(1, 2, 1)
    )
    s.add_parameter("dual", SPACING, units="L", label="distance of the tyres")
    add_tyres(s, "w", -1, wheel, flat(), FIALA, "dual")
    start = {"u(arm)": speed / radius, "u(w.wheel)": speed / 0.3}
    run = s.equations().compile().simulate(t_end=1.0, step=1e-3, method="rk4", initial=start)
    load = FIALA.vertical_stiffness * (0.3135 - height)
    assert run["w.outer_load"][-1] == pytest.approx(load, rel=1e-9)
    assert run["w.inner_load"][-1] == pytest.approx(load, rel=1e-9)
    assert run["w.tyre_load"][-1] == pytest.approx(2 * load, rel=1e-9)
    slip = SPACING / (2 * radius)
    assert run["w.inner.kappa"][-1] == pytest.approx(slip, rel=0.02)
    assert run["w.outer.kappa"][-1] == pytest.approx(-slip, rel=0.02)
    assert run["w.tyre.fx"][-1] == pytest.approx(0.0, abs=0.01 * FIALA.c_slip * slip)
    assert run["w.tyre.mz"][-1] == pytest.approx(
        -FIALA.c_slip * SPACING**2 / (2 * radius), rel=0.02
    )


@pytest.mark.campaign
def test_a_van_with_dual_tyres_and_a_trailer_with_some():
    """The compiled model begins with the loads of the statics. Both tyres of upright wheels carry
    the same; the hitch carries what the tyres of the trailer do not."""
    own = {"dual_spacing": "0.32 m"}
    trailer = {
        "shipped": "caravan",
        "hitch": {"at": ["-4.6 m", "0 m", "0.43 m"]},
        "axles": {"axle": own},
    }
    car = bc.vehicles.Car.read("van").changed(rear=own, trailers={"caravan": trailer})
    run = car.system(speed=10.0).equations().compile().simulate(t_end=0.3, step=1e-3)
    (towed,) = car.stand.trailers
    loads = {**dict(zip(("fl", "fr", "rl", "rr"), car.stand.wheel_load, strict=True)), **towed.load}
    for wheel, load in loads.items():
        assert run[f"{wheel}.tyre_load"][0] == pytest.approx(load, rel=1e-9)
    for tyre in ("outer", "inner"):
        assert run[f"caravan.axle_l.{tyre}_load"][0] == pytest.approx(
            loads["caravan.axle_l"] / 2, rel=1e-6
        )
        assert run[f"rl.{tyre}_load"][0] == pytest.approx(
            loads["rl"] / 2, rel=3e-3
        )  # the van rolls a little
    assert run["rl.tyre.fx"] == pytest.approx(run["rl.outer.fx"] + run["rl.inner.fx"])
    assert run["caravan.hitch_fz"][0] == pytest.approx(towed.hitch_load, rel=2e-3)


# ---- steered axles of trailers


ROLLS_FREELY = {**TYRE, "size": None}


@pytest.fixture(scope="module")
def steered():
    """A caravan whose wheels are steered by the articulation angle, behind a car with tyres that do
    not resist."""
    return bc.vehicles.Car.read("caravan").changed(
        front={"tyre": ROLLS_FREELY},
        rear={"tyre": ROLLS_FREELY},
        trailers={
            "caravan": {"axles": {"axle": {"tyre": ROLLS_FREELY, "steering": {"ratio": 0.5}}}}
        },
    )


def steered_radius(hitch, behind, length, ratio):
    """Radius of the path of a steered axle without slip in a steady circle to the left.

    The axle lies `length` behind the hitch, which goes round the centre at the radius `hitch`,
    `behind` the rear axle of the car. The wheels stand at delta = ratio*phi, phi: articulation
    angle, to the left. The centre lies on the line through the axle across its wheels: hitch^2 =
    length^2 + 2 length R sin(delta) + R^2.
    """
    delta = 0.0
    for _ in range(200):
        sine = length * math.sin(delta)
        radius = -sine + math.sqrt(sine**2 + hitch**2 - length**2)
        heading = math.atan2(
            length + radius * math.sin(delta), radius * math.cos(delta)
        )  # of the hitch, from the unit
        delta = 0.5 * delta - 0.5 * ratio * (heading + math.asin(behind / hitch))
    return radius, delta


def test_closed_form_of_a_steered_axle():
    """Without steering the tractrix; with the whole articulation angle and a hitch on the rear axle
    no off-tracking."""
    assert steered_radius(10.0, 0.0, 4.0, 0.0)[0] == pytest.approx(math.sqrt(84))
    assert steered_radius(10.0, 0.0, 4.0, 1.0)[0] == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("steering", "words"),
    [
        ({}, "either ratio"),
        ({"ratio": 0.5, "trail": "0.1 m"}, "either ratio"),
        ({"ratio": 0.5, "damping": "10 N-m-s/rad"}, "belong to a self-steering axle"),
    ],
)
def test_what_is_wrong_with_a_steered_axle(steering, words):
    with pytest.raises(ModelError, match=words):
        bc.vehicles.Car.read("caravan").changed(
            trailers={"caravan": {"axles": {"axle": {"steering": steering}}}}
        )


@pytest.mark.campaign
def test_a_steered_axle_cuts_in_less(steered):
    """Steady circle: the path of an axle without slip by the closed form, for three ratios."""
    found = []
    trailer = steered.data.trailers[0]
    behind, length = (
        float(steered.stand.contact[2][0]) - trailer.hitch[0],
        -trailer.axles[0].record.at[0],
    )
    for ratio in (0.0, 0.5, 1.0):
        car = steered.with_parameters({"steer_ratio_caravan_axle": ratio})
        result = bc.vehicles.manoeuvres.run(car, "off-tracking", radius=15.0, speed=3.0)
        hitch = math.hypot(result["radius_rear"], behind)
        radius, delta = steered_radius(hitch, behind, length, ratio)
        assert result["radius_caravan_axle"] == pytest.approx(radius, abs=0.01)
        assert result.run["caravan.axle_l.steer"][-1] == pytest.approx(math.degrees(delta), abs=0.1)
        found.append(result["off_tracking"])
    assert found[0] > found[1] > found[2]


@pytest.mark.campaign
def test_a_self_steering_axle_carries_no_lateral_force(steered):
    """Two axles, the second a castor without stiffness: the first one alone leads the trailer on
    its tractrix, and the wheels of the second stand along their path."""
    single = steered.given["trailers"]["caravan"]["axles"]["axle"]
    first = {
        **{key: value for key, value in single.items() if key != "steering"},
        "at": ["-3.9 m", "1 m", "-0.16 m"],
    }
    apart = 0.8
    second = {
        **first,
        "at": [f"{-3.9 - apart} m", "1 m", "-0.16 m"],
        "steering": {"trail": "0.12 m", "damping": "40 N-m-s/rad"},
    }
    axles = {"axle": None, "one": first, "two": second}
    car = steered.changed(trailers={"caravan": {"axles": axles, "equalisation": 1.0}})
    result = bc.vehicles.manoeuvres.run(car, "off-tracking", radius=15.0, speed=3.0)
    trailer = car.data.trailers[0]
    behind = float(car.stand.contact[2][0]) - trailer.hitch[0]
    one = math.sqrt(result["radius_rear"] ** 2 + behind**2 - 3.9**2)
    assert result["radius_caravan_one"] == pytest.approx(one, abs=0.02)
    run = result.run
    angle = -math.degrees(math.atan(apart / one))
    assert run["caravan.two_l.steer"][-1] == pytest.approx(angle, abs=0.2)
    assert run["caravan.two_r.steer"][-1] == run["caravan.two_l.steer"][-1]
    sides = sum(run[f"caravan.two_{side}.tyre.fy"][-1] for side in "lr")
    assert abs(sides) < 0.01 * sum(run[f"caravan.two_{side}.tyre_load"][-1] for side in "lr")


# ---- more axles of a car


@pytest.fixture(scope="module")
def truck():
    return bc.vehicles.Car.read("truck")


def test_loads_of_a_truck_with_three_axles(truck):
    """Statics by hand: forces and moments about the front axle, with equal loads of the tandem
    axles."""
    at, data = truck.stand, truck.data
    (second,) = data.added_axles
    tandem = sum(at.wheel_load[2:]), at.added.axle_load(second)
    assert tandem[1] == pytest.approx(tandem[0], rel=5e-3)
    weight = truck.metrics["mass"] * GRAVITY
    assert sum(at.wheel_load) + tandem[1] == pytest.approx(weight, rel=1e-9)
    front, rear, behind = 0.0, -3.9, -5.25
    parts = [
        (data.sprung.mass, data.sprung.cg[0]),
        (15, -0.2),
        (2 * (180 + 120), front),
        (700 + 2 * 240, rear),
        (second.unsprung_mass, behind),
    ]
    assert sum(m for m, _ in parts) == pytest.approx(truck.metrics["mass"])
    carried = GRAVITY * sum(m * x for m, x in parts) / ((rear + behind) / 2)  # by both rear axles
    assert sum(tandem) == pytest.approx(carried, rel=5e-3)
    assert sum(at.wheel_load[:2]) == pytest.approx(weight - carried, rel=5e-3)
    assert truck.metrics["load_second"] == tandem[1]
    assert truck.metrics["front_share"] == pytest.approx(1 - carried / weight, rel=5e-3)
    assert [s for s in truck.check() if "not measured" not in s] == []


def test_the_load_ratio_of_an_axle(truck):
    """6x2: an axle with six tenths of the load of the rear axle; moments about the front axle say
    the rest."""
    at = truck.changed(axles={"second": {"load_ratio": 0.6, "drive_ratio": 0.0}}).stand
    rear, second = sum(at.wheel_load[2:]), sum(at.added.load.values())
    assert second == pytest.approx(0.6 * rear, rel=1e-3)
    plain = truck.stand
    moment = 3.9 * sum(plain.wheel_load[2:]) + 5.25 * sum(plain.added.load.values())
    assert 3.9 * rear + 5.25 * second == pytest.approx(moment, rel=1e-3)


def test_ratios_of_trucks_are_as_usual_as_those_of_cars(truck):
    """Masses and forces of trucks are larger; friction, rolling resistance and ratios of loads are
    not."""
    rubber = {"umax": 2.5, "umin": 0.7, "rolling_resistance": 0.06, "c_slip": "900e3 N"}
    found = truck.changed(front={"tyre": rubber}, axles={"second": {"load_ratio": 3.0}}).check()
    odd = {s.split(" = ")[0] for s in found if "; usual is" in s}
    assert odd == {"front.tyre.umax", "front.tyre.rolling_resistance", "axles.second.load_ratio"}


@pytest.mark.parametrize(("aside", "words"), [(0.2, "200 mm below"), (-0.2, "200 mm above")])
def test_axles_that_are_not_drawn_on_the_road_are_reported(truck, aside, words):
    found = truck.changed(axles={"second": {"at": [-5.25, 0.92, 0.515 + aside]}}).check()
    assert any(
        s.startswith(f"axles.second: at rest its wheels are {words} where they are drawn")
        for s in found
    )


def test_castors_corner_as_their_centring_springs_hold_them(truck):
    """Slip angle of the wheels plus their steer angle: F/C + F (trail + pneumatic trail)/k. The
    latter is that of the locked axle; without a spring the axle carries no lateral force, and stiff
    springs lock it."""

    def figures(stiffness):
        steering = {
            "trail": "0.1 m",
            "damping": "3000 N-m-s/rad",
            "stiffness": f"{stiffness} N-m/rad",
        }
        return truck.changed(axles={"second": {"steering": steering}}).metrics

    locked, free, k = truck.metrics, figures(0.0), 1e5
    assert free["cornering_tyres_second"] == 0
    stiff = np.degrees(1000 * locked["cornering_tyres_second"])  # N/rad
    trail = float(
        truck.data.added_axles[0].tyre.on("left").forces(locked["load_second"] / 4, 0.0, 0.0).trail
    )
    found = np.degrees(1000 * figures(k)["cornering_tyres_second"])
    assert 1 / found == pytest.approx(1 / stiff + (0.1 + trail) / k, rel=1e-3)
    assert figures(1e10)["understeer_tyres"] == pytest.approx(locked["understeer_tyres"], rel=1e-3)
    assert free["understeer_tyres"] < figures(k)["understeer_tyres"] < locked["understeer_tyres"]


def test_load_cases_of_a_truck_share_the_forces_of_its_rear_axles(truck):
    """Braking: deceleration shifts the load by m a h over the distance to the middle of the tandem;
    each rear axle loses half of it, and brakes with half of the rear brake torque."""
    case = truck.loads("rear", {"stop": {"braking": 0.5}}).cases[0]
    f = truck.metrics
    shifted = f["mass"] * 0.5 * GRAVITY * f["cg_height"] / (3.9 + 1.35 / 2)
    assert case.force[2] == pytest.approx(
        (sum(truck.stand.wheel_load[2:]) - shifted / 2) / 2, rel=5e-3
    )
    assert case.force[0] == pytest.approx(-f["mass"] * 0.5 * GRAVITY * 0.67 / 4, rel=1e-6)


@pytest.mark.parametrize(
    ("axle", "words"),
    [
        ({"steering": {"ratio": 0.5}}, "no articulation angle"),
        ({"equalisation": 2.0}, "between 0 and 1"),
        ({"at": ["-5 m", "-0.9 m", "0.5 m"]}, "left wheel"),
        ({"kind": "independent"}, "belong to kind = 'rigid'"),
    ],
)
def test_what_is_wrong_with_one_more_axle(truck, axle, words):
    with pytest.raises(ModelError, match=words):
        truck.changed(axles={"second": axle})
    with pytest.raises(ModelError, match="a name of other parts"):
        truck.changed(axles={"rear": truck.given["axles"]["second"]})


@pytest.mark.campaign
def test_a_truck_on_uneven_ground_brakes_and_drives(truck):
    """The model begins with the loads of the statics. Equalised axles keep equal loads where one of
    them stands higher, others do not. Drive and brake torques of the tandem axles are equal."""
    sim = truck.system(speed=10.0, road_inputs=True).equations().compile()
    high = bc.signals.sampled([0.0, 0.5, 1.5, 10.0], [0.0, 0.0, 0.02, 0.02])
    inputs = {"second_l.road": high, "second_r.road": high}
    loads = {
        **dict(zip(("fl", "fr", "rl", "rr"), truck.stand.load, strict=True)),
        **truck.stand.added.load,
    }
    tandem = {}
    for e in (1.0, 0.0):
        parameters = {} if e else {"k_equal_second": 0.0}
        run = sim.simulate(t_end=4.0, step=1e-3, method="rk4", inputs=inputs, parameters=parameters)
        assert all(run[f"{w}.tyre_load"][0] == pytest.approx(x, rel=1e-6) for w, x in loads.items())
        tandem[e] = [
            sum(run[f"{w}.tyre_load"][-1] for w in pair)
            for pair in (("rl", "rr"), ("second_l", "second_r"))
        ]
    assert tandem[1.0][1] == pytest.approx(tandem[1.0][0], rel=0.01)
    assert tandem[0.0][1] > 1.1 * tandem[0.0][0]
    run = sim.simulate(t_end=1.0, step=1e-3, method="rk4", inputs={"brake": 40000.0})
    for wheel, part in (("fl", 0.33 / 2), ("rl", 0.67 / 4), ("second_l", 0.67 / 4)):
        assert run[f"{wheel}.held"][-1] == pytest.approx(part * 40000, rel=1e-3)
    run = sim.simulate(t_end=1.0, step=1e-3, method="rk4", inputs={"drive": 8000.0})
    assert run["second_l.tyre.fx"][-1] == pytest.approx(run["rl.tyre.fx"][-1], rel=0.02)
    expected = (
        8000 / 4 / 0.515 - 0.006 * loads["second_l"]
    )  # less rolling resistance, and what turns the wheels
    assert run["second_l.tyre.fx"][-1] == pytest.approx(expected, rel=0.05)


# ---- air springs

AREA, VOLUME, EXPONENT, ATMOSPHERE = 0.009, 0.0035, 1.38, 101325.0


def with_air(**more):
    """The van with air springs at the rear, and nothing else that carries or damps there but its
    dampers."""
    air = {"area": f"{AREA} m2", "volume": f"{VOLUME} m3", **more}
    spring = {"stiffness": None, "friction": None, "friction_travel": None, "air": air}
    rear = {"spring": spring, "anti_roll_bar": None, "bump_stop": None, "rebound_stop": None}
    return bc.vehicles.Car.read("van").changed(rear=rear)


def test_an_air_spring_keeps_its_height_and_grows_stiffer_with_its_load():
    """The pressure follows the load: the van stands as drawn. The rate is n (F + p A) A/V, so the
    ride frequency hardly changes."""
    van, rides = with_air(), []
    for cargo in (640, 1300):
        car = van.changed(loads={"cargo": {"mass": f"{cargo} kg"}})
        assert sum(car.stand.travel[2:]) == pytest.approx(0.0, abs=1e-4)
        _, force = static_spring_state(car.data.rear, car.stand)
        rate = EXPONENT * (force + ATMOSPHERE * AREA) * AREA / VOLUME
        assert 1000 * car.metrics["wheel_rate_rear"] == pytest.approx(
            rate, rel=5e-3
        )  # links are not level at rest
        rides.append(car.metrics["ride_rear"])
    assert rides[1] == pytest.approx(rides[0], rel=0.05)
    with pytest.raises(ModelError, match="one of stiffness, table and air"):
        van.changed(rear={"spring": {"stiffness": "50 N/mm"}})
    with pytest.raises(ModelError, match="no free_length"):
        van.changed(rear={"spring": {"free_length": "0.3 m"}})
    with pytest.raises(ModelError, match="air springs do not have"):
        van.changed(setup={"cross_weight": 0.5})


def test_law_of_an_air_spring():
    """p V^n = const between two lengths, with the pressure of the atmosphere outside."""
    spring = with_air().data.rear.record.spring
    free, drawn = 0.9, 0.25
    a, b = (spring_force(spring, free, length, drawn) for length in (0.25, 0.20))
    pressures = [x / AREA + ATMOSPHERE for x in (a, b)]
    volumes = [VOLUME, VOLUME - 0.05 * AREA]
    assert pressures[1] / pressures[0] == pytest.approx(
        (volumes[0] / volumes[1]) ** EXPONENT, rel=1e-12
    )


@pytest.mark.campaign
def test_self_levelling_restores_the_ride_height():
    """A load that a run adds lowers the van; its height returns with the time constant of the
    valve. The air then carries the load at the volume at rest: F + p A grows as the mass of air."""
    time = 2.0
    sim = with_air(levelling_time=f"{time} s").system(speed=10.0).equations().compile()
    base = {p.name: p.default for p in sim.interface.parameters}
    heavier = {"m_body": base["m_body"] + 300.0}
    run = sim.simulate(
        t_end=20.0,
        step=1e-3,
        output_every=10,
        method="rk4",
        parameters=heavier,
        inputs={"drive": 400.0},
    )
    t, height = run.time, (run["rl.travel"] + run["rr.travel"]) / 2
    assert height.max() > 0.01  # wheels are higher in the body
    assert height[-1] == pytest.approx(0.0, abs=2e-4)
    i, j = np.searchsorted(t, (4.0, 6.0))
    assert height[j] / height[i] == pytest.approx(math.exp(-(t[j] - t[i]) / time), rel=0.15)
    force = (run["rl.spring_force"][-1] + run["rr.spring_force"][-1]) / 2
    expected = (base["f_static_rear"] + ATMOSPHERE * AREA) * (
        1 + run["rear.level"][-1]
    ) - ATMOSPHERE * AREA
    assert force == pytest.approx(expected, rel=1e-3) and force > 1.02 * base["f_static_rear"]


# ---- lift axles


def test_a_lifted_axle_carries_nothing(truck):
    """The truck stands as one without the axle that carries its mass. The other axles of a
    semi-trailer share the load by moments about the hitch, with the lifted axle as a mass of its
    body."""
    given = {key: value for key, value in truck.given.items() if key != "axles"}
    mass, (x, y, z) = truck.data.added_axles[0].unsprung_mass, truck.data.added_axles[0].record.at
    loads = {
        f"axle_{i}": {"mass": f"{mass / 2} kg", "at": [f"{v} m" for v in (x, side, z)]}
        for i, side in enumerate((y, -y))
    }
    light = {"cargo_front": {"mass": "1000 kg"}, "cargo_rear": {"mass": "1000 kg"}}
    lifted = truck.changed(axles={"second": {"lifted": True}}, loads=light)
    plain = bc.vehicles.Car(**given).changed(loads={**light, **loads})
    assert lifted.stand.added is None and lifted.stand.wheel_load == pytest.approx(
        plain.stand.wheel_load, rel=1e-9
    )
    assert lifted.metrics["mass"] == pytest.approx(plain.metrics["mass"])

    semi = bc.vehicles.Car.read("semi_trailer")
    (towed,) = semi.changed(
        trailers={"semi": {"axles": {"first": {"lifted": True}}}}
    ).stand.trailers
    trailer = semi.data.trailers[0]
    own = [
        (trailer.sprung.mass, trailer.sprung.cg[0]),
        *((a.unsprung_mass, a.record.at[0]) for a in trailer.axles),
    ]
    carried = GRAVITY * sum(m * x for m, x in own) / ((-7.71 - 9.02) / 2)
    assert sum(towed.load.values()) == pytest.approx(carried, rel=5e-3)
    assert {wheel[:-2] for wheel in towed.load} == {"semi.second", "semi.third"}
    assert towed.mass == pytest.approx(trailer.mass)
    every = {axle: {"lifted": True} for axle in ("first", "second", "third")}
    with pytest.raises(ModelError, match="not lifted"):
        semi.changed(trailers={"semi": {"axles": every}})
