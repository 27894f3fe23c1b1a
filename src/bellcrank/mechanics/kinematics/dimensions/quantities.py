"""Quantities: from an analysed model to the unit and the words of everything in it.

In:  an `KinematicAnalysis`. Out: `Quantities`, and the problems found.
What is declared is kept; the rest is read, deduced and worded by the other modules of this package.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from bellcrank.core.errors import ModelError
from bellcrank.core.units import ONE as PURE
from bellcrank.core.units import Dimension, Unit, UnitSystem, unit_system
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.mechanics.kinematics.dimensions.algebra import normalize_angle
from bellcrank.mechanics.kinematics.dimensions.conflicts import conflicts
from bellcrank.mechanics.kinematics.dimensions.formulas import read_model
from bellcrank.mechanics.kinematics.dimensions.labels import channel_name, scalar_words, state_words
from bellcrank.mechanics.kinematics.dimensions.reading import FormulaGraphReader
from bellcrank.mechanics.kinematics.dimensions.solution import propagate_dimensions
from bellcrank.model.records import ParameterRecord, StateRecord, VariableRecord

Scalar = ParameterRecord | VariableRecord | StateRecord
UNKNOWN = Unit(PURE, 1.0, "?")
"""The unit of a quantity whose dimension cannot be reported: its values are taken as they are."""


@dataclass
class Quantities:
    """Dimensions, user units and words. Scalars are keyed by name, states by symbol, outputs by
    name."""

    dimension: dict[str, Dimension] = field(default_factory=dict)
    """Of parameters and variables; one that cannot be reported is missing."""
    unit: dict[str, Unit] = field(default_factory=dict)
    label: dict[str, str] = field(default_factory=dict)
    states: dict[str, Unit] = field(default_factory=dict)
    state_label: dict[str, str] = field(default_factory=dict)
    output_unit: dict[str, Unit] = field(default_factory=dict)
    generic: dict[str, str] = field(default_factory=dict)
    """Generic names of states and outputs."""


def infer_quantities(analysis: KinematicAnalysis) -> tuple[Quantities, list[str]]:
    """The quantities of a model, and the problems found: definite conflicts, and units that cannot
    be read."""
    d = analysis.mechanism.description
    system = unit_system(d.units)
    problems: list[str] = []
    each: dict[str, Iterable[Scalar]] = {
        "parameter": d.parameters.values(),
        "variable": d.variables,
        "state": d.states,
    }
    scalars = [(kind, r) for kind, records in each.items() for r in records]
    declared_units = {
        r.name: _parse_declared_unit(system, r.units, f"{kind} '{r.name}'", problems)
        for kind, r in scalars
    }
    output_units = {
        o.name: _parse_declared_unit(system, o.units, f"output '{o.name}'", problems)
        for o in analysis.outputs
    }

    states = state_words(analysis)
    reader = FormulaGraphReader(
        analysis.mechanism,
        {symbol: state.dimension for symbol, state in states.items()},
        {key: unit.dimension for key, unit in declared_units.items() if unit is not None},
    )
    values = read_model(reader, d, output_units)
    propagate_dimensions(reader.graph.nodes)
    problems.extend(conflicts(reader.graph.roots, system))

    @cache
    def unit_of_dimension(deduced: Dimension | None) -> Unit:
        return UNKNOWN if deduced is None else system.user_unit(normalize_angle(deduced))

    result = Quantities()
    for symbol, state in states.items():
        result.states[symbol] = unit_of_dimension(state.dimension)
        result.state_label[symbol], result.generic[symbol] = state.label, state.generic
    names = dict.fromkeys([*(r.name for _, r in scalars), *analysis.parameters])
    label_of_name = scalar_words(reader.graph.roots) | {
        r.name: r.label for _, r in scalars if r.label
    }
    label_of_name |= {z.name: z.label or z.name for z in d.states}
    for name in names:
        dimension = reader.scalar_node(name).dimension
        if dimension is not None:
            result.dimension[name] = dimension
        result.unit[name] = declared_units.get(name) or unit_of_dimension(dimension)
        result.label[name] = label_of_name.get(name, name)
    for symbol in (z.name for z in analysis.mechanism.states):
        result.states[symbol], result.state_label[symbol] = (
            result.unit[symbol],
            result.label[symbol],
        )
        result.generic[symbol] = "State"
    for output in analysis.outputs:
        value = values.get(output.name)
        unit = output_units[output.name] or unit_of_dimension(
            value.dimension if value is not None else None
        )
        result.output_unit[output.name] = unit
        channel_dimension = None if unit is UNKNOWN else unit.dimension
        result.generic[output.name] = (
            channel_name(output.label, channel_dimension)
            if output.generic is None
            else output.generic
        )
    return result, list(dict.fromkeys(problems))


def _parse_declared_unit(
    system: UnitSystem, text: str | None, location: str, problems: list[str]
) -> Unit | None:
    """The unit a text stands for; a text that cannot be read is a problem."""
    if text is None:
        return None
    try:
        return system.parse(text)
    except ModelError as error:
        problems.append(f"{location}: {error}")
        return None
