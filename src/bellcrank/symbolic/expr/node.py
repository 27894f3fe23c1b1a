"""The expression DAG: immutable, interned nodes.

Structurally equal expressions are one object, so `is` is the only equality and a node that occurs
twice is an intermediate variable waiting to be named. This module knows what a node *is*;
`construct` and `functions` know how to build one in simplest form, and `operators` lets Python's
operators do so.

Every node carries, from its birth: whether it is constant (holds parameters and numbers only), its
small order (Sayers 1990, section 5.3), what is known of its sign, a sort key that does not depend
on the history of the process, and a fingerprint: the value of the expression at a pseudo-random
point of a large prime field. Two expressions with the same fingerprint are equal as functions of
their symbols up to a probability of about 1e-35.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]

from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.symbolic.expr.function_table import COMPARISONS, FUNCTIONS

Rational = int | Fraction

PRIME = 2**127 - 1

# Ranks order the factors of a product and the terms of a sum: numbers, parameters, variables,
# functions, compounds.
RANK_NUMBER, RANK_PARAMETER, RANK_SYMBOL, RANK_FUNCTION, RANK_HELD, RANK_PRODUCT, RANK_SUM = range(
    7
)

# What is known of a sign, from weak to strong. Where an expression is not defined it has none.
UNKNOWN, NEVER_NEGATIVE, POSITIVE = range(3)

CONSTANT_KINDS = frozenset({"parameter", "constant"})
LONG = 20  # terms of a sum that is worth an index (`sum_index`)


def field_digest(*items: object) -> int:
    """A reproducible pseudo-random field element for the given parts."""
    text = "\x1f".join(map(str, items)).encode()
    return int.from_bytes(blake2b(text, digest_size=16).digest(), "big") % PRIME


def field_residue(value: Rational) -> int:
    """A rational number as an element of the field."""
    return (
        value % PRIME
        if value.__class__ is int
        else _field_quotient(value.numerator, value.denominator)
    )


@lru_cache(maxsize=65536)
def _field_quotient(numerator: int, denominator: int) -> int:
    return numerator * pow(denominator, -1, PRIME) % PRIME


@lru_cache(maxsize=65536)
def field_cos_sin(angle: int) -> tuple[int, int]:
    """A rational point (cos, sin) of the unit circle over the field, for an angle given by its
    fingerprint."""
    if angle > PRIME // 2:  # the opposite angle
        cosine, sine = field_cos_sin(PRIME - angle)
        return cosine, -sine % PRIME
    t = field_digest("angle", angle) if angle else 0
    inverse = pow(1 + t * t, -1, PRIME)
    return (1 - t * t) * inverse % PRIME, 2 * t * inverse % PRIME


class Expr:
    """Immutable scalar expression; structurally equal expressions are one object."""

    __slots__ = ("__weakref__", "constant", "fingerprint", "order", "sign", "sort")

    constant: bool
    fingerprint: int
    order: int
    sign: int
    sort: tuple[int, Any]

    if TYPE_CHECKING:  # operators build canonical nodes: `operators` gives them to the class

        def __add__(self, other: Expr | float | Fraction) -> Expr: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
            __pow__
        ) = __rpow__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __add__

        def __neg__(self) -> Expr: ...

        __pos__ = __abs__ = __neg__

    # the expressions this one is made of, in canonical order
    parts: tuple[Expr, ...] = ()


class _NodeReference(ref[Expr]):
    """What the table of nodes holds of one: nodes go when nobody uses them any more."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


# Fractions stand in keys as numerator and denominator: the hash of a fraction takes a microsecond
# or two, every time.
_references: dict[
    tuple[Any, ...], Any
] = {}  # of `_NodeReference`; a WeakValueDictionary would take twice the time


def _intern_node(key: tuple[Any, ...], node: Expr) -> Expr:
    """The one node of that key: another thread may have made it in the meantime."""
    reference = _NodeReference(node, _remove_dead_node)
    reference.key = key
    while (existing := _references.setdefault(key, reference)) is not reference:
        existing_node = existing()
        if existing_node is not None:
            return existing_node
        _remove_dead_node(existing)
    return node


def _remove_dead_node(
    reference: ref[Expr], table: Any = _references, remove: Any = _remove_dead_weakref
) -> None:
    """Takes a node that is no more off the table, unless another has taken its place: a look and a
    removal at once, as the dictionaries of `weakref` do it. What it uses is bound: nodes go last
    when Python ends."""
    remove(table, reference.key)  # type: ignore[attr-defined]


class Number(Expr):
    """An exact rational number."""

    __slots__ = ("value",)
    value: Rational

    def __new__(cls, value: Rational) -> Number:
        key: tuple[Any, ...] = (cls, value)
        if value.__class__ is Fraction:
            value = normalize_rational(value)
            key = (
                (cls, value.numerator, value.denominator)
                if value.__class__ is Fraction
                else (cls, value)
            )
        reference = _references.get(key)
        if reference is None or (node := reference()) is None:
            node = object.__new__(cls)
            node.value = value = to_rational(value)
            node.constant, node.order = True, 0
            node.sign = POSITIVE if value > 0 else UNKNOWN if value < 0 else NEVER_NEGATIVE
            node.fingerprint = field_residue(value)
            node.sort = (RANK_NUMBER, value)
            return _intern_node(key, node)  # type: ignore[return-value]
        return node


class Symbol(Expr):
    """A named quantity. `kind` is what it stands for; `order` its small order in the present
    derivation; `positive` says that no other values are allowed.

    Kinds: parameter, constant (pi), time, variable (input), coordinate, speed, acceleration (rate
    of a speed), rate (rate of a coordinate or input), kept (value of a user function that holds
    over a step), dummy.
    """

    __slots__ = ("kind", "name")
    name: str
    kind: str

    def __new__(
        cls, name: str, kind: str = "parameter", order: int = 0, positive: bool = False
    ) -> Symbol:
        key = (cls, name, kind, order, positive)
        reference = _references.get(key)
        if reference is None or (node := reference()) is None:
            node = object.__new__(cls)
            node.name, node.kind, node.order = name, kind, order
            node.constant = kind in CONSTANT_KINDS
            node.sign = POSITIVE if positive else UNKNOWN
            node.fingerprint = field_digest("symbol", kind, name)
            node.sort = (
                RANK_PARAMETER if node.constant else RANK_SYMBOL,
                (*_natural_sort_key(name), (-1, 0, kind)),
            )
            return _intern_node(key, node)  # type: ignore[return-value]
        return node


class Sum(Expr):
    """`terms`: (core, coefficient) pairs, sorted; the first coefficient is positive; a number has
    the core ONE."""

    __slots__ = ("index", "noted", "parts", "terms")
    terms: tuple[tuple[Expr, Rational], ...]
    # of a long one, by which terms are added (`sum_index`): None as yet, False if there can be none
    index: Any
    noted: tuple[tuple[int, ...], tuple[int, ...]]  # numerators and denominators

    def __new__(cls, terms: tuple[tuple[Expr, Rational], ...]) -> Sum:
        cores = tuple([core for core, _ in terms])
        noted = tuple([c.numerator for _, c in terms]), tuple([c.denominator for _, c in terms])
        key = (cls, cores, *noted)
        known = _references.get(key)
        if known is None or (node := known()) is None:
            node = object.__new__(cls)
            node.terms, node.noted, node.index = terms, noted, None
            node.parts = cores
            constant, order, fingerprint = True, terms[0][0].order, 0
            lowest_sign, highest_sign = POSITIVE, UNKNOWN
            for core, coefficient in terms:
                constant = constant and core.constant
                known = core.sign if core.sign and coefficient.numerator > 0 else UNKNOWN
                if known < lowest_sign:
                    lowest_sign = known
                if known > highest_sign:
                    highest_sign = known
                if core.order < order:
                    order = core.order
                number = coefficient if coefficient.__class__ is int else field_residue(coefficient)
                fingerprint += number * core.fingerprint
            node.constant, node.order, node.fingerprint = constant, order, fingerprint % PRIME
            node.sign = highest_sign if lowest_sign else UNKNOWN
            node.sort = (RANK_SUM, node.fingerprint)
            return _intern_node(key, node)  # type: ignore[return-value]
        return node

    def insert_term(self, position: int, core: Expr, coefficient: Rational) -> Sum:
        """A long sum with one more term at a place; its index serves both."""

        def insert_item(items: tuple[Any, ...], item: Any) -> tuple[Any, ...]:
            return (*items[:position], item, *items[position:])

        above, below = self.noted
        noted = (
            insert_item(above, coefficient.numerator),
            insert_item(below, coefficient.denominator),
        )
        cores = insert_item(self.parts, core)
        key = (Sum, cores, *noted)
        reference = _references.get(key)
        if reference is None or (node := reference()) is None:
            node = object.__new__(Sum)
            node.terms, node.noted, node.index = (
                insert_item(self.terms, (core, coefficient)),
                noted,
                self.index,
            )
            node.parts = cores
            sign = core.sign if coefficient.numerator > 0 else UNKNOWN
            node.constant, node.order = self.constant and core.constant, min(self.order, core.order)
            node.fingerprint = (
                self.fingerprint + field_residue(coefficient) * core.fingerprint
            ) % PRIME
            node.sign = max(self.sign, sign) if self.sign and sign else UNKNOWN
            node.sort = (RANK_SUM, node.fingerprint)
            return _intern_node(key, node)  # type: ignore[return-value]
        return node


class Product(Expr):
    """`coefficient` times the `factors`: (base, exponent) pairs, sorted.

    One factor to the power 1 has a coefficient other than 1. The base of a whole power is no number
    and no product.
    """

    __slots__ = ("_core", "coefficient", "factors", "parts")
    coefficient: Rational
    factors: tuple[tuple[Expr, Rational], ...]
    _core: Expr | None

    def __new__(cls, coefficient: Rational, factors: tuple[tuple[Expr, Rational], ...]) -> Product:
        key = (cls, coefficient.numerator, coefficient.denominator, factors)
        reference = _references.get(key)
        if reference is None or (node := reference()) is None:
            node = object.__new__(cls)
            node.coefficient, node.factors, node._core = coefficient, factors, None
            node.parts = next(zip(*factors, strict=True), ())
            constant, order, fingerprint = True, 0, field_residue(coefficient)
            sign = POSITIVE if coefficient.numerator > 0 else UNKNOWN
            for base, exponent in factors:
                constant = constant and base.constant
                if exponent.__class__ is int and exponent == 1:  # most are
                    if base.sign < sign:
                        sign = base.sign
                    order += base.order
                    fingerprint = fingerprint * base.fingerprint % PRIME
                    continue
                if sign:
                    sign = min(sign, sign_of_power(base, exponent))
                if base.order:
                    order += math.floor(base.order * exponent)
                fingerprint = fingerprint * power_residue(base.fingerprint, exponent) % PRIME
            node.constant, node.order, node.fingerprint, node.sign = (
                constant,
                order,
                fingerprint,
                sign,
            )
            node.sort = (RANK_PRODUCT, fingerprint)
            return _intern_node(key, node)  # type: ignore[return-value]
        return node


class Func(Expr):
    """A function of expressions. `function` is the user function or table behind the name, None if
    it is built in."""

    __slots__ = ("args", "function", "name", "parts")
    name: str
    args: tuple[Expr, ...]
    function: Any

    def __new__(cls, name: str, args: tuple[Expr, ...], function: Any = None) -> Func:
        key = (cls, name, args, function)
        reference = _references.get(key)
        if reference is None or (node := reference()) is None:
            node = object.__new__(cls)
            node.name, node.args, node.function = name, args, function
            node.parts = args
            node.constant = all(a.constant for a in args) and not getattr(function, "varies", False)
            node.order = _function_order(name, args)
            node.sign = _function_sign(name, args) if function is None else UNKNOWN
            # values that one routine returns, and tables of one name, are different functions
            mark = getattr(function, "identity_key", "")
            node.fingerprint = _function_residue(f"{name} {mark}" if mark else name, args)
            node.sort = (RANK_FUNCTION, (name, node.fingerprint))
            return _intern_node(key, node)  # type: ignore[return-value]
        return node

    def __bool__(self) -> bool:
        if self.function is None and self.name in COMPARISONS:
            raise ModelError(undecidable_message(str(self)))
        return True


def undecidable_message(comparison: str) -> str:
    """What is wrong with a comparison of expressions in `if`, `and`, `min()` or `max()` of
    Python."""
    return f"{comparison} is true or false only during a run: use bc.where(), bc.min() or bc.max()"


class NamedSubexpression(Expr):
    """An intermediate result: an atom for the algebra, so that what is shared stays shared
    (AUTOSIM's Z variables)."""

    __slots__ = ("definition", "parts")
    definition: Expr

    def __new__(cls, definition: Expr) -> NamedSubexpression:
        key = (cls, definition)
        reference = _references.get(key)
        if reference is None or (node := reference()) is None:
            node = object.__new__(cls)
            node.definition = definition
            node.parts = (definition,)
            node.constant, node.order, node.sign = (
                definition.constant,
                definition.order,
                definition.sign,
            )
            node.fingerprint = definition.fingerprint
            node.sort = (RANK_HELD, definition.fingerprint)
            return _intern_node(key, node)  # type: ignore[return-value]
        return node


@lru_cache(maxsize=65536)
def power_residue(base: int, exponent: Rational) -> int:
    """base ** exponent over the field; the fractional part of an exponent is that power of an
    opaque root."""
    if base == 0:
        if exponent < 0:
            raise ModelError("division by an expression that is identically zero")
        return 0
    integer_part = math.floor(exponent)
    result = pow(base, integer_part, PRIME)
    if isinstance(exponent, Fraction):
        root = field_digest("root", base, exponent.denominator)
        result = (
            result
            * pow(root, exponent.numerator - integer_part * exponent.denominator, PRIME)
            % PRIME
        )
    return result


def _function_residue(name: str, args: tuple[Expr, ...]) -> int:
    if name in ("sin", "cos", "tan"):
        cosine, sine = field_cos_sin(args[0].fingerprint)
        if name == "tan":
            return sine * pow(cosine, -1, PRIME) % PRIME
        return sine if name == "sin" else cosine
    if name == "sqrt":
        return power_residue(args[0].fingerprint, Fraction(1, 2))
    return field_digest("function", name, *(a.fingerprint for a in args))


def _function_order(name: str, args: tuple[Expr, ...]) -> int:
    """Small order of a function that is not a series: that of its arguments where the value is one
    of them."""
    builtin = FUNCTIONS.get(name)
    if builtin is None or builtin.order_arguments is None:
        return 0
    return min((a.order for a in args[builtin.order_arguments] if a is not ZERO), default=0)


def sign_of_power(base: Expr, exponent: Rational) -> int:
    """What is known of the sign of base ** exponent: even powers and roots are never negative."""
    if exponent.__class__ is int and exponent % 2:
        return base.sign
    return max(base.sign, NEVER_NEGATIVE)


def _function_sign(name: str, args: tuple[Expr, ...]) -> int:
    """What is known of the sign of a built-in function: by itself, or from the arguments it chooses
    from."""
    builtin = FUNCTIONS.get(name)
    if builtin is None:
        return UNKNOWN
    if builtin.chooses:
        return min(a.sign for a in args[-2:])
    return POSITIVE if builtin.positive else NEVER_NEGATIVE if builtin.never_negative else UNKNOWN


def _natural_sort_key(name: str) -> tuple[Any, ...]:
    """Parts of a sort key that puts q2 before q10."""
    runs = re.findall("[0-9]+|[^0-9]+", name)
    return tuple(
        (0, len(p.lstrip("0")), p.lstrip("0"), p) if p[0] in "0123456789" else (1, 0, p)
        for p in runs
    )


def normalize_rational(value: Rational) -> Rational:
    """A whole number as int."""
    return value.numerator if value.__class__ is Fraction and value.denominator == 1 else value


_MAX_BITS = 14_000  # of a whole number; Python makes text of at most 4,300 digits


def to_rational(value: int | float | Fraction) -> Rational:
    """The exact rational a number stands for: 0.1 means 1/10."""
    if (
        isinstance(value, int | Fraction)
        and max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS
    ):
        raise ModelError(f"{display_text(value)} is too large for a computer number")
    if isinstance(value, int):
        return int(value)
    if not isinstance(value, Fraction):
        value = float(value)
        if not math.isfinite(value):
            raise ModelError(f"{value} is not a finite number")
        value = Fraction(repr(value))
    return normalize_rational(value)


def abs_rational(value: Rational) -> Rational:
    """Absolute value."""
    return value if value >= 0 else -value


def try_expression(value: Any) -> Expr | None:
    """An expression for a number; None for what the algebra does not know."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, int | float | Fraction):
        return Number(to_rational(value))
    if hasattr(value, "__float__") and getattr(value, "ndim", 1) == 0:  # NumPy scalars
        try:
            return Number(to_rational(float(value)))
        except TypeError:  # spans of time, of which NumPy makes other objects
            return None
    return None


ZERO: Expr = Number(0)
ONE: Expr = Number(1)
MINUS_ONE: Expr = Number(-1)
TWO: Expr = Number(2)
PI = Symbol("pi", "constant", positive=True)
