"""C99 source of a program: its functions and the loop of a whole run in one file that needs nothing but a C compiler.

In:  a `Program`, and the words for its comments. Out: text. `functions` prints the functions, `run` the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.emit.c import job
from bellcrank.emit.c.functions import Functions, how_called
from bellcrank.emit.c.loops import minimal_run, multiplier_run, null_space
from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.c.rigid import RigidWheel, rigid_run, wheels_at
from bellcrank.emit.c.routines import prototype, texts
from bellcrank.emit.c.run import Run, run_text, set_inputs
from bellcrank.emit.c.runtime_files import definitions, head, runtime
from bellcrank.emit.c.tables import table_functions
from bellcrank.emit.names import comment
from bellcrank.emit.number import DOUBLE, Number
from bellcrank.emit.parts import LONGEST
from bellcrank.emit.schedule import BEST, Options, schedule
from bellcrank.emit.steps import Angles
from bellcrank.emit.words import NO_WORDS, Words
from bellcrank.errors import InternalError
from bellcrank.expr import Func, Symbol, postorder
from bellcrank.expr.function_table import helpers_in
from bellcrank.numeric.tuning import ELIMINATION
from bellcrank.program.functions import Function
from bellcrank.program.lookup import routine_source
from bellcrank.program.program import Program
from bellcrank.program.statements import Reduce, Section, Solve, section_expressions


def c_source(
    program: Program,
    words: Words = NO_WORDS,
    options: Options = BEST,
    outside: Iterable[str] = (),
    longest: int = LONGEST,
    extra: Mapping[str, Section] | None = None,
    dae: bool = False,
    wheels: Sequence[RigidWheel] = (),
    number: Number = DOUBLE,
) -> str:
    """The program as C source. External routines named in `outside` are called back even if they are given in C.

    `extra` are further functions by name, which store the results of their sections in `out`. With `dae`, runs of a
    model with closed loops are those of methods for differential-algebraic equations; with `wheels`, rigid wheels
    touch, bounce and roll. `number` is what it computes in.
    """
    return _Source(program, words, options, outside, longest, extra or {}, dae, wheels, number).text()


class _Source:
    """One source file in the making."""

    def __init__(
        self,
        program: Program,
        words: Words,
        options: Options,
        outside: Iterable[str],
        longest: int,
        extra: Mapping[str, Section],
        dae: bool,
        wheels: Sequence[RigidWheel],
        number: Number,
    ) -> None:
        if wheels and number is not DOUBLE:
            raise InternalError(f"rigid wheels compute in double precision, not in {number.name}")
        self.program, self.words, self.number, self.wheels = program, words, number, wheels
        self.equations = "multipliers" if dae and program.loops is not None else "minimal"
        self.tables = table_functions(program.tables)
        self.calls = external_calls(program, outside)
        self.printed = Functions(program, self.tables.names, self.calls, longest, number)
        further = {**extra, **({"wheels_at": wheels_at(program, wheels)} if wheels else {})}
        self.functions = [*program.functions_of(self.equations), *(Function.extra(*item) for item in further.items())]
        plain = Options(critical_path=False)
        self.plans = [
            (f, schedule(f.section, options if f.kind.frequent else plain, self._in_memory(f)))
            for f in self.functions
            if f.name != "constants"
        ]

    def _in_memory(self, f: Function) -> Sequence[Symbol]:
        """Symbols that follow each other in memory, where it matters."""
        return self.program.coordinates if f.name == "derivatives" else ()

    def text(self) -> str:
        run = run_text(self.program, self._run(), self.number)
        parts = [self._head(), *self._helpers(), *self.tables.text, *self._externals(), self.printed.constants()]
        return "\n".join([*(p for p in parts if p), *(self.printed.text(f, plan) for f, plan in self.plans), run])

    def _run(self) -> Run:
        """The kind of runs."""
        if self.wheels:
            return rigid_run(self.wheels)
        if self.program.loops is None:
            return Run()
        make = multiplier_run if self.equations == "multipliers" else minimal_run
        return make(self.program, self.program.loops, set_inputs(self.program), self.number)

    def _head(self) -> str:
        p = self.program
        kinds = ("coordinates", "speeds", "parameters", "inputs")
        groups = dict(zip(kinds, self.printed.groups.values(), strict=True))
        lines = [
            *self.words.about(p),
            *(f"{how_called(f.name):45} {f.kind.what}" for f in self.functions),
            f"{'run(job)':45} a whole run with a fixed step",
            "",
            *self.words.listing(p, groups, "qupw {}[{}]", 0),
        ]
        lines = [f"/* {comment(p.name)}", "", *(f"   {line}".rstrip() for line in lines), "*/", "", head(self.number)]
        n_q, n_u = len(p.coordinates), len(p.speeds)
        sizes = {"Q": n_q, "U": n_u, "S": n_q + n_u, "P": len(p.parameters), "C": len(p.constant_symbols)}
        sizes |= {"W": len(p.inputs), "I": len(p.given_inputs), "OUT": len(p.output_names)}
        if p.loops is not None:
            k = p.loops.scales
            sizes |= {"G": len(p.loops.g), "V": len(p.loops.v), "RG": k.rank_g, "RV": k.rank_v}
        lines.append(f"enum {{ {', '.join(f'N_{k} = {v}' for k, v in sizes.items())} }};")
        return "\n".join([*lines, ""])

    def _helpers(self) -> list[str]:
        """What the statements call: first texts of users, who may have a `real` of their own."""
        steps = [s for _, plan in self.plans for s in plan.steps]
        nodes = postorder([e for f in self.functions for e in section_expressions(f.section)])
        used = {n.name for n in nodes if isinstance(n, Func) and n.function is None}
        solved, loops = any(isinstance(s, Solve | Reduce) for s in steps), self.program.loops
        parts = [*helpers_in("c", used), *self._routines(), f"#define real {self.number.c}\n"]
        if any(isinstance(s, Angles) for s in steps):
            parts.append(runtime(self.number.sines))
        if solved or loops is not None:
            parts.append(definitions(ELIMINATION, self.number))
        if solved:
            parts.append(runtime("solve.c"))
        if loops is not None:
            parts += null_space(loops.scales, self.equations)
        if self.tables.names or self.program.given_inputs:
            parts.append(runtime("spline.c"))
        if any(len(t.axes) == 2 for t in self.tables.names):
            parts.append(runtime("surface.c"))
        return parts

    def _routines(self) -> list[str]:
        """External routines that stand in this file, or beside it in Fortran."""
        own = [c for c in self.calls.values() if c.function is not None]
        lines = [prototype(c.routine) for c in own if c.foreign]
        return lines + texts((c.routine, routine_source(self.program, c.routine, "c")) for c in own if not c.foreign)

    def _externals(self) -> list[str]:
        """How external routines are called, and what they remember."""
        parts = [runtime("externals.c", EXTERNALS=job.structure("Externals", job.EXTERNALS))]
        if any(c.function is None for c in self.calls.values()):
            parts.append(runtime("callback.c"))
        if any(c.routine.memory for c in self.calls.values() if c.function is not None):
            parts.append(runtime("memory.c"))
        return parts
