"""Geometry and laws that cannot be are reported before statics, by the name of the hard point or key."""

import pytest

import bellcrank as bc
from bellcrank.linkage import load, shipped


@pytest.fixture(scope="module")
def passenger():
    return bc.vehicles.Car.read("passenger")


def said(car, **change):
    with pytest.raises(bc.ModelError) as caught:
        car.changed(**change)
    return str(caught.value)


@pytest.mark.parametrize(("points", "words"), [
    ([["-1 m/s", "-900 N"], ["0 m/s", "0 N"], ["1 m/s", "-500 N"]], "-500 N at 1 m/s adds energy"),
    ([["-1 m/s", "900 N"], ["0 m/s", "0 N"], ["1 m/s", "500 N"]], "900 N at -1 m/s adds energy"),
    ([["-1 m/s", "-900 N"], ["0 m/s", "20 N"], ["1 m/s", "500 N"]], "20 N at 0 m/s adds energy"),
])  # fmt: skip
def test_a_damper_that_adds_energy(passenger, points, words):
    change = {"table": points, "coefficient": None, "compression": None, "rebound": None}
    assert words in said(passenger, rear={"damper": change})
    good = {**change, "table": [["-1 m/s", "-900 N"], ["0 m/s", "0 N"], ["1 m/s", "500 N"]]}
    assert passenger.changed(rear={"damper": good}).figures["damping_rear"] > 0


def test_an_axle_in_millimetres(passenger):
    at = passenger.given["rear"]["at"]
    told = said(passenger, rear={"at": [-2700.0, *at[1:]]})
    assert "the wheelbase would be" in told and "rear.at" in told and '"1450 mm"' in told


@pytest.mark.parametrize("name", bc.vehicles.cars())
def test_shipped_cars_pass(name):
    bc.vehicles.Car.read(name)


def test_left_hard_points_on_the_right(passenger):
    given = passenger.given["front"]["suspension"]
    chain = load(shipped(given["shipped"])).chain
    at = passenger.data.front.record.at
    told = said(passenger, front={"at": [at[0], -2 * chain.points["wheel_centre"].at[1], at[2]]})
    assert "front.suspension: hard point 'wheel_centre' has y = -" in told and "side = 'right'" in told
