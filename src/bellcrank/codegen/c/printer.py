"""Expressions and statements of a program in C."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bellcrank.codegen.calling_conventions import external_name
from bellcrank.codegen.number_type import DOUBLE, NumberType
from bellcrank.codegen.printer import ATOM, CodePrinter, Piece
from bellcrank.codegen.schedule_steps import (
    SinCosGroup,
    Step,
    VectorizedCall,
    step_expressions,
    step_targets,
)
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import (
    AssignStatement,
    CallStatement,
    NullSpaceSolve,
    SolveStatement,
)
from bellcrank.symbolic.expr import ZERO, Expr, Func, Product, Sum, Symbol
from bellcrank.symbolic.expr import Number as NumberNode
from bellcrank.symbolic.expr.function_table import FUNCTIONS, function_names_in
from bellcrank.symbolic.expr.node import PI, Rational
from bellcrank.symbolic.expr.table import Table


class CPrinter(CodePrinter):
    FUNCTIONS: ClassVar[Mapping[str, str]] = function_names_in("c")
    PI_TEXT = "3.141592653589793"
    SINES, ROOM = (
        "sincos_all",
        "LANES({})",
    )  # takes sines and cosines together; how many angles it takes at once
    FILL = " FILL_{}({})"  # what fills the room
    ANY = "_of_any"  # ends the names of min and max of which neither is known to be a number

    def __init__(
        self,
        names: Mapping[Symbol, str],
        tables: Mapping[Table, str],
        user_calls: Mapping[CallableRoutine, ExternalCall],
        number: NumberType = DOUBLE,
    ) -> None:
        super().__init__(names)
        self._numbers: set[Symbol] = {
            PI,
            *names,
        }  # what is a number as long as states and inputs are
        self.real, self.suffix = number.c, number.suffix
        self.PI_TEXT += number.suffix
        self.tables = tables
        self.calls = user_calls
        self.used: set[Symbol] | None = (
            None  # symbols that the function in the making uses; None: all of them
        )
        self._groups = 0

    def _is_used(self, target: Symbol) -> bool:
        return self.used is None or target in self.used

    def print_number(self, value: Rational) -> str:
        return super().print_number(value) + self.suffix

    def print_conditional(self, args: list[Piece]) -> Piece:
        condition = (
            args[0][0] if args[0][0].startswith("(") else f"{args[0][0]} != {self.print_number(0)}"
        )
        return f"({condition} ? {args[1][0]} : {args[2][0]})", ATOM

    def print_integer_power(self, base: str, exponent: int) -> str:
        simple = base.replace("[", "_").replace("]", "_").isidentifier()
        return (
            "*".join([base] * exponent)
            if simple and exponent <= 3
            else f"pow({base}, {self.print_number(exponent)})"
        )

    def print_function(self, node: Func, args: list[Piece]) -> Piece:
        if node.function is not None or not FUNCTIONS[node.name].chooses or len(args) != 2:
            return super().print_function(node, args)
        first, second = map(self._is_number, node.args)
        ordered = args[::-1] if second and not first else args
        name = self.function_name(node.name) + ("" if first or second else self.ANY)
        return f"{name}({', '.join(a[0] for a in ordered)})", ATOM

    def _is_number(self, root: Expr) -> bool:
        """Is it one wherever states and inputs are? Quotients, roots and routines need not be."""
        visited, stack = {root}, [root]
        while stack:
            node = stack.pop()
            if not self._is_defined(node):
                return False
            new = [p for p in node.parts if p not in visited]
            visited.update(new)
            stack += new
        return True

    def _is_defined(self, node: Expr) -> bool:
        if isinstance(node, Symbol):
            return node in self._numbers
        if isinstance(node, Product):
            return all(isinstance(n, int) and n > 0 for _, n in node.factors)
        if isinstance(node, Func):
            rule = FUNCTIONS.get(node.name) if node.function is None else None
            return rule is not None and (rule.select or bool(rule.quarter_turns))
        return isinstance(node, Sum | NumberNode)

    def print_routine_call(self, node: Func, args: list[Piece]) -> Piece:
        return f"{self.tables[node.function]}({', '.join(a[0] for a in args)})", ATOM

    # ---- statements

    def print_statement(self, s: Step) -> list[str]:
        """The lines of a statement; its targets get their names."""
        lines = self._statement_lines(s)
        self.names.update({t: t.name for t in step_targets(s)})
        if isinstance(s, AssignStatement | SinCosGroup) and all(
            map(self._is_number, step_expressions(s))
        ):
            self._numbers.update(step_targets(s))
        return lines

    def _statement_lines(self, s: Step) -> list[str]:
        if isinstance(s, AssignStatement):
            return [f"const {self.real} {s.target.name} = {self.print_expression(s.value)};"]
        self._groups += 1
        if isinstance(s, SinCosGroup):
            return self._sincos_statement(s, self._groups)
        if isinstance(s, VectorizedCall):
            return self._vectorized_call(s, self._groups)
        if isinstance(s, CallStatement):
            return self.calls[s.routine].lines(
                [self.print_expression(a) for a in s.arguments], s.targets, self._groups, self.real
            )
        if isinstance(s, NullSpaceSolve):
            return self._null_space_solve(s, self._groups)
        return self._linear_solve(s, self._groups)

    def _sincos_statement(self, s: SinCosGroup, k: int) -> list[str]:
        n = len(s.angles)
        size = self.ROOM.format(n) if n > 1 else "1"
        lines = [
            f"const {self.real} angle{k}[{size}] = "
            f"{{{self._padded_values([a.value for a in s.angles])}}};",
            f"{self.real} sine{k}[{size}], cosine{k}[{size}];",
            f"{self.SINES}({size}, angle{k}, sine{k}, cosine{k});",
        ]
        for i, a in enumerate(s.angles):
            assignments = [
                f"{x.name} = {f}{k}[{i}]"
                for x, f in ((a.sine, "sine"), (a.cosine, "cosine"))
                if x is not None
            ]
            lines.append(f"const {self.real} {', '.join(assignments)};")
        return lines

    def _padded_values(self, values: Sequence[Expr]) -> str:
        """Values of an array, the last one again until it is full."""
        texts, remainder = [self.print_expression(x) for x in values], len(values) % 4
        return ", ".join(texts) + (
            self.FILL.format(remainder, texts[-1]) if remainder and len(texts) > 1 else ""
        )

    def _vectorized_call(self, s: VectorizedCall, k: int) -> list[str]:
        if len(s.values) == 1:
            return [
                f"const {self.real} {s.targets[0].name} = "
                f"{self.function_name(s.function)}({self.print_expression(s.values[0])});"
            ]
        size = self.ROOM.format(len(s.values))
        return [
            f"const {self.real} arguments{k}[{size}] = {{{self._padded_values(s.values)}}};",
            f"{self.real} values{k}[{size}];",
            f"{s.function}_all({size}, arguments{k}, values{k});",
            *(f"const {self.real} {t.name} = values{k}[{i}];" for i, t in enumerate(s.targets)),
        ]

    def _null_space_solve(self, s: NullSpaceSolve, k: int) -> list[str]:
        lines = []
        arrays = {"mass": s.mass, "force": [s.force], "rows": s.rows, "right": [s.right]}
        for name, rows in arrays.items():
            values = [x for row in rows for x in row]
            lines.append(f"{self.real} {name}{k}[{len(values)}] = {{0.0}};")
            lines += [
                f"{name}{k}[{i}] = {self.print_expression(x)};"
                for i, x in enumerate(values)
                if x is not ZERO
            ]
        array_names = ", ".join(f"{name}{k}" for name in arrays)
        lines += [
            f"{self.real} rates{k}[{len(s.targets)}];",
            f"constrained_rates({array_names}, rates{k});",
        ]
        used_targets = ((i, t) for i, t in enumerate(s.targets) if self._is_used(t))
        return [*lines, *(f"const {self.real} {t.name} = rates{k}[{i}];" for i, t in used_targets)]

    def _linear_solve(self, s: SolveStatement, k: int) -> list[str]:
        n = len(s.right)
        zero = self.print_number(0)
        rows = [
            ", ".join(self.print_expression(x) if j <= i else zero for j, x in enumerate(row))
            for i, row in enumerate(s.matrix)
        ]
        return [
            f"{self.real} matrix{k}[{n * n}] = {{",
            *(f"    {row}," for row in rows),
            "};",
            f"{self.real} right{k}[{n}] = "
            f"{{{', '.join(self.print_expression(x) for x in s.right)}}};",
            f"solve_symmetric({n}, matrix{k}, right{k});",
            *(
                f"const {self.real} {t.name} = right{k}[{i}];"
                for i, t in enumerate(s.targets)
                if self._is_used(t)
            ),
        ]


@dataclass(frozen=True)
class ExternalCall:
    """How a user function is called: in C, in this file, or through the callback.

    Its C text is made by `codegen.calling_conventions`. Other functions, constants and #include
    lines may stand next to it.
    """

    routine: CallableRoutine
    callback_index: int
    offset: int  # of its memory
    c_name: str | None  # its name in C, if it is here
    when: int = 1  # its memory may change: 1 with rates, 2 with outputs and kept values
    foreign: bool = False  # is it given in Fortran alone? It is called by the conventions of C

    def lines(
        self, arguments: list[str], targets: Sequence[Symbol | None], k: int, real: str
    ) -> list[str]:
        argument_texts = list(arguments)
        lines = []
        if self.c_name is None:
            lines.append(
                f"const double arguments{k}[{max(len(argument_texts), 1)}] = "
                f"{{{', '.join(argument_texts) or '0.0'}}};"
            )
            lines.append(f"double values{k}[{len(targets)}];")
            lines.append(
                f"call_external(x, {self.callback_index}, arguments{k}, values{k}, {len(targets)});"
            )
        else:
            returned = bool(self.routine.returns)
            if returned:
                argument_texts.append(f"values{k}")
            if self.routine.memory:
                lines.append(f"double memory{k}[{self.routine.memory}];")
                argument_texts.append(
                    f"memory_of(x, {self.when}, {self.offset}, {self.routine.memory}, memory{k})"
                )
            lines.append(f"double values{k}[{len(targets)}];")
            call = f"{self.c_name}({', '.join(argument_texts)});"
            lines.append(call if returned else f"values{k}[0] = {call}")
        assignments = [f"{t.name} = values{k}[{i}]" for i, t in enumerate(targets) if t is not None]
        return [*lines, *([f"const {real} {', '.join(assignments)};"] if assignments else [])]


def external_calls(
    program: SimulationProgram, outside: Iterable[str] = ()
) -> dict[CallableRoutine, ExternalCall]:
    """How each user function is called; those named in `outside` are called back wherever they are
    given."""
    outside_names = {n.lower() for n in outside}
    call_of_routine: dict[CallableRoutine, ExternalCall] = {}
    number = offset = 0
    for routine in program.externals:
        needed_call = None if routine.needs is None else call_of_routine.get(routine.needs)
        is_callable = routine.needs is None or (
            needed_call is not None and needed_call.c_name is not None and not needed_call.foreign
        )
        if (
            (routine.known_in("c") or routine.given_in("fortran"))
            and is_callable
            and routine.name.lower() not in outside_names
        ):
            call_of_routine[routine] = ExternalCall(
                routine,
                -1,
                offset,
                external_name(routine),
                program.memory_phase(routine),
                not routine.known_in("c"),
            )
            offset += routine.memory or 0
        else:
            call_of_routine[routine] = ExternalCall(routine, number, 0, None)
            number += 1
    return call_of_routine
