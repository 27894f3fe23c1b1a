"""Slips in car files that give a car which runs: each is named with value, range and cause."""

import re

import pytest

import bellcrank as bc


@pytest.fixture(scope="module")
def passenger():
    return bc.vehicles.Car.read("passenger")


def points(**changed):
    return {"suspension": {"points": changed}}


def damper(**changed):
    return {"damper": {"table": None, **changed}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"front": points(tie_base=[-135, 345, 262])},
            r"bump steer .* is -?\d+.* deg/m; usual is -15 to 15 deg/m",
        ),
        ({"front": points(tie_carrier=[130, 705, 230])}, "tie rod .*usual is up to 25 deg"),
        (
            {"front": points(wheel_centre=[0, 765, 30])},
            "'wheel_centre' at z = 30 mm does not lie between 'lower_ball' at 170 mm",
        ),
        ({"front": points(wheel_centre=[0, 765, 30])}, r"stands 5.* deg nose \w+; usual is up to"),
        ({"rear": {"at": [-2.7, 0, 0.0]}}, "z = 300 mm in front and 0 mm at the rear"),
        ({"front": points(upper_ball=[-180, 690, 510])}, "caster at rest is 2.*usual is -3 to 14"),
        ({"front": points(upper_ball=[-18, 560, 510])}, "kingpin inclination at rest is 2"),
        ({"body": {"inertia": [2380, 2150, 480]}}, "order is roll, pitch, yaw"),
        ({"body": {"inertia": [450, 20000, 21500]}}, "radius of gyration of 1.* 0.35 to 0.7"),
        ({"body": {"mass": 122}}, "122 kg in a body of 4.4 m .* usual is 25 to 250 kg/m3.*decimal"),
        ({"steering": {"stiffness": "118 N-m/deg"}}, "steering.stiffness = 6761.* N m/deg"),
        (
            {"front": damper(compression="3000 N-s/m", rebound="1000 N-s/m")},
            "compression is harder than rebound, 3000 and 1000 N s/m",
        ),
        (
            {"drive": {"map": [["0 rpm", "150 N-m"], ["68 rpm", "90 N-m"]], "torque": None}},
            "drive.map ends at 68 rpm .* usual is",
        ),
        ({"front": {"spring": {"stiffness": "42 N/m"}}}, "stiffness = 42 N/m.*N/mm"),
    ],
)
def test_slips_that_run_are_named_with_value_range_and_cause(passenger, change, words):
    try:
        said = passenger.changed(**change).check()
    except bc.ModelError as error:
        said = error.problems
    assert any(re.search(words, remark) for remark in said), said


@pytest.mark.parametrize("name", ["passenger", "formula_student", "hmmwv", "truck", "van"])
def test_shipped_cars_have_no_remark(name):
    said = bc.vehicles.Car.read(name).check()
    assert [s for s in said if "not measured" not in s and "linear metrics" not in s] == []
