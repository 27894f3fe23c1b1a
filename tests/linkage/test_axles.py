"""Axles that carry both wheels, against lines through their instant centres."""

import numpy as np
import pytest

from bellcrank.linkage import Linkage
from bellcrank.linkage.measures import measure_wheel

SOLID = ("solid_axle", "panhard_axle", "watt_axle", "leaf_axle", "a_arm_axle", "de_dion")
H = 1e-4  # m


def at(linkage, name):
    return np.array(linkage.points[name])


def rate(linkage, metric, mode="opposite"):
    """Derivative of a metric by wheel travel, as drawn."""
    low, high = measure_wheel(linkage, np.array([-H, H]), mode=mode)[metric]
    return (high - low) / (2 * H)


def line_of(linkage, *names):
    """Where the lines of two rods that mirror each other meet in the middle plane."""
    a, b = (at(linkage, f"{names[0]}_{end}") for end in ("base", "axle"))
    return b + (b - a) * b[1] / (a[1] - b[1])


def roll_twist(linkage):
    """Velocity of the axle's middle and angular velocity, of unit roll without heave, that four
    lines allow."""
    lines = {
        "solid_axle": [
            (f"{n}_base", f"{n}_axle")
            for n in ("lower_left", "lower_right", "upper_left", "upper_right")
        ],
        "panhard_axle": [
            (f"{n}_base", f"{n}_axle") for n in ("lower_left", "lower_right", "upper", "panhard")
        ],
    }[linkage.name]
    centre = at(linkage, "wheel_centre")
    rows = [[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
    for a, b in lines:
        u = at(linkage, b) - at(linkage, a)
        u = u / np.linalg.norm(u)
        rows.append([*u, *np.cross(at(linkage, b) - centre, u)])
    found = np.linalg.solve(np.array(rows), [0, 1, 0, 0, 0, 0])
    return found[:3], found[3:]


@pytest.mark.parametrize("name", ["solid_axle", "panhard_axle"])
def test_roll_centre_and_roll_steer_follow_from_the_lines_of_the_rods(name):
    linkage = Linkage.read(name)
    radius = linkage.chain.vehicle["tyre_radius"]
    v, w = roll_twist(linkage)
    ground = v + np.cross(w, [0, 0, -radius])
    assert measure_wheel(linkage, 0.0)["roll_centre_height"][0] == pytest.approx(
        ground[1], rel=1e-9
    )
    track = at(linkage, "wheel_left")[1] * 2
    assert rate(linkage, "toe") == pytest.approx(-np.degrees(w[2]) * 2 / track, rel=1e-5)
    assert rate(linkage, "camber") == pytest.approx(-np.degrees(1.0) * 2 / track, rel=1e-5)


def test_a_arm_axle_rolls_about_the_line_from_its_ball_to_the_meet_of_its_rods():
    linkage = Linkage.read("a_arm_axle")
    ball, far = at(linkage, "arm_axle"), line_of(linkage, "lower_left")
    slope = (far[2] - ball[2]) / (far[0] - ball[0])
    height = ball[2] - slope * ball[0]
    assert measure_wheel(linkage, 0.0)["roll_centre_height"][0] == pytest.approx(
        height, rel=1e-9
    )  # the ground is at z = 0
    assert rate(linkage, "toe") == pytest.approx(-np.degrees(slope) * 2 / (2 * 0.8), rel=1e-5)


def test_leaf_springs_hold_their_axle_across_at_their_seats_and_upright():
    """The roll centre is the middle of the seats; equal parallel rods keep the axle from turning in
    heave."""
    linkage = Linkage.read("leaf_axle")
    assert measure_wheel(linkage, 0.0)["roll_centre_height"][0] == pytest.approx(
        at(linkage, "leaf_centre")[2], rel=1e-9
    )
    for z in (-0.08, 0.08):
        np.testing.assert_allclose(linkage.solve(z).rotation, np.eye(3), atol=1e-9)
    a, b = at(linkage, "lower_left_base"), at(linkage, "lower_left_axle")
    steer = (b[2] - a[2]) / (a[0] - b[0])  # as the rods rise to the rear
    assert rate(linkage, "toe") == pytest.approx(
        np.degrees(steer) / at(linkage, "wheel_left")[1], rel=1e-5
    )


def test_watt_linkage_holds_its_pivot_in_the_middle():
    """The roll axis passes the pivot of the lever, which stays in the middle plane: to third order
    over the travel."""
    linkage = Linkage.read("watt_axle")
    m = measure_wheel(linkage, np.linspace(-0.08, 0.08, 9))
    panhard = measure_wheel(Linkage.read("panhard_axle"), np.linspace(-0.08, 0.08, 9))
    assert np.abs(m["wheel_y"] - 0.8).max() < 3e-4 < np.ptp(panhard["wheel_y"])
    pivot = at(linkage, "lever_pivot")
    v, w = (linkage.solve(0.0).d_rack, linkage.solve(0.0).delta_rack)
    motion = v + np.cross(w, pivot - at(linkage, "wheel_centre"))
    assert motion[1] == pytest.approx(0.0, abs=1e-12)


def test_panhard_rod_swings_the_axle_on_its_arc():
    """Sideways by the versed sine of a rod that lies level."""
    linkage = Linkage.read("panhard_axle")
    points = {n: list(p) for n, p in linkage.points.items()}
    for name in ("panhard_base", "panhard_axle"):
        points[name] = [0.0, points[name][1], 0.34]
    level = Linkage(linkage.chain.moved({n: tuple(p) for n, p in points.items()}))
    length = points["panhard_base"][1] - points["panhard_axle"][1]
    z = 0.06
    moved = measure_wheel(level, np.array([z]))["wheel_y"][0] - 0.8
    assert moved == pytest.approx(length - np.sqrt(length**2 - z**2), rel=0.02)


# ---- twist beam


def turning(linkage, axis):
    """Angular velocity of the left arm about a line through its pivot, for unit speed of the wheel
    centre up."""
    r = at(linkage, "wheel_left") - at(linkage, "pivot_left")
    return axis / np.cross(axis, r)[2], r


def test_twist_beam_is_a_trailing_arm_in_heave():
    linkage = Linkage.read("twist_beam")
    w, r = turning(linkage, np.array([0.0, 1.0, 0.0]))
    pose = linkage.solve(0.0)
    np.testing.assert_allclose(pose.delta, w, atol=1e-12)
    np.testing.assert_allclose(pose.d, np.cross(w, r), atol=1e-12)
    m = measure_wheel(linkage, np.linspace(-0.08, 0.08, 9))
    for name in ("toe", "camber", "twist"):
        np.testing.assert_allclose(m[name], 0.0, atol=1e-10)


def test_twist_beam_rolls_about_lines_from_pivots_to_the_shear_centre():
    linkage = Linkage.read("twist_beam")
    w, r = turning(linkage, at(linkage, "shear_centre") - at(linkage, "pivot_left"))
    assert rate(linkage, "toe") == pytest.approx(-np.degrees(w[2]), rel=1e-5)
    assert rate(linkage, "camber") == pytest.approx(-np.degrees(w[0]), rel=1e-5)
    assert rate(linkage, "twist") == pytest.approx(
        np.degrees(2 * w[1]), rel=1e-5
    )  # arms turn against each other
    contact = r - [0, 0, linkage.chain.vehicle["tyre_radius"]]
    v = np.cross(w, contact)
    y = at(linkage, "wheel_left")[1]
    assert measure_wheel(linkage, 0.0)["roll_centre_height"][0] == pytest.approx(
        y * v[1] / v[2], rel=1e-9
    )


@pytest.mark.parametrize(("x", "like"), [(0.42, "arm"), (0.0, "axle")])
def test_shear_centre_between_pivots_and_wheels_spans_arm_to_axle(x, like):
    """In the line of the pivots the arms do not incline; in that of the wheels they incline as a
    solid axle does."""
    beam = Linkage.read("twist_beam")
    z = at(beam, "pivot_left")[2] if like == "arm" else at(beam, "wheel_left")[2]
    beam = Linkage(beam.chain.moved({"shear_centre": (x, 0.0, z)}))
    wanted = 0.0 if like == "arm" else -np.degrees(1 / 0.735)
    assert rate(beam, "camber") == pytest.approx(wanted, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", [*SOLID, "twist_beam"])
def test_axles_keep_their_rods_and_joints(name):
    linkage = Linkage.read(name)
    assert linkage.mobility.degrees_of_freedom == linkage.mobility.gruebler_count == 2
    for roll in (-0.06, 0.04):
        pose = linkage.solve(0.03, roll=roll)
        left, right = (pose.point(f"wheel_{side}").position for side in ("left", "right"))
        drawn = np.linalg.norm(at(linkage, "wheel_left") - at(linkage, "wheel_right"))
        assert (left - right)[2] == pytest.approx(drawn * np.sin(roll), abs=1e-12)
        assert (left + right)[2] / 2 - at(linkage, "wheel_left")[2] == pytest.approx(
            0.03, abs=1e-12
        )
        for rod in linkage.chain.rods:
            a, b = (pose.point(p).position for p in (rod.first, rod.second))
            assert np.linalg.norm(a - b) == pytest.approx(
                np.linalg.norm(at(linkage, rod.first) - at(linkage, rod.second))
            )


@pytest.mark.parametrize("name", ["watt_axle", "twist_beam"])
def test_derivatives_are_those_of_differences(name):
    linkage = Linkage.read(name)
    z, roll, h = 0.02, 0.03, 1e-5
    pose = linkage.solve(z, roll=roll)
    for point in ("wheel_left", "wheel_right", "spring_right"):
        by_z = (
            linkage.solve(z + h, roll=roll).point(point).position
            - linkage.solve(z - h, roll=roll).point(point).position
        )
        by_roll = (
            linkage.solve(z, roll=roll + h).point(point).position
            - linkage.solve(z, roll=roll - h).point(point).position
        )
        np.testing.assert_allclose(pose.point(point).d, by_z / (2 * h), atol=1e-8)
        np.testing.assert_allclose(pose.point(point).d_rack, by_roll / (2 * h), atol=1e-8)
