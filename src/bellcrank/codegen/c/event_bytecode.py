"""Formulas of events as data that the kernel evaluates: the operations of a run in the package, in
the same order.

In:  formulas step by step. Out: numbers for each step, and the text of C that evaluates one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bellcrank.codegen.c.printer import CPrinter
from bellcrank.symbolic.expr.formula_steps import ARITHMETIC, COMPARISONS, FormulaStep
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS, MathFunction

Encoded = tuple[
    int, int, int, int, float
]  # operation, up to three parts, number: as `FormulaStep` in events.h

_FUNCTIONS = {f.name: f for f in (OPERATORS["**"], *CALLED.values()) if not f.macro}
_NAMED = {"**": OPERATORS["**"].name}
OPERATIONS = ("column", "value", "number", *ARITHMETIC, *COMPARISONS, *_FUNCTIONS)
_PARTS = ("x[s->a]", "x[s->b]", "x[s->c]")


def encode_formula(steps: Sequence[FormulaStep], values: Mapping[str, int]) -> list[Encoded]:
    """A formula as the kernel reads it; `values`: the numbers of parameters. Functions of any
    number of arguments take two at a time."""
    operations: list[Encoded] = []
    operation_indices: list[int] = []

    def append_operation(op: str, operands: Sequence[int], number: float) -> int:
        a, b, c = (*operands, 0, 0, 0)[:3]
        operations.append((OPERATIONS.index(op), a, b, c, number))
        return len(operations) - 1

    for step in steps:
        op = _NAMED.get(step.op, step.op)
        operands = [operation_indices[i] for i in step.parts]
        if op == "column":
            operands = [step.column]
        elif op == "value":
            operands = [values[step.name]]
        elif op in _FUNCTIONS and _FUNCTIONS[op].arity is None:
            while len(operands) > 2:
                operands[:2] = [append_operation(op, operands[:2], 0.0)]
            if len(operands) == 1:  # that of one number is the number
                operands *= 2
        operation_indices.append(append_operation(op, operands, step.number))
    return operations


def formula_steps() -> str:
    """The function that evaluates one step of a formula."""
    helper_names = [
        f.translation("c").name for f in _FUNCTIONS.values() if f.translation("c").helper
    ]
    call_pattern = re.compile(rf"\b({'|'.join(helper_names)})(?=\(|{CPrinter.ANY})")
    cases = [
        f"    case {i}: return {_operation_source(op)}; /* {op} */\n"
        for i, op in enumerate(OPERATIONS)
    ]
    text = "".join(
        (
            *(_function_helper(f) for f in _FUNCTIONS.values()),
            "\n/* A step of a formula at a row, with values of parameters; x: the steps "
            "before. */\n",
            "static double formula_step(const FormulaStep *s, const double *row, const "
            "double *values, "
            "const double *x)\n{\n    switch (s->op) {\n",
            *cases,
            "    }\n    return NAN;\n}\n",
        )
    )
    return call_pattern.sub(r"formula_\1", text)  # a model may have the same functions


def _function_helper(function: MathFunction) -> str:
    """What defines a function that C lacks; of min and max the one of any numbers."""
    lines = function.translation("c").helper.splitlines(keepends=True)
    return "".join(x for x in lines if function.arity is not None or CPrinter.ANY in x)


def _operation_source(op: str) -> str:
    a, b, c = _PARTS
    special = {
        "column": "row[s->a]/s->number",
        "value": "values[s->a]",
        "number": "s->number",
        "neg": f"-{a}",
    }
    if op in special:
        return special[op]
    if op in ARITHMETIC:
        return f"{a} {op} {b}"
    if op in COMPARISONS:
        return f"(double)({a} {op} {b})"
    if op == "where":
        return f"{a} != 0.0 ? {b} : {c}"
    function = _FUNCTIONS[op]
    name = function.translation("c").name
    if function.arity is None:
        return f"{name}{CPrinter.ANY}({a}, {b})"
    return f"{name}({', '.join(_PARTS[: function.arity])})"
