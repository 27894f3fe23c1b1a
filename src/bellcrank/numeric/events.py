"""Events: conditions that are watched as rows of a run come, whatever takes the steps; and what lets them act.

An event is the crossing of a condition through zero, or the moment at which a comparison becomes true. One that acts or
stops ends a stretch of the run at the time that was found within the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .branch import Passage
from .roots import zero_between
from .tuning import EVENTS

Condition = Callable[[np.ndarray], np.ndarray]
Rows = Callable[[float], np.ndarray]  # the row at a time
Within = Callable[[int, np.ndarray], Rows]  # rows within a step, by its number and the row at its start
Crossing = tuple[float, int, int, int, float]  # time, condition, step, side that it comes to, size about there
Settings = Callable[[np.ndarray], Iterable[tuple[float, float]]]  # values that are set at a row, and those there are


@dataclass(frozen=True)
class Change:
    """What an event changed, in user units."""

    name: str
    before: float
    after: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name} {self.before:.6g} -> {self.after:.6g} {self.unit}".rstrip(" -")


@dataclass(frozen=True)
class Event:
    """A condition crossed zero, or became true, at a time (s); what its action changed, if it has one."""

    name: str
    time: float
    changes: tuple[Change, ...] = ()

    @property
    def changed(self) -> bool:
        """Did its action change anything?"""
        return any(c.before != c.after for c in self.changes)

    def __repr__(self) -> str:
        changes = f", changes={self.changes!r}" if self.changes else ""
        return f"Event(name={self.name!r}, time={self.time!r}{changes})"

    def __str__(self) -> str:
        told = f": {', '.join(map(str, self.changes))}" if self.changes else ""
        return f"{self.name} at t = {self.time:.6g} s{told}"


@dataclass(frozen=True)
class Watched:
    """A condition: an event is its crossing of zero to one of some `sides`, +1 from below, -1 from above; `strict`: to
    which of them zero itself does not belong. Does it end the run, or a stretch of it, as it acts? An action that would
    change nothing is none: what is at rest may go through zero as often as rounding or a tolerance will have it."""

    name: str
    value: Condition
    sides: tuple[int, ...] = (1,)
    strict: tuple[int, ...] = ()
    stop: bool = False
    acts: bool = False
    settings: Settings | None = None  # what its action sets
    of_time: bool = False  # does it depend on nothing but time and parameters?

    def at(self, rows: np.ndarray) -> np.ndarray:
        g = self.value(rows)
        return g if g.shape == (len(rows),) else np.broadcast_to(g, (len(rows),))

    def is_over(self, g: Any, side: int) -> Any:
        """Is a value of the condition on a side?"""
        return side * g > 0 if side in self.strict else side * g >= 0

    def is_idle(self, row: np.ndarray) -> bool:
        """Would its action change nothing, beyond rounding, at a row?"""
        if not self.acts or self.settings is None:
            return False
        return all(abs(new - now) <= EVENTS.rounding * abs(now) for new, now in self.settings(row))

    def is_zero(self, row: np.ndarray, size: float = 0.0) -> bool:
        """Is it zero but for rounding, and a share of its size elsewhere?"""
        return abs(float(self.at(row[None, :])[0])) <= EVENTS.zero * size + 4 * self.noise(row)

    def noise(self, row: np.ndarray) -> float:
        """By how much rounding changes its value."""
        return float(self.noises(row[None, :])[0])

    def noises(self, rows: np.ndarray) -> np.ndarray:
        """The same for several rows."""
        away = EVENTS.rounding * (np.arange(rows.shape[1]) % 2 * 2 - 1.0)
        g = self.at(rows)
        with np.errstate(invalid="ignore"):
            moved = [np.abs(self.at(rows * by) - g) for by in (1 + EVENTS.rounding, 1 + away)]
        return np.maximum(*moved)

    def unsure(self, rows: np.ndarray, g: np.ndarray) -> np.ndarray:
        """At which of some rows, with values g, does rounding decide on its sign?"""
        small = np.ones(len(g), dtype=bool) if self.of_time else np.abs(g) <= EVENTS.zero * np.nanmax(np.abs(g))
        if small.any():
            rows = rows[small, :1] if self.of_time else rows[small]
            small[small] = np.abs(g[small]) <= 4 * self.noises(rows)
        return small

    def sure(self, row: np.ndarray) -> float:
        """Its value at a row; 0 where rounding decides on its sign."""
        g = float(self.at(row[None, :])[0])
        return g if abs(g) > 4 * self.noise(row) else 0.0


@dataclass(frozen=True)
class AtZero:
    """An event that has acted where its condition still is zero: it counts again once that was on the other side.

    `turns`: does the action turn it back from the `side` it came to? That is asked in the first `looks` only.
    """

    side: int
    turns: bool
    size: float = 0.0  # of the condition about the event
    looks: int = 2


@dataclass
class Begun:
    """What a condition was where a run began, at a time (s), and since: was it zero but for `noise`, to which `side`
    did it go then, or else on which was it all the time (0: on none)? With parameters as they were at each time."""

    time: float
    zero: bool
    noise: float
    side: int
    waits: bool = True  # is this still to be found?


@dataclass(frozen=True)
class Happened:
    """What has happened in a run that another one goes on from: events, conditions that wait at zero, actions that came
    to nothing, when events acted, and the event that stopped it."""

    events: tuple[Event, ...]
    at_zero: Mapping[str, AtZero]
    idle: Mapping[str, float]
    acted: Mapping[str, Sequence[float]]
    stopped: Event | None


@dataclass(frozen=True)
class Fired:
    """An event that is to act, or is told where others act: to which side its condition came, and how large that is
    about there."""

    watched: Watched
    side: int
    size: float
    pushed: bool = False  # did the action of another one push a condition over that stood at zero?


class Watch:
    """Looks for events in rows as they come. Those that stop or act set `stopped`, and `fired` holds what is to act,
    with the others at that time: the run goes on from there, and they have been told.

    `again`: the event that would act again and again at one time; `idle`: when actions came to nothing, first.
    """

    def __init__(self, conditions: Sequence[Watched] = ()) -> None:
        self.conditions = tuple(conditions)
        self.events: list[Event] = []
        self.stopped: Event | None = None
        self.fired: list[Fired] = []
        self.stopping = ""  # the name of the event that stops the run
        self.again: Event | None = None
        self.idle: dict[str, float] = {}
        self._begun: dict[str, Begun] = {}  # conditions that stop or act
        self._undefined: dict[str, tuple[float, bool]] = {}  # conditions that were nan: first time; always so far
        self.last: np.ndarray | None = None
        self._number = -1  # of the step at whose end that row is
        self._at_zero: dict[str, AtZero] = {}
        self._left: dict[str, tuple[float, float]] = {}  # at a time: with which value a condition left a zero
        self.until = np.inf  # the end of the run, s

    def begin(self, number: int, row: np.ndarray | None, at_zero: Mapping[str, AtZero] | None = None) -> None:
        """Takes the start of a run, or of a stretch of it, with so many steps behind it; its row, or None if that is
        still to come."""
        self.last = row
        self._number = number if row is not None else number - 1
        self.stopped, self.fired, self.stopping, self._left = None, [], "", {}
        if not self.conditions:
            return
        old = {w: self._at_zero[w.name] for w in self.conditions if w.name in self._at_zero}
        still = {w.name: x for w, x in old.items() if row is not None and w.is_zero(row, x.size)}
        self._at_zero = still | dict(at_zero or {})

    def at_zero(self, row: np.ndarray | None) -> dict[str, AtZero]:
        """Conditions that are zero at the row from which a run goes on: they have been told."""
        return {} if row is None else {w.name: AtZero(w.sides[0], False) for w in self.conditions if w.is_zero(row)}

    def follow(self, begun: Begun, name: str) -> None:
        """Takes what a condition was where a run began, and since."""
        self._begun[name] = begun

    def undefined(self, name: str, first: float, always: bool) -> None:
        """Notes that a condition was not a number."""
        self._undefined[name] = first, always

    def happened(self, book: Book) -> Happened:
        """What a run takes over that goes on from here."""
        acted = {name: tuple(times) for name, times in book.times.items()}
        return Happened(tuple(self.events), dict(self._at_zero), dict(self.idle), acted, self.stopped)

    def take(self, before: Happened, book: Book) -> None:
        """Goes on from what another run left."""
        self.events, self.idle, self.stopped = [*before.events], dict(before.idle), before.stopped
        book.times = {name: [*times] for name, times in before.acted.items()}

    def look(self, rows: np.ndarray, within: Within | None) -> np.ndarray:
        """Records the events up to the last of further rows; the rows to be kept, if one of them stops the run.

        A condition that changes its sign between two rows is followed between them: `within` gives the rows there.
        """
        if not len(rows) or not self.conditions:
            return rows
        whole = rows if self.last is None else np.vstack([self.last, rows])
        first, self.last = self._number + (self.last is None), whole[-1].copy()
        self._number += len(rows)

        def inside(i: int) -> Rows:
            assert within is not None
            return within(first + i + 1, whole[i])

        found: list[Crossing] = []
        waiting: list[tuple[Watched, np.ndarray]] = []
        searches: list[tuple[int, int, Callable[[], Crossing]]] = []  # step, order of the condition, what finds it
        for order, w in enumerate(self.conditions):
            g = w.at(whole)
            undefined = np.isnan(g)
            if undefined.any():
                first_time, always = self._undefined.get(w.name, (float(whole[np.argmax(undefined), 0]), True))
                self._undefined[w.name] = first_time, always and bool(undefined.all())
            elif w.name in self._undefined:
                self._undefined[w.name] = self._undefined[w.name][0], False
            if (w.stop or w.acts) and (w.name not in self._begun or self._begun[w.name].waits):
                waiting.append((w, g))
            at = _of_time if w.of_time else inside
            came, left = self._about_zero(w, g, whole, at)
            counted = self._leave_zero(w, came, whole, at, found, order) if w.name in self._at_zero else 0
            for side in w.sides:
                for i in np.flatnonzero(~w.is_over(left[:-1], side) & w.is_over(came[1:], side)).tolist():
                    if i >= counted and not np.isnan(left[i]):
                        ends = (float(whole[i, 0]), float(whole[i + 1, 0])), (float(left[i]), float(came[i + 1]))
                        size = float(np.abs(ends[1]).max())
                        find = partial(_crossing_of, w, order, side, at, i, ends, size)
                        searches.append((i, order, find))
                for i in np.flatnonzero(~w.is_over(came[1:], side) & w.is_over(left[1:], side)).tolist():
                    if i >= counted - 1 and not np.isnan(came[i + 1]):
                        size = float(max(abs(came[i + 1]), abs(left[i + 1])))
                        found.append((float(whole[i + 1, 0]), order, i, side, size))
        if self.again is not None:
            self.stopped = self.again
            return rows[:0]
        kept = self._take(self._found_in_time(found, searches, whole, inside), rows, inside)
        for w, g in waiting:
            self._follow(w, g[whole[:, 0] <= kept[-1, 0]], whole[0])
        return kept

    def _about_zero(
        self, w: Watched, g: np.ndarray, whole: np.ndarray, at: Callable[[int], Rows]
    ) -> tuple[np.ndarray, np.ndarray]:
        """With which values a condition comes to rows and leaves them. Where rounding decides on its sign these are the
        ones a little before and after, so that a zero at the end of a step counts once; 0 where it stays at zero."""
        came, left = g.copy(), g.copy()
        when, value = self._left.pop(w.name, (np.nan, 0.0))
        if len(g) < 2:
            return came, left
        unsure = w.unsure(whole, g)
        if when == whole[0, 0]:
            left[0] = value
        elif unsure[0] and not w.strict:
            left[0] = _value_at(w, at(0), float(whole[0, 0]) + EVENTS.glance * float(whole[1, 0] - whole[0, 0]))
        elif unsure[0]:
            left[0] = 0.0  # what is true from its start on becomes true there
        stays = unsure[0] and left[0] == 0 and (when == whole[0, 0] or not w.strict)
        for j in range(1, len(g)) if unsure[1:].any() else ():
            if not unsure[j]:
                stays = False
                continue
            t, away = float(whole[j, 0]), EVENTS.glance * float(whole[j, 0] - whole[j - 1, 0])
            came[j] = left[j] = 0.0
            if not stays or w.of_time:
                came[j] = _value_at(w, at(j - 1), t - away)
                left[j] = _value_at(w, at(j), t + away) if t < self.until else 0.0
            stays = left[j] == 0
        if unsure[-1]:
            self._left[w.name] = float(whole[-1, 0]), float(left[-1])
        return came, left

    def _found_in_time(
        self,
        found: list[Crossing],
        searches: list[tuple[int, int, Callable[[], Crossing]]],
        whole: np.ndarray,
        inside: Callable[[int], Rows],
    ) -> list[Crossing]:
        """All that was found, in order; searches in steps that follow an event that stops the run or acts are left."""

        def ends(when: float, order: int, i: int) -> bool:
            w = self.conditions[order]
            return w.stop or (w.acts and not w.is_idle(inside(i)(when)))

        end = next((when for when, order, i, *_ in sorted(found) if ends(when, order, i)), np.inf)
        for i, _, find in sorted(searches, key=lambda x: x[:2]):
            if whole[i, 0] > end + EVENTS.instant * max(1.0, abs(end)):
                break
            found.append(find())
            if found[-1][0] < end and ends(*found[-1][:3]):
                end = found[-1][0]
        return sorted(found)

    def _follow(self, w: Watched, g: np.ndarray, row: np.ndarray) -> None:
        """Follows a condition, with values since a row, from the beginning on, to say at last why it never counted."""
        if w.name not in self._begun:
            zero = not w.strict and w.is_zero(row)  # a comparison is true there, or not
            side = 0 if zero or len(w.sides) != 1 else w.sides[0]
            self._begun[w.name] = Begun(float(row[0]), zero, 4 * w.noise(row), side, zero or side != 0)
        found = self._begun[w.name]
        if found.zero:
            gone = np.flatnonzero(np.abs(g) > found.noise)
            if len(gone):
                found.side, found.waits = int(np.sign(g[gone[0]])), False
        elif not w.is_over(g, found.side).all():
            found.side, found.waits = 0, False

    def _take(self, found: Sequence[Crossing], rows: np.ndarray, inside: Callable[[int], Rows]) -> np.ndarray:
        """Records what was found, until something stops the run or acts; the rows to be kept."""
        end, place = np.inf, -1
        taken: list[tuple[float, Fired]] = []
        for when, order, i, side, size in found:
            if when > end + EVENTS.instant * max(1.0, abs(end)):
                break
            w = self.conditions[order]
            if place < 0 and w.acts and not w.stop and w.is_idle(inside(i)(when)):
                self.idle.setdefault(w.name, when)
                continue
            if place < 0 and (w.stop or w.acts):
                end, place = when, i
            taken.append((when, Fired(w, side, size)))
            if not w.acts:
                self.events.append(Event(w.name, when))
            if w.stop or w.acts:
                self.stopped = self.stopped or Event(w.name, end)
            if w.stop:
                self.stopping = self.stopping or w.name
        if place < 0:
            return rows
        if any(f.watched.acts for _, f in taken):
            self.fired = [f for when, f in taken if when >= end - EVENTS.instant * max(1.0, abs(end))]
        return np.vstack([rows[rows[:, 0] < end], inside(place)(end)])

    def _leave_zero(
        self,
        w: Watched,
        g: np.ndarray,
        whole: np.ndarray,
        inside: Callable[[int], Rows],
        found: list[Crossing],
        order: int,
    ) -> int:
        """Follows a condition that was zero at the start of a stretch to its first sign; the row from which on it
        counts again. What comes back within a step is found there."""
        zero = self._at_zero[w.name]
        for i in range(len(whole) - 1):
            around = 4 * max(w.noise(whole[i]), w.noise(whole[i + 1])) + EVENTS.zero * zero.size
            if abs(g[i + 1]) <= EVENTS.zero * zero.size:  # what rounding decides on is 0 here
                zero = self._at_zero[w.name] = replace(zero, looks=zero.looks - 1)
                continue
            del self._at_zero[w.name]
            if zero.side * g[i + 1] < 0:
                return i + 1
            a, b, later = float(whole[i, 0]), float(whole[i + 1, 0]), float(g[i + 1])
            at, length = inside(i), b - a
            known = w.at(a + length * 0.5 ** np.arange(EVENTS.halvings + 1.0)[:, None]) if w.of_time else None
            for k in range(1, EVENTS.halvings + 1):
                value = float(w.at(at(a + length * 0.5**k)[None, :])[0] if known is None else known[k])
                if zero.side * value < -around:
                    times = a + length * 0.5**k, a + length * 0.5 ** (k - 1)
                    when = _crossing(w, zero.side, at, times, (value, later))
                    found.append((when, order, i, zero.side, float(abs(g[i + 1]))))
                    return i + 1
                later = value
            if zero.turns and zero.looks > 0:
                self.again = Event(w.name, a)
            return i + 1
        return len(whole)

    def values(self, row: np.ndarray) -> list[float]:
        """All conditions at a row."""
        return [float(w.at(row[None, :])[0]) for w in self.conditions]

    def jumped(self, before: Sequence[float], row: np.ndarray, but: Sequence[Watched]) -> list[Fired]:
        """The events that a jump from some values of the conditions to those at a row brings about, but for those of
        some. An expression that comes to rest at zero counts from its first sign after, one that had no value not."""
        found = []
        for w, old, new in zip(self.conditions, before, self.values(row), strict=True):
            for side in w.sides if w not in but else ():
                if np.isnan(old) or w.is_over(old, side) or not w.is_over(new, side):
                    continue
                if not w.strict and w.is_zero(row):
                    self._at_zero[w.name] = AtZero(side, False, max(abs(old), abs(new)))
                else:
                    found.append(Fired(w, side, max(abs(old), abs(new))))
        return found

    def jump(self, before: Sequence[float], row: np.ndarray) -> bool:
        """Takes the row to which values that a user has set lead from some values of the conditions. Do events stop the
        run there or act, which are `fired` then?"""
        found, t = self.jumped(before, row, ()), float(row[0])
        self.events += [Event(f.watched.name, t) for f in found if not f.watched.acts]
        self.fired = found if any(f.watched.acts for f in found) else []
        self.stopping = next((f.watched.name for f in found if f.watched.stop), "")
        if self.fired or self.stopping:
            self.stopped = Event(self.stopping or self.fired[0].watched.name, t)
        return self.stopped is not None

    def rates_at_zero(
        self, row: np.ndarray, here: Mapping[str, Fired], rate: Callable[[Watched], float]
    ) -> dict[str, float]:
        """How fast the conditions change that are zero at a row; of events that are `here`, but for a share of their
        sizes."""

        def is_zero(w: Watched) -> bool:
            return not w.strict and w.is_zero(row, here[w.name].size if w.name in here else 0.0)

        return {w.name: rate(w) for w in self.conditions if is_zero(w)}

    def pushed(self, before: Mapping[str, float], after: Mapping[str, float], here: Mapping[str, Fired]) -> list[Fired]:
        """The events whose conditions stand at zero and leave it to a side as an action has changed their rates; those
        that are `here` to the side that they came to, not back."""
        small = EVENTS.still * max(map(abs, (*before.values(), *after.values())), default=0.0)
        return [
            Fired(w, side, here[w.name].size if w.name in here else 0.0, pushed=True)
            for w in self.conditions
            for side in ((here[w.name].side,) if w.name in here else w.sides)
            if w.name in before and side * before[w.name] <= small < side * after.get(w.name, 0.0)
        ]

    def never_counted(self) -> list[str]:
        """A sentence for each event that would stop or act and never did, as its expression was zero where the run
        began, or on the side that is watched all the time: neither is a change of sign."""
        told, happened = [], {e.name for e in self.events} | {*self.idle}
        for name, (first, always) in self._undefined.items():
            since = "throughout the run" if always else f"at t = {first:.6g} s"
            told.append(f"event '{name}' is not a number {since}: it cannot occur there; check its formula")
        for w in self.conditions:
            begun = self._begun.get(w.name)
            if begun is None or w.name in happened or self.last is None or not self.last[0] > begun.time:
                continue
            where = f"at t = {begun.time:.6g} s, where the run begins"
            if begun.zero and begun.side in w.sides:
                what = f"event '{w.name}' is zero {where}"
                told.append(f"{what}: that is no change of sign, and there was none later; begin beside it")
            elif not begun.zero and begun.side:
                what = f"event '{w.name}' is true {where}, and all the time"
                told.append(f"{what}: it counts when it becomes true, which it never did")
        return told

    def passed(self, passages: Sequence[Passage]) -> None:
        """Records visits near singular positions."""
        self.note(Event(_told(x), x.time) for x in passages)

    def forget_after(self, t: float) -> None:
        """Drops what lies beyond the time at which a stretch ends: steps were taken farther than that."""
        self.events = [e for e in self.events if e.time <= t + EVENTS.instant * max(1.0, abs(t))]

    def note(self, events: Iterable[Event]) -> None:
        """Records what was found otherwise."""
        self.events += events
        self.events.sort(key=lambda e: e.time)


def _told(x: Passage) -> str:
    """A visit near a singular position in words."""
    if x.ratio == Passage.DIVIDED:
        return "step divided, as it needed a correction of its loops that is large against what it moves"
    where = f" of {x.loop}" if x.loop else ""
    near = f"pivots down to {x.ratio:.1e} of their usual size"
    if x.missed:
        gap = f" by {x.residual:.1g}" if x.residual else ""
        return f"two branches{where} miss each other{gap}, and the motion turns ({near})"
    way = "entered and left where it was entered" if x.turned else "passed"
    return f"singular position{where} {way} ({near})"


def _of_time(i: int) -> Rows:
    """Rows for conditions of nothing but time."""
    return lambda t: np.array([t])


def _value_at(w: Watched, at: Rows, t: float) -> float:
    """A condition near a row where it is zero; 0 if it is zero there, too, or cannot be had."""
    try:
        return w.sure(at(t))
    except (ArithmeticError, ValueError):
        return 0.0


def _crossing_of(
    w: Watched,
    order: int,
    side: int,
    at: Callable[[int], Rows],
    i: int,
    ends: tuple[tuple[float, float], tuple[float, float]],
    size: float,
) -> Crossing:
    return _crossing(w, side, at(i), *ends), order, i, side, size


def _crossing(w: Watched, side: int, at: Rows, times: tuple[float, float], values: tuple[float, float]) -> float:
    """The time at which a condition comes to a side, between one at which it is not there and one at which it is."""
    ends = dict(zip(times, values, strict=True))

    def value(t: float) -> float:
        return side * (ends[t] if t in ends else float(w.at(at(t)[None, :])[0]))

    a, b = times
    if side * values[0] < 0 < side * values[1]:
        root = zero_between(value, times, (side * values[0], side * values[1]), 1e-15 * max(1.0, abs(b)))
        left = value(root)
        over = w.is_over(side * left, side) or w.is_zero(at(root), max(map(abs, values)))  # else it would count again
        if over and abs(left) <= EVENTS.jump * min(map(abs, values)):
            return root
    while b - a > 1e-15 * max(1.0, abs(b)) and a < (middle := 0.5 * (a + b)) < b:  # from zero: a jump, or a start
        met = w.is_over(side * value(middle), side)
        a, b = (a, middle) if met else (middle, b)
    return b


class Book:
    """When events acted, in a run of some `span` with steps of some length (s). Too many actions in too short a time
    are a `problem`, which ends the run."""

    def __init__(self, step: float = 0.0, span: float = 0.0) -> None:
        self.step, self.span = step, min(step, EVENTS.span * span)
        self.problem = ""
        self.times: dict[str, list[float]] = {}  # of the last actions

    def note(self, name: str, t: float, pushed: bool = False) -> None:
        """Notes an action; was it `pushed` by another one at that time?"""
        times = self.times.setdefault(name, [])
        times.append(t)
        del times[: -EVENTS.most - 1]
        if not pushed and len(times) > 1 and t - times[-2] < EVENTS.soon * self.step:
            self.chatters(name, t, "again at once")
        if len(times) > EVENTS.most and (within := t - times[-1 - EVENTS.most]) < self.span:
            self.chatters(name, t, f"{EVENTS.most} times within {within:.2g} s" if within > 0 else "again and again")

    def chatters(self, name: str, t: float, how: str) -> None:
        why = "it chatters. Let its action bring the motion to rest, or end the run (stop=True)"
        self.problem = f"stopped at t = {t:.6g} s: event '{name}' acts {how}: {why}"


def let_act(
    watch: Watch,
    book: Book,
    row: np.ndarray,
    act: Callable[[Fired, np.ndarray], np.ndarray],
    rate: Callable[[Watched], float],
) -> tuple[np.ndarray, str, dict[str, AtZero]]:
    """Lets all events at the time of a row act, and those that they bring about: the row after them, the name of an
    event that stops the run, and which conditions are still zero.

    `act` does what one is to do at a row and gives the row after it; `rate` tells how fast a condition changes then.
    """
    t, fired, stop = float(row[0]), list(watch.fired), watch.stopping
    here = {f.watched.name: f for f in fired}
    acted: list[tuple[Fired, float, bool]] = []
    while fired:
        one = fired.pop(0)
        if not one.watched.acts:
            acted.append((one, 0.0, False))
            continue
        changed = not one.watched.is_idle(row)
        if not changed:
            watch.idle.setdefault(one.watched.name, t)
            if not one.watched.stop:
                continue
        before, values, standing = rate(one.watched), watch.values(row), watch.rates_at_zero(row, here, rate)
        row = act(one, row)
        acted.append((one, before, changed))
        if changed:  # what changes nothing cannot chatter
            book.note(one.watched.name, t, one.pushed)
        if book.problem:
            break
        waiting = [f.watched for f in fired]
        others = watch.jumped(values, row, [*(f.watched for f, *_ in acted), *waiting])
        here |= {f.watched.name: f for f in others}
        pushed = watch.pushed(standing, watch.rates_at_zero(row, here, rate), here)
        waiting += [f.watched for f in others]
        others += [f for f in pushed if f.watched not in waiting]
        here |= {f.watched.name: f for f in others}
        stop = stop or next((f.watched.name for f in others if f.watched.stop), "")
        watch.events += [Event(f.watched.name, t) for f in others if not f.watched.acts]
        fired += [f for f in others if f.watched.acts]
    at_zero = {}
    for f, before, changed in acted:
        if f.watched.is_zero(row, f.size):
            turns = changed and _turns(f.side * before, f.side * rate(f.watched))
            at_zero[f.watched.name] = AtZero(f.side, turns, f.size)
    return row, stop, at_zero


def _turns(before: float, after: float) -> bool:
    """Does an action turn a condition back, by its rates to the side it came to? A rate against that side is rounding,
    where a motion only just comes there: what is not faster after the action came to rest there."""
    return not after > (EVENTS.still if before > 0 else 1.0) * abs(before)
