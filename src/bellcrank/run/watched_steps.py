"""Steps of a model that has events, one after another: an event is located within its step and acts there, as in a run.

What was set since the last step may bring events about, too: they act when the next step begins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from bellcrank.backend.c_runs import RigidCRun
from bellcrank.backend.c_steps import BLOCK_SECONDS, SHORT, CSteps
from bellcrank.numeric.events import Event
from bellcrank.run.stretches import Stretches

ACTION_FAILED = -1  # a status: the action of an event cannot be taken, or events chatter
FEW = 1000  # steps of a plan that has no end


class Behind(NamedTuple):
    """What events have done so far, and what the kernel knows of them."""

    events: tuple[Event, ...]
    idle: Mapping[str, float]
    stopped: Event | None
    inside: dict[str, Any]


class WatchedSteps(CSteps):
    """Steps of a run that is watched for events. `going` is the `Going` whose steps these are."""

    going: Any

    def __init__(self, stretches: Stretches, run: Any, behind: Behind | None) -> None:
        super().__init__(run)
        self.plain = not isinstance(run, RigidCRun)
        self.stretches, watch = stretches, stretches.watch
        if behind is not None:
            assert stretches.watching is not None
            stretches.watching.restore(behind.inside)
            watch.events, watch.idle, watch.stopped = [*behind.events], dict(behind.idle), behind.stopped

    def behind(self) -> Behind:
        """What another run takes over that continues from here."""
        assert self.stretches.watching is not None
        watch = self.stretches.watch
        return Behind(tuple(watch.events), dict(watch.idle), watch.stopped, self.stretches.watching.saved())

    def take(self, n: int) -> int:
        """Takes n steps, 0: the start; the status. An event that stops the run ends them there."""
        last, block = self.reached + n, SHORT
        while True:
            began = time.perf_counter()
            status = self.run.call("steps_on", min(block, last - self.reached))
            if isinstance(self.run, RigidCRun):
                self.run.tell()
            over = self.stretches.happened(self.run)
            self._take_parameters()
            if self.stretches.problem:
                return ACTION_FAILED
            if status or over or self.reached >= last:
                return status
            share = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
            block = max(1, int(block * min(share, 8.0)))

    def _take_parameters(self) -> None:
        """Takes the parameters that events have set to what the run is known by."""
        stretches, going = self.stretches, self.going
        if not stretches.changed:
            return
        _, p, c = stretches.changed[-1]
        stretches.changed.clear()
        stretches.stretch, going.evaluation = stretches.with_parameters(
            stretches.stretch, going.evaluation, p, c, self.run
        )
        going.origin = going.origin._replace(parameters=stretches.parameters)
