"""Thousands of mutated decks and formulas end in a result or a clear error: no traceback, no hang.
All are seeded."""

import random
import warnings
from collections import Counter

import numpy as np
import pytest
from deck_cases import EXAMPLES, NAMES, deck
from mutations import mutated_deck, mutated_formula, no_longer_than, tokens

import bellcrank as bc

QUICK = ("cart", "passenger_car", "passenger_car_small")
LONGEST = 120  # s, for the slowest of them on a busy machine
FORMULAS = (
    "-k*(q(1) - a0) - d*u(1)",
    "ca1*alpha + cg1*ccoef1*q(1)",
    "dot(vel(b.cm), [n1])*k - 3.5e2*sin(q(b) + 0.1)**2",
    "-(k3*(q(2) - brot) + k4*qp(2) + g*((mc + md)*q(1) + md*l5)*sin(q(2)))",
    "where(u(1) > 0, f0*atan2(u(1), v0), -abs(q(2))*k)",
    "k*angle([n1], [b1], [n3]) + magnitude(cross(rot(c), pos(c.origin)))*d",
    "min(k*q(1), f0, sqrt(k*f0)*exp(-t/t0)) + f0*max(0, log(1 + (q(1)/a0)**2))",
    "partial(q(1)**3*k, q(1)) + p*nominal(dot(pos(c.cm), [n1])) + l*fm(spring)",
    "dot(direction(project([b2], [n3])), dxdt(vel(c.cm)))",
)


def stub(count):
    """A user function with constant results."""
    return lambda *arguments: (0.1,) * count if count else 0.1


def result_of(text):
    """What becomes of a deck: read, derived, and run for two steps."""
    try:
        system = deck(text).system()
        equations = system.equations(optimise="none")
        external = {e.name: stub(len(e.returns)) for e in system.description.externals}
        return (
            equations.compile(backend="python", external=external)
            .simulate(t_end=0.02, step=0.01, method="rk2")
            .ended
        )
    except bc.InternalError:
        raise
    except bc.BellcrankError as error:
        assert str(error).strip()
        return type(error).__name__


def fuzz_decks(count, seed, names):
    rng = random.Random(seed)
    decks = {
        name: (EXAMPLES / "decks" / f"{name}.lsp").read_text(encoding="utf-8") for name in names
    }
    words = {name: tokens(text) for name, text in decks.items()}
    seen = Counter()
    for i in range(count):
        name = rng.choice(names)
        text = mutated_deck(decks[name], words[name], rng)
        with warnings.catch_warnings(), no_longer_than(LONGEST):
            warnings.simplefilter("ignore", bc.ModelWarning)
            try:
                seen[result_of(text).split(" ")[0]] += 1
            except BaseException as error:
                error.add_note(f"deck number {i}, made of {name}:\n{text}")
                raise
    return seen


def machine(formula):
    """A small machine in which a formula is magnitude, output and definition."""
    s = bc.System("fuzz")
    b = s.add_body("b", rotate=3, cm=("l", 0, 0), mass="m", inertia=("i", "i", "i"))
    c = s.add_body(
        "c",
        parent=b,
        rotate=1,
        joint_at=("l", 0, 0),
        cm=(0, "l", 0),
        mass="m",
        inertia=("i", "i", "i"),
    )
    s.add_force("spring", magnitude="-ks*(x - xs)", direction="[n1]", at=c.cm)
    s.define("alpha", "q(2) - 0.1")
    s.add_moment("load", magnitude=formula, direction=b[3], on=c, against=b)
    s.add_output("y", formula)
    return s


def result_of_formula(formula):
    try:
        equations = machine(formula).equations(optimise="none")
        given = dict.fromkeys(equations.parameters, 0.7)
        return (
            equations.compile(backend="python")
            .simulate(t_end=0.02, step=0.01, method="rk2", parameters=given)
            .ended
        )
    except bc.InternalError:
        raise
    except bc.BellcrankError as error:
        assert str(error).strip()
        return type(error).__name__


def fuzz_formulas(count, seed):
    rng = random.Random(seed)
    seen = Counter()
    for i in range(count):
        text = mutated_formula(rng.choice(FORMULAS), rng, rng.choice((1, 1, 2, 4)))
        with warnings.catch_warnings(), no_longer_than(LONGEST):
            warnings.simplefilter("ignore", bc.ModelWarning)
            try:
                seen[result_of_formula(text).split(" ")[0]] += 1
            except BaseException as error:
                error.add_note(f"formula number {i}: {text!r}")
                raise
    return seen


@pytest.mark.campaign
def test_mutated_decks():
    seen = fuzz_decks(100, 1990, QUICK)
    assert seen["finished"] > 5 and seen["ModelError"] + seen["ExpressionError"] > 25


@pytest.mark.campaign
def test_mutated_formulas():
    seen = fuzz_formulas(50, 1990)  # a million are in the campaign
    assert seen["finished"] > 1 and seen["ModelError"] > 20


@pytest.mark.filterwarnings("ignore:.*does no work:bellcrank.ModelWarning")
def test_powers_of_negative_numbers_have_no_value_and_are_named():
    """In Python (-0.1)**0.7 is a complex number; in a run it has no value."""
    sim = machine("kk*(q(1) - 1)**0.7").equations().compile(backend="python")
    with pytest.warns(
        bc.ModelWarning, match="output 'y' is not finite at t = 0 s and 2 more times: nan"
    ):
        run = sim.simulate(
            t_end=0.02, step=0.01, parameters={x.name: 0.7 for x in sim.interface.parameters}
        )
    assert np.isnan(run["y"]).all()


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(3))  # tests/core/files/test_fuzz.py has the million
def test_a_thousand_mutated_decks(seed):
    fuzz_decks(350, seed, NAMES)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(10))
def test_thousands_of_mutated_formulas(seed):
    fuzz_formulas(350, seed)
