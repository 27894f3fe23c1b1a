"""The variables of a unit, and what depends on what.

In:  a `SimulationProgram` with its slopes, and the `ProgramSetup` of the model. Out:
`FmuVariables`; their places are value references: time | states | rates of states | parameters |
inputs | outputs | event indicators | the speed at the start, in the order of the C source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bellcrank.codegen.c.functions import TIME
from bellcrank.core.errors import issue_warning
from bellcrank.core.units import Unit, unit_system
from bellcrank.export.initial_data import fixed_parameters, input_at_start
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.mechanics.kinematics.dimensions.algebra import SPEED
from bellcrank.program.derivatives import SlopeTable
from bellcrank.program.jacobian_structure import reachable_states
from bellcrank.program.program import SimulationProgram

_STATE = re.compile(r"([qu])\(([^,()]+)(?:,\s*(\d+))?\)")
_RATE = re.compile(r"dxdt\((.+)\)")
START_SPEED = "speed_start"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


@dataclass(frozen=True)
class FmuVariable:
    """A variable as a description has it; `start` in equation units. `rate_of`: the reference of a
    state."""

    name: str
    causality: str
    variability: str
    initial: str = ""
    start: float | None = None
    unit: Unit | None = None
    label: str = ""
    rate_of: int | None = None
    nominal: float | None = None
    rated: bool = False  # is it the rate of something in that unit?


@dataclass(frozen=True)
class FmuUnknown:
    """A rate or an output: references of what it depends on at a state, and at the start (None: on
    all)."""

    reference: int
    needs: tuple[int, ...] | None
    at_start: tuple[int, ...] | None


@dataclass(frozen=True)
class FmuVariables:
    """All of them. `entries`: row and column of the slopes, the exact ones first, of which there
    are `exact`."""

    listed: tuple[FmuVariable, ...]
    rates: tuple[FmuUnknown, ...]
    outputs: tuple[FmuUnknown, ...]
    found: tuple[int, ...]  # states that are found at the start
    entries: tuple[tuple[int, int], ...]
    exact: int
    indicators: tuple[int, ...]  # references of event indicators

    def with_causality(self, causality: str) -> list[FmuVariable]:
        return [x for x in self.listed if x.causality == causality]


def variables_of(
    program: SimulationProgram,
    setup: ProgramSetup,
    state: Sequence[float],
    slopes: SlopeTable,
    jumps: int = 0,
) -> FmuVariables:
    """The variables of a unit that starts from a state; the last of them are event indicators, so
    many where rates may
    `jump` and one for each event. States of a model without outputs are its outputs."""
    interface, fixed = setup.interface, fixed_parameters(program)
    loops = program.loops is not None
    causality = "local" if interface.outputs else "output"  # a block without outputs is of no use
    states = [
        FmuVariable(
            structured_name(x.name),
            causality,
            "continuous",
            "approx" if loops else "exact",
            value,
            x.quantity.unit,
            x.quantity.label,
            nominal=float(size),
        )
        for x, value, size in zip(setup.states, state, interface.si_unit_factors, strict=True)
    ]
    n = len(states)
    calculated = "local", "continuous", "calculated", None
    rates = [
        FmuVariable(f"der({s.name})", *calculated, s.unit, f"rate of {s.label}", 1 + i, rated=True)
        for i, s in enumerate(states)
    ]
    parameters = []
    for x in setup.settable_parameters:
        kind = "fixed" if x.quantity.symbol in fixed else "tunable"
        value = None if x.value is None else x.value * x.factor
        parameters.append(
            FmuVariable(
                structured_name(x.name),
                "parameter",
                kind,
                "exact",
                value,
                x.quantity.unit,
                x.quantity.label,
            )
        )
    inputs = [
        FmuVariable(
            structured_name(x.name),
            "input",
            "continuous",
            "",
            input_at_start(interface, x),
            x.unit,
            x.label,
        )
        for x in interface.inputs
    ]
    doubled = _duplicate_outputs(program, [x.name for x in interface.outputs])
    outputs = [
        FmuVariable(
            structured_name(x.name),
            "local" if x.name in doubled else "output",
            *calculated[1:],
            x.unit,
            x.label,
        )
        for x in interface.outputs
    ]
    time = FmuVariable("time", "independent", "continuous", label="time")
    switches = [
        FmuVariable(f"indicators[{i + 1}]", *calculated, label=label)
        for i, label in enumerate(
            [
                *jumps * ["changes its sign where rates may jump"],
                *(f"event '{e.name}'" for e in setup.events),
            ]
        )
    ]
    rolls = interface.run.start_speed
    pace = (
        []
        if rolls is None
        else [_start_speed(rolls.value, unit_system(interface.units).equation_unit(SPEED))]
    )
    listed = make_names_distinct(
        [time, *states, *rates, *parameters, *inputs, *outputs, *switches, *pace]
    )
    end = len(listed) - len(switches) - len(pace)
    pace_references = tuple(range(len(listed) - len(pace), len(listed)))
    offsets = 1 + 2 * n, 1 + 2 * n + len(parameters), 1 + 2 * n + len(parameters) + len(inputs)
    entries, dependences, start_dependences = _dependency_lists(program, slopes, offsets)
    plain = setup.special.allows_adaptive_steps  # else the kernel adds forces of its own
    through_routines = program.entry.results or program.start.results or program.update.results
    unknowns = [
        FmuUnknown(
            ref,
            tuple(a) if plain else None,
            None if loops or through_routines or not plain else (*b, *pace_references),
        )
        for ref, a, b in zip(
            (*range(1 + n, 1 + 2 * n), *range(offsets[2], end)),
            dependences,
            start_dependences,
            strict=True,
        )
        if ref < offsets[2] or listed[ref].causality == "output"
    ]
    start_states = tuple(range(1, 1 + n)) if loops else ()
    state_outputs = (
        () if interface.outputs else tuple(FmuUnknown(ref, (ref,), None) for ref in range(1, 1 + n))
    )
    return FmuVariables(
        tuple(listed),
        tuple(unknowns[:n]),
        (*state_outputs, *unknowns[n:]),
        start_states,
        entries,
        len(slopes.places),
        tuple(range(end, end + len(switches))),
    )


def _duplicate_outputs(program: SimulationProgram, names: Sequence[str]) -> set[str]:
    """Outputs of contacts that are those of their tyres under another name: blocks have one port
    for a wheel load."""
    result_of = dict(zip(names, program.outputs.results, strict=True))
    return {
        x
        for x in names
        if x.endswith("_load") and result_of.get(f"{x.removesuffix('_load')}.fz") is result_of[x]
    }


def _start_speed(value: float, unit: Unit) -> FmuVariable:
    """The parameter that gives all initial values of a vehicle that rolls."""
    label = "speed at the start, from which initial values of the states follow"
    return FmuVariable(START_SPEED, "parameter", "fixed", "exact", value, unit, label)


def _dependency_lists(
    program: SimulationProgram, slopes: SlopeTable, offsets: tuple[int, int, int]
) -> tuple[tuple[tuple[int, int], ...], list[list[int]], list[list[int]]]:
    """Entries of the matrix of slopes; for each of its rows what it depends on at a state, and at
    the start."""
    states, n = (
        (*program.coordinates, *program.speeds),
        len(program.coordinates) + len(program.speeds),
    )
    arguments = [TIME, *states, *program.given_parameters, *program.given_inputs]
    first, parameters = 1 + n, len(program.given_parameters)
    references = [
        0,
        *range(1, first),
        *range(offsets[0], offsets[0] + parameters),
        *range(offsets[1], offsets[2]),
    ]
    column = {
        j: j - 1 if j <= n else j - 1 - parameters
        for j in range(1, len(arguments))
        if not first <= j < first + parameters
    }
    sections = program.constants, program.derivatives, program.outputs
    statements = [s for section in sections for s in section.statements]
    rows = reachable_states(
        statements, (*program.derivatives.results, *program.outputs.results), arguments
    )
    exact, exact_lines = {*slopes.places}, ({*slopes.rows}, {*slopes.columns})
    differenced, dependences = [], []
    for i, row in enumerate(rows):
        row_references = [0] if 0 in row else []
        for j in sorted(row & column.keys()):
            entry = i, column[j]
            is_exact = i in exact_lines[0] and column[j] in exact_lines[1]
            if not is_exact:
                differenced.append(entry)
            if not is_exact or entry in exact:
                row_references.append(references[j])
        dependences.append(row_references)
    return (
        (*slopes.places, *differenced),
        dependences,
        [sorted(references[j] for j in row) for row in rows],
    )


def structured_name(name: str) -> str:
    """A name by the convention "structured": q(b, 2) is b.q[2], dxdt(z) is der(z); what is no
    identifier is quoted."""
    if state := _STATE.fullmatch(name):
        letter, body, index = state.groups()
        return f"{structured_name(body.strip())}.{letter}" + (f"[{index}]" if index else "")
    base, times = name, 0
    while rate := _RATE.fullmatch(base):
        base, times = rate[1], times + 1
    if times:
        return f"der({structured_name(base)}{f',{times}' if times > 1 else ''})"
    return ".".join(x if _PLAIN.fullmatch(x) else _quoted_name(x) for x in name.split("."))


def _quoted_name(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def make_names_distinct(variables: Iterable[FmuVariable]) -> list[FmuVariable]:
    """The same with names that are met once: an output named like something else stands below
    `outputs`."""
    used_names: set[str] = set()
    renamed = []
    for x in variables:
        name = x.name
        while name in used_names:
            name = f"{x.causality}s.{name}"
        if name != x.name:
            issue_warning(
                f"the {x.causality} {x.name} of the model is called {name} in the unit: "
                f"something else has its name"
            )
        used_names.add(name)
        renamed.append(replace(x, name=name))
    return renamed
