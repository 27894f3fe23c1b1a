"""The exact solver against an independent solution of the rod equations, published values and
differentiation."""

import warnings

import numpy as np
import pytest

from bellcrank.core.errors import ModelError, ModelWarning
from bellcrank.linkage import Linkage, double_wishbone, formula_pushrod, shipped
from tests.linkage.machines import linkage, sheet
from tests.models import rarely

DATA = sheet("five_link")
P = np.array([DATA["points"][f"P{i}"] for i in range(1, 6)]) / 1000
X = np.array([DATA["points"][f"X{i}"] for i in range(1, 6)]) / 1000
B = np.array(DATA["points"]["wheel_centre"]) / 1000


@pytest.fixture(scope="module")
def five():
    return linkage("five_link")


def rod_solution(z):
    """x, y and Euler parameters of the five-link at a travel that may be complex: Kruijt (1993),
    eqs (25)-(38), on its own."""
    l2 = ((X - P) ** 2).sum(axis=1)
    z_now = complex(z)
    q = np.array([B[0], B[1], 1, 0, 0, 0], complex)
    for target in np.linspace(0, 1, max(2, int(abs(z_now.real) / 0.005)))[1:]:
        for _ in range(60):
            R = rotation(q[2:])
            r = np.array([q[0], q[1], target * z_now]) - P + (X - B) @ R.T
            g = np.append((r * r).sum(axis=1) - l2, (q[2:] ** 2).sum() - 1)
            J = np.zeros((6, 6), complex)
            J[:5, :2] = 2 * r[:, :2]
            for k in range(4):
                J[:5, 2 + k] = 2 * (r * ((X - B) @ rotation_slope(q[2:], k).T)).sum(axis=1)
            J[5, 2:] = 2 * q[2:]
            change = np.linalg.solve(J, -g)
            q = q + change
            if np.abs(change).max() < 1e-15:
                break
    return q


def rotation(e):
    e0, x, y, z = e
    return np.array(
        [
            [e0 * e0 + x * x - y * y - z * z, 2 * (x * y - e0 * z), 2 * (x * z + e0 * y)],
            [2 * (x * y + e0 * z), e0 * e0 - x * x + y * y - z * z, 2 * (y * z - e0 * x)],
            [2 * (x * z - e0 * y), 2 * (y * z + e0 * x), e0 * e0 - x * x - y * y + z * z],
        ]
    )


def rotation_slope(e, k):
    return (rotation(e + np.eye(4)[k]) - rotation(e - np.eye(4)[k])) / 2  # exact: R is quadratic


@pytest.mark.parametrize("z", [-0.2, -0.15, -0.07, 0.0, 0.04, 0.11, 0.19, 0.25])
def test_first_derivatives_agree_with_the_complex_step(five, z):
    h = 1e-20
    q = rod_solution(complex(z, h))
    pose = five.solve(z)
    assert pose.position == pytest.approx([q[0].real, q[1].real, z], abs=1e-13)
    d = np.array([q[0].imag / h, q[1].imag / h, 1.0])
    R = rotation(q[2:])
    W = (R.imag / h) @ R.real.T
    delta = np.array([W[2, 1], W[0, 2], W[1, 0]])
    assert np.abs(pose.rotation - R.real).max() < 1e-12
    assert np.abs(pose.d - d).max() < 1e-8 * np.abs(d).max()
    assert np.abs(pose.delta - delta).max() < 1e-8 * np.abs(delta).max()


@pytest.mark.parametrize("z", [-0.2, -0.15, -0.07, 0.0, 0.04, 0.11, 0.19, 0.25])
def test_second_derivatives_agree_with_eighth_order_differences(five, z):
    h = 2.5e-4
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    near, here = five.solve(z + h * np.arange(-4, 5)), five.solve(z)
    for first, second in ((near.d, here.dd), (near.delta, here.ddelta)):
        assert np.abs(weights @ first - second).max() < 1e-8 * np.abs(second).max()


def test_published_poses_and_ratios(five):
    """Kruijt's driver program, recomputed: wheel centre, velocity ratios and second-order terms at
    z = -0.2 and 0.1 m."""
    pose = five.solve([-0.2, 0.1])
    assert pose.position[:, :2] == pytest.approx(
        np.array([[0.00286200, 0.68266809], [-0.00550115, 0.75532283]]), abs=1e-8
    )
    assert pose.delta == pytest.approx(
        np.array([[-1.72864763, 1.14332351, -3.74723598], [0.68929830, -0.24340851, -0.22260505]]),
        abs=1e-8,
    )
    assert pose.dd[0] == pytest.approx([-18.92380, -24.19173, 0], abs=1e-5)
    assert pose.ddelta[1] == pytest.approx([4.92430, -0.03391, -1.95730], abs=1e-5)


def test_range_ends_at_the_folds_and_rods_keep_their_lengths(five):
    low, high = five.range()
    assert (low, high) == pytest.approx((-0.21390, 0.28483), abs=1e-5)
    z = np.linspace(low, high, 801)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        residuals = five.residuals(z)
        pose = five.solve(z[1:-1])
    assert max(r.max() for r in residuals.values()) < 1e-12
    lengths = np.linalg.norm(
        pose.position[:, None] + (X - B) @ pose.rotation.transpose(0, 2, 1) - P, axis=2
    )
    assert np.abs(lengths - np.linalg.norm(X - P, axis=1)).max() < 1e-12


def test_travel_beyond_the_fold_is_an_error_and_close_to_it_a_warning(five):
    with pytest.raises(ModelError, match=r"0\.3 m cannot be reached.*0\.284825 m \(fold\)"):
        five.solve([0.1, 0.3])
    with pytest.warns(ModelWarning, match="close to the end of its range"):
        five.solve(0.2845)


def test_free_motion_of_the_published_deck(five):
    """M(z) z'' + M'(z)/2 z'^2 = 0 with m = 12 kg, I = (0.74, 1.46, 0.74) kg m2: Kruijt (1993),
    appendix B.2."""
    J = np.diag([0.74, 1.46, 0.74])

    def effective(pose):
        J_base = pose.rotation @ J @ np.swapaxes(pose.rotation, -1, -2)
        return 12 * (pose.d**2).sum(-1) + np.einsum(
            "...i,...ij,...j", pose.delta, J_base, pose.delta
        )

    assert 0.5 * effective(five.solve(-0.2)) * 0.3**2 == pytest.approx(1.9194207698, rel=1e-9)
    # with constant energy z' = sqrt(2 T/M(z)): the time from z = -0.2 to 0.268370 m is 1 s
    x, w = np.polynomial.legendre.leggauss(60)
    z = -0.2 + 0.468370 * (x + 1) / 2
    time = (np.sqrt(effective(five.solve(z)) / (2 * 1.9194207698)) * w).sum() * 0.468370 / 2
    assert time == pytest.approx(1.0, abs=5e-6)


@pytest.mark.parametrize("name", rarely(shipped(), ["solid_axle", "formula_student", "five_link"]))
def test_every_shipped_linkage_has_exact_derivatives_of_all_links(name):
    machine = linkage(name)
    second = {} if len(machine.inputs) == 1 else {machine.inputs[1]: 0.012}
    z, h = 0.031, 1e-3
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    near, here = machine.solve(z + h * np.arange(-4, 5), **second), machine.solve(z, **second)
    for link in [None, *here.link]:
        many, one = (near, here) if link is None else (near.link[link], here.link[link])
        assert np.abs(weights @ many.position - one.d).max() < 1e-9
        assert np.abs(weights @ many.d - one.dd).max() < 1e-8
        W = np.einsum("k,kij->ij", weights, many.rotation) @ one.rotation.T
        assert (
            np.abs([W[2, 1] - one.delta[0], W[0, 2] - one.delta[1], W[1, 0] - one.delta[2]]).max()
            < 1e-9
        )
        assert np.abs(weights @ many.delta - one.ddelta).max() < 1e-8
        assert np.abs(one.rotation @ one.rotation.T - np.eye(3)).max() < 1e-14


@pytest.mark.parametrize(("name", "second"), [("double_wishbone", "rack"), ("solid_axle", "roll")])
def test_derivatives_by_the_second_input(name, second):
    machine = linkage(name)
    z, r, h = 0.02, 0.01, 1e-3
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    here = machine.solve(z, **{second: r})
    by_rack = machine.solve(np.full(9, z), **{second: r + h * np.arange(-4, 5)})
    by_travel = machine.solve(z + h * np.arange(-4, 5), **{second: np.full(9, r)})
    assert np.abs(weights @ by_rack.position - here.d_rack).max() < 1e-9
    assert np.abs(weights @ by_rack.d_rack - here.dd_rack).max() < 1e-8
    assert np.abs(weights @ by_rack.d - here.dd_mixed).max() < 1e-8
    assert np.abs(weights @ by_rack.delta_rack - here.ddelta_rack).max() < 1e-8
    # the mixed derivative of a rotation depends on the order; the acceleration asks for the mean of
    # both
    both = 0.5 * (weights @ by_rack.delta + weights @ by_travel.delta_rack)
    assert np.abs(both - here.ddelta_mixed).max() < 1e-8


def test_the_roll_of_an_axle_is_the_slope_of_its_wheel_centres():
    axle = linkage("solid_axle")
    pose = axle.solve(0.03, roll=0.05)
    left, right = pose.point("wheel_left").position, pose.point("wheel_right").position
    assert (left[2] - right[2]) / np.linalg.norm(left - right) == pytest.approx(
        np.sin(0.05), abs=1e-13
    )


def test_trailing_arm_is_a_circle():
    pose = linkage("trailing_arm").solve(0.06)
    radius = np.hypot(0.4, 0.03)
    angle = np.arcsin((-0.03 + 0.06) / radius) - np.arcsin(
        -0.03 / radius
    )  # about -y: the wheel rises behind the pivot
    c, s = np.cos(angle), np.sin(angle)
    assert np.abs(pose.rotation - [[c, 0, s], [0, 1, 0], [-s, 0, c]]).max() < 1e-14
    assert pose.position == pytest.approx(
        [0.4 - np.sqrt(radius**2 - 0.03**2), 0.72, 0.35], abs=1e-14
    )


def test_formula_student_arms_reach_as_far_as_published():
    """Kinematics without the crank exists for K z from -0.196 to 0.425 m; at the drawn position d,
    delta and dd as recomputed."""
    arms = wishbones_of_the_formula_student()
    low, high = arms.range()
    assert (0.16499 + low, 0.16499 + high) == pytest.approx((-0.196, 0.425), abs=2e-3)
    pose = arms.solve(0.0)
    assert pose.d == pytest.approx([-0.03348793, 0.17570328, 1.0], abs=1e-8)
    assert pose.delta == pytest.approx([-1.06375579, -0.66892413, 0.0288176], abs=1e-7)
    assert pose.dd == pytest.approx([-0.09187252, 3.3227709, 0.0], abs=1e-7)
    assert pose.ddelta == pytest.approx([-2.71753326, 1.57253739, 4.55225274], abs=1e-7)


def wishbones_of_the_formula_student():
    data = sheet("formula_student")
    wanted = ("lower", "upper", "tie", "wheel")
    data["points"] = {n: p for n, p in data["points"].items() if n.startswith(wanted)}
    return double_wishbone({**data, "kind": "double_wishbone", "attach": {}, "struts": {}})


def test_spring_of_the_formula_student_and_where_the_push_rod_sits():
    """Motion ratio dl/dz with N on the carrier; on the upper arm it differs, and so does the
    crank's range."""
    on_carrier = linkage("formula_student")
    pose = on_carrier.solve(0.0)
    line = pose.point("spring_crank").position - pose.point("spring_base").position
    assert np.linalg.norm(line) == pytest.approx(0.1709997307, abs=1e-10)
    ratio = line @ pose.point("spring_crank").d / np.linalg.norm(line)
    assert ratio == pytest.approx(-1.05973018, abs=1e-6)
    # by hand: the push rod keeps its length while N moves with the carrier and D turns about C
    at = {n: np.array(p) for n, p in on_carrier.points.items()}
    v_N = pose.d + np.cross(pose.delta, at["pushrod_outer"] - at["wheel_centre"])
    rod, about = at["pushrod_crank"] - at["pushrod_outer"], np.array([1.0, 0, 0])
    turn = (rod @ v_N) / (rod @ np.cross(about, at["pushrod_crank"] - at["crank_pivot"]))
    by_hand = (
        line @ np.cross(turn * about, at["spring_crank"] - at["crank_pivot"]) / np.linalg.norm(line)
    )
    assert ratio == pytest.approx(by_hand, rel=1e-12)
    data = sheet("formula_student")
    data["attach"]["pushrod_outer"] = "upper_arm"
    on_arm = formula_pushrod(data)
    other = on_arm.solve(0.0).point("spring_crank").d
    assert np.abs(other - pose.point("spring_crank").d).max() > 0.05
    assert on_arm.mobility.degrees_of_freedom == 1


def test_mirror_is_the_other_side():
    left = linkage("double_wishbone")
    right = left.mirror()
    assert (left.chain.side, right.chain.side) == ("left", "right")
    a, b = (
        left.solve(0.03, 0.01),
        right.solve(0.03, -0.01),
    )  # a rack to the left steers both wheels to the same side
    flip = np.diag([1.0, -1.0, 1.0])
    assert np.abs(b.position - flip @ a.position).max() < 1e-13
    assert np.abs(b.rotation - flip @ a.rotation @ flip).max() < 1e-13
    assert np.abs(b.delta + flip @ a.delta).max() < 1e-11
    assert (
        np.abs(b.link["lower_arm"].rotation - flip @ a.link["lower_arm"].rotation @ flip).max()
        < 1e-13
    )


@pytest.mark.parametrize("name", shipped())
def test_the_way_of_the_other_side_is_the_mirror_image(name):
    """The same as followed there, but for the folds: they are found to a slope of zero."""
    one = Linkage.read(name)
    found, made = one.mirror().way(), Linkage(one.chain.mirrored()).way()
    assert found.ends == made.ends
    for part in ("arc", "travel", "slope", "state", "rate"):
        assert np.abs(getattr(found, part) - getattr(made, part))[1:-1].max(initial=0) < 1e-12
    assert np.abs(found.travel - made.travel).max() < 1e-8
    assert np.abs(found.state - made.state).max(initial=0) < 1e-3


@pytest.mark.campaign
def test_sae_axes_describe_the_same_suspension():
    data = sheet("double_wishbone")
    turn = np.diag([1.0, -1.0, -1.0])
    sae = {**data, "axes": "SAE", "points": {n: list(turn @ p) for n, p in data["points"].items()}}
    sae["rack"] = {"points": ["tie_base"], "axis": [0, -1, 0]}
    a, b = Linkage.read(data).solve(0.04, 0.01), Linkage.read(sae).solve(0.04, 0.01)
    assert np.abs(turn @ a.position - b.position).max() < 1e-13
    assert np.abs(turn @ a.delta - b.delta).max() < 1e-11
