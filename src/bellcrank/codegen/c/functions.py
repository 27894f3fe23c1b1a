"""Functions of a program in C: arguments are loaded by name, statements follow as arranged, results
are stored.

Functions above some length are cut into several that share what they need in an array z.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.codegen.c.outputs_from_rhs import SharedValues
from bellcrank.codegen.c.printer import CPrinter, ExternalCall
from bellcrank.codegen.c.split_source import HALF
from bellcrank.codegen.identifiers import comment_text, safe_names
from bellcrank.codegen.number_type import NumberType
from bellcrank.codegen.schedule import StepSchedule
from bellcrank.codegen.schedule_steps import (
    SinCosGroup,
    Step,
    step_expressions,
    step_targets,
    symbols_in_order,
)
from bellcrank.codegen.split_functions import shared_symbols, split_steps
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import AssignStatement, CallStatement
from bellcrank.symbolic.expr import ZERO, Expr, Symbol
from bellcrank.symbolic.expr.table import Table

TIME = Symbol("t", "time")
OWN_NAMES = frozenset(
    (
        "t",
        "q",
        "u",
        "p",
        "c",
        "w",
        "x",
        "z",
        "qd",
        "ud",
        "out",
        "real",
        "sincos_all",
        "atan_all",
        "solve_symmetric",
        "call_external",
        "memory_of",
        "LANES",
        "FILL_1",
        "FILL_2",
        "FILL_3",
        "EXPORT",
        "ONCE",
        "SEPARATE",
        "lanes",
        "choose",
        "one_if",
        "N_LANES",
        HALF,
    )
)  # what the statements of a function may use besides the names of the model
MAX_OPTIMIZED_CONSTANTS = (
    300  # constants, above which a compiler takes longer to make them fast than all runs gain
)
C_NAMES = {"system": "system_at"}  # the C library has a function `system`


class CFunctions:
    """Prints the functions of a program. `tables` and `calls`: how its routines are called."""

    def __init__(
        self,
        program: SimulationProgram,
        tables: Mapping[Table, str],
        user_calls: Mapping[CallableRoutine, ExternalCall],
        longest: int,
        number: NumberType,
    ) -> None:
        self.program, self.tables, self.calls, self.longest, self.number_type = (
            program,
            tables,
            user_calls,
            longest,
            number,
        )
        self.groups = {
            "q": program.coordinates,
            "u": program.speeds,
            "p": program.parameters,
            "w": program.inputs,
        }
        self.names = safe_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {
            s: f"{letter}[{i}]"
            for letter, group in self.groups.items()
            for i, s in enumerate(group)
        }
        self.place[TIME] = self.names[TIME] = "t"
        self.fixed = {s: f"c[{i}]" for i, s in enumerate(program.constant_symbols)}
        real = number.c
        self.declared = {
            **dict.fromkeys("qupcw", f"const {real} *restrict {{}}"),
            **dict.fromkeys(("qd", "ud", "out", "z"), f"{real} *restrict {{}}"),
            "t": f"{real} {{}}",
            "x": "Externals *{}",
        }

    def make_printer(self, computed: Iterable[Symbol] = ()) -> CPrinter:
        """For a function; `computed`: what was computed before it, under names of its own."""
        names = {**self.names, **self.fixed, **{s: s.name for s in computed}}
        return CPrinter(names, self.tables, self.calls, self.number_type)

    def function_sources(
        self,
        plans: Iterable[tuple[ProgramFunction, StepSchedule]],
        shared_values: Sequence[Symbol] = (),
    ) -> dict[str, str]:
        """Functions by name, arranged; `shared_values`: the last results of the rates, from which
        outputs continue."""
        sources, values = {}, None
        for f, plan in plans:
            if shared_values and f.name == "derivatives":
                sources[f.name], values = self._rhs_with_shared_values(f, plan, shared_values)
            else:
                sources[f.name] = self.function_source(
                    f, plan, values if f.name == "outputs" else None
                )
        return sources

    def function_source(
        self, f: ProgramFunction, plan: StepSchedule, values: SharedValues | None = None
    ) -> str:
        """A function, arranged, with what it gives."""
        stores: dict[str, Sequence[str]] = {"out": f.labels}
        if f.name == "derivatives":
            stores = self._rate_labels(f)
        name = C_NAMES.get(f.name, f.name)
        head = f"{values.prototype};\n\n" if values is not None else ""
        return (
            f"/* ---- {f.kind.what} "
            f"*/\n\n{head}{self._split_function(name, plan, stores, f.kind.sparse, values)}"
        )

    def _rate_labels(self, f: ProgramFunction) -> dict[str, Sequence[str]]:
        n_q = len(self.program.coordinates)
        return {"qd": f.labels[:n_q], "ud": f.labels[n_q:]}

    def _rhs_with_shared_values(
        self, f: ProgramFunction, plan: StepSchedule, shared_values: Sequence[Symbol]
    ) -> tuple[str, SharedValues]:
        """The rates by a function that leaves values `shared_values` in an array, and where they
        are."""
        count, name, real = len(f.labels), f"{f.name}_and_values", self.number_type.c
        results = dict(zip(shared_values, plan.results[count:], strict=True))
        step_groups = split_steps(plan.steps, self.longest)
        shared = shared_symbols(step_groups, plan.results[:count])
        defined = {t for s in plan.steps for t in step_targets(s)}
        for r in results.values():
            if isinstance(r, Symbol) and r in defined:
                shared.setdefault(r, len(shared))
        extra_symbols = [s for s, r in results.items() if r not in shared]
        z_indices = {
            s: shared[r] for s, r in results.items() if isinstance(r, Symbol) and r in shared
        }
        z_indices |= {s: len(shared) + i for i, s in enumerate(extra_symbols)}
        size = len(shared) + len(extra_symbols)
        printer, labels = self.make_printer(), self._rate_labels(f)
        lines, call_lines, arguments_so_far = self._leading_parts(
            f.name, step_groups[:-1], shared, printer
        )
        last = [*plan.results[:count], *(results[s] for s in extra_symbols)]
        body, used_arguments = self._part_body(step_groups[-1], last, shared, printer)
        stored = self._store_statements(labels, plan.results[:count], printer)
        stored += [
            f"z[{z_indices[s]}] = {printer.print_expression(results[s])};" for s in extra_symbols
        ]
        unused = _void_casts({*_ARGUMENTS} - arguments_so_far - used_arguments)
        arguments = ["t", "q", "u", "p", "c", "w", *labels]
        prototype = self._function_signature(f"SEPARATE EXPORT void {name}", [*arguments, "z", "x"])
        lines += _braced_block(prototype, [*unused, *call_lines, *body, *stored])
        call = f"{name}({', '.join([*arguments, 'z', 'x'])});"
        head = self._function_signature(f"EXPORT void {f.name}", [*arguments, "x"])
        lines += _braced_block(head, [f"{real} z[{size}];", call])
        rates = ", ".join(f"{array}[{max(1, len(notes))}]" for array, notes in labels.items())
        text = "\n".join([f"/* ---- {f.kind.what} */", "", *lines])
        return text, SharedValues(z_indices, size, [f"{real} {rates};", call], prototype)

    def constants(self) -> str:
        printer = self.make_printer()
        statement_groups = split_steps(
            [s for s in self.program.constants.statements if isinstance(s, AssignStatement)],
            self.longest,
        )
        head = f"(const {self.number_type.c} *restrict p, {self.number_type.c} *restrict c)"
        lines = ["/* ---- what follows from the parameters alone */", ""]
        once_mark = "ONCE " if sum(map(len, statement_groups)) > MAX_OPTIMIZED_CONSTANTS else ""
        for number, statements in enumerate(statement_groups, 1):
            loads, used_arguments = self._argument_loads([s.value for s in statements])
            unused = {"p"} - used_arguments | ({"c"} if not statements else set())
            stores = [
                f"{self.fixed[s.target]} = {printer.print_expression(s.value)};" for s in statements
            ]
            name = (
                "EXPORT void constants"
                if len(statement_groups) == 1
                else f"SEPARATE static void constants_{number}"
            )
            lines += _braced_block(once_mark + name + head, [*_void_casts(unused), *loads, *stores])
        if len(statement_groups) > 1:
            call_lines = [
                f"constants_{number}(p, c);" for number in range(1, len(statement_groups) + 1)
            ]
            lines += _braced_block(f"EXPORT void constants{head}", call_lines)
        return "\n".join(lines)

    def _argument_loads(
        self, roots: Iterable[Expr], early: Iterable[Expr] = ()
    ) -> tuple[list[str], set[str]]:
        """Named copies of the arguments that expressions use and `early` do not, and the letters of
        these arguments."""
        symbols = {*symbols_in_order(roots)}.difference(symbols_in_order(early))
        used_arguments = {self.place[s][0] for s in symbols if s in self.place} | {
            "c" for s in symbols if s in self.fixed
        }
        lines = []
        for letter, group in self.groups.items():
            copies = [
                f"{self.names[s]} = {letter}[{i}]" for i, s in enumerate(group) if s in symbols
            ]
            lines += _wrapped_declarations(f"const {self.number_type.c} ", copies)
        return lines, used_arguments

    def _split_function(
        self,
        name: str,
        plan: StepSchedule,
        stores: Mapping[str, Sequence[str]],
        sparse: bool = False,
        values: SharedValues | None = None,
    ) -> str:
        """A function in as many parts as its length asks for; stores: what is stored to each array,
        for comments.

        `sparse`: zeros are not stored one by one. `values`: what it begins with.
        """
        printer = self.make_printer(values.places if values is not None else ())
        step_groups = split_steps(plan.steps, self.longest)
        shared = shared_symbols(step_groups, plan.results)
        z_size, rates_call = len(shared), []
        if values is not None:
            shared = {**values.places, **{s: values.size + i for s, i in shared.items()}}
            z_size, rates_call = z_size + values.size, list(values.call)
        lines, call_lines, arguments_so_far = self._leading_parts(
            name, step_groups[:-1], shared, printer
        )
        call_lines = [
            *([f"{self.number_type.c} z[{z_size}];"] if shared else []),
            *rates_call,
            *call_lines,
        ]
        arguments_so_far |= {*_ARGUMENTS} if rates_call else set()
        body, used_arguments = self._part_body(step_groups[-1], plan.results, shared, printer)
        unused = {*_ARGUMENTS} - arguments_so_far - used_arguments | {
            array for array, notes in stores.items() if not notes
        }
        results = self._store_statements(stores, plan.results, printer, sparse)
        head = self._function_signature(
            f"EXPORT void {name}", ["t", "q", "u", "p", "c", "w", *stores, "x"]
        )
        return "\n".join(
            [*lines, *_braced_block(head, [*_void_casts(unused), *call_lines, *body, *results])]
        )

    def _leading_parts(
        self,
        name: str,
        step_groups: Sequence[Sequence[Step]],
        shared: Mapping[Symbol, int],
        printer: CPrinter,
    ) -> tuple[list[str], list[str], set[str]]:
        """All parts of a function but the last, their calls, and the letters of the arguments they
        use."""
        lines: list[str] = []
        call_lines: list[str] = []
        arguments_so_far: set[str] = set()
        for number, steps in enumerate(step_groups, 1):
            body, used_arguments = self._part_body(steps, (), shared, printer)
            arguments = [a for a in _ARGUMENTS if a in used_arguments] + ["z"]
            lines += _braced_block(
                self._function_signature(f"SEPARATE static void {name}_{number}", arguments), body
            )
            call_lines.append(f"{name}_{number}({', '.join(arguments)});")
            arguments_so_far |= used_arguments
        return lines, call_lines, arguments_so_far

    def _store_statements(
        self,
        stores: Mapping[str, Sequence[str]],
        results: Sequence[Expr],
        printer: CPrinter,
        sparse: bool = False,
    ) -> list[str]:
        """Results as they are stored, with what each is."""
        targets = [
            (f"{array}[{i}]", note)
            for array, notes in stores.items()
            for i, note in enumerate(notes)
        ]
        lines = [
            f"{target} = {printer.print_expression(r)}; /* {comment_text(note)} */"
            for (target, note), r in zip(targets, results, strict=True)
            if not (sparse and r is ZERO)
        ]
        return [f"memset(out, 0, {len(targets)}*sizeof *out);", *lines] if sparse else lines

    def _part_body(
        self,
        steps: Sequence[Step],
        results: Sequence[Expr],
        shared: Mapping[Symbol, int],
        printer: CPrinter,
    ) -> tuple[list[str], set[str]]:
        """Lines of a part of a function, and the letters of the arguments it uses.

        What the first angles do not need is loaded after them: the C library may be called there,
        which would have to save it.
        """
        roots = [e for s in steps for e in step_expressions(s)] + list(results)
        printer.used = {*symbols_in_order(roots), *shared}
        angles = next((i for i, s in enumerate(steps) if isinstance(s, SinCosGroup)), -1)
        first = [e for s in steps[: angles + 1] for e in step_expressions(s)]
        lines, used_arguments = self._argument_loads(first)
        late_loads, late_arguments = self._argument_loads(roots, first)
        used_arguments |= late_arguments
        lines += late_loads if angles < 0 else []
        defined: set[Symbol] = set()
        for i, s in enumerate(steps):
            for symbol in _new_shared_symbols(step_expressions(s), shared, defined):
                lines.append(f"const {self.number_type.c} {symbol.name} = z[{shared[symbol]}];")
            lines += printer.print_statement(s)
            defined.update(step_targets(s))
            lines += [f"z[{shared[t]}] = {t.name};" for t in step_targets(s) if t in shared]
            lines += late_loads if i == angles else []
            if isinstance(s, CallStatement) and (
                self.calls[s.routine].c_name is None or s.routine.memory
            ):
                used_arguments.add("x")
        for symbol in _new_shared_symbols(results, shared, defined):
            lines.append(f"const {self.number_type.c} {symbol.name} = z[{shared[symbol]}];")
        return lines, used_arguments

    def _function_signature(self, head: str, arguments: Sequence[str]) -> str:
        lines = _wrapped_declarations("", [self.declared[a].format(a) for a in arguments], 100)
        return f"{head}(" + ",\n    ".join(line[:-1] for line in lines) + ")"


def _new_shared_symbols(
    roots: Iterable[Expr], shared: Mapping[Symbol, int], defined: set[Symbol]
) -> list[Symbol]:
    """Shared symbols met for the first time in this function."""
    if not shared:
        return []
    new_symbols = [s for s in symbols_in_order(roots) if s in shared and s not in defined]
    defined.update(new_symbols)
    return new_symbols


def _braced_block(head: str, body: Sequence[str]) -> list[str]:
    return [head, "{", *(f"    {line}" if line else "" for line in body), "}", ""]


def _wrapped_declarations(start: str, items: Sequence[str], width: int = 112) -> list[str]:
    """Declarations, several to a line."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 < width:
            lines[-1] += f", {item}"
        else:
            lines.append(start + item)
    return [f"{line};" for line in lines]


_ARGUMENTS = ("t", "q", "u", "p", "c", "w", "x")


def _void_casts(unused: set[str]) -> list[str]:
    return [f"(void){a};" for a in sorted(unused)]


def call_signature(name: str) -> str:
    """How a function is called, for comments."""
    results = {"derivatives": "qd, ud"}.get(name, "out")
    return (
        "constants(p, c)"
        if name == "constants"
        else f"{C_NAMES.get(name, name)}(t, q, u, p, c, w, {results}, x)"
    )
