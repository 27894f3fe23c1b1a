"""The whole car over a manoeuvre: loads, momentum and energy next to what the road does to it; the
written program."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from tests.models import relative
from tests.programs import build
from tests.vehicles.car_by_hand import car_with

pytestmark = pytest.mark.campaign

INPUTS = {
    "steer": bc.signals.step(0.5, 40.0),
    "brake": bc.signals.ramp(1.5, 1500.0, 3.0),
}  # a step, then the brakes
NO_AIR = {"c_drag": 0.0, "c_side": 0.0, "c_yaw": 0.0, "c_lift_front": 0.0, "c_lift_rear": 0.0}


@pytest.fixture(scope="module", params=["five_link", "panhard_axle", "twist_beam"])
def car(request):
    if request.param == "five_link":
        return bc.vehicles.Car.read("passenger")
    bar = {"stiffness": "40 N-m/deg", "at": "spring_left"}
    z = -0.04 if request.param == "panhard_axle" else 0  # level: drag has no part that lifts
    return car_with(request.param, anti_roll_bar=bar, spring={"stiffness": 62}, at=[-2.7, 0, z])


@pytest.fixture(scope="module")
def eom(car):
    s = car.system(speed=25)
    s.add_outputs("energy", "momentum")
    for c in CORNERS:
        for i in (1, 2, 3):
            s.add_output(f"{c}.axis{i}", f"dot([{c}.wheel2], [n{i}])", units="1")
            s.add_output(f"{c}.at{i}", f"dot(pos({c}.wheel.cm), [n{i}])", units="L")
            s.add_output(f"{c}.v{i}", f"dot(vel({c}.wheel.cm), [n{i}])", units="L/T")
            s.add_output(f"{c}.turns{i}", f"dot(rot({c}.wheel), [n{i}])", units="A/T")
    return s.equations()


@pytest.fixture(scope="module")
def sim(eom):
    return eom.compile()


@pytest.fixture(scope="module")
def run(sim):
    return sim.simulate(t_end=3.0, output_every=1, inputs=INPUTS, parameters=NO_AIR)


def vectors(run, name):
    return np.array([run[f"{name}{i}"] for i in (1, 2, 3)]).T


def of_the_road(run, c):
    """Force, moment about the wheel's centre, both of the tyre of a corner, and the power of
    both."""
    axis, up = vectors(run, f"{c}.axis"), np.array([0.0, 0.0, 1.0])
    ahead = np.cross(axis, up)
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    left = np.cross(up, ahead)
    down = -np.cross(ahead, axis)
    F, M = (
        run[f"{c}.tyre.{k}x"][:, None] * ahead
        + run[f"{c}.tyre.{k}y"][:, None] * left
        + run[f"{c}.tyre.{k}z"][:, None] * up
        for k in "fm"
    )
    lever = (
        down * (run[f"{c}.at3"] / -down[:, 2])[:, None]
    )  # to the ground, in the plane of the wheel
    M = M + np.cross(lever, F)
    return F, M, (F * vectors(run, f"{c}.v")).sum(1) + (M * vectors(run, f"{c}.turns")).sum(1)


def summed(y, t):
    return np.concatenate([[0.0], np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(t))])


def test_momentum_is_that_of_the_road(car, run):
    """Sum of the loads and the weight, and the forces along and across, against the momentum of all
    masses."""
    assert run["ay"].max() > 4 and run["ax"].min() < -3
    F = sum(of_the_road(run, c)[0] for c in CORNERS)
    F[:, 2] -= car.stand.mass * GRAVITY
    p = vectors(run, "p")
    for i in range(3):
        assert p[:, i] - p[0, i] == pytest.approx(
            summed(F[:, i], run.time), abs=1e-4 * np.abs(p - p[0]).max()
        )
    M = sum(
        of_the_road(run, c)[1] + np.cross(vectors(run, f"{c}.at"), of_the_road(run, c)[0])
        for c in CORNERS
    )
    h = run["h3"] - run["h3"][0]
    assert h == pytest.approx(summed(M[:, 2], run.time), abs=1e-4 * np.abs(h).max())


def test_loads_carry_the_weight_less_the_lift(car, sim):
    run = sim.simulate(t_end=3.0)
    loads = sum(run[f"{c}.tyre.fz"][-1] for c in CORNERS)
    air = 1.206 / 2 * 2.15 * run["speed"][-1] ** 2 * (0.04 + 0.07)
    assert air > 60
    assert loads == pytest.approx(car.stand.mass * GRAVITY - air, abs=0.01 * air)


def test_energy_is_what_springs_keep_and_dampers_and_road_take(car, run):
    """Kinetic energy and that of gravity change by the power of tyres, springs, dampers, bars,
    brakes and steering."""
    power = sum(of_the_road(run, c)[2] for c in CORNERS)
    for c in CORNERS:
        power = (
            power - (run[f"{c}.spring_force"] + run[f"{c}.damper_force"]) * run[f"{c}.damper_speed"]
        )
        power = power - run[f"{c}.held"] * run[f"u({c}.wheel)"]
    steering = car.data.sections.steering
    pinion = steering.rack_per_turn / (2 * math.pi)
    sign = np.sign(run["q(rack)"][-1]) * np.sign(run["steering_wheel"][-1])
    push = steering.stiffness * (np.radians(run["steering_wheel"]) - sign * run["q(rack)"] / pinion)
    push = (1 + steering.assist) * (
        push - steering.damping_time * steering.stiffness * sign * run["u(rack)"] / pinion
    )
    power = power + push * sign * run["u(rack)"] / pinion
    kept = sum(run[f"{a}.bar_force"] ** 2 / (2 * car.stand.bar[a]) for a in ("front", "rear"))
    if car.data.rear.record.twist_stiffness:
        kept = kept + car.data.rear.record.twist_stiffness * np.radians(run["rear.twist"]) ** 2 / 2
    energy = run["energy"] + kept
    change = energy - energy[0]
    assert change[-1] < -1e5
    assert change == pytest.approx(summed(power, run.time), abs=1e-4 * np.abs(change).max())


def test_the_written_program_is_the_run(eom, sim, tmp_path):
    """A step of the steering wheel, then the brakes: the C program and the run, all channels."""
    reference = sim.simulate(t_end=3.0, inputs=INPUTS)
    run = build(eom, "c", tmp_path).run(
        tmp_path / "run", "stopt 3", "steer step 0.5 40 0", "brake ramp 1.5 1500 3"
    )
    assert reference["ay"].max() > 4 and reference["ax"].min() < -3
    assert set(run) == set(reference)
    assert max(relative(run[name], reference[name]) for name in run) < 1e-9
