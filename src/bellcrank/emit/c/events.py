"""Events of many runs side by side, in C: what is watched from step to step, and what it sets.

In:  formulas as text over `row` and the values `v` of parameters, both in double precision. Out: the text that
`lanes_run.c` calls at the end of every step. Where events act in closed loops, these are closed again by one run's own
`closure`, in double precision, which the caller prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bellcrank.emit.c.runtime_files import definitions, runtime
from bellcrank.emit.number import DOUBLE, Number
from bellcrank.kernel.text import kernel_file
from bellcrank.numeric.tuning import EVENTS
from bellcrank.program.program import Program


@dataclass(frozen=True)
class SettingText:
    """What an event sets: a state, or else one of the values, and maybe a parameter of the program, by their numbers
    (-1: none). `text` is the new value in user units, `factor` leads to equation units; must it be `positive`?"""

    state: int
    value: int
    parameter: int
    factor: float
    positive: bool
    text: str


@dataclass(frozen=True)
class EventText:
    """An event that stops or acts: to which `sides` of zero its condition comes; `strict`: the one to which zero itself
    does not belong, or 0."""

    sides: tuple[int, ...]
    strict: int
    stop: bool
    condition: str
    settings: tuple[SettingText, ...]
    of_time: bool = False  # does its condition depend on nothing but time and parameters?


@dataclass(frozen=True)
class EventsText:
    """All events of some runs, with so many values of parameters; functions that are `called`, and the `columns` of
    rows in conditions. `follows`: the states that closed loops move first where an event has set others."""

    events: tuple[EventText, ...]
    n_values: int
    called: frozenset[str]
    columns: frozenset[int]
    follows: tuple[bool, ...] = ()

    @property
    def acts(self) -> bool:
        return any(e.settings for e in self.events)

    @property
    def n_settings(self) -> int:
        return sum(len(e.settings) for e in self.events)

    @property
    def sets_parameters(self) -> bool:
        return any(s.parameter >= 0 for e in self.events for s in e.settings)


def events_text(program: Program, given: EventsText, past: bool, number: Number) -> str:
    """Everything about events that a group of runs needs, which compute in some number; may its method know the step
    before (`past`)?"""
    states, outputs = 1 + len(program.coordinates) + len(program.speeds), len(program.outputs.results)
    columns = sorted(given.columns - {0})
    return runtime(
        "events_lanes.c",
        TUNING=definitions(EVENTS, number, "EVENT_"),
        SHORT="yes" if number is not DOUBLE else "",
        N_COLUMNS=str(len(columns)),
        COLUMNS="".join(f"{x}, " for x in columns),
        N_SETTINGS=str(given.n_settings),
        TABLES=event_tables(given.events, "double", "v"),
        RULE=kernel_file("event_rule.c"),
        MENDED=_mended(program, given) if closes_loops(program, given) else "",
        SEEN="yes" if any(states <= column < states + outputs for column in given.columns) else "",
        SET="yes" if program.given_inputs else "",
        LOOPS="yes" if program.loops is not None else "",
        PARAMETERS="yes" if given.sets_parameters else "",
        PAST="yes" if past else "",
    )


def closes_loops(program: Program, given: EventsText | None) -> bool:
    """Are closed loops closed again after events?"""
    return program.loops is not None and given is not None and given.acts


def _mended(program: Program, given: EventsText) -> str:
    follows = "".join(f"{int(x)}, " for x in given.follows)
    return runtime("events_mended.c", FOLLOWS=follows, SET="yes" if program.given_inputs else "")


def at_zero_text() -> str:
    """What is known of a condition at zero."""
    return kernel_file("event_at_zero.h")


def event_tables(events: Sequence[EventText], kind: str, name: str) -> str:
    """What is watched and set; formulas have parameters from a pointer of some kind and name."""
    rows = ((1 in e.sides, -1 in e.sides, e.strict, e.stop, bool(e.settings), e.of_time) for e in events)
    settings = [(i, s) for i, e in enumerate(events) for s in e.settings]
    return runtime(
        "event_tables.c",
        WATCHED="".join(f"    {{{', '.join(str(int(x)) for x in row)}}},\n" for row in rows),
        SETTINGS="".join(_setting(i, s) for i, s in settings),
        CONDITIONS=cases(e.condition for e in events),
        VALUES=cases(s.text for _, s in settings),
        OF=kind,
        V=name,
    )


def _setting(event: int, s: SettingText) -> str:
    return f"    {{{event}, {s.state}, {s.value}, {s.parameter}, {int(s.positive)}, {s.factor!r}}},\n"


def cases(values: Iterable[str]) -> str:
    """Values by number, of a switch."""
    return "".join(f"    case {i}: return {value};\n" for i, value in enumerate(values))
