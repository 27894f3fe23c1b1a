"""Every kind of joint, placing a body or closing a loop, against closed forms and against another
way to tie the same machine."""

import numpy as np
import pytest

from bellcrank.linkage import Linkage
from tests.linkage.machines import linkage

HEAD = {"units": "m", "axes": "ISO 8855", "side": "left", "kind": "chain"}


def joint(name, kind, first, second, at, axis=None, axis_2=None):
    j = {"name": name, "kind": kind, "between": [first, second], "at": at}
    return (
        j
        | ({"axis": axis} if axis is not None else {})
        | ({"axis_2": axis_2} if axis_2 is not None else {})
    )


def test_prismatic_joint_is_a_straight_line():
    slope = {"wheel_centre": [0, 0.7, 0], "guide": [0, 0.5, 0]}
    slide = Linkage.read(
        {
            **HEAD,
            "name": "slide",
            "points": slope,
            "attach": {"wheel_centre": "carrier"},
            "bodies": ["carrier"],
            "joints": [joint("guide", "prismatic", "base", "carrier", "guide", [0.1, 0.2, 1.0])],
        }
    )
    pose = slide.solve([-0.1, 0.3])
    assert pose.position == pytest.approx(
        np.array([[-0.01, 0.68, -0.1], [0.03, 0.76, 0.3]]), abs=1e-14
    )
    assert np.abs(pose.d - [0.1, 0.2, 1.0]).max() < 1e-14 and np.abs(pose.dd).max() < 1e-14
    assert slide.mobility.gruebler_count == slide.mobility.degrees_of_freedom == 1


AXES = [(0.3, 0.9, 0.2), (-0.2, 1.0, 0.4)]


@pytest.mark.parametrize(
    "joints",
    [
        [joint("pivot", "revolute", "base", "carrier", "pivot", AXES[0])],
        [joint("guide", "prismatic", "base", "carrier", "pivot", (0.1, 0.2, 1.0))],
        [
            joint("pivot", "revolute", "base", "arm", "pivot", AXES[0]),
            joint("closing", "revolute", "arm", "carrier", "hinge", AXES[1]),
        ],
    ],
    ids=["revolute", "prismatic", "two axes"],
)
def test_a_mirrored_chain_moves_as_the_mirror_image(joints):
    """Skew axes: y of every place, and x and z of the angular velocity, change sign."""
    two = len(joints) == 2
    points = {
        "wheel_centre": [0.35, 0.7, 0.05],
        "pivot": [0, 0.4, 0.1],
        "hinge": [0.2, 0.45, -0.05],
        "rod": [0.3, 0.6, 0.2],
    }
    one = Linkage.read(
        {
            **HEAD,
            "name": "skew",
            "points": {**points, "base_rod": [0.1, 0.2, 0.25]} if two else points,
            "attach": {"wheel_centre": "carrier", "hinge": "carrier", "rod": "carrier"},
            "bodies": ["arm", "carrier"] if two else ["carrier"],
            "joints": joints,
            "rods": [{"name": "rod", "between": ["base_rod", "rod"]}] if two else [],
        }
    )
    a, b = one.solve([-0.06, 0.0, 0.08]), Linkage(one.chain.mirrored()).solve([-0.06, 0.0, 0.08])
    assert b.position == pytest.approx(a.position * [1, -1, 1], abs=1e-12)
    assert b.d == pytest.approx(a.d * [1, -1, 1], abs=1e-12)
    assert b.delta == pytest.approx(a.delta * [-1, 1, -1], abs=1e-12)


def wishbone(lower, upper):
    """The shipped double wishbone with its arms on joints of the given kinds, as far as they leave
    the same motion."""
    source = linkage("double_wishbone").chain
    points = {n: list(p.at) for n, p in source.points.items()}
    attach = {n: p.body for n, p in source.points.items() if p.body not in ("base", "rack")}
    axis = {level: [f"{level}_front", f"{level}_rear"] for level in ("lower", "upper")}
    joints = []
    for level, kind in (("lower", lower), ("upper", upper)):
        arm = f"{level}_arm"
        if kind == "closing":  # first the ball, then the pivot as the closing joint of the loop
            joints.append(
                joint(f"{level}_pivot", "revolute", arm, "base", f"{level}_front", axis[level])
            )
        else:
            joints.append(
                joint(f"{level}_pivot", "revolute", "base", arm, f"{level}_front", axis[level])
            )
        joints.append(joint(f"{level}_ball", "spherical", arm, "carrier", f"{level}_ball"))
    bodies = ["lower_arm", "upper_arm", "carrier"]
    return {
        **HEAD,
        "name": "wishbone",
        "points": points,
        "attach": attach,
        "bodies": bodies,
        "joints": joints,
        "rods": [{"name": "tie_rod", "between": ["tie_base", "tie_carrier"]}],
    }


def test_a_listed_chain_is_the_ready_made_double_wishbone():
    listed, ready = Linkage.read(wishbone("placing", "closing")), linkage("double_wishbone")
    assert listed.mobility.degrees_of_freedom == 1
    a, b = listed.solve([-0.1, 0.05]), ready.solve([-0.1, 0.05])
    assert np.abs(a.position - b.position).max() < 1e-13
    assert np.abs(a.ddelta - b.ddelta).max() < 1e-10


def test_closing_joints_of_every_kind_hold_what_they_should():
    """A planar four-bar with a carrier on its coupler: each closing joint that leaves the plane's
    motion free gives the same pose."""
    y = [0, 1, 0]
    points = {
        "a": [0, 0.3, 0],
        "b": [0.1, 0.3, 0.3],
        "c": [0.5, 0.3, 0.35],
        "d": [0.6, 0.3, 0.0],
        "wheel_centre": [0.1, 0.7, 0.5],
    }
    base = {
        **HEAD,
        "name": "four-bar",
        "points": points,
        "attach": {"wheel_centre": "carrier"},
        "bodies": ["crank", "carrier", "rocker"],
    }
    bars = [
        joint("a", "revolute", "base", "crank", "a", y),
        joint("b", "revolute", "crank", "carrier", "b", y),
        joint("d", "revolute", "base", "rocker", "d", y),
    ]
    poses, redundant = {}, {}
    for kind, extra in (
        ("revolute", {}),
        ("cylindrical", {}),
        ("spherical", {}),
        ("universal", {"axis_2": [1, 0, 0]}),
    ):
        axis = None if kind == "spherical" else y
        bars_and_joint = Linkage.read(
            {
                **base,
                "joints": [
                    *bars,
                    joint("c", kind, "rocker", "carrier", "c", axis, extra.get("axis_2")),
                ],
            }
        )
        poses[kind], redundant[kind] = bars_and_joint.solve(-0.04), bars_and_joint.mobility
    for pose in poses.values():
        assert np.abs(pose.position - poses["revolute"].position).max() < 1e-12
        assert np.abs(pose.dd - poses["revolute"].dd).max() < 1e-9
    assert (
        redundant["revolute"].gruebler_count == -2 and redundant["revolute"].degrees_of_freedom == 1
    )
    assert redundant["revolute"].redundant == ("joint 'c'",)
    assert (
        redundant["spherical"].gruebler_count == 0
    )  # a ball would do with a plane's degree of freedom less


def test_planar_and_cylindrical_joints_place_bodies():
    """A carrier on a plane, held in it by two rods: it swings like the coupler of a four-bar in
    that plane."""
    points = {
        "o": [0, 0.4, 0],
        "p": [0, 0.4, 0.3],
        "r": [0.05, 0.4, -0.1],
        "x": [0.4, 0.4, 0.32],
        "y": [0.42, 0.4, -0.08],
    }
    points |= {"wheel_centre": [0.41, 0.6, 0.1]}
    attach = {n: "carrier" for n in ("x", "y", "wheel_centre")}
    rods = [{"name": "upper", "between": ["p", "x"]}, {"name": "lower", "between": ["r", "y"]}]
    plane = Linkage.read(
        {
            **HEAD,
            "name": "plane",
            "points": points,
            "attach": attach,
            "bodies": ["carrier"],
            "rods": rods,
            "joints": [joint("plane", "planar", "base", "carrier", "o", [0, 1, 0])],
        }
    )
    pose = plane.solve(np.linspace(-0.05, 0.05, 5))
    assert np.abs(pose.position[:, 1] - 0.6).max() < 1e-14
    assert np.abs(pose.delta[:, [0, 2]]).max() < 1e-12
    for rod, a, b in (("upper", "p", "x"), ("lower", "r", "y")):
        gap = pose.point(b).position - pose.point(a).position
        assert np.abs(np.linalg.norm(gap, axis=1) - plane.plan.lengths[rod]).max() < 1e-14
    cylinder = Linkage.read(
        {
            **HEAD,
            "name": "cylinder",
            "points": points,
            "attach": attach,
            "bodies": ["carrier"],
            "rods": [{"name": "stay", "between": ["p", "x"]}],
            "joints": [joint("cylinder", "cylindrical", "base", "carrier", "r", [0.2, 1, 0])],
        }
    )
    assert cylinder.mobility.degrees_of_freedom == 1
    pose = cylinder.solve([0.0, 0.03])
    direction = np.array([0.2, 1, 0]) / np.sqrt(1.04)
    assert np.abs(pose.rotation[1] @ direction - direction).max() < 1e-14
