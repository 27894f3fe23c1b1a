"""A stand-alone program in Python: model.py holds the equations, routines.py tables and external routines."""

from __future__ import annotations

from dataclasses import asdict

from bellcrank.emit.c.source import Words
from bellcrank.emit.c.tables import spline_pieces, surface_pieces
from bellcrank.emit.names import comment, identifier
from bellcrank.emit.python.signals import python_signals
from bellcrank.emit.python.source import python_source
from bellcrank.export.standalone.loops import inertia_functions
from bellcrank.export.standalone.python_routines import function_source
from bellcrank.export.standalone.setup import Keyed, Setup, input_files
from bellcrank.export.standalone.text import about, indented, require_language, written
from bellcrank.expr.table import Table
from bellcrank.program.lookup import routine_source
from bellcrank.program.program import Program


def python_program(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """All files of the program, by name, but for integrators and loops, which are those of the package."""
    require_language(program, "Python", "python")
    title = comment(setup.title).replace('"', "'")
    common = {"TITLE": title, "STEM": setup.stem, "ABOUT": about(setup, "").replace('"', "'")}
    return {
        "model.py": python_source(program, _comments(words), inertia_functions(program)),
        f"{setup.stem}.py": written("python_program.txt", _pieces(program, setup), common),
        "routines.py": written("python_routines.txt", {"ROUTINES": _routines(program)}, common),
        "signals.py": python_signals(),
        "Makefile": written("python_Makefile.txt", common=common),
        **input_files(setup),
    }


def _comments(words: Words) -> dict[str, str]:
    """Labels with units, by lower-case name."""
    units = {k: f"({u}) " for k, u in words.unit.items() if u}
    return {k.lower(): f"{units.get(k, '')}{v}" for k, v in words.label.items()}


def _pieces(program: Program, setup: Setup) -> dict[str, str]:
    settings = (setup.title, setup.t_end, setup.step, setup.every, setup.method)
    first = 1 + len(setup.states) + len(program.output_names)  # column of the first input
    pieces = {
        "PARAMETERS": indented(map(_quantity, setup.parameters)),
        "STATES": indented(map(_quantity, setup.states)),
        "N_Q": str(setup.n_q),
        "REMOVED": ", ".join(repr(r.lower()) for r in setup.removed) or "*()",
        "SIGNALS": indented(map(_signal, setup.signals)),
        "INPUTS": ", ".join(map(repr, setup.inputs)),
        "SHOWN": ", ".join(str(i) for c in setup.channels if (i := c.quantity.column - first) >= 0),
        "KEPT": str(len(program.inputs) - len(program.given_inputs)),
        "ENTERED": indented(map(_quantity, setup.entered)),
        "ECHOED": indented(map(_quantity, setup.echoed)),
        "CHANNELS": indented(
            f"{(c.name, c.keyword, c.unit, c.label, c.quantity.generic, c.quantity.body, c.factor)!r},"
            for c in setup.channels
        ),
        "SETTINGS": ", ".join(map(repr, settings)),
        "IMPORTS": "",
        "LOOPS": "",
        "ASSEMBLE": "",
    }
    if program.loops is not None:
        scales, correction = asdict(program.loops.scales), program.loops.correction
        loops = {
            "SCALES": ", ".join(f"{name}={value!r}" for name, value in scales.items()),
            "CORRECTION": repr(correction and (list(correction.q), list(correction.u), list(correction.pivot_scales))),
            "GUESSED": ", ".join(map(repr, setup.guessed)),
            "NAMES": repr(program.loops.names),
            "POSITIONS": repr(program.loops.positions),
        }
        pieces |= {
            "IMPORTS": _IMPORTS,
            "LOOPS": written("python_loops.txt", loops),
            "ASSEMBLE": _ASSEMBLE,
        }
    return pieces


_IMPORTS = """from numeric.branch import Keeper
from numeric.projection import CannotClose, Closure, RegularCorrection, Scales
"""
_ASSEMBLE = """    closure = closure_of(e)
    y = assemble(closure, y)
    e.keeper = keeper_of(e, closure, y)
"""


def _quantity(q: Keyed) -> str:
    told = q.given and q.value is not None
    return f"Quantity({q.keyword!r}, {q.unit!r}, {q.label!r}, {q.factor!r}, {q.value or 0.0!r}, {told}),"


def _signal(s: Keyed) -> str:
    kind, values = (s.formula.name, s.formula.numbers) if s.formula else ("", ())
    numbers = tuple(max(min(float(x), 1e300), -1e300) for x in values)
    return f"Signal({s.keyword!r}, {s.unit!r}, {s.label!r}, {s.factor!r}, {kind!r}, {numbers!r}),"


def _routines(program: Program) -> str:
    texts, names = [], []
    for i, r in enumerate(program.routines):
        if isinstance(r, Table):
            names.append(_table(r))
            continue
        if r.writer is not None:
            text, name = routine_source(program, r, "python"), identifier(r.name)
        else:
            text, name = function_source(r.python, r.name, f"external_{i}")
        texts.append(text)
        when = program.phase(r)
        names.append(f"Remembering({name}, {r.memory}, {when})" if r.memory else name)
    return "\n\n".join([*texts, "ROUTINES = (\n" + indented(f"{n}," for n in names) + ")"])


def _table(t: Table) -> str:
    axes = ", ".join(repr(list(a)) for a in t.axes)
    pieces = (spline_pieces(t) if len(t.axes) == 1 else surface_pieces(t)).ravel().tolist()
    kind = "Spline" if len(t.axes) == 1 else "Surface"
    return f"{kind}({axes}, {pieces!r}, {', '.join(map(str, t.derivative))})"
