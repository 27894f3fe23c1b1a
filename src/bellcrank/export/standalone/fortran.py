"""A stand-alone program in Fortran 2008: model.f90 holds the equations; kernel and program are
those in C.

Next to them stands a plain program in Fortran alone, main.f90, with fixed steps, for models that it
can run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bellcrank.codegen.c.rigid import wheels_at
from bellcrank.codegen.c.user_functions import routines_file
from bellcrank.codegen.fortran.line_wrapping import fit_source, fortran_string
from bellcrank.codegen.fortran.runtime_files import real_literal
from bellcrank.codegen.fortran.signals import break_cases, read_cases, signal_cases
from bellcrank.codegen.fortran.source import fortran_source, kernel_source
from bellcrank.codegen.name_comments import NameComments
from bellcrank.core.numeric.tuning import PLANS, STEPS
from bellcrank.core.signals import MOST_NUMBERS, SIGNAL_KINDS
from bellcrank.export.standalone.c import common_template_values, program_text
from bellcrank.export.standalone.setup import KeyedQuantity, ProgramSetup, input_files
from bellcrank.export.standalone.templates import fill_program_template, require_language
from bellcrank.program.derivatives import with_rhs_jacobian_in
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import SimulationProgram


def fortran_program(
    program: SimulationProgram, setup: ProgramSetup, words: NameComments
) -> dict[str, str]:
    """All files of the program, by name."""
    require_language(program, "Fortran", "fortran", "c")
    special = setup.special
    program = (
        with_rhs_jacobian_in(program, "fortran", "c") if special.allows_adaptive_steps else program
    )
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    wheels = [w for w, _ in special.wheels]
    extra_functions = {
        **inertia_functions(program),
        **({"wheels_at": wheels_at(program, wheels)} if wheels else {}),
    }
    common, why_not = (
        common_template_values(setup, "model.f90", "kernel.c"),
        plain_fortran_obstacle(program, setup),
    )
    build = {"FOREIGN": "yes" if foreign else "", "WHY_NOT": why_not}
    return {
        "model.f90": fortran_source(
            program, words, extra=extra_functions, equations=special.equation_kind
        ),
        **({} if why_not else {"main.f90": _plain_program(program, setup, common)}),
        "kernel.c": kernel_source(
            program, extra_functions, bool(setup.events), special.uses_multipliers, wheels
        ),
        "program.c": program_text(program, setup, common),
        "Makefile": fill_program_template("fortran/Makefile", build, common),
        **({"routines.c": routines_file(foreign, setup.title)} if foreign else {}),
        **input_files(setup),
    }


def plain_fortran_obstacle(program: SimulationProgram, setup: ProgramSetup) -> str:
    """Why a model cannot be run by a plain program in Fortran; empty if it can."""
    has_memory = any(r.memory or not r.known_in("fortran") for r in program.externals)
    keeps_values = bool(
        program.start.results or program.update.results or setup.entered or setup.echoed
    )
    reasons = {
        "closed loops are kept closed by the kernel, which is in C": program.loops is not None,
        "rigid wheels hit and roll by the kernel, which is in C": bool(setup.special.wheels),
        "events are found by the kernel, which is in C": bool(setup.events),
        "the user functions are in C, or the kernel in C keeps what they give or remember": (
            has_memory or keeps_values
        ),
        "inputs from files are read by the program in C alone": any(
            s.sample_file_name for s in setup.signals
        ),
    }
    return next(
        (
            f"there is no plain program in Fortran: {reason}"
            for reason, applies in reasons.items()
            if applies
        ),
        "",
    )


def _plain_program(program: SimulationProgram, setup: ProgramSetup, common: dict[str, str]) -> str:
    """A program in Fortran alone."""
    states = [replace(q, value=q.value or 0.0) for q in setup.states]
    keyed: list[KeyedQuantity] = [*setup.parameters, *states, *setup.signals]
    names, units = (
        [_quoted_text(c.name) for c in setup.channels],
        [_quoted_text(c.unit) for c in setup.channels],
    )
    signals = {
        "INPUT_SIGNAL": _comma_list(i + 1 for i, _ in setup.inputs),
        "INPUT_RATE": _comma_list(rate for _, rate in setup.inputs),
        "READ_CASES": read_cases(),
        "BREAK_CASES": break_cases(),
        "KIND_LIST": ", ".join(SIGNAL_KINDS),
        **signal_cases(),
    }
    fields = {
        "N_GIVEN": str(len(setup.parameters)),
        "N_SIGNALS": str(len(setup.signals)),
        "N_CHANNELS": str(len(setup.channels)),
        "NAME_LENGTH": str(_longest_text(names)),
        "UNIT_LENGTH": str(_longest_text(units)),
        "KEYWORD_LENGTH": str(_longest_text(x.keyword for x in keyed)),
        "KIND_LENGTH": str(_longest_text(SIGNAL_KINDS)),
        "MOST_NUMBERS": str(MOST_NUMBERS),
        "NAMES": ", ".join(map(fortran_string, names)),
        "UNITS": ", ".join(map(fortran_string, units)),
        "COLUMNS": _comma_list(c.quantity.column + 1 for c in setup.channels),
        "FACTORS": _comma_list(real_literal(c.factor) for c in setup.channels),
        "T_END": real_literal(setup.t_end),
        "STEP": real_literal(setup.step),
        "EVERY": str(setup.every),
        "METHOD": setup.method,
        "GAP": real_literal(STEPS.gap),
        "AT_END": real_literal(PLANS.at_end),
        "DESCRIBE": "".join(f"  {_describe_quantity(i, q)}\n" for i, q in enumerate(keyed, 1)),
        "UNIT_SIZES": "\n".join(
            f"{e} = {e}/norm2({e})" for e in (f"y({i + 1}:{i + 4})" for i in program.unit)
        ),
        "SIGNALS": "yes" if setup.signals else "",
    }
    return fit_source(fill_program_template("fortran/main.f90", fields, {**common, **signals}))


def _describe_quantity(i: int, q: KeyedQuantity) -> str:
    """The line that reports a parameter, a state or an input."""
    kind = "" if q.value is None else "constant"
    numbers: tuple[float, ...] = () if q.value is None else (q.value,)
    if q.closed_form_signal is not None:
        kind, numbers = q.closed_form_signal.name, q.closed_form_signal.numbers
    number_list = ", ".join(real_literal(max(min(x, 1e300), -1e300)) for x in numbers)
    return (
        f'call describe({i}, {fortran_string(q.keyword)}, {real_literal(q.factor)}, "{kind}", '
        f"[real(dp) :: {number_list}])"
    )


def _quoted_text(text: str) -> str:
    """A text as a table has it."""
    return '"' + " ".join(text.split()).replace('"', '""') + '"'


def _longest_text(texts: Iterable[str]) -> int:
    return max((len(text.encode()) for text in texts), default=1)


def _comma_list(numbers: Iterable[int | str]) -> str:
    return ", ".join(map(str, numbers))
