"""Events of a run as the kernel knows them, and what it reports them.

In:  `EventData`. Out: `EventMonitor`, which belongs to one run, or to several that continue each
other with other methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bellcrank.core.numeric.run_spec import EventData
from bellcrank.core.numeric.tuning import EVENTS
from bellcrank.simulation.backend.c_structures import (
    Close,
    Events,
    Hold,
    RowAt,
    UseValues,
    array_address,
    record_dtype,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bellcrank.simulation.backend.c_structures import DoublePointer

ACTED, CHANGED_NOTHING = 1, 2  # kinds of what happened
STATES_ARE_KNOWN = 2  # of `continued`, as in events.h
MOST_AT_ONCE = 18  # of each event, as in events.h
SAVED = ("at_zero", "counted", "times", "room")
SAVED_FIELDS = ("started", "stopped", "when", "problem", "culprit", "item", "amount", "went_over")
PROBLEMS = (
    "",
    "again at once",
    "again and again",
    "too often",
    "sets no number",
    "no values",
    "not on constraints",
    "no row",
)


class EventOccurrence(NamedTuple):
    """An event at a time (s); where it acted: states and values before and after."""

    event: int
    time: float
    kind: int  # ACTED, CHANGED_NOTHING, or 0
    states: tuple[NDArray[np.float64], NDArray[np.float64]]
    values: tuple[NDArray[np.float64], NDArray[np.float64]]


class EventProblem(NamedTuple):
    """What an event could not do, which ends a run; `item`: the number of a setting, or of a row of
    loops."""

    kind: str
    event: int
    item: int
    time: float
    amount: float


class EventStates(NamedTuple):
    """Conditions at the end of a run, for a run with the same `formulas` that continues it: which
    of them were zero there and have counted, and when events acted last."""

    formulas: tuple[object, ...]
    at_zero: NDArray[np.void]
    times: NDArray[np.float64]
    actions: NDArray[np.int64]


class EventMonitor:
    """What a run is watched for. `error`: what was raised where parameters were set."""

    run: Any  # the one that it belongs to, from `attach_run` on

    def __init__(self, data: EventData, n_states: int, memory: int, modes: int = 0) -> None:
        self.data, self._n_states = data, n_states
        n, max_occurrences = len(data.conditions), 4 * MOST_AT_ONCE * len(data.conditions) + 1000
        longest = max(
            [b - a for a, b, *_ in data.conditions] + [s[4] - s[3] for s in data.settings]
        )
        at_zero = np.zeros(n, record_dtype("event_at_zero.h", "AtZero"))
        condition_histories = np.zeros(n, record_dtype("events.h", "Counted"))
        condition_histories["idle"] = condition_histories["undefined"] = np.nan
        self.arrays: dict[str, np.ndarray] = {
            "watched": np.array(
                [*map(tuple, data.conditions)], record_dtype("events.h", "Watched")
            ),
            "settings": np.array(
                [*map(tuple, data.settings), (-1,) * 6], record_dtype("events.h", "Setting")
            ),
            "steps": np.array(
                [*map(tuple, data.formula_steps)], record_dtype("events.h", "FormulaStep")
            ),
            "follows": np.array([*data.moves_first, 0], np.int32),
            "values": np.array([*data.values, 0.0]),
            "at_zero": at_zero,
            "counted": condition_histories,
            "times": np.zeros(n * (EVENTS.most + 1)),
            "happenings": np.zeros(max_occurrences, record_dtype("events.h", "Happening")),
            "changes": np.zeros((max_occurrences, 2 * (n_states + len(data.values)))),
        }
        self._calls = (
            UseValues(self._parameters_callback),
            Hold(self._memory_callback),
            Close(self._close_callback),
            RowAt(self._row_callback),
        )
        e = self.fields = Events()
        e.n_events, e.n_settings, e.n_values = n, len(data.settings), len(data.values)
        e.longest, e.n_held, e.n_modes = int(longest), memory, modes
        e.h, e.span, e.until, e.continued = (
            data.step,
            data.run_length,
            data.end_time,
            data.continues_run,
        )
        e.stopped, e.most_happenings = -1, max_occurrences
        e.use_values = self._calls[0]
        if data.swap_user_memory is not None:
            e.hold = self._calls[1]
        if data.project_state is not None:
            e.close = self._calls[2]
        for name, array in self.arrays.items():
            setattr(e, name, array_address(array.view(np.uint8)))
        self.error: BaseException | None = None
        self.row_at: Callable[[float], NDArray[np.float64]] | None = (
            None  # rows within a step that was taken elsewhere
        )

    def attach_run(self, run: Any) -> None:
        """Belongs to a run from now on."""
        self.run, self.fields.method = run, run.job.method
        if "room" not in self.arrays:
            room = self.arrays["room"] = np.zeros(run.event_workspace_size(self.fields))
            self.fields.room = array_address(room)

    def _parameters_callback(self, _: int) -> int:
        return self.apply_parameters(self.arrays["values"][:-1].tolist())

    def apply_parameters(self, values: list[float]) -> int:
        """Takes values that an event has set into the parameters of the run; 1 if that cannot
        be."""
        try:
            self.data.apply_parameters(self.run, values)
        except BaseException as error:  # cannot pass through C: it ends the run
            self.error = error
            return 1
        return 0

    def _close_callback(self, _: int, event: int, y: DoublePointer) -> int:
        state = np.ctypeslib.as_array(y, (self._n_states,))
        closed_state = self.project_state(event, state.copy())
        if closed_state is not None:
            state[:] = closed_state
        return int(closed_state is None)

    def project_state(self, event: int, y: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The state on the constraints after an event; None if that cannot be."""
        assert self.data.project_state is not None
        try:
            return self.data.project_state(event, y)
        except BaseException as error:
            self.error = error
            return None

    def use_external_rows(self, row_at: Callable[[float], NDArray[np.float64]]) -> None:
        """From now on steps are taken elsewhere, with such rows within the last one."""
        self.row_at, self.fields.row_at = row_at, self._calls[3]

    def _row_callback(self, _: int, t: float, target: DoublePointer) -> int:
        row = self.row_in_step(t)
        if row is not None:
            np.ctypeslib.as_array(target, (len(row),))[:] = row
        return int(row is None)

    def row_in_step(self, t: float) -> NDArray[np.float64] | None:
        """The row at a time within a step that was taken elsewhere; None if it cannot be had."""
        assert self.row_at is not None
        try:
            return self.row_at(t)
        except (ArithmeticError, ValueError):
            return None
        except BaseException as error:
            self.error = error
            return None

    def _memory_callback(self, action: int) -> None:
        assert self.data.swap_user_memory is not None
        self.data.swap_user_memory(action)

    @property
    def stop_event(self) -> int:
        """The number of the event that stopped the run, or -1."""
        return int(self.fields.stopped)

    @property
    def nothing_happened(self) -> bool:
        """Has nothing happened since `take_occurrences` was asked last?"""
        e = self.fields
        return not e.n_happenings and not e.problem and e.stopped < 0

    @property
    def problem(self) -> EventProblem | None:
        e = self.fields
        return (
            EventProblem(PROBLEMS[e.problem], e.culprit, e.item, e.when, e.amount)
            if e.problem
            else None
        )

    def snapshot(self) -> dict[str, np.ndarray | float]:
        """All that a run takes over that continues this one, but for values of parameters."""
        arrays = {name: self.arrays[name].copy() for name in SAVED}
        return arrays | {name: getattr(self.fields, name) for name in SAVED_FIELDS}

    def restore(self, saved: dict[str, np.ndarray | float]) -> None:
        """Continues from there."""
        for name in SAVED:
            self.arrays[name][...] = saved[name]
        for name in SAVED_FIELDS:
            setattr(self.fields, name, saved[name])

    @property
    def _formulas(self) -> tuple[object, ...]:
        data = self.data
        return tuple(map(tuple, (data.conditions, data.settings, data.formula_steps)))

    def states_at_end(self) -> EventStates:
        """Return the conditions as they stand, for a run that continues."""
        counted, arrays = self.arrays["counted"], self.arrays
        return EventStates(
            self._formulas,
            arrays["at_zero"].copy(),
            arrays["times"].copy(),
            counted["actions"].copy(),
        )

    def continue_from(self, states: EventStates | None, begin_time: float) -> None:
        """Continues where another run ended, if it had the same events."""
        if states is None or states.formulas != self._formulas:
            return
        self.arrays["at_zero"][:] = states.at_zero
        self.arrays["at_zero"]["when"] = begin_time
        self.arrays["times"][:] = states.times
        self.arrays["counted"]["actions"] = states.actions
        self.fields.continued = STATES_ARE_KNOWN

    def take_occurrences(self) -> list[EventOccurrence]:
        """What happened since this was asked last."""
        count, self.fields.n_happenings = self.fields.n_happenings, 0
        occurrences = []
        for (event, kind, time), row in zip(
            self.arrays["happenings"][:count].tolist(),
            self.arrays["changes"][:count].copy(),
            strict=True,
        ):
            y, v = np.split(row, [2 * self._n_states])
            occurrences.append(
                EventOccurrence(event, time, kind, _bisect_array(y), _bisect_array(v))
            )
        return occurrences


def _bisect_array(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.split(x, 2)
    return first, second
