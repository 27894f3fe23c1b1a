"""Steps with events: conditions are watched from step to step, and act where they happen."""

import math
from dataclasses import replace

import numpy as np
from events import actions, watched
from numeric.events import Book, Change, Event, Watch, let_act
from numeric.steps_told import add_figures
from numeric.tuning import EVENTS, STEPS


class CannotAct(Exception):
    """What an event sets cannot be."""


class Acting:
    """A run that is watched.

    `refresh()` finds parameters and constants again; `mended(t, y, kept)` closes loops, with states that are kept as
    they are; `held` is what routines keep and remember.
    """

    def __init__(self, e, given, states, refresh, mended, held):
        self.e, self.given, self.states = e, given, states
        self.refresh, self.mended, self.held = refresh, mended, held
        self.actions = actions(given)
        self.watch = Watch([replace(w, settings=self._settings(w.name)) for w in watched(given)])
        self.rows, self.told, self.told_idle = [], 0, set()
        self.figures, self.passages = {}, []

    def _settings(self, name):
        """Values that an event sets at a row, and those there are."""

        def pairs(row):
            for state, place, f in self.actions[name]:
                now = row[1 + place] / self.states[place].factor if state else self.given[place].value
                yield float(np.broadcast_to(f(row[None, :]), (1,))[0]), float(now)

        return pairs

    def run_chosen(self, course, y, stretch):
        """Takes steps that their method chooses; what ended the run early. `stretch(t, y, goes_on)` is a run from a
        time and state on, which looks for events itself and ends where one of them stops it or acts."""
        watch, t, goes_on = self.watch, 0.0, False
        book = Book(course.step, course.t_end - course.t_start)
        watch.begin(0, None)
        while True:
            try:
                steps = stretch(t, y, goes_on)
            except CannotAct as error:
                return f"stopped at t = {t:.6g} s, as an event acts: {error}"
            rows = steps.whole()
            if watch.again is not None and goes_on:
                rows = [row for row in rows if row[0] > t]
            self.rows += rows
            add_figures(self.figures, steps.figures)
            self.passages += steps.passages
            stopped = watch.stopped
            if stopped is not None:
                watch.forget_after(stopped.time)
            self._tell()
            if watch.again is not None:
                book.chatters(watch.again.name, watch.again.time, "again at once")
                return book.problem
            if steps.ended:
                return steps.ended
            if not watch.fired:
                return "" if stopped is None else f"stopped by event '{stopped.name}' at t = {stopped.time:.6g} s"
            t = float(rows[-1][0])
            try:
                y, stop = self._act(book, rows[-1], course)
            except CannotAct as error:
                return f"stopped at t = {t:.6g} s, as an event acts: {error}"
            if book.problem:
                return book.problem
            if stop:
                return f"stopped by event '{stop}' at t = {t:.6g} s"
            if t >= course.t_end:
                return ""
            goes_on = True

    def run(self, course, y, make):
        """Takes all steps; the number of the last one, and what ended the run early. `make(course, y, goes_on)` makes
        what takes them from a state."""
        watch, e, every = self.watch, self.e, course.every
        book = Book(course.step, course.t_end - course.t_start)
        steps = make(course, y, False)
        watch.begin(0, None)
        self.rows.append(e.row(0.0, steps.y))
        watch.look(self.rows[0][None, :], None)
        i = 0
        while i < course.total:
            i += 1
            mark, k = [list(x) for x in self.held], steps.k.copy()
            problem = steps.step(i)
            if problem:
                return i, problem
            row = e.row(steps.course.time(i), steps.y)
            later = [list(x) for x in self.held]
            self._put(mark)
            known = k if self.held else None
            kept = watch.look(row[None, :], lambda number, start: steps.within(number, start, known))  # noqa: B023
            self._tell()
            if watch.stopped is None:
                self._put(later)
                if i % every == 0 or i == course.total:
                    self.rows.append(row)
                continue
            if watch.again is not None:
                book.chatters(watch.again.name, watch.again.time, "again at once")
                return i, book.problem
            self.rows.append(kept[-1])
            t, stopped = float(kept[-1][0]), watch.stopped
            if watch.fired:
                try:
                    y, stop = self._act(book, kept[-1], course)
                except CannotAct as error:
                    return i, f"stopped at t = {t:.6g} s, as an event acts: {error}"
                stopped = Event(stop, t) if stop else None
            if book.problem:
                return i, book.problem
            if stopped is not None:
                return i, f"stopped by event '{stopped.name}' at t = {t:.6g} s"
            if t >= course.t_end:
                break
            i = math.floor(t / course.step + STEPS.gap)
            here = course._replace(first=i, begins=None if t == i * course.step else t)
            try:
                steps = make(here, y, True)
            except CannotAct as error:
                return i, f"stopped at t = {t:.6g} s, as an event acts: {error}"
        return course.total, ""

    def _put(self, values):
        for held, found in zip(self.held, values):
            held[:] = found

    def _tell(self):
        """Tells what was found since."""
        for event in self.watch.events[self.told :]:
            print(event)
        self.told = len(self.watch.events)
        for name, t in self.watch.idle.items():
            if name not in self.told_idle:
                self.told_idle.add(name)
                print(f"note: event '{name}' changes nothing at t = {t:.6g} s")

    def _act(self, book, row, course):
        """Lets all events at the time of a row act: the state after them, and the name of one that stops the run."""
        e, t, h, n_s = self.e, float(row[0]), EVENTS.glance * course.step, len(self.states)
        y = row[1 : 1 + n_s].copy()

        def act(one, before):
            nonlocal y
            y = self._done(one.watched.name, t, y, before)
            return e.row(t, y, live=0)

        def rate(w):
            keeper, e.keeper = e.keeper, None
            moved = h * e.rates(t, y)
            rows = np.array([e.row(t + h, y + moved, live=0), e.row(t - h, y - moved, live=0)])
            e.keeper = keeper
            after, before = w.at(rows).tolist()
            return (after - before) / (2 * h)

        after, stop, at_zero = let_act(self.watch, book, row, act, rate)
        self._tell()
        self.rows.append(after)
        first = math.floor(t / course.step + STEPS.gap)
        self.watch.begin(first, after, at_zero)
        return y, stop

    def _done(self, name, t, y, row):
        """One action; the state after it."""
        old, before, kept = y, [g.value for g in self.given], set()
        listed = self.actions[name]
        found = [(state, place, float(np.broadcast_to(f(row[None, :]), (1,))[0])) for state, place, f in listed]
        y = y.copy()
        for state, place, value in found:
            target = (self.states if state else self.given)[place]
            if not math.isfinite(value):
                raise CannotAct(f"the action of event '{name}' sets {target.keyword} to {value}, not a finite number")
            if state:
                y[place] = value * target.factor
                kept.add(place)
            else:
                target.value = value
        if [g.value for g in self.given] != before:
            self.refresh(name)
        y = self.mended(t, y, kept, name)
        changes = []
        for state, place, value in found:
            if state:
                s = self.states[place]
                changes.append(Change(s.keyword, float(old[place] / s.factor), float(y[place] / s.factor), s.unit))
            else:
                g = self.given[place]
                changes.append(Change(g.keyword, before[place], value, "" if g.unit == "?" else g.unit))
        size = np.maximum(np.abs(old), np.abs(y))
        for j in np.flatnonzero(np.abs(y - old) > EVENTS.followed * size).tolist():
            if j not in kept:
                s = self.states[j]
                changes.append(Change(s.keyword, float(old[j] / s.factor), float(y[j] / s.factor), s.unit))
        self.watch.events.append(Event(name, t, tuple(changes)))
        return y
