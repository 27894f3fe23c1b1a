"""Closed loops mixed with rolling: all forms of the constraints and body frames give one motion,
which keeps energy."""

import numpy as np
import pytest

import bellcrank as bc

pytestmark = pytest.mark.campaign
FORMS = ("auto", "multipliers", "eliminate")


def turn(axes, *directions):
    """Directions of a description in rotated axes."""
    return [tuple((axes @ np.asarray(d, dtype=float)).tolist()) for d in directions]


def rolling_four_bar(axes=None, speed=2.0, angle=0.6):
    """A four-bar linkage that hangs on the hub of a wheel, which rolls along a line: two degrees of
    freedom."""
    axes = np.eye(3) if axes is None else axes
    s = bc.System("four-bar on a wheel", units="mks")
    along, up, across = turn(axes, (1, 0, 0), (0, 0, 1), (0, -1, 0))
    hub = s.add_body("hub", translate=along, mass=1, inertia=(0.1, 0.1, 0.1))
    hinge = {"rotate": 3, "rotation_axis": across, "reference_axis": along}
    s.add_body("wheel", parent=hub, mass=4, inertia=(0.2, 0.2, 0.4), **hinge)
    s.add_constraint("u(hub) + r*u(wheel)", label="rolling")
    link = {"mass": 0.5, "inertia": (0.01, 0.01, 0.01)}
    crank = s.add_body("crank", parent=hub, cm=(0.1, 0, 0), **link, **hinge)
    inner = {"rotate": 3, "joint_at": (0.2, 0, 0)}
    coupler = s.add_body("coupler", parent=crank, cm=(0.25, 0, 0), **inner, **link)
    at = tuple((0.5 * np.asarray(along)).tolist())
    rocker = s.add_body("rocker", parent=hub, joint_at=at, cm=(0.2, 0, 0), **link, **hinge)
    p, q = (
        s.add_point("p", body=coupler, at=(0.5, 0, 0)),
        s.add_point("q", body=rocker, at=(0.4, 0, 0)),
    )
    s.add_loop_joint("pin", "revolute", between=(p, q), axis=coupler[3])
    s.add_gravity(direction=tuple((-np.asarray(up)).tolist()))
    s.add_outputs("energy")
    s.set_defaults(g=9.81, r=0.3)
    start = {"q(crank)": angle, "u(crank)": 6.0, "u(hub)": speed}
    s.set_run(t_end=1.0, step=0.002, initial=start, guess={"q(rocker)": 1.2, "q(coupler)": 0.3})
    return s, ("q(hub)", "q(wheel)", "q(crank)", "q(coupler)", "q(rocker)")


def tricycle(axes=None, heading=0.3, turning=0.0, linkage=True):
    """A tricycle whose front wheel is steered through a four-bar linkage from a column; the heading
    passes right angles, where the coefficients of fixed axes vanish."""
    axes = np.eye(3) if axes is None else axes
    s = bc.System("tricycle", units="mks")
    first, second, up = turn(axes, (1, 0, 0), (0, 1, 0), (0, 0, 1))
    x = s.add_body("x", translate=first, mass=0, inertia=0)
    y = s.add_body("y", parent=x, translate=second, mass=0, inertia=0)
    hinge = {"rotate": 3, "rotation_axis": up, "reference_axis": first}
    b = s.add_body("b", parent=y, cm=(0.4, 0, 0), mass=20, inertia=(1, 1, 2), **hinge)
    link = {"rotate": 3, "mass": 0.5, "inertia": (0.02, 0.02, 0.02)}
    f = s.add_body("f", parent=b, joint_at=(1.2, 0, 0), **link)
    s.add_constraint("dot(vel(b.origin), [b2])", label="rear wheels")
    s.add_constraint("dot(vel(f.origin), [f2])", label="front wheel")
    if linkage:
        column = s.add_body("column", parent=b, joint_at=(0.9, 0, 0), **link)
        rod = s.add_body("rod", parent=column, joint_at=(0, 0.15, 0), cm=(0.15, 0, 0), **link)
        p, q = s.add_point("p", body=rod, at=(0.31, 0, 0)), s.add_point("q", body=f, at=(0, 0.2, 0))
        s.add_loop_joint("tie rod", "revolute", between=(p, q), axis=rod[3])
        s.add_moment(
            "spring",
            magnitude="k*(0.4*sin(2*t) - q(column)) - c*u(column)",
            direction=column[3],
            on=column,
            against=b,
        )
        s.set_defaults(k=3, c=0.5)
    s.add_force("push", magnitude=15, direction=b[1], at=b.origin)
    s.add_outputs("energy")
    for i, d in enumerate((first, second)):
        s.add_output(
            f"r{i}",
            "dot(pos(b.origin), "
            + " + ".join(f"({c!r})*[n{j + 1}]" for j, c in enumerate(d))
            + ")",
        )
    along = {"u(x)": 3 * float(np.cos(heading)), "u(y)": 3 * float(np.sin(heading))}
    start = {"q(b)": heading, "q(column)": 0.1, "u(column)": turning, **along}
    s.set_run(t_end=3.0, step=0.005, initial=start, guess={"q(f)": 0.1})
    return s, ("q(b)", "q(f)", "q(column)", "q(rod)", "r0", "r1")


def run_of(made, form, step=None, **settings):
    system, channels = made
    settings |= {"step": step} if step else {}
    sim = system.equations(constraints=form).compile(backend="wasm")
    run = sim.simulate(**settings)
    assert run.ended == "finished"
    return run, np.array([run[c] for c in channels])


def rotated(seed):
    Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_four_bar_on_a_rolling_wheel(form, speed):
    """Nothing takes energy; its momentum is exchanged with the wheel, which rolls: x = -r q."""
    run, found = run_of(rolling_four_bar(speed=speed), form)
    _, exact = run_of(
        rolling_four_bar(speed=speed),
        "auto",
        method="dop853",
        rtol=1e-11,
        atol=1e-11,
        output_every=1,
    )
    assert np.ptp(found[2]) > 1
    assert found == pytest.approx(exact, abs=2e-7)
    assert found[0] == pytest.approx(-0.3 * found[1], abs=1e-10)
    energy = run["kinetic"] + run["potential"]
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()


def test_weight_of_the_linkage_as_a_rolling_mass():
    """With the linkage moving, the horizontal momentum and the wheel's spin change only by the
    force at the contact: (m_total x' + sum m v) + (J/r) x'/r is constant, for no other force is
    horizontal."""
    system, _ = rolling_four_bar()
    system.add_output("carried", "dot(vel(hub.cm), [n1]) + 4*dot(vel(wheel.cm), [n1])")
    system.add_output("hung", "0.5*dot(vel(crank.cm) + vel(coupler.cm) + vel(rocker.cm), [n1])")
    run = system.equations().compile(backend="wasm").simulate()
    total = run["carried"] + run["hung"] + 0.4 / 0.3**2 * run["u(hub)"]
    assert total == pytest.approx(np.full(len(run), total[0]), rel=1e-8)
    assert np.ptp(run["hung"]) > 0.1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_four_bar_on_a_wheel_in_rotated_axes(form, seed):
    _, exact = run_of(rolling_four_bar(), "multipliers")
    _, found = run_of(rolling_four_bar(rotated(seed)), form)
    assert found == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("form", ["auto", "multipliers"])
@pytest.mark.parametrize("heading", [0.3, np.pi / 2])
@pytest.mark.parametrize("seed", [None, 4])
def test_tricycle_with_a_steering_linkage(form, heading, seed):
    """It turns through right angles, also from a start in one, where the coefficient of a speed is
    zero."""
    axes = None if seed is None else rotated(seed)
    made = tricycle(axes, heading)
    _, exact = run_of(
        tricycle(None, heading), "auto", method="dop853", rtol=1e-11, atol=1e-11, output_every=1
    )
    _, found = run_of(made, form)
    assert np.ptp(found[0]) > 0.5
    assert found == pytest.approx(exact, abs=1e-7)
    _, finer = run_of(made, form, step=0.0025, output_every=2)
    assert np.abs(finer - exact).max() < max(1e-8, np.abs(found - exact).max() / 8)


def test_tricycle_headings_are_one_motion():
    """What fixed axes it starts along makes no difference: the path turns with the heading."""
    paths = []
    for heading in (0.0, np.pi / 2, 2.0):
        _, found = run_of(tricycle(heading=heading), "auto")
        paths.append((found[4] + 1j * found[5]) * np.exp(-1j * heading))
        assert found[0] - heading == pytest.approx(
            run_of(tricycle(heading=0.0), "auto")[1][0], abs=1e-8
        )
    assert paths[1] == pytest.approx(paths[0], abs=1e-7)
    assert paths[2] == pytest.approx(paths[0], abs=1e-7)
