"""Drivers and paths: what they may be, lane changes by parameters next to those by tables,
delays."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.control import driver
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.driver_path import Change, lane_change
from tests.models import needs_compiler, rarely

CORNERS = ((15.0, 0.0), (45.0, 3.5), (70.0, 3.5), (95.0, -0.5))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "macadm"}, "kind='macadm' must be one of macadam, point, pursuit, stanley"),
        ({"lag": 0.0}, "lag=0.0 must be positive"),
        ({"preview": -1.0}, "preview=-1.0 must be positive"),
        ({"delay": 3}, "delay=3 must lie between 0 and 2 s"),
        ({"rate": 0}, "rate=0 must be positive"),
        ({"rate": "600"}, "rate='600' must be positive"),
        ({"points": 0}, "points=0 must be a whole number"),
        ({"path": [1, 2]}, "must be a Path.through"),
    ],
)
def test_what_drivers_may_be(given, said):
    with pytest.raises(bc.ModelError, match=said):
        bc.vehicles.manoeuvres.Driver(**given)


def test_paths_that_cannot_be():
    with pytest.raises(bc.ModelError, match="four with growing x"):
        Change(((0.0, 0.0), (10.0, 3.0), (5.0, 3.0), (20.0, 0.0)))
    with pytest.raises(bc.ModelError, match="same place, near point 1"):
        bc.vehicles.manoeuvres.Path.through([0, 1, 1, 2], [0, 0, 0, 0])
    car = bc.vehicles.Car.read("hmmwv")
    with pytest.raises(bc.ModelError, match=r"radius of 2\.9\d* m at .* turns no tighter than"):
        car.system(driver=bc.vehicles.manoeuvres.Driver(bc.vehicles.manoeuvres.circle(3.0)))


def test_lane_changes_by_parameters_and_by_tables():
    """Place, heading and curvature along both, and the tightest bend."""
    s = bc.System("path", axes="ISO 8855")
    ball = s.add_point_mass("ball", translate=1, mass=1)
    change = Change(CORNERS)
    change.add_to_system(s)
    x, y = change.position_at(s, "q(ball)", "a")
    for name, text in zip(
        ("x", "y", "heading", "curvature"),
        (x, y, *change.heading_and_curvature_at(s, "q(ball)", "b")),
        strict=True,
    ):
        s.add_output(f"at.{name}", text)
    run = (
        s.equations()
        .compile(backend="python")
        .simulate(t_end=1, step=0.0125, initial={ball.u[1]: 120.0})
    )
    path = lane_change(CORNERS, before=20.0, after=20.0)
    for name, share in (
        ("y", 0.01),
        ("heading", 0.02),
        ("curvature", 0.08),
    ):  # that of tables is smoothed
        expected = np.interp(run["at.x"], path.x, getattr(path, name))
        assert run[f"at.{name}"] == pytest.approx(expected, abs=share * np.abs(expected).max())
    assert change.tightest()[0] == pytest.approx(path.tightest()[0], rel=0.05)
    assert change.tightest()[0] == pytest.approx(1 / np.abs(run["at.curvature"]).max(), rel=0.05)


@pytest.fixture
def bench(monkeypatch):
    """A single track with F = mu N tanh(C alpha/(mu N)) at a kept speed, on which gains of drivers
    were published."""
    m, a, b, front, rear = 1500.0, 1.2, 1.5, 1.0e5, 1.2e5
    known = driver.SingleTrack(
        m, 2500.0, a + b, b, front, rear, m / (a + b) * (b / front - a / rear)
    )
    monkeypatch.setattr(driver, "steering_ratio", lambda *_: 1.0)

    def drive(speeds, **how):
        s = bc.System("single track", axes="ISO 8855")
        chassis = s.add_body(
            "chassis", translate=(1, 2), rotate=3, mass=m, inertia=(1250.0, 1250.0, 2500.0)
        )
        s.add_constraint("dot(vel(chassis.origin), [chassis1]) - pace")
        s.add_parameter("pace", 20.0, units="L/T")
        s.define("driver.ahead", "dot(vel(chassis.cm), [chassis1])")
        who = bc.vehicles.manoeuvres.Driver(Change(), **how)
        s.define("delta", who._steering(s, None, known))
        for name, x, share, C, steer in (
            ("front", a, b, front, "- delta"),
            ("rear", -b, a, rear, ""),
        ):
            point = s.add_point(name, body=chassis, at=(x, 0, 0))
            most = 0.9 * m * GRAVITY * share / (a + b)
            s.define(f"slip_{name}", f"angle([chassis1], vel({name}), [n3]) {steer}")
            s.add_force(
                name,
                magnitude=f"-{most}*tanh({C / most}*slip_{name})",
                direction=chassis[2],
                at=point,
            )
        s.add_output("ay", "dot(dxdt(vel(chassis.cm)), [chassis2])", units="L/T**2")
        sim = s.equations().compile()
        for v in speeds:
            start = {"q(chassis, 1)": -20.0, "u(chassis, 1)": v}
            run = sim.simulate(
                t_end=170 / v, step=0.01, method="rk4", initial=start, parameters={"pace": v}
            )
            assert run.ended == "finished"
            error = np.abs(run["path_error"])
            yield error.max(), np.abs(run["ay"]).max(), error[-1]

    return drive


BENCH = {  # kind: preview, and by speed the largest error and lateral acceleration
    "macadam": (1.0, {10.0: (0.273, 1.88), 20.0: (0.667, 3.59), 30.0: (1.091, 5.78)}),
    "point": (0.8, {10.0: (0.206, 2.09), 20.0: (0.637, 4.05), 30.0: (1.549, 6.24)}),
    "pursuit": (0.6, {10.0: (0.175, 3.38), 20.0: (0.718, 6.41)}),
    "stanley": (None, {10.0: (0.111, 2.67), 20.0: (0.550, 7.85)}),
}


@needs_compiler
@pytest.mark.parametrize("kind", rarely(list(BENCH), ["macadam", "point"]))
def test_drivers_on_the_bench(bench, kind):
    """Largest errors and lateral accelerations through the line of ISO 3888-1, next to those of
    another program."""
    preview, published = BENCH[kind]
    for (error, ay), found in zip(
        published.values(), bench(published, kind=kind, preview=preview), strict=True
    ):
        assert found[0] == pytest.approx(error, rel=0.06)
        assert found[1] == pytest.approx(ay, rel=0.03)
        assert found[2] < 0.2  # back on the path


@pytest.mark.campaign
@needs_compiler
def test_a_driver_who_sees_late(bench):
    """A delay makes the car swing, and no more than that."""
    ((error, ay, last),) = bench([20.0], kind="macadam", delay=0.15)
    assert error < 0.8 and 1.2 * BENCH["macadam"][1][20.0][1] < ay < 6 and last < 0.1


def hands(asked, t, lag, rate):
    """The steering-wheel angle by Euler's method in small steps: a lag whose speed is limited."""
    found = np.zeros(len(t))
    for i in range(1, len(t)):
        h, now = (t[i] - t[i - 1]) / 100, found[i - 1]
        for k in range(100):
            wanted = asked[i - 1] + (asked[i] - asked[i - 1]) * k / 100
            now += h * max(-rate, min(rate, (wanted - now) / lag))
        found[i] = now
    return found


@needs_compiler
@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("rate", [60.0, None])
def test_hands_are_as_quick_as_they_can(monkeypatch, backend, rate):
    """What is asked for jumps and comes back: the driver's states compared with the law integrated
    by hand."""
    monkeypatch.setattr(driver, "steering_ratio", lambda car: 16.0)
    s = bc.System("hands", axes="ISO 8855")
    chassis = s.add_body("chassis", translate=(1, 2), rotate=3, mass=1.0, inertia=(1.0, 1.0, 1.0))
    s.define("driver.ahead", "dot(vel(chassis.cm), [chassis1])")
    s.add_input("side", units="F")
    s.add_force("push", magnitude="side", direction=s.inertial[2], at=chassis.origin)
    who = bc.vehicles.manoeuvres.Driver(Change(), kind="point", preview=1.0, lag=0.2, rate=rate)
    known = driver.SingleTrack(1500.0, 2500.0, 2.7, 1.4, 8e4, 9e4, 0.002)
    s.add_output("hands", who._steering(s, None, known), units="A")
    s.add_output("wanted", "driver.wanted", units="A")
    sim = s.equations().compile(backend=backend)
    start = {"u(chassis, 1)": 20.0}
    inputs = {
        "side": bc.signals.sampled(
            [0.0, 0.1, 0.2, 1.0, 1.1, 3.0], [0.0, 0.0, 30.0, 30.0, -60.0, -60.0]
        )
    }
    run = sim.simulate(
        t_end=2.0, step=0.001, output_every=1, method="rk4", initial=start, inputs=inputs
    )
    expected = hands(run["wanted"], run.time, 0.2, np.inf if rate is None else np.radians(rate))
    assert np.ptp(run["hands"]) > 0.5 and run["hands"] == pytest.approx(expected, abs=2e-4)
    fastest = np.abs(np.diff(run["hands"])).max() / 0.001
    assert (
        fastest > np.radians(80)
        if rate is None
        else fastest == pytest.approx(np.radians(60), rel=1e-3)
    )
