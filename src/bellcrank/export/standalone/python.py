"""A stand-alone program in Python: model.py holds the equations, routines.py tables and external routines."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from bellcrank.emit.event_formula import PythonEventPrinter
from bellcrank.emit.linkages import routine_source
from bellcrank.emit.names import comment
from bellcrank.emit.python.loops import scales
from bellcrank.emit.python.routines import function_source
from bellcrank.emit.python.runtime_files import runtime
from bellcrank.emit.python.signals import python_signals
from bellcrank.emit.python.source import python_source
from bellcrank.emit.python.tables import table_function
from bellcrank.emit.words import Words
from bellcrank.export.standalone.setup import Keyed, Setup, input_files
from bellcrank.export.standalone.text import about, indented, require_language, written
from bellcrank.expr.table import Table
from bellcrank.files.template import template
from bellcrank.names import routine_name
from bellcrank.numeric.methods import RTOL
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import Program
from bellcrank.program.slopes import with_slopes_in
from bellcrank.program.structure import costs

PARTS = ("head", "parsfile", "inputs", "echo", "results", "evaluation", "steps", "main")  # of the program, in order


def python_program(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """All files of the program, by name, but for the folder `numeric`, which is that of the package."""
    require_language(program, "Python", "python")
    program = with_slopes_in(program, "python")
    loops = {"loops.py": copied("loops.py")} if program.loops is not None else {}
    return {
        "model.py": python_source(program, _comments(words), inertia_functions(program)),
        f"{setup.stem}.py": main_program(),
        "settings.py": _settings(program, setup),
        "routines.py": _routines(program),
        "tables.py": runtime("tables.py"),
        "signals.py": python_signals(),
        "choosing.py": copied("choosing.py"),
        **loops,
        **({"events.py": _events(setup), "watching.py": copied("watching.py")} if setup.events else {}),
        "Makefile": written("python/Makefile", common={"TITLE": _title(setup), "STEM": setup.stem}),
        **input_files(setup),
    }


def copied(name: str) -> str:
    """A file that is the same for all models."""
    return template("bellcrank.export.standalone/templates/python", name)


def main_program() -> str:
    """The program itself, which is one file."""
    return "\n\n".join(copied(f"program/{part}.py") for part in PARTS)


def _title(setup: Setup) -> str:
    return comment(setup.title).replace('"', "'")


def _comments(words: Words) -> dict[str, str]:
    """Labels with units, by name."""
    units = {k: f"({u}) " for k, u in words.unit.items() if u}
    return {k: f"{units.get(k, '')}{v}" for k, v in words.label.items()}


def _settings(program: Program, setup: Setup) -> str:
    """The model and its defaults."""
    first = 1 + len(setup.states) + len(program.output_names)  # column of the first input
    quantity = "keyword, unit, label, factor, value, is it given"
    channels = [
        (c.name, c.keyword, c.unit, c.label, c.quantity.generic, c.quantity.body, c.factor) for c in setup.channels
    ]
    loops: dict[str, Any] | None = None
    if program.loops is not None:
        sizes = astuple(program.loops.sizes(len(program.coordinates)))
        loops = {**scales(program.loops), "sizes": sizes, "guessed": list(setup.guessed), "slides": list(setup.slides)}
    cost = costs(program)
    lines = [f'"""{_title(setup)}: what the program begins with.', about(setup, "").replace('"', "'") + '"""', ""]
    lines += [f"TITLE, STEM = {_title(setup)!r}, {setup.stem!r}"]
    run = setup.title, setup.t_end, setup.step, setup.every, setup.method
    lines += [f"RUN = {run!r}  # title, end, step, output, method"]
    for name, rows, note in (
        ("PARAMETERS", map(_quantity, setup.settable), quantity),
        ("STATES", map(_quantity, setup.states), "coordinates, then speeds"),
        ("SIGNALS", map(_signal, setup.signals), "keyword, unit, label, factor, kind, numbers"),
        ("ENTERED", map(_quantity, setup.entered), "parameters that external routines give"),
        ("ECHOED", map(_quantity, setup.echoed), "what external routines give to the echo"),
        ("CHANNELS", channels, "name, short name, unit, label, generic name, body, factor"),
    ):
        lines += [f"{name} = [  # {note}", *(f"    {row!r}," for row in rows), "]"]
    lines += [
        f"N_Q, N_OUT, UNIT = {setup.n_q}, {len(program.output_names)}, {program.unit}",
        f"N_GIVEN = {len(setup.parameters)}  # parameters of the model; others stand in events alone",
        f"EVENTS = {bool(setup.events)}",
        f"FOLLOWS = {list(setup.follows)!r}  # states that loops move first where an event has set others",
        f"REMOVED = {[r.lower() for r in setup.removed]!r}  # speeds that constraints determine: they cannot be given",
        f"INPUTS = {list(setup.inputs)!r}  # of the model: number of the signal, and how often it is differentiated",
        f"SHOWN = {[i for c in setup.channels if (i := c.quantity.column - first) >= 0]!r}  # inputs that are channels",
        f"KEPT = {len(program.inputs) - len(program.given_inputs)}  # values of external routines that are kept",
        f"RTOL = {RTOL!r}  # of methods that choose their steps",
        f"UNIT_SIZES = {setup.interface.unit_sizes.tolist()!r}  # of the states: 1 m, 1 rad, 1 m/s ...",
        f"UNIT_GROUPS = {setup.interface.unit_groups.tolist()!r}  # of the states: a number for each unit",
        f"GROWTHS = {list(setup.interface.growths)!r}  # states that grow for ever: by turns, or along a way",
        f"LENGTHS = {list(setup.interface.length_parameters)!r}  # parameters that are lengths",
        f"METRE = {setup.interface.metre!r}",
        f"SLOPES = {(list(program.slope_places), list(program.sloped))!r}  # places of slopes, states whose are known",
        f"COSTS = {(cost.slopes, cost.factor, cost.solve)!r}  # of slopes, of systems factored and solved, in rates",
        f"LOOPS = {loops!r}  # rows, scales, what is corrected, what may move at the start",
    ]
    return "\n".join([*lines, ""])


def _events(setup: Setup) -> str:
    """Conditions and actions as functions of rows."""
    named = [x.name for x in setup.settable]
    printer = PythonEventPrinter({name: f"given[{i}].value" for i, name in enumerate(named)})
    lines = [
        '"""Events of the program: conditions over rows of a run, and what they set, in the units of the user.',
        "",
        "Rows hold time, states, outputs and inputs in equation units; `given` are the parameters.",
        '"""',
        "",
        "import numpy as np",
        "from numeric.events import Watched",
        "",
        "",
        "def watched(given):",
        '    """Name, value, sides of zero that it comes to, those without zero; does it stop the run, does it act?"""',
        "    return [",
    ]
    for e in setup.events:
        value = f"lambda rows: {printer.text(e.condition)}"
        lines.append(f"        Watched({e.name!r}, {value}, {e.sides!r}, {e.strict!r}, {e.stop}, {bool(e.settings)}),")
    lines += ["    ]", "", "", "def actions(given):", '    """Of each event: is it a state, its number, the value."""']
    lines.append("    return {")
    for e in setup.events:
        lines.append(f"        {e.name!r}: [")
        for x, steps in e.settings:
            place = x.column - 1 if x.column >= 0 else named.index(x.name)
            lines.append(f"            ({x.column >= 0}, {place}, lambda rows: {printer.text(steps)}),")
        lines.append("        ],")
    body = "\n".join([*lines, "    }", ""])
    return body if "np." in body.split("import Watched", 1)[1] else body.replace("import numpy as np\n", "")


def _quantity(q: Keyed) -> tuple[Any, ...]:
    return q.keyword, q.unit, q.label, q.factor, q.value or 0.0, q.given and q.value is not None


def _signal(s: Keyed) -> tuple[Any, ...]:
    kind, values = (s.formula.name, s.formula.numbers) if s.formula else ("", ())
    numbers = tuple(max(min(float(x), 1e300), -1e300) for x in values)
    return s.keyword, s.unit, s.label, s.factor, kind, numbers


def _routines(program: Program) -> str:
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
        if len(r.returns) == 1:
            name = f"single({name})"
        when = program.phase(r)
        names.append(f"Remembering({name}, {r.memory}, {when})" if r.memory else name)
    return "\n\n".join([_ROUTINES, *texts, "ROUTINES = (\n" + indented(f"{n}," for n in names) + ")\n"])


_ROUTINES = '''"""Tables and external routines, in the order in which the model calls them by number."""

import math

import numpy as np
from tables import Remembering, Spline, Surface, single
'''
