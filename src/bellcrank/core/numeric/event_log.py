"""Events of a run as they are reported: what happened and when, what was watched, and why something
never counted.

They are looked for by the kernel (`kernel/event_rule.c`): an event is the crossing of a condition
through zero, or the moment at which a comparison becomes true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.core.numeric.loop_projector import SingularityPassage

Condition = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class EventChange:
    """What an event changed, in user units."""

    name: str
    before: float
    after: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name} {self.before:.6g} -> {self.after:.6g} {self.unit}".rstrip(" -")


@dataclass(frozen=True)
class Event:
    """A condition crossed zero, or became true, at a time (s); what its action changed, if it has
    one."""

    name: str
    time: float
    changes: tuple[EventChange, ...] = ()

    @property
    def has_effect(self) -> bool:
        """Did its action change anything?"""
        return any(c.before != c.after for c in self.changes)

    def __repr__(self) -> str:
        changes_text = f", changes={self.changes!r}" if self.changes else ""
        return f"Event(name={self.name!r}, time={self.time!r}{changes_text})"

    def __str__(self) -> str:
        changes_text = f": {', '.join(map(str, self.changes))}" if self.changes else ""
        return f"{self.name} at t = {self.time:.6g} s{changes_text}"


@dataclass(frozen=True)
class EventCondition:
    """A condition that crosses zero to one of some `directions`, +1 from below, -1 from above: does
    it end the run, and does it set anything?"""

    name: str
    directions: tuple[int, ...] = (1,)
    stop: bool = False
    has_action: bool = False


@dataclass
class ConditionAtStart:
    """What a condition was where a run began, at a time (s), and since: was it zero but for
    `noise`, to which `side` did it go then, or else on which was it all the time (0: on none)? With
    parameters as they were at each time."""

    time: float
    zero: bool
    noise: float
    side: int
    is_pending: bool = True  # is this still to be found?


class EventLog:
    """What is known of the events of a run: all that happened, the one that has stopped it, and
    when an action came to nothing first. `last`: the last row."""

    def __init__(self, conditions: Sequence[EventCondition] = ()) -> None:
        self.conditions = tuple(conditions)
        self.events: list[Event] = []
        self.stop_event: Event | None = None
        self.ineffective_events: dict[str, float] = {}
        self.last: np.ndarray | None = None
        self._begun: dict[str, ConditionAtStart] = {}  # conditions that stop or act
        self._undefined: dict[
            str, tuple[float, bool]
        ] = {}  # conditions that were nan: first time; always so far

    def set_condition_start(self, condition_start: ConditionAtStart, name: str) -> None:
        """Takes what a condition was where a run began, and since."""
        self._begun[name] = condition_start

    def note_undefined(self, name: str, first: float, always: bool) -> None:
        """Notes that a condition was not a number."""
        self._undefined[name] = first, always

    def never_triggered_messages(self) -> list[str]:
        """A message for each event that would stop or act and never did, as its expression was zero
        where the run began, or on the side that is watched all the time: neither is a change of
        sign."""
        messages, occurred = [], {e.name for e in self.events} | {*self.ineffective_events}
        for name, (first, always) in self._undefined.items():
            since = "throughout the run" if always else f"at t = {first:.6g} s"
            messages.append(
                f"event '{name}' is not a number {since}: it cannot occur there; check its formula"
            )
        for w in self.conditions:
            start = self._begun.get(w.name)
            if (
                start is None
                or w.name in occurred
                or self.last is None
                or not self.last[0] > start.time
            ):
                continue
            start_text = f"at t = {start.time:.6g} s, where the run begins"
            if start.zero and start.side in w.directions:
                problem = f"event '{w.name}' is zero {start_text}, and never changes sign"
                messages.append(
                    f"{problem}, so it was not triggered. Start from a slightly different state"
                )
            elif not start.zero and start.side:
                problem = f"event '{w.name}' is true {start_text}, and all the time"
                messages.append(
                    f"{problem}: it is triggered when it becomes true, which never happened"
                )
        return messages

    def add_passages(self, passages: Sequence[SingularityPassage]) -> None:
        """Records visits near singular configurations."""
        self.add_events(Event(_passage_message(x), x.time) for x in passages)

    def add_events(self, events: Iterable[Event]) -> None:
        """Records what was found otherwise."""
        self.events += events
        self.events.sort(key=lambda e: e.time)


def _passage_message(x: SingularityPassage) -> str:
    """A visit near a singular configuration in words."""
    if x.ratio == SingularityPassage.DIVIDED:
        return (
            "step divided, as it needed a correction of its loops that is large against what it "
            "moves"
        )
    loop_text = f" of '{x.loop}'" if x.loop else ""
    pivot_text = f"pivots down to {x.ratio:.1e} of their usual size"
    if x.missed:
        gap = f" by {x.residual:.1g}" if x.residual else ""
        return f"two branches{loop_text} miss each other{gap}, and the motion turns ({pivot_text})"
    passage_text = "entered and left where it was entered" if x.turned else "passed"
    return f"singular configuration{loop_text} {passage_text} ({pivot_text})"
