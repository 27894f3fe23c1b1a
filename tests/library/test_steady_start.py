"""Every manoeuvre begins from a steady motion of the car, whatever is asymmetric about it."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.library.manoeuvres.ready import HELD, ready
from bellcrank.library.vehicles.building import rolling
from bellcrank.library.vehicles.data import CORNERS, GRAVITY

pytestmark = pytest.mark.campaign
JUMPS = {"steering_wheel": 0.5, "steering_torque": 0.1, "yaw_rate": 0.02}  # deg, N m, deg/s


def moved(car, y, cross=None):
    """The car with its driver on a seat at y (m), and a cross-weight."""
    at = car.given["loads"]["driver"]["at"]
    found = car.changed(loads={"driver": {"at": [at[0], y, at[2]]}})
    return found if cross is None else found.setup(cross_weight=cross)


@pytest.fixture(scope="module", params=[(0.0, None), (0.37, 0.52)], ids=["symmetric", "driver left, cross-weight"])
def car(request):
    return moved(bc.vehicles.Car.read("passenger"), *request.param)


def test_the_car_runs_straight_on_without_a_driver(car):
    """Three seconds with the steering wheel and the throttle held: nothing moves, and the course stays along x."""
    compiled = ready(car)
    start = compiled.settled(100 / 3.6)
    run = compiled.drive(3.0, start, {"speed_set": 100 / 3.6}, HELD)
    for name in (*JUMPS, "roll", "ay", "speed", *(f"{c}.tyre_load" for c in CORNERS)):
        assert np.ptp(run[name]) < 1e-5 * max(1.0, np.abs(run[name]).max()), name
    assert np.abs(run["y"]).max() < 1e-5
    turning = compiled.drive(2.0, compiled.turning(20.0, 0.01), {"speed_set": 20.0}, HELD)
    assert np.ptp(turning["yaw_rate"]) < 1e-5
    assert turning["yaw_rate"][0] == pytest.approx(math.degrees(0.2), rel=1e-6)
    away = np.hypot(turning["x"] - turning["x"][0], turning["y"] - turning["y"][0] - 100)
    assert np.ptp(away) < 0.01  # the mass centre stays on the circle


@pytest.mark.parametrize("name", [n for n in bc.manoeuvres.known() if n != "road"])
def test_no_manoeuvre_begins_with_a_jump(car, name):
    """Within the first rows, before the steering wheel or a pedal has moved noticeably."""
    series = {"iso7975": {"decelerations": (2.0, 6.0)}, "fishhook": {"speeds": (60.0,)}}
    for run in bc.manoeuvres.run(car, name, **series.get(name, {})).runs.values():
        for channel, limit in JUMPS.items():
            assert np.abs(np.diff(run[channel][:3])).max() < limit, channel


@pytest.mark.parametrize("who", ["macadam", "point", "pursuit", "stanley"])
def test_every_driver_takes_over_without_a_jump(who):
    """Also with late eyes: the steering wheel stays where it is until the path bends within the preview."""
    car = moved(bc.vehicles.Car.read("passenger"), 0.37, 0.52)
    run = bc.manoeuvres.run(car, "iso3888-1", driver=who, delay=0.15, speed=60).run
    early = run["x"] < 20
    assert np.ptp(run["steering_wheel"][early]) < 0.05 and np.ptp(run["yaw_rate"][early]) < 0.02
    assert np.abs(run["path_error"][early]).max() < 1e-3


def test_standing_on_a_slope():
    """Uphill and across: the car begins parallel to the road and is held by its brakes."""
    car = bc.vehicles.Car.read("passenger")
    sim = car.system(speed=0, terrain=bc.terrain.ramp(0.15)).equations().compile()
    run = sim.simulate(t_end=5, inputs={"brake": 4000.0})
    assert np.hypot(run["x"] - run["x"][0], run["y"] - run["y"][0]).max() < 0.02
    assert run["pitch"][0] == pytest.approx(-math.degrees(math.atan(0.15)), abs=0.2)
    steep = math.sqrt(1 + 0.15**2)
    loads = sum(run[f"{c}.tyre_load"][-1] for c in CORNERS)
    assert loads == pytest.approx(car.stand.mass * GRAVITY / steep, rel=1e-3)
    held = sum(run[f"{c}.tyre.fx"][-1] for c in CORNERS)
    assert held == pytest.approx(car.stand.mass * GRAVITY * 0.15 / steep, rel=0.01)


def test_steering_at_rest_and_coasting_to_rest():
    """Rolling resistance holds a car on level ground: it does not creep, and steering to and fro moves it little."""
    car = bc.vehicles.Car.read("passenger")
    sim = car.system(speed=1.0).equations().compile()
    coasts = sim.simulate(t_end=30)
    late = coasts.time > 25
    assert np.abs(coasts["speed"][late]).max() < 1e-6 and np.ptp(coasts["x"][late]) < 1e-6
    t = np.arange(0, 60.01, 0.05)
    wheel = bc.sampled(t.tolist(), (300 * np.sin(0.5 * np.pi * t)).tolist())
    still = sim.simulate(t_end=60, inputs={"steer": wheel, "brake": 1000.0}, initial=rolling(car.data, car.stand, 0.0))
    away = np.hypot(still["x"] - still["x"][0], still["y"] - still["y"][0])
    assert away[-1] < 1e-3
    assert np.abs(still["steering_torque"]).max() > 5  # N m: the tyres resist being turned
