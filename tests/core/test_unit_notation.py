"""Units in the notation of others: the grammar of Modelica's unit expressions, and the same
quantity in both."""

import re

import pytest

from bellcrank.core.unit_notation import modelica_unit, typeset_unit
from bellcrank.core.units import ANGLE, FORCE, LENGTH, MASS, ONE, TIME, UNIT_SYSTEMS
from tests.modelica import is_unit

BY_HAND = {
    "N-m": ("N.m", "N·m"),
    "kg-m2": ("kg.m2", "kg·m²"),
    "rad/N/m": ("rad/(N.m)", "rad/(N·m)"),
    "N-m/s": ("W", "W"),
    "N/m2": ("Pa", "N/m²"),
    "m/s2": ("m/s2", "m/s²"),
    "Nm/rad": ("N.m/rad", "N·m/rad"),
    "N/m-s": ("N/(m.s)", "N/(m·s)"),
    "s**-2": ("1/s2", "1/s²"),
    "-": ("1", "-"),
    "1": ("1", "1"),
    "deg": ("deg", "deg"),
    "g's": ("g_n", "g"),
    "lb-s2/in": ("lbf.s2/in", "lb·s²/in"),
    "KG": ("kg", "kg"),
    "%": ("percent", "%"),
    "km/h/s": ("km/(h.s)", "km/(h·s)"),
}


@pytest.mark.parametrize("text", BY_HAND)
def test_notations_by_hand(text):
    assert (modelica_unit(text), typeset_unit(text)) == BY_HAND[text]
    assert is_unit(modelica_unit(text))


@pytest.mark.parametrize("system", UNIT_SYSTEMS)
def test_units_of_all_systems_follow_the_grammar(system):
    """Products of powers as models have them, in equation units and in user units."""
    bases, units = (ONE, LENGTH, MASS, FORCE, FORCE * LENGTH, ANGLE), UNIT_SYSTEMS[system]
    seen = set()
    for above in bases:
        for below in (*bases, TIME, TIME**2, LENGTH * TIME, ANGLE * TIME):
            for unit in (units.equation_unit(above / below), units.user_unit(above / below)):
                seen.add(modelica_unit(unit.text))
                assert is_unit(modelica_unit(unit.text)), unit.text
                shown = typeset_unit(unit.text)
                assert not re.search(r"[a-z]-|\d", shown.replace("1/", "")), (
                    shown
                )  # no hyphen, no digit on the line
                if system == "mks":  # it is read back as the same unit
                    again = units.parse_unit(shown)
                    assert (again.dimension, again.factor) == (above / below, 1.0)
    assert len(seen) > 30


def test_what_the_grammar_has_no_word_for():
    assert modelica_unit("m^(1/2)") is None
    assert typeset_unit("m^(1/2)") == "m^(1/2)" and typeset_unit("?") == "?"
    assert typeset_unit("deg/100 N-m") == "deg/100 N·m"
    assert typeset_unit("N-m/(m/s2)") == "N·m/(m/s²)" and typeset_unit("deg/s/deg") == "deg/s/deg"


@pytest.mark.parametrize(
    "text", ["N-m", "rad/N/m", "N·m", "m/s²", "g's", "m^2", "N*m", "/s", "kg.", "(m", "%", "m1/2"]
)
def test_the_grammar_refuses_other_notations(text):
    assert not is_unit(text)
