"""Fortran 2008 source of a program: a module with constants, derivatives, outputs and closed loops.

In:  a `Program`, and the words for its comments. Out: one file. What the equations are evaluated with (time, parameters,
constants, inputs) are variables of the module. Long routines are cut into several that share what they need in an array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bellcrank.emit.c.tables import spline_pieces, surface_pieces
from bellcrank.emit.fortran.printer import FortranPrinter, fortran_names, numbers, wrapped
from bellcrank.emit.fortran.runtime_files import real, runtime
from bellcrank.emit.names import comment, identifier
from bellcrank.emit.parts import LONGEST, cut, shared_symbols
from bellcrank.emit.routines import external_name, fortran_interfaces, fortran_texts
from bellcrank.emit.steps import step_targets
from bellcrank.emit.words import NO_WORDS, Words, output_key
from bellcrank.expr import Expr, Func, Symbol, postorder
from bellcrank.expr.function_table import helpers_in, names_in
from bellcrank.expr.table import Table
from bellcrank.numeric.projection import Scales
from bellcrank.numeric.tuning import ELIMINATION, IMPLICIT
from bellcrank.program.functions import Function
from bellcrank.program.lookup import routine_source
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Assign, Reduce, Section, Solve, Statement, statement_expressions

TIME = Symbol("t", "time")
VALUES = ("start", "update", "entry", "echo")  # in Fortran with `_values`: entry is a word of the language
OWN_NAMES = frozenset((
    "t", "y", "p", "c", "w", "k", "z", "out", "rate", "dp", "n_q", "n_u", "n_s", "n_p", "n_c", "n_w", "n_out", "n_g",
    "n_v", "n_i", "n_memory", "entry_values", "start_values", "update_values", "echo_values", "memory", "live", "constants", "derivatives", "outputs", "closure", "singular_rates", "inertias",
    "model", "solve_symmetric", "constrained_rates", "pivoted", "scaled", "rank_g", "rank_v", "row_scale",
    "column_scale", "usual_ratio", "singular", "steady_ratio", "usual_order", "n_order", "order_row", "order_column", "correct_q", "correct_u", "spline_value", "surface_value", "interval", "cubic",
    "merge", "real", "real64", *names_in("fortran").values(),
))  # fmt: skip


def fortran_source(
    program: Program,
    words: Words = NO_WORDS,
    longest: int = LONGEST,
    extra: Mapping[str, Section] | None = None,
) -> str:
    """The program as a Fortran module `model`; `extra` are further subroutines by name."""
    return _Source(program, words, longest, extra or {}).text()


class _Source:
    """One module in the making."""

    def __init__(self, program: Program, words: Words, longest: int, extra: Mapping[str, Section]) -> None:
        self.program, self.words, self.longest = program, words, longest
        self.functions = [*program.functions_of("minimal"), *(Function.extra(*item) for item in extra.items())]
        states = (*program.coordinates, *program.speeds)
        self.groups = {"y": states, "p": program.parameters, "w": program.inputs}
        self.names = fortran_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {s: f"{letter}({i})" for letter, group in self.groups.items() for i, s in enumerate(group, 1)}
        self.fixed = {s: f"c({i})" for i, s in enumerate(program.constant_symbols, 1)}
        self.tables, self.externals = program.tables, program.externals
        self.calls: dict[Routine, str] = {}
        for t in self.tables:
            self.calls[t] = identifier(f"table_{t.name.lower()}"[:50], self.calls.values()).removeprefix("v_")
        self.calls |= {r: r.name.lower() if r.known_in("fortran") else external_name(r) for r in self.externals}
        self.offsets: dict[Routine, int] = {}
        for r in self.externals:
            self.offsets[r] = sum(other.memory or 0 for other in self.offsets)

    def text(self) -> str:
        parts = [self._head(), "contains", "", self._constants()]
        for f in self.functions:
            if f.name != "constants":
                name = f"{f.name}_values" if f.name in VALUES else f.name
                result = "rate" if f.name == "derivatives" else "out"
                parts.append(self._routine(name, result, f.section, f.kind.what))
        parts += [self._helpers(), *self._externals(), "end module model", ""]
        return "\n".join(p for p in parts if p)

    # ---- parts of the file

    def _head(self) -> str:
        p, count = self.program, self.program.count
        lines = [
            f"! {comment(p.name)}",
            "!",
            f"! {len(p.coordinates)} coordinates, {len(p.speeds)} independent speeds. One evaluation of their rates takes"
            f" {count.add} additions,",
            f"! {count.multiply} multiplications, {count.divide} divisions and {count.function} function calls. Written by"
            " Bellcrank; equation units: rad and",
            "! consistent units of length, mass and time. Units below are the user's.",
            "!",
        ]
        for title, letter, symbols in (
            ("states", "y", self.groups["y"]),
            ("parameters", "p", p.parameters),
            ("inputs", "w", p.inputs),
        ):
            lines += [f"! {title}"] if symbols else []
            lines += [self._entry(f"{letter}({i})", s.name) for i, s in enumerate(symbols, 1)]
        lines += ["! outputs"] if p.output_names else []
        lines += [self._entry(f"out({i})", name, output_key(name)) for i, name in enumerate(p.output_names, 1)]
        n_q, n_u = len(p.coordinates), len(p.speeds)
        sizes = {"n_q": n_q, "n_u": n_u, "n_s": n_q + n_u, "n_p": len(p.parameters), "n_c": len(self.fixed)}
        sizes |= {"n_w": len(p.inputs), "n_i": len(p.given_inputs), "n_out": len(p.output_names)}
        sizes["n_memory"] = sum(r.memory or 0 for r in self.externals)
        if p.loops is not None:
            k = p.loops.scales
            sizes |= {"n_g": len(p.loops.g), "n_v": len(p.loops.v), "rank_g": k.rank_g, "rank_v": k.rank_v}
        listed = ", ".join(f"{k} = {v}" for k, v in sizes.items())
        lines += [
            "module model",
            "  use, intrinsic :: iso_fortran_env, only: dp => real64",
            *(
                []
                if all(r.known_in("fortran") for r in self.externals)
                else ["  use, intrinsic :: iso_c_binding, only: c_double"]
            ),
            "  implicit none",
            "  public",
            "",
            *(f"  {line}" for line in wrapped(f"integer, parameter :: {listed}")),
            "",
            *(_scales(p.loops.scales) if p.loops is not None else ()),
            "  ! what the equations are evaluated with",
            "  real(dp) :: t = 0                    ! time, s",
            "  real(dp) :: p(n_p) = 0, c(n_c) = 0   ! parameters, and what follows from them alone",
            "  real(dp) :: w(n_w) = 0               ! inputs",
            "  real(dp) :: memory(n_memory) = 0     ! what external routines remember",
            "  integer :: live = 0                  ! whose memory may change: 1 routines of rates, 2 of outputs",
            "",
            *fortran_interfaces([r for r in self.externals if not r.known_in("fortran")]),
        ]
        return "\n".join(lines)

    def _entry(self, place: str, name: str, key: str = "") -> str:
        unit, label = (words.get(key or name, "") for words in (self.words.unit, self.words.label))
        shown = f"{comment(name)}{f' ({comment(unit)})' if unit else ''}"
        return f"!   {place:7} {shown:24} {comment(label) if label != name else ''}".rstrip()[:130]

    def _constants(self) -> str:
        statements = [s for s in self.program.constants.statements if isinstance(s, Assign)]
        pieces = cut(statements, self.longest)
        texts = []
        for number, piece in enumerate(pieces, 1):
            printer = self._printer()
            loads = self._loads([s.value for s in piece], printer)
            body = [line for s in piece for line in wrapped(f"{self.fixed[s.target]} = {printer.expr(s.value)}")]
            name = "constants" if len(pieces) == 1 else f"constants_{number}"
            texts.append(
                _block(f"subroutine {name}()", "what follows from the parameters alone", [], printer, loads + body)
            )
        if len(pieces) > 1:
            calls = [f"call constants_{i}()" for i in range(1, len(pieces) + 1)]
            texts.append(
                _block("subroutine constants()", "what follows from the parameters alone", [], self._printer(), calls)
            )
        return "\n".join(texts)

    def _printer(self) -> FortranPrinter:
        names = {**self.names, **self.fixed, TIME: "t"}
        whens = {r: self.program.phase(r) for r in self.externals}
        return FortranPrinter(names, self.calls, self.offsets, whens)

    def _loads(self, roots: Iterable[Expr], printer: FortranPrinter) -> list[str]:
        """Named copies of the states, parameters and inputs that expressions use."""
        found = {n for n in postorder(roots) if isinstance(n, Symbol)}
        used = [s for group in self.groups.values() for s in group if s in found]
        printer.declared += [self.names[s] for s in used]
        return [f"{self.names[s]} = {self.place[s]}" for s in used]

    def _routine(self, name: str, result: str, section: Section, what: str) -> str:
        """A routine in as many parts as its length asks for."""
        pieces = cut(section.statements, self.longest)
        shared = shared_symbols(pieces, section.results)
        texts, calls = [], []
        for number, piece in enumerate(pieces[:-1], 1):
            printer = self._printer()
            arguments = [("y", "in", "n_s"), ("z", "inout", str(max(len(shared), 1)))]
            body = self._body(piece, (), shared, printer)
            part = f"{name}_{number}"
            texts.append(
                _block(f"subroutine {part}(y, z)", f"part {number} of {name}", arguments, printer, body, uses=body)
            )
            calls.append(f"call {part}(y, z)")
        printer = self._printer()
        if shared:
            printer.arrays.append(f"real(dp) :: z({len(shared)})")
        body = calls + self._body(pieces[-1], section.results, shared, printer)
        for i, r in enumerate(section.results, 1):
            body += wrapped(f"{result}({i}) = {printer.expr(r)}")
        size = {"derivatives": "n_s", "outputs": "n_out"}.get(name, str(len(section.results)))
        arguments = [("y", "in", "n_s"), (result, "out", size)]
        texts.append(_block(f"subroutine {name}(y, {result})", what, arguments, printer, body, uses=body))
        return "\n".join(texts)

    def _body(
        self, piece: Sequence[Statement], results: Sequence[Expr], shared: dict[Symbol, int], printer: FortranPrinter
    ) -> list[str]:
        roots = [e for s in piece for e in statement_expressions(s)] + list(results)
        lines = self._loads(roots, printer)
        own = {t for s in piece for t in step_targets(s)}
        for symbol in dict.fromkeys(
            n for n in postorder(roots) if isinstance(n, Symbol) and n in shared and n not in own
        ):
            printer.names[symbol] = symbol.name
            printer.declared.append(symbol.name)
            lines.append(f"{symbol.name} = z({shared[symbol] + 1})")
        for s in piece:
            lines += printer.statement(s)
            lines += [f"z({shared[t] + 1}) = {t.name}" for t in step_targets(s) if t in shared]
        return lines

    def _helpers(self) -> str:
        p = self.program
        sections = [f.section for f in self.functions]
        roots = [e for s in sections for x in s.statements for e in statement_expressions(x)]
        roots += [r for s in sections for r in s.results]
        used = {n.name for n in postorder(roots) if isinstance(n, Func) and n.function is None}
        statements = [x for s in sections for x in s.statements]
        parts = helpers_in("fortran", used)
        if any(isinstance(s, Solve | Reduce) for s in statements):
            parts.append(runtime("solve.f90", DEPENDENT=real(ELIMINATION.dependent)))
        if p.loops is not None:
            parts.append(runtime("null_space.f90", VANISHING=real(ELIMINATION.vanishing)))
        if self.tables or self.program.given_inputs:
            parts.append(runtime("spline.f90"))
        if any(len(t.axes) == 2 for t in self.tables):
            parts.append(runtime("surface.f90"))
        helpers = dict.fromkeys(r.writer.helpers for r in self.externals if r.writer is not None and r.writer.helpers)
        parts += [runtime(name, SMALL=real(IMPLICIT.small)) for name in helpers]
        return "\n".join([*parts, *map(self._table, self.tables)])

    def _table(self, t: Table) -> str:
        """A table as a function with its points and pieces."""
        name, letters = self.calls[t], "xy"[: len(t.axes)]
        pieces = (spline_pieces(t) if len(t.axes) == 1 else surface_pieces(t)).ravel().tolist()
        lines = [
            f"  ! table {comment(t.name)}: {'cubic' if t.order == 3 else 'straight'} pieces",
            f"  function {name}({', '.join(letters)}) result(value)",
            f"    real(dp), intent(in) :: {', '.join(letters)}",
            "    real(dp) :: value",
            "    integer :: i",
        ]
        arrays = {f"points_{letter}": list(axis) for letter, axis in zip(letters, t.axes, strict=True)}
        arrays["pieces"] = pieces
        for array, values in arrays.items():
            lines += _array(array, values)
        if len(t.axes) == 1:
            call = f"spline_value(points_x, pieces, {t.derivative[0]}, x)"
        else:
            call = f"surface_value(points_x, points_y, pieces, {t.derivative[0]}, {t.derivative[1]}, x, y)"
        lines += [f"    value = {call}", f"  end function {name}", ""]
        if not any("(i)" in line or "i = 1" in line for line in lines):
            lines.remove("    integer :: i")
        return "\n".join(lines)

    def _externals(self) -> list[str]:
        own = (r for r in self.externals if r.known_in("fortran"))
        return fortran_texts((r, routine_source(self.program, r, "fortran")) for r in own)


def _scales(k: Scales) -> list[str]:
    """Numbers that bring the rows of loops to entries of about one, and what counts as a singular position."""
    lines = [
        f"  real(dp), parameter :: usual_ratio = {k.usual!r}_dp, singular = {real(ELIMINATION.singular)}, usual_order = {k.usual_order!r}_dp",
        f"  integer, parameter :: n_order = {len(k.order)} ! pivots of `derivatives`: their rows and columns",
    ]
    for i, name in enumerate(("order_row", "order_column")):
        listed = ", ".join(str(place[i] + 1) for place in k.order)
        lines += [f"  {line}" for line in wrapped(f"integer, parameter :: {name}(n_order) = [integer :: {listed}]")]
    for name, size, values in (("row_scale", "n_v", k.rows), ("column_scale", "n_u", k.columns)):
        lines += [f"  real(dp), parameter :: {name}({size}) = [ &", f"    {numbers(values)}]"]
    return [*lines, ""]


def _array(name: str, values: Sequence[float]) -> list[str]:
    """A constant array; one that is longer than a statement may be is filled by DATA statements."""
    if len(values) <= 400:
        return [f"    real(dp), parameter :: {name}({len(values)}) = [ &", f"    {numbers(values)}]"]
    lines = [f"    real(dp), save :: {name}({len(values)})"]
    for start in range(0, len(values), 400):
        part = values[start : start + 400]
        lines.append(f"    data ({name}(i), i = {start + 1}, {start + len(part)}) / &\n    {numbers(part)}/")
    return lines


def _block(
    head: str,
    what: str,
    arguments: Sequence[tuple[str, str, str]],
    printer: FortranPrinter,
    body: Sequence[str],
    uses: Sequence[str] = (),
) -> str:
    """A subroutine with its declarations; an argument it does not use is named, so that the compiler need not wonder."""
    declared = list(dict.fromkeys(printer.declared))
    lines = [f"  ! {what}", f"  {head}"]
    lines += [f"    real(dp), intent({intent}) :: {name}({size})" for name, intent, size in arguments]
    if declared:
        lines += [f"    {line}" for line in wrapped(f"real(dp) :: {', '.join(declared)}")]
    lines += [f"    {line}" for line in printer.arrays]
    joined = "\n".join(uses)
    for name, intent, _ in arguments:
        if not re.search(rf"\b{name}\(|\({name},", joined):
            if intent == "out":
                lines.append(f"    {name} = 0")
            else:
                lines.append(f"    if (size({name}) < 0) return ! not used")
    lines += [f"    {line}" for line in body]
    return "\n".join([*lines, f"  end {head.split('(')[0]}", ""])
