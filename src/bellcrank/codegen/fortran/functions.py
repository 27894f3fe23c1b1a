"""Functions of a program in Fortran: subroutines that load what they use by name, follow the
statements, store results.

All they need are arguments, as in C, which can call them: t, q, u, p, c, w, results, and what user
functions remember. Functions above some length are cut into several that share what they need in an
array z.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.codegen.fortran.line_wrapping import wrap_statement
from bellcrank.codegen.fortran.printer import FortranPrinter, fortran_names
from bellcrank.codegen.schedule_steps import step_targets, symbols_in_order
from bellcrank.codegen.split_functions import shared_symbols, split_steps
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import AssignStatement, Statement, statement_expressions
from bellcrank.symbolic.expr import ZERO, Expr, Symbol
from bellcrank.symbolic.expr.function_table import function_names_in

TIME = Symbol("t", "time")
VALUES = (
    "start",
    "update",
    "entry",
    "echo",
)  # in Fortran with `_values`: entry is a word of the language
GIVEN = ("t", "q", "u", "p", "c", "w")
ARRAYS = {"q": "n_q", "u": "n_u", "p": "n_p", "c": "n_c", "w": "n_w"}
OWN_NAMES = frozenset(
    (
        *GIVEN,
        "qd",
        "ud",
        "x",
        "z",
        "out",
        "dp",
        "n_q",
        "n_u",
        "n_p",
        "n_c",
        "n_w",
        "n_out",
        "n_i",
        "n_memory",
        "entry_values",
        "start_values",
        "update_values",
        "echo_values",
        "memory",
        "externals",
        "constants",
        "derivatives",
        "outputs",
        "closure",
        "system",
        "coordinate_rates",
        "slopes",
        "inertias",
        "model",
        "sides",
        "solve_symmetric",
        "constrained_rates",
        "correct_q",
        "correct_u",
        "spline_value",
        "surface_value",
        "interval",
        "cubic",
        "merge",
        "real",
        "iand",
        "c_f_pointer",
        *function_names_in("fortran").values(),
    )
)


class FortranFunctions:
    """Prints the functions of a program. `calls`: the names of its routines."""

    def __init__(
        self, program: SimulationProgram, routine_names: Mapping[CallableRoutine, str], longest: int
    ) -> None:
        self.program, self.calls, self.longest = program, routine_names, longest
        self.groups = {
            "q": program.coordinates,
            "u": program.speeds,
            "p": program.parameters,
            "w": program.inputs,
        }
        self.names = fortran_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {
            s: f"{letter}({i})"
            for letter, group in self.groups.items()
            for i, s in enumerate(group, 1)
        }
        self.fixed = {s: f"c({i})" for i, s in enumerate(program.constant_symbols, 1)}
        self.whens = {r: program.memory_phase(r) for r in program.externals}
        self.offsets: dict[CallableRoutine, int] = {}
        for r in program.externals:
            self.offsets[r] = sum(earlier.memory or 0 for earlier in self.offsets)

    def make_printer(self) -> FortranPrinter:
        return FortranPrinter(
            {**self.names, **self.fixed, TIME: "t"}, self.calls, self.offsets, self.whens
        )

    def constants(self) -> str:
        statement_groups = split_steps(
            [s for s in self.program.constants.statements if isinstance(s, AssignStatement)],
            self.longest,
        )
        routine_names = (
            [f"constants_{i}" for i in range(1, len(statement_groups) + 1)]
            if len(statement_groups) > 1
            else ["constants"]
        )
        heading, texts = "what follows from the parameters alone", []
        arguments = {"p": ("in", "n_p"), "c": ("inout", "n_c")}
        for name, statements in zip(routine_names, statement_groups, strict=True):
            printer = self.make_printer()
            body = self._argument_loads([s.value for s in statements], printer)
            body += [
                line
                for s in statements
                for line in wrap_statement(
                    f"{self.fixed[s.target]} = {printer.print_expression(s.value)}"
                )
            ]
            bound = "constants" if len(routine_names) == 1 else ""
            texts.append(_subroutine(name, heading, (), arguments, printer, body, bound))
        if len(routine_names) > 1:
            call_lines = [f"call {part}(p, c)" for part in routine_names]
            texts.append(
                _subroutine(
                    "constants",
                    heading,
                    (),
                    arguments,
                    self.make_printer(),
                    call_lines,
                    "constants",
                )
            )
        return "\n".join(texts)

    def function_source(self, f: ProgramFunction) -> str:
        """A function in as many parts as its length asks for."""
        name, results = f"{f.name}_values" if f.name in VALUES else f.name, f.section.results
        statement_groups = split_steps(f.section.statements, self.longest)
        shared = shared_symbols(statement_groups, results)
        texts, call_lines = [], []
        for number, statements in enumerate(statement_groups[:-1], 1):
            printer, part = self.make_printer(), f"{name}_{number}"
            body = self._part_body(statements, (), shared, printer)
            arguments = {"z": ("inout", str(max(len(shared), 1)))}
            texts.append(
                _subroutine(part, f"part {number} of {name}", GIVEN, arguments, printer, body)
            )
            call_lines.append(f"call {part}({', '.join(GIVEN)}, z, x)")
        printer = self.make_printer()
        if shared:
            printer.arrays.append(f"real(dp) :: z({len(shared)})")
        body = call_lines + self._part_body(statement_groups[-1], results, shared, printer)
        size = "n_out" if name == "outputs" else str(len(results))
        arguments = {"out": ("out", size)}
        targets = [f"out({i})" for i in range(1, len(results) + 1)]
        if name == "derivatives":
            n_q, n_u = len(self.program.coordinates), len(self.program.speeds)
            arguments = {"qd": ("out", "n_q"), "ud": ("out", "n_u")}
            targets = [f"{x}({i})" for x, n in (("qd", n_q), ("ud", n_u)) for i in range(1, n + 1)]
        body += ["out = 0"] if f.kind.sparse else []
        for target, r in zip(targets, results, strict=True):
            if not (f.kind.sparse and r is ZERO):
                body += wrap_statement(f"{target} = {printer.print_expression(r)}")
        bound = C_NAMES.get(f.name, f.name)
        texts.append(_subroutine(name, f.kind.what, GIVEN, arguments, printer, body, bound))
        return "\n".join(texts)

    def _argument_loads(self, roots: Iterable[Expr], printer: FortranPrinter) -> list[str]:
        """Named copies of the states, parameters and inputs that expressions use."""
        symbols = {*symbols_in_order(roots)}
        loaded = [s for group in self.groups.values() for s in group if s in symbols]
        printer.declared += [self.names[s] for s in loaded]
        return [f"{self.names[s]} = {self.place[s]}" for s in loaded]

    def _part_body(
        self,
        statements: Sequence[Statement],
        results: Sequence[Expr],
        shared: Mapping[Symbol, int],
        printer: FortranPrinter,
    ) -> list[str]:
        roots = [e for s in statements for e in statement_expressions(s)] + list(results)
        lines = self._argument_loads(roots, printer)
        local_targets = {t for s in statements for t in step_targets(s)}
        for symbol in dict.fromkeys(
            n for n in symbols_in_order(roots) if n in shared and n not in local_targets
        ):
            printer.names[symbol] = symbol.name
            printer.declared.append(symbol.name)
            lines.append(f"{symbol.name} = z({shared[symbol] + 1})")
        for s in statements:
            lines += printer.print_statement(s)
            lines += [f"z({shared[t] + 1}) = {t.name}" for t in step_targets(s) if t in shared]
        return lines


def _subroutine(
    name: str,
    heading: str,
    fixed: Sequence[str],
    arguments: Mapping[str, tuple[str, str]],
    printer: FortranPrinter,
    body: Sequence[str],
    bound: str = "",
) -> str:
    """A subroutine with its declarations; one with a name `bound` can be called by C. What is
    `fixed` comes first, with the user functions at the end. Large arrays of what is recursive are
    no variables that calls share."""
    lines = ["real(dp), value :: t"] if fixed else []
    lines += (
        [f"real(dp), intent(in) :: {', '.join(f'{x}({ARRAYS[x]})' for x in fixed[1:])}"]
        if fixed
        else []
    )
    for intent in dict.fromkeys(intent for intent, _ in arguments.values()):
        dimensioned = (
            f"{x}({size})"
            for x, (argument_intent, size) in arguments.items()
            if argument_intent == intent
        )
        lines.append(f"real(dp), intent({intent}) :: {', '.join(dimensioned)}")
    lines += ["type(externals), intent(inout) :: x"] if fixed else []
    lines += printer.declarations()
    argument_list = ", ".join([*fixed, *arguments, *(["x"] if fixed else [])])
    head = f"recursive subroutine {name}({argument_list})" + (
        f' bind(C, name="{bound}")' if bound else ""
    )
    inner = [f"    {line}" for line in [*lines, *body]]
    return "\n".join([f"  ! {heading}", f"  {head}", *inner, f"  end subroutine {name}", ""])
