"""The check fails when any one generated equation is wrong: every rate, output, constraint, slope and intermediate result in turn."""

import warnings
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.verify.check import check
from tests.models import derived
from tests.verify.corruption import acts, places, spoiled
from tests.verify.machines import routines

EXAMPLES = Path(__file__).parents[2] / "examples"
LARGE = {"n_four_bar": {"n": 1}, "n_link_chain": {"n": 4}}  # arguments that keep a model small
MODELS = [p for p in EXAMPLES.glob("*.py") if "def model(" in p.read_text(encoding="utf-8")]
ALL = sorted(
    p.stem for p in MODELS if not p.stem.startswith("kane_")
)  # derivations led by hand have checks of their own


def found(name, place):
    """Is the wrong equation found, unless it cannot matter?"""
    system, eom = derived(name, **LARGE.get(name, {}))
    wrong = spoiled(eom, place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not check(system, states=2, equations=wrong, backend="python", run=False).passed:
                return True
        except bc.BellcrankError:
            return True  # no state could be used at all
        return not acts(system, eom, wrong)


def sampled(name, count):
    """Equations spread over the program."""
    listed = places(derived(name, **LARGE.get(name, {}))[1].program)
    return [listed[i * len(listed) // count] for i in range(count)] if len(listed) > count else listed


SAMPLED = {"four_bar": 8, "rolling_coin": 5, "cart": 3, "slider_crank": 4, "sarrus_linkage": 2, "double_pendulum": 4}


@pytest.mark.parametrize("name", SAMPLED)
def test_wrong_equations_are_found(name):
    listed = sampled(name, SAMPLED[name])
    assert len(listed) >= SAMPLED[name]
    assert [place for place in listed if not found(name, place)] == []


def test_every_constraint_and_every_slope_of_the_four_bar():
    program = derived("four_bar")[1].program
    listed = [p for p in places(program) if p[:2] == ("closure", "result")]
    assert len(listed) == 2 + 6 + 2 + 6  # g, dg/dq, v, dv/du
    assert [place for place in listed if not found("four_bar", place)] == []


def test_every_wrong_equation_around_external_routines_and_tables_is_found():
    """Parameters that routines give, values kept over a run or a step, one that remembers, the echo, and the arguments of all calls."""
    system = routines()
    eom = system.equations()
    assert {"start", "update", "entry", "echo"} <= set(eom.program.functions)
    listed = [p for p in places(eom.program) if p[0] != "derivatives" or p[1] == "statement"]
    assert len(listed) > 25
    missed = [
        p for p in listed if check(system, states=1, equations=spoiled(eom, p), backend="python", run=False).passed
    ]
    assert missed == []


MOST = 60  # wrong equations of one model in the campaign: all of a small one, spread over a large one


@pytest.mark.campaign
@pytest.mark.parametrize("name", [n for n in ALL if n != "driven_car"])  # large; tests/library spoils its tyre
def test_wrong_equations_of_every_example_are_found(name):
    assert [place for place in sampled(name, MOST) if not found(name, place)] == []


@pytest.mark.campaign
@pytest.mark.parametrize("name", ALL)
def test_every_example_passes(name):
    system, eom = derived(name, **LARGE.get(name, {}))
    report = check(system, equations=eom)
    assert report.passed, str(report)
