"""`bellcrank compare` and bc.compare."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.study.method_comparison import _comparison_json_value, _MethodTrials
from tests.models import needs_compiler, system

EXAMPLES = Path(__file__).parents[3] / "examples"


@needs_compiler
def test_pendulum_over_1_10_and_100_seconds():
    """Figures of the independent program: drift of clmm 7.2e-5 and of dlmm 8.6e-10 over 10 s."""
    found = bc.compare(
        system("planar_pendulum"), t_end=100, methods=("projection", "dlmm", "clmm"), limits=False
    )
    assert found.horizons == (1, 10, 100)
    assert found["clmm"].drift == pytest.approx((7.0e-7, 7.2e-5, 7.2e-3), rel=0.02)
    assert found["dlmm"].drift == pytest.approx((8.6e-10,) * 3, rel=0.01)
    assert max(found["projection"].drift) < 1e-13
    assert found["dlmm"].energy < found["projection"].energy < found["clmm"].energy
    assert all(
        row.ended == "finished" and row.microseconds > 0 and row.limit is None for row in found.rows
    )


@needs_compiler
def test_largest_stable_step_separates_stable_runs_from_others():
    s = system("planar_pendulum")
    row = bc.compare(s, t_end=10, methods=["dlmm"])["dlmm"]
    assert 0.1 < row.limit < 0.6
    sim = s.equations().compile()
    assert sim.simulate(t_end=10, step=row.limit / 1.3, dae="dlmm").residuals.largest[0] < 0.3
    with pytest.warns(bc.ModelWarning, match="too large"):
        beyond = sim.simulate(t_end=10, step=row.limit * 1.3, dae="dlmm")
    assert beyond.ended != "finished" or beyond.residuals.largest[0] > 0.1


@pytest.mark.parametrize("begin", [0.01, 0.3, 0.5, 5.0])
def test_largest_stable_step_is_bracketed_from_either_side(begin):
    trial = object.__new__(_MethodTrials)
    trial.t_end = 10.0
    trial.is_stable = lambda dae, step: step < 0.37
    assert 0.37 * 2 ** (-1 / 16) <= trial.largest_stable_step(None, begin) < 0.37
    trial.is_stable = lambda dae, step: step <= 10
    assert trial.largest_stable_step(None, begin) == max(begin, 1.0)  # a run has ten steps at least
    trial.is_stable = lambda dae, step: step < begin / 100
    assert trial.largest_stable_step(None, begin) is None


def test_energy_is_added_for_the_comparison_only():
    s = system("four_bar")
    before = list(s.description.output_groups)
    found = bc.compare(s, t_end=0.05, step=0.005, methods=["clmm"], limits=False)
    assert s.description.output_groups == before
    assert found["clmm"].energy is not None


@pytest.mark.campaign
def test_json_has_every_method(capsys):
    model = str(EXAMPLES / "planar_pendulum.py")
    assert (
        cli.main(["compare", model, "--t-end", "0.2", "--json", "--free-fall", "--no-limits"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    names = [m["name"] for m in told["methods"]]
    assert names == [
        "projection",
        "projection, masses",
        "dlmm",
        "clmm",
        "baumgarte",
        "stabilised",
        "post",
        "half-explicit",
        "minimal",
        "projection, free fall",
        "stabilised, free fall",
        "post, free fall",
    ]
    assert all(len(m["drift"]) == 3 and m["operations"] > 0 for m in told["methods"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["quarter_car.py"], "there is nothing to compare: the model has no constraints"),
        (["decks/double_pendulum.al"], "methods are compared on a System"),
        (["kane_double_pendulum.py"], "methods are compared on a System"),
        (["four_bar.py", "--dae", "dlmn"], "Did you mean 'dlmm'"),
        (["four_bar.py", "--method", "BDF"], "compared with a fixed step"),
        (["four_bar.py", "--t-end", "1", "--horizons", "1,2"], "must lie between 0 and t_end=1 s"),
        (["four_bar.py", "--set", "nothing=1"], "the model has no such parameter"),
    ],
)
def test_what_cannot_be_compared_is_told(arguments, words, capsys):
    assert cli.main(["compare", str(EXAMPLES / arguments[0]), *arguments[1:]]) == 1
    assert words in capsys.readouterr().err


def test_progress_and_cost_of_a_step():
    told = []
    options = {"t_end": 0.005, "step": 0.005, "methods": ["clmm", "dlmm"], "limits": False}
    found = bc.compare(system("planar_pendulum"), progress=told.append, **options)
    assert told == [0.5, 1.0]
    assert found["clmm"].microseconds > 0 and found["dlmm"].microseconds > 0  # of a single step
    trial = object.__new__(_MethodTrials)
    trial.t_end = 1.0
    seconds = iter([3.0, 2.0, 4.0])
    trial.simulate = lambda step, every, dae: Told({"seconds": next(seconds)}, [0.0, 1.0])
    assert trial.step_cost(bc.Dae("dlmm"), 0.1) == pytest.approx(2.0e6 / 10)


def test_figures_are_those_of_the_runs():
    """Against runs of the same equations, the reference with an eighth of the step."""
    s, t_end, step = system("planar_pendulum"), 0.13, 0.01
    found = bc.compare(
        s,
        t_end=t_end,
        step=step,
        methods=["clmm"],
        limits=False,
        horizons=[0.05, 0.13],
        initial={"q(bob, 2)": 0},
    )
    row = found["clmm"]
    sim = s.equations(constraints="multipliers").compile()
    run = sim.simulate(t_end=t_end, step=step, output_every=1, dae="clmm")
    fine = sim.simulate(t_end=t_end, step=step / 8, output_every=8)
    off = np.abs(run["q(bob, 1)"] ** 2 + run["q(bob, 2)"] ** 2 - 1)
    assert row.time == pytest.approx(run.time)
    assert row.residual == pytest.approx(run.residuals.position)
    assert np.corrcoef(row.residual, off)[0, 1] == pytest.approx(1)
    assert row.drift == (row.residual[:6].max(), row.residual.max())
    assert row.speed == run.residuals.largest[1]
    assert row.error == max(np.abs(run[c] - fine[c]).max() for c in ("q(bob, 1)", "q(bob, 2)"))
    assert row.energy_error == pytest.approx(np.abs(run["energy"] - fine["energy"]), rel=1e-9)
    assert row.energy == row.energy_error.max() > 0
    assert (found.horizons, found.backend, found.method) == ((0.05, 0.13), sim.backend, "rk4")
    told = found.as_dict()
    assert told["horizons"] == [0.05, 0.13] and told["methods"][0]["drift"] == list(row.drift)
    assert [line.get_ydata()[-1] for a in found.plot().axes for line in a.lines] == pytest.approx(
        [row.residual[-1], row.energy_error[-1]]
    )


def test_figures_without_a_number_are_null_in_json():
    assert [
        _comparison_json_value(x) for x in (1.5, math.inf, math.nan, 2, None, (0.5, -math.inf))
    ] == [
        1.5,
        None,
        None,
        2,
        None,
        [0.5, None],
    ]


def test_distance_from_the_constraints():
    """Of the rod of a pendulum, in a run that segments it by 0.2 l: the change of coordinates that
    closes it, linearised."""
    equations = system("planar_pendulum").equations(constraints="multipliers")
    trial = _MethodTrials(equations.compile(backend="python"), 1.0, "rk4", {})
    trial.find_reference(0.1)
    x = np.array([0.8, 0.96, 0.64])  # lengths 1, 1.2 and 0.8 in the same direction
    stretched = {"q(bob, 1)": x, "q(bob, 2)": -0.75 * x, "u(bob, 1)": 0 * x, "u(bob, 2)": 0 * x}

    class Found(dict):
        time, residuals = (
            np.array([0.0, 0.1, 0.2]),
            SimpleNamespace(g=x, position=np.array([0.0, 0.44, 0.36])),
        )

    assert trial._largest_drift(Found(stretched)) == pytest.approx((1.2**2 - 1) / (2 * 1.2) * 0.8)
    Found.residuals.g = np.zeros(0)
    assert trial._largest_drift(Found(stretched)) == 0
    assert trial.regular
    assert trial.span == pytest.approx(np.ptp(trial.reference["q(bob, 1)"]))
    assert trial.fastest == max(
        np.abs(trial.reference[c]).max() for c in ("u(bob, 1)", "u(bob, 2)")
    )


@pytest.mark.parametrize(
    ("t_end", "step", "every", "steps"),
    [(10, 0.001, 25, 10000), (1.1, 0.1, 1, 11), (4.02, 0.01, 2, 402)],
)
def test_a_comparison_looks_at_400_samples_at_most(t_end, step, every, steps):
    """The reference at the same times, with an eighth of the step. Costs are those of a run without
    samples."""
    trial, asked = object.__new__(_MethodTrials), []
    trial.t_end, trial.coordinates, trial.speeds = t_end, ["q"], ["u"]
    trial._has_regular_mass = lambda: True

    class Found(dict):
        status, settings, time = bc.RunStatus.FINISHED, {"seconds": 2.0}, [0.0, t_end]

    trial.simulate = lambda step, every, dae: (
        asked.append((step, every)) or Found(q=np.ones(2), u=np.ones(2))
    )
    trial.find_reference(step)
    assert trial.every == every
    assert asked == [(pytest.approx(step / 8), 8 * every)]
    assert trial.step_cost(None, step) == pytest.approx(2e6 / steps)
    assert asked[1:] == [(step, steps)] * 3


@dataclass
class Told:
    settings: dict
    time: list

    def __len__(self):
        return len(self.time)


def test_runs_that_look_for_stability_are_looked_at_a_few_hundred_times():
    """However many steps they take; short ones at every step."""
    trial, asked = object.__new__(_MethodTrials), []
    trial.t_end = 10.0
    trial.simulate = lambda step, every, dae: (
        asked.append(every) or SimpleNamespace(status=bc.RunStatus.NOT_FINITE)
    )
    assert not any(trial.is_stable(None, step) for step in (0.001, 0.5))
    assert asked == [25, 1]


@pytest.mark.parametrize(
    ("fast", "far", "stable"), [(2.9, 0.09, True), (3.1, 0.09, False), (2.9, 0.11, False)]
)
def test_stable_runs_keep_near_the_constraints_and_to_speeds_of_the_reference(fast, far, stable):
    """A tenth of the span of coordinates, and three times the largest speed; of a machine at rest
    both are one."""

    class Found(dict):
        status = bc.RunStatus.FINISHED

    trial = object.__new__(_MethodTrials)
    trial.t_end, trial.coordinates, trial.speeds = 1.0, ["q"], ["u"]
    trial._has_regular_mass = lambda: True
    trial.simulate = lambda step, every, dae: Found(q=np.array([7.0, 7.0]), u=np.array([0.0, 0.0]))
    trial.find_reference(0.1)
    trial.simulate = lambda step, every, dae: Found(u=np.array([0.0, -fast]))
    trial._largest_drift = lambda run: far
    assert trial.is_stable(None, 0.1) is stable
