"""`bellcrank compare` and bc.compare."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.expr import ONE, ZERO
from bellcrank.program.dae_count import _basis, _by_multipliers, _solve, step_count
from bellcrank.study.compare import _Trial
from tests.models import example, needs_compiler, system

EXAMPLES = Path(__file__).parents[2] / "examples"


@needs_compiler
def test_pendulum_over_1_10_and_100_seconds():
    """Figures of the independent program: drift of clmm 7.2e-5 and of dlmm 8.6e-10 over 10 s."""
    found = bc.compare(system("planar_pendulum"), t_end=100, methods=("projection", "dlmm", "clmm"), limits=False)
    assert found.horizons == (1, 10, 100)
    assert found["clmm"].drift == pytest.approx((7.0e-7, 7.2e-5, 7.2e-3), rel=0.02)
    assert found["dlmm"].drift == pytest.approx((8.6e-10,) * 3, rel=0.01)
    assert max(found["projection"].drift) < 1e-13
    assert found["dlmm"].energy < found["projection"].energy < found["clmm"].energy
    assert all(row.ended == "finished" and row.microseconds > 0 and row.limit is None for row in found.rows)


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
    trial = object.__new__(_Trial)
    trial.t_end = 10.0
    trial.stable = lambda dae, step: step < 0.37
    assert 0.37 * 2 ** (-1 / 16) <= trial.limit(None, begin) < 0.37
    trial.stable = lambda dae, step: step <= 10
    assert trial.limit(None, begin) == max(begin, 1.0)  # a run has ten steps at least
    trial.stable = lambda dae, step: step < begin / 100
    assert trial.limit(None, begin) is None


def test_energy_is_added_for_the_comparison_only():
    s = system("four_bar")
    before = list(s.description.output_groups)
    found = bc.compare(s, t_end=0.05, step=0.005, methods=["clmm"], limits=False, backend="python")
    assert s.description.output_groups == before
    assert found["clmm"].energy is not None


@pytest.mark.campaign
def test_json_has_every_method(capsys):
    model = str(EXAMPLES / "planar_pendulum.py")
    assert cli.main(["compare", model, "--t-end", "0.2", "--json", "--free-fall", "--no-limits"]) == 0
    told = json.loads(capsys.readouterr().out)
    names = [m["name"] for m in told["methods"]]
    assert names == [
        "projection", "projection, masses", "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit",
        "minimal",
        "projection, free fall", "stabilised, free fall", "post, free fall",
    ]  # fmt: skip
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


def test_counts_by_hand():
    """Two speeds, one row: a pivot among two entries, two products to eliminate nothing; then a 1 x 1 system."""
    basis = _basis(2, 1, 1)
    assert (basis.add, basis.multiply, basis.divide, basis.function) == (0, 4 + 1 + 3 + 2, 1, 4)
    solve = _solve(2, 1, 1)
    products = 4 * 2 + 2 * 2 + 2  # M (T, c); T' (M T, rest); T a
    assert (solve.add, solve.multiply - basis.multiply) == (products, products)
    program = example("planar_pendulum").program
    assert (
        step_count(program, "projection", True, "rk4", True).total == 4 * program.count.total + program.per_step.total
    )
    minimal = step_count(program, "minimal", True, "rk4", True).total  # corrected before the step and at each rate
    assert minimal == 4 * program.count.total + 5 * program.per_step.total
    for regular in (False, True):
        costs = [
            step_count(program, m, False, "rk4", regular).total for m in ("clmm", "baumgarte", "dlmm", "stabilised")
        ]
        assert costs == sorted(costs)
        assert costs[1] - costs[0] == 4 * 2 * 2  # in each stage a row and its rate, times a number, are added
    factor, solve, correct = _by_multipliers(program.loops, 2)
    # diagonal M: two inverses; Y = M^-1 J': 2 products; S: 2; scaled: 2; no elimination
    assert (factor.add, factor.multiply, factor.divide, factor.function) == (2, 2 + 2 + 2, 2 + 1, 2 + 2 + 1)
    assert (correct.add, correct.multiply, correct.divide) == (2, 2 + 2, 1)
    assert (solve.add, solve.multiply, solve.divide) == (2 + 2, 4 + 2 + 2, 1)


def test_counts_of_a_skyline():
    """M with a zero below its diagonal, and two rows of which the second is short: products counted one by one."""
    x, m = ONE, 2
    M = [[x], [x, x], [x, x, x], [ZERO, x, x, x]]
    loops = SimpleNamespace(v=[0] * m, scales=SimpleNamespace(rank_v=m), M=M, J=[[x, x, x, x], [ZERO, x, x, ZERO]])
    first = [0, 0, 0, 1]
    below = [(i, j) for i in range(4) for j in range(first[i], i)]
    inner = [(i, j, k) for i, j in below for k in range(max(first[i], first[j]), j)]
    factor, _, _ = _by_multipliers(loops, 4)
    spread = 1 * 4 + 2 * 2  # J M^-1 J', the lower half: the first row with itself, the second with both
    assert factor.add == len(inner) + len(below) + m * 2 * len(below) + spread + 1  # one row is eliminated from one


def test_progress_and_cost_of_a_step():
    told = []
    options = {"t_end": 0.005, "step": 0.005, "methods": ["clmm", "dlmm"], "limits": False, "backend": "python"}
    found = bc.compare(system("planar_pendulum"), progress=told.append, **options)
    assert told == [0.5, 1.0]
    assert found["clmm"].microseconds > 0 and found["dlmm"].microseconds > 0  # of a single step
    trial = object.__new__(_Trial)
    trial.t_end = 1.0
    seconds = iter([3.0, 2.0, 4.0])
    trial.run = lambda step, every, dae: Told({"seconds": next(seconds)}, [0.0, 1.0])
    assert trial.cost(bc.Dae("dlmm"), 0.1) == pytest.approx(2.0e6 / 10)


@dataclass
class Told:
    settings: dict
    time: list

    def __len__(self):
        return len(self.time)


def test_runs_that_look_for_stability_are_looked_at_a_few_hundred_times():
    """However many steps they take; short ones at every step."""
    trial, asked = object.__new__(_Trial), []
    trial.t_end = 10.0
    trial.run = lambda step, every, dae: asked.append(every) or SimpleNamespace(status=bc.RunStatus.NOT_FINITE)
    assert not any(trial.stable(None, step) for step in (0.001, 0.5))
    assert asked == [25, 1]


@pytest.mark.parametrize(("fast", "far", "stable"), [(2.9, 0.09, True), (3.1, 0.09, False), (2.9, 0.11, False)])
def test_stable_runs_keep_near_the_constraints_and_to_speeds_of_the_reference(fast, far, stable):
    """A tenth of the span of coordinates, and three times the largest speed; of a machine at rest both are one."""

    class Found(dict):
        status = bc.RunStatus.FINISHED

    trial = object.__new__(_Trial)
    trial.t_end, trial.coordinates, trial.speeds = 1.0, ["q"], ["u"]
    trial._has_regular_mass = lambda: True
    trial.run = lambda step, every, dae: Found(q=np.array([7.0, 7.0]), u=np.array([0.0, 0.0]))
    trial.find_reference(0.1)
    trial.run = lambda step, every, dae: Found(u=np.array([0.0, -fast]))
    trial._furthest = lambda run: far
    assert trial.stable(None, 0.1) is stable
