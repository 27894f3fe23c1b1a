"""Loads that do no work on any speed are named; those that may are not."""

import warnings

import pytest

import bellcrank as bc


def pendulum(**options):
    s = bc.System("pendulum", units="SI")
    joint = {"rotate": "z"} | options
    rod = s.add_body("rod", cm=(0, "-l", 0), mass=1, inertia=(1, 1, 1), **joint)
    return s, rod


def messages(s):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", bc.ModelWarning)
        s.equations()
    return [str(w.message) for w in caught if "does no work" in str(w.message)]


def add_load(s, rod, kind, direction):
    if kind == "gravity":
        s.add_gravity(direction)
    elif kind == "moment":
        s.add_moment("load", magnitude="T", direction=direction, on=rod)
    else:
        s.add_force("load", magnitude="T", direction=direction, at=rod.cm)


@pytest.mark.parametrize(
    ("joint", "kind", "idle"),
    [
        ({"rotate": "z"}, "gravity", "[n3]"),
        ({"rotate": (0, 0.6, 0.8)}, "gravity", (0, 0.6, 0.8)),
        ({"rotate": (), "translate": ("x", "y")}, "gravity", "[n3]"),
        ({"translate": ("x", "y")}, "gravity", "[n3]"),
        ({"rotate": "z"}, "moment", "[n1]"),
        ({"rotate": (), "translate": "x"}, "moment", "[n1]"),
        ({"rotate": "z"}, "force", "[n3]"),
        ({"rotate": "z"}, "force", "[rod2]"),  # through the axis
        ({"rotate": (), "translate": "x"}, "force", "[n2]"),
    ],
)
def test_what_does_no_work_is_named(joint, kind, idle):
    s, rod = pendulum(**joint)
    add_load(s, rod, kind, idle)
    (message,) = messages(s)
    assert ("gravity along" if kind == "gravity" else f"the {kind} 'load' along") in message


@pytest.mark.parametrize(
    ("joint", "kind", "direction"),
    [
        ({"rotate": "z"}, "gravity", "[n2]"),
        ({"rotate": "x"}, "gravity", "[n3]"),
        ({"translate": ("x", "y", "z")}, "gravity", "[n3]"),
        ({"rotate": (3, 2, 1)}, "gravity", "[n3]"),
        ({"rotate": "euler-parameters"}, "moment", "[n1]"),
        ({"rotate": (), "joint": bc.Screw(0.1)}, "gravity", "[n3]"),
        ({"rotate": "z"}, "moment", "[n3]"),
        ({"rotate": "z"}, "force", "[rod1]"),
        ({"rotate": (), "translate": "x"}, "force", "[n1]"),
    ],
)
def test_what_may_do_work_is_not(joint, kind, direction):
    s, rod = pendulum(**joint)
    add_load(s, rod, kind, direction)
    assert messages(s) == []


def test_a_load_that_does_work_further_inwards_is_none():
    s, rod = pendulum(rotate="y")
    tip = s.add_body("tip", rod, joint_at=(1, 0, 0), rotate="z", mass=1, inertia=(1, 1, 1))
    s.add_moment("load", magnitude="T", direction="[n2]", on=tip)
    assert messages(s) == []


def test_reactions_may_be_what_such_loads_are_for():
    s, _ = pendulum()
    s.add_gravity("[n3]")
    s.add_outputs("reactions")
    assert messages(s) == []


@pytest.mark.parametrize(("against", "noted"), [(None, True), ("a", False), ("n", False)])
def test_a_moment_in_a_chain_that_reacts_on_the_ground_has_a_note(against, noted):
    s = bc.System("arm", units="SI")
    link = {"rotate": "z", "cm": (1, 0, 0), "mass": 1, "inertia": 0}
    a = s.add_body("a", **link)
    b = s.add_body("b", a, joint_at=(1, 0, 0), **link)
    s.add_moment("motor", magnitude="T", direction=b.z, on=b, against=against)
    notes = [n for n in s.equations().notes if "reacts on the ground" in n]
    assert len(notes) == noted
    assert not noted or ("'motor' on 'b'" in notes[0] and "against='a'" in notes[0])
