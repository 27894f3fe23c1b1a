"""Loads in linkages at rest: against virtual work, and against the reactions of a model of bodies
and loops."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.link_forces import BodyLoad, solve_link_forces
from bellcrank.vehicles.cars.metrics.load_cases import LoadCase, linkage_loads, read_load_cases
from tests.linkage.machines import linkage, sheet

FORCE, MOMENT = np.array([-3100.0, 1700.0, 4200.0]), np.array([30.0, -60.0, 90.0])


@pytest.mark.parametrize(
    "name", ["double_wishbone", "macpherson", "five_link", "formula_student", "semi_trailing"]
)
def test_springs_and_rack_do_the_work_of_the_load(name):
    one = linkage(name)
    rack = (0.012,) if "rack" in one.inputs else ()
    pose = one.solve(0.03, *rack)
    strut = one.chain.struts[0]
    at = pose.position + [0.02, 0.03, -0.31]
    found = solve_link_forces(
        one, pose, [BodyLoad(one.chain.carrier, FORCE, at, MOMENT)], {strut.name: strut.points}
    ).parts
    a, b = (pose.point(p) for p in strut.points)
    line = (a.position - b.position) / np.linalg.norm(a.position - b.position)
    moves = [(pose.d, pose.delta, a.d - b.d)]
    moves += [(pose.d_rack, pose.delta_rack, a.d_rack - b.d_rack)] if rack else []
    works = [
        FORCE @ (d + np.cross(turn, at - pose.position))
        + MOMENT @ turn
        + found[strut.name].magnitude * (line @ longer)
        for d, turn, longer in moves
    ]
    assert works[0] == pytest.approx(0, abs=1e-8)
    if rack:
        assert works[1] + found["rack"].magnitude == pytest.approx(0, abs=1e-8)
    # everything that the base holds carries the load
    base = {j.name for j in one.chain.joints if j.first == "base"} | {"rack"}
    points = [p for p in one.chain.points if one.chain.points[p].body == "base"]
    total = np.zeros(3)
    for part, c in found.items():
        if c.kind == "bush" or part in base:
            total += c.force
        elif c.kind == "rod":
            first = next(r.first for r in one.chain.rods if r.name == part)
            total += c.force if first in points else 0
        elif c.kind == "joint" and part.partition(".")[2] in points:
            total += c.force
        elif c.kind == "strut":
            total += sum(
                sign * c.force for p, sign in zip(strut.points, (-1, 1), strict=True) if p in points
            )
    assert total == pytest.approx(-FORCE, abs=1e-7)


@pytest.mark.campaign
def test_loads_are_the_reactions_of_a_model_at_rest():
    """A double wishbone put together from bodies, hinges and loops, at rest under the load: equal
    to 1e-8."""
    data = sheet("double_wishbone")
    for level in ("lower", "upper"):  # hinges along x, so that axes of bodies are those of the base
        data["points"][f"{level}_rear"][1:] = data["points"][f"{level}_front"][1:]
    del data["rack"]
    one = Linkage.read(data)
    p = {n: tuple(x) for n, x in one.points.items()}
    at = np.array(p["wheel_centre"]) - [0.0, 0.0, 0.3]
    found = solve_link_forces(
        one,
        one.solve(0.0),
        [BodyLoad("carrier", FORCE, at)],
        {"spring": ("spring_arm", "spring_base")},
    ).parts
    s = bc.System("wishbones", units="mks", axes="ISO 8855")
    small = {"mass": 1, "inertia": (0.1, 0.1, 0.1)}
    lower = s.add_body("lower", rotate=1, joint_at=p["lower_front"], **small)
    upper = s.add_body("upper", rotate=1, joint_at=p["upper_front"], **small)

    def within(point, origin):
        return tuple(float(a - b) for a, b in zip(p[point], p[origin], strict=True))

    carrier = s.add_body(
        "carrier",
        parent=lower,
        rotate=(1, 2, 3),
        joint_at=within("lower_ball", "lower_front"),
        **small,
    )
    ball = s.add_point("ball", body=carrier, at=within("upper_ball", "lower_ball"))
    s.add_loop_joint(
        "loop",
        "spherical",
        between=(ball, s.add_point("socket", body=upper, at=within("upper_ball", "upper_front"))),
    )
    tie = s.add_point("tie", body=carrier, at=within("tie_carrier", "lower_ball"))
    s.add_loop_joint(
        "loop_2", "distance", between=(tie, s.add_point("inner", body=None, at=p["tie_base"]))
    )
    arm = s.add_point("arm", body=lower, at=within("spring_arm", "lower_front"))
    s.add_strut(
        "spring",
        magnitude="push",
        between=(arm, s.add_point("top", body=None, at=p["spring_base"])),
    )
    s.set_defaults(push=found["spring"].magnitude)
    place = s.add_point(
        "contact", body=carrier, at=tuple(float(x) for x in at - np.array(p["lower_ball"]))
    )
    for i, f in enumerate(FORCE, 1):
        s.add_force(f"load{i}", magnitude=float(f), direction=s.inertial[i], at=place)
    s.add_outputs("reactions")
    sim = s.equations().compile(backend="python")
    zero = [0.0] * 5
    out = sim.outputs(0.0, zero, zero)
    assert sim.derivatives(0.0, zero, zero)[1] == pytest.approx(zero, abs=1e-7)

    def force(body):
        return np.array([out[f"F{i}({body})"] for i in (1, 2, 3)])

    assert force("carrier") == pytest.approx(found["lower_ball_joint"].force, abs=1e-8 * 4200)
    for level in ("lower", "upper"):
        front, rear = (found[f"{level}_{end}"].force for end in ("front", "rear"))
        assert force(level) == pytest.approx(front + rear, abs=1e-8 * 4200)
        turned = [out[f"M{i}({level})"] for i in (2, 3)]
        assert turned == pytest.approx(
            np.cross(within(f"{level}_rear", f"{level}_front"), rear)[1:], abs=1e-8 * 4200
        )


def test_a_torque_that_the_body_takes_does_not_load_the_carrier():
    one = linkage("double_wishbone")
    cases = {
        "hub": LoadCase(fx=2000.0, fz=4000.0),
        "shaft": LoadCase(fx=2000.0, fz=4000.0, torque="body"),
    }
    found = linkage_loads(one, cases)
    radius = one.chain.vehicle["tyre_radius"]
    pose, strut = one.solve(0.0), {"spring": one.chain.struts[0].points}
    force = np.array([2000.0, 0.0, 4000.0])
    at = pose.position
    hub = solve_link_forces(
        one, pose, [BodyLoad("carrier", force, at - [0, 0, radius])], strut
    ).parts
    shaft = solve_link_forces(one, pose, [BodyLoad("carrier", force, at)], strut).parts
    for name, parts in (("hub", hub), ("shaft", shaft)):
        for part, c in parts.items():
            assert found[name][part].force == pytest.approx(c.force, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"a": {"fx": 100}}, "a.fx = 100: its unit is not stated"),
        ({"a": {"fx": "1 kN", "braking": 1}}, "not both"),
        ({"a": {"brakes": 1}}, "Did you mean 'braking'"),
        ({"a": {"braking": 1, "driving": 1}}, "braking or driving"),
        ({}, "no load case"),
    ],
)
def test_cases_that_cannot_be(given, told):
    with pytest.raises(ModelError, match=told.replace("?", r"\?")):
        read_load_cases(given)


def test_what_cannot_be_held_is_told():
    one = linkage("double_wishbone")
    with pytest.raises(ModelError, match="multiples of gravity need a car"):
        linkage_loads(one, {"x": LoadCase(braking=1.0)})
    with pytest.raises(ModelError, match="loads need 1 strut that holds the travel"):
        solve_link_forces(one, one.solve(0.0), [], {})
