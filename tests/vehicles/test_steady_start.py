"""Every manoeuvre begins from a steady motion of the car, whatever is asymmetric about it."""

import math
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import RunError
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from bellcrank.vehicles.manoeuvres import applicable_names, sine_with_dwell
from bellcrank.vehicles.manoeuvres.compiled_car import (
    CURVATURE_GAIN,
    SETTLING_TIME,
    THROTTLE_FIXED,
    CompiledCar,
    compile_car,
)
from bellcrank.vehicles.manoeuvres.steady_motion import SteadyMotionSolver
from tests.vehicles.test_surface import written

pytestmark = pytest.mark.campaign
EXAMPLES = Path(__file__).parents[2] / "examples"
JUMPS = {"steering_wheel": 0.5, "steering_torque": 0.1, "yaw_rate": 0.02}  # deg, N m, deg/s


def moved(car, y, cross=None):
    """The car with its driver on a seat at y (m), and a cross-weight."""
    at = car.given["loads"]["driver"]["at"]
    found = car.changed(loads={"driver": {"at": [at[0], y, at[2]]}})
    return found if cross is None else found.setup(cross_weight=cross)


@pytest.fixture(
    scope="module",
    params=[(0.0, None), (0.37, 0.52)],
    ids=["symmetric", "driver left, cross-weight"],
)
def car(request):
    return moved(bc.vehicles.Car.read("passenger"), *request.param)


def test_the_car_runs_straight_on_without_a_driver(car):
    """Three seconds with the steering wheel and the throttle held: nothing moves, and the course
    stays along x."""
    compiled = compile_car(car)
    start = compiled.straight_running_state(100 / 3.6)
    run = compiled.simulate(3.0, start, {"speed_set": 100 / 3.6}, THROTTLE_FIXED)
    for name in (*JUMPS, "roll", "ay", "speed", *(f"{c}.tyre_load" for c in CORNERS)):
        assert np.ptp(run[name]) < 1e-5 * max(1.0, np.abs(run[name]).max()), name
    assert np.abs(run["y"]).max() < 1e-5
    turning = compiled.simulate(
        2.0, compiled.steady_turn_state(20.0, 0.01), {"speed_set": 20.0}, THROTTLE_FIXED
    )
    assert np.ptp(turning["yaw_rate"]) < 1e-5
    assert turning["yaw_rate"][0] == pytest.approx(math.degrees(0.2), rel=1e-6)
    away = np.hypot(turning["x"] - turning["x"][0], turning["y"] - turning["y"][0] - 100)
    assert np.ptp(away) < 0.01  # the mass centre stays on the circle


class Begun(Exception):
    """A manoeuvre has begun, and its beginning was recorded."""


def beginnings(car, name, monkeypatch, **settings):
    """The first 10 ms, one row each ms, of the run with which a manoeuvre begins."""
    found = []

    def begin(self, t_end, start, inputs, parameters=None, until=None):
        if t_end in (SETTLING_TIME, 2 * SETTLING_TIME) and set(inputs) == {"speed_set"}:
            return drive(self, t_end, start, inputs, parameters, until)  # an extended car settles
        found.append(
            self.sim.simulate(
                t_end=0.01,
                step=0.001,
                output_every=1,
                initial=dict(start),
                inputs=dict(inputs),
                parameters=self._gear_parameter(start) | dict(parameters or {}),
            )
        )
        raise Begun

    drive = CompiledCar.simulate
    with monkeypatch.context() as patch:
        patch.setattr(CompiledCar, "simulate", begin)
        patch.setattr(sine_with_dwell, "steering_angle_at_03g", lambda *_: 30.0)
        with pytest.raises(Begun):
            bc.vehicles.manoeuvres.run(car, name, **settings)
    return found[-1]


def jumps(run):
    """How far channels change within these 10 ms, the time between two rows of a manoeuvre."""
    return {name: float(np.ptp(run[name])) for name in JUMPS}


CARS = {
    "symmetric": lambda: moved(bc.vehicles.Car.read("passenger"), 0.0),
    "driver left, cross-weight": lambda: moved(bc.vehicles.Car.read("passenger"), 0.37, 0.52),
    "trailer and ESC": lambda: run_path(str(EXAMPLES / "car_with_trailer.py"))[
        "car_with_trailer"
    ](),
}


@pytest.mark.parametrize("which", CARS)
def test_no_manoeuvre_begins_with_a_jump(which, monkeypatch, capsys):
    """All manoeuvres, of three cars: neither the wheel, its torque nor the yaw rate jumps as the
    driver takes over."""
    car, table = CARS[which](), {}
    for name in applicable_names():
        table[name] = jumps(beginnings(car, name, monkeypatch))
    with capsys.disabled():
        print(f"\n{which}: change within the first 10 ms")
        print(f"{'manoeuvre':20}" + "".join(f"{n:>20}" for n in JUMPS))
        for name, found in table.items():
            print(f"{name:20}" + "".join(f"{x:20.2e}" for x in found.values()))
    wrong = {(m, n): x for m, found in table.items() for n, x in found.items() if x > JUMPS[n]}
    assert not wrong


def test_start_on_a_banked_road_that_climbs(tmp_path, monkeypatch):
    """With a load on one side, camber and toe as well: the car begins in its steady motion on that
    plane."""
    car = bc.vehicles.Car.read("passenger").changed(
        loads={"bags": {"mass": "80 kg", "at": ["-2.4 m", "-0.4 m", "0.5 m"]}},
        rear={"camber": "-2.5 deg"},
    )
    heights = (0.05 * np.arange(201))[:, None] + np.zeros(3)
    road = written(
        tmp_path / "plane.crg", np.zeros(201), 1.0, (-4.0, 0.0, 4.0), heights, np.full(201, 0.06)
    )
    run = beginnings(car, "road", monkeypatch, file=str(road), speed=60)
    found = jumps(run)
    assert all(x < JUMPS[n] for n, x in found.items()), found
    assert np.ptp(run["yaw_rate"]) < 1e-4 and np.ptp(run["steering_wheel"]) < 1e-3
    assert (
        run["roll"][0] > 1 and run["pitch"][0] < -2
    )  # deg: along the road, whose left side is higher


def test_start_in_a_side_wind():
    """A steady wind from the right is steered against from the first moment on."""
    compiled, v = compile_car(moved(bc.vehicles.Car.read("passenger"), 0.37, 0.52)), 25.0
    inputs, still = {"speed_set": v, "wind": 12.0}, compiled.straight_running_state(v)
    start = SteadyMotionSolver(compiled.sim).solve(still, inputs, {"k_turn": CURVATURE_GAIN})
    assert abs(start["driver.turn"] - still["driver.turn"]) > math.radians(1)
    run = compiled.simulate(0.5, start, inputs, THROTTLE_FIXED)
    found = jumps(run)
    assert all(x < 1e-4 * JUMPS[n] for n, x in found.items()), found


@pytest.mark.parametrize("who", ["macadam", "point", "pursuit", "stanley"])
def test_every_driver_takes_over_without_a_jump(who):
    """Also with late eyes: the steering wheel stays where it is until the path bends within the
    preview."""
    car = moved(bc.vehicles.Car.read("passenger"), 0.37, 0.52)
    run = bc.vehicles.manoeuvres.run(car, "iso3888-1", driver=who, delay=0.15, speed=60).run
    early = run["x"] < 20
    assert np.ptp(run["steering_wheel"][early]) < 0.05 and np.ptp(run["yaw_rate"][early]) < 0.02
    assert np.abs(run["path_error"][early]).max() < 1e-3


def test_standing_on_a_slope():
    """Uphill and across: the car begins parallel to the road and is held by its brakes."""
    car = bc.vehicles.Car.read("passenger")
    sim = car.system(speed=0, terrain=bc.vehicles.terrain.ramp(0.15)).equations().compile()
    run = sim.simulate(t_end=5, inputs={"brake": 4000.0})
    assert np.hypot(run["x"] - run["x"][0], run["y"] - run["y"][0]).max() < 0.02
    assert run["pitch"][0] == pytest.approx(-math.degrees(math.atan(0.15)), abs=0.2)
    steep = math.sqrt(1 + 0.15**2)
    loads = sum(run[f"{c}.tyre_load"][-1] for c in CORNERS)
    assert loads == pytest.approx(car.stand.mass * GRAVITY / steep, rel=1e-3)
    held = sum(run[f"{c}.tyre.fx"][-1] for c in CORNERS)
    assert held == pytest.approx(car.stand.mass * GRAVITY * 0.15 / steep, rel=0.01)


def test_a_car_coasts_to_rest():
    """By rolling resistance on level ground; it does not creep afterwards."""
    run = (
        bc.vehicles.Car.read("passenger").system(speed=1.0).equations().compile().simulate(t_end=30)
    )
    late = run.time > 20
    assert np.abs(run["speed"][late]).max() < 1e-9 and np.ptp(run["x"][late]) < 1e-9
    assert run["speed"].min() > -0.01  # m/s, as it swings back


@pytest.mark.parametrize("name", ["passenger", "electric"])
def test_steering_to_and_fro_at_rest(name):
    """For a minute, braked or not: the car moves below 1 mm, and its tyres resist being turned."""
    sim = bc.vehicles.Car.read(name).system(speed=0).equations().compile()
    t = np.arange(0, 60.01, 0.01)
    cases = (
        (30, 0.5, 0),
        (180, 0.5, 0),
        (180, 1.0, 0),
        (180, 0.5, 1000),
        (300, 0.25, 3000),
        (450, 0.2, 0),
        (450, 0.2, 3000),
    )
    for angle, frequency, brake in cases:
        wheel = bc.signals.sampled(t.tolist(), (angle * np.sin(2 * np.pi * frequency * t)).tolist())
        run = sim.simulate(t_end=60, inputs={"steer": wheel, "brake": float(brake)})
        assert np.hypot(run["x"][-1] - run["x"][0], run["y"][-1] - run["y"][0]) < 1e-3, (
            angle,
            frequency,
            brake,
        )
        assert 3 < np.abs(run["steering_torque"]).max() < 15  # N m


def test_a_run_that_does_not_reach_its_end_gives_no_metrics():
    """Dampers that drive the wheels: the linkage leaves its range within a step steer, which has no
    steady values then."""
    compiled = compile_car(bc.vehicles.Car.read("passenger"))
    start, inputs = (
        compiled.straight_running_state(22.0),
        {"speed_set": 22.0, "steer": bc.signals.step(0.2, 20.0)},
    )
    with pytest.raises(
        RunError, match=r"did not reach its end: stopped at t = 0\.3.* leaves its range"
    ):
        compiled.simulate(5.0, start, inputs, {**THROTTLE_FIXED, "c_front": -3.0})
