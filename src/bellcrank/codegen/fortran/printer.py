"""Expressions and statements of a program in Fortran 2008."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import ClassVar

from bellcrank.codegen.fortran.line_wrapping import wrap_statement
from bellcrank.codegen.identifiers import safe_identifier
from bellcrank.codegen.printer import ATOM, TERM, CodePrinter, Piece
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import AssignStatement, CallStatement, NullSpaceSolve, Statement
from bellcrank.symbolic.expr import ZERO, Expr, Func, Symbol
from bellcrank.symbolic.expr.function_table import function_names_in
from bellcrank.symbolic.expr.node import Rational

LONGEST_NAME = 50  # the standard allows 63
_FLAG = "merge(1.0_dp, 0.0_dp, "


class FortranPrinter(CodePrinter):
    """Text of expressions; `calls` gives the names of tables and user functions, `offsets` where
    memories begin."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = function_names_in("fortran")
    PI_TEXT = "3.141592653589793_dp"
    _MEMORY = "real(dp), pointer :: memory(:)"

    def __init__(
        self,
        names: Mapping[Symbol, str],
        routine_names: Mapping[CallableRoutine, str] | None = None,
        offsets: Mapping[CallableRoutine, int] | None = None,
        whens: Mapping[CallableRoutine, int] | None = None,
    ) -> None:
        super().__init__(names)
        self.calls, self.offsets = routine_names or {}, offsets or {}
        self.whens = whens or {}  # memories may change: 1 with rates, 2 with outputs
        self.declared: list[str] = []  # scalars of the routine in the making
        self.arrays: list[str] = []  # declarations of its arrays
        self._groups = 0

    def print_number(self, value: Rational) -> str:
        return f"{float(value)!r}_dp"

    def print_integer_power(self, base: str, exponent: int) -> str:
        return f"{base}**{exponent}"

    def print_power(self, base: Piece, exponent: Rational) -> str:
        if exponent not in (1, 1 / 2) and not isinstance(exponent, int):
            return f"{self.parenthesize(base, ATOM)}**{self.print_number(exponent)}"
        return super().print_power(base, exponent)

    def print_function(self, node: Func, args: list[Piece]) -> Piece:
        if node.name == "pow" and node.function is None:
            return f"{self.parenthesize(args[0], ATOM)}**{self.parenthesize(args[1], ATOM)}", TERM
        return super().print_function(node, args)

    def print_comparison(self, name: str, args: list[Piece]) -> Piece:
        text, _ = super().print_comparison(name, args)
        return f"{_FLAG}{text[1:-1]})", ATOM

    def print_conditional(self, args: list[Piece]) -> Piece:
        flag = args[0][0]
        condition = (
            flag[len(_FLAG) : -1] if flag.startswith(_FLAG) else f".not. abs({flag}) <= 0.0_dp"
        )
        return f"merge({args[1][0]}, {args[2][0]}, {condition})", ATOM

    def print_routine_call(self, node: Func, args: list[Piece]) -> Piece:
        return f"{self.calls[node.function]}({', '.join(a[0] for a in args)})", ATOM

    def declarations(self) -> list[str]:
        """Of what the statements so far need."""
        scalars = ", ".join(dict.fromkeys(self.declared))
        return [*(wrap_statement(f"real(dp) :: {scalars}") if scalars else []), *self.arrays]

    # ---- statements

    def print_statement(self, s: Statement) -> list[str]:
        """The lines of a statement; its targets get their names."""
        lines = self._statement_lines(s)
        targets = (
            [s.target]
            if isinstance(s, AssignStatement)
            else [t for t in s.targets if t is not None]
        )
        self.names.update({t: t.name for t in targets})
        self.declared += [t.name for t in targets]
        return lines

    def _statement_lines(self, s: Statement) -> list[str]:
        if isinstance(s, AssignStatement):
            return wrap_statement(f"{s.target.name} = {self.print_expression(s.value)}")
        self._groups += 1
        k = self._groups
        if isinstance(s, CallStatement):
            return self._call_statement(s, k)
        if isinstance(s, NullSpaceSolve):
            return self._null_space_solve(s, k)
        n = len(s.right)
        self.arrays += [f"real(dp) :: matrix{k}({n}, {n}), right{k}({n})"]
        lines = []
        for i, row in enumerate(s.matrix):
            lines += wrap_statement(
                f"matrix{k}({i + 1}, 1:{i + 1}) = {self._array_literal(row[: i + 1])}"
            )
        lines += wrap_statement(f"right{k} = {self._array_literal(s.right)}")
        lines.append(f"call solve_symmetric(matrix{k}, right{k})")
        return [*lines, *(f"{t.name} = right{k}({i})" for i, t in enumerate(s.targets, 1))]

    def _null_space_solve(self, s: NullSpaceSolve, k: int) -> list[str]:
        """The kernel solves it: rows one after another, of the mass matrix those of its lower
        triangle."""
        arrays = {
            f"mass{k}": [*chain(*s.mass)],
            f"force{k}": s.force,
            f"rows{k}": [*chain(*s.rows)],
            f"right{k}": s.right,
        }
        sizes = {name: max(len(values), 1) for name, values in arrays.items()} | {
            f"rates{k}": len(s.targets)
        }
        self.arrays += [f"real(dp) :: {', '.join(f'{name}({n})' for name, n in sizes.items())}"]
        lines = [f"{name} = 0" for name in arrays]
        for name, values in arrays.items():
            entries = ((i, x) for i, x in enumerate(values, 1) if x is not ZERO)
            lines += [
                line
                for i, x in entries
                for line in wrap_statement(f"{name}({i}) = {self.print_expression(x)}")
            ]
        lines.append(f"call constrained_rates({', '.join(sizes)})")
        return [*lines, *(f"{t.name} = rates{k}({i})" for i, t in enumerate(s.targets, 1))]

    def _array_literal(self, values: Iterable[Expr]) -> str:
        return f"[{', '.join(self.print_expression(x) for x in values)}]"

    def _call_statement(self, s: CallStatement, k: int) -> list[str]:
        routine, n = s.routine, len(s.targets)
        arguments = [self.print_expression(a) for a in s.arguments]
        lines, closing_lines = [], []
        if routine.returns:
            self.arrays.append(f"real(dp) :: values{k}({n})")
            arguments.append(f"values{k}")
        if routine.memory:
            first = self.offsets[routine] + 1
            memory_slice = f"memory({first}:{first + routine.memory - 1})"
            self.arrays.append(f"real(dp) :: kept{k}({routine.memory})")
            lines += ["call c_f_pointer(x%memory, memory, [n_memory])", f"kept{k} = {memory_slice}"]
            arguments.append(f"kept{k}")
            closing_lines.append(
                f"if (iand(x%live, {self.whens[routine]}) /= 0) {memory_slice} = kept{k}"
            )
            if self._MEMORY not in self.arrays:
                self.arrays.append(self._MEMORY)
        name = self.calls[routine]
        if routine.returns:
            lines += wrap_statement(f"call {name}({', '.join(arguments)})")
            closing_lines += [
                f"{t.name} = values{k}({i})" for i, t in enumerate(s.targets, 1) if t is not None
            ]
        else:
            target = s.targets[0]
            if target is None:
                self.arrays.append(f"real(dp) :: unused{k}")
            lines += wrap_statement(
                f"{f'unused{k}' if target is None else target.name} = "
                f"{name}({', '.join(arguments)})"
            )
        return [*lines, *closing_lines]


def fortran_names(symbols: Iterable[Symbol], reserved: Iterable[str]) -> dict[Symbol, str]:
    """An identifier for every symbol; Fortran does not distinguish capitals ."""
    reserved_names = {r.lower() for r in reserved}
    names: dict[Symbol, str] = {}
    for symbol in symbols:
        names[symbol] = safe_identifier(symbol.name.lower()[:LONGEST_NAME], reserved_names)
        reserved_names.add(names[symbol])
    return names
