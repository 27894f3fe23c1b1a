"""Units in formulas over channels and parameters, whose values are in user units.

In:  a formula as syntax, and the units of its names. Out: the same formula with its conversions
written out, so that it has the value that an output of the model with this formula shows: `sin`
takes the angle, not the number of degrees.

A bare number that is added to a quantity, or compared with it, is in the unit of that quantity. A
bare factor is a pure number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import find_name
from bellcrank.core.units import ANGLE, ONE, TIME, Dimension, Unit, UnitSystem, unit_system
from bellcrank.mechanics.interface.interface import DECLARED, Interface
from bellcrank.mechanics.kinematics.dimensions.algebra import normalize_angle
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, evaluate_syntax, syntax_to_text
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS

NumberUnit = Literal["bare number"]
FoundUnit = Unit | NumberUnit | None  # None: not known
BARE: NumberUnit = "bare number"
SAME = 1e-9  # relative difference up to which two factors are those of one unit


@dataclass(frozen=True)
class FormulaTerm:
    """A part of a formula with conversions, and the unit of its value."""

    syntax: SyntaxNode
    unit: FoundUnit

    def converted(self, unit: Unit) -> FormulaTerm:
        """The same quantity in another unit of its kind; anything else as it is."""
        if not isinstance(self.unit, Unit) or not self.unit.dimension.same_kind(unit.dimension):
            return self
        ratio = self.unit.factor / unit.factor
        if math.isclose(ratio, 1.0, rel_tol=SAME):
            return FormulaTerm(self.syntax, unit)
        factor = SyntaxNode("number", (Fraction(ratio),))
        return FormulaTerm(SyntaxNode("*", (self.syntax, factor)), unit)


class FormulaUnits:
    """Units of names, and what they make of formulas. `strict`: quantities of different kinds that
    are added or compared are an error, which begins with `location`."""

    def __init__(
        self,
        units: Mapping[str, Unit],
        system: UnitSystem,
        location: str = "",
        strict: bool = False,
    ) -> None:
        self._units = units
        self._system = system
        self._location = location
        self._strict = strict

    def term(self, syntax: SyntaxNode) -> FormulaTerm:
        """A formula with conversions, in the unit that follows from its parts."""
        term = evaluate_syntax(syntax, self._visit_node)
        assert isinstance(term, FormulaTerm)
        return term

    def shown_term(self, syntax: SyntaxNode) -> FormulaTerm:
        """A formula with conversions, in the unit in which an output would show it."""
        return self._in_shown_unit(self.term(syntax))

    def term_in(self, syntax: SyntaxNode, unit: Unit, target_text: str) -> FormulaTerm:
        """A formula with conversions, in the unit of what takes its value."""
        value = self.term(syntax)
        if unit.text == "?":
            return value
        target = FormulaTerm(SyntaxNode("name", (target_text,)), unit)
        self._common_unit([value, target], [syntax_to_text(syntax), target_text])
        return value.converted(unit)

    def _visit_node(self, node: SyntaxNode, operands: list[FormulaTerm]) -> FormulaTerm:
        name = find_name(syntax_to_text(node), self._units) if node.op in ("name", "call") else None
        if name is not None:
            channel_unit = self._units[name]
            return FormulaTerm(node, None if channel_unit.text == "?" else channel_unit)
        op = str(node.args[0]).lower() if node.op == "call" else node.op
        texts = [syntax_to_text(c) for c in node.children]
        if op in ("name", "number"):
            return FormulaTerm(node, BARE)
        if op == "neg":
            return FormulaTerm(_with_operands(node, operands), operands[0].unit)
        if op in ("+", "-"):
            terms, unit = self._common_terms(operands, texts)
            return FormulaTerm(_with_operands(node, terms), unit)
        if op in ("*", "/") and len(operands) == 2:
            return FormulaTerm(_with_operands(node, operands), _product_unit(op, *operands))
        if op == "**" and len(operands) == 2:
            return self._power(node, *operands)
        if op in CALLED and CALLED[op].accepts_count(len(operands)):
            return self._function_value(node, op, operands, texts)
        if op in OPERATORS:
            terms, _ = self._common_terms(operands, texts)
            return FormulaTerm(_with_operands(node, terms), _pure_unit())
        return FormulaTerm(node, None)  # whoever evaluates the formula says what is wrong

    def _power(self, node: SyntaxNode, base: FormulaTerm, power: FormulaTerm) -> FormulaTerm:
        exponent = _constant(node.children[1])
        if isinstance(base.unit, Unit) and exponent is not None:
            unit = Unit(base.unit.dimension**exponent, base.unit.factor ** float(exponent), "")
            return FormulaTerm(_with_operands(node, [base, power]), unit)
        pure = [x.converted(_pure_unit()) for x in (base, power)]
        bare = base.unit == power.unit == BARE
        return FormulaTerm(_with_operands(node, pure), BARE if bare else None)

    def _function_value(
        self, node: SyntaxNode, name: str, operands: Sequence[FormulaTerm], texts: Sequence[str]
    ) -> FormulaTerm:
        argument_kinds, result_kind = CALLED[name].dimension_kinds
        kinds = [argument_kinds[min(i, len(argument_kinds) - 1)] for i in range(len(operands))]
        arguments = list(operands)
        for i, kind in enumerate(kinds):
            if kind in ("1", "A"):
                arguments[i] = self._pure_argument(name, kind, operands[i], texts[i])
        alike = [i for i, kind in enumerate(kinds) if kind == "x"]
        terms, common = self._common_terms([operands[i] for i in alike], [texts[i] for i in alike])
        for i, term in zip(alike, terms, strict=True):
            arguments[i] = term
        value = _with_operands(node, arguments)
        if result_kind == "A":  # every function gives rad
            return FormulaTerm(value, Unit(ANGLE, 1.0, "rad")).converted(
                self._system.user_unit(ANGLE)
            )
        if all(x.unit == BARE for x in operands):
            return FormulaTerm(value, BARE)
        if result_kind == "x":
            return FormulaTerm(value, common)
        if result_kind.startswith("x**") and isinstance(common, Unit):
            exponent = Fraction(result_kind[3:].strip("()"))
            unit = Unit(common.dimension**exponent, common.factor ** float(exponent), "")
            return FormulaTerm(value, unit)
        return FormulaTerm(value, _pure_unit() if result_kind == "1" else None)

    def _pure_argument(self, name: str, kind: str, operand: FormulaTerm, text: str) -> FormulaTerm:
        expected = Unit(ANGLE, 1.0, "rad") if kind == "A" else _pure_unit()
        self._common_unit(
            [operand, FormulaTerm(operand.syntax, expected)], [text, f"what {name} takes"]
        )
        return operand.converted(expected)

    def _common_terms(
        self, operands: Sequence[FormulaTerm], texts: Sequence[str]
    ) -> tuple[list[FormulaTerm], FoundUnit]:
        """Parts of a sum, or what is compared, in one unit."""
        terms = [self._in_shown_unit(x) for x in operands]
        unit = self._common_unit(terms, texts)
        return [x.converted(unit) for x in terms] if isinstance(unit, Unit) else terms, unit

    def _common_unit(self, terms: Sequence[FormulaTerm], texts: Sequence[str]) -> FoundUnit:
        units = [(x.unit, text) for x, text in zip(terms, texts, strict=True)]
        definite = [(unit, text) for unit, text in units if isinstance(unit, Unit)]
        if not definite:
            return None if any(unit is None for unit, _ in units) else BARE
        first, first_text = definite[0]
        for unit, text in definite[1:]:
            if first.dimension.same_kind(unit.dimension):
                continue
            if self._strict:
                raise ModelError(
                    f"{self._location}: {first_text} is in {self._unit_label(first)}, but {text} "
                    f"in {self._unit_label(unit)}"
                )
            return None
        return next((unit for unit, _ in definite if unit.dimension.angle), first)

    def _in_shown_unit(self, term: FormulaTerm) -> FormulaTerm:
        """A product of quantities in the unit in which it is shown; what has the unit of one
        quantity keeps it."""
        if not isinstance(term.unit, Unit) or term.unit.text:
            return term
        return term.converted(self._system.user_unit(normalize_angle(term.unit.dimension)))

    def _unit_label(self, unit: Unit) -> str:
        text = unit.text or self._system.user_unit(normalize_angle(unit.dimension)).text
        return "no unit" if text == "-" else text


def formula_units(interface: Interface, location: str = "", strict: bool = False) -> FormulaUnits:
    """Units of formulas over the channels and parameters of a model."""
    return FormulaUnits(units_by_name(interface), unit_system(interface.units), location, strict)


def units_by_name(interface: Interface) -> dict[str, Unit]:
    """Units of all that formulas over a run may name."""
    quantities = (*interface.of_kinds(DECLARED), *interface.channels)
    return {"t": Unit(TIME, 1.0, "s")} | {x.name: x.unit for x in quantities}


def _pure_unit() -> Unit:
    return Unit(ONE, 1.0, "-")


def _product_unit(op: str, a: FormulaTerm, b: FormulaTerm) -> FoundUnit:
    if a.unit is None or b.unit is None:
        return None
    if b.unit == BARE:
        return a.unit
    dimension, factor = _unit_parts(a.unit)
    other_dimension, other_factor = _unit_parts(b.unit)
    if op == "*":
        if a.unit == BARE:
            return b.unit
        return Unit(dimension * other_dimension, factor * other_factor, "")
    return Unit(dimension / other_dimension, factor / other_factor, "")


def _unit_parts(unit: Unit | NumberUnit) -> tuple[Dimension, float]:
    return (unit.dimension, unit.factor) if isinstance(unit, Unit) else (ONE, 1.0)


def _constant(node: SyntaxNode) -> Fraction | None:
    """The exact value of a formula of numbers alone, as an exponent."""
    if node.op == "number":
        return Fraction(node.args[0]).limit_denominator(12)
    operands = [_constant(c) for c in node.children]
    match node.op, operands:
        case "neg", [Fraction() as a]:
            return -a
        case "/", [Fraction() as a, Fraction() as b] if b:
            return a / b
    return None


def _with_operands(node: SyntaxNode, operands: Sequence[FormulaTerm]) -> SyntaxNode:
    """A node with other operands."""
    children = tuple(x.syntax for x in operands)
    return replace(node, args=(node.args[0], *children) if node.op == "call" else children)
