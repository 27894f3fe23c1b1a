"""The C files of a unit: model.c as programs have it, core.c over it, and the functions of one
version of FMI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bellcrank.codegen.c.printer import external_calls
from bellcrank.codegen.c.runtime_files import constant_definitions
from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.identifiers import comment_text
from bellcrank.codegen.kernel_data import bridge_room
from bellcrank.codegen.name_comments import NameComments
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.core.files.template import fill_template, template_text
from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import AUTO, METHODS, RTOL
from bellcrank.core.numeric.tuning import EXCHANGE, PLANS
from bellcrank.export.fmu.variables import FmuVariables
from bellcrank.export.initial_data import fixed_parameters
from bellcrank.export.standalone.c import (
    assembly_source,
    c_string,
    dae_settings,
    events_text,
    tolerance_caps,
    unit_groups,
    with_c_jacobian,
)
from bellcrank.export.standalone.setup import KernelFeatures, ProgramSetup
from bellcrank.program.derivatives import SlopeTable
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import Section

FOLDER = "bellcrank.export/fmu/templates"
HEADERS = {2: "fmi2Functions.h", 3: "fmi3Functions.h"}


def main_file(version: int) -> str:
    """The file that is compiled; it includes the others."""
    return f"fmi{version}.c"


def fmi_header(version: int) -> tuple[str, str]:
    """Name and text of the header of a version, which importers have themselves."""
    return HEADERS[version], template_text(FOLDER, HEADERS[version])


def model_source(
    program: SimulationProgram,
    slopes: SlopeTable,
    indicators: Section,
    words: NameComments,
    method: str,
    has_events: bool,
    special: KernelFeatures,
) -> str:
    """The equations of motion, with their slopes and event indicators."""
    stiff = method in (*STIFF, AUTO)
    program = with_c_jacobian(program) if stiff else program
    full_program = replace(
        program, routines=tuple(dict.fromkeys((*program.routines, *slopes.routines)))
    )
    extra = inertia_functions(program)
    if slopes.places:
        extra["tangents"] = slopes.section
    if indicators.results:
        extra["indicators"] = indicators
    adaptive = method not in METHODS
    return c_source(
        full_program,
        words,
        extra=extra,
        bound=special.allows_adaptive_steps,
        local=True,
        dae=special.uses_multipliers,
        wheels=[w for w, _ in special.wheels],
        stiff=stiff,
        adaptive=adaptive,
        looks=has_events,
        assembles=True,
    )


def core_source(
    program: SimulationProgram,
    setup: ProgramSetup,
    variables: FmuVariables,
    version: int,
    token: str,
    method: str,
) -> str:
    """What is the same for every version."""
    adaptive, has_events = method not in METHODS, bool(setup.events)
    loops, holds_inputs = program.loops, bool(program.start.results or program.update.results)
    special, projected = setup.special, loops is not None and not setup.special.uses_multipliers
    by_kind = {kind: variables.with_causality(kind) for kind in ("parameter", "input")}
    fixed = fixed_parameters(program)
    names = [x.name for x in by_kind["input"]]
    rate_of = [names.index(f"der({x})") if f"der({x})" in names else -1 for x in names]
    states = variables.listed[1 : 1 + len(variables.rates)]
    fields = {
        "TITLE": comment_text(setup.title),
        "TUNING": constant_definitions(PLANS, DOUBLE) + constant_definitions(EXCHANGE, DOUBLE),
        "TOKEN": c_string(token),
        "STEP": repr(setup.step),
        "METHOD": (next(iter(EMBEDDED)) if method == AUTO else method).upper(),
        "ADAPTIVE": "yes" if adaptive else "",
        "EVENTS": events_text(program, setup, unit=True) if has_events else "",
        "WATCHES_CHOSEN": "yes" if adaptive and has_events else "",
        "CHOSEN_ALONE": "yes" if adaptive and not has_events else "",
        "WATCHES_FIXED": "yes" if not adaptive and has_events else "",
        "FIXED_ALONE": "yes" if not adaptive and not has_events else "",
        "VALUE_FACTORS": _initializer(x.factor for x in setup.settable_parameters),
        "START_VALUES": _initializer(x.value or 0.0 for x in setup.settable_parameters),
        "N_OWN": str(len(setup.own)),
        "N_JUMPS": str(len(variables.indicators) - len(setup.events)),
        "JUMPS": "yes" if len(variables.indicators) > len(setup.events) else "",
        "EVENT_LOOPS": "yes" if has_events and projected else "",
        "RTOL": repr(RTOL),
        "GOES_OVER": str(int(method == AUTO)),
        "WORK_ROOM": "(sizeof(Work) + sizeof(Stiff))/sizeof(double) + 4"
        if method in (*STIFF, AUTO)
        else "sizeof(Work)/sizeof(double) + 1",
        "CAPS": tolerance_caps(setup),
        "UNIT_GROUPS": unit_groups(setup),
        "N_GIVEN": str(len(setup.parameters)),
        "N_MEMORY": str(sum(c.routine.memory or 0 for c in external_calls(program).values())),
        "N_INDICATORS": str(len(variables.indicators)),
        "INDICATORS": "yes" if variables.indicators else "",
        "N_EXACT": str(variables.exact),
        "N_ENTRIES": str(len(variables.entries)),
        "START_STATE": _initializer(x.start or 0.0 for x in states),
        "START_PARAMETER": _initializer(x.start or 0.0 for x in by_kind["parameter"]),
        **_start_speed_coefficients(setup, loops is not None),
        "START_INPUT": _initializer(x.start or 0.0 for x in by_kind["input"]),
        "NOMINAL": _initializer(x.nominal or 1.0 for x in states),
        "IS_FIXED": ", ".join(
            [*(str(int(x.quantity.symbol in fixed)) for x in setup.settable_parameters), "0"]
        ),
        "RATE_OF": ", ".join(map(str, [*rate_of, -1])),
        "ENTRIES": ", ".join(f"{{{i}, {j}}}" for i, j in (*variables.entries, (0, 0))),
        "TANGENTS": "yes" if variables.exact else "",
        "INPUTS": "yes" if program.given_inputs else "",
        "INPUT_SLOPES": "yes" if version == 2 else "",
        "ADJOINT": "yes" if version == 3 else "",
        "ENTERED": "yes" if setup.entered else "",
        "HOLD": "yes" if holds_inputs else "",
        "UPDATE": "yes" if program.update.results else "",
        "REMEMBERS": "yes" if completes_steps(program) else "",
        "LOOPS": "yes" if loops is not None else "",
        "PROJECTED": "yes" if projected else "",
        "COSIMULATION_ALONE": "" if special.allows_adaptive_steps else "yes",
        "ALONE": str(int(not special.allows_adaptive_steps)),
        "STAGED": str(int(special.dae is not None and special.dae.staged)),
        "DAE": dae_settings(setup, "m->s.job.") if special.uses_multipliers else "",
        "WHEELS": "yes" if special.wheels else "",
        "WHEEL_NAMES": ", ".join(c_string(w.name) for w, _ in special.wheels),
        "WHEELS_ABOVE": ", ".join(str(int(above)) for _, above in special.wheels),
        "BRIDGE_ROOM": str(bridge_room(loops.scales.blocks if loops is not None else ())),
        "ASSEMBLY": assembly_source(program, setup) if loops is not None else "",
        "START_GIVEN": ", ".join([*(str(int(x.given)) for x in setup.states), "0"]),
        "STATE_NAMES": ", ".join([*(c_string(x.name) for x in states), "NULL"]),
    }
    return fill_template(template_text(FOLDER, "core.c"), {}, fields)


def _start_speed_coefficients(setup: ProgramSetup, loops: bool) -> dict[str, str]:
    """Coefficients of the powers of a speed at the start, by state; zero where a state does not
    depend on it."""
    rolls, empty = (
        setup.interface.run.start_speed,
        dict.fromkeys(("START_SPEED", "POWERS", "BY_SPEED", "PUT_START"), ""),
    )
    if rolls is None:
        return {"ROLLS": "", "N_ROLLS": "0", **empty}
    coefficients = [rolls.states.get(x.name, ()) for x in setup.states]
    degree = max(map(len, coefficients))
    rows = [
        [float(c) * x.factor for c in row] + [0.0] * (degree - len(row))
        for row, x in zip(coefficients, setup.states)
    ]
    table = ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in rows)
    assignment = "put(m, &m->s.y[j], sum, 0)"
    return {
        "ROLLS": "yes",
        "N_ROLLS": "1",
        "START_SPEED": repr(rolls.value),
        "POWERS": str(degree),
        "BY_SPEED": table,
        "PUT_START": f"{assignment}, m->s.given[j] = 1;" if loops else f"{assignment};",
    }


def completes_steps(program: SimulationProgram) -> bool:
    """Does something change at the end of a step besides states?"""
    return bool(program.stateful_routine_names or program.update.results)


def _initializer(values: Iterable[float]) -> str:
    return ", ".join([*map(repr, map(float, values)), "0.0"])


def source_files(
    program: SimulationProgram,
    setup: ProgramSetup,
    variables: FmuVariables,
    version: int,
    token: str,
    model: str,
    method: str,
) -> dict[str, str]:
    """The files in the folder `source_files` by name."""
    return {
        "model.c": model,
        "core.c": core_source(program, setup, variables, version, token, method),
        **{name: template_text(FOLDER, name) for name in ("common.c", main_file(version))},
    }
