"""The check fails when any one generated equation is wrong: every rate, output, constraint, slope
and intermediate result in turn."""

import warnings
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.verify.check import check
from tests.models import derived, rarely
from tests.verify.corruption import acts, places, spoiled
from tests.verify.machines import routines
from tests.verify.screen import Screen

EXAMPLES = Path(__file__).parents[2] / "examples"
LARGE = {"n_four_bar": {"n": 1}, "n_link_chain": {"n": 4}}  # arguments that keep a model small
MODELS = [p for p in EXAMPLES.glob("*.py") if "def model(" in p.read_text(encoding="utf-8")]
ALL = sorted(
    p.stem for p in MODELS if not p.stem.startswith("kane_")
)  # derivations led by hand have checks of their own
MOST = 60  # of those that are not: all of a small model, spread over a large one
SURE = 12  # of the equations that are surely found are wrong in a check itself


def refused(name, place, states=2):
    """Does the check fail with this equation wrong?"""
    system, eom = derived(name, **LARGE.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = check(
                system, states=states, equations=spoiled(eom, place), backend="python", run=False
            )
        except bc.BellcrankError:
            return True  # no state could be used at all
    return not report.passed


def found(name, place):
    """Is the wrong equation found, unless it cannot matter? By few states, or by those of a check
    as it is called."""
    system, eom = derived(name, **LARGE.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            refused(name, place)
            or not acts(system, eom, spoiled(eom, place))
            or refused(name, place, 20)
        )


def sampled(name, count):
    """Equations spread over the program."""
    return spread(places(derived(name, **LARGE.get(name, {}))[1].program), count)


def spread(listed, count):
    return (
        [listed[i * len(listed) // count] for i in range(count)] if len(listed) > count else listed
    )


SAMPLED = {
    "four_bar": 6,
    "rolling_coin": 3,
    "slider_crank": 3,
    "sarrus_linkage": 2,
    "double_pendulum": 2,
}


@pytest.mark.parametrize("name", rarely(SAMPLED, ("sarrus_linkage", "four_bar")))
def test_wrong_equations_are_found(name):
    listed = sampled(name, SAMPLED[name])
    assert len(listed) >= SAMPLED[name]
    assert [place for place in listed if not found(name, place)] == []


@pytest.mark.campaign
def test_every_constraint_and_every_slope_of_the_four_bar():
    program = derived("four_bar")[1].program
    listed = [p for p in places(program) if p[:2] == ("closure", "result")]
    assert len(listed) == 2 + 6 + 2 + 6  # g, dg/dq, v, dv/du
    assert [place for place in listed if not found("four_bar", place)] == []


@pytest.mark.campaign
def test_every_wrong_equation_around_external_routines_and_tables_is_found():
    """Parameters that routines give, values kept over a run or a step, one that remembers, the
    echo, and the arguments of all calls."""
    system = routines()
    eom = system.equations()
    assert {"start", "update", "entry", "echo"} <= set(eom.program.functions)
    listed = [p for p in places(eom.program) if p[0] != "derivatives" or p[1] == "statement"]
    assert len(listed) > 25
    missed = [
        p
        for p in listed
        if check(system, states=1, equations=spoiled(eom, p), backend="python", run=False).passed
    ]
    assert missed == []


@pytest.mark.campaign
@pytest.mark.parametrize(
    "name", [n for n in ALL if n != "driven_car"]
)  # large; tests/vehicles spoils its tyre
def test_wrong_equations_of_every_example_are_found(name):
    system, eom = derived(name, **LARGE.get(name, {}))
    screen = None if eom.analysis.mechanism.orders else Screen(system, eom)
    listed = places(eom.program)
    sure = {place for place in listed if screen is not None and screen.refuses(place)}
    assert [
        place
        for place in spread([p for p in listed if p not in sure], MOST)
        if not found(name, place)
    ] == []
    assert [
        place
        for place in spread([p for p in listed if p in sure], SURE)
        if not refused(name, place)
    ] == []


@pytest.mark.parametrize("name", rarely(["double_pendulum", "four_bar"], ["four_bar"]))
def test_the_screen_is_not_easier_than_the_check(name):
    """It lets the right equations pass; wrong ones that it rejects are rejected by the check."""
    system, eom = derived(name)
    screen = Screen(system, eom)
    assert not screen.refuses(None)
    sure = [place for place in places(eom.program) if screen.refuses(place)]
    assert len(sure) > 20
    assert [place for place in sure[7::20] if not refused(name, place)] == []


@pytest.mark.campaign
@pytest.mark.parametrize("name", ALL)
def test_every_example_passes(name):
    system, eom = derived(name, **LARGE.get(name, {}))
    report = check(system, equations=eom)
    assert report.passed, str(report)
