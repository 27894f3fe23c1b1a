"""A stand-alone program in Fortran 2008: model.f90 holds the equations; kernel and program are those in C.

Next to them stands a plain program in Fortran alone, main.f90, with fixed steps, for models that it can run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bellcrank.emit.c.rigid import wheels_at
from bellcrank.emit.c.routines import routines_file
from bellcrank.emit.fortran.lines import fitted, fortran_string
from bellcrank.emit.fortran.runtime_files import real
from bellcrank.emit.fortran.signals import break_cases, read_cases, signal_cases
from bellcrank.emit.fortran.source import fortran_source, kernel_source
from bellcrank.emit.words import Words
from bellcrank.export.standalone.c import common_pieces, program_text
from bellcrank.export.standalone.setup import Keyed, Setup, input_files
from bellcrank.export.standalone.text import require_language, written
from bellcrank.numeric.tuning import PLANS, STEPS
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import Program
from bellcrank.program.slopes import with_slopes_in
from bellcrank.signals import KINDS, MOST_NUMBERS


def fortran_program(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """All files of the program, by name."""
    require_language(program, "Fortran", "fortran", "c")
    special = setup.special
    program = with_slopes_in(program, "fortran", "c") if special.adaptive else program
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    wheels = [w for w, _ in special.wheels]
    extra_functions = {**inertia_functions(program), **({"wheels_at": wheels_at(program, wheels)} if wheels else {})}
    common, why_not = common_pieces(setup, "model.f90", "kernel.c"), why_no_plain(program, setup)
    build = {"FOREIGN": "yes" if foreign else "", "WHY_NOT": why_not}
    return {
        "model.f90": fortran_source(program, words, extra=extra_functions, equations=special.equations),
        **({} if why_not else {"main.f90": _plain(program, setup, common)}),
        "kernel.c": kernel_source(program, extra_functions, bool(setup.events), special.multipliers, wheels),
        "program.c": program_text(program, setup, common),
        "Makefile": written("fortran/Makefile", build, common),
        **({"routines.c": routines_file(foreign, setup.title)} if foreign else {}),
        **input_files(setup),
    }


def why_no_plain(program: Program, setup: Setup) -> str:
    """Why a model cannot be run by a plain program in Fortran; empty if it can."""
    has_memory = any(r.memory or not r.known_in("fortran") for r in program.externals)
    reasons = {
        "closed loops are kept closed by the kernel, which is in C": program.loops is not None,
        "rigid wheels hit and roll by the kernel, which is in C": bool(setup.special.wheels),
        "events are found by the kernel, which is in C": bool(setup.events),
        "the user functions are in C, or the kernel in C keeps what they give or remember": has_memory
        or bool(program.start.results or program.update.results or setup.entered or setup.echoed),
        "inputs from files are read by the program in C alone": any(s.file for s in setup.signals),
    }
    return next(
        (f"there is no plain program in Fortran: {reason}" for reason, applies in reasons.items() if applies), ""
    )


def _plain(program: Program, setup: Setup, common: dict[str, str]) -> str:
    """A program in Fortran alone."""
    states = [replace(q, value=q.value or 0.0) for q in setup.states]
    keyed: list[Keyed] = [*setup.parameters, *states, *setup.signals]
    names, units = [_quoted(c.name) for c in setup.channels], [_quoted(c.unit) for c in setup.channels]
    signals = {
        "INPUT_SIGNAL": _listed(i + 1 for i, _ in setup.inputs),
        "INPUT_RATE": _listed(rate for _, rate in setup.inputs),
        "READ_CASES": read_cases(),
        "BREAK_CASES": break_cases(),
        "KIND_LIST": ", ".join(KINDS),
        **signal_cases(),
    }
    fields = {
        "N_GIVEN": str(len(setup.parameters)),
        "N_SIGNALS": str(len(setup.signals)),
        "N_CHANNELS": str(len(setup.channels)),
        "NAME_LENGTH": str(_longest(names)),
        "UNIT_LENGTH": str(_longest(units)),
        "KEYWORD_LENGTH": str(_longest(x.keyword for x in keyed)),
        "KIND_LENGTH": str(_longest(KINDS)),
        "MOST_NUMBERS": str(MOST_NUMBERS),
        "NAMES": ", ".join(map(fortran_string, names)),
        "UNITS": ", ".join(map(fortran_string, units)),
        "COLUMNS": _listed(c.quantity.column + 1 for c in setup.channels),
        "FACTORS": _listed(real(c.factor) for c in setup.channels),
        "T_END": real(setup.t_end),
        "STEP": real(setup.step),
        "EVERY": str(setup.every),
        "METHOD": setup.method,
        "GAP": real(STEPS.gap),
        "AT_END": real(PLANS.at_end),
        "DESCRIBE": "".join(f"  {_described(i, q)}\n" for i, q in enumerate(keyed, 1)),
        "UNIT_SIZES": "\n".join(f"{e} = {e}/norm2({e})" for e in (f"y({i + 1}:{i + 4})" for i in program.unit)),
        "SIGNALS": "yes" if setup.signals else "",
    }
    return fitted(written("fortran/main.f90", fields, {**common, **signals}))


def _described(i: int, q: Keyed) -> str:
    """The line that reports a parameter, a state or an input."""
    kind = "" if q.value is None else "constant"
    numbers: tuple[float, ...] = () if q.value is None else (q.value,)
    if q.formula is not None:
        kind, numbers = q.formula.name, q.formula.numbers
    number_list = ", ".join(real(max(min(x, 1e300), -1e300)) for x in numbers)
    return f'call describe({i}, {fortran_string(q.keyword)}, {real(q.factor)}, "{kind}", [real(dp) :: {number_list}])'


def _quoted(text: str) -> str:
    """A text as a table has it."""
    return '"' + " ".join(text.split()).replace('"', '""') + '"'


def _longest(texts: Iterable[str]) -> int:
    return max((len(text.encode()) for text in texts), default=1)


def _listed(numbers: Iterable[int | str]) -> str:
    return ", ".join(map(str, numbers))
