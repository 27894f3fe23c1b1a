"""Functions of a program in Fortran: subroutines that load what they use by name, follow the statements, store results.

Functions beyond some length are cut into several that share what they need in an array z.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bellcrank.emit.fortran.lines import wrapped
from bellcrank.emit.fortran.printer import FortranPrinter, fortran_names
from bellcrank.emit.parts import cut, shared_symbols
from bellcrank.emit.steps import step_targets, symbols_in
from bellcrank.expr import ZERO, Expr, Symbol
from bellcrank.expr.function_table import names_in
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Assign, Statement, statement_expressions

TIME = Symbol("t", "time")
VALUES = ("start", "update", "entry", "echo")  # in Fortran with `_values`: entry is a word of the language
OWN_NAMES = frozenset((
    "t", "y", "p", "c", "w", "k", "z", "out", "rate", "dp", "n_q", "n_u", "n_s", "n_p", "n_c", "n_w", "n_out", "n_g",
    "n_v", "n_i", "n_memory", "entry_values", "start_values", "update_values", "echo_values", "memory", "live",
    "constants", "derivatives", "outputs", "closure", "system", "coordinate_rates", "n_paired", "inertias", "model",
    "sides", "solve_symmetric", "constrained_rates", "pivoted", "scaled", "rank_g", "rank_v", "row_scale",
    "column_scale", "usual_ratio", "singular", "steady_ratio", "usual_order", "n_order", "order_row", "order_column",
    "correct_q", "correct_u", "spline_value", "surface_value", "interval", "cubic", "merge", "real", "real64",
    *names_in("fortran").values(),
))  # fmt: skip


class Functions:
    """Prints the functions of a program. `calls`: the names of its routines."""

    def __init__(self, program: Program, calls: Mapping[Routine, str], longest: int) -> None:
        self.program, self.calls, self.longest = program, calls, longest
        states = (*program.coordinates, *program.speeds)
        self.groups = {"y": states, "p": program.parameters, "w": program.inputs}
        self.names = fortran_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {s: f"{letter}({i})" for letter, group in self.groups.items() for i, s in enumerate(group, 1)}
        self.fixed = {s: f"c({i})" for i, s in enumerate(program.constant_symbols, 1)}
        self.whens = {r: program.phase(r) for r in program.externals}
        self.offsets: dict[Routine, int] = {}
        for r in program.externals:
            self.offsets[r] = sum(other.memory or 0 for other in self.offsets)

    def printer(self) -> FortranPrinter:
        return FortranPrinter({**self.names, **self.fixed, TIME: "t"}, self.calls, self.offsets, self.whens)

    def constants(self) -> str:
        pieces = cut([s for s in self.program.constants.statements if isinstance(s, Assign)], self.longest)
        parts = [f"constants_{i}" for i in range(1, len(pieces) + 1)] if len(pieces) > 1 else ["constants"]
        what, texts = "what follows from the parameters alone", []
        for name, piece in zip(parts, pieces, strict=True):
            printer = self.printer()
            body = self._loads([s.value for s in piece], printer)
            body += [line for s in piece for line in wrapped(f"{self.fixed[s.target]} = {printer.expr(s.value)}")]
            texts.append(_block(name, what, {}, printer, body))
        if len(parts) > 1:
            texts.append(_block("constants", what, {}, self.printer(), [f"call {part}()" for part in parts]))
        return "\n".join(texts)

    def text(self, f: Function) -> str:
        """A function in as many parts as its length asks for."""
        name = f"{f.name}_values" if f.name in VALUES else f.name
        result, results = "rate" if f.name == "derivatives" else "out", f.section.results
        pieces = cut(f.section.statements, self.longest)
        shared = shared_symbols(pieces, results)
        texts, calls = [], []
        for number, piece in enumerate(pieces[:-1], 1):
            printer, part = self.printer(), f"{name}_{number}"
            arguments = {"y": ("in", "n_s"), "z": ("inout", str(max(len(shared), 1)))}
            body = self._body(piece, (), shared, printer)
            texts.append(_block(part, f"part {number} of {name}", arguments, printer, body))
            calls.append(f"call {part}(y, z)")
        printer = self.printer()
        if shared:
            printer.arrays.append(f"real(dp) :: z({len(shared)})")
        body = calls + self._body(pieces[-1], results, shared, printer)
        body += [f"{result} = 0"] if f.kind.sparse else []
        for i, r in enumerate(results, 1):
            if not (f.kind.sparse and r is ZERO):
                body += wrapped(f"{result}({i}) = {printer.expr(r)}")
        size = {"derivatives": "n_s", "outputs": "n_out"}.get(name, str(len(results)))
        texts.append(_block(name, f.kind.what, {"y": ("in", "n_s"), result: ("out", size)}, printer, body))
        return "\n".join(texts)

    def _loads(self, roots: Iterable[Expr], printer: FortranPrinter) -> list[str]:
        """Named copies of the states, parameters and inputs that expressions use."""
        found = {*symbols_in(roots)}
        used = [s for group in self.groups.values() for s in group if s in found]
        printer.declared += [self.names[s] for s in used]
        return [f"{self.names[s]} = {self.place[s]}" for s in used]

    def _body(
        self, piece: Sequence[Statement], results: Sequence[Expr], shared: Mapping[Symbol, int], printer: FortranPrinter
    ) -> list[str]:
        roots = [e for s in piece for e in statement_expressions(s)] + list(results)
        lines = self._loads(roots, printer)
        own = {t for s in piece for t in step_targets(s)}
        for symbol in dict.fromkeys(n for n in symbols_in(roots) if n in shared and n not in own):
            printer.names[symbol] = symbol.name
            printer.declared.append(symbol.name)
            lines.append(f"{symbol.name} = z({shared[symbol] + 1})")
        for s in piece:
            lines += printer.statement(s)
            lines += [f"z({shared[t] + 1}) = {t.name}" for t in step_targets(s) if t in shared]
        return lines


def _block(
    name: str, what: str, arguments: Mapping[str, tuple[str, str]], printer: FortranPrinter, body: Sequence[str]
) -> str:
    """A subroutine with its declarations; an argument it does not use is named, so that the compiler need not
    wonder."""
    lines = [f"real(dp), intent({intent}) :: {x}({size})" for x, (intent, size) in arguments.items()]
    lines += printer.declarations()
    joined = "\n".join(body)
    for x, (intent, _) in arguments.items():
        if not re.search(rf"\b{x}\(|\({x},", joined):
            lines.append(f"{x} = 0" if intent == "out" else f"if (size({x}) < 0) return ! not used")
    inner = [f"    {line}" for line in [*lines, *body]]
    return "\n".join(
        [f"  ! {what}", f"  subroutine {name}({', '.join(arguments)})", *inner, f"  end subroutine {name}", ""]
    )
