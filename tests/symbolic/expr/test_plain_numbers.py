"""Formulas of numbers alone are numbers for Python; others are an error in a condition."""

import copy
import pickle

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError

NUMBERS = [-2, -0.5, 0, 0.1, 1, 3]


@pytest.mark.parametrize("name", ["sin", "exp", "abs", "atan", "sqrt", "cbrt", "floor"])
def test_constants_compare_convert_and_sort_as_numbers(name):
    function = getattr(bc, name)
    values = [x for x in NUMBERS if name != "sqrt" or x >= 0]
    constants = [function(x) for x in values]
    floats = [float(c) for c in constants]
    assert [float(c) for c in sorted(constants)] == sorted(floats)
    assert float(max(constants)) == max(floats) and float(min(constants)) == min(floats)
    for a, x in zip(constants, floats, strict=True):
        assert bool(a) == bool(x)
        for b, y in zip(constants, floats, strict=True):
            assert (bool(a < b), bool(a <= b), bool(a > b), bool(a >= b)) == (
                x < y,
                x <= y,
                x > y,
                x >= y,
            )
        assert bool(a < 0.2) == (x < 0.2) and bool(a > 0.2) == (x > 0.2)


def test_equality_is_identity():
    a = bc.sin(0.5)
    assert a == bc.sin(0.5) and hash(a) == hash(bc.sin(0.5)) and a != float(a)
    assert copy.deepcopy(a) is a and pickle.loads(pickle.dumps(a)) is a


def formulas():
    s = bc.System("conditions")
    rod = s.add_body("rod", rotate=3)
    length = s.add_parameter("length", 1)
    return [length, rod.q[1], 2 * length, length + 1, bc.sin(length), bc.sin("length"), rod.x]


@pytest.mark.parametrize("i", range(7))
def test_a_formula_in_a_condition_is_an_error(i):
    formula = formulas()[i]
    with pytest.raises(ModelError, match=r"only during a run: use bc\.where"):
        bool(formula)
    with pytest.raises(ModelError, match="only during a run"):
        bool(formula < 1)
    with pytest.raises(TypeError):
        float(formula)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: bc.sin(a),
        lambda a: bc.max(1, a),
        lambda a: a * bc.sin("length"),
        lambda a: bc.sin("length") - a,
        lambda a: bc.where(bc.sin("length") > 0, a, 1),
    ],
)
def test_an_array_in_a_formula_is_refused_at_once(make):
    with pytest.raises(ModelError, match=r"an array of shape \(2,\)"):
        make(np.array([1.0, 2.0]))
    make(np.array([1.0, 2.0])[0])
