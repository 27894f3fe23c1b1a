"""A program for browsers: WebAssembly, of which a page makes JavaScript where it must, and what both call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bellcrank.emit.arranged import arranged
from bellcrank.emit.javascript.routines import javascript_routines, refuse_foreign
from bellcrank.emit.memory import Memory, memory_of
from bellcrank.emit.schedule import BEST
from bellcrank.emit.wasm.source import wasm_module
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Section

OPTIONS = replace(BEST, side_by_side=False)  # functions that are known late are called one by one


@dataclass(frozen=True)
class BrowserProgram:
    """`module`: bytes of WebAssembly; `routines`: `function routines(m)` in JavaScript, what it calls; `names`: the
    functions but `constants`."""

    module: bytes
    routines: str
    memory: Memory
    names: tuple[str, ...]


def browser_program(program: Program, extra: Mapping[str, Section] | None = None) -> BrowserProgram:
    """The functions of runs with fixed steps, and `extra` ones by name; refuses what browsers cannot call."""
    refuse_foreign(program)
    functions = [*program.functions_of("minimal"), *(Function.extra(*item) for item in (extra or {}).items())]
    plans = arranged(program, functions, OPTIONS)
    module, memory = wasm_module(program, plans, memory_of(program, functions))
    return BrowserProgram(module, javascript_routines(program, memory), memory, tuple(f.name for f, _ in plans))
