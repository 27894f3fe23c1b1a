"""Expressions and statements of a program in JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bellcrank.emit.javascript.runtime_files import real
from bellcrank.emit.memory import SIZE, reduce_sizes
from bellcrank.emit.printer import ATOM, Piece, Printer
from bellcrank.emit.steps import Alike, Angles, Step, step_targets
from bellcrank.expr import Expr, Func, Symbol
from bellcrank.expr.function_table import names_in
from bellcrank.expr.node import Rational
from bellcrank.program.statements import Assign, Call, Reduce, Solve


class JavaScriptPrinter(Printer):
    """Text over the numbers of one memory, m; `routines` are names of tables and external routines in r, `room` is the
    address that statements may use."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = names_in("javascript")
    PI_TEXT = real(3.141592653589793)

    def __init__(
        self, names: Mapping[Symbol, str], routines: Mapping[object, str] | None = None, room: int = 0
    ) -> None:
        super().__init__(names)
        self.routines, self.room = routines or {}, room

    def number(self, value: Rational) -> str:
        return real(float(super().number(value)))

    def choice(self, args: list[Piece]) -> Piece:
        return f"({args[0][0]} ? {args[1][0]} : {args[2][0]})", ATOM

    def routine(self, node: Func, args: list[Piece]) -> Piece:
        return f"r.{self.routines[node.function]}({', '.join(a[0] for a in args)})", ATOM

    def statement(self, s: Step) -> list[str]:
        """The lines of a statement; its targets get their names."""
        lines = self._lines(s)
        self.names.update({t: t.name for t in step_targets(s)})
        return lines

    def _lines(self, s: Step) -> list[str]:
        if isinstance(s, Assign):
            return [f"const {s.target.name} = {self.expr(s.value)};"]
        if isinstance(s, Angles):
            return [line for a in s.angles for line in self._angle(self.expr(a.value), a.sine, a.cosine)]
        if isinstance(s, Call):
            given = "".join(f"{self.expr(a)}, " for a in s.arguments)
            return [f"r.{self.routines[s.routine]}({given}{self.room});", *self._fetched(self.room, s.targets)]
        assert not isinstance(s, Alike)  # schedules for browsers have none
        return self._solve(s) if isinstance(s, Solve) else self._reduce(s)

    def _angle(self, angle: str, sine: Symbol | None, cosine: Symbol | None) -> list[str]:
        targets = (("sin", sine), ("cos", cosine))
        taken = [f"{x.name} = {self.called(f)}({angle})" for f, x in targets if x is not None]
        return [f"const {', '.join(taken)};"] if taken else []

    def _solve(self, s: Solve) -> list[str]:
        n = len(s.right)
        right = self.room + SIZE * n * n
        rows = [x for i, row in enumerate(s.matrix) for x in (*row[: i + 1], *[None] * (n - i - 1))]
        lines = [*self.stored(self.room, rows), *self.stored(right, s.right)]
        return [*lines, f"r.solve({n}, {self.room}, {right});", *self._fetched(right, s.targets)]

    def _reduce(self, s: Reduce) -> list[str]:
        at, starts = self.room, []
        for count in reduce_sizes(s):
            starts.append(at)
            at += SIZE * count
        given = [x for row in s.mass for x in row], s.force, [x for row in s.rows for x in row], s.right
        lines = [line for start, values in zip(starts, given, strict=False) for line in self.stored(start, values)]
        called = f"r.constrained_rates({', '.join(map(str, starts))});"
        return [*lines, called, *self._fetched(starts[-1], s.targets)]

    def stored(self, address: int, values: Iterable[Expr | None]) -> list[str]:
        first = address // SIZE
        return [f"m[{first + i}] = {self.expr(x)};" for i, x in enumerate(values) if x is not None]

    def _fetched(self, address: int, targets: Sequence[Symbol | None]) -> list[str]:
        first = address // SIZE
        taken = [f"{t.name} = m[{first + i}]" for i, t in enumerate(targets) if t is not None]
        return [f"const {', '.join(taken)};"] if taken else []
