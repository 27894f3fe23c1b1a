"""Solid axles and twist beams in cars: statics, rates and loads next to geometry by hand; models
next to statics."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.linkage.chain import BASE
from bellcrank.linkage.measures import measure_wheel
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from bellcrank.vehicles.cars.metrics.handling_metrics import beam_stiffness, spring_rates
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    pitched_road_axes,
    roll_centre,
    static_spring_state,
    vertical_in_body_axes,
)
from tests.vehicles.car_by_hand import ARM_MASS, AXLE_MASS, BEAM, LINK_MASS, ROD_MASS, car_with

LONG = [
    pytest.param(kind, marks=pytest.mark.campaign)
    for kind in ("solid_axle", "watt_axle", "a_arm_axle")
]


@pytest.fixture(scope="module", params=["panhard_axle", BEAM, *LONG])
def car(request):
    return car_with(request.param)


@pytest.fixture(scope="module")
def level(car):
    """The car at its drawn position, level, its wheel centres 0.3 m above the ground."""
    z = car.data.rear.linkage.points[car.data.rear.linkage.chain.hub][2]
    free = {n: 1.0 for n in ("front", "rear")}
    return replace(
        car.stand, height=0.3 - z, pitch=0.0, roll=0.0, travel=(0.0,) * 4, free_length=free
    )


def at(linkage, name):
    return np.array(linkage.points[name])


def mass_on_linkage(kind):
    """Mass of all that moves but the wheels."""
    axle = AXLE_MASS + 2 * ROD_MASS
    return {BEAM: 2 * ARM_MASS, "panhard_axle": axle + LINK_MASS}.get(kind, axle)


def test_loads_carry_the_weight_of_every_part_once(car):
    """Also a rod that is given for the left side and counts on both, and a part that both wheels
    share."""
    sections, kind = car.data.sections, car.data.rear.linkage.name
    front, rear = sections.front, sections.rear
    unsprung = mass_on_linkage(kind) + 2 * (
        front.carrier.mass + front.links["lower_arm"].mass + front.wheel.mass + rear.wheel.mass
    )
    mass = sections.body.mass + 75.0 + sections.steering.rack_mass + unsprung
    assert car.stand.mass == pytest.approx(mass, rel=1e-12)
    assert sum(car.stand.wheel_load) == pytest.approx(mass * GRAVITY, rel=1e-9)
    up = vertical_in_body_axes(car.stand.pitch, car.stand.roll)
    of_loads = sum(
        f * np.cross(p, up)
        for f, p in zip(car.stand.wheel_load, car.stand.contact_points, strict=True)
    )
    assert of_loads == pytest.approx(
        mass * GRAVITY * np.cross(car.stand.mass_centre, up), abs=1.0
    )  # N m: inclined tyres add some


def test_roll_centre_and_roll_steer_are_those_of_the_linkage(car, level):
    """The linkage's own are compared with lines through instant centres in
    tests/linkage/test_axles.py."""
    rear = car.data.rear
    chain = rear.linkage.chain
    alone = bc.linkage.Linkage(replace(chain, vehicle={**chain.vehicle, "tyre_radius": 0.3}))
    height = measure_wheel(alone, 0.0)["roll_centre_height"][0]
    assert roll_centre(rear, level) == pytest.approx(height, rel=1e-9)
    h = 1e-3
    toe = car.kinematics("rear", [-h, h], mode="opposite")["toe"]
    own = measure_wheel(alone, np.array([-h, h]), mode="opposite")["toe"]
    assert np.diff(toe) == pytest.approx(np.diff(own), rel=1e-9)


def test_a_arm_axle_rolls_about_the_line_through_its_ball():
    car = car_with("a_arm_axle")
    linkage = car.data.rear.linkage
    a, b = at(linkage, "lower_left_base"), at(linkage, "lower_left_axle")
    ball, far = at(linkage, "arm_axle"), b + (b - a) * b[1] / (a[1] - b[1])
    height = ball[2] - (far[2] - ball[2]) / (far[0] - ball[0]) * (
        ball[0] - at(linkage, "wheel_left")[0]
    )
    z = at(linkage, "wheel_left")[2]
    stand = replace(car.stand, height=0.3 - z, pitch=0.0, roll=0.0, travel=(0.0,) * 4)
    assert roll_centre(car.data.rear, stand) == pytest.approx(height + 0.3 - z, rel=1e-9)


def test_springs_of_a_solid_axle_hold_roll_by_the_square_of_their_distance():
    """Vertical springs without preload, inside of the wheels: in heave at their full rate, in roll
    by (s/b)^2."""
    car = car_with("watt_axle", bump_stop=None, rebound_stop=None)
    rear = car.data.rear
    ends = [at(rear.linkage, p) for p in rear.spring]
    length = np.linalg.norm(ends[0] - ends[1])
    stand = replace(car.stand, travel=(0.0,) * 4, free_length={"front": 1.0, "rear": length})
    heave, roll = spring_rates(rear, stand)
    drop = rear.pose(0.0).point("spring_left").d[2]  # the axle pitches a little on its rods
    assert heave == pytest.approx(40e3 * drop**2, rel=1e-5)
    assert roll == pytest.approx(40e3 * (ends[0][1] / rear.half_track) ** 2, rel=1e-5)


def test_cross_beam_holds_roll_by_the_square_of_its_twist():
    """An arm that turns by w for unit travel, about the line from its pivot to the shear centre,
    twists the beam by 2 w across: k (2 w b)^2 over the roll angle at a half track b."""
    car = car_with(BEAM)
    linkage = car.data.rear.linkage
    axis = at(linkage, "shear_centre") - at(linkage, "pivot_left")
    turn = axis / np.cross(axis, at(linkage, "wheel_left") - at(linkage, "pivot_left"))[2]
    b = car.data.rear.half_track
    found = beam_stiffness(car.data.rear, replace(car.stand, travel=(0.0,) * 4), 2 * b)
    assert found == pytest.approx(np.degrees(90.0) * (2 * turn[1] * b) ** 2, rel=1e-9)


def test_roll_stiffness_on_the_rig_is_that_of_the_metrics(car):
    stands = car.stand.travel[2]
    rig = car.kinematics("rear", [0.0], mode="opposite")
    assert stands == pytest.approx(0.0, abs=1e-3)
    assert rig["roll_stiffness"][0] == pytest.approx(car.metrics["roll_stiffness_rear"], rel=0.02)
    rates = spring_rates(car.data.rear, replace(car.stand, travel=(0.0,) * 4))
    parallel = car.kinematics("rear", [0.0])
    assert parallel["vertical_wheel_rate"][0] == pytest.approx(
        rates.heave, rel=1e-3
    )  # of one side: a Panhard rod's differ
    load = car.kinematics("rear", stands)["wheel_load"][0]
    assert load == pytest.approx((car.stand.wheel_load[2] + car.stand.wheel_load[3]) / 2, rel=2e-3)


@pytest.mark.campaign
def test_loads_of_an_axle_are_those_of_statics(car):
    """At rest its springs carry what virtual work over both travels found; a Panhard rod divides
    them unevenly."""
    table = car.loads("rear")
    rest, bend = table["rest"], table["cornering 0.8 g"]
    force = static_spring_state(car.data.rear, car.stand)[1]
    both = rest["spring_left"].size + rest["spring_right"].size
    assert both == pytest.approx(2 * force, rel=2e-3)
    assert bend["spring_left"].size > 1.05 * bend["spring_right"].size  # the left wheel is outside


@pytest.mark.campaign
def test_forces_on_an_axle_in_a_bend_balance(car):
    """Tyres, rods, springs, weight and inertia of all that moves, next to what the table has at the
    ends on the body."""
    rear = car.data.rear
    (case,) = car.loads("rear", {"bend": {"cornering": 0.8}}).cases
    total = np.zeros(3)
    for name, part in case.held.parts.items():
        total += part.force * on_the_axle(rear.linkage.chain, rear.spring, name)
    load, up = sum(car.stand.load[2:]), pitched_road_axes(car.stand.pitch)[2]
    tyres = load * up + np.array([0.0, -0.8 * load, 0.0])  # to the right: the left wheel is outside
    moves = mass_on_linkage(rear.linkage.name) + 2 * rear.record.wheel.mass
    total += tyres + moves * GRAVITY * (np.array([0.0, 0.8, 0.0]) - up)
    assert total == pytest.approx(np.zeros(3), abs=1e-6 * load)


def on_the_axle(chain, spring, name):
    """1 for a part whose force on what moves comes from the body, -1 where the table has its
    opposite, else 0."""
    rods = {r.name: r for r in chain.rods}
    if name.startswith("spring"):  # on the first end of a strut
        return -1.0 if chain.points[spring[0]].body == BASE else 1.0
    rod, _, end = name.partition(".")
    if rod in rods and end:  # on a rod with mass, at one of its ends
        return float(chain.points[end].body == BASE)
    if rod in rods:  # on the outer end
        ends = [chain.points[p].body == BASE for p in (rods[rod].first, rods[rod].second)]
        return 1.0 if ends == [True, False] else -1.0 if ends == [False, True] else 0.0
    joint = next((j for j in chain.joints if j.name == name), None)
    if joint is None:  # an end of a hinge, on the body
        return 1.0
    return 1.0 if joint.first == BASE else -1.0 if joint.second == BASE else 0.0


@pytest.mark.parametrize(
    ("kind", "rear", "said"),
    [
        (BEAM, {"twist_stiffness": None}, "rear.twist_stiffness is missing"),
        (
            "watt_axle",
            {"twist_stiffness": "1 N-m/deg"},
            "twist_stiffness belongs to a twist beam; this is a solid_axle_watt",
        ),
        ("watt_axle", {"at": [-2.7, 0.1, 0]}, "rear.at: its y must be 0"),
        (
            "watt_axle",
            {"spring": {"strut": "upper_base, upper_axle"}},
            "has no counterpart on the right",
        ),
    ],
)
def test_what_an_axle_cannot_have_is_reported(kind, rear, said):
    with pytest.raises(ModelError, match=said):
        car_with(kind, **rear)


def test_front_wheels_on_a_solid_axle_cannot_be_steered():
    with pytest.raises(ModelError, match="has no rack, so the front wheels could not be steered"):
        bc.vehicles.Car.read("passenger").changed(front={"suspension": {"shipped": "watt_axle"}})


# ---- de Dion axle


@pytest.fixture(scope="module")
def de_dion():
    tube = {"mass": "38 kg", "inertia": ["6 kg-m2", "0.6 kg-m2", "6 kg-m2"]}
    return car_with("de_dion", carrier=tube, links=None).changed(
        drive={"driven": "rear", "reaction": "body"}
    )


def side_view_centre(linkage):
    """x and z where the lines of lower and upper rods meet in side view."""
    lines = [
        (at(linkage, f"{n}_base")[::2], at(linkage, f"{n}_axle")[::2])
        for n in ("lower_left", "upper")
    ]
    rows = [[-(b - a)[1], (b - a)[0]] for a, b in lines]
    return np.linalg.solve(
        rows, [row @ a for row, (a, _) in zip(np.array(rows), lines, strict=True)]
    )


def slope_to(linkage, place):
    """Slope of the line from a point of the wheel's plane to the side-view centre."""
    x, z = side_view_centre(linkage)
    return (z - place[2]) / (x - place[0])


def test_a_de_dion_axle_stays_upright_in_heave_and_follows_its_tube_in_roll(de_dion):
    """Camber in roll is the inclination of the line through the wheel centres; the Watt linkage
    steers by 0.0001 deg."""
    z = np.array([-0.06, -0.03, 0.0, 0.03, 0.06])
    heave, roll = (de_dion.kinematics("rear", z, mode=mode) for mode in ("parallel", "opposite"))
    for name in ("toe", "camber"):
        assert heave[name] == pytest.approx(np.zeros(5), abs=2e-4)
    assert roll["camber"] == pytest.approx(-np.degrees(np.arcsin(z / 0.74)), rel=1e-4, abs=1e-9)
    h = 1e-3
    toe = np.diff(de_dion.kinematics("rear", [-h, h], mode="opposite")["toe"])[0] / (2 * h)
    lower, pivot = de_dion.data.rear.linkage, at(de_dion.data.rear.linkage, "lever_pivot")
    a, b = at(lower, "lower_left_base"), at(lower, "lower_left_axle")
    far = b + (b - a) * b[1] / (a[1] - b[1])  # where the lower rods meet in the middle plane
    slope = (far[2] - pivot[2]) / (far[0] - pivot[0])
    assert toe == pytest.approx(-np.degrees(slope) / 0.74, rel=1e-3)


def test_anti_squat_of_a_de_dion_axle_is_that_of_its_wheel_centres(de_dion):
    """Torque on the body: the line from the wheel centre to the side-view instant centre; on the
    axle: from the contact. Lift while braking by the same rule, with brakes inboard or outboard."""
    linkage = de_dion.data.rear.linkage
    centre = at(linkage, "wheel_left")
    ground = centre - [0, 0, de_dion.stand.height + centre[2] + de_dion.data.rear.record.at[2]]
    scale = 100 * de_dion.metrics["wheelbase"] / de_dion.metrics["cg_height"]
    body, carrier = (scale * slope_to(linkage, place) for place in (centre, ground))
    assert carrier > 2 * body
    share = 1 - de_dion.data.sections.brakes.front_share
    live = de_dion.changed(drive={"reaction": "carrier"}, brakes={"inboard": "rear"})
    for car, drives, brakes in ((de_dion, body, carrier), (live, carrier, body)):
        found = car.kinematics("rear", 0.0)
        assert found["anti_squat"][0] == pytest.approx(drives, rel=1e-6)
        assert found["anti_lift_braking"][0] == pytest.approx(share * brakes, rel=1e-6)


def test_springs_of_a_de_dion_axle_feel_drive_by_the_path_of_its_wheel_centres(de_dion):
    """Virtual work at a given travel: a driving force relieves the springs by its slope, as torque
    acts on the body or on the axle."""
    linkage = de_dion.data.rear.linkage
    push, found = 1500.0, {}
    for torque in ("body", "carrier"):
        cases = {
            name: {"fx": f"{fx} N", "fz": "3000 N", "torque": torque, "travel": "0 m"}
            for name, fx in (("rolls", 0.0), ("drives", push))
        }
        table = de_dion.loads("rear", cases)
        found[torque] = (
            table["rolls"]["spring_left"].magnitude - table["drives"]["spring_left"].magnitude
        )
    rise = (
        -np.diff(linkage.solve(np.array([-1e-4, 1e-4])).point("spring_left").position, axis=0)[0]
        / 2e-4
    )
    line = at(linkage, "spring_left_base") - at(linkage, "spring_left")
    ratio = -rise @ line / np.linalg.norm(line)
    contact = de_dion.stand.contact_points[2] - de_dion.data.rear.record.at
    for torque, place in (("body", at(linkage, "wheel_left")), ("carrier", contact)):
        slope = slope_to(linkage, place) - np.tan(de_dion.stand.pitch)  # forces act along the road
        assert found[torque] * ratio == pytest.approx(push * slope, rel=2e-3)


def test_inboard_brakes_do_not_twist_the_carrier(de_dion):
    with pytest.raises(ModelError, match=r"rear.compliance.toe_by_brake_torque: inboard brakes"):
        de_dion.changed(
            brakes={"inboard": "rear"}, rear={"compliance": {"toe_by_brake_torque": "1e-5 rad/N-m"}}
        )
    with pytest.raises(ModelError, match=r"brakes.inboard"):
        de_dion.changed(brakes={"inboard": "back"})


@pytest.mark.campaign
def test_a_de_dion_axle_drives_and_brakes_as_by_hand(de_dion):
    """The compiled car in steady acceleration and braking: springs carry load less unsprung weight,
    less the longitudinal force times the slope of the wheel centres' path."""
    car = de_dion.changed(
        brakes={"inboard": "rear"}, rear={"bump_stop": None, "rebound_stop": None}
    )
    sim = car.system(speed=20.0).equations().compile()
    rear = car.data.rear
    own = (rear.record.carrier.mass + 2 * rear.record.wheel.mass) * GRAVITY
    for inputs in ({"drive": 1500.0}, {"brake": 1500.0}):
        run = sim.simulate(t_end=3.0, step=1e-3, inputs=inputs)
        z = run["rl.travel"][-1]
        m = car.kinematics("rear", z)
        slope = m["anti_squat"][0] / 100 * car.metrics["cg_height"] / car.metrics["wheelbase"]
        load, along = (
            sum(run[f"{w}.{k}"][-1] for w in ("rl", "rr")) for k in ("tyre_load", "tyre.fx")
        )
        springs = sum(run[f"{w}.spring_force"][-1] for w in ("rl", "rr")) * m["spring_ratio"][0]
        assert springs == pytest.approx(load - own - along * slope, rel=0.01)


# ---- models


@pytest.fixture(scope="module")
def van():
    return bc.vehicles.Car.read("van")


@pytest.fixture(scope="module")
def sim(van):
    return van.system(speed=0).equations().compile()


@pytest.mark.campaign
def test_the_van_stands_still_where_statics_found_it(van, sim):
    """Virtual work over travels, and the equations of motion, with a driver on the left. Compliance
    moves the front wheels by 0.2 um as tyres resist their inclination."""
    run = sim.simulate(t_end=0.5)
    assert van.stand.roll < -1e-3
    for name, travel, load in zip(CORNERS, van.stand.travel, van.stand.load, strict=True):
        assert run[f"{name}.travel"] == pytest.approx(np.full(run.time.size, travel), abs=1e-6)
        assert run[f"{name}.tyre_load"] == pytest.approx(np.full(run.time.size, load), abs=0.1)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["solid_axle", "panhard_axle", "watt_axle", "a_arm_axle", BEAM])
def test_cars_stand_still_where_statics_found_them(kind):
    car = car_with(kind).changed(loads={"driver": {"at": ["-1.35 m", "0.37 m", "0.6 m"]}})
    run = car.system(speed=0).equations().compile().simulate(t_end=0.3)
    for name, travel in zip(CORNERS, car.stand.travel, strict=True):
        assert run[f"{name}.travel"] == pytest.approx(np.full(run.time.size, travel), abs=1e-6)


@pytest.mark.campaign
def test_wheel_hop_and_tramp_of_the_van_by_hand(van):
    """Natural frequencies on tyres without lateral forces, without dampers and friction of the
    leaves. Hop: body in heave and pitch, both axles. Tramp: the axle rolls about its roll centre
    under a body at rest; its wheels carry the weight at the height of their centres, which takes
    stiffness away."""
    tyre = {
        "size": None, "model": "fiala", "units": ["N", "N/rad", "m", "N/mm", "N-s/m"], "c_slip": 10, "c_alpha": 10,
        "umax": 0.9, "umin": 0.8, "width": 0.235, "radius": 0.356, "vertical_stiffness": 495, "vertical_damping": 0,
        "rolling_resistance": 0,
    }  # fmt: skip
    plain = {"compliance": None, "tyre": tyre}
    dry = {"friction": None, "friction_travel": None}
    car = van.changed(loads={"driver": None}, front=plain, rear={**plain, "spring": dry})
    sim = car.system(speed=20).equations().compile()
    modes = sim.linearize(at="start", parameters={"c_front": 0.0, "c_rear": 0.0}).modes
    hop, tramp = (
        max(modes, key=lambda m, i=i: m.participation[m.states.index(f"u(rear.axle, {i})")])
        for i in (1, 2)
    )
    front, rear, body = car.data.sections.front, car.data.sections.rear, car.data.sprung
    assert hop.damping == pytest.approx(0, abs=1e-4) and tramp.damping == pytest.approx(0, abs=1e-4)

    # heave, pitch, front wheels, rear axle; a third of the lower arms moves with the front wheels
    ahead, k_tyre, k_leaf = body.cg[0], 495e3, rear.spring.stiffness
    corner = front.carrier.mass + front.wheel.mass + front.links["lower_arm"].mass / 3
    axle = rear.carrier.mass + 2 * rear.wheel.mass
    k_front = 1e3 * car.metrics["wheel_rate_front"]
    K = np.zeros((4, 4))
    for k, stretch in (
        (k_front, [1, ahead, -1, 0]),
        (k_leaf, [1, ahead + car.metrics["wheelbase"], 0, -1]),
        (k_tyre, [0, 0, 1, 0]),
        (k_tyre, [0, 0, 0, 1]),
    ):
        K += 2 * k * np.outer(stretch, stretch)
    found = np.sqrt(
        eigh(K, np.diag([body.mass, body.inertia[1, 1], 2 * corner, axle]), eigvals_only=True)
    )
    assert hop.natural_frequency == pytest.approx(found[2] / (2 * np.pi), rel=2e-3)

    points = car.data.rear.linkage.points
    _, half, low = points["wheel_left"]
    seat, high = points["spring_left"][1], points["leaf_centre"][2]
    across = (
        2 * rear.wheel.mass * half**2 + rear.wheel.spin_inertia
    )  # twice half of it, about a diameter
    inertia = rear.carrier.inertia[0] + across + axle * (high - low) ** 2
    weight = sum(car.stand.load[2:]) * low
    stiffness = 2 * k_tyre * half**2 + 2 * k_leaf * seat**2 + rear.anti_roll_bar.stiffness - weight
    assert tramp.natural_frequency == pytest.approx(
        np.sqrt(stiffness / inertia) / (2 * np.pi), rel=5e-3
    )


@pytest.mark.campaign
def test_friction_of_leaves_turns_round_exponentially_over_the_deflection(van, sim):
    """Fancher and others (1980): F = +-F0 + (F1 -+ F0) exp(-|x - x1|/b) from every reversal (x1,
    F1)."""
    run = sim.simulate(
        t_end=2.0, initial={"u(chassis, 3)": 0.4, "u(chassis, 6)": 0.3}, step=0.0005, output_every=1
    )
    spring = van.data.sections.rear.spring
    f = run["rl.leaves"]
    x = (run["rl.spring_force"] - f) / spring.stiffness  # the stops are far
    assert np.ptp(x) < 0.1 and np.ptp(f) > spring.friction
    ends = [0, *(np.flatnonzero(np.diff(np.sign(np.diff(x)))) + 1), len(x) - 1]
    moves = [(a, b) for a, b in pairwise(ends) if abs(x[b] - x[a]) > 1e-3]
    assert len(moves) > 4
    for a, b in moves:
        most = spring.friction * np.sign(x[b] - x[a])
        wanted = most + (f[a] - most) * np.exp(-abs(x[a : b + 1] - x[a]) / spring.friction_travel)
        assert f[a : b + 1] == pytest.approx(wanted, abs=0.02 * spring.friction)
