"""Gears, clutch and rotor of a motor: shifts without thrust, drag that vanishes at rest, braking by
physics alone."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.manoeuvres.compiled_car import THROTTLE_CLOSED, THROTTLE_FIXED, compile_car

pytestmark = pytest.mark.campaign
J = 0.15
DRIVE = {
    "torque": None, "power": None, "driven": "rear", "final": 3.7, "efficiency": 0.93, "inertia": f"{J} kg-m2",
    "map": [["0 rpm", "120 N-m"], ["1500 rpm", "160 N-m"], ["4000 rpm", "190 N-m"], ["6000 rpm", "150 N-m"]],
    "drag": [["800 rpm", "15 N-m"], ["6000 rpm", "45 N-m"]], "gears": [3.6, 2.0, 1.35, 1.0, 0.8],
}  # fmt: skip


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("passenger").changed(drive=DRIVE)


@pytest.fixture(scope="module")
def compiled(car):
    return compile_car(car)


def test_gears_follow_speed_and_load(car, compiled):
    """The highest gears at cruise; all of them one after the other under full load, without a
    push."""
    taken = [compiled.settled(v / 3.6)["driveline.gear"] for v in (10, 30, 50, 80, 130)]
    assert taken == sorted(taken) and taken[0] == 1 and taken[-1] == 5
    run = bc.vehicles.manoeuvres.run(car, "acceleration").run
    shifts = (np.abs(run["gear"] - run["gear"].round()) > 0.05) & (run.time > 1)
    assert shifts.any() and np.diff(run["gear"]).min() > -1e-9
    assert run["motor_speed"].max() < 6100
    for i in np.flatnonzero(np.diff(shifts.astype(int)) == 1):
        assert run["ax"][i : i + 60].max() < run["ax"][i] + 0.1


def test_the_motor_does_not_drive_the_car_backwards(compiled):
    """Engine braking ends at rest; only the reverse gear drives backwards."""
    run = compiled.drive(40.0, compiled.settled(2.0), {"drive": -100.0}, THROTTLE_CLOSED)
    assert run["speed"].min() > -0.01 and abs(run["speed"][-1]) < 1e-5
    back = compiled.drive(
        5.0, compiled.settled(0.0), {"drive": -500.0}, THROTTLE_CLOSED | {"gear_held": -1.0}
    )
    assert back["speed"][-1] < -1 and back["gear"][-1] == -1 and abs(back["understeer"][-1]) < 5


@pytest.mark.parametrize(("brake", "closed"), [(600.0, True), (3000.0, False)])
def test_the_rotor_takes_part_in_braking_while_the_clutch_is_closed(compiled, brake, closed):
    """Loss of speed with and without rotor inertia: by its kinetic energy alone, and none with an
    open clutch."""
    start = compiled.settled(25.0)
    inputs = {
        "brake": bc.signals.sampled([0, 0.2, 100], [0, brake, brake]),
        "drive": compiled.throttle_release(start),
    }
    heavy, light = (
        compiled.drive(2.0, start, inputs, {**THROTTLE_FIXED, "i_motor": inertia, "gear_held": 3.0})
        for inertia in (J, 1e-6)
    )
    ratio, radius = heavy["gear_ratio"][-1], heavy["speed"][0] / heavy["u(rl.wheel)"][0]
    apparent = J * ratio**2 / radius**2  # kg, of the rotor
    wheels = 4 * 0.95 / radius**2
    m = compiled.at_rest.mass + wheels
    slower = (heavy["speed"][0] - heavy["speed"][-1]) / (light["speed"][0] - light["speed"][-1])
    if closed:
        assert slower == pytest.approx(m / (m + apparent), rel=0.005)
    else:
        assert slower == pytest.approx(1.0, abs=0.01)
    assert heavy["driveline.clutch"][-1] == pytest.approx(float(closed), abs=1e-3)


def test_the_rotor_does_not_lengthen_a_stop(compiled):
    """From 100 km/h without air: one stopping distance with and without rotor inertia, as the
    clutch opens, and all kinetic energy of the car is work of the tyres' forces."""
    start = compiled.settled(100 / 3.6)
    inputs = {
        "brake": bc.signals.sampled([0, 0.2, 100], [0, 2500, 2500]),
        "drive": compiled.throttle_release(start),
    }
    heavy, light = (
        compiled.drive(
            20.0,
            start,
            inputs,
            {**THROTTLE_FIXED, "i_motor": inertia, "area": 1e-9},
            until="ground_speed < 0.1",
        )
        for inertia in (J, 1e-6)
    )
    for run in (heavy, light):
        work = -np.trapezoid(
            sum(run[f"{c}.tyre.fx"] for c in CORNERS) * run["ground_speed"], run.time
        )
        assert work == pytest.approx(
            compiled.at_rest.mass * run["ground_speed"][0] ** 2 / 2, rel=0.01
        )
    assert heavy["x"][-1] - heavy["x"][0] == pytest.approx(
        light["x"][-1] - light["x"][0], rel=0.005
    )


def test_handling_tests_hold_their_gear(car):
    """The circle does not end at a shift; a gear that does not exist is an error."""
    circle = bc.vehicles.manoeuvres.run(car, "iso4138-radius", gear=3)
    assert np.ptp(circle.run["gear"]) < 1e-6 and circle["ay_max"] > 7
    with pytest.raises(bc.ModelError, match="its gears are 1 to 5"):
        bc.vehicles.manoeuvres.run(car, "iso4138", gear=6)
