"""The same expression comes out in every process; equal values have equal fingerprints."""

import os
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    NamedSubexpression,
    Number,
    Symbol,
    add,
    apply_builtin,
    cos,
    expand,
    mul,
    neg,
    power,
    sin,
    sqrt,
)
from bellcrank.symbolic.expr.node import PRIME, power_residue
from tests.symbolic.expr.formulas import build, polynomials

a, b, c = (Symbol(n) for n in "abc")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")

SCRIPT = """
import random, sys
from bellcrank.symbolic.expr import Symbol, add, apply_builtin, cos, dump_nodes, expand, mul, partial, sin, sqrt
names = [f"p{i}" for i in range(12)]
states = [f"q{i}" for i in range(12)]
made = {n: Symbol(n) for n in random.Random(sys.argv[1]).sample(names, 12)}
made.update({n: Symbol(n, "coordinate") for n in random.Random(sys.argv[1]).sample(states, 12)})
P, Q = [made[n] for n in names], [made[n] for n in states]
e = add(*{p * sin(q) * (p + cos(q)) for p, q in zip(P, Q)})
f = mul(*{add(*{P[i], Q[j], sin(Q[i] + P[j])}) for i in range(4) for j in range(4)})
g = apply_builtin("min", *{q * p for p, q in zip(P, Q)})
for x in (e, f, g, partial(f, Q[1]), expand((e + P[0]) * (P[1] + Q[2])), sqrt(1 + e * e)):
    print(x)
    print(dump_nodes([x]))
"""


def printed(seed, order):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, order],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return done.stdout


@pytest.mark.campaign
def test_order_does_not_depend_on_the_process():
    one = printed("1", "a")
    assert one == printed("2", "b")
    assert len(one) > 1000


EQUAL = [
    ((a + b) ** 2, a**2 + 2 * a * b + b**2),
    (x * (a + b) - b * x, a * x),
    ((x**2 - y**2) / (x - y), x + y),
    (1 / a + 1 / b, (a + b) / (a * b)),
    ((sin(x) + cos(x)) ** 2, 1 + 2 * sin(x) * cos(x)),
    (apply_builtin("tan", x) * cos(x), sin(x)),
    (1 + apply_builtin("tan", x) ** 2, 1 / cos(x) ** 2),
    (sin((a + b) * x), sin(expand(x * (a + b)))),
    (sin(NamedSubexpression(x - y)), -sin(NamedSubexpression(y - x))),
    (cos(NamedSubexpression(x - y)), cos(NamedSubexpression(y - x))),
    (cos(NamedSubexpression(a * x) - NamedSubexpression(expand(x * a))), Number(1)),
    (add(a * sqrt(a + x), x * sqrt(a + x)), power(a + x, Number(Fraction(3, 2)))),
    (add(a / sqrt(a + x), x / sqrt(a + x)), sqrt(a + x)),
    (2 / sqrt(Number(2)), sqrt(Number(2))),
    (sqrt(expand((a + b) * x)), sqrt((a + b) * x)),
    (apply_builtin("exp", (a + b) * x), apply_builtin("exp", expand((a + b) * x))),
    (NamedSubexpression(a + x), a + x),
]


@pytest.mark.parametrize(("one", "other"), EQUAL, ids=[str(one) for one, _ in EQUAL])
def test_equal_values_have_equal_fingerprints(one, other):
    assert one.fingerprint == other.fingerprint
    assert (2 * one).fingerprint == (2 * other).fingerprint
    assert neg(one).fingerprint == -other.fingerprint % PRIME


def test_different_values_have_different_fingerprints():
    different = [
        *(Number(n) for n in range(-3, 4)),
        *(a, b, x, y, a + b, a - b, a * b, a / b, a**2, sqrt(a), sqrt(b), sqrt(-x), 1 / sqrt(a)),
        *(
            apply_builtin(n, x)
            for n in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "abs", "sign")
        ),
        *(sin(2 * x), cos(2 * x), sin(y), sin(a), x**a, a**x),
        *(apply_builtin("atan2", x, y), apply_builtin("atan2", y, x)),
        *(
            apply_builtin("min", x, y),
            apply_builtin("max", x, y),
            apply_builtin("lt", x, y),
            apply_builtin("lt", y, x),
        ),
        *(
            apply_builtin("where", x, a, b),
            apply_builtin("where", x, b, a),
            Symbol("x"),
            Symbol("x", "speed"),
        ),
    ]
    assert len({e.fingerprint for e in different}) == len(different)


def test_fingerprints_do_not_depend_on_the_process():
    assert Symbol("fixed", "coordinate").fingerprint == 158717501028517369836369095554493488426


@settings(max_examples=100)
@given(polynomials, polynomials)
def test_fingerprint_follows_the_arithmetic(one, other):
    e, f = build(one), build(other)
    assert add(e, f).fingerprint == (e.fingerprint + f.fingerprint) % PRIME
    assert mul(e, f).fingerprint == e.fingerprint * f.fingerprint % PRIME


def test_powers_of_what_vanishes():
    """A root of zero is zero, and only what divides is rejected."""
    assert power_residue(0, Fraction(1, 2)) == power_residue(0, 3) == 0
    with pytest.raises(ModelError, match="identically zero"):
        power_residue(0, Fraction(-1, 2))
