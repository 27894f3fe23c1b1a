"""Dimensions, real units and unit systems; and the errors they raise."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.core import errors
from bellcrank.core.errors import ExpressionError, ModelError
from bellcrank.core.units import (
    ACCELERATION,
    ANGLE,
    DEGREES,
    FORCE,
    LENGTH,
    MASS,
    ONE,
    TIME,
    UNIT_SYSTEMS,
    Dimension,
    parse_dimension,
    unit_system,
)

MKS, IN_LB, FT_LB, MM_TONNE = (UNIT_SYSTEMS[name] for name in ("mks", "in-lb", "ft-lb", "mm-tonne"))
EVERY_SYSTEM = pytest.mark.parametrize(
    "system", UNIT_SYSTEMS.values(), ids=lambda system: system.name
)

exponents = st.fractions(min_value=-4, max_value=4, max_denominator=3)
dimensions = st.builds(Dimension, exponents, exponents, exponents, exponents)


# dimensions


def test_force_is_mass_times_acceleration():
    assert FORCE == Dimension(1, 1, -2, 0) == MASS * LENGTH / TIME**2
    assert len({FORCE, MASS * ACCELERATION, Dimension(1, 1, -2)}) == 1


def test_angle_counts_as_one_in_checks_only():
    assert ANGLE.same_kind(ONE) and (FORCE / ANGLE).same_kind(FORCE)
    assert ANGLE != ONE and LENGTH / LENGTH == ONE
    assert not LENGTH.same_kind(ONE)


@pytest.mark.parametrize(
    "text, dimension",
    [
        ("L/T**2", ACCELERATION),
        ("l/t^2", ACCELERATION),
        ("L*T**-2", ACCELERATION),
        ("L T-2", ACCELERATION),
        ("l*f/a", FORCE * LENGTH / ANGLE),
        ("t*L*f/a", FORCE * LENGTH * TIME / ANGLE),
        ("F-L", FORCE * LENGTH),
        ("F/(L*T)", FORCE / LENGTH / TIME),
        ("F/L*T", FORCE * TIME / LENGTH),
        ("F/L-T", FORCE / (LENGTH * TIME)),
        ("(L/T)**2", LENGTH**2 / TIME**2),
        ("F**(1/2)", FORCE ** Fraction(1, 2)),
        ("F^0.5", FORCE ** Fraction(1, 2)),
        ("1/T", ONE / TIME),
        ("m", MASS),
        ("1", ONE),
        ("-", ONE),
        (" L / T ", LENGTH / TIME),
    ],
)
def test_dimension_words(text, dimension):
    assert parse_dimension(text) == dimension


@pytest.mark.parametrize(
    "text", ["1", "L", "F", "M", "A/T", "L/T**2", "F/L", "F*L/A", "F*L*T/A", "M*L**2", "F*T/L"]
)
def test_dimension_is_printed_in_words(text):
    assert str(parse_dimension(text)) == text


@given(dimensions)
def test_printed_dimension_is_read_back(dimension):
    assert parse_dimension(str(dimension)) == dimension


@given(dimensions, dimensions, st.integers(-3, 3))
def test_dimension_algebra(a, b, n):
    assert a * b / b == a and (a * b) ** n == a**n * b**n and hash(a * b) == hash(b * a)


# unit systems


@pytest.mark.parametrize(
    "dimension, text, factor",
    [
        ("1", "-", 1),
        ("L", "in", 1),
        ("F", "lb", 1),
        ("T", "s", 1),
        ("M", "lbm", 1 / 386.2),
        ("A", "deg", 1 / 57.29577951308232),
        ("L/T", "in/s", 1),
        ("L/T**2", "g's", 386.2),
        ("A/T", "deg/s", 1 / 57.29577951308232),
        ("F/A", "lb/deg", 57.29577951308232),
        ("F/L", "lb/in", 1),
        ("F*T/L", "lb-s/in", 1),
        ("L*F", "in-lb", 1),
        ("F*L/A", "in-lb/deg", 57.29577951308232),
        ("F*L*T/A", "in-lb-s/deg", 57.29577951308232),
        ("M*L**2", "in-lb-s2", 1),
    ],
)
def test_in_lb_user_units(dimension, text, factor):
    """Sayers (1990), Table 9.1.4 and subroutines INPUT and OUTPUT of Appendix B."""
    unit = IN_LB.user_unit(parse_dimension(dimension))
    assert (unit.text, str(unit)) == (text, text)
    assert unit.factor == pytest.approx(factor, rel=1e-15)
    lower = dimension if dimension == "M" else dimension.lower()  # a lone "m" is a metre
    assert IN_LB.parse(dimension) == IN_LB.parse(lower) == unit


@given(dimensions)
def test_mks_needs_no_factors(dimension):
    assert MKS.user_unit(dimension).factor == 1.0


@pytest.mark.parametrize(
    "system, shown",
    [
        (MKS, "m N kg rad m/s2 N-m kg-m2 N-s/m N-m/rad kg/m3"),
        (FT_LB, "ft lb slug deg ft/s2 ft-lb slug-ft2 lb-s/ft ft-lb/deg slug/ft3"),
        (MM_TONNE, "mm N tonne deg mm/s2 N-mm tonne-mm2 N-s/mm N-mm/deg tonne/mm3"),
    ],
)
def test_user_units_of_other_systems(system, shown):
    words = ("L", "F", "M", "A", "L/T**2", "F*L", "M*L**2", "F*T/L", "F*L/A", "M/L**3")
    assert [system.parse(word).text for word in words] == shown.split()


def test_g_is_a_constant_of_the_system():
    assert [system.gees for system in (MKS, IN_LB, FT_LB, MM_TONNE)] == [
        9.80665,
        386.2,
        32.174,
        9806.65,
    ]
    for system in UNIT_SYSTEMS.values():
        assert system.parse("g").factor == system.parse("g's").factor == system.gees
        assert system.parse("g").dimension == ACCELERATION


def test_equation_units_are_consistent():
    assert IN_LB.equation_unit(MASS).text == "lb-s2/in"
    assert IN_LB.equation_unit(ANGLE).text == "rad"
    assert IN_LB.equation_unit(ACCELERATION).text == "in/s2"
    assert FT_LB.equation_unit(MASS).text == "slug"
    assert IN_LB.equation_unit(FORCE / ANGLE).factor == 1.0


@EVERY_SYSTEM
@given(dimension=dimensions)
def test_shown_units_are_read_back(system, dimension):
    for unit in (system.user_unit(dimension), system.equation_unit(dimension)):
        read = system.parse_unit(unit.text)
        assert read.dimension == dimension
        assert read.factor == pytest.approx(unit.factor, rel=1e-12)


@EVERY_SYSTEM
@pytest.mark.parametrize(
    "text", ["kg*m/s2", "slug-ft/s2", "J/m", "W-s/m", "MPa-mm2", "psi*in**2/lb*N"]
)
def test_forces_agree_in_every_system(system, text):
    """Apart from lbm and g's, every unit keeps its size relative to the others."""
    ratio = MKS.parse(text).factor  # newtons
    assert system.parse(text).factor == pytest.approx(ratio * system.parse("N").factor, rel=1e-14)


def test_unit_system_by_name():
    assert unit_system("IN-LB") is IN_LB and unit_system(MKS) is MKS
    with pytest.raises(
        ModelError,
        match=r"no unit system is named 'in-lbs'\. Did you mean 'in-lb'\? Systems: SI, mks, in-lb",
    ):
        unit_system("in-lbs")


# real units


@pytest.mark.parametrize(
    "text, dimension, factor",
    [
        ("N/mm", "F/L", 1000),
        ("deg", "A", math.pi / 180),
        ("°", "A", math.pi / 180),
        ("deg/s", "A/T", math.pi / 180),
        ("rad", "A", 1),
        ("rpm", "A/T", math.pi / 30),
        ("Hz", "1/T", 1),
        ("kg", "M", 1),
        ("t-mm2", "M*L**2", 1e-3),
        ("tonne", "M", 1000),
        ("lbm", "M", 0.45359237),
        ("lb", "F", 4.4482216152605),
        ("in", "L", 0.0254),
        ("ft", "L", 0.3048),
        ("mm", "L", 1e-3),
        ("m/s", "L/T", 1),
        ("m/s2", "L/T**2", 1),
        ("m s⁻²", "L/T**2", 1),
        ("g's", "L/T**2", 9.80665),
        ("gram", "M", 1e-3),
        ("s", "T", 1),
        ("sec", "T", 1),
        ("min", "T", 60),
        ("ms", "T", 1e-3),
        ("N-m", "F*L", 1),
        ("N*m", "F*L", 1),
        ("N·m", "F*L", 1),
        ("N m", "F*L", 1),
        ("Nm", "F*L", 1),
        ("kN", "F", 1000),
        ("MPa", "F/L**2", 1e6),
        ("km/h", "L/T", 1 / 3.6),
        ("mph", "L/T", 0.44704),
        ("J", "F*L", 1),
        ("W", "F*L/T", 1),
        ("lb-in", "F*L", 0.1129848290276167),
        ("in-lb-s2", "M*L**2", 0.1129848290276167),
        ("N-sec/rad/m", "F*T/L/A", 1),
        ("N/m-s", "F/L/T", 1),
        ("kg m^2", "M*L**2", 1),
        ("kg·m²", "M*L**2", 1),
        ("N*m*s", "F*L*T", 1),
        ("KG*M^2", "M*L**2", 1),
        ("RAD/S", "A/T", 1),
        ("m^(1/2)/s", "L**(1/2)/T", 1),
        ("%", "1", 0.01),
        ("counts", "1", 1),
    ],
)
def test_real_units_in_mks(text, dimension, factor):
    unit = MKS.parse(f" {text} ")
    assert unit.dimension == parse_dimension(dimension)
    assert unit.factor == pytest.approx(factor, rel=1e-14)
    assert unit.text == text


@pytest.mark.parametrize(
    "system, text, factor",
    [
        (IN_LB, "lbm", 1 / 386.2),
        (IN_LB, "lb-s2/in", 1),
        (IN_LB, "slug", 1 / 12),
        (IN_LB, "in-lb-s2", 1),
        (IN_LB, "in-lb-s/d", DEGREES),
        (IN_LB, "in/s2", 1),
        (IN_LB, "ft", 12),
        (IN_LB, "psi", 1),
        (IN_LB, "m", 1 / 0.0254),
        (FT_LB, "lbm", 1 / 32.174),
        (FT_LB, "slug", 1),
        (MM_TONNE, "kg", 1e-3),
        (MM_TONNE, "t", 1),
        (MM_TONNE, "MPa", 1),
        (MM_TONNE, "m/s2", 1000),
        (MM_TONNE, "lbm", 0.45359237e-3),
    ],
)
def test_real_units_in_other_systems(system, text, factor):
    assert system.parse_unit(text).factor == pytest.approx(factor, rel=1e-14)


def test_lone_dimension_words_are_not_units():
    assert MKS.parse("M").dimension == MASS
    assert MKS.parse("t").dimension == TIME
    assert MKS.parse("m*l**2").dimension == MASS * LENGTH**2
    assert MKS.parse("m/t").dimension == MASS / TIME
    assert (
        MKS.parse("metre").dimension
        == MKS.parse_unit("m").dimension
        == MKS.parse_unit("M").dimension
        == LENGTH
    )
    assert MKS.parse("tonne").dimension == MKS.parse_unit("t").dimension == MASS


@pytest.mark.parametrize(
    ("text", "power"), [("m", 1), ("m2", 2), ("m**2", 2), ("1/m", -1), ("m-m/m", 1)]
)
def test_a_lone_m_is_a_metre(text, power):
    unit = IN_LB.parse(text)
    assert (unit.dimension, unit.text) == (LENGTH**power, text)
    assert unit.factor == pytest.approx(0.0254**-power, rel=1e-15)


def test_values_pass_the_boundary_and_come_back():
    stiffness = IN_LB.parse("F/A")
    assert stiffness.to_equation_units(-444.0) == -444.0 * 57.29577951308232
    assert IN_LB.parse("M").to_equation_units(3831.0) == pytest.approx(3831.0 / 386.2, rel=1e-15)
    assert IN_LB.parse("L/T**2").from_equation_units(386.2) == 1.0
    turns = IN_LB.parse("deg").to_equation_units(np.array([180.0, 90.0]))
    np.testing.assert_allclose(turns, [math.pi, math.pi / 2], rtol=1e-15)
    np.testing.assert_allclose(
        IN_LB.parse("deg").from_equation_units(turns), [180.0, 90.0], rtol=1e-15
    )


# bad input


@pytest.mark.parametrize(
    "text, position, message",
    [
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("N/", 2, "expected a unit"),
        ("N/Mm", 2, "no unit is named 'Mm'. Did you mean 'mm'?"),
        ("N/mmm", 2, "Did you mean 'mm'?"),
        ("Kg", 0, "Did you mean 'kg'?"),
        ("hz", 0, "Did you mean 'Hz'?"),
        ("N*furlong", 2, "dimensions: words over L F M T A and 1"),
        ("N*L", 2, "the dimension word 'L' stands among real units"),
        ("kg/T", 3, "the dimension word 'T' stands among real units"),
        ("/s", 0, 'as in "1/s"'),
        ("2*N", 0, "the only number"),
        ("s -1", 3, "write a power as s**-1"),
        ("N**", 1, "expected a power"),
        ("N**(1/0)", 1, "denominator 0"),
        ("(N*m", 4, "expected ')'"),
        ("N)", 1, "expected '*'"),
        ("N$m", 1, "units have no '$'"),
        ("L**100", 1, "up to 99"),
        ("(L**50)**2", 7, "up to 99"),
        ("km/(%**99-%**99)", 0, "too large or too small"),
        ("%**-99/%**99", 0, "too large or too small"),
        ("(" * 10_000, 100, "100 characters"),
        ("__import__('os')", 0, "units have no '_'"),
    ],
)
def test_bad_units_say_where_and_what_is_allowed(text, position, message):
    with pytest.raises(ExpressionError) as caught:
        MKS.parse(text)
    assert (caught.value.text, caught.value.position) == (text, position)
    assert message in str(caught.value)


def test_bad_dimension_lists_the_words():
    with pytest.raises(
        ExpressionError, match=r"'N' is not a dimension\. Dimensions are words over L \(length\)"
    ):
        parse_dimension("N/L")


def test_units_must_be_text():
    with pytest.raises(ModelError, match="units are given as text"):
        MKS.parse(3)


@given(st.text(alphabet="LFMTAlmtgsN1 2-*/^().'", max_size=12))
def test_any_text_is_read_or_refused(text):
    try:
        unit = IN_LB.parse(text)
    except ExpressionError as error:
        assert 0 <= error.position <= len(text)
    else:
        assert 0 < unit.factor < math.inf


# errors


def test_problems_are_numbered_under_the_model():
    error = ModelError(
        ["no body 'uper'.\nDid you mean 'upper'?", "mass of 'x' is -1 kg."], "wishbone"
    )
    assert str(error) == (
        "model 'wishbone' has 2 problems\n  1. no body 'uper'.\n     Did you mean "
        "'upper'?\n  2. mass of 'x' is -1 kg."
    )
    assert error.problems[1] == "mass of 'x' is -1 kg."
    assert str(ModelError("one thing", "m")) == "model 'm' has 1 problem\n  1. one thing"
    assert str(ModelError("one thing")) == "one thing"
    assert str(ModelError(["a", "b"])) == "the model has 2 problems\n  1. a\n  2. b"


def test_caret_stands_under_the_character():
    assert (
        str(ExpressionError("odd\nallowed: x", "a + $b", 4)) == "odd\n  a + $b\n      ^\nallowed: x"
    )
    assert str(ExpressionError("odd", "first\n\tab", 8)) == "odd\n  \tab\n  \t ^"
    shown, caret = str(ExpressionError("odd", "x" * 300 + "$" + "y" * 300, 300)).splitlines()[1:]
    assert shown[caret.index("^")] == "$" and len(shown) < 120
    assert str(ExpressionError("odd", "a $", 2, "car")).splitlines()[2:] == [
        "       a $",
        "         ^",
    ]


@pytest.mark.parametrize(
    "error",
    [
        ModelError(["a", "b"], "m"),
        ExpressionError("odd", "a $", 2, "m"),
        errors.BuildError("no compiler"),
        errors.RunError("stopped at t = 2 s"),
        errors.InternalError("lost a node"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and vars(copy) == vars(error)
    assert isinstance(copy, errors.BellcrankError)


def test_internal_error_says_it_is_ours():
    assert "fault in Bellcrank, not in your model" in str(errors.InternalError("lost a node"))


def test_near_names():
    bodies = ["ground", "lower_arm", "Upper_Arm", "upright"]
    assert errors.close_matches("uper_arm", bodies)[0] == "Upper_Arm"
    assert errors.did_you_mean("UPRIGHT", bodies) == " Did you mean 'upright'?"
    assert errors.did_you_mean("zzz", bodies) == ""
