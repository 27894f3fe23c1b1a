"""Steady motions and linear models of a whole car from hard points, next to hand formulas and runs.
Derived once for all."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import bellcrank as bc
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from bellcrank.vehicles.cars.statics.static_equilibrium import spin_axis
from bellcrank.vehicles.manoeuvres.steering_tests import frequency_response
from tests.vehicles import car_by_hand as hand

pytestmark = pytest.mark.campaign
AHEAD, V = "u(chassis, 1)", 80 / 3.6
SEEN = ("steering_wheel", "roll", "side_slip", "yaw_rate", "fl.tyre_load", "fr.tyre_load")


@pytest.fixture(scope="module")
def car():
    """Formulas by hand have stiff joints and two equal sides."""
    stiff = bc.vehicles.Car.read("passenger").changed(
        front={"compliance": None}, rear={"compliance": None}
    )
    return hand.symmetric(stiff)


@pytest.fixture(scope="module")
def sim(car):
    return car.system(speed=25).equations().compile()


@pytest.fixture(scope="module")
def straight(sim):
    return sim.equilibrium(fixed={AHEAD: V})


def channels(sim, at, names):
    """Outputs at a steady motion."""
    return {s.name: s.value for s in sim.linearize(at=at, outputs=names).outputs}


def test_at_rest_it_stands_as_statics_says(car, sim):
    rest = sim.equilibrium(fixed={AHEAD: 0.0})
    assert rest.motion.startswith("at rest")
    found = channels(sim, rest, [f"{c}.tyre_load" for c in CORNERS])
    assert list(found.values()) == pytest.approx(car.stand.load, rel=1e-8)
    assert max(abs(rest[f"q({c})"]) for c in CORNERS) < 1e-9  # as drawn
    assert rest["q(chassis, 3)"] == pytest.approx(car.stand.height, abs=1e-9)


def test_another_spring_rate_keeps_the_ride_height(car, sim):
    """The law of a spring turns about its static force."""
    stiffer = sim.equilibrium(
        fixed={AHEAD: 0.0}, parameters={"k_front": 1.3 * car.data.front.record.spring.stiffness}
    )
    assert stiffer["q(chassis, 3)"] == pytest.approx(car.stand.height, abs=1e-9)
    assert max(abs(stiffer[f"q({c})"]) for c in CORNERS) < 1e-9


def test_another_spring_rate_at_the_same_free_length(car, sim):
    """As of `changed`. Tyres that stand do not slide sideways, so that a car lifted without rolling
    is held lower."""
    k, free = 1.3 * car.data.front.record.spring.stiffness, car.stand.free_length
    lengths = {a: {"spring": {"free_length": f"{free[a]!r} m"}} for a in ("front", "rear")}
    lengths["front"]["spring"]["stiffness"] = f"{k!r} N/m"
    other = car.changed(**lengths)
    length = next(p.default for p in sim.interface.parameters if p.name == "l_static_front")
    how = {"k_front": k, "f_static_front": k * (free["front"] - length)}
    start = {
        str(key): value for key, value in other.system(speed=0.0).description.run.initial.items()
    }
    found = sim.equilibrium(fixed={AHEAD: 0.0}, parameters=how, at=start)
    assert (
        found["q(chassis, 3)"] == pytest.approx(other.stand.height, abs=1e-8)
        and other.stand.height > 0.045
    )
    assert [found[f"q({c})"] for c in CORNERS] == pytest.approx(other.stand.travel, abs=1e-8)
    lifted = sim.equilibrium(fixed={AHEAD: 0.0}, parameters=how)
    assert 0.035 < lifted["q(chassis, 3)"] < 0.042
    assert abs(channels(sim, lifted, ["fl.tyre.fy"])["fl.tyre.fy"]) > 500


@pytest.mark.parametrize("v", [5, 10, 15, 20, 25, 30, 35, 40])
def test_moment_that_keeps_a_speed(car, sim, v):
    """Rolling resistance of all wheels and, at the height of their centres, drag."""
    found = sim.equilibrium(fixed={AHEAD: v})
    assert found.residual < 1e-9
    air, tyre = car.data.sections.aerodynamics, car.data.front.tyre
    pressed = 0.5 * air.density * air.area * v**2
    high = tyre.radius - car.stand.mass * GRAVITY / 4 / tyre.vertical_stiffness
    weight = car.stand.mass * GRAVITY - (air.lift_front + air.lift_rear) * pressed
    by_hand = tyre.rolling_resistance * tyre.radius * weight + high * air.drag * pressed
    assert found["drive"] == pytest.approx(by_hand, rel=0.01)


def undamped_rates(sim, v, **parameters):
    """Eigenvalues of the car without dampers, and how much travels of both sides differ and are the
    same in each."""
    how = {"c_front": 0.0, "c_rear": 0.0, **parameters}
    ahead = sim.equilibrium(fixed={AHEAD: v}, parameters=how)
    assert "drive" in ahead.values  # the car is not driven by the torque of a single wheel
    model = sim.linearize(at=ahead)
    rates, shapes = np.linalg.eig(model.in_equation_units().A)
    left, right = (
        [model.state_names.index(f"q({c})") for c in side] for side in (("fl", "rl"), ("fr", "rr"))
    )
    apart, together = (np.abs(shapes[left] + k * shapes[right]).sum(axis=0) for k in (-1, 1))
    return rates, apart, together


@pytest.mark.parametrize("v", [1.0, 20.0])
def test_heave_pitch_and_wheel_hop(car, sim, v):
    """Frequencies without dampers, of modes in which both sides do the same."""
    rates, apart, together = undamped_rates(sim, v)
    found, by_hand = (
        x[(x.imag > 1) & (x.imag < 100)]
        for x in (rates[apart < 0.2 * together], hand.symmetric_rates(car, v))
    )
    assert len(found) == 4
    assert np.sort(np.abs(found)) == pytest.approx(np.sort(np.abs(by_hand)), rel=0.01)


@pytest.mark.parametrize("v", [1.0, 5.0, 10.0, 20.0, 30.0])
def test_roll_and_hop_of_opposite_wheels(car, sim, v):
    """Of modes in which both sides do the opposite, without dampers and air, the steering wheel
    stiff: those that are hardly damped, of which the slowest is roll and the fastest two are hop.
    The usual formula, a body that rolls about the axis through its roll centres on springs and
    tyres, does not know the tyres' side forces."""
    rates, apart, together = undamped_rates(sim, v, k_steer=1e6, area=1e-9)
    found, by_hand = (
        np.sort(np.abs(x[(x.imag > 5) & (x.imag < 100) & (-x.real < 0.2 * x.imag)]))[[0, -2, -1]]
        for x in (rates[together < 0.2 * apart], hand.opposite_rates(car, v))
    )
    assert found == pytest.approx(by_hand, rel=0.01)
    assert found[0] == pytest.approx(hand.roll_frequency(car), rel=0.2)


def changes(rows):
    """How far eigenvalues go from one row to the next, each to the one that belongs to it."""
    found = []
    for a, b in itertools.pairwise(rows):
        apart = np.abs(a[:, None] - b[None, :])
        found.append(np.sort(apart[linear_sum_assignment(apart)]))
    return np.array(found)


def test_eigenvalues_go_on_over_the_speed(sim):
    """From 5 to 40 m/s. Where the change is largest a pair meets on the real axis: closer by,
    changes grow small."""
    speeds = np.arange(5.0, 40.1, 0.5)
    rows = sim.root_locus(AHEAD, speeds).eigenvalues
    assert np.isfinite(rows).all() and rows.real.max() < 1e-6
    fine, coarse = changes(rows), changes(rows[::2])
    assert np.median(fine[::2] / (coarse + 1e-9)) == pytest.approx(0.5, abs=0.1)
    at = int(np.argmax(fine.max(axis=1)))
    closer = changes(sim.root_locus(AHEAD, np.linspace(speeds[at], speeds[at + 1], 21)).eigenvalues)
    assert closer.max() < 0.4 * fine.max()


@pytest.mark.parametrize(("growth", "reached"), [(0.05, (1.0, 2.0)), (0.2, (4.0,))])
def test_steady_circles_are_those_of_a_slow_ramp(car, sim, growth, reached):
    """The slower the ramp, the less its car lags behind; it ends before it comes far."""
    run = bc.vehicles.manoeuvres.run(car, "iso4138", speed=80, growth=growth).run
    growing = slice(0, int(np.argmax(run["ay"])))
    for ay in reached:
        assert run["ay"].max() > ay
        circle = sim.equilibrium(fixed={AHEAD: V}, targets={"ay": ay}, free=["steer", "drive"])
        found = channels(sim, circle, SEEN)
        for name in SEEN:
            assert found[name] == pytest.approx(
                np.interp(ay, run["ay"][growing], run[name][growing]), rel=0.01
            ), name


def test_radius_is_reached(sim):
    asked = {"speed": 15.0, "speed/(yaw_rate*pi/180)": 100.0}
    circle = sim.equilibrium(targets=asked, free=["steer", "drive"])
    assert circle.steady["q(chassis, 4)"] == pytest.approx(15.0 / 100.0, rel=1e-9)
    assert channels(sim, circle, ["ay"])["ay"] == pytest.approx(15.0**2 / 100.0, rel=1e-3)


def test_response_to_a_small_chirp_is_that_of_the_linear_model(car, sim, straight):
    """TMeasy has another stiffness where slip angles are small compared with the slip along, so the
    chirp must be small."""
    names = ("yaw_rate", "ay", "roll")
    linear = sim.linearize(at=straight, wrt=["steer"], outputs=names)
    assert any("means of both sides" in note for note in linear.notes)  # dampers

    def apart(ay):
        f, found = frequency_response(
            bc.vehicles.manoeuvres.run(car, "iso7401-frequency", ay=ay).run, names, 0.2, 4.0
        )
        exact = {n: linear.frequency_response("steer", n, f[::12]).values for n in names}
        return {n: np.abs(found[n][::12] - exact[n]).max() / np.abs(exact[n]).max() for n in names}

    small, large = apart(0.02), apart(0.3)
    assert max(small.values()) < 0.02
    assert large["yaw_rate"] > 2 * small["yaw_rate"]
    assert math.isclose(linear.D[0, 0], 0.0, abs_tol=1e-9)


@pytest.fixture(scope="module", params=["electric", "formula_student", "hmmwv"])
def other(request):
    """Each of the other cars that come along, and its model."""
    car = bc.vehicles.Car.read(request.param)
    return car, car.system(speed=20).equations().compile()


def test_other_cars_stand_as_statics_says(other):
    car, sim = other
    # statics holds the rack; on its column it moves by 1e-6 m under the unequal loads of a driver
    # on the left
    rest = sim.equilibrium(fixed={AHEAD: 0.0}, parameters={"k_steer": 1e7})
    found = channels(sim, rest, [f"{c}.tyre_load" for c in CORNERS])
    assert list(found.values()) == pytest.approx(car.stand.load, rel=1e-8)
    assert rest["q(chassis, 3)"] == pytest.approx(car.stand.height, abs=1e-9)


def test_other_cars_keep_their_speed(other):
    """By rolling resistance of the axles, with lift or down force, toe, and drag of a body that
    leans."""
    car, sim = other
    air, axles = car.data.sections.aerodynamics, (car.data.front, car.data.rear)
    for v in (5, 10, 20, 30, 40):
        found = sim.equilibrium(fixed={AHEAD: v})
        assert found.residual < 1e-9
        pressed = 0.5 * air.density * air.area * v**2
        loads = [
            sum(car.stand.load[:2]) - air.lift_front * pressed,
            sum(car.stand.load[2:]) - air.lift_rear * pressed,
        ]
        driven = car.data.sections.drive.driven
        high = np.mean(
            [
                a.tyre.radius - W / 2 / a.tyre.vertical_stiffness
                for a, W in zip(axles, loads)
                if driven in ("all", a.name)
            ]
        )
        leant = (air.lift_front + air.lift_rear) * math.sin(
            found["q(chassis, 5)"]
        )  # of a body whose nose is up
        by_hand = high * (air.drag - leant) * pressed
        for a, W, corner in zip(axles, loads, ("fl", "rl")):
            pose = a.pose(
                float(found[f"q({corner})"])
            )  # down force presses it down, which steers a little
            toe = abs(math.asin((pose.rotation @ spin_axis(a.record.toe, a.record.camber))[0]))
            by_hand += a.tyre.rolling_resistance * a.tyre.radius * W
            by_hand += 2 * high * math.sin(toe) * abs(float(a.tyre.forces(W / 2, 0.0, toe).Fy))
        assert found["drive"] == pytest.approx(by_hand, rel=0.01)


def test_other_cars_turn_in_steady_circles(other):
    """Side forces of the tyres hold all masses on the circle; the steering wheel turns on as it
    grows tighter."""
    car, sim = other
    forces = [f"{c}.tyre.{f}" for c in CORNERS for f in ("fx", "fy")]
    steer = []
    alone = {"area": 1e-9}  # without air, which presses a racing car on its springs
    if car.data.rear.record.differential is not None:
        alone |= {"preload_rear": 0.0, "lock_rear": 0.0}  # which turns a small car out of the bend
    ahead = sim.equilibrium(
        fixed={AHEAD: 20.0}, free=["steer", "drive"], targets={"ay": 0.0}, parameters=alone
    )
    standing = channels(sim, ahead, ["roll"])["roll"]  # a driver on the left rolls the car
    for ay in (1.0, 2.0, 4.0):
        circle = sim.equilibrium(
            fixed={AHEAD: 20.0}, targets={"ay": ay}, free=["steer", "drive"], parameters=alone
        )
        seen = channels(
            sim,
            circle,
            ["ay", "yaw_rate", "speed", "roll", *forces, *(f"{c}.tyre_load" for c in CORNERS)],
        )
        assert seen["speed"] * math.radians(seen["yaw_rate"]) == pytest.approx(ay, rel=5e-3)
        across = sum(seen[f"{c}.tyre.fy"] for c in CORNERS)
        steered = (
            sum(seen[f"f{s}.tyre.fx"] for s in "lr")
            * math.radians(circle["steer"])
            / car.metrics["steering_ratio"]
        )
        assert across + steered == pytest.approx(car.stand.mass * ay, rel=0.02)
        assert math.radians(seen["roll"] - standing) == pytest.approx(
            hand.steady_turn(car).roll * ay, rel=0.03
        )
        steer.append(circle["steer"])
    assert np.all(np.diff(steer) > 0)
