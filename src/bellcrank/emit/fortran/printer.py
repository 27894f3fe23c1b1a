"""Expressions and statements of a program in Fortran 2008."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import ClassVar

from bellcrank.emit.fortran.lines import wrapped
from bellcrank.emit.names import identifier
from bellcrank.emit.printer import ATOM, TERM, Piece, Printer
from bellcrank.expr import ZERO, Expr, Func, Symbol
from bellcrank.expr.function_table import names_in
from bellcrank.expr.node import Rational
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Assign, Call, Reduce, Statement

LONGEST_NAME = 50  # the standard allows 63
_FLAG = "merge(1.0_dp, 0.0_dp, "


class FortranPrinter(Printer):
    """Text of expressions; `calls` gives the names of tables and user functions, `offsets` where memories begin."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = names_in("fortran")
    PI_TEXT = "3.141592653589793_dp"
    _MEMORY = "real(dp), pointer :: memory(:)"

    def __init__(
        self,
        names: Mapping[Symbol, str],
        routine_names: Mapping[Routine, str] | None = None,
        offsets: Mapping[Routine, int] | None = None,
        whens: Mapping[Routine, int] | None = None,
    ) -> None:
        super().__init__(names)
        self.calls, self.offsets = routine_names or {}, offsets or {}
        self.whens = whens or {}  # memories may change: 1 with rates, 2 with outputs
        self.declared: list[str] = []  # scalars of the routine in the making
        self.arrays: list[str] = []  # declarations of its arrays
        self._groups = 0

    def number(self, value: Rational) -> str:
        return f"{float(value)!r}_dp"

    def integer_power(self, base: str, exponent: int) -> str:
        return f"{base}**{exponent}"

    def power(self, base: Piece, exponent: Rational) -> str:
        if exponent not in (1, 1 / 2) and not isinstance(exponent, int):
            return f"{self.wrap(base, ATOM)}**{self.number(exponent)}"
        return super().power(base, exponent)

    def function(self, node: Func, args: list[Piece]) -> Piece:
        if node.name == "pow" and node.function is None:
            return f"{self.wrap(args[0], ATOM)}**{self.wrap(args[1], ATOM)}", TERM
        return super().function(node, args)

    def comparison(self, name: str, args: list[Piece]) -> Piece:
        text, _ = super().comparison(name, args)
        return f"{_FLAG}{text[1:-1]})", ATOM

    def choice(self, args: list[Piece]) -> Piece:
        flag = args[0][0]
        condition = flag[len(_FLAG) : -1] if flag.startswith(_FLAG) else f".not. abs({flag}) <= 0.0_dp"
        return f"merge({args[1][0]}, {args[2][0]}, {condition})", ATOM

    def routine(self, node: Func, args: list[Piece]) -> Piece:
        return f"{self.calls[node.function]}({', '.join(a[0] for a in args)})", ATOM

    def declarations(self) -> list[str]:
        """Of what the statements so far need."""
        scalars = ", ".join(dict.fromkeys(self.declared))
        return [*(wrapped(f"real(dp) :: {scalars}") if scalars else []), *self.arrays]

    # ---- statements

    def statement(self, s: Statement) -> list[str]:
        """The lines of a statement; its targets get their names."""
        lines = self._lines(s)
        targets = [s.target] if isinstance(s, Assign) else [t for t in s.targets if t is not None]
        self.names.update({t: t.name for t in targets})
        self.declared += [t.name for t in targets]
        return lines

    def _lines(self, s: Statement) -> list[str]:
        if isinstance(s, Assign):
            return wrapped(f"{s.target.name} = {self.expr(s.value)}")
        self._groups += 1
        k = self._groups
        if isinstance(s, Call):
            return self._call(s, k)
        if isinstance(s, Reduce):
            return self._reduce(s, k)
        n = len(s.right)
        self.arrays += [f"real(dp) :: matrix{k}({n}, {n}), right{k}({n})"]
        lines = []
        for i, row in enumerate(s.matrix):
            lines += wrapped(f"matrix{k}({i + 1}, 1:{i + 1}) = {self._array(row[: i + 1])}")
        lines += wrapped(f"right{k} = {self._array(s.right)}")
        lines.append(f"call solve_symmetric(matrix{k}, right{k})")
        return [*lines, *(f"{t.name} = right{k}({i})" for i, t in enumerate(s.targets, 1))]

    def _reduce(self, s: Reduce, k: int) -> list[str]:
        """The kernel solves it: rows one after another, of the mass matrix those of its lower triangle."""
        arrays = {
            f"mass{k}": [*chain(*s.mass)],
            f"force{k}": s.force,
            f"rows{k}": [*chain(*s.rows)],
            f"right{k}": s.right,
        }
        sizes = {name: max(len(values), 1) for name, values in arrays.items()} | {f"rates{k}": len(s.targets)}
        self.arrays += [f"real(dp) :: {', '.join(f'{name}({n})' for name, n in sizes.items())}"]
        lines = [f"{name} = 0" for name in arrays]
        for name, values in arrays.items():
            entries = ((i, x) for i, x in enumerate(values, 1) if x is not ZERO)
            lines += [line for i, x in entries for line in wrapped(f"{name}({i}) = {self.expr(x)}")]
        lines.append(f"call constrained_rates({', '.join(sizes)})")
        return [*lines, *(f"{t.name} = rates{k}({i})" for i, t in enumerate(s.targets, 1))]

    def _array(self, values: Iterable[Expr]) -> str:
        return f"[{', '.join(self.expr(x) for x in values)}]"

    def _call(self, s: Call, k: int) -> list[str]:
        routine, n = s.routine, len(s.targets)
        arguments = [self.expr(a) for a in s.arguments]
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
            closing_lines.append(f"if (iand(x%live, {self.whens[routine]}) /= 0) {memory_slice} = kept{k}")
            if self._MEMORY not in self.arrays:
                self.arrays.append(self._MEMORY)
        name = self.calls[routine]
        if routine.returns:
            lines += wrapped(f"call {name}({', '.join(arguments)})")
            closing_lines += [f"{t.name} = values{k}({i})" for i, t in enumerate(s.targets, 1) if t is not None]
        else:
            target = s.targets[0]
            if target is None:
                self.arrays.append(f"real(dp) :: unused{k}")
            lines += wrapped(f"{f'unused{k}' if target is None else target.name} = {name}({', '.join(arguments)})")
        return [*lines, *closing_lines]


def fortran_names(symbols: Iterable[Symbol], reserved: Iterable[str]) -> dict[Symbol, str]:
    """An identifier for every symbol; Fortran does not distinguish capitals ."""
    reserved_names = {r.lower() for r in reserved}
    names: dict[Symbol, str] = {}
    for symbol in symbols:
        names[symbol] = identifier(symbol.name.lower()[:LONGEST_NAME], reserved_names)
        reserved_names.add(names[symbol])
    return names
