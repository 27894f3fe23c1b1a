"""Loops through singular configurations keep their branch: against closed forms of the smooth
branch, integrated apart.

A mechanism of one degree of freedom without loads keeps its kinetic energy, so the speed along its
smooth branch is a function of the position alone and the motion follows by quadrature, whatever
happens to the rank of its loops.
"""

import numpy as np
import pytest
from cases import compiled, loop_residuals

import bellcrank as bc
from tests.late import Late

integrate = Late("scipy.integrate")


def along(start, speed, mass, times):
    """The coordinate x over time, with mass(x) x'^2 / 2 constant."""
    energy = mass(start) * speed**2
    found = integrate.solve_ivp(
        lambda t, x: np.sign(speed) * np.sqrt(energy / mass(x)),
        (0.0, times[-1]),
        [start],
        t_eval=times,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        vectorized=True,
    )
    return found.y[0]


# ---- change-point four-bar: crank 1, coupler 2.5, rocker 1.5, ground 2


def coupler_and_rocker(angle):
    """Vectors along coupler and rocker on the smooth branch, of period 4 pi in the angle of the
    crank.

    The height of the triangle of coupler and rocker is a root of (11 + 4 cos)(4 - 4 cos), which has
    a double zero where all links are in line: sin(angle / 2) takes it through.
    """
    px, py = np.cos(angle), np.sin(angle)
    dx, dy = 2 - px, -py
    square = dx * dx + dy * dy
    base = (square + 2.5**2 - 1.5**2) / 2
    height = np.sqrt(2) * np.sin(angle / 2) * np.sqrt(11 + 4 * np.cos(angle))
    bx, by = (base * dx - height * dy) / square, (base * dy + height * dx) / square
    return bx, by, px + bx - 2, py + by


def change_point_mass(angle):
    """Twice the kinetic energy for a crank of unit speed; slopes by complex steps."""
    moved = coupler_and_rocker(angle + 1e-30j)
    bx, by, cx, cy = (x.real for x in moved)
    dbx, dby, dcx, dcy = (x.imag * 1e30 for x in moved)
    w_b, w_c = (bx * dby - by * dbx) / 2.5**2, (cx * dcy - cy * dcx) / 1.5**2
    v_x, v_y = -np.sin(angle) - by / 2 * w_b, np.cos(angle) + bx / 2 * w_b
    return 1 / 3 + 2.5 * (v_x**2 + v_y**2) + 2.5**3 / 12 * w_b**2 + 1.5**3 / 3 * w_c**2


@pytest.mark.parametrize("step", [0.01, 0.002])
def test_change_point_four_bar_keeps_its_branch(step):
    sim = compiled("change_point_four_bar")
    run = sim.simulate(step=step, output_every=1)
    assert run.ended == "finished"
    angle = along(1.0, 3.0, change_point_mass, run.time)
    assert abs(run["q(a)"] - angle).max() < (1e-3 if step == 0.01 else 1e-4)
    bx, by, cx, cy = coupler_and_rocker(angle)
    for got, expected in (
        (run["q(a)"] + run["q(b)"], np.arctan2(by, bx)),
        (run["q(c)"], np.arctan2(cy, cx)),
    ):
        assert abs(np.exp(1j * got) - np.exp(1j * expected)).max() < (
            1e-3 if step == 0.01 else 1e-4
        )
    assert loop_residuals(sim, run)[0] < 1e-8


def test_passages_are_told():
    """In 10 s the crank passes 2 pi, 4 pi, ... five times."""
    run = compiled("change_point_four_bar").simulate()
    assert len([e for e in run.events if "singular" in str(e)]) == 5


def test_start_in_the_singular_position_with_the_speeds_of_a_branch():
    """All links in line; the speeds given say which of the two branches is meant, and the motion
    stays on it for a while."""
    bx, by, cx, cy = (x.imag * 1e30 for x in coupler_and_rocker(1e-30j))
    assert bx == pytest.approx(0, abs=1e-12) and cx == pytest.approx(0, abs=1e-12)
    start = {
        "q(a)": 0.0,
        "q(b)": 0.0,
        "q(c)": 0.0,
        "u(a)": 3.0,
        "u(b)": 3 * (by / 2.5 - 1),
        "u(c)": 3 * cy / 1.5,
    }
    sim = compiled("change_point_four_bar")
    run = sim.simulate(t_end=1.0, step=0.002, output_every=1, initial=start)
    assert run.ended == "finished"
    assert abs(run["q(a)"] - along(0.0, 3.0, change_point_mass, run.time)).max() < 1e-4


# ---- slider-crank with equal arms


def equal_arms_mass(angle, r=0.1):
    """Rod at the opposite angle of the crank, piston at 2 r cos; masses of the example: crank 2,
    rod 1, piston 0.5."""
    rod = (1.5 * np.sin(angle)) ** 2 + (0.5 * np.cos(angle)) ** 2 + 1 / 12
    return r**2 * (2 / 3 + rod + 0.5 * (2 * np.sin(angle)) ** 2)


def test_equal_arm_slider_crank_keeps_its_branch():
    sim = compiled("slider_crank", equal_arms=True)
    run = sim.simulate(t_end=10, step=0.002, output_every=1, parameters={"c": 0.0})
    assert run.ended == "finished"
    assert abs(run["x"] - 0.2 * np.cos(run["q(crank)"])).max() < 1e-8
    assert loop_residuals(sim, run)[0] < 1e-8


def test_equal_arm_slider_crank_over_time():
    sim = compiled("slider_crank", equal_arms=True)
    run = sim.simulate(t_end=10, step=0.002, output_every=1, parameters={"c": 0.0})
    assert abs(run["q(crank)"] - along(0.5, 8.0, equal_arms_mass, run.time)).max() < 1e-4


# ---- rows of four-bars


def cranks(n, times, start=np.pi / 2, speed=-1.0):
    """All cranks turn together; couplers only translate."""
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    found = integrate.solve_ivp(
        lambda t, y: [y[1], -weight * np.cos(y[0]) / inertia],
        (0.0, times[-1]),
        [start, speed],
        t_eval=times,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    return found.y[0]


@pytest.mark.parametrize(
    "n", [1, *(pytest.param(n, marks=pytest.mark.campaign) for n in (2, 8, 40))]
)
def test_n_four_bar_keeps_its_branch(n):
    sim = compiled("n_four_bar", n=n)
    run = sim.simulate(output_every=1)
    assert run.ended == "finished"
    expected = cranks(n, run.time)
    for i in (0, n):
        assert abs(run[f"q(a{i})"] - expected).max() < 1e-4
    assert loop_residuals(sim, run)[0] < 1e-8
    assert np.ptp(run["energy"]) < 1e-5 * run["kinetic"].max()


@pytest.mark.campaign
def test_n_four_bar_starts_with_all_links_in_line():
    n = 3
    sim = compiled("n_four_bar", n=n)
    flat = {f"q(a{i})": 0.0 for i in range(n + 1)} | {f"q(b{i})": 0.0 for i in range(1, n + 1)}
    turning = (
        flat | {f"u(a{i})": -2.0 for i in range(n + 1)} | {f"u(b{i})": 2.0 for i in range(1, n + 1)}
    )
    run = sim.simulate(t_end=3.0, output_every=1, initial=turning)
    assert run.ended == "finished"
    assert abs(run[f"q(a{n})"] - cranks(n, run.time, 0.0, -2.0)).max() < 1e-4


# ---- a linkage that folds


LENGTHS = (2.0, 1.2, 1.5, 2.5)  # of two rockers and their coupler: no link can go round


def double_rocker(pendulum=False):
    """Free of loads; with a pendulum on the coupler it keeps a degree of freedom when the first
    rocker is driven."""
    s = bc.System("double rocker", units="mks")
    n = s.inertial

    def rod(name, length, **more):
        thin = (length**3 / 12 * 0.5, length**3 / 12 * 0.5, length**3 / 12)
        return s.add_body(name, rotate=3, cm=(length / 2, 0, 0), mass=length, inertia=thin, **more)

    l1, l2, l3, l4 = LENGTHS
    a = rod("a", l1)
    b = rod("b", l2, parent=a, joint_at=(l1, 0, 0))
    c = rod("c", l3, joint_at=(l4, 0, 0))
    p, r = s.add_point("p", body=b, at=(l2, 0, 0)), s.add_point("r", body=c, at=(l3, 0, 0))
    s.add_loop_joint("pin of the rockers", between=(p, r), directions=(n[1], n[2]))
    if pendulum:
        rod("d", 0.4, parent=b, joint_at=(l2 / 2, 0, 0))
    s.add_outputs("energy")
    b_angle, c_angle = dyad(0.6)
    s.set_run(
        t_end=10, step=0.002, initial={"q(a)": 0.6, "q(b)": b_angle, "q(c)": c_angle, "u(a)": 1.0}
    )
    return s


def dyad(angle):
    """Angles of coupler (from the rocker) and second rocker that close the loop, elbow up."""
    l1, l2, l3, l4 = LENGTHS
    p = l1 * np.exp(1j * angle)
    d = l4 - p
    opening = np.arccos((abs(d) ** 2 + l2**2 - l3**2) / (2 * abs(d) * l2))
    b = l2 * np.exp(1j * (np.angle(d) + opening))
    return np.angle(b) - angle, np.angle(p + b - l4)


def rocker_slopes(q):
    """Rows of the loop: slopes of the coupler's end less the rocker's."""
    l1, l2, l3, _ = LENGTHS
    a, ab, c = q[0], q[0] + q[1], q[2]
    x = [-l1 * np.sin(a) - l2 * np.sin(ab), -l2 * np.sin(ab), l3 * np.sin(c)]
    y = [l1 * np.cos(a) + l2 * np.cos(ab), l2 * np.cos(ab), -l3 * np.cos(c)]
    return np.array(x), np.array(y)


def rocker_rates(q, energy):
    """The one motion that the loop allows has the direction of the product of its two rows,
    wherever they are independent."""
    l1, l2, l3, _ = LENGTHS
    w = np.cross(*rocker_slopes(q))
    half = np.array([-l2 / 2 * np.sin(q[0] + q[1]), l2 / 2 * np.cos(q[0] + q[1])])
    v = l1 * np.array([-np.sin(q[0]), np.cos(q[0])]) * w[0] + half * (w[0] + w[1])
    mass = (
        l1**3 / 3 * w[0] ** 2 + l2 * v @ v + l2**3 / 12 * (w[0] + w[1]) ** 2 + l3**3 / 3 * w[2] ** 2
    )
    return w * np.sqrt(2 * energy / mass)


@pytest.mark.campaign
def test_free_linkage_goes_through_its_folds():
    sim = double_rocker().equations().compile()
    q, u = sim.assemble()
    assert q[0] == 0.6 and u[0] == 1.0
    run = sim.simulate(output_every=1)
    assert run.ended == "finished"
    sign = np.sign(np.cross(*rocker_slopes(q)) @ u)
    found = integrate.solve_ivp(
        lambda t, x: sign * rocker_rates(x, run["energy"][0]),
        (0, 10),
        q,
        t_eval=run.time,
        method="DOP853",
        rtol=1e-11,
        atol=1e-11,
    )
    got = np.array([run[f"q({name})"] for name in "abc"])
    assert (
        np.ptp(np.sign(np.gradient(got[0]))) == 2
    )  # the first rocker turns round: folds are passed
    assert abs(got - found.y).max() < 1e-4
    assert loop_residuals(sim, run)[0] < 1e-8


def test_linkage_driven_over_its_fold_stops_with_a_sentence():
    """The first rocker cannot follow its drive past 1.26 rad, where coupler and second rocker are
    in line."""
    s = double_rocker(pendulum=True)
    s.add_constraint("q(a) - 0.6 - rate*t", label="drive")
    s.set_defaults(rate=1.0)
    run = s.equations().compile().simulate(t_end=3)
    fold = np.arccos((2.0**2 + 2.5**2 - 2.7**2) / (2 * 2.0 * 2.5))
    assert run.ended.startswith("stopped")
    assert run.time[-1] == pytest.approx(fold - 0.6, abs=0.02)
    assert "loop" in run.ended or "closed" in run.ended
