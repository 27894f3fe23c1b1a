"""A stand-alone program in Python: model.py holds the model, and a plain driver runs it with fixed
steps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bellcrank.codegen.identifiers import comment_text
from bellcrank.codegen.linkages import routine_source
from bellcrank.codegen.name_comments import NameComments
from bellcrank.codegen.python.runtime_files import fill_runtime_file
from bellcrank.codegen.python.signals import python_signals
from bellcrank.codegen.python.source import python_source
from bellcrank.codegen.python.tables import table_function
from bellcrank.codegen.python.user_functions import function_source
from bellcrank.core.errors import issue_warning
from bellcrank.core.files.template import template_text
from bellcrank.core.name_lookup import routine_name
from bellcrank.core.numeric.fixed_step_methods import DEFAULT
from bellcrank.core.numeric.tuning import PLANS, STEPS
from bellcrank.export.standalone.setup import KeyedQuantity, ProgramSetup, input_files
from bellcrank.export.standalone.templates import indent_lines, require_language, summary_comment
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr.table import Table

METHODS = ("rk4", "rk2")  # of the driver


def python_program(
    program: SimulationProgram, setup: ProgramSetup, words: NameComments
) -> dict[str, str]:
    """All files of the program, by name; model.py alone where the driver cannot run the model,
    which is reported."""
    require_language(program, "Python", "python")
    if setup.method not in METHODS:
        note = (
            f"The model asks for the method {setup.method}; {DEFAULT} is used, as programs in "
            f"Python have no others."
        )
        setup = replace(setup, method=DEFAULT, notes=(*setup.notes, note))
    missing = _driver_obstacle(program, setup)
    alone = (
        f"{missing}: model.py is written without a program around it; write one in C or Fortran"
        if missing
        else ""
    )
    model = {"model.py": _model_module(program, setup, words, alone)}
    if alone:
        issue_warning(f"model '{setup.title}': {alone}.")
        return model
    return {
        **model,
        f"{setup.stem}.py": template_text(
            "bellcrank.export.standalone/templates/python", "program.py"
        ),
        **({"signals.py": python_signals()} if setup.signals else {}),
        **input_files(setup, METHODS),
    }


def _driver_obstacle(program: SimulationProgram, setup: ProgramSetup) -> str:
    """What a model has that the driver does not know."""
    if program.loops is not None:
        return "programs in Python do not keep loops closed"
    if setup.events:
        return "programs in Python do not watch events"
    if any(r.memory for r in program.externals):
        return "programs in Python have no user functions with a memory"
    if program.start.results or program.update.results:
        return "programs in Python do not hold values of user functions over steps"
    return ""


def _model_module(
    program: SimulationProgram, setup: ProgramSetup, words: NameComments, alone: str
) -> str:
    """The equations, what they call, and what a run begins with."""
    quantity = "keyword, unit, label, one unit in equation units, value"
    first = 1 + len(setup.states) + len(program.output_names)  # column of the first input
    run = [
        ("stopt", "s", "end of the run", 1.0, setup.t_end),
        ("step", "s", "time step", 1.0, setup.step),
        ("iprint", "", "steps from one output to the next", 1.0, setup.every),
    ]
    lines = [f"# {line}".rstrip() for line in summary_comment(setup, "").splitlines()]
    lines += [f"# Note: {alone}."] if alone else []
    lines += [f"TITLE, METHOD = {comment_text(setup.title)!r}, {setup.method!r}"]
    for name, rows, note in (
        ("RUN", run, quantity),
        ("PARAMETERS", map(_quantity_row, setup.settable_parameters), f"p: {quantity}"),
        ("STATES", map(_quantity_row, setup.states), f"q, then u: {quantity}"),
        (
            "SIGNALS",
            map(_signal_row, setup.signals),
            "inputs over time: keyword, unit, label, factor, words of a file",
        ),
        ("CHANNELS", ((c.name, c.unit, c.factor) for c in setup.channels), "name, unit, factor"),
    ):
        lines += _list_literal(name, rows, note)
    lines += [
        f"NEAR = {STEPS.gap!r}  # fraction of a step: a jump of an input nearer to its end "
        f"is at the end",
        f"AT_END = {PLANS.at_end!r}  # fraction of the end of a run by which whole steps "
        f"may miss it",
        f"N_Q, N_OUT = {setup.n_q}, {len(program.output_names)}",
        f"UNIT = {list(program.unit)!r}  # first of four Euler parameters, in the states",
        f"INPUTS = {list(setup.inputs)!r}  # w: number of the signal, and how often it is "
        f"differentiated",
        f"SHOWN = {[i for c in setup.channels if (i := c.quantity.column - first) >= 0]!r}  "
        f"# inputs that are channels",
        f"REMOVED = {[r.lower() for r in setup.removed]!r}  # speeds that constraints "
        f"determine: they cannot be given",
    ]
    return "\n".join(
        [
            python_source(program, _labels_with_units(words)),
            *_routine_sources(program),
            "",
            *lines,
            "",
        ]
    )


def _list_literal(name: str, rows: Iterable[Any], note: str) -> list[str]:
    entries = [f"    {row!r}," for row in rows]
    return [f"{name} = [  # {note}", *entries, "]"] if entries else [f"{name} = []"]


def _labels_with_units(words: NameComments) -> dict[str, str]:
    """Labels with units, by name."""
    units = {k: f"({u}) " for k, u in words.unit.items() if u}
    return {k: f"{units.get(k, '')}{v}" for k, v in words.label.items()}


def _quantity_row(q: KeyedQuantity) -> tuple[Any, ...]:
    return q.keyword, q.unit, q.label, q.factor, q.value


def _signal_row(s: KeyedQuantity) -> tuple[Any, ...]:
    numbers = (
        [repr(max(min(float(x), 1e300), -1e300)) for x in s.closed_form_signal.numbers]
        if s.closed_form_signal
        else []
    )
    return (
        s.keyword,
        s.unit,
        s.label,
        s.factor,
        [s.closed_form_signal.name, *numbers] if s.closed_form_signal else [],
    )


def _routine_sources(program: SimulationProgram) -> list[str]:
    """Tables and user functions, in the order in which the equations call them by number."""
    texts, names = [], []
    for i, r in enumerate(program.routines):
        if isinstance(r, Table):
            names.append(table_function(r))
            continue
        if r.formulas is not None or r.python is None:
            text, name = routine_source(program, r, "python"), routine_name(r.name)
        else:
            text, name = function_source(r.python, r.name, f"external_{i}")
        texts.append(text)
        names.append(f"single({name})" if len(r.returns) == 1 else name)
    used_text = "".join(names)
    kinds = [k for k in ("Spline", "Surface") if f"{k}(" in used_text]
    preamble = ["import numpy as np"] if any(re.search(r"\bnp\.", x) for x in texts) else []
    preamble += [fill_runtime_file(f"{k.lower()}.py") for k in kinds]
    preamble += [fill_runtime_file("single.py")] if "single(" in used_text else []
    listed = f"ROUTINES = (\n{indent_lines(f'{n},' for n in names)})" if names else "ROUTINES = ()"
    return ["\n\n".join([*preamble, *texts, f"{listed}  # f: tables and user functions"])]
