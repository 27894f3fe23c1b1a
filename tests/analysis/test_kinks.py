"""Kinks are reported where derivatives jump, and nowhere else."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from tests.models import rarely

SMOOTH = [
    "-{k}*x - 2*v",
    "-{k}*x - 30*x**3 - v",
    "-{k}*sin(x) - 5*tanh(v)",
    "-{k}*x*sqrt(1 + x**2) - 3*v*exp(-v**2)",
]
IDLE = [
    " - 900*max(0, x - 3)",
    " - where(x > 4, 50, 0)*v",
    " - 20*(abs(x - 5) - (5 - x))",
]  # no kink near rest
KINKED = {  # law: the state whose derivative jumps
    " - 70*max(0, x - {rest})": "q",
    " - where(v > 0, 9, 3)*v": "u",
    " - 40*abs(x - {rest})": "q",
}


def chain(seed, law="", idle=""):
    """Random masses on springs in a row, in gravity or without, with outputs that are stationary at
    rest."""
    rng = np.random.default_rng(seed)
    s, n = bc.System("chain", units="mks"), int(rng.integers(1, 4))
    masses, stiff, parent = rng.uniform(0.5, 5, n), rng.uniform(20, 500, n), None
    for i in range(n):
        body = s.add_body(
            f"b{i}", translate=3, mass=float(masses[i]), **({"parent": parent} if parent else {})
        )
        text = rng.choice(SMOOTH).format(k=float(stiff[i])) + idle + (law if i == n - 1 else "")
        against = {"against": parent.origin} if parent else {}
        s.add_force(f"f{i}", magnitude=text, direction=s.inertial[3], at=body.origin, **against)
        parent = body
    if rng.random() < 0.5:
        s.add_gravity()
        s.set_defaults(g=9.81)
    s.add_outputs("energy")
    return s, n


def kinks(s, **options):
    notes = s.equations().compile(backend="python").linearize(**options).notes
    return [x for x in notes if "kink" in x]


@pytest.mark.parametrize("seed", rarely(range(40), range(1, 40)))
@pytest.mark.parametrize("idle", ["", *IDLE])
def test_random_smooth_models_have_none(seed, idle):
    s, _ = chain(seed, idle=idle)
    assert kinks(s) == [] and kinks(s, at="start") == []


@pytest.mark.parametrize("seed", rarely(range(30), range(1, 30)))
@pytest.mark.parametrize("law", KINKED)
def test_real_ones_are_named(seed, law):
    s, n = chain(seed)
    at = s.equations().compile(backend="python").equilibrium()
    s, _ = chain(seed, law.format(rest=repr(float(at[f"q(b{n - 1})"]))))
    kind = KINKED[law]
    assert kinks(s) == [
        f"the model has a kink here: derivatives with respect to {kind}(b{n - 1}) are the "
        f"means of both sides"
    ]


def test_functions_that_are_not_smooth():
    rough = {name for name, f in FUNCTIONS.items() if not f.is_smooth}
    assert rough == {
        "abs",
        "sign",
        "floor",
        "ceil",
        "mod",
        "min",
        "max",
        "where",
        "lt",
        "le",
        "gt",
        "ge",
    } & set(FUNCTIONS)
