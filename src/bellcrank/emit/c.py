"""C99 source of a program: constants, derivatives, outputs, and the loop of a whole run.

In:  a `Program`, and the words for its comments. Out: one file that needs nothing but a C compiler. Statements are arranged by
`schedule`; functions beyond some length are cut into several that share what they need in an array z, because compile
time grows faster than the length of a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, ClassVar

from bellcrank.emit.c_tables import table_functions
from bellcrank.emit.names import comment, identifier, safe_names
from bellcrank.emit.printer import ATOM, Piece, Printer
from bellcrank.emit.schedule import Angles, Options, Schedule, Step, needed, schedule, step_expressions, step_targets
from bellcrank.expr import Expr, Func, Symbol, postorder
from bellcrank.expr.table import Table
from bellcrank.program.program import Assign, Call, Program, Section, Solve

LONGEST = 1500  # statements in one function
TIME = Symbol("t", "time")
OWN_NAMES = """t q u p c w z qd ud x out constants derivatives outputs run rates record advance all_finite set_inputs input_value
    interval spline_value surface_value cubic solve_symmetric sincos_all sign smaller larger call_external memory_of Job Input
    Externals LANES RK2 RK4 EULER CONSTANT STEP RAMP SINE CHIRP PIECES FUNCTION FINISHED""".split()


@dataclass(frozen=True)
class Words:
    """What comments say about names: labels and units, by the name of a symbol or output."""

    label: Mapping[str, str] = field(default_factory=dict)
    unit: Mapping[str, str] = field(default_factory=dict)


class CPrinter(Printer):
    FUNCTIONS: ClassVar[Mapping[str, str]] = {
        **{n: n for n in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "sqrt", "pow", "sign")},
        "abs": "fabs",
        "min": "smaller",
        "max": "larger",
    }
    PI_TEXT = "3.141592653589793"

    def __init__(self, names: Mapping[Symbol, str], tables: Mapping[Any, str], calls: Mapping[Any, ExternalCall]) -> None:
        super().__init__(names)
        self.tables = tables
        self.calls = calls
        self._groups = 0

    def choice(self, args: list[Piece]) -> Piece:
        condition = args[0][0] if args[0][0].startswith("(") else f"{args[0][0]} != 0.0"
        return f"({condition} ? {args[1][0]} : {args[2][0]})", ATOM

    def comparison(self, name: str, args: list[Piece]) -> Piece:
        return super().comparison(name, args)

    def integer_power(self, base: str, exponent: int) -> str:
        simple = base.replace("[", "_").replace("]", "_").isidentifier()
        return "*".join([base] * exponent) if simple and exponent <= 3 else f"pow({base}, {self.number(exponent)})"

    def routine(self, node: Func, args: list[Piece]) -> Piece:
        return f"{self.tables[node.function]}({', '.join(a[0] for a in args)})", ATOM

    # ---- statements

    def step(self, s: Step) -> list[str]:
        """The lines of a statement; its targets get their names."""
        lines = self._lines(s)
        self.names.update({t: t.name for t in step_targets(s)})
        return lines

    def _lines(self, s: Step) -> list[str]:
        if isinstance(s, Assign):
            return [f"const double {s.target.name} = {self.expr(s.value)};"]
        self._groups += 1
        if isinstance(s, Angles):
            return self._angles(s, self._groups)
        if isinstance(s, Call):
            return self.calls[s.routine].lines([self.expr(a) for a in s.arguments], s.targets, self._groups)
        return self._solve(s, self._groups)

    def _angles(self, s: Angles, k: int) -> list[str]:
        n = len(s.angles)
        size = f"LANES({n})" if n > 1 else "1"
        lines = [
            f"const double angle{k}[{size}] = {{{', '.join(self.expr(a.value) for a in s.angles)}}};",
            f"double sine{k}[{size}], cosine{k}[{size}];",
            f"sincos_all({size}, angle{k}, sine{k}, cosine{k});",
        ]
        for i, a in enumerate(s.angles):
            taken = [f"{x.name} = {f}{k}[{i}]" for x, f in ((a.sine, "sine"), (a.cosine, "cosine")) if x is not None]
            lines.append(f"const double {', '.join(taken)};")
        return lines

    def _solve(self, s: Solve, k: int) -> list[str]:
        n = len(s.right)
        rows = [
            ", ".join(self.expr(x) if j <= i else "0.0" for j, x in enumerate(row)) for i, row in enumerate(s.matrix)
        ]
        return [
            f"double matrix{k}[{n * n}] = {{",
            *(f"    {row}," for row in rows),
            "};",
            f"double right{k}[{n}] = {{{', '.join(self.expr(x) for x in s.right)}}};",
            f"solve_symmetric({n}, matrix{k}, right{k});",
            *(f"const double {t.name} = right{k}[{i}];" for i, t in enumerate(s.targets)),
        ]


@dataclass(frozen=True)
class ExternalCall:
    """How an external routine is called: written in C in this file, or through the callback."""

    routine: Any
    number: int
    offset: int  # of its memory
    function: str | None  # its name in C, if it is here

    def lines(self, arguments: list[str], targets: Sequence[Symbol | None], k: int) -> list[str]:
        given = list(arguments)
        lines = []
        if self.function is None:
            lines.append(f"const double arguments{k}[{max(len(given), 1)}] = {{{', '.join(given) or '0.0'}}};")
            lines.append(f"double values{k}[{len(targets)}];")
            lines.append(f"call_external(x, {self.number}, arguments{k}, values{k}, {len(targets)});")
        else:
            returned = bool(self.routine.returns)
            if returned:
                given.append(f"values{k}")
            if self.routine.memory:
                lines.append(f"double memory{k}[{self.routine.memory}];")
                given.append(f"memory_of(x, {self.offset}, {self.routine.memory}, memory{k})")
            lines.append(f"double values{k}[{len(targets)}];")
            call = f"{self.function}({', '.join(given)});"
            lines.append(call if returned else f"values{k}[0] = {call}")
        taken = [f"{t.name} = values{k}[{i}]" for i, t in enumerate(targets) if t is not None]
        return [*lines, *([f"const double {', '.join(taken)};"] if taken else [])]


def c_source(
    program: Program,
    words: Words = Words(),
    options: Options = Options(),
    outside: Iterable[str] = (),
    longest: int = LONGEST,
) -> str:
    """The program as C source. External routines named in `outside` are called back even if they are given in C."""
    return _Source(program, words, options, {n.lower() for n in outside}, longest).text()


def external_functions(program: Program, outside: Iterable[str] = ()) -> tuple[list[Any], int]:
    """The external routines that the source calls back, by number, and the size of the memory of the others."""
    away = {n.lower() for n in outside}
    calls = _external_calls(program, away)
    size = sum(c.routine.memory or 0 for c in calls.values() if c.function is not None)
    return [c.routine for c in calls.values() if c.function is None], size


def _external_calls(program: Program, outside: set[str]) -> dict[Any, ExternalCall]:
    calls: dict[Any, ExternalCall] = {}
    number = offset = 0
    for routine in program.routines:
        if isinstance(routine, Table):
            continue
        if routine.c and routine.name.lower() not in outside:
            calls[routine] = ExternalCall(routine, -1, offset, f"external_{identifier(routine.name)}")
            offset += routine.memory or 0
        else:
            calls[routine] = ExternalCall(routine, number, 0, None)
            number += 1
    return calls


class _Source:
    """One source file in the making."""

    def __init__(self, program: Program, words: Words, options: Options, outside: set[str], longest: int) -> None:
        self.program, self.words, self.longest = program, words, longest
        self.groups = {"q": program.coordinates, "u": program.speeds, "p": program.parameters, "w": program.inputs}
        self.names = safe_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {s: f"{letter}[{i}]" for letter, group in self.groups.items() for i, s in enumerate(group)}
        self.place[TIME] = self.names[TIME] = "t"
        self.fixed = {s: f"c[{i}]" for i, s in enumerate(program.constant_symbols)}
        self.tables = table_functions([r for r in program.routines if isinstance(r, Table)])
        self.calls = _external_calls(program, outside)
        self.derivatives = schedule(program.derivatives, options)
        wanted = needed(program.outputs, program.derivatives.statements)
        self.outputs = schedule(wanted, Options(critical_path=False))

    def printer(self) -> CPrinter:
        return CPrinter({**self.names, **self.fixed}, self.tables.names, self.calls)

    def text(self) -> str:
        parts = [self._head(), self._helpers(), *self.tables.text, self._externals(), self._constants()]
        n_q = len(self.program.coordinates)
        states = [*self.program.coordinates, *self.program.speeds]
        stores = [f"qd[{i}]" if i < n_q else f"ud[{i - n_q}]" for i in range(len(states))]
        notes = [f"{s.name}'" for s in states]
        parts.append(self._function("derivatives", "double *restrict qd, double *restrict ud", self.derivatives, stores, notes))
        stores = [f"out[{i}]" for i in range(len(self.program.output_names))]
        parts.append(self._function("outputs", "double *restrict out", self.outputs, stores, self.program.output_names))
        parts.append(self._run())
        return "\n".join(p for p in parts if p)

    # ---- parts of the file

    def _head(self) -> str:
        p, count = self.program, self.program.count
        lines = [
            f"/* {comment(p.name)}",
            "",
            f"   {len(p.coordinates)} coordinates, {len(p.speeds)} independent speeds. One evaluation of their rates takes"
            f" {count.add} additions,",
            f"   {count.multiply} multiplications, {count.divide} divisions and {count.function} function calls. Written by"
            " Bellcrank; equation units: rad and",
            "   consistent units of length, mass and time. Units below are the user's.",
            "",
            "   constants(p, c)                               what follows from the parameters alone",
            "   derivatives(t, q, u, p, c, w, qd, ud, x)      rates of all coordinates and speeds",
            "   outputs(t, q, u, p, c, w, out, x)             further channels",
            "   run(job)                                      a whole run with a fixed step",
            "",
        ]
        kinds = {"q": "coordinates", "u": "speeds", "p": "parameters", "w": "inputs"}
        for letter, group in self.groups.items():
            lines += [f"   {kinds[letter]}"] if group else []
            lines += [self._entry(f"{letter}[{i}]", s.name) for i, s in enumerate(group)]
        lines += ["   outputs"] if p.output_names else []
        lines += [self._entry(f"out[{i}]", name) for i, name in enumerate(p.output_names)]
        lines += ["*/", "", "#include <float.h>", "#include <math.h>", "#include <stdint.h>", "#include <string.h>", ""]
        n_q, n_u = len(p.coordinates), len(p.speeds)
        sizes = {"Q": n_q, "U": n_u, "S": n_q + n_u, "P": len(p.parameters), "C": len(self.fixed), "W": len(p.inputs)}
        sizes["OUT"] = len(p.output_names)
        lines.append(f"enum {{ {', '.join(f'N_{k} = {v}' for k, v in sizes.items())} }};")
        return "\n".join([*lines, "", *_EXPORT])

    def _entry(self, place: str, name: str) -> str:
        unit, label = self.words.unit.get(name, ""), self.words.label.get(name, "")
        shown = f"{comment(name)}{f' ({comment(unit)})' if unit else ''}"
        return f"     {place:7} {shown:24} {comment(label) if label != name else ''}".rstrip()

    def _helpers(self) -> str:
        """Routines that the statements call."""
        used = set()
        sections = [self.program.constants, self.program.derivatives, self.program.outputs]
        for node in postorder([e for s in sections for e in _roots(s)]):
            if isinstance(node, Func) and node.function is None:
                used.add(node.name)
        parts = [_HELPERS[name] for name in ("sign", "min", "max") if name in used]
        if any(isinstance(s, Angles) for s in (*self.derivatives.steps, *self.outputs.steps)):
            parts += [_LANES, template("sincos.c")]
        if any(isinstance(s, Solve) for s in (*self.derivatives.steps, *self.outputs.steps)):
            parts.append(template("solve.c"))
        if self.tables.names or self.program.inputs:
            parts.append(template("spline.c"))
        if any(len(t.axes) == 2 for t in self.tables.names):
            parts.append(template("surface.c"))
        return "\n".join(parts)

    def _externals(self) -> str:
        lines = [_EXTERNALS]
        own = [c for c in self.calls.values() if c.function is not None]
        if any(c.function is None for c in self.calls.values()):
            lines.append(_CALLBACK)
        if any(c.routine.memory for c in own):
            lines.append(_MEMORY)
        for c in own:
            name = identifier(c.routine.name)
            lines += [f"#define {name} {c.function}", c.routine.c.strip(), f"#undef {name}", ""]
        return "\n".join(lines)

    def _constants(self) -> str:
        printer = self.printer()
        statements = [s for s in self.program.constants.statements if isinstance(s, Assign)]
        pieces = [statements[i : i + self.longest] for i in range(0, len(statements), self.longest)] or [[]]
        lines: list[str] = []
        for number, piece in enumerate(pieces, 1):
            name = "constants" if len(pieces) == 1 else f"constants_{number}"
            head = "EXPORT void" if len(pieces) == 1 else "SEPARATE static void"
            body = [f"c[{self.fixed[s.target][2:-1]}] = {printer.expr(s.value)};" for s in piece]
            loads, used = self._loads(e for s in piece for e in (s.value,))
            body = [f"(void){a};" for a in ("p", "c") if a not in used and not (a == "c" and piece)] + loads + body
            lines += _block(f"{head} {name}(const double *restrict p, double *restrict c)", body)
        if len(pieces) > 1:
            calls = [f"constants_{number}(p, c);" for number in range(1, len(pieces) + 1)]
            lines += _block("EXPORT void constants(const double *restrict p, double *restrict c)", calls)
        return "\n".join(["/* ---- what follows from the parameters alone */", "", *lines])

    def _loads(self, roots: Iterable[Expr]) -> tuple[list[str], set[str]]:
        """Named copies of the arguments that expressions use, and the letters of these arguments."""
        found = {n for n in postorder(roots) if isinstance(n, Symbol)}
        used = {self.place[s][0] for s in found if s in self.place} | {"c" for s in found if s in self.fixed}
        lines = []
        for letter, group in self.groups.items():
            taken = [f"{self.names[s]} = {letter}[{i}]" for i, s in enumerate(group) if s in found]
            lines += _wrapped("const double ", taken)
        return lines, used

    def _function(self, name: str, results: str, plan: Schedule, stores: Sequence[str], notes: Sequence[str]) -> str:
        head = f"EXPORT void {name}({_ARGUMENTS}, {results}, Externals *x)"
        printer = self.printer()
        pieces = [plan.steps[i : i + self.longest] for i in range(0, len(plan.steps), self.longest)] or [()]
        shared = _shared(pieces, plan.results)
        title = {"derivatives": "rates of coordinates and speeds", "outputs": "further channels"}[name]
        lines = [f"/* ---- {title} */", ""]
        calls = [f"double z[{len(shared)}];"] if shared else []
        for number, piece in enumerate(pieces[:-1], 1):
            body, used = self._body(piece, (), shared, printer)
            arguments = [a for a in _LETTERS if a in used] + ["z"]
            listed = ", ".join(_LETTERS.get(a, "double *restrict z") for a in arguments)
            lines += _block(f"SEPARATE static void {name}_{number}({listed})", body)
            calls.append(f"{name}_{number}({', '.join(arguments)});")
        body, used = self._body(pieces[-1], plan.results, shared, printer)
        everything = {a for call in calls for a in call.replace("(", ",").replace(")", ",").replace(" ", "").split(",")} | used
        empty = [f"(void){a};" for a in _LETTERS if a not in everything]
        empty += [f"(void){a};" for a in results.replace("*restrict", "").replace("double", "").replace(",", "").split()
                  if not any(s.startswith(f"{a}[") for s in stores)]  # fmt: skip
        body += [
            f"{store} = {printer.expr(r)}; /* {comment(note)} */"
            for store, r, note in zip(stores, plan.results, notes, strict=True)
        ]
        return "\n".join([*lines, *_block(head, [*empty, *calls, *body])])

    def _body(
        self, piece: Sequence[Step], results: Sequence[Expr], shared: Mapping[Symbol, int], printer: CPrinter
    ) -> tuple[list[str], set[str]]:
        """Lines of a part of a function, and the letters of the arguments it uses."""
        roots = [e for s in piece for e in step_expressions(s)] + list(results)
        lines, used = self._loads(roots)
        known: set[Symbol] = set()
        for s in piece:
            for symbol in _shared_in(step_expressions(s), shared, known):
                lines.append(f"const double {symbol.name} = z[{shared[symbol]}];")
            lines += printer.step(s)
            known.update(step_targets(s))
            lines += [f"z[{shared[t]}] = {t.name};" for t in step_targets(s) if t in shared]
            if isinstance(s, Call):
                used.add("x")
        for symbol in _shared_in(results, shared, known):
            lines.append(f"const double {symbol.name} = z[{shared[symbol]}];")
        return lines, used

    def _run(self) -> str:
        text = template("run.c")
        inputs = template("inputs.c") if self.program.inputs else ""
        setting = "    if (set_inputs(job, t, w))\n        return INPUT_FAILED;\n" if self.program.inputs else ""
        return text.replace("@INPUTS@", f"\n{inputs}").replace("@SET@", setting)


def _shared_in(roots: Iterable[Expr], shared: Mapping[Symbol, int], known: set[Symbol]) -> list[Symbol]:
    """Shared symbols met for the first time in this function."""
    if not shared:
        return []
    found = [n for n in postorder(roots) if isinstance(n, Symbol) and n in shared and n not in known]
    known.update(found)
    return found


def _shared(pieces: Sequence[Sequence[Step]], results: Sequence[Expr]) -> dict[Symbol, int]:
    """Places in z of what one part of a function defines and a later one uses."""
    home = {t: i for i, piece in enumerate(pieces) for s in piece for t in step_targets(s)}
    shared: dict[Symbol, int] = {}
    for i, piece in enumerate(pieces):
        roots = [e for s in piece for e in step_expressions(s)] + (list(results) if i == len(pieces) - 1 else [])
        for n in postorder(roots):
            if isinstance(n, Symbol) and home.get(n, i) != i:
                shared.setdefault(n, len(shared))
    return shared


def _roots(section: Section) -> list[Expr]:
    return [e for s in section.statements for e in step_expressions(s)] + list(section.results)


def _block(head: str, body: Sequence[str]) -> list[str]:
    return [head, "{", *(f"    {line}" if line else "" for line in body), "}", ""]


def _wrapped(start: str, items: Sequence[str], width: int = 112) -> list[str]:
    """Declarations, several to a line."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 < width:
            lines[-1] += f", {item}"
        else:
            lines.append(start + item)
    return [f"{line};" for line in lines]


def template(name: str) -> str:
    """Text of a file of C that is the same for all models."""
    return (files("bellcrank.emit") / "templates" / name).read_text(encoding="utf-8")


_LETTERS = {
    "t": "double t",
    "q": "const double *restrict q",
    "u": "const double *restrict u",
    "p": "const double *restrict p",
    "c": "const double *restrict c",
    "w": "const double *restrict w",
    "x": "Externals *x",
}
_ARGUMENTS = ", ".join(text for letter, text in _LETTERS.items() if letter != "x")

_EXPORT = [
    "#ifdef _WIN32",
    "#define EXPORT __declspec(dllexport)",
    "#else",
    "#define EXPORT",
    "#endif",
    "#ifdef __GNUC__",
    "#define SEPARATE __attribute__((noinline))",
    "#else",
    "#define SEPARATE",
    "#endif",
    "",
]
_LANES = """#if defined(__AVX512F__)
#define LANES(n) (((n) + 7)/8*8)
#elif defined(__AVX__)
#define LANES(n) (((n) + 3)/4*4)
#else
#define LANES(n) (((n) + 1)/2*2)
#endif
"""
_HELPERS = {
    "sign": "static inline double sign(double a) { return (double)((a > 0.0) - (a < 0.0)); }",
    "min": "static inline double smaller(double a, double b) { return b < a ? b : a; }",
    "max": "static inline double larger(double a, double b) { return b > a ? b : a; }",
}
_EXTERNALS = """/* ---- external routines and what they remember */

typedef struct {
    int (*callback)(int32_t routine, int32_t live, const double *arguments, double *values); /* routines outside of this file */
    double *memory; /* of the routines in this file, one after another */
    int32_t live;   /* may a call change the memory? */
    int32_t failed; /* 1 + the number of a routine that failed, else 0 */
} Externals;
"""
_CALLBACK = """static void call_external(Externals *x, int32_t routine, const double *arguments, double *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = NAN;
    if (!x->failed && x->callback(routine, x->live, arguments, values))
        x->failed = routine + 1;
}
"""
_MEMORY = """/* The memory itself while it may change, else a copy. */
static double *memory_of(Externals *x, int offset, int size, double *copy)
{
    if (x->live)
        return x->memory + offset;
    memcpy(copy, x->memory + offset, (size_t)size*sizeof *copy);
    return copy;
}
"""
