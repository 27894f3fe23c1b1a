"""Torques in joints act between a body and its parent, along the axis of the joint."""

import pytest

import bellcrank as bc


def arm():
    s = bc.System("arm", units="SI")
    link = {"joint_at": (1, 0, 0), "cm": (1, 0, 0), "mass": 1, "inertia": (1, 1, 1)}
    a = s.add_body("a", rotate="z", **link)
    b = s.add_body("b", a, rotate=[2], **link)
    c = s.add_body("c", b, rotation_axis=(0, 0.6, 0.8), **link)
    d = s.add_body("d", c, rotate=(0, 3, 4), orientation=(1, 0.3), **link)
    s.add_body("e", d, rotate=[1, 2, 3], **link)
    s.add_body("f", d, translate="x", **link)
    return s


def test_it_acts_on_the_speed_of_its_joint_alone():
    s = arm()
    for name in "abcd":
        s.add_joint_torque(name, f"T{name}")
    s.set_defaults(Ta=1, Tb=2, Tc=3, Td=4)
    eom = s.equations()
    for i, force in enumerate(map(str, eom.forces)):
        acting = [name for name in "abcd" if f"T{name}" in force]
        assert acting == (["abcd"[i]] if i < 4 else [])
    assert bc.check(s, states=3, run=False).passed


def test_a_motor_in_the_second_joint_of_an_arm():
    s = bc.System("arm", units="SI")
    link = {"rotate": "z", "cm": (1, 0, 0), "mass": 1, "inertia": 0}
    a = s.add_body("a", **link)
    b = s.add_body("b", a, joint_at=(1, 0, 0), **link)
    assert s.add_joint_torque(b, "T", name="motor", label="elbow").name == "motor"
    upper, lower = map(str, s.equations().forces)
    assert "T" not in upper and "T" in lower


@pytest.mark.parametrize("name", ["e", "f"])
def test_joints_without_one_axis_are_named(name):
    with pytest.raises(bc.ModelError, match=f"body '{name}' does not rotate about one axis; use"):
        arm().add_joint_torque(name, "T")


def test_a_body_that_is_not_there_is_named():
    with pytest.raises(bc.ModelError, match=r"no body has the name 'g' yet\. Bodies: a, b, c, d"):
        arm().add_joint_torque("g", "T")
