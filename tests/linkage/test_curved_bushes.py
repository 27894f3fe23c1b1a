"""Bushes with curves of force over deflection, next to balances of forces that SciPy solves;
limits; wrong curves."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import root

import bellcrank as bc
from bellcrank.linkage import Linkage
from bellcrank.linkage.elastokinematics import (
    _LinkageStiffness,
    make_bush,
    solve_carrier_compliance,
)
from bellcrank.linkage.link_forces import PosedBodies
from tests.linkage.test_elastic import AXIAL, RADIAL, rubber, trailing_arm

PROGRESSIVE = [(0.0, 0.0), (0.5e-3, 1000.0), (1e-3, 4000.0), (1.5e-3, 20e3)]
ONE_SIDED = [(-1e-3, -9000.0), (0.0, 0.0), (0.2e-3, 500.0), (1e-3, 3000.0)]
PIVOTS = ("pivot_inner", "pivot_outer")


def law(points, d):
    """Force of a curve, with its end slopes outside; of one that begins at zero on both sides."""
    x, f = np.array(points).T
    if x[0] == 0:
        return np.sign(d) * law([*zip(-x[:0:-1], -f[:0:-1], strict=True), *points], abs(d))
    i = int(np.clip(np.searchsorted(x, d) - 1, 0, len(x) - 2))
    return f[i] + (d - x[i]) * (f[i + 1] - f[i]) / (x[i + 1] - x[i])


@pytest.mark.parametrize(
    "load", [(300.0, 0.0, 0.0), (0.0, 4000.0, 0.0), (-6000.0, 2500.0, 200.0), (9e3, -8e3, -400.0)]
)
def test_an_arm_on_curved_bushes_is_the_balance_of_forces_in_the_plane(load):
    """Force ahead and to the left at the wheel centre, moment about the vertical; the arm of
    `trailing_arm` in plan."""
    arm = trailing_arm()
    bushes = {
        "pivot_inner": make_bush(
            arm.chain, "pivot_inner", (AXIAL, 0, RADIAL), axis=(0, 1, 0), second=ONE_SIDED
        ),
        "pivot_outer": make_bush(
            arm.chain,
            "pivot_outer",
            (0, RADIAL, RADIAL),
            axis=(0, 1, 0),
            first=PROGRESSIVE,
            second=PROGRESSIVE,
        ),
    }

    def left_over(motion):
        """Forces on the arm by bushes at x = 0.4 from the wheel centre, and their moment about
        it."""
        along, across, yaw = motion * [1e-3, 1e-3, 1e-2]
        total = np.array(load)
        for y, ahead, side in (
            (-0.4, lambda d: law(ONE_SIDED, d), lambda d: AXIAL * d),
            (-0.1, lambda d: RADIAL * d + law(PROGRESSIVE, d), lambda d: law(PROGRESSIVE, d)),
        ):
            fx, fy = -_second(ahead)(along - yaw * y), -side(across + yaw * 0.4)
            total = total + [fx, fy, 0.4 * fy - y * fx]
        return total / 1000

    def _second(force):
        """The second axis of a bush along y that has z for its third points backwards."""
        return lambda d: -force(-d)

    expected = root(left_over, np.zeros(3), method="hybr", tol=1e-13)
    assert np.abs(expected.fun).max() < 1e-9
    found = solve_carrier_compliance(arm, arm.solve(0.0), bushes)
    moved = found.displacement(np.array([load[0], load[1], 0, 0, 0, load[2]]))
    assert moved[[0, 1, 5]] == pytest.approx(expected.x * [1e-3, 1e-3, 1e-2], rel=1e-7)
    assert moved[[2, 3, 4]] == pytest.approx(np.zeros(3), abs=1e-12)


def test_curves_in_a_double_wishbone_balance_in_all_directions():
    """All movements that joints leave, by SciPy; loads of 1 and 20 kN."""
    linkage = Linkage.read("double_wishbone")
    pose = linkage.solve(0.02, 0.01)
    at, curves = (
        ("lower_front", "lower_rear", "upper_rear"),
        {"first": PROGRESSIVE, "third": ONE_SIDED},
    )
    plain, rest = (
        rubber(linkage),
        {p: (k, (150.0, 900.0, 900.0)) for p, k in zip(at, ((0, 8e6, 0),) * 3, strict=True)},
    )
    bare = {**plain, **{p: make_bush(linkage.chain, p, *rest[p]) for p in at}}
    bent = {**plain, **{p: make_bush(linkage.chain, p, *rest[p], **curves) for p in at}}
    found = solve_carrier_compliance(linkage, pose, bent)
    assert found.names == tuple((p, axis) for p in bent if p in at for axis in (1, 3))
    whole = _LinkageStiffness(linkage.chain, PosedBodies(linkage.chain, pose), bent)
    K = _LinkageStiffness(linkage.chain, PosedBodies(linkage.chain, pose), bare).K
    G = np.array(whole.constraints)
    Z = np.linalg.svd(G)[2][np.linalg.matrix_rank(G, tol=1e-8) :].T
    rows = np.array([row for row, _, _ in whole.curved]) @ Z
    laws = [curves["first" if axis == 1 else "third"] for _, (_, axis), _ in whole.curved]
    rng = np.random.default_rng(3)
    for size in (1e3, 20e3):
        load = size * rng.uniform(-1, 1, 6) * [1, 1, 1, 0.1, 0.1, 0.1]
        outer, scale = Z.T @ whole.carrier.T @ load, 1e-3

        def left_over(z, outer=outer, scale=scale):
            push = [law(points, d) for points, d in zip(laws, rows @ (scale * z), strict=True)]
            return (Z.T @ K @ Z @ (scale * z) + rows.T @ push - outer) / 1e3

        solved = root(
            left_over, np.zeros(Z.shape[1]), method="hybr", tol=1e-12, options={"maxfev": 20000}
        )
        assert np.abs(solved.fun).max() < 1e-6 * size / 1e3
        assert found.displacement(load) == pytest.approx(
            whole.carrier @ Z @ (scale * solved.x), rel=1e-6, abs=1e-10
        )


def test_a_straight_curve_is_a_stiffness_and_small_loads_see_the_slope_at_zero():
    arm = trailing_arm()
    plain = {p: make_bush(arm.chain, p, (AXIAL, RADIAL, RADIAL)) for p in PIVOTS}
    straight = {
        p: make_bush(arm.chain, p, (0, RADIAL, RADIAL), first=[(0, 0), (1e-3, 1e-3 * AXIAL)])
        for p in PIVOTS
    }
    pose, load = arm.solve(0.0), np.array([500.0, 3000.0, 0, 0, 0, 50.0])
    found = solve_carrier_compliance(arm, pose, straight)
    assert found.curves == () and found.displacement(load) == pytest.approx(
        solve_carrier_compliance(arm, pose, plain).displacement(load), rel=1e-12
    )
    bent = {p: make_bush(arm.chain, p, (0, RADIAL, RADIAL), first=PROGRESSIVE) for p in PIVOTS}
    soft = solve_carrier_compliance(arm, pose, bent)
    assert soft.displacement(1e-3 * load) == pytest.approx(
        soft.compliance @ (1e-3 * load), rel=1e-12
    )
    steer = [soft.displacement(f * load)[1] / f for f in (1.0, 2.0, 4.0, 8.0)]
    assert all(a > b for a, b in pairwise(steer))  # progressive
    assert soft.displacement(-load) == pytest.approx(
        -soft.displacement(load), rel=1e-12
    )  # the same on both sides


def test_a_stop_after_a_clearance_holds_with_its_end_rate():
    """Along its axis the arm moves freely on a linear spring, then on both: F = k d + k_end (d -
    gap)."""
    arm, k, end, gap = trailing_arm(), 5e5, 2e7, 2e-3
    stop = [(0, 0), (gap, 0), (gap + 1e-3, 1e-3 * end)]
    bushes = {
        "pivot_inner": make_bush(arm.chain, "pivot_inner", (k, 1e11, 1e11), first=stop),
        "pivot_outer": make_bush(arm.chain, "pivot_outer", (0, 1e11, 1e11)),
    }
    found = solve_carrier_compliance(arm, arm.solve(0.0), bushes)
    for force in (400.0, 900.0, 3e3, -8e3):
        expected = (
            force / k
            if abs(force) < k * gap
            else np.sign(force) * (abs(force) + end * gap) / (k + end)
        )
        assert found.displacement(np.array([0, force, 0, 0, 0, 0]))[1] == pytest.approx(
            expected, rel=1e-3
        )


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(1e-3, 5.0), (2e-3, 9.0)], "must have no force at no deflection"),
        ([(-1e-3, 1.0), (1e-3, 5.0)], "must have no force at no deflection"),
        ([(0, 0), (1e-3, 500.0), (2e-3, 400.0)], "first of the bush 'pivot_inner' must rise"),
        ([(0, 0), (1e-3, 0.0), (2e-3, 400.0)], "with a stiffness along that axis not fall"),
    ],
)
def test_wrong_curves(points, words):
    with pytest.raises(bc.ModelError, match=words):
        make_bush(trailing_arm().chain, "pivot_inner", (0, RADIAL, RADIAL), first=points)
