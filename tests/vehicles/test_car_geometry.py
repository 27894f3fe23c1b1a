"""Geometry and laws that cannot be are reported before statics, by the name of the hard point or
key."""

import pytest

import bellcrank as bc
from bellcrank.linkage import Linkage


@pytest.fixture(scope="module")
def passenger():
    return bc.vehicles.Car.read("passenger")


def said(car, **change):
    with pytest.raises(bc.ModelError) as caught:
        car.changed(**change)
    return str(caught.value)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (
            [["-1 m/s", "-900 N"], ["0 m/s", "0 N"], ["1 m/s", "-500 N"]],
            "-500 N at 1 m/s adds energy",
        ),
        (
            [["-1 m/s", "900 N"], ["0 m/s", "0 N"], ["1 m/s", "500 N"]],
            "900 N at -1 m/s adds energy",
        ),
        (
            [["-1 m/s", "-900 N"], ["0 m/s", "20 N"], ["1 m/s", "500 N"]],
            "20 N at 0 m/s adds energy",
        ),
    ],
)
def test_a_damper_that_adds_energy(passenger, points, words):
    change = {"table": points, "coefficient": None, "compression": None, "rebound": None}
    assert words in said(passenger, rear={"damper": change})
    good = {**change, "table": [["-1 m/s", "-900 N"], ["0 m/s", "0 N"], ["1 m/s", "500 N"]]}
    passenger.changed(rear={"damper": good})


def test_an_axle_in_millimetres(passenger):
    at = passenger.given["rear"]["at"]
    told = said(passenger, rear={"at": [-2700.0, *at[1:]]})
    assert "the wheelbase would be" in told and "rear.at" in told and '"1450 mm"' in told


@pytest.mark.parametrize("name", bc.vehicles.car_names())
def test_shipped_cars_pass(name):
    bc.vehicles.Car.read(name)


def points_of(car, axle):
    """Hard points of an axle in mm, as plain lists."""
    chain = car.data.axle(axle).linkage.chain
    return {n: [f"{1000 * x:.6g} mm" for x in p.at] for n, p in chain.points.items()}


def interchanged(a, b):
    return lambda p: {**p, a: p[b], b: p[a]}


def negative(axis, *names):
    def change(p):
        listed = names or p
        flipped = {
            n: [f"-{c}".replace("--", "") if i == axis else c for i, c in enumerate(p[n])]
            for n in listed
        }
        return {**p, **flipped}

    return change


def one(name, axis, text):
    return lambda p: {**p, name: [text if i == axis else c for i, c in enumerate(p[name])]}


@pytest.mark.parametrize(
    ("axle", "slip", "words"),
    [
        (
            "front",
            interchanged("lower_ball", "upper_ball"),
            "'lower_ball' at z = 510 mm is not below 'upper_ball' at 170",
        ),
        (
            "front",
            interchanged("tie_base", "tie_carrier"),
            "'tie_carrier' on the wheel side, (-135, 345, 236) mm, is",
        ),
        (
            "front",
            interchanged("lower_front", "lower_ball"),
            "than 'lower_front' on the body side, (8, 720, 170) mm",
        ),
        (
            "front",
            interchanged("lower_front", "upper_front"),
            "'lower_front' at z = 505 mm is not below 'upper_front'",
        ),
        ("front", negative(1, "lower_ball"), "'lower_ball' on the wheel side, (8, -720, 170) mm"),
        (
            "front",
            negative(1),
            "wheel_centre' with y = -0.765 m lies inside of all hard points of the body",
        ),
        ("front", negative(2), "does z point down (axes = 'SAE')?"),
        (
            "front",
            one("wheel_centre", 1, "76 mm"),
            "'wheel_centre' with y = 0.076 m lies inside of all",
        ),
        (
            "front",
            one("wheel_centre", 1, "400 mm"),
            "'wheel_centre' has y = 400 mm, but these of the body lie outside of",
        ),
        ("front", one("upper_ball", 2, "5100 mm"), "'upper_ball': 4.801 m from the wheel centre"),
        ("rear", interchanged("P2", "X2"), "'X2' on the wheel side"),
        ("rear", negative(1), "rear.suspension: hard point 'wheel_centre' with y = -0.768 m"),
    ],
)
def test_slips_in_hard_points_are_named(passenger, axle, slip, words):
    told = said(passenger, **{axle: {"suspension": {"points": slip(points_of(passenger, axle))}}})
    assert f"{axle}.suspension: hard point" in told and words in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rear": {"at": [2.7, 0, 0.3]}}, "front wheels stand at x = 0 m, rear wheels at 2.7 m"),
        (
            {"rear": {"at": [-2.7, 0, "300 m"]}},
            "wheel centres of the axles differ by at most 1 m in height",
        ),
        ({"front": {"at": [0, "370 m", 0]}}, "give a track of 741.5 m"),
        (
            {"body": {"cg": [-1200, 0, 560]}},
            "body.cg = (-1.2e+06, 0, 5.6e+05) mm lies outside of the car",
        ),
        ({"body": {"cg": [1.2, 0, 0.56]}}, "mass centre at x = 1.052 m, not between the axles"),
        (
            {"loads": {"driver": {"at": [-1350, 370, 600]}}},
            "loads.driver.at = (-1.35e+06, 3.7e+05, 6e+05) mm lies outside",
        ),
    ],
)
def test_slips_in_positions_are_named(passenger, change, words):
    assert words in said(passenger, **change)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (
            interchanged("lower_front", "lower_rear"),
            "'lower_front' at x = -220 mm is not ahead of 'lower_rear'",
        ),
        (
            interchanged("spring_base", "spring_arm"),
            "front.spring: it pulls, as the hard points 'spring_base' and",
        ),
        (
            negative(1, "lower_front"),
            "'lower_front' has y = -350 mm: it lies on the other side of the car",
        ),
    ],
)
def test_slips_that_can_be_meant_are_unusual(passenger, slip, words):
    changed = passenger.changed(
        front={"suspension": {"points": slip(points_of(passenger, "front"))}}
    )
    assert any(words in remark for remark in changed.check())
    assert not any(
        "front.suspension" in remark or "it pulls" in remark for remark in passenger.check()
    )


def test_hard_points_on_the_other_side_are_no_suspension():
    """Also where they are measured alone."""
    for axes, side in (("ISO 8855", "right"), ("SAE", "left"), ("ADAMS", "left")):
        with pytest.raises(
            bc.ModelError,
            match=f"lies inside of all hard points .* side = '{side}', axes = '{axes}'",
        ):
            Linkage.read("double_wishbone", axes=axes, side=side)
