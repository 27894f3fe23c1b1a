"""The functions of the model language: one record each, and nothing that depends on expressions.

Everything that must know which functions there are (reading, algebra, derivatives, dimensions,
values, every printer) asks this table, so that a function is added here alone, with a rule of its
own in `verify.function_rules`, which shares nothing with the derivation on purpose. Identities that
hold for one function only (sin^2 + cos^2, atan2) stand in `construct` and `functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from operator import ge, gt, le, lt

Rational = int | Fraction


@dataclass(frozen=True)
class FunctionTranslation:
    """A function in a language: its name or a pattern with {0}, and a helper that defines it where
    it is missing."""

    name: str
    helper: str = ""


@dataclass(frozen=True, kw_only=True)
class MathFunction:
    """What is known of one function.

    `arguments` names them; "..." says that there may be more. `value` is defined everywhere: what
    does not exist is nan, what is too large inf, as in compiled code; `exact` is the value for
    rational numbers, where it is rational.
    `slopes` are the partial derivatives, as text over the arguments and `f`, the function itself.

    `dimension` is read from left to right: "A -> 1" takes an angle and gives a pure number, "x, x
    -> x" takes two quantities of one kind and gives another of it, "?" is anything. If the result
    is x, the function grows with those arguments: its small order is theirs.

    A `macro` is only an abbreviation of `in_terms`, by which it is replaced when it is read.
    """

    name: str
    arguments: str = "x"
    operator: str = ""  # it is written between its arguments, not called
    value: Callable[..., float]
    exact: Callable[..., Rational] | None = None
    slopes: tuple[str, ...] = ()
    dimension: str = "1 -> 1"
    # facts for the algebra
    odd: bool = False
    even: bool = False
    symmetric: bool = False  # the order of the arguments does not matter
    never_negative: bool = False
    positive: bool = False
    inverse: str = ""  # f(inverse(x)) is x, for every x of which the inverse exists
    domain: str = ""  # where it exists, if not everywhere: positive, inside (between two numbers)
    quarter_turns: tuple[
        int | None, ...
    ] = ()  # values at 0, pi/2, pi, 3 pi/2, where they are whole
    series: tuple[Rational, ...] = ()  # coefficients of 1, x, x**2, ... for small arguments
    chooses: str = (
        ""  # the condition by which it is the last but one of its arguments, and not the last
    )
    in_terms: str = ""
    macro: bool = False
    select: bool = False  # a processor chooses or compares; nothing is called
    # text
    code: Mapping[str, FunctionTranslation] = field(
        default_factory=dict
    )  # by language, c or wasm; else the name
    syntax: bool = False  # languages have a construct for it, which their printers know
    latex: str = ""  # a head, or a pattern with #1
    mathml: str = ""
    sympy: str | None = (
        None  # its name in SymPy, if it is another one; "" if only `in_terms` exists there
    )
    numpy: str = ""  # its form for arrays in NumPy, if the name is another one

    @cached_property
    def argument_names(self) -> tuple[str, ...]:
        """The arguments by name."""
        return tuple(a.strip() for a in self.arguments.split(",") if a.strip() != "...")

    @cached_property
    def arity(self) -> int | None:
        """The number of arguments; None if there may be any, but at least one."""
        return None if self.arguments.endswith("...") else len(self.argument_names)

    def accepts_count(self, count: int) -> bool:
        """May it be called with so many arguments?"""
        return count == self.arity or (self.arity is None and count >= 1)

    def argument_count_message(self, count: int) -> str:
        """The message about a wrong number of arguments."""
        expected = "one or more" if self.arity is None else self.arity
        return (
            f"{self.name}() takes {expected} argument{'' if expected == 1 else 's'}, {count} given"
        )

    @cached_property
    def dimension_kinds(self) -> tuple[tuple[str, ...], str]:
        """Kinds of the arguments, and that of the result."""
        return parse_dimension_rule(self.dimension)

    @cached_property
    def is_smooth(self) -> bool:
        """Are its value and derivatives continuous wherever they exist?"""
        return not self.select and not any(s == "0" or "floor" in s for s in self.slopes)

    @cached_property
    def order_arguments(self) -> slice | None:
        """The arguments whose small order it has."""
        argument_kinds, result_kind = self.dimension_kinds
        return slice(argument_kinds.index("x"), None) if result_kind == "x" else None

    def translation(self, language: str) -> FunctionTranslation:
        """How the language calls it."""
        return self.code.get(language) or FunctionTranslation(self.name)


BROWSER_MATH = {  # what the object Math of browsers has
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos"),
    *("cosh", "exp", "expm1", "floor", "hypot", "log", "log10", "log1p", "log2", "max", "min"),
    *("pow", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
}


def parse_dimension_rule(rule: str) -> tuple[tuple[str, ...], str]:
    """A rule of dimensions as the kinds of arguments and that of the result."""
    argument_kinds, result_kind = rule.split(" -> ")
    return tuple(argument_kinds.split(", ")), result_kind


def _with_c_semantics(
    function: Callable[..., float], poles: Mapping[float, float] | None = None
) -> Callable[..., float]:
    """A function of Python's that gives nan, or inf at a pole and above the largest number, instead
    of an error."""

    def value(*args: float) -> float:
        try:
            return float(function(*args))
        except (ValueError, ZeroDivisionError):
            return (poles or {}).get(args[0], math.nan)
        except OverflowError:
            return math.inf

    return value


def _c_pow(x: float, n: float) -> float:
    """x ** n as the C library has it."""
    try:
        return math.pow(x, n)
    except OverflowError:
        return -math.inf if x < 0 and n % 2 == 1 else math.inf
    except ValueError:  # a pole, or the root of a negative number
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if n % 2 == 1 else math.inf


def _float_rounding(function: Callable[[float], int]) -> Callable[[float], float]:
    """floor and ceil of any number; a zero keeps the sign of the argument."""
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


def _c_sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _smooth_step(x: float, a: float, b: float) -> float:
    if a == b:
        return math.nan
    s = min(max((x - a) / (b - a), 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


def _nan_aware_min(*values: float) -> float:
    """That of one number is the number; what is not a number is not lost."""
    return next((x for x in values if x != x), min(values))


def _nan_aware_max(*values: float) -> float:
    return next((x for x in values if x != x), max(values))


def _signed_unit(x: float) -> float:
    return 1.0 if x > 0 else -1.0 if x < 0 else x + 0.0


def _wasm_instruction(name: str) -> dict[str, FunctionTranslation]:
    """A function that is one instruction of WebAssembly."""
    return {"wasm": FunctionTranslation(name)}


def _extremum_translations(name: str, test: str, c: str) -> dict[str, FunctionTranslation]:
    """The first of two if it is the one asked for or not a number, else the second, which may be
    none, either. C has a faster one, too, where it is known that the first is a number."""
    return {
        "c": FunctionTranslation(
            c,
            f"""\
static inline double {c}(double a, double b) {{ return a {test} b ? a : b; }} /* a is a number */
static inline double {c}_of_any(double a, double b) \
{{ return a != a ? a + b : a {test} b ? a : b; }}
""",
        ),
        "fortran": FunctionTranslation(
            c,
            f"""\
  pure function {c}(a, b) result(value)
    real(dp), intent(in) :: a, b
    real(dp) :: value
    value = merge(a, b, a {test} b .or. .not. a <= a)
  end function {c}
""",
        ),
        "fortran77": FunctionTranslation(name.upper()),
        "python": FunctionTranslation(
            c, f"def {c}(a, b):\n    return a if a {test} b or a != a else b\n"
        ),
        **_wasm_instruction(f"f64.{name}"),
    }


def _libm_in_fortran(name: str) -> FunctionTranslation:
    """A function of the C library for Fortran, which has none of its own."""
    return FunctionTranslation(
        f"{name}_c",
        f"""\
  pure function {name}_c(x) result(found)
    real(dp), intent(in) :: x
    real(dp) :: found
    interface
      pure function of_library(x) bind(c, name="{name}") result(found)
        use, intrinsic :: iso_c_binding, only: c_double
        real(c_double), intent(in), value :: x
        real(c_double) :: found
      end function of_library
    end interface
    found = of_library(x)
  end function {name}_c
""",
    )


def _taylor_coefficients(*coefficients: str | int) -> tuple[Rational, ...]:
    return tuple(c if isinstance(c, int) else Fraction(c) for c in coefficients)


_S = "min(max((x - a)/(b - a), 0), 1)"
_WHOLE = "def {0}(x):\n    return math.copysign(float(math.{0}(x)), x) if math.isfinite(x) else x\n"

_ALL = (
    # angles
    MathFunction(
        name="sin",
        value=_with_c_semantics(math.sin),
        slopes=("cos(x)",),
        dimension="A -> 1",
        odd=True,
        inverse="asin",
        quarter_turns=(0, 1, 0, -1),
        series=_taylor_coefficients(0, 1, 0, "-1/6", 0, "1/120", 0, "-1/5040"),
        latex=r"\sin",
    ),
    MathFunction(
        name="cos",
        value=_with_c_semantics(math.cos),
        slopes=("-sin(x)",),
        dimension="A -> 1",
        even=True,
        inverse="acos",
        quarter_turns=(1, 0, -1, 0),
        series=_taylor_coefficients(1, 0, "-1/2", 0, "1/24", 0, "-1/720"),
        latex=r"\cos",
    ),
    MathFunction(
        name="tan",
        value=_with_c_semantics(math.tan),
        slopes=("1 + f**2",),
        dimension="A -> 1",
        odd=True,
        inverse="atan",
        quarter_turns=(0, None, 0, None),
        series=_taylor_coefficients(0, 1, 0, "1/3", 0, "2/15", 0, "17/315"),
        latex=r"\tan",
    ),
    MathFunction(
        name="asin",
        value=_with_c_semantics(math.asin),
        slopes=("(1 - x**2)**(-1/2)",),
        dimension="1 -> A",
        odd=True,
        domain="inside",
        series=_taylor_coefficients(0, 1, 0, "1/6", 0, "3/40", 0, "15/336"),
        latex=r"\arcsin",
        mathml="arcsin",
        numpy="arcsin",
    ),
    MathFunction(
        name="acos",
        value=_with_c_semantics(math.acos),
        slopes=("-(1 - x**2)**(-1/2)",),
        dimension="1 -> A",
        domain="inside",
        latex=r"\arccos",
        mathml="arccos",
        numpy="arccos",
    ),
    MathFunction(
        name="atan",
        value=math.atan,
        slopes=("1/(1 + x**2)",),
        dimension="1 -> A",
        odd=True,
        series=_taylor_coefficients(0, 1, 0, "-1/3", 0, "1/5", 0, "-1/7"),
        latex=r"\arctan",
        mathml="arctan",
        numpy="arctan",
    ),
    MathFunction(
        name="atan2",
        arguments="y, x",
        value=math.atan2,
        slopes=("x/(x**2 + y**2)", "-y/(x**2 + y**2)"),
        dimension="x, x -> A",
        numpy="arctan2",
    ),
    # powers and logarithms
    MathFunction(
        name="sqrt",
        value=_with_c_semantics(math.sqrt),
        slopes=("1/(2*f)",),
        dimension="x -> x**(1/2)",
        in_terms="x**(1/2)",
        never_negative=True,
        domain="positive",
        code=_wasm_instruction("f64.sqrt"),
        latex=r"\sqrt{#1}",
        mathml="<msqrt>#1</msqrt>",
    ),
    MathFunction(
        name="exp",
        value=_with_c_semantics(math.exp),
        slopes=("f",),
        positive=True,
        inverse="log",
        series=_taylor_coefficients(1, 1, "1/2", "1/6", "1/24", "1/120"),
        latex=r"\exp",
    ),
    MathFunction(
        name="log",
        value=_with_c_semantics(math.log, {0.0: -math.inf}),
        slopes=("1/x",),
        inverse="exp",
        domain="positive",
        latex=r"\log",
    ),
    MathFunction(
        name="pow",
        arguments="b, n",
        operator="**",
        value=_c_pow,
        slopes=("n*b**(n - 1)", "f*log(b)"),
        dimension="?, 1 -> ?",
        code={"fortran": FunctionTranslation("**")},
        sympy="Pow",
        numpy="power",
    ),
    MathFunction(
        name="log10",
        value=_with_c_semantics(math.log10, {0.0: -math.inf}),
        slopes=("1/(x*log(10))",),
        latex=r"\log_{10}",
        mathml="log₁₀",
    ),
    MathFunction(
        name="log2",
        value=_with_c_semantics(math.log2, {0.0: -math.inf}),
        slopes=("1/(x*log(2))",),
        latex=r"\log_{2}",
        mathml="log₂",
        code={"fortran": _libm_in_fortran("log2")},
    ),
    MathFunction(
        name="log1p",
        value=_with_c_semantics(math.log1p, {-1.0: -math.inf}),
        slopes=("1/(1 + x)",),
        inverse="expm1",
        domain="inside",
        series=_taylor_coefficients(0, 1, "-1/2", "1/3", "-1/4", "1/5"),
        code={"fortran": _libm_in_fortran("log1p")},
    ),
    MathFunction(
        name="expm1",
        value=_with_c_semantics(math.expm1),
        slopes=("1 + f",),
        inverse="log1p",
        series=_taylor_coefficients(0, 1, "1/2", "1/6", "1/24", "1/120"),
        code={"fortran": _libm_in_fortran("expm1")},
    ),
    MathFunction(name="exp2", value=_with_c_semantics(math.exp2), in_terms="2**x", macro=True),
    MathFunction(
        name="cbrt",
        value=math.cbrt,
        slopes=("1/(3*f**2)",),
        dimension="x -> x**(1/3)",
        odd=True,
        in_terms="sign(x)*abs(x)**(1/3)",
        code={"fortran": _libm_in_fortran("cbrt")},
        latex=r"\sqrt[3]{#1}",
        mathml="<mroot>#1<mn>3</mn></mroot>",
        sympy="",
    ),
    MathFunction(
        name="hypot",
        arguments="x, y",
        value=math.hypot,
        slopes=("x/f", "y/f"),
        dimension="x, x -> x",
        symmetric=True,
        never_negative=True,
    ),
    # hyperbolic functions
    MathFunction(
        name="sinh",
        value=_c_sinh,
        slopes=("cosh(x)",),
        odd=True,
        inverse="asinh",
        series=_taylor_coefficients(0, 1, 0, "1/6", 0, "1/120", 0, "1/5040"),
        latex=r"\sinh",
    ),
    MathFunction(
        name="cosh",
        value=_with_c_semantics(math.cosh),
        slopes=("sinh(x)",),
        even=True,
        positive=True,
        inverse="acosh",
        series=_taylor_coefficients(1, 0, "1/2", 0, "1/24", 0, "1/720"),
        latex=r"\cosh",
    ),
    MathFunction(
        name="tanh",
        value=math.tanh,
        slopes=("1 - f**2",),
        odd=True,
        inverse="atanh",
        series=_taylor_coefficients(0, 1, 0, "-1/3", 0, "2/15", 0, "-17/315"),
        latex=r"\tanh",
    ),
    MathFunction(
        name="asinh",
        value=math.asinh,
        slopes=("(1 + x**2)**(-1/2)",),
        odd=True,
        inverse="sinh",
        series=_taylor_coefficients(0, 1, 0, "-1/6", 0, "3/40", 0, "-15/336"),
        latex=r"\operatorname{arsinh}",
        mathml="arsinh",
        numpy="arcsinh",
    ),
    MathFunction(
        name="acosh",
        value=_with_c_semantics(math.acosh),
        slopes=("(x**2 - 1)**(-1/2)",),
        never_negative=True,
        domain="inside",
        latex=r"\operatorname{arcosh}",
        mathml="arcosh",
        numpy="arccosh",
    ),
    MathFunction(
        name="atanh",
        value=_with_c_semantics(math.atanh, {1.0: math.inf, -1.0: -math.inf}),
        slopes=("1/(1 - x**2)",),
        odd=True,
        inverse="tanh",
        domain="inside",
        series=_taylor_coefficients(0, 1, 0, "1/3", 0, "1/5", 0, "1/7"),
        latex=r"\operatorname{artanh}",
        mathml="artanh",
        numpy="arctanh",
    ),
    # size, sign, choice
    MathFunction(
        name="abs",
        value=abs,
        exact=abs,
        slopes=("sign(x)",),
        dimension="x -> x",
        even=True,
        never_negative=True,
        select=True,
        code={"c": FunctionTranslation("fabs"), **_wasm_instruction("f64.abs")},
        latex=r"\left|#1\right|",
        mathml="<mo>|</mo>#1<mo>|</mo>",
        sympy="Abs",
    ),
    MathFunction(
        name="sign",
        value=_signed_unit,
        exact=lambda x: (x > 0) - (x < 0),
        slopes=("0",),
        dimension="? -> 1",
        odd=True,
        select=True,
        code={
            "c": FunctionTranslation(
                "sign",
                "static inline double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : a + 0; }\n",
            ),
            "fortran": FunctionTranslation(
                "signum",
                """\
  pure function signum(x) result(value)
    real(dp), intent(in) :: x
    real(dp) :: value
    value = merge(sign(1.0_dp, x), x + 0.0_dp, abs(x) > 0.0_dp)
  end function signum
""",
            ),
            "fortran77": FunctionTranslation("SIGN(MIN(1.0D0,ABS({0})*1.0D300),{0})"),
            "python": FunctionTranslation(
                "sign", "def sign(x):\n    return 1.0 if x > 0 else -1.0 if x < 0 else x + 0.0\n"
            ),
        },
    ),
    MathFunction(
        name="floor",
        value=_float_rounding(math.floor),
        exact=math.floor,
        slopes=("0",),
        code={
            "fortran": _libm_in_fortran("floor"),
            "python": FunctionTranslation("floor", _WHOLE.format("floor")),
            **_wasm_instruction("f64.floor"),
        },
        latex=r"\left\lfloor #1 \right\rfloor",
        mathml="<mo>⌊</mo>#1<mo>⌋</mo>",
    ),
    MathFunction(
        name="ceil",
        value=_float_rounding(math.ceil),
        exact=math.ceil,
        slopes=("0",),
        code={
            "fortran": _libm_in_fortran("ceil"),
            "python": FunctionTranslation("ceil", _WHOLE.format("ceil")),
            **_wasm_instruction("f64.ceil"),
        },
        latex=r"\left\lceil #1 \right\rceil",
        mathml="<mo>⌈</mo>#1<mo>⌉</mo>",
        sympy="ceiling",
    ),
    MathFunction(  # x - y*floor(x/y): the sign of y, as in Python
        name="mod",
        arguments="x, y",
        value=_with_c_semantics(lambda x, y: x % y),
        exact=lambda x, y: x % y,
        slopes=("1", "-floor(x/y)"),
        dimension="x, x -> x",
        sympy="Mod",
        code={
            "c": FunctionTranslation(
                "modulo",
                """\
static inline double modulo(double a, double b)
{
    const double rest = fmod(a, b);
    if (rest == 0)
        return copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
            ),
            "fortran": FunctionTranslation("modulo"),
            "javascript": FunctionTranslation(
                "modulo",
                """\
const modulo = (a, b) => {
  const rest = a % b;
  return rest === 0 ? (b < 0 ? -0 : 0) : rest < 0 !== b < 0 ? rest + b : rest;
};
""",
            ),
            "python": FunctionTranslation(
                "modulo", "def modulo(a, b):\n    return a % b if b else math.nan\n"
            ),
        },
    ),
    MathFunction(  # 0 up to a, 1 from b on; slope and curvature do not jump
        name="smooth_step",
        arguments="x, a, b",
        value=_smooth_step,
        dimension="x -> 1",
        in_terms=f"{_S}**3*(10 - 15*{_S} + 6*{_S}**2)",
        macro=True,
    ),
    MathFunction(
        name="min",
        arguments="a, b, ...",
        value=_nan_aware_min,
        chooses="a <= b",
        slopes=("where(a <= b, 1, 0)", "where(a <= b, 0, 1)"),
        dimension="x -> x",
        select=True,
        latex=r"\min",
        sympy="Min",
        numpy="minimum",
        code=_extremum_translations("min", "<", "smaller"),
    ),
    MathFunction(
        name="max",
        arguments="a, b, ...",
        value=_nan_aware_max,
        chooses="a >= b",
        slopes=("where(a >= b, 1, 0)", "where(a >= b, 0, 1)"),
        dimension="x -> x",
        select=True,
        latex=r"\max",
        sympy="Max",
        numpy="maximum",
        code=_extremum_translations("max", ">", "larger"),
    ),
    MathFunction(
        name="where",
        arguments="c, a, b",
        value=lambda c, a, b: a if c != 0 else b,
        chooses="c",
        slopes=("0", "where(c, 1, 0)", "where(c, 0, 1)"),
        dimension="?, x, x -> x",
        select=True,
        syntax=True,
    ),
    *(
        MathFunction(
            name=name,
            arguments="a, b",
            operator=operator,
            value=lambda a, b, test=test: float(test(a, b)),
            exact=lambda a, b, test=test: int(test(a, b)),
            slopes=("0", "0"),
            dimension="x, x -> 1",
            select=True,
            syntax=True,
            latex=latex,
            mathml=mathml,
            sympy=theirs,
            numpy=numpy,
            code=_wasm_instruction(f"f64.{name}"),
        )
        for name, operator, test, latex, mathml, theirs, numpy in (
            ("lt", "<", lt, "<", "&lt;", "StrictLessThan", "less"),
            ("le", "<=", le, r"\leq", "≤", "LessThan", "less_equal"),
            ("gt", ">", gt, ">", "&gt;", "StrictGreaterThan", "greater"),
            ("ge", ">=", ge, r"\geq", "≥", "GreaterThan", "greater_equal"),
        )
    ),
)

FUNCTIONS: Mapping[str, MathFunction] = {f.name: f for f in _ALL}
OPERATORS: Mapping[str, MathFunction] = {
    f.operator: f for f in _ALL if f.operator
}  # by how they are written
CALLED: Mapping[str, MathFunction] = {
    f.name: f for f in _ALL if not f.operator
}  # what formulas call by name
COMPARISONS: Mapping[str, MathFunction] = {f.name: f for f in _ALL if f.operator[:1] in ("<", ">")}


def function_names_in(language: str) -> dict[str, str]:
    """How a language calls the functions, by their names here."""
    return {f.name: f.translation(language).name for f in _ALL if not f.syntax and not f.macro}


def helper_sources(language: str, used_names: Container[str]) -> list[str]:
    """What a program that uses these functions must define itself."""
    return [
        f.translation(language).helper
        for f in _ALL
        if f.name in used_names and f.translation(language).helper
    ]
