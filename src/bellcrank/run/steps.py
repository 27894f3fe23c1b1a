"""Steps one by one: those that Python takes, and those of a model that has events. An event is located within its step
and acts there, as in a run.

What was set since the last step may bring events about, too: they act when the next step begins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bellcrank.backend.c_runs import RigidCRun
from bellcrank.backend.c_steps import BLOCK_SECONDS, SHORT, CSteps
from bellcrank.numeric.events import Event
from bellcrank.run.stepping import PythonRun

ACTION_FAILED = -1  # a status: the action of an event cannot be taken, or events chatter
FEW = 1000  # steps of a run that has no end


class PythonSteps:
    """Steps of a run that Python drives; as `CSteps`."""

    calls_back = True
    is_settled = True

    def __init__(self, run: PythonRun) -> None:
        self.run, self.row = run, np.empty(0)

    @property
    def reached(self) -> int:
        return self.run.reached

    def take(self, n: int) -> int:
        rows = self.run.advance(self.run.reached + n)
        if not n and not len(rows) and not self.run.status:
            self.row = self.run.row_again()
        elif len(rows):
            self.row = rows[-1]
        return self.run.status

    def ended(self) -> None:
        """Nothing is to be noted."""

    def uncount(self) -> None:
        self.run.reached -= 1

    def left(self) -> bool:
        self.uncount()
        return False

    def put(self, row: np.ndarray, steps_done: int) -> None:
        self.row, self.run.reached = row.copy(), steps_done


class EventsSoFar(NamedTuple):
    """What events have done so far, and what the kernel knows of them."""

    events: tuple[Event, ...]
    idle: Mapping[str, float]
    stopped: Event | None
    inside: dict[str, Any]


class WatchedSteps(CSteps):
    """Steps of a session that is watched for events."""

    def __init__(self, session: Any, history: EventsSoFar | None) -> None:
        super().__init__(session.run)
        self.plain = not isinstance(session.run, RigidCRun)
        self.session, event_log = session, session.watch
        if history is not None:
            session.watching.restore(history.inside)
            event_log.events, event_log.idle, event_log.stopped = [*history.events], dict(history.idle), history.stopped

    def save(self) -> EventsSoFar:
        """What another run takes over that continues from here."""
        event_log = self.session.watch
        return EventsSoFar(
            tuple(event_log.events), dict(event_log.idle), event_log.stopped, self.session.watching.saved()
        )

    def take(self, n: int) -> int:
        """Takes n steps, 0: the start; the status. An event that stops the run ends them there."""
        last, block = self.reached + n, SHORT
        while True:
            began = time.perf_counter()
            status = self.run.call("steps_on", min(block, last - self.reached))
            if isinstance(self.run, RigidCRun):
                self.run.tell()
            is_finished = self.session.happened()
            self._take_parameters()
            if self.session.problem:
                return ACTION_FAILED
            if status or is_finished or self.reached >= last:
                return status
            block_factor = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
            block = max(1, int(block * min(block_factor, 8.0)))

    def _take_parameters(self) -> None:
        """Takes the parameters that events have set to what the run is known by."""
        session = self.session
        if session.changed:
            _, p, c = session.changed[-1]
            session.changed.clear()
            session.set_parameters(p, c)
            session.initial = session.initial._replace(parameters=session.parameters)
