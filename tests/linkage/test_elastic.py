"""Suspensions on bushes: next to values by hand, next to a model in which every link is a body,
limits, wrong values."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.linkage import Linkage
from bellcrank.linkage.chain import BASE
from bellcrank.linkage.elastokinematics import (
    BushStiffness,
    _LinkageStiffness,
    axial_stiffnesses,
    bush_mounts,
    make_bush,
    solve_carrier_compliance,
)

TURN = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
RADIAL, AXIAL, CARDANIC, TORSION = 8e6, 1e6, 900.0, 150.0  # N/m, N m/rad


def rubber(linkage, factor=1.0, only=None):
    """Bushes at all joints, each along its own axis, none like another."""
    found = {}
    for i, at in enumerate(bush_mounts(linkage.chain) if only is None else only):
        k = factor * (1 + 0.1 * i)
        along, about = (
            (k * AXIAL, k * RADIAL, k * RADIAL * 1.3),
            (TORSION * (1 + 0.2 * i), CARDANIC, CARDANIC * 1.4),
        )
        found[at] = make_bush(linkage.chain, at, along, about)
    return found


def trailing_arm():
    points = {
        "pivot_inner": (0.4, 0.3, 0.3),
        "pivot_outer": (0.4, 0.6, 0.3),
        "wheel_centre": (0.0, 0.7, 0.3),
    }
    return Linkage.read(
        {
            "name": "arm",
            "kind": "trailing_arm",
            "axes": "ISO 8855",
            "side": "left",
            "units": "m",
            "points": points,
        }
    )


def test_an_arm_on_two_bushes_by_hand():
    """Axis along y, arm 0.4 m long, bushes 0.3 m apart: radial 8e6 N/m, axial 1e6 N/m, without
    rotational stiffness."""
    arm = trailing_arm()
    bushes = {
        p: make_bush(arm.chain, p, (AXIAL, RADIAL, RADIAL)) for p in ("pivot_inner", "pivot_outer")
    }
    found = solve_carrier_compliance(arm, arm.solve(0.0), bushes)
    yaw = RADIAL * 0.3**2 / 2  # N m/rad of both about a line between them
    turn, side = (
        found.small_displacement(np.array([0, 0, 0]), np.zeros(3), np.array([0, 0, 1.0])),
        found.small_displacement(np.array([0, 1.0, 0]), np.zeros(3)),
    )
    assert turn[5] == pytest.approx(1 / yaw, rel=1e-9)
    assert side[5] == pytest.approx(-0.4 / yaw, rel=1e-9)  # behind the bushes: out of the turn
    assert side[1] == pytest.approx(1 / (2 * AXIAL) + 0.4**2 / yaw, rel=1e-9)
    # ahead: 0.25 m next to the middle of the bushes
    assert found.small_displacement(np.array([1.0, 0, 0]), np.zeros(3))[0] == pytest.approx(
        1 / (2 * RADIAL) + 0.25**2 / yaw, rel=1e-9
    )
    assert found.rate == pytest.approx(0, abs=1e-6)
    turned = {p: make_bush(arm.chain, p, (AXIAL, RADIAL, RADIAL), (TORSION, 0, 0)) for p in bushes}
    softer = (
        0.4**2 / (2 * TORSION) + 1 / (2 * RADIAL) + 0.25**2 / yaw
    )  # torsion, and what the bushes give upwards
    assert solve_carrier_compliance(arm, arm.solve(0.0), turned).rate == pytest.approx(
        1 / softer, rel=1e-9
    )


def test_nothing_gives_without_bushes_and_less_the_stiffer_they_are():
    linkage = Linkage.read("double_wishbone")
    pose = linkage.solve(0.02, 0.01)
    assert np.abs(solve_carrier_compliance(linkage, pose, {}).compliance).max() < 1e-18
    soft, stiff = (solve_carrier_compliance(linkage, pose, rubber(linkage, f)) for f in (1.0, 1e5))
    assert np.abs(soft.compliance).max() > 1e-6
    assert np.abs(stiff.compliance).max() < 2e-5 * np.abs(soft.compliance).max()
    assert soft.compliance == pytest.approx(
        soft.compliance.T, abs=1e-9 * np.abs(soft.compliance).max()
    )
    assert np.linalg.eigvalsh((soft.compliance + soft.compliance.T) / 2)[0] > -1e-15


@pytest.mark.parametrize(
    ("name", "ideal"),
    [
        ("double_wishbone", ("lower_ball", "upper_ball", "tie_carrier", "upper_rear")),
        pytest.param("macpherson", ("lower_ball", "tie_base"), marks=pytest.mark.campaign),
        pytest.param("five_link", ("X1", "X3", "P4", "X4"), marks=pytest.mark.campaign),
    ],
)
def test_an_ideal_joint_is_a_very_stiff_bush(name, ideal):
    linkage = Linkage.read(name)
    pose = linkage.solve(0.02)
    soft = rubber(linkage, only=[p for p in bush_mounts(linkage.chain) if p not in ideal])
    balls = {p: make_bush(linkage.chain, p, (1e11, 1e11, 1e11)) for p in ideal}
    found, stiff = (
        solve_carrier_compliance(linkage, pose, soft),
        solve_carrier_compliance(linkage, pose, {**soft, **balls}),
    )
    assert stiff.compliance == pytest.approx(
        found.compliance, abs=2e-4 * np.abs(found.compliance).max()
    )
    assert stiff.rate == pytest.approx(found.rate, rel=2e-4)


def test_a_bush_turned_by_hand_is_the_same():
    """A full matrix along the base's axes in place of three stiffnesses along an axis of its
    own."""
    linkage = Linkage.read("five_link")
    pose = linkage.solve(0.0)
    own = make_bush(linkage.chain, "P2", (AXIAL, RADIAL, 2 * RADIAL), (10.0, 20.0, 30.0))
    R = own.axes
    along, about = (R.T @ np.diag(k) @ R for k in ((AXIAL, RADIAL, 2 * RADIAL), (10.0, 20.0, 30.0)))
    full = make_bush(linkage.chain, "P2", along.ravel(), about.ravel(), axis=(1, 0, 0))
    a, b = (
        solve_carrier_compliance(linkage, pose, {**rubber(linkage), "P2": bush}).compliance
        for bush in (own, full)
    )
    assert a == pytest.approx(b, rel=1e-9, abs=1e-9 * np.abs(a).max())


def test_directions_of_a_bush_may_have_any_length():
    chain = Linkage.read("five_link").chain
    bushes = [
        make_bush(chain, "P2", (AXIAL, RADIAL, 2 * RADIAL), axis=a, up=u)
        for a, u in (
            ((0.6, 0, 0.8), (0, 0, 1)),
            ((3.0, 0, 4.0), (0, 0, 0.2)),
            ((0.06, 0, 0.08), (0.3, 0, 5.0)),
        )
    ]
    assert bushes[0].axes @ bushes[0].axes.T == pytest.approx(np.eye(3)) and bushes[0].axes[
        0
    ] == pytest.approx([0.6, 0, 0.8])
    assert all(b.axes == pytest.approx(bushes[0].axes) for b in bushes)


def model_of(linkage, pose, bushes, spring=None):
    """Every link a body that moves freely from a pose, on bushes; the height of the wheel centre is
    held."""
    chain = linkage.chain
    s = bc.System("elastic", axes="ISO 8855")
    rods = {r.name: r for r in chain.rods}
    fixed = {BASE, "rack"}

    def place(point):
        return pose.point(point).position

    bodies = {}
    for name in (*chain.bodies, *rods):
        if name in fixed:
            continue
        at = (
            place(chain.wheel_centre)
            if name == chain.carrier
            else place(rods[name].first)
            if name in rods
            else pose.link[name].position
        )
        bodies[name] = s.add_body(
            name,
            translate=(1, 2, 3),
            rotate=(3, 2, 1),
            joint_at=tuple(map(float, at)),
            mass=1,
            inertia=(1, 1, 1),
        )
    for name, bush in bushes.items():
        end, at = bush_mounts(chain)[name], tuple(map(float, place(name)))
        first, second = (None if b in fixed else b for b in (end.first, end.second))
        body, other = (second, first) if second is not None else (first, second)
        part = pose if end.part == chain.carrier else pose.link[end.part]
        T = np.kron(np.eye(2), bush.axes @ part.rotation.T)
        p = s.add_point(f"{name}.p", body=bodies[body], at=at, coordinates_of=s.inertial)
        s.add_bushing(
            name,
            at=p,
            against=None if other is None else bodies[other],
            stiffness=T.T @ bush.stiffness @ T,
        )
    if spring is not None:
        (a, b), k = spring
        ends = [
            s.add_point(
                f"s.{p}",
                body=bodies.get(chain.points[p].body),
                at=tuple(map(float, place(p))),
                coordinates_of=s.inertial,
            )
            for p in (a, b)
        ]
        s.add_strut("spring", magnitude=f"-{k!r}*(x - x0)", between=ends)
    hub = bodies[chain.carrier]
    s.add_constraint("dot(pos(carrier.origin), [n3]) - nominal(dot(pos(carrier.origin), [n3]))")
    for i in (1, 2, 3):
        s.add_force(f"F{i}", magnitude=f"f{i}", direction=s.inertial[i], at=hub.origin)
        s.add_moment(f"M{i}", magnitude=f"m{i}", direction=s.inertial[i], on=hub)
    s.set_defaults(**{f"{x}{i}": 0.0 for x in "fm" for i in (1, 2, 3)})
    s.set_units(**{f"f{i}": "F" for i in (1, 2, 3)}, **{f"m{i}": "F*L" for i in (1, 2, 3)})
    return s


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "travel", "rack"),
    [
        ("double_wishbone", 0.0, 0.0),
        ("double_wishbone", 0.03, 0.01),
        ("semi_trailing", -0.02, None),
    ],
)
def test_small_forces_move_the_bodies_of_a_full_model_alike(name, travel, rack):
    linkage = Linkage.read(name)
    pose = linkage.solve(travel) if rack is None else linkage.solve(travel, rack)
    bushes = rubber(linkage)
    strut = linkage.chain.struts[0]
    spring = (strut.points, 3e4)
    found = solve_carrier_compliance(linkage, pose, bushes, {"spring": spring}).compliance
    sim = model_of(linkage, pose, bushes, spring).equations().compile()
    columns = []
    for cause, size in (("f1", 10.0), ("f2", 10.0), ("m1", 3.0), ("m2", 3.0), ("m3", 3.0)):
        ends = [sim.equilibrium(parameters={cause: sign * size}) for sign in (1, -1)]
        q = [
            (ends[0][f"q(carrier, {i})"] - ends[1][f"q(carrier, {i})"]) / (2 * size)
            for i in range(1, 7)
        ]
        columns.append(
            [*q[:3], q[5], q[4], q[3]]
        )  # rotations about z, y, x, one after another, are small
    by_model = np.array(columns).T
    by_hand = found[:, [0, 1, 3, 4, 5]]
    assert np.abs(by_model).max() > 5e-7
    assert by_model[:3] == pytest.approx(by_hand[:3], abs=1e-6 * np.abs(by_hand[:3]).max())
    assert by_model[3:] == pytest.approx(by_hand[3:], abs=1e-6 * np.abs(by_hand[3:]).max())


def test_a_bush_with_coupling_is_the_second_derivative_of_its_energy():
    """Force over rotation, nine numbers row by row; the moment over displacement is its
    transpose."""
    chain, G = Linkage.read("double_wishbone").chain, np.arange(9.0).reshape(3, 3) - 3
    bush = make_bush(
        chain,
        "lower_front",
        (3e5, 2e5, 1e5),
        (400.0, 300.0, 200.0),
        [*G.ravel()],
        (1, 0, 0),
        (0, 0, 1),
    )
    expected = np.block([[np.diag([3e5, 2e5, 1e5]), G], [G.T, np.diag([400.0, 300.0, 200.0])]])
    assert bush.stiffness == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"at": "lower_frnt"}, "no bush can stand at 'lower_frnt'. Did you mean 'lower_front'"),
        ({"at": "wheel_centre"}, "no bush can stand at 'wheel_centre'"),
        (
            {"stiffness": (1.0, 2.0)},
            "stiffness of the bush 'lower_front' must be three numbers, or nine, given 2",
        ),
        (
            {"coupling": (1.0, 2.0, 3.0)},
            "coupling of the bush 'lower_front' must be nine numbers, given 3",
        ),
        ({"stiffness": (1.0, 1.0, -1.0)}, "must be symmetric and nowhere negative"),
        ({"stiffness": (1.0, 2.0, 0, 0, 1, 0, 0, 0, 1)}, "must be symmetric and nowhere negative"),
        ({"axis": (0, 0, 1), "up": (0, 0, 2)}, "axis and up must be two directions that differ"),
    ],
)
def test_wrong_bushes_are_told(given, told):
    chain = Linkage.read("double_wishbone").chain
    with pytest.raises(bc.ModelError, match=told):
        make_bush(chain, **{"at": "lower_front", "stiffness": (1.0, 1.0, 1.0), **given})


def test_bushes_that_hold_nothing_are_told():
    arm = trailing_arm()
    loose = {"pivot_inner": BushStiffness(np.zeros((6, 6)), np.eye(3))}
    with pytest.raises(bc.ModelError, match="the bushes leave 'carrier' free to move"):
        solve_carrier_compliance(arm, arm.solve(0.0), loose)


def test_stiffness_along_the_axes_of_hinges_and_rods():
    """By hand for an arm on two bushes; for links, the axial stiffness that each bush was given
    along its rod."""
    arm = trailing_arm()
    bushes = {
        p: make_bush(arm.chain, p, (AXIAL, RADIAL, 1.3 * RADIAL))
        for p in ("pivot_inner", "pivot_outer")
    }
    assert axial_stiffnesses(arm.chain, bushes) == pytest.approx(
        {p: AXIAL for p in bushes}, rel=1e-12
    )
    turned = {
        p: replace(b, axes=TURN @ b.axes) for p, b in bushes.items()
    }  # about the third principal axis
    c, s = TURN[0, 0], TURN[1, 0]
    found = axial_stiffnesses(arm.chain, turned)
    assert found == pytest.approx({p: c * c * AXIAL + s * s * RADIAL for p in bushes}, rel=1e-12)
    links = Linkage.read("five_link")
    given = rubber(links)
    found = axial_stiffnesses(links.chain, given)
    assert set(found) == set(given) and len(found) >= 10
    assert all(
        v == pytest.approx(AXIAL * (1 + 0.1 * i), rel=1e-12) for i, v in enumerate(found.values())
    )


def test_a_point_on_a_rod_without_bushes_moves_with_its_ends():
    """As the rod does that turns without spin, also next to the line between its ends."""
    places = {
        "a": np.array([0.1, 0.2, 0.3]),
        "b": np.array([0.5, -0.1, 0.3]),
        "c": np.array([0.2, 0.3, 0.9]),
    }
    move, turn = (
        np.array([1.0, 2.0, 3.0]),
        np.cross([0.4, -0.3, 0.0], [0.3, 0.7, -2.0]),
    )  # across the rod

    def moved(p):
        return (move + np.cross(turn, p))[:, None]

    found = object.__new__(_LinkageStiffness)
    rod = SimpleNamespace(name="rod", first="a", second="b")
    homes = {"a": "arm", "b": BASE, "c": "rod"}
    found.chain = SimpleNamespace(
        points={k: SimpleNamespace(body=x) for k, x in homes.items()}, rods=[rod]
    )
    found.place = SimpleNamespace(point=places.__getitem__)
    found.bodies = {"arm"}
    found._displacement_matrices = lambda body, at: (moved(at), None)
    assert found._point_displacement("a") == pytest.approx(moved(places["a"]))
    assert found._point_displacement("c") == pytest.approx(moved(places["c"]), rel=1e-12)
    found.K = np.zeros((1, 1))
    found.add_spring(("c", "a"), 5.0)
    found._displacement_matrices = lambda body, at: (
        moved(at) if body == BASE else 0 * moved(at),
        None,
    )
    assert abs(found.K).max() < 1e-24  # nothing is stretched where all move alike
    found.add_spring(("b", "a"), 5.0)
    along = (places["b"] - places["a"]) / np.linalg.norm(places["b"] - places["a"])
    assert found.K[0, 0] == pytest.approx(5.0 * float(along @ moved(places["b"])[:, 0]) ** 2)
