"""A program for browsers: WebAssembly, of which a page makes JavaScript where it must, and what both call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bellcrank.emit.arranged import arranged
from bellcrank.emit.javascript.routines import javascript_routines, refuse_foreign
from bellcrank.emit.memory import Memory, memory_of
from bellcrank.emit.schedule import BEST, Schedule
from bellcrank.emit.steps import Angles, step_expressions
from bellcrank.emit.wasm.functions import RATES
from bellcrank.emit.wasm.sincos import ONE, TWO, Width
from bellcrank.emit.wasm.source import wasm_module
from bellcrank.program.count import count
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Section

OPTIONS = replace(BEST, side_by_side=False)  # functions that are known late are called one by one
MANY, PER_ANGLE = 4, 110  # sines are worth vectors: if rates have so many angles, and fewer operations for each


@dataclass(frozen=True)
class BrowserProgram:
    """`module`: bytes of WebAssembly; `routines`: `function routines(m)` in JavaScript, what it calls; `names`: the
    functions but `constants`."""

    module: bytes
    routines: str
    memory: Memory
    names: tuple[str, ...]


def browser_program(
    program: Program, extra: Mapping[str, Section] | None = None, width: Width | None = None
) -> BrowserProgram:
    """The functions of runs with fixed steps, and `extra` ones by name; refuses what browsers cannot call. `width`: how
    many sines are taken at once, if not as many as is best."""
    refuse_foreign(program)
    functions = [*program.functions_of("minimal"), *(Function.extra(*item) for item in (extra or {}).items())]
    plans = arranged(program, functions, OPTIONS)
    module, memory = wasm_module(program, plans, memory_of(program, functions), width or width_of(plans))
    return BrowserProgram(module, javascript_routines(program), memory, tuple(f.name for f, _ in plans))


def width_of(plans: Iterable[tuple[Function, Schedule]]) -> Width:
    """How many sines are taken at once: two, in vectors, which browsers have later than the rest of WebAssembly, only
    where they are a good part of the work."""
    steps = [s for f, plan in plans if f.name == RATES for s in plan.steps]
    angles = sum(len(s.angles) for s in steps if isinstance(s, Angles))
    operations = count([e for s in steps for e in step_expressions(s)]).total
    return TWO if angles >= MANY and operations < PER_ANGLE * angles else ONE
