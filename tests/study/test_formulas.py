"""Numbers that depend on others."""

import math

import pytest

from bellcrank.core.errors import ModelError
from bellcrank.study.study_formulas import FormulaValues, names_in_formula


def test_formulas_are_computed():
    names = FormulaValues({"K": 4.0, "m": "k/4", "w": "sqrt(k/m)", "c": "2*zeta*m*w", "zeta": 0.5})
    assert (names["m"], names["w"], names["C"]) == (1.0, 2.0, 2.0)
    assert names.number("-k**2 + pi*min(1, 2) - where(k > 3, 1, 0)", "x") == pytest.approx(
        math.pi - 17
    )
    assert names_in_formula("2*a.b + sin(C)") == {"a.b", "C"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": "b", "b": "a + 1"}, "in a circle: a -> b -> a"),
        ({"a": "1/0"}, "not a finite number"),
        ({"a": "sqrt(-1)"}, "not a finite number"),
        ({"a": "bb", "b": 1.0}, "no value is given for 'bb'"),
        ({"a": "__import__(1)"}, "no function '__import__'"),
        ({"a": "sin(1, 2)"}, "takes 1 argument, 2 given"),
        ({"a": "exp(10000)"}, "not a finite number"),
    ],
)
def test_what_cannot_be_computed(given, message):
    with pytest.raises(ModelError, match=message):
        FormulaValues(given)["a"]
