"""Hill start against the motion of a mass on a slope."""

import math

import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.design.car_data import GRAVITY

TYRE = {  # whose forces are known
    "size": None, "model": "fiala", "units": ["N", "N/rad", "m", "N/mm", "N-s/m"], "c_slip": 90e3, "c_alpha": 58e3,
    "umax": 0.95, "umin": 0.8, "width": 0.205, "radius": 0.3135, "vertical_stiffness": 200, "vertical_damping": 400,
    "rolling_resistance": 0.0,
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("resistance", [0.0, 0.012])
def test_roll_back_is_that_of_a_mass(resistance):
    """Brakes released at once, drive torque at once after a delay: a mass on the slope with rolling
    resistance, which grows with the speed up to some 0.1 m/s. Below 1 m/s a tyre transmits torque
    at its rolling radius."""
    tyre = {**TYRE, "rolling_resistance": resistance}
    car = bc.vehicles.Car.read("passenger").changed(front={"tyre": tyre}, rear={"tyre": tyre})
    delay, torque, grade = 0.5, 1200.0, 0.15
    result = bc.vehicles.manoeuvres.run(
        car, "hill-start", grade=100 * grade, release=1e-3, rise=1e-3, delay=delay, drive=torque
    )
    at, down_hill = car.stand, car.stand.mass * GRAVITY * math.sin(math.atan(grade))
    mass, radius, resists = at.mass, 0.0, 0.0
    for i, load in enumerate(at.wheel_load):
        axle = car.data.axle("front" if i < 2 else "rear")
        found = axle.tyre.forces(load, 0.0, 0.0)
        mass += axle.record.wheel.spin_inertia / float(found.Re) ** 2
        radius += float(found.Re) / 2 if i >= 2 else 0.0
        resists += resistance * tyre["radius"] * load / float(found.Rl)
    x = v = t = 0.0
    step = 1e-4
    while t < delay or v < 0:
        force = (torque / radius if t >= delay else 0.0) - down_hill - resists * math.tanh(v / 0.1)
        v += step * force / mass
        x, t = x + step * v, t + step
    assert result["roll_back"] == pytest.approx(-x, rel=0.01)
    assert result["time_back"] == pytest.approx(t, rel=0.015)  # samples every 0.01 s
    assert result["creep"] < 1e-3 and result.passed
    assert 0 < result["time_back"] < result["time_ahead"] < result["time"]


@pytest.mark.campaign
def test_brakes_that_are_too_weak_do_not_hold():
    weak = bc.vehicles.manoeuvres.run("passenger", "hill-start", brake=200.0, grade=15.0)
    assert not weak.passed and weak["creep"] > 1.0
    early = bc.vehicles.manoeuvres.run("passenger", "hill-start", delay=0.01, release=0.5, rise=0.1)
    assert early.passed and early["roll_back"] < 0.05
    with pytest.raises(ModelError, match="delay=-1"):
        bc.vehicles.manoeuvres.run("passenger", "hill-start", delay=-1)
