"""Functions in simplest form: inverse functions cancel, numbers are folded, small arguments become
series.

Sayers (1990), table 5.3.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.symbolic.expr.construct import (
    absolute,
    add,
    common_factors,
    div,
    expression,
    mul,
    neg,
    power,
    product_of_factors,
    split_coefficient,
    sub,
    term_factors,
)
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, parse_formula
from bellcrank.symbolic.expr.function_table import COMPARISONS, FUNCTIONS, OPERATORS, MathFunction
from bellcrank.symbolic.expr.node import (
    NEVER_NEGATIVE,
    PI,
    POSITIVE,
    ZERO,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Rational,
    Sum,
    Symbol,
    abs_rational,
    sign_of_power,
    to_rational,
)


def apply_builtin(name: str, *args: Expr) -> Expr:
    """A built-in function in simplest form."""
    rule = _RULES.get(name)
    if rule is not None:
        return rule(*args)
    builtin = FUNCTIONS.get(name)
    if builtin is None:
        raise ModelError(f"'{name}' is not a built-in function.{did_you_mean(name, FUNCTIONS)}")
    if len(args) != builtin.arity:
        raise ModelError(builtin.argument_count_message(len(args)))
    if builtin.macro:
        return compile_rule(builtin.in_terms, builtin.argument_names)(*args)
    if len(args) == 1:
        return _simplify_unary(builtin, args[0])
    if all(a.__class__ is Number for a in args):
        return _fold_numbers(builtin, *args)
    return Func(name, tuple(sorted(args, key=lambda a: a.sort)) if builtin.symmetric else args)


def _simplify_unary(builtin: MathFunction, x: Expr) -> Expr:
    if x.order > 0 and builtin.series:
        return _taylor_series(builtin, x)
    inner = x.definition if x.__class__ is NamedSubexpression else x
    if (
        inner.__class__ is Func
        and inner.name == builtin.inverse
        and inner.function is None
        and _is_defined_everywhere(inner)
    ):
        return inner.args[0]
    c, core = split_coefficient(x)
    if c < 0 and (builtin.odd or builtin.even):
        mirrored = _simplify_unary(builtin, neg(x))
        return neg(mirrored) if builtin.odd else mirrored
    if x.__class__ is Number:
        return _fold_numbers(builtin, x)
    if builtin.quarter_turns and core is PI and Fraction(2 * c).denominator == 1:
        folded = builtin.quarter_turns[int(2 * c) % 4]
        if folded is not None:
            return Number(folded)
    return Func(builtin.name, (x,))


def _is_defined_everywhere(inner: Func) -> bool:
    """Is a function defined whatever the value of its argument may be?"""
    domain = FUNCTIONS[inner.name].domain
    return not domain or (domain == "positive" and inner.args[0].sign >= NEVER_NEGATIVE)


def _fold_numbers(builtin: MathFunction, *args: Expr) -> Expr:
    values = [a.value for a in args if isinstance(a, Number)]
    try:
        result = (
            builtin.exact(*values)
            if builtin.exact is not None
            else builtin.value(*map(float, values))
        )
    except OverflowError:
        result = math.inf
    except ZeroDivisionError:
        result = math.nan
    if result != result or result == -math.inf:
        raise ModelError(f"{builtin.name}({', '.join(map(str, values))}) is not defined")
    if result == math.inf:
        raise ModelError(f"{builtin.name}({', '.join(map(str, values))}) is too large a number")
    return Number(to_rational(result))


def _taylor_series(builtin: MathFunction, x: Expr) -> Expr:
    """Truncated Taylor series for a small argument."""
    return add(
        *(mul(Number(c), power(x, Number(k))) for k, c in enumerate(builtin.series) if c != 0)
    )


CREATORS: dict[str, Callable[..., Expr]] = {"+": add, "-": sub, "*": mul, "/": div, "**": power}


@cache
def compile_rule(text: str, names: tuple[str, ...]) -> Callable[..., Expr]:
    """The expression that a text of the function table stands for, as a function of what its names
    stand for."""
    build = _compile_rule_node(parse_formula(text), names)
    return lambda *args: build(args)


def _compile_rule_node(
    node: SyntaxNode, names: tuple[str, ...]
) -> Callable[[tuple[Expr, ...]], Expr]:
    operands = [_compile_rule_node(c, names) for c in node.children]
    match node.op:
        case "number":
            number = Number(to_rational(node.args[0]))
            return lambda args: number
        case "name" if node.args[0] == PI.name and PI.name not in names:
            return lambda args: PI
        case "name":
            index = names.index(node.args[0])
            return lambda args: args[index]
        case "neg":
            return lambda args: neg(operands[0](args))
    function_name = (
        node.args[0]
        if node.op == "call"
        else OPERATORS[node.op].name
        if node.op in OPERATORS
        else ""
    )
    create = CREATORS.get(node.op) or partial(apply_builtin, function_name)
    return lambda args: create(*[p(args) for p in operands])


def _simplify_sign(x: Expr) -> Expr:
    c, core = split_coefficient(x)
    return _simplify_unary(
        FUNCTIONS["sign"], x if c == 1 or x.__class__ is Number else core if c > 0 else neg(core)
    )


def _simplify_atan2(y: Expr, x: Expr) -> Expr:
    """Angle of the point (x, y); factors that are known to be positive are cancelled."""
    (cy, core_y), (cx, core_x) = split_coefficient(y), split_coefficient(x)
    if y is ZERO and core_x.sign >= NEVER_NEGATIVE:
        return PI if cx < 0 else ZERO
    common = {
        b: p for b, p in common_factors((core_y, core_x)).items() if sign_of_power(b, p) == POSITIVE
    }
    if common or abs(cx) == abs(cy) != 1:
        g = (
            mul(Number(abs_rational(cx)), product_of_factors(1, common))
            if abs(cx) == abs(cy)
            else product_of_factors(1, common)
        )
        return _simplify_atan2(div(y, g), div(x, g))
    if y.order > x.order and _is_small_angle(x):
        return _taylor_series(FUNCTIONS["atan"], div(y, x))
    if y.__class__ is Number and x.__class__ is Number:
        return Number(to_rational(math.atan2(y.value, x.value)))
    if cy < 0:
        return neg(Func("atan2", (neg(y), x)))
    return Func("atan2", (y, x))


def _is_small_angle(x: Expr) -> bool:
    """Is the angle of a point whose y is small compared with x a small one? It is where the terms
    that count in x are positive: known to be, or parameters, speeds and large quantities, which
    small variables are small compared with."""
    c, core = split_coefficient(x)
    terms = core.terms if core.__class__ is Sum else ((core, 1),)
    leading = [(e, k) for e, k in terms if e.order == core.order]
    return all(
        k * c > 0 and all(_counts_as_positive(b, p) for b, p in term_factors(e)) for e, k in leading
    )


def _counts_as_positive(base: Expr, exponent: Rational) -> bool:
    is_simple = base.__class__ is Symbol and (
        base.constant or base.kind == "speed" or base.order < 0
    )
    return is_simple or sign_of_power(base, exponent) == POSITIVE


def _simplify_extremum(name: str, *args: Expr) -> Expr:
    """The least or greatest of the arguments: repeated ones once, numbers first, the others in
    canonical order."""
    if not args:
        raise ModelError(f"{name}() needs at least one argument")
    distinct: dict[Expr, None] = {}
    numbers: list[Rational] = []
    pending = list(args)
    while pending:
        a = pending.pop()
        if a.__class__ is Number:
            numbers.append(a.value)
        elif a.__class__ is Func and a.name == name and a.function is None:
            pending.extend(a.args)
        else:
            distinct[a] = None
    operands = sorted(distinct, key=lambda a: a.sort)
    if numbers:
        operands.insert(0, Number(min(numbers) if name == "min" else max(numbers)))
    result = operands[0]
    for operand in operands[1:]:
        result = Func(name, (result, operand))
    return result


def _simplify_comparison(name: str, a: Expr, b: Expr) -> Expr:
    comparison = COMPARISONS[name]
    if a.__class__ is Number and b.__class__ is Number:
        return _fold_numbers(comparison, a, b)
    if a is b:
        return _fold_numbers(comparison, ZERO, ZERO)
    if a.sort < b.sort:  # the simpler one stands on the right: x > 0
        return Func(OPERATORS[comparison.operator.translate(_MIRROR)].name, (b, a))
    return Func(name, (a, b))


def _simplify_where(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """`yes` where the condition holds (a comparison, or a value that is not zero), else `no`."""
    if yes is no:
        return yes
    if condition.__class__ is Number:
        return yes if condition.value != 0 else no
    return Func("where", (condition, yes, no))


_HALF = Number(Fraction(1, 2))
_MIRROR = str.maketrans("<>", "><")
_OF_POWERS: dict[str, Callable[..., Expr]] = {
    "pow": power,
    "sqrt": lambda x: power(x, _HALF),
    "abs": absolute,
}
_RULES: dict[str, Callable[..., Expr]] = {  # the algebra of functions that have one of their own
    **_OF_POWERS,
    "sign": _simplify_sign,
    "atan2": _simplify_atan2,
    "where": _simplify_where,
    **{name: partial(_simplify_extremum, name) for name in ("min", "max")},
    **{name: partial(_simplify_comparison, name) for name in COMPARISONS},
}


def sin(x: Any) -> Expr:
    return apply_builtin("sin", expression(x))


def cos(x: Any) -> Expr:
    return apply_builtin("cos", expression(x))


def sqrt(x: Any) -> Expr:
    return apply_builtin("sqrt", expression(x))
