"""Events of vectorised many runs, in C: what is watched from step to step, and what it sets.

In:  formulas as text over `row` and the values `v` of parameters, both in double precision. Out:
the text that `lanes_run.c` calls at the end of every step. Where events act in closed loops, these
are closed again by one run's own `closure`, in double precision, which the caller prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bellcrank.codegen.c.runtime_files import constant_definitions, fill_runtime_file
from bellcrank.codegen.number_type import NumberType
from bellcrank.core.numeric.tuning import EVENTS
from bellcrank.program.program import SimulationProgram


@dataclass(frozen=True)
class SettingText:
    """What an event sets: a state, or else one of the values, and maybe a parameter of the program,
    by their numbers (-1: none). `text` is the new value in user units, `factor` leads to equation
    units; must it be `positive`?"""

    state: int
    value: int
    parameter: int
    factor: float
    positive: bool
    text: str


@dataclass(frozen=True)
class EventText:
    """An event that stops or acts: to which `sides` of zero its condition comes; `strict`: the one
    to which zero itself does not belong, or 0."""

    sides: tuple[int, ...]
    strict: int
    stop: bool
    condition: str
    settings: tuple[SettingText, ...]
    of_time: bool = False  # does its condition depend on nothing but time and parameters?


@dataclass(frozen=True)
class EmittedEvents:
    """All events of some runs, with so many values of parameters; functions that are `called`, and
    the `columns` of rows in conditions. `follows`: the states that closed loops move first where an
    event has set others."""

    events: tuple[EventText, ...]
    n_values: int
    called: frozenset[str]
    columns: frozenset[int]
    follows: tuple[bool, ...] = ()

    @property
    def has_actions(self) -> bool:
        return any(e.settings for e in self.events)

    @property
    def n_settings(self) -> int:
        return sum(len(e.settings) for e in self.events)

    @property
    def sets_parameters(self) -> bool:
        return any(s.parameter >= 0 for e in self.events for s in e.settings)


def event_features(program: SimulationProgram, events: EmittedEvents | None) -> dict[str, int]:
    """Parts of the kernel that vectorised runs need for their events."""
    if events is None:
        return {"HAS_EVENTS": 0}
    states, outputs = (
        1 + len(program.coordinates) + len(program.speeds),
        len(program.outputs.results),
    )
    return {
        "HAS_EVENTS": 1,
        "EVENTS_SEE_OUTPUTS": int(
            any(states <= column < states + outputs for column in events.columns)
        ),
        "EVENTS_SET_PARAMETERS": int(events.sets_parameters),
        "EVENTS_CLOSE_LOOPS": int(closes_loops(program, events)),
    }


def closes_loops(program: SimulationProgram, events: EmittedEvents | None) -> bool:
    """Are closed loops closed again after events?"""
    return program.loops is not None and events is not None and events.has_actions


def event_sizes(events: EmittedEvents) -> str:
    """How many events there are, and values of parameters in them."""
    return f"enum {{ N_EVENTS = {len(events.events)}, N_VALUES = {events.n_values} }};\n"


def events_text(program: SimulationProgram, events: EmittedEvents, number: NumberType) -> str:
    """What the kernel needs to know of the events of runs which compute in some number."""
    columns = sorted(events.columns - {0})
    dependent_states = (
        f"static const int follows[] = {_int_array(events.follows)}; /* states that loops move "
        f"first */\n"
    )
    segments = [
        constant_definitions(EVENTS, number, "EVENT_"),
        f"enum {{ N_SETTINGS = {events.n_settings}, N_COLUMNS = {len(columns)} }};\n",
        f"static const int watched_columns[] = {_int_array(columns)}; /* of rows, in "
        f"conditions */\n",
        *([dependent_states] if closes_loops(program, events) else []),
        event_tables(events.events, "double", "v"),
    ]
    return "\n".join(segments)


def _int_array(values: Sequence[int]) -> str:
    return "{" + "".join(f"{int(x)}, " for x in values) + "0}"


def event_tables(events: Sequence[EventText], kind: str, name: str) -> str:
    """What is watched and set; formulas have parameters from a pointer of some kind and name."""
    rows = (
        (1 in e.sides, -1 in e.sides, e.strict, e.stop, bool(e.settings), e.of_time) for e in events
    )
    settings = [(i, s) for i, e in enumerate(events) for s in e.settings]
    return fill_runtime_file(
        "event_tables.c",
        WATCHED="".join(f"    {{{', '.join(str(int(x)) for x in row)}}},\n" for row in rows),
        SETTINGS="".join(_setting_initializer(i, s) for i, s in settings),
        CONDITIONS=switch_cases(e.condition for e in events),
        VALUES=switch_cases(s.text for _, s in settings),
        OF=kind,
        V=name,
    )


def _setting_initializer(event: int, s: SettingText) -> str:
    return (
        f"    {{{event}, {s.state}, {s.value}, {s.parameter}, {int(s.positive)}, {s.factor!r}}},\n"
    )


def switch_cases(values: Iterable[str]) -> str:
    """Values by number, of a switch."""
    return "".join(f"    case {i}: return {value};\n" for i, value in enumerate(values))
