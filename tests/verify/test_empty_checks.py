"""The check passes right models with a body at rest, and does not pass where nothing was
counted."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.verify.check import check
from bellcrank.verify.model_under_test import ModelUnderTest
from bellcrank.verify.report import CheckLine, Report
from tests.models import derived, pendulum
from tests.verify.test_check import corrupted


def lines(report):
    return {line.name: line for line in report.lines}


@pytest.mark.campaign
def test_body_at_rest_is_measured_by_the_speeds_of_the_model():
    """A loop holds b at rest while a turns about a line through both: b's own speed is rounding,
    and so is its error."""
    s = bc.System("two balls and a pin", units="mks")
    kw = dict(mass=1, cm=(0.2, 0.1, 0.1), inertia=(0.1, 0.2, 0.25))
    a = s.add_body("a", rotate=(1, 2, 3), **kw)
    b = s.add_body("b", parent=a, rotate=(1, 3, 2), joint_at=(0.4, 0.3, -0.2), **kw)
    s.add_loop_joint(
        "loop",
        "revolute",
        between=(
            s.add_point("p", body=b, at=(0.3, -0.2, 0.4)),
            s.add_point("r", at=(0.7, 0.1, 0.2)),
        ),
        axis=b[3],
    )
    report = check(s, states=2, run=False, backend="python")
    assert report.passed, str(report)
    assert "length 0.73 m, mass 2 kg, speed" in lines(report)["scales"].note


def locked_machine():
    """A wheel that turns in a frame, which stands where its angles lock, and swings out of
    there."""
    s = bc.System("gimbal", units="mks")
    a = s.add_body("a", rotate=(1, 2, 3), mass=1, cm=(0.2, 0.1, 0.1), inertia=(0.1, 0.2, 0.25))
    s.add_body(
        "b",
        parent=a,
        rotate=3,
        joint_at=(0.4, 0.3, -0.2),
        mass=1,
        cm=(0.2, 0.1, 0.1),
        inertia=(0.1, 0.2, 0.25),
    )
    s.add_gravity(direction="[n1]")
    s.set_run(initial={"q(a, 2)": 90.0}, t_end=1.0)
    return s


def test_states_in_gimbal_lock_do_not_count_and_are_told():
    report = check(locked_machine(), states=12, run=False, backend="python")
    assert report.passed, str(report)
    assert "passed over: gimbal lock of 'a'" in lines(report)["states"].note


def test_machine_that_is_always_in_gimbal_lock_is_refused_by_name():
    s = locked_machine()
    s.add_constraint("dot(rot(a), [n2])", label="no turn")
    s.description.run.initial["q(a, 2)"] = 90.0
    subject = ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)
    subject._draw_sample = lambda size, draw=subject._draw_sample: _at_right_angles(draw(size))
    with pytest.raises(bc.ModelError, match=r"gimbal lock of 'a' \(40 of 40\)"):
        subject.samples(1)


def _at_right_angles(s):
    s.q[1] = np.pi / 2
    return s


def test_window_of_the_energy_in_which_nothing_moves_does_not_count():
    s = pendulum()
    s.set_run(t_end=1e-9, step=1e-10)
    line = lines(check(s, states=2, backend="python"))["energy balance"]
    assert (line.value, line.limit) == ("not evaluated", None)
    assert "nothing moves by more than" in line.note
    s.set_run(t_end=1.0)
    line = lines(check(s, states=2, backend="python"))["energy balance"]
    assert line.passed and line.limit == 1e-6 and " s on, for " in line.note


def test_check_that_counted_nothing_does_not_pass():
    assert not Report("m", 3, 0, []).passed
    assert not Report(
        "m", 3, 0, [CheckLine("energy balance", "not evaluated"), CheckLine("scales", "")]
    ).passed


def test_wrong_accelerations_do_not_excuse_themselves():
    """Errors are measured by accelerations of the description, not by those of the program."""
    system, eom = derived("double_pendulum")
    small = check(system, states=1, equations=corrupted(eom, 3, 1e3), backend="python", run=False)
    large = check(system, states=1, equations=corrupted(eom, 3, 1e12), backend="python", run=False)
    key = "equations of motion (virtual power)"
    assert lines(large)[key].value > 1e8 * lines(small)[key].value
