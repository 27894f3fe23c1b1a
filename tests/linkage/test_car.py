"""A car body on four linkages: two kinds, mirrored sides, anti-roll bars, a rack shared by the
front wheels."""

import numpy as np
import pytest

import bellcrank as bc
from examples.suspension_car import model

WEIGHT = (1300 + 4 * 38 + 2 * 6 + 3) * 9.80665


@pytest.mark.campaign
@pytest.mark.parametrize("exact", [True, False])
def test_car_settles_at_equilibrium(exact):
    sim = model(exact).equations().compile(backend="c")
    run = sim.simulate(t_end=6.0)
    assert run.ended == "finished"
    names = ("fl", "fr", "rl", "rr")
    loads = [run[f"load {n}"][-1] for n in names]
    assert sum(loads) == pytest.approx(WEIGHT, rel=1e-4)
    assert loads[0] == pytest.approx(loads[1], rel=1e-9) and loads[2] == pytest.approx(
        loads[3], rel=1e-9
    )
    assert (
        max(abs(run[f"q({n})"][-1]) for n in names) < 1e-3
    )  # springs were set for the drawn ride height
    speeds = [abs(run[str(u)][-1]) for u in sim.interface.speeds]
    assert max(speeds) < 1e-4
    assert abs(run["q(rack)"]).max() < 1e-9  # left and right are mirror images


@pytest.mark.campaign
def test_car_with_a_solid_axle_settles_level():
    """Both rear wheels on one body with travel and roll; dropped with a turned axle it comes to
    rest as it was drawn."""
    sim = model(rear="solid_axle").equations().compile(backend="c")
    run = sim.simulate(t_end=6.0, initial={"q(chassis, 3)": 0.005, "q(axle, 2)": 0.02})
    assert run.ended == "finished"
    loads = [run[f"load {n}"][-1] for n in ("fl", "fr", "rl", "rr")]
    assert sum(loads) == pytest.approx(WEIGHT + (90 - 2 * 38) * 9.80665, rel=1e-4)
    assert (
        loads[2] - loads[3] == pytest.approx(0, abs=1.0)
        and abs(run["load rl"] - run["load rr"]).max() > 1000
    )
    assert abs(run["q(axle, 1)"][-1]) < 1e-3 and abs(run["q(axle, 2)"][-1]) < 1e-5


@pytest.mark.campaign
@pytest.mark.parametrize("rear", ["five_link", "solid_axle"])
def test_car_passes_check(rear):
    report = bc.check(model(rear=rear), states=3, backend="c")
    assert report.passed, str(report)


@pytest.mark.campaign
def test_steering_turns_both_front_wheels_and_leaves_the_rear():
    """The rack at 10 mm, the body held: both front carriers turn the same way, more on the
    inside."""
    s = model()
    for name in ("fl", "fr", "rl"):
        s.add_output(f"steer_{name}", f"angle([chassis1], [{name}1], [chassis3])", units="A")
    sim = s.equations(optimise="none").compile(backend="python")
    q = np.zeros(len(sim.interface.coordinates))
    q[[str(c) for c in sim.interface.coordinates].index("q(rack)")] = 0.01
    out = sim.outputs(0.0, q.tolist(), [0.0] * len(sim.interface.speeds))
    assert out["steer_fl"] * out["steer_fr"] > 0 and abs(out["steer_fl"]) > np.radians(2)
    assert out["steer_fl"] != pytest.approx(out["steer_fr"], rel=1e-3)
    assert out["steer_rl"] == pytest.approx(0, abs=1e-12)
