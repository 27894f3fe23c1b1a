"""C99 source of a program: constants, derivatives, outputs, closed loops, and the loop of a whole run.

In:  a `Program`, and the words for its comments. Out: one file that needs nothing but a C compiler. Statements are arranged by
`schedule`; functions beyond some length are cut into several that share what they need in an array z, because compile
time grows faster than the length of a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import ceil
from typing import ClassVar, TypeVar

from bellcrank.emit.c import job
from bellcrank.emit.c.methods import half_explicit_tables, method_cases, method_names
from bellcrank.emit.c.printer import CPrinter, external_calls
from bellcrank.emit.c.signals import signal_cases, signal_names
from bellcrank.emit.c.tables import table_functions
from bellcrank.emit.names import comment, safe_names
from bellcrank.emit.routines import c_prototype, c_texts
from bellcrank.emit.schedule import BEST, Options, Schedule, schedule
from bellcrank.emit.steps import Angles, Step, step_expressions, step_targets, symbols_in
from bellcrank.expr import ZERO, Expr, Func, Symbol, postorder
from bellcrank.expr.function_table import helpers_in
from bellcrank.expr.table import Table
from bellcrank.numeric.projection import Scales
from bellcrank.numeric.tuning import LOOPS
from bellcrank.program.functions import Function
from bellcrank.program.lookup import routine_source
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign, Call, Reduce, Section, Solve

LONGEST = 500  # statements in one function of several; twice as many may stay in one
TIME = Symbol("t", "time")
T = TypeVar("T")
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
        "sincos_all",
        "solve_symmetric",
    )
    + ("call_external", "memory_of", "LANES", "EXPORT", "SEPARATE")
)  # what the statements of a function may use besides the names of the model


@dataclass(frozen=True)
class Words:
    """What comments say about names: labels and units, by the name of a symbol, or by `output_key` of an output."""

    label: Mapping[str, str] = field(default_factory=dict)
    unit: Mapping[str, str] = field(default_factory=dict)


NO_WORDS = Words()


def output_key(name: str) -> str:
    """The key of an output, which may be called as a parameter is."""
    return f"output {name}"


def c_source(
    program: Program,
    words: Words = NO_WORDS,
    options: Options = BEST,
    outside: Iterable[str] = (),
    longest: int = LONGEST,
    extra: Mapping[str, Section] | None = None,
    dae: bool = False,
) -> str:
    """The program as C source. External routines named in `outside` are called back even if they are given in C.

    `extra` are further functions by name, which store the results of their sections in `out`. With `dae`, runs of a model with
    closed loops are those of methods for differential-algebraic equations.
    """
    source = _DaeSource if dae and program.loops is not None else _Source
    return source(program, words, options, outside, longest, extra or {}).text()


class _Source:
    """One source file in the making."""

    equations: ClassVar[str] = "minimal"

    def __init__(
        self,
        program: Program,
        words: Words,
        options: Options,
        outside: Iterable[str],
        longest: int,
        extra: Mapping[str, Section],
    ) -> None:
        self.program, self.words, self.longest = program, words, longest
        self.groups = {"q": program.coordinates, "u": program.speeds, "p": program.parameters, "w": program.inputs}
        self.names = safe_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {s: f"{letter}[{i}]" for letter, group in self.groups.items() for i, s in enumerate(group)}
        self.place[TIME] = self.names[TIME] = "t"
        self.fixed = {s: f"c[{i}]" for i, s in enumerate(program.constant_symbols)}
        self.tables = table_functions([r for r in program.routines if isinstance(r, Table)])
        self.calls = external_calls(program, outside)
        functions = program.functions_of(self.equations)
        self.functions = {f.name: f for f in (*functions, *(Function.extra(*item) for item in extra.items()))}
        plain = Options(critical_path=False)
        self.plans = {
            f.name: schedule(
                f.section,
                options if f.kind.frequent else plain,
                program.coordinates if f.name == "derivatives" else (),
            )
            for f in self.functions.values()
            if f.name != "constants"
        }
        self.keeps = [name for name in ("start", "update") if name in self.functions]

    def printer(self) -> CPrinter:
        return CPrinter({**self.names, **self.fixed}, self.tables.names, self.calls)

    def text(self) -> str:
        parts = [self._head(), self._helpers(), *self.tables.text, self._externals(), self._constants()]
        for name, plan in self.plans.items():
            f = self.functions[name]
            stores = {"out": f.labels}
            if name == "derivatives":
                n_q = len(self.program.coordinates)
                stores = {"qd": f.labels[:n_q], "ud": f.labels[n_q:]}
            parts += [
                f"/* ---- {f.kind.what} */\n",
                self._function(_C_NAMES.get(name, name), plan, stores, f.kind.sparse),
            ]
        return "\n".join(p for p in [*parts, self._run()] if p)

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
            *(f"   {_call(f.name):45} {f.kind.what}" for f in self.functions.values()),
            "   run(job)                                      a whole run with a fixed step",
            "",
        ]
        kinds = {"q": "coordinates", "u": "speeds", "p": "parameters", "w": "inputs"}
        for letter, group in self.groups.items():
            lines += [f"   {kinds[letter]}"] if group else []
            lines += [self._entry(f"{letter}[{i}]", s.name) for i, s in enumerate(group)]
        lines += ["   outputs"] if p.output_names else []
        lines += [self._entry(f"out[{i}]", name, output_key(name)) for i, name in enumerate(p.output_names)]
        lines += ["*/", "", template("head.c")]
        n_q, n_u = len(p.coordinates), len(p.speeds)
        sizes = {"Q": n_q, "U": n_u, "S": n_q + n_u, "P": len(p.parameters), "C": len(self.fixed), "W": len(p.inputs)}
        sizes["I"] = len(p.given_inputs)
        sizes["OUT"] = len(p.output_names)
        if p.loops is not None:
            k = p.loops.scales
            sizes |= {"G": len(p.loops.g), "V": len(p.loops.v), "RG": k.rank_g, "RV": k.rank_v}
        lines.append(f"enum {{ {', '.join(f'N_{k} = {v}' for k, v in sizes.items())} }};")
        return "\n".join([*lines, ""])

    def _entry(self, place: str, name: str, key: str = "") -> str:
        unit, label = (words.get(key or name, "") for words in (self.words.unit, self.words.label))
        shown = f"{comment(name)}{f' ({comment(unit)})' if unit else ''}"
        return f"     {place:7} {shown:24} {comment(label) if label != name else ''}".rstrip()

    def _helpers(self) -> str:
        """Routines that the statements call."""
        used = set()
        steps = [s for plan in self.plans.values() for s in plan.steps]
        for node in postorder([e for f in self.functions.values() for e in _roots(f.section)]):
            if isinstance(node, Func) and node.function is None:
                used.add(node.name)
        parts = helpers_in("c", used)
        if any(isinstance(s, Angles) for s in steps):
            parts.append(template("sincos.c"))
        if any(isinstance(s, Solve | Reduce) for s in steps):
            parts.append(template("solve.c"))
        if self.program.loops is not None:
            parts += self._null_space(self.program.loops.scales)
        if self.tables.names or self.program.given_inputs:
            parts.append(template("spline.c"))
        if any(len(t.axes) == 2 for t in self.tables.names):
            parts.append(template("surface.c"))
        return "\n".join(parts)

    def _null_space(self, scales: Scales) -> list[str]:
        """How rows of loops are eliminated in numbers."""
        return [template("pivoted.c").replace("@SCALES@", _scales(scales)), template("null_space.c")]

    def _externals(self) -> str:
        lines = [template("externals.c").replace("@EXTERNALS@", job.structure("Externals", job.EXTERNALS))]
        own = [c for c in self.calls.values() if c.function is not None]
        if any(c.function is None for c in self.calls.values()):
            lines.append(template("callback.c"))
        if any(c.routine.memory for c in own):
            lines.append(template("memory.c"))
        lines += [c_prototype(c.routine) for c in own if c.foreign]
        lines += c_texts((c.routine, routine_source(self.program, c.routine, "c")) for c in own if not c.foreign)
        return "\n".join(lines)

    def _constants(self) -> str:
        printer = self.printer()
        pieces = _cut([s for s in self.program.constants.statements if isinstance(s, Assign)], self.longest)
        head = "(const double *restrict p, double *restrict c)"
        lines = ["/* ---- what follows from the parameters alone */", ""]
        for number, piece in enumerate(pieces, 1):
            loads, used = self._loads([s.value for s in piece])
            unused = {"p"} - used | ({"c"} if not piece else set())
            stores = [f"{self.fixed[s.target]} = {printer.expr(s.value)};" for s in piece]
            name = "EXPORT void constants" if len(pieces) == 1 else f"SEPARATE static void constants_{number}"
            lines += _block(name + head, [*_void(unused), *loads, *stores])
        if len(pieces) > 1:
            calls = [f"constants_{number}(p, c);" for number in range(1, len(pieces) + 1)]
            lines += _block(f"EXPORT void constants{head}", calls)
        return "\n".join(lines)

    def _loads(self, roots: Iterable[Expr], known: Iterable[Expr] = ()) -> tuple[list[str], set[str]]:
        """Named copies of the arguments that expressions use and `known` do not, and the letters of these arguments."""
        found = {*symbols_in(roots)}.difference(symbols_in(known))
        used = {self.place[s][0] for s in found if s in self.place} | {"c" for s in found if s in self.fixed}
        lines = []
        for letter, group in self.groups.items():
            taken = [f"{self.names[s]} = {letter}[{i}]" for i, s in enumerate(group) if s in found]
            lines += _wrapped("const double ", taken)
        return lines, used

    def _function(self, name: str, plan: Schedule, stores: Mapping[str, Sequence[str]], sparse: bool = False) -> str:
        """A function in as many parts as its length asks for; stores: what is stored to each array, for comments.

        `sparse`: zeros are not stored one by one.
        """
        printer = self.printer()
        pieces = _cut(plan.steps, self.longest)
        shared = _shared(pieces, plan.results)
        lines: list[str] = []
        calls = [f"double z[{len(shared)}];"] if shared else []
        everywhere: set[str] = set()
        for number, piece in enumerate(pieces[:-1], 1):
            body, used = self._body(piece, (), shared, printer)
            arguments = [a for a in _ARGUMENTS if a in used] + ["z"]
            lines += _block(_signature(f"SEPARATE static void {name}_{number}", arguments), body)
            calls.append(f"{name}_{number}({', '.join(arguments)});")
            everywhere |= used
        body, used = self._body(pieces[-1], plan.results, shared, printer)
        unused = {*_ARGUMENTS} - everywhere - used | {array for array, notes in stores.items() if not notes}
        targets = [(f"{array}[{i}]", note) for array, notes in stores.items() for i, note in enumerate(notes)]
        results = [
            f"{target} = {printer.expr(r)}; /* {comment(note)} */"
            for (target, note), r in zip(targets, plan.results, strict=True)
            if not (sparse and r is ZERO)
        ]
        if sparse:
            results.insert(0, f"memset(out, 0, {len(targets)}*sizeof *out);")
        head = _signature(f"EXPORT void {name}", ["t", "q", "u", "p", "c", "w", *stores, "x"])
        return "\n".join([*lines, *_block(head, [*_void(unused), *calls, *body, *results])])

    def _body(
        self, piece: Sequence[Step], results: Sequence[Expr], shared: Mapping[Symbol, int], printer: CPrinter
    ) -> tuple[list[str], set[str]]:
        """Lines of a part of a function, and the letters of the arguments it uses.

        What the first angles do not need is loaded after them: the C library may be called there, which would have to
        save it.
        """
        roots = [e for s in piece for e in step_expressions(s)] + list(results)
        printer.used = {*symbols_in(roots), *shared}
        angles = next((i for i, s in enumerate(piece) if isinstance(s, Angles)), -1)
        first = [e for s in piece[: angles + 1] for e in step_expressions(s)]
        lines, used = self._loads(first)
        later, used_later = self._loads(roots, first)
        used |= used_later
        lines += later if angles < 0 else []
        known: set[Symbol] = set()
        for i, s in enumerate(piece):
            for symbol in _shared_in(step_expressions(s), shared, known):
                lines.append(f"const double {symbol.name} = z[{shared[symbol]}];")
            lines += printer.step(s)
            known.update(step_targets(s))
            lines += [f"z[{shared[t]}] = {t.name};" for t in step_targets(s) if t in shared]
            lines += later if i == angles else []
            if isinstance(s, Call) and (self.calls[s.routine].function is None or s.routine.memory):
                used.add("x")
        for symbol in _shared_in(results, shared, known):
            lines.append(f"const double {symbol.name} = z[{shared[symbol]}];")
        return lines, used

    def _run(self) -> str:
        text = self._with_kept(self._with_loops(template("run.c")))
        inputs = template("inputs.c").replace("@KINDS@", signal_names()).replace("@CASES@", signal_cases())
        inputs = inputs if self.program.given_inputs else ""
        setting = "    if (set_inputs(job, t, w))\n        return INPUT_FAILED;\n" if self.program.given_inputs else ""
        text = text.replace("@METHODS@", method_names()).replace("@ADVANCE@", method_cases())
        return text.replace("@INPUTS@", f"\n{inputs}").replace("@SET@", setting)

    def _with_kept(self, text: str) -> str:
        """The run with values of external routines that are kept, or without."""
        pieces = dict.fromkeys(_KEPT, "")
        if self.keeps:
            hold, place = template("kept_values.c"), "N_I"
            for name, margin in (("start", "        "), ("update", "    ")):
                lines: list[str] = []
                if name in self.keeps:
                    n = len(self.plans[name].results)
                    lines.append(f"{name}(t, y, y + N_Q, job->p, job->c, w, kept, job->externals);")
                    lines.append(f"memcpy(w + {place}, kept, {n}*sizeof *kept);")
                    place = f"N_I + {n}"
                hold = hold.replace(f"@{name.upper()}@", "".join(f"{margin}{line}\n" for line in lines))
            pieces = {**_KEPT, "HOLD": hold, "UPDATE": _KEPT["UPDATE"] if "update" in self.keeps else ""}
        for name, piece in pieces.items():
            text = text.replace(f"@{name}@", piece)
        return text

    def _with_loops(self, text: str) -> str:
        """The run with what closed loops ask for, or without."""
        pieces = dict.fromkeys(_LOOPS, "") | {"MOVE": "advance", "ACCEPT": "    (void)end;\n"}
        pieces["JOB"] = job.job_text(job.RUN)
        if self.program.loops is not None:
            correction = _correction_constants(self.program.loops)
            pieces = {
                **_LOOPS,
                "JOB": job.job_text(job.LOOPS),
                "CLOSED": _least_norm() + template("projection.c").replace("@CORRECTION@", correction),
                "STEP": template("projected_step.c"),
            }
            if self.program.loops.correction is None:
                pieces["STEP"] = pieces["STEP"].replace(_CORRECTION_CALL, "")
            else:
                pieces |= {name: pieces[name] + piece for name, piece in _STAGED.items()}
            if not {*self.program.inputs}.intersection(symbols_in(_roots(self.program.closure))):
                pieces["CLOSED"] = pieces["CLOSED"].replace("@SET@", "")
        for name, piece in pieces.items():
            text = text.replace(f"@{name}@", piece)
        return text


class _DaeSource(_Source):
    """The same with runs by a method for differential-algebraic equations."""

    equations = "multipliers"

    def _null_space(self, scales: Scales) -> list[str]:
        lines = [
            f"#define USUAL_RATIO {scales.usual!r}",
            *_wrapped_array("static const double ROW_SCALE[N_V] = {", scales.rows),
            *_wrapped_array("static const double COLUMN_SCALE[N_U] = {", scales.columns),
            "",
        ]
        return [template("pivoted.c").replace("@SCALES@", "\n".join(lines))]

    def _with_loops(self, text: str) -> str:
        assert self.program.loops is not None
        paired = (
            f"enum {{ N_PAIRED = {self.program.loops.paired} }}; /* rows of g whose rates are the same rows of v */\n"
        )
        text = text.replace(_DERIVATIVES, "")
        pieces = {
            **_DAE,
            "JOB": job.job_text(job.DAE),
            "CLOSED": paired
            + _structure(self.program, self.program.loops)
            + half_explicit_tables()
            + template("dae.c"),
            "STEP": template("dae_step.c"),
        }
        for name, piece in pieces.items():
            text = text.replace(f"@{name}@", piece)
        return text


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


def _cut(steps: Sequence[T], longest: int) -> list[Sequence[T]]:
    """Steps in parts of about equal length, if there are many."""
    if len(steps) <= 2 * longest:
        return [steps]
    size = ceil(len(steps) / ceil(len(steps) / longest))
    return [steps[i : i + size] for i in range(0, len(steps), size)]


def _roots(section: Section) -> list[Expr]:
    return [e for s in section.statements for e in step_expressions(s)] + list(section.results)


_CORRECTION_CALL = """    if (!job->wary && (failed = correct_dependent(job, h, end, next, w)) <= 0)
        return -failed;
"""


def _correction_constants(loops: Loops) -> str:
    """Places that the correction of regular positions moves, and the function that makes it; nothing without one."""
    correction = loops.correction
    if correction is None:
        return ""
    arrays = {
        "int CORRECTED_Q": correction.q,
        "int CORRECTED_U": correction.u,
        "double PIVOT_SCALE": correction.pivot_scales,
    }
    lines = [f"enum {{ N_CORRECTED_Q = {len(correction.q)}, N_CORRECTED_U = {len(correction.u)} }};"]
    for name, numbers in arrays.items():
        lines.append(f"static const {name}[] = {{{', '.join(repr(x) for x in numbers)}}};")
    return "\n".join([*lines, "", template("correction.c")])


def _least_norm() -> str:
    """The smallest change that satisfies some rows, with the thresholds of the table."""
    head = f"typedef double real;\n#define SHORT {LOOPS.short!r}\n#define REPEATED {LOOPS.repeated!r}\n"
    return f"{head}{template('least_norm.c')}\n"


def _structure(program: Program, loops: Loops) -> str:
    """Where the entries of M and J stand that are not zero in every position, and what follows from it for J M^-1 J'."""
    M, J = ([[x is not ZERO for x in row] for row in rows] for rows in (loops.M, loops.J))
    columns = [[j for j, x in enumerate(row) if x] for row in J]
    pairs = [sorted({*columns[r]}.intersection(columns[s])) for r in range(len(J)) for s in range(r + 1)]
    diagonal = all(not x for i, row in enumerate(M) for j, x in enumerate(row) if i != j)
    plain = tuple(program.coordinate_rates.results) == program.speeds
    arrays = {
        "MASS_FROM[N_U]": (
            [row.index(True) if any(row) else i for i, row in enumerate(M)],
            "first entry of each row of M",
        ),
        "ROW_AT[N_V + 1]": (_starts(columns), "where the columns of each row of J begin"),
        "ROW_COLUMN[]": ([j for row in columns for j in row] or [0], "columns"),
        "PAIR_AT[]": (_starts(pairs), "where those begin that two rows have both"),
        "PAIR_COLUMN[]": ([j for row in pairs for j in row] or [0], "these columns"),
    }
    flags = f"enum {{ DIAGONAL = {int(diagonal)}, SPEEDS_ARE_RATES = {int(plain)} }}; /* of M; is q' = u? */\n"
    return flags + "".join(
        f"static const int {name} = {{{', '.join(map(str, numbers))}}}; /* {note} */\n"
        for name, (numbers, note) in arrays.items()
    )


def _starts(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(map(len, rows[:i])) for i in range(len(rows) + 1)]


def _scales(k: Scales) -> str:
    """Numbers that bring the rows of loops to entries of about one."""
    return "\n".join(
        [
            f"#define USUAL_RATIO {k.usual!r}",
            f"#define USUAL_ORDER {k.usual_order!r}",
            f"enum {{ N_ORDER = {len(k.order)} }};",
            "static const int ORDER[N_ORDER + 1][2] = { /* row and column of the pivots of `derivatives` */",
            *(f"    {{{i}, {j}}}," for i, j in k.order),
            "    {0, 0}",
            "};",
            *_wrapped_array("static const double ROW_SCALE[N_V] = {", k.rows),
            *_wrapped_array("static const double COLUMN_SCALE[N_U] = {", k.columns),
            "",
        ]
    )


def _wrapped_array(head: str, numbers: Sequence[float]) -> list[str]:
    return [head, *(f"    {x!r}," for x in numbers), "};"]


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
    folder = "fortran" if name.endswith(".f90") else "c"
    return (files("bellcrank.emit") / folder / "runtime" / name).read_text(encoding="utf-8")


_ARGUMENTS = ("t", "q", "u", "p", "c", "w", "x")
_KINDS = {
    **dict.fromkeys("qupcw", "const double *restrict {}"),
    **dict.fromkeys(("qd", "ud", "out", "z"), "double *restrict {}"),
    "t": "double {}",
    "x": "Externals *{}",
}


def _signature(head: str, arguments: Sequence[str]) -> str:
    listed = [_KINDS[a].format(a) for a in arguments]
    lines = _wrapped("", listed, 100)
    return f"{head}(" + ",\n    ".join(line[:-1] for line in lines) + ")"


def _void(unused: set[str]) -> list[str]:
    return [f"(void){a};" for a in sorted(unused)]


def _call(name: str) -> str:
    """How a function is called, for comments."""
    results = {"derivatives": "qd, ud"}.get(name, "out")
    return "constants(p, c)" if name == "constants" else f"{_C_NAMES.get(name, name)}(t, q, u, p, c, w, {results}, x)"


_C_NAMES = {"system": "system_at"}  # the C library has a function `system`
_LOOPS = {  # in the template of a run
    "STATUS": ", NOT_CLOSED",
    "CLOSED": "",
    "DECLARED": "static int wary_rates(Job *job, double t, const double *y, double *k, double *w);\n\n",
    "WARY": "    if (job->wary)\n        return wary_rates(job, t, y, k, w);\n",
    "STEP": "",
    "MOVE": "projected_step",
    "DEPTH": ", 0",
    "BEGIN": "        if ((job->status = begin(job, w)))\n            return job->status;\n",
    "BEGUN": "        remember(job, 0.0, job->k);\n",
    "ACCEPT": "    accept(job, end, k_new);\n",
    "MODES": "",
    "PAUSE": "",
}
_STAGED = {  # where corrections of regular positions exist
    "DECLARED": "static int staged_rates(Job *job, double t, const double *y, double *k, double *w);\n\n",
    "WARY": "    if (job->staged)\n        return staged_rates(job, t, y, k, w);\n",
}
_DERIVATIVES = """    derivatives(t, y, y + N_Q, job->p, job->c, w, k, k + N_Q, job->externals);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
"""
_DAE = {  # the same for methods for differential-algebraic equations
    "STATUS": "",
    "DECLARED": "static int dae_rates(Job *job, double t, const double *y, double *k, double *w);\n\n",
    "WARY": "    return dae_rates(job, t, y, k, w);\n",
    "MOVE": "dae_step",
    "DEPTH": "",
    "BEGIN": "        job->fresh = 1;\n",
    "BEGUN": "",
    "ACCEPT": "    (void)end;\n",
    "MODES": "",
    "PAUSE": "",
}
_KEPT = {  # in the template of a run
    "HOLD": "",
    "HELD": "    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);\n",
    "FIRST": "        if ((job->status = keep_values(job, 1, 0.0, job->y, w)))\n            return job->status;\n",
    "UPDATE": "    if (last && (failed = keep_values(job, 0, after, next, w)))\n        return failed;\n",
}
