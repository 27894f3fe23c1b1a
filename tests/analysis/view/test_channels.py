"""Plots draw outputs unasked, no internal states; yaw, roll, pitch, slip angles and camber are
ready channels."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.simulation.run.plot_selection import (
    default_channels,
    minimum_axis_ranges,
    split_by_range,
)
from bellcrank.simulation.run.run_plots import resolve_channels


@pytest.mark.parametrize("axes", ["ISO 8855", "SAE"])
def test_attitude_of_a_body_is_its_angles(axes):
    s = bc.System("car", units="mks", axes=axes)
    car = s.add_body("car", translate=(1, 2, 3), rotate=(3, 2, 1), mass=1, inertia=(1, 1, 1))
    s.add_attitude(body=car)
    s.add_attitude("", body="car")
    sim = s.equations().compile(backend="python")
    yaw, pitch, roll = 0.7, -0.2, 0.3
    q = [1, 2, 3, yaw, pitch, roll]
    R = rotation(3, yaw) @ rotation(2, pitch) @ rotation(1, roll)
    v = rotation(3, yaw) @ rotation(3, 0.1) @ [20.0, 0, 1.5]  # slips by 0.1 rad about z
    w = rotation(3, yaw) @ [0.3, 0.1, 0.5]
    found = sim.outputs(0.0, q, [*(R.T @ v), *(R.T @ w)])
    expected = {"yaw": yaw, "pitch": pitch, "roll": roll, "side_slip": 0.1, "yaw_rate": 0.5}
    for name, value in expected.items():
        assert found[f"car.{name}"] == found[name] == pytest.approx(np.rad2deg(value), rel=1e-12)
    assert found["speed"] == pytest.approx(20 * np.cos(0.1))


@pytest.mark.parametrize("axes", ["ISO 8855", "SAE"])
@pytest.mark.parametrize("side", ["left", "right", None])
def test_angles_of_a_wheel_do_not_turn_with_it(axes, side):
    """Steered to the left, with its top to the right of the car."""
    s = bc.System("car", units="mks", axes=axes)
    hub = s.add_body("hub", translate=(1, 2, 3), rotate=(3, 1, 2), mass=1, inertia=(1, 1, 1))
    wheel = s.add_body("wheel", hub, rotate=2, mass=1, inertia=(1, 1, 1))
    s.add_wheel_angles(wheel=wheel, side=side)
    sim = s.equations().compile(backend="python")
    left = 1 if axes.startswith("ISO") else -1  # the sign of z-turns to the left
    steer, lean = left * 0.3, 0.1  # about x, the top goes to the right in both
    R = rotation(3, steer) @ rotation(1, lean)
    v = rotation(3, steer - 0.05) @ [10.0, 0, 0]
    found = sim.outputs(0.0, [0, 0, 0, steer, lean, 0.0, 0.9], [*(R.T @ v), 0.1, 30.0, 0.2, 4.0])
    assert found["wheel.slip_angle"] == pytest.approx(np.rad2deg(-0.05))
    name, sign = ("inclination", 1) if side is None else ("camber", 1 if side == "right" else -1)
    assert found[f"wheel.{name}"] == pytest.approx(sign * np.rad2deg(lean))


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return {
        1: np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        2: np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        3: np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def test_what_is_no_body_or_side_is_told():
    s = bc.System("m")
    b = s.add_body("b", rotate=2, mass=1, inertia=(1, 1, 1))
    with pytest.raises(bc.ModelError, match="side='middle' must be 'left', 'right' or None"):
        s.add_wheel_angles(wheel=b, side="middle")
    with pytest.raises(bc.ModelError, match="3 is not a body"):
        s.add_attitude(body=3)
    s.add_attitude(body="c")
    with pytest.raises(bc.ModelError, match="no body has the name 'c'"):
        s.equations()


LAGGED = """
import bellcrank as bc

def model(shown=True):
    s = bc.System("lagged", units="mks")
    b = s.add_body("b", translate=1, mass=1, inertia=0)
    s.add_state("rack", rate="(1 - rack)/0.1")
    s.add_force("f", magnitude="rack", direction=s.inertial[1], at=b.origin)
    if shown:
        s.add_output("part.twice", "2*q(b)")
        s.add_output("thrice", "3*q(b)")
    s.set_run(t_end=0.1, step=0.01)
    return s
"""


def test_outputs_are_drawn_unasked_not_states(tmp_path, monkeypatch, capsys):
    path = tmp_path / "lagged.py"
    path.write_text(LAGGED, encoding="utf-8")
    run = bc.System.read(path).equations().compile(backend="python").simulate()
    assert resolve_channels([run], [], None)[0] == ["thrice", "part.twice"]
    run.save(tmp_path / "run.erd")
    assert resolve_channels([bc.Run.read(tmp_path / "run.erd")], [], None)[0] == [
        "thrice",
        "part.twice",
    ]
    bare = bc.System.read(path, shown=False).equations().compile(backend="python").simulate()
    assert resolve_channels([bare], [], None)[0] == ["q(b)", "rack", "u(b)"]
    monkeypatch.chdir(tmp_path)
    assert main(["run", "lagged.py", "--plot", "page.html"]) == 0, capsys.readouterr().err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "thrice" in page and "rack" not in page


def test_rounding_is_measured_by_the_dimension_whatever_the_unit():
    """A yaw rate in deg/s that is rounding is not drawn next to wheels that turn by rad/s, nor has
    it a range."""
    t = np.linspace(0, 1, 50)
    values = {
        "u(wheel)": 60 + t,
        "yaw_rate": 1e-14 * np.sin(9 * t),
        "speed": 20 - t,
        "odd": 1e-14 * t,
    }
    units = {"u(wheel)": "rad/s", "yaw_rate": "deg/s", "speed": "m/s", "odd": "furlong/?"}
    least = dict(
        zip(values, minimum_axis_ranges([*values.values()], [*units.values()], 1.0), strict=True)
    )
    assert least["yaw_rate"] == pytest.approx(1e3 * 1e-9 * np.degrees(61)) and least["odd"] < 1e-16
    run = bc.Run("car", t, values, units, {}, "finished")
    assert default_channels(run) == ["speed", "odd"]


def test_rounding_of_slips_and_accelerations_next_to_nothing_of_their_dimension():
    """A bicycle that rolls at constant speed: only its position goes anywhere."""
    t = np.linspace(0, 5, 50)
    values = {
        "ax": 2e-13 * np.sin(9 * t),
        "slip": 1e-15 * np.cos(9 * t),
        "speed": 5 + 0 * t,
        "x": 5 * t,
    }
    units = {"ax": "m/s2", "slip": "1", "speed": "m/s", "x": "m"}
    least = dict(
        zip(values, minimum_axis_ranges([*values.values()], [*units.values()], 5.0), strict=True)
    )
    assert least["ax"] == pytest.approx(1e-6) and least["slip"] == pytest.approx(
        1e-6
    )  # thousands of times rounding
    assert least["speed"] == pytest.approx(0.005)
    assert default_channels(bc.Run("bicycle", t, values, units, {}, "finished")) == ["x"]
    still = minimum_axis_ranges([values["ax"]], ["m/s2"], 5.0)
    assert 0 < still[0] < 1e-15  # where nothing else is known, it may be a signal


def test_a_curve_is_not_drawn_flat_next_to_one_that_goes_far():
    t = np.linspace(0, 1, 20)
    run = bc.Run("x", t, {"a": 0.01 * t, "x": 30 * t, "b": 0.1 * t, "y": 2 * t}, {}, {}, "finished")
    assert split_by_range(["a", "x", "b", "y"], run) == [["a", "b"], ["x", "y"]]
