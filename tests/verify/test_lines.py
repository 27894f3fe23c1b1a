"""Single lines of the check: what they say of sound models, and that each finds what it is for."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.verify.check import check
from bellcrank.verify.jacobian_check import check_rhs_jacobian, rate_slopes
from bellcrank.verify.model_under_test import CheckSample, ModelUnderTest
from bellcrank.verify.taylor import converged_difference
from bellcrank.verify.truncation import _lowest_order
from examples import madymo_five_link

EXAMPLES = Path(__file__).parents[2] / "examples"


def pendulum():
    s = bc.System("pendulum", units="mks")
    s.add_body("rod", rotate=3, cm=("l", 0, 0), mass="m", inertia=0)
    s.add_gravity(direction="[n1]")
    s.add_outputs("reactions", "energy", "momentum")
    s.set_defaults(l=0.5, m=2, g=10)
    return s


def with_outputs(eom, change):
    """The same equations with outputs changed by name."""
    program = eom.program
    results = [
        change.get(name, lambda x: x)(x)
        for name, x in zip(program.output_names, program.outputs.results, strict=True)
    ]
    program = replace(program, outputs=replace(program.outputs, results=tuple(results)))
    return type(eom)(replace(eom.derived, program=program))


def line(report, name):
    (found,) = (x for x in report.lines if x.name == name)
    return found


def test_slopes_of_a_pendulum():
    """theta'' = -(g / l) sin(theta): its slope is -(g / l) cos(theta)."""
    s = pendulum()
    subject = ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)
    (sample,) = subject.samples(1)
    slopes = rate_slopes(subject, sample, np.array([1.0, 0.0]))
    assert slopes == pytest.approx([0.0, -20 * np.cos(sample.q[0])], rel=1e-13)


def test_compiled_rates_that_are_not_those_of_the_program_are_found():
    s = pendulum()
    eom = s.equations()
    subject = ModelUnderTest(s, eom, {"backend": "python"}, None, 0)
    samples = list(subject.samples(2))
    assert all(x.passed for x in check_rhs_jacobian(subject, samples, 0))
    results = list(eom.program.derivatives.results)
    results[1] = results[1] * 2
    wrong = replace(
        eom.program, derivatives=replace(eom.program.derivatives, results=tuple(results))
    )
    subject.loaded = replace(subject.loaded, model=PythonModel(wrong, []))
    subject.sim.loaded = subject.loaded
    assert not any(x.passed for x in check_rhs_jacobian(subject, samples, 0))


def test_momentum_is_told_where_the_ground_cannot_push():
    report = check(pendulum(), states=1, backend="python")
    assert report.passed, str(report)
    assert line(report, "angular momentum").note == "about n3, with the impulse of loads"
    assert "linear momentum" not in [x.name for x in report.lines]


@pytest.mark.parametrize("name", ["F1(rod)", "F2(rod)", "kinetic", "potential", "p1", "h3"])
def test_one_wrong_channel_of_a_group_is_found(name):
    s = pendulum()
    s.set_run(initial={"q(rod)": 0.5, "u(rod)": 1.0})
    eom = s.equations()
    wrong = with_outputs(eom, {name: lambda x: x * 1.001 + 1e-4})
    report = check(s, states=2, equations=wrong, backend="python", run=False)
    expected = "reactions of joints and loops" if name.startswith("F") else "outputs"
    assert [x.name for x in report.lines if not x.passed] == [expected], str(report)


def test_reactions_and_residuals_of_a_loop():
    s = bc.System.read(EXAMPLES / "slider_crank.py")
    s.add_outputs("reactions", "residuals")
    eom = s.equations()
    report = check(s, states=2, equations=eom, backend="python", run=False)
    assert report.passed, str(report)
    for name, where in (
        ("F1(gudgeon pin)", "reactions of joints and loops"),
        ("residual1", "residual channels"),
    ):
        wrong = with_outputs(eom, {name: lambda x: x + 1e-4})
        report = check(s, states=2, equations=wrong, backend="python", run=False)
        assert [x.name for x in report.lines if not x.passed] == [where], str(report)


@pytest.mark.campaign
def test_states_with_more_freedoms_for_good_are_passed_over():
    """Two equal plates of a Sarrus linkage may lie on each other, and then swing freely."""
    s = bc.System.read(EXAMPLES / "sarrus_linkage.py")
    report = check(s, states=6, backend="python", run=False)
    assert report.passed, str(report)


def test_run_of_the_program_is_told():
    report = check(bc.System.read(EXAMPLES / "four_bar.py"), states=1, backend="python")
    found = line(report, "constraint residuals over a run")
    assert found.passed and found.note == "rk2, 200 steps of 0.005 s"


@pytest.mark.campaign
def test_run_that_stops_fails():
    s = bc.System.read(EXAMPLES / "four_bar.py")
    s.set_run(step=0.5, t_end=10)
    report = check(s, states=1, backend="python")
    assert not line(report, "constraint residuals over a run").passed


def test_slopes_come_nearer_than_a_pole_or_kink():
    """1/(a + x) with its pole, and |a + x| with its kink, a small way next to the state; at the
    kink itself there is no slope."""
    a = 2e-3
    found, doubt = converged_difference(lambda h: np.array([1 / (a + h), abs(a + h)]), 5e-3)
    assert doubt < 1e-8 and found == pytest.approx([-1 / a**2, 1.0], rel=1e-8)
    assert converged_difference(lambda h: np.array([np.sqrt(abs(h)) * np.sign(h)]), 5e-3)[1] > 0.1


@pytest.mark.campaign
def test_slopes_near_a_fold_count_and_find_a_wrong_rate():
    """The five-link 2 mm before its fold, where slopes grow without bound: every state is reported,
    and a rate that is wrong by 1e-6 fails."""
    system = madymo_five_link.model()
    subject = ModelUnderTest(
        system, system.equations(optimise="none"), {"backend": "python"}, None, 0, quiet=True
    )
    samples = [CheckSample(0.0, np.array([z]), np.array([0.3]), {}) for z in (-0.2115, 0.2815)]
    (sound,) = check_rhs_jacobian(subject, samples, 0)
    assert sound.passed and sound.value < 1e-8 and not sound.note
    right = subject.plain_rates
    subject.plain_rates = lambda s: right(s) * (1 + 1e-6)
    (wrong,) = check_rhs_jacobian(subject, samples, 0)
    assert not wrong.passed and not wrong.note


def test_errors_above_their_own_rounding_tell_the_order_of_a_truncation():
    """Halved with the small variables, however small they are; not where the last row says that
    they are rounding."""
    errors = 8e-13 * 0.5 ** np.arange(20)
    for rounding, order in ((0.0, 1.0), (3e-14, np.inf)):
        relative = np.array([[*errors, rounding]]).T
        assert _lowest_order(relative, np.ones_like(relative), ["x"])[0] == pytest.approx(order)


def test_states_that_cannot_be_used_are_counted_by_reason(monkeypatch):
    s = pendulum()
    subject = ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)
    monkeypatch.setattr(
        ModelUnderTest, "_unusable_reason", lambda self, sample: "nothing goes here"
    )
    with pytest.raises(
        bc.ModelError, match=r"can be evaluated: nothing goes here \(40 of 40\)\. Give a usable"
    ):
        subject.samples(1)
