"""Steps one by one: those that Python takes, and those of a model that has events. An event is
located within its step and acts there, as in a run.

What was set since the last step may bring events about, too: they act when the next step begins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bellcrank.core.numeric.event_log import Event
from bellcrank.simulation.backend.c_runs import CRun, RigidCRun
from bellcrank.simulation.backend.c_steps import BLOCK_SECONDS, SHORT, CompiledStepDriver
from bellcrank.simulation.backend.event_monitor import EventMonitor
from bellcrank.simulation.run.stepping import PythonRun

ACTION_FAILED = -1  # a status: the action of an event cannot be taken, or events chatter
FEW = 1000  # steps of a run that has no end


class PythonStepDriver:
    """Steps of a run that Python drives; as `CompiledStepDriver`."""

    calls_python = True
    is_up_to_date = True

    def __init__(self, run: PythonRun) -> None:
        self.run, self.row = run, np.empty(0)

    @property
    def steps_done(self) -> int:
        return self.run.steps_done

    def take_steps(self, n: int) -> int:
        rows = self.run.advance(self.run.steps_done + n)
        if not n and not len(rows) and not self.run.status:
            self.row = self.run.recompute_row()
        elif len(rows):
            self.row = rows[-1]
        return self.run.status

    def sync_status(self) -> None:
        """Nothing is to be noted."""

    def discard_failed_step(self) -> None:
        self.run.steps_done -= 1

    def recover_from_error(self) -> bool:
        self.discard_failed_step()
        return False

    def set_row(self, row: np.ndarray, steps_done: int) -> None:
        self.row, self.run.steps_done = row.copy(), steps_done


class EventHistory(NamedTuple):
    """What events have done so far, and what the kernel knows of them."""

    events: tuple[Event, ...]
    ineffective_events: Mapping[str, float]
    stop_event: Event | None
    monitor_state: dict[str, Any]


class EventStepDriver(CompiledStepDriver):
    """Steps of a session that is watched for events."""

    def __init__(self, session: Any, monitor: EventMonitor, history: EventHistory | None) -> None:
        run = session.run
        assert isinstance(run, CRun)
        super().__init__(run)
        self.accepts_constants = not isinstance(run, RigidCRun)
        self.session, self._monitor, event_log = session, monitor, session.event_log
        if history is not None:
            monitor.restore(history.monitor_state)
            event_log.events, event_log.ineffective_events, event_log.stop_event = (
                [*history.events],
                dict(history.ineffective_events),
                history.stop_event,
            )

    def save(self) -> EventHistory:
        """What another run takes over that continues from here."""
        event_log = self.session.event_log
        return EventHistory(
            tuple(event_log.events),
            dict(event_log.ineffective_events),
            event_log.stop_event,
            self._monitor.snapshot(),
        )

    def take_steps(self, n: int) -> int:
        """Takes n steps, 0: the start; the status. An event that stops the run ends them there."""
        last, block = self.steps_done + n, SHORT
        while True:
            began = time.perf_counter()
            status = self.run.call_kernel("steps_on", min(block, last - self.steps_done))
            if isinstance(self.run, RigidCRun):
                self.run.report_wheel_events()
            is_finished = self.session.process_events()
            self._adopt_event_parameters()
            if self.session.problem:
                return ACTION_FAILED
            if status or is_finished or self.steps_done >= last:
                return status
            block_factor = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
            block = max(1, int(block * min(block_factor, 8.0)))

    def _adopt_event_parameters(self) -> None:
        """Takes the parameters that events have set to what the run is known by."""
        session = self.session
        if session.parameter_changes:
            _, p, c = session.parameter_changes[-1]
            session.parameter_changes.clear()
            session.set_parameters(p, c)
            session.initial = session.initial._replace(parameters=session.parameters)
