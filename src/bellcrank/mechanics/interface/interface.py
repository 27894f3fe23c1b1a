"""Interface: everything a model shows to the outside, by name.

In:  an analysed model, its quantities and its program. Out: `Interface`, frozen: parameters,
states, inputs, outputs and values of the echo, each with its unit, words, default and column, and
what a run uses unless reported otherwise. Whoever reads a name that a user typed, or writes one
for a user to read, asks here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.text_files import to_one_line
from bellcrank.core.name_lookup import (
    find_name,
    name_text,
    normalized_name,
    one_each,
    require_unique,
)
from bellcrank.core.units import ANGLE, LENGTH, UNIT_SYSTEMS, Unit, parse_quantity
from bellcrank.mechanics.kinematics.dimensions import Quantities, state_labels
from bellcrank.mechanics.kinematics.dimensions.quantities import UNKNOWN
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.model.guess import GuessText, StateGuess
from bellcrank.model.records import EventRecord, RunRecord, StartSpeed
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr import Symbol

T = TypeVar("T")

PLURAL = {
    "coordinate": "coordinates",
    "speed": "speeds",
    "removed": "removed speeds",
    "input": "inputs",
    "parameter": "parameters",
    "entered": "parameters of user functions",
    "idle": "parameters without effect",
    "unused": "parameters that nothing uses",
    "kept": "values of user functions",
    "output": "outputs",
    "echo": "values of the echo",
}

STATES = ("coordinate", "speed")
PARAMETERS = ("parameter", "entered", "idle")  # all that the model has
DECLARED = (*PARAMETERS, "unused")  # and those that are declared only
CHANNELS = (*STATES, "output", "input")


def index_of_name(name: Any, choices: Iterable[str]) -> int | None:
    """Where a name stands in a list."""
    names = list(choices)
    match = find_name(name, names)
    return None if match is None else names.index(match)


def states_by_all_keys(letter: str, states: Sequence[T]) -> dict[str, T]:
    """Coordinates ("q") or speeds ("u") by all keys that they are found by: their names, and Q(5)
    for the fifth."""
    return {f"{letter}({i})": x for i, x in enumerate(states, 1)} | {
        normalized_name(x): x for x in states
    }


@dataclass(frozen=True)
class Quantity:
    """Something of a model that has a name. Its unit turns user values into those of the equations
    and back."""

    name: str
    kind: str  # a key of PLURAL
    symbol: Symbol | None
    unit: Unit
    label: str  # as given; of coordinates and speeds from their body; else the name
    default: float | None = (
        None  # in user units; of states, what they start from where nothing else is reported
    )
    column: int = -1  # in a row of results: time, states, outputs, inputs; -1: in none
    generic_name: str = ""
    body: str = ""
    positive: bool = False  # other values are rejected
    rate: int = 0  # an input: how often it is differentiated
    # an input: the one it is the rate of, or itself; a parameter: the user function that gives it
    base_input: str = ""
    index: int = -1  # among the coordinates, speeds, parameters, inputs or outputs of the program
    range: tuple[float, float] | None = (
        None  # usual values of a parameter or input, in user units, if they are given
    )
    description: str = ""  # label of parameter files: as given, else a phrase as AUTOSIM printed it

    def __post_init__(self) -> None:
        """Words for people are one line each, wherever they are written."""
        object.__setattr__(self, "description", self.description or self.label)
        for attribute in ("label", "generic_name", "body", "description"):
            object.__setattr__(self, attribute, to_one_line(getattr(self, attribute)))

    @property
    def distinct_label(self) -> str:
        """The label to print next to the name: none where it would repeat it."""
        return "" if self.label == self.name else self.label

    @cached_property
    def key(self) -> str:
        return normalized_name(self.name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class RunDefaults:
    """What a run uses unless reported otherwise: times in s, values in user units; None is left to
    the run."""

    t_end: float | None = None
    step: float | None = None
    method: str | None = None
    output_every: int | None = None
    initial: Mapping[Any, float] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[EventRecord, ...] = ()
    start_speed: StartSpeed | None = None
    shown_channels: tuple[str, ...] = ()

    @classmethod
    def from_record(cls, run: RunRecord) -> RunDefaults:
        """As described."""
        initial_and_inputs = dict(run.initial), dict(run.inputs), tuple(run.events)
        return cls(
            run.t_end,
            run.step,
            run.method,
            run.output_every,
            *initial_and_inputs,
            run.start_speed,
            run.shown,
        )


@dataclass(frozen=True)
class Interface:
    """The quantities of a model in the order of its program.

    `dependent_speeds` are speeds that constraints determine; `function_parameters` parameters that
    user functions give when the others are known; `inputs` those that the program takes, with their
    rates; `sampled_inputs` values of user functions that stand behind them. `signals` are the
    inputs that a user gives, from which `inputs` follow.
    """

    model: str
    units: str  # name of the unit system
    parameters: tuple[Quantity, ...]
    function_parameters: tuple[Quantity, ...]
    coordinates: tuple[Quantity, ...]
    speeds: tuple[Quantity, ...]
    dependent_speeds: tuple[Quantity, ...]
    inputs: tuple[Quantity, ...]
    signals: tuple[Quantity, ...]
    sampled_inputs: tuple[Quantity, ...]
    outputs: tuple[Quantity, ...]
    echo: tuple[Quantity, ...]
    run: RunDefaults
    unused_parameters: tuple[
        Quantity, ...
    ] = ()  # parameters that stand somewhere in the model, but not in the program
    unreferenced_parameters: tuple[
        Quantity, ...
    ] = ()  # parameters that are declared, but stand nowhere

    @cached_property
    def states(self) -> tuple[Quantity, ...]:
        return (*self.coordinates, *self.speeds)

    @cached_property
    def row_width(self) -> int:
        """Numbers in a row of results: time, states, outputs, inputs."""
        return (
            1 + len(self.states) + len(self.outputs) + len(self.inputs) + len(self.sampled_inputs)
        )

    @cached_property
    def channels(self) -> tuple[Quantity, ...]:
        """What a run records besides time: states, outputs, and inputs whose names are not taken by
        them."""
        state_names = {x.name for x in (*self.states, *self.outputs)}
        return (
            *self.states,
            *self.outputs,
            *(x for x in self.inputs if not x.rate and x.name not in state_names),
        )

    @cached_property
    def channel_texts(self) -> Mapping[str, Mapping[str, str]]:
        """Units, labels, generic names and bodies of the channels by name."""
        attributes = {
            "units": "unit",
            "labels": "label",
            "generic": "generic_name",
            "bodies": "body",
        }
        return {
            k: {x.name: str(getattr(x, word)) for x in self.channels}
            for k, word in attributes.items()
        }

    @cached_property
    def channel_columns(self) -> tuple[tuple[str, ...], slice | np.ndarray, np.ndarray | None]:
        """Names of the channels, where they stand in a row of results, and the factors of their
        units, one below the other; None if all are 1."""
        column_list = [x.column for x in self.channels]
        columns = (
            slice(1, 1 + len(column_list))
            if column_list == [*range(1, 1 + len(column_list))]
            else np.array(column_list, dtype=int)
        )
        factors = np.array([x.unit.factor for x in self.channels]).reshape(-1, 1)
        return (
            tuple(x.name for x in self.channels),
            columns,
            factors if np.any(factors != 1.0) else None,
        )

    @cached_property
    def si_unit_factors(self) -> np.ndarray:
        """One m, rad, m/s, N ... of each state in equation units."""
        kilogram = UNIT_SYSTEMS[self.units].parse_unit("kg").factor
        dimensions = [x.unit.dimension for x in self.states]
        return np.array(
            [self.metre_factor ** float(d.length) * kilogram ** float(d.mass) for d in dimensions]
        )

    @cached_property
    def unit_groups(self) -> np.ndarray:
        """Of each state, a number for its unit."""
        group_numbers: dict[object, int] = {}
        return np.array(
            [group_numbers.setdefault(x.unit.dimension, len(group_numbers)) for x in self.states],
            dtype=np.int64,
        )

    @cached_property
    def metre_factor(self) -> float:
        """In equation units."""
        return UNIT_SYSTEMS[self.units].parse_unit("m").factor

    @cached_property
    def growth_kinds(self) -> tuple[str, ...]:
        """How states may grow above the size of a mechanism: "turn" of angles, "way" of lengths
        among coordinates."""
        kinds = {ANGLE: "turn", LENGTH: "way"}
        return tuple(
            kinds.get(x.unit.dimension, "") if x.kind == "coordinate" else "" for x in self.states
        )

    @cached_property
    def length_parameters(self) -> tuple[int, ...]:
        """The parameters that are lengths, by their places."""
        numbered = enumerate((*self.parameters, *self.function_parameters))
        return tuple(i for i, x in numbered if x.unit.dimension == LENGTH)

    @cached_property
    def inputs_without_signal(self) -> tuple[str, ...]:
        """The inputs that have no course over time in runs of the model."""
        inputs_over_time = self.inputs_by_key()
        return tuple(
            dict.fromkeys(x.base_input for x in self.inputs if x.base_input not in inputs_over_time)
        )

    def with_all_inputs(self) -> Interface:
        """The same, with zero for the inputs that have no course."""
        inputs = {**self.run.inputs, **dict.fromkeys(self.inputs_without_signal, 0.0)}
        return replace(self, run=replace(self.run, inputs=inputs))

    def __iter__(self) -> Iterator[Quantity]:
        usual = (self.states, self.inputs, self.parameters, self.outputs)
        further = (
            self.dependent_speeds,
            self.function_parameters,
            self.echo,
            self.unused_parameters,
            self.unreferenced_parameters,
        )
        return (x for group in (*usual, *further) for x in group)

    def of_kinds(self, kinds: Sequence[str]) -> list[Quantity]:
        """The quantities of some kinds, in the order of the interface."""
        return [x for x in self if x.kind in kinds]

    @cached_property
    def _quantities_by_kind(self) -> Mapping[str, Mapping[str, Quantity]]:
        by_kind: dict[str, dict[str, Quantity]] = {kind: {} for kind in PLURAL}
        for x in self:
            by_kind[x.kind].setdefault(x.key, x)
        for x in self.signals:  # one that the program does not use, or its rate alone
            by_kind["input"].setdefault(x.key, x)
        for kind, letter, states in (
            ("coordinate", "q", self.coordinates),
            ("speed", "u", self.speeds),
        ):
            by_kind[kind].update(states_by_all_keys(letter, states))
        return MappingProxyType(by_kind)

    def find_or_none(self, name: Any, kinds: Sequence[str]) -> Quantity | None:
        """The quantity of that name among the kinds, the first kind first; None if there is none.

        Blanks do not matter, nor do capitals where one name alone can be meant.
        """
        key = normalized_name(name)
        for kind in kinds:
            if (x := self._quantities_by_kind[kind].get(key)) is not None:
                return x
        folded = key.lower()
        candidates = {
            x.name: x for kind in reversed(kinds) for x in self._by_folded_key[kind].get(folded, ())
        }
        match = require_unique(list(candidates), name, "name")
        return None if match is None else candidates[match]

    @cached_property
    def _by_folded_key(self) -> Mapping[str, Mapping[str, Sequence[Quantity]]]:
        """Those of each kind by keys without capitals."""
        folded: dict[str, dict[str, list[Quantity]]] = {kind: {} for kind in PLURAL}
        for kind, quantities in self._quantities_by_kind.items():
            for key, x in quantities.items():
                folded[kind].setdefault(key.lower(), []).append(x)
        return folded

    def values_by_key(
        self, values_by_name: Mapping[Any, T] | None, kinds: Sequence[str], context: str
    ) -> dict[str, T]:
        """What is given, by the keys of the quantities that are meant; names of none keep their
        own. Two names of one quantity are an error, which begins with `context`."""
        if not values_by_name:
            return {}
        quantities = {name: self.find_or_none(name, kinds) for name in values_by_name}
        values = {
            name: self.in_user_unit(value, quantities[name], context)
            for name, value in values_by_name.items()
        }
        return one_each(
            values,
            {name: normalized_name(name) if x is None else x.key for name, x in quantities.items()},
            context,
        )

    def in_user_unit(self, value: T, x: Quantity | None, context: str) -> T:
        """A value, in the unit of the quantity if it is text with another unit ("90 deg")."""
        if (
            not isinstance(value, str)
            or x is None
            or (value_and_unit := parse_quantity(value)) is None
        ):
            return value
        unit = UNIT_SYSTEMS[self.units].parse_unit(value_and_unit[1])
        if not unit.dimension.same_kind(x.unit.dimension):
            raise ModelError(
                f"{context}: '{x.name}' is '{value}', but its unit is {x.unit.text}", self.model
            )
        number = float(x.unit.from_equation_units(unit.to_equation_units(value_and_unit[0])))
        return cast(T, StateGuess(number) if isinstance(value, GuessText) else number)

    def changed_parameters(
        self, current: Mapping[str, T] | None, new: Mapping[str, T]
    ) -> dict[str, T]:
        """Parameters by key, some of them changed."""
        return self.values_by_key(current, DECLARED, "parameters") | self.values_by_key(
            new, DECLARED, "parameters"
        )

    def inputs_by_key(self, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Inputs over time by key: what is given, else what the model says."""
        return self.values_by_key(
            self.run.inputs, ("input",), "set_run(inputs=)"
        ) | self.values_by_key(overrides, ("input",), "inputs")

    @cached_property
    def _model_initial_values(self) -> dict[str, Any]:
        """Initial values and guesses of the model by key."""
        return self.values_by_key(self.run.initial, STATES, "set_run(initial=)")

    def initial_values(self, overrides: Mapping[Any, T]) -> dict[Any, T]:
        """Initial values and guesses by name: what is given, else what the model says, however each
        is spelled."""
        override_keys = self.values_by_key(overrides, STATES, "initial")
        values = {
            name: self.in_user_unit(value, self.find_or_none(name, STATES), "initial")
            for name, value in overrides.items()
        }
        return {
            key: value
            for key, value in self._model_initial_values.items()
            if key not in override_keys
        } | values

    def find_channel(self, name: Any) -> Quantity | None:
        """What a run records under that name, or None."""
        quantity = self.find_or_none(name, CHANNELS)
        return (
            quantity
            if quantity is not None and quantity.column >= 0 and not quantity.rate
            else None
        )

    def find_or_raise(self, name: Any, kinds: Sequence[str], context: str) -> Quantity:
        """The quantity of that name; an error that begins with `context` names the near ones and
        all of the kinds."""
        quantity = self.find_or_none(name, kinds)
        if quantity is not None:
            return quantity
        text = name_text(name)
        names_by_kind = {kind: [x.name for x in self if x.kind == kind] for kind in kinds}
        groups = [
            f"{PLURAL[kind]}: {', '.join(names)}" for kind, names in names_by_kind.items() if names
        ]
        all_names = [name for names in names_by_kind.values() for name in names]
        raise ModelError(
            f"{context} '{text}' is not known.{did_you_mean(text, all_names)} "
            f"{'; '.join(groups) or 'There are none'}.",
            self.model,
        )


def make_interface(
    analysis: KinematicAnalysis, quantities: Quantities, program: SimulationProgram
) -> Interface:
    """The interface of a derived model."""
    mechanism, q = analysis.mechanism, quantities
    d = mechanism.description
    bodies = {s.name: b.name for b in mechanism.bodies for s in (*b.coordinates, *b.speeds)}
    sources = {n: k.routine.name for k in analysis.entered for n in k.routine.returns}
    records: list[Any] = [*d.parameters.values(), *d.variables, *d.states]
    described = {r.name: r.label or r.name for r in records}
    labels = Counter([*described.values(), *(o.label for o in analysis.outputs)])
    short_labels = {
        name: name if label in labels else label for name, label in state_labels(analysis).items()
    }
    short_labels |= {name: _unique_label(name, label, labels) for name, label in described.items()}
    drawn = {s.name: float(x) for s, x in mechanism.nonzero_reference_values.items()}

    def make_parameter(
        name: str, kind: str, symbol: Symbol | None = None, index: int = -1
    ) -> Quantity:
        record = d.parameters.get(name)
        value = None if record is None or record.value is None else float(record.value)
        unit_and_label = q.unit.get(name, UNKNOWN), short_labels.get(name, name), value
        options: dict[str, Any] = {
            "base_input": sources.get(name, ""),
            "index": index,
            "description": q.label.get(name, name),
        }
        options["range"] = None if record is None else record.range
        return Quantity(
            name,
            kind,
            symbol,
            *unit_and_label,
            positive=record is not None and record.positive,
            **options,
        )

    def states(kind: str, symbols: Sequence[Symbol], first: int) -> tuple[Quantity, ...]:
        quantities = []
        for i, s in enumerate(symbols):
            unit, label = q.states[s.name], short_labels.get(s.name, s.name)
            start = float(unit.from_equation_units(drawn.get(s.name, 0.0)))
            column_and_labels = (
                first + i if first else -1,
                q.generic.get(s.name, ""),
                bodies.get(s.name, ""),
            )
            wording = q.state_label.get(s.name, s.name)
            quantities.append(
                Quantity(
                    s.name,
                    kind,
                    s,
                    unit,
                    label,
                    start,
                    *column_and_labels,
                    index=i if first else -1,
                    description=wording,
                )
            )
        return tuple(quantities)

    def make_output(name: str, index: int) -> Quantity:
        o, generic = by_name[name], q.generic.get(name, "")
        column = 1 + n_s + index
        return Quantity(
            name,
            "output",
            None,
            q.output_unit[name],
            _unique_label(name, o.label, labels),
            None,
            column,
            generic,
            o.body or "",
            index=index,
        )

    n_q, n_s = len(program.coordinates), len(program.coordinates) + len(program.speeds)
    by_name = {o.name: o for o in analysis.outputs}
    first = 1 + n_s + len(program.output_names)
    usual = {v.name: v.range for v in d.variables}
    inputs = {
        s.name: _make_input(s.name, s, q, short_labels, usual, i, first + i)
        for i, s in enumerate(program.given_inputs)
    }
    given_count = len(program.given_parameters)
    parameters = [
        make_parameter(s.name, "parameter" if i < given_count else "entered", s, i)
        for i, s in enumerate(program.parameters)
    ]
    used_names, met_names = {s.name for s in program.parameters}, analysis.parameters
    interface = Interface(
        model=mechanism.name,
        units=d.units,
        parameters=tuple(parameters[:given_count]),
        function_parameters=tuple(parameters[given_count:]),
        coordinates=states("coordinate", program.coordinates, 1),
        speeds=states("speed", program.speeds, 1 + n_q),
        dependent_speeds=states("removed", [r.speed for r in analysis.removed], 0),
        inputs=tuple(inputs.values()),
        signals=tuple(
            inputs.get(v.name) or _make_input(v.name, None, q, short_labels, usual)
            for v in d.variables
        ),
        sampled_inputs=tuple(
            make_parameter(s.name, "kept", s) for s in program.inputs if s.kind == "kept"
        ),
        outputs=tuple(make_output(name, i) for i, name in enumerate(program.output_names)),
        echo=tuple(make_parameter(name, "echo") for name in program.echo_names),
        run=RunDefaults.from_record(d.run),
        unused_parameters=tuple(
            make_parameter(name, "idle") for name in met_names if name not in used_names
        ),
        unreferenced_parameters=tuple(
            make_parameter(name, "unused") for name in d.parameters if name not in met_names
        ),
    )
    return replace(interface, run=_run_in_user_units(interface))


def _unique_label(name: str, label: str, labels: Mapping[str, int]) -> str:
    """A label that no other quantity of the model has."""
    return label if label == name or labels[label] == 1 else f"{label} ({name})"


def _run_in_user_units(interface: Interface) -> RunDefaults:
    """What a run uses, where initial values and inputs that were given with a unit are numbers."""
    run = interface.run
    initial = {
        k: interface.in_user_unit(x, interface.find_or_none(k, STATES), "set_run(initial=)")
        for k, x in run.initial.items()
    }
    inputs = {
        k: interface.in_user_unit(x, interface.find_or_none(k, ("input",)), "set_run(inputs=)")
        for k, x in run.inputs.items()
    }
    return replace(run, initial=initial, inputs=inputs)


def _make_input(
    name: str,
    symbol: Symbol | None,
    q: Quantities,
    short_labels: Mapping[str, str],
    usual: Mapping[str, tuple[float, float] | None],
    index: int = -1,
    column: int = -1,
) -> Quantity:
    """An input, or the rate of one: dxdt(z)."""
    base, times = name, 0
    while base.startswith("dxdt(") and base.endswith(")"):
        base, times = base[5:-1], times + 1
    unit, label, wording = q.unit[base], short_labels.get(base, base), q.label.get(base) or base
    if times:
        unit = Unit(
            unit.dimension, unit.factor, f"{unit.text}/s" if times == 1 else f"{unit.text}/s{times}"
        )
        label, wording = f"rate of {label}", f"rate of {wording}"
    options: dict[str, Any] = {
        "rate": times,
        "base_input": base,
        "index": index,
        "description": wording,
    }
    options["range"] = None if times else usual.get(name)
    return Quantity(
        name, "input", symbol, unit, label, None, column, q.generic.get(name, ""), **options
    )
