"""Poses of bodies as further functions of a program, `poses` and `marks`, for pictures.

In:  a `SimulationProgram`, and what they are as expressions of its coordinates, parameters and
inputs. Out: the same with both; constants stay as they are. Parameters that stand in lengths
alone, which the equations of motion do not hold, follow the others that are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bellcrank.program.differentiate.implicit_derivatives import EVERYTHING
from bellcrank.program.program import POSE, SimulationProgram
from bellcrank.program.program_functions import KINDS
from bellcrank.program.scheduler import InlineConstantScheduler
from bellcrank.program.statements import EMPTY_SECTION, Section
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, free_symbols, small_threshold, substitute


def with_poses(
    program: SimulationProgram,
    names: Sequence[str],
    poses: Sequence[Expr],
    marks: Sequence[Expr] = (),
) -> SimulationProgram:
    """The program with poses, as many numbers as POSE for each name, and with marks, which
    parameters determine."""
    assert len(poses) == len(POSE) * len(names)
    pose_symbols = [s for s in free_symbols(*poses, *marks) if isinstance(s, Symbol)]
    given_parameters, known_symbols = (
        program.given_parameters,
        {*program.parameters, *program.inputs},
    )
    extra_parameters = [s for s in pose_symbols if s.kind == "parameter" and s not in known_symbols]
    # an input that moves nothing but what has no mass and no force is not recorded: it stands at
    # zero
    lost: dict[Expr, Expr] = {
        s: ZERO
        for s in pose_symbols
        if s.kind in ("variable", "rate", "kept") and s not in known_symbols
    }
    routines = list(program.routines)
    sections = []
    for results in (poses, marks):
        with small_threshold(EVERYTHING):
            roots = [substitute(e, lost) for e in results] if lost else list(results)
            plan = InlineConstantScheduler(roots)
            results_lowered = tuple(plan.lower(e) for e in roots)
        routines += [r for r in plan.routines if r not in routines]
        sections.append(Section(tuple(plan.statements), results_lowered))
    return replace(
        program,
        parameters=(
            *given_parameters,
            *extra_parameters,
            *program.parameters[len(given_parameters) :],
        ),
        routines=tuple(routines),
        poses=sections[0],
        posed=tuple(names),
        marks=sections[1],
    )


def poses_alone(program: SimulationProgram) -> SimulationProgram:
    """The same without equations of motion: nothing but poses is worth compiling, and nothing else
    moves."""
    zero_rates = Section((), (ZERO,) * (len(program.coordinates) + len(program.speeds)))
    replacements: dict[str, Any] = {
        "constants": EMPTY_SECTION,
        "derivatives": zero_rates,
        "outputs": EMPTY_SECTION,
        "output_names": (),
        "loops": None,
    }
    dropped_sections = [
        k for k in KINDS if k not in (*replacements, "poses", "marks", "entry", "start", "update")
    ]
    replacements |= dict.fromkeys(dropped_sections, EMPTY_SECTION) | dict.fromkeys(
        ("echo_names", "slope_places", "sloped"), ()
    )
    bare = replace(program, **replacements)
    return replace(
        bare, routines=tuple(r for r, call_list in bare.calls_by_routine.items() if call_list)
    )
